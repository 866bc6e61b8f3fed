import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chaosFields } from "../../src/records/types/chaos.ts";
import { CALM } from "../../src/model/phone.ts";
import { BEHAVIORS } from "../../src/smsc/read-behavior.ts";
import { GOOD } from "../../src/smsc/behavior.ts";
import { differences, readShellBlocks, runBlocks, type ShellBlock } from "../support/doc-page.ts";
import { freePort } from "../support/free-port.ts";
import { openSink, type Sink } from "../support/sink.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Without blanks, as the one that the first start prints. */
const PASSWORD = "a-password-of-the-owner";
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  ...(await readdir(join(ROOT, "docs"))).filter((name) => name.endsWith(".md")).map((name) => join("docs", name)),
];
const pages: { name: string; blocks: ShellBlock[] }[] = [];
for (const name of PAGES) pages.push({ name, blocks: await readShellBlocks(join(ROOT, name)) });
const runnable = pages.filter(({ blocks }) => blocks.some(({ notRun }) => notRun === null));

/** The service account that Google gives to the owner of an RCS agent, with a generated key. */
function serviceAccount(): string {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return JSON.stringify({
    type: "service_account",
    client_email: "sender@project.example",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    token_uri: "https://oauth2.googleapis.com/token",
  });
}

describe("pasted from top to bottom into a shell", () => {
  let folder: string;
  let server: TestServer;
  let sink: Sink;

  /** A reader's folder: the commands of the project work in it, and what the pages write stays out of the checkout. */
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "heliograph-page-"));
    for (const name of ["package.json", "src", "node_modules", "scripts"]) {
      await symlink(join(ROOT, name), join(folder, name));
    }
    await writeFile(join(folder, "service-account.json"), serviceAccount());
    server = await startTestServer("sqlite", { env: { HELIOGRAPH_ADMIN_PASSWORD: PASSWORD } });
    sink = await openSink();
  });

  afterEach(async () => {
    await server.close();
    await sink.close();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(runnable)("$name runs on a fresh server and gets the answers that it shows", async ({ blocks }) => {
    const run = blocks.filter(({ notRun }) => notRun === null);
    const { PATH = "", HOME } = process.env;
    const { printed, code, errors } = await runBlocks(run, {
      cwd: folder,
      env: {
        PATH: `${dirname(process.execPath)}:${PATH}`,
        HOME,
        // Profiles of the command line stay out of the developer's own.
        XDG_CONFIG_HOME: join(folder, "config"),
        HELIOGRAPH_DATA_DIR: server.env["HELIOGRAPH_DATA_DIR"] ?? "",
        HELIOGRAPH_BASE_URL: server.url,
      },
      placeholders: [
        // First, because the ports of the URLs may contain these digits.
        ["2775", String(await freePort())],
        ["http://127.0.0.1:8080", server.url],
        ["http://127.0.0.1:3000", sink.url],
        ["hg_live_…", server.key],
        ["hg_test_…", server.testKey],
        ["the-password-of-the-first-start", PASSWORD],
      ],
    });
    const done = printed.length - 1;
    const stoppedAt = run[done];
    expect(code, `line ${stoppedAt?.line}: ${printed[done]}\n${errors}`).toBe(0);
    const faults = run.flatMap(({ line, answer }, index) =>
      answer === undefined
        ? []
        : differences(answer, JSON.parse(lastLine(printed[index] ?? ""))).map((fault) => `line ${line}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });
});

describe("the shell blocks of all pages", () => {
  test("name commands that exist", async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const named = pages.flatMap(({ blocks }) => blocks.map(({ script }) => script)).join("\n");
    const commands = [...named.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(commands.length).toBeGreaterThan(10);
    expect(commands.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  test("are run, most of them", () => {
    const blocks = pages.filter(({ name }) => !name.endsWith("performance.md")).flatMap((page) => page.blocks);
    const notRun = blocks.filter((block) => block.notRun !== null);
    expect(notRun.length).toBeLessThan(blocks.length / 5);
  });
});

/** Answers are one line of JSON each; the answer that a page shows is the last one of its block. */
const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";

describe("tables of settings", () => {
  const tableOf = async (page: string, name: string): Promise<string | undefined> => {
    const text = await readFile(join(ROOT, "docs", page), "utf8");
    return new RegExp(`<!-- ${name}:begin -->\\n([\\s\\S]*?)\\n<!-- ${name}:end -->`, "u").exec(text)?.[1];
  };
  const table = (rows: readonly (readonly string[])[]): string =>
    [["Name", "Default", "Meaning"], ["---", "---", "---"], ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

  test("docs/smpp.md lists every setting of the simulated SMSC", async () => {
    const rows = Object.entries(BEHAVIORS).map(([name, { meaning }]) => [
      `\`${name}\``,
      String(GOOD[name as keyof typeof GOOD] ?? "none"),
      meaning,
    ]);
    expect(await tableOf("smpp.md", "smsc")).toBe(table(rows));
  });

  test("docs/simulator.md lists every field of chaos", async () => {
    const rows = Object.entries(chaosFields).map(([name, { description = "" }]) => [
      `\`${name}\``,
      String(CALM[name as keyof typeof CALM]),
      description,
    ]);
    expect(await tableOf("simulator.md", "chaos")).toBe(table(rows));
  });
});
