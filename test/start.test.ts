import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { migratedDatabase } from "./support/databases.ts";
import { freePort } from "./support/free-port.ts";
import { writeSqliteSchema } from "./support/sqlite-schema.ts";

const ROOT = join(import.meta.dirname, "..");
const NOBODY_UID = 65_534;

let folder: string;
let started: Start[];
/** Node keeps what it has compiled here, so that the many starts of this file take half the time. */
let compiled: string;

beforeAll(async () => {
  compiled = await mkdtemp(join(tmpdir(), "heliograph-compiled-"));
});
afterAll(() => rm(compiled, { recursive: true, force: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "heliograph-start-"));
  started = [];
});
afterEach(async () => {
  for (const { child, exited } of started) {
    child.kill("SIGKILL");
    await exited;
  }
  await rm(folder, { recursive: true, force: true });
});

interface Start {
  child: ChildProcess;
  exited: Promise<number | null>;
  stdout(): string;
  stderr(): string;
}

/** Starts the server as a person does, with nothing set but what is given. */
function start(env: Record<string, string> = {}, uid?: number): Start {
  const child = spawn(process.execPath, ["src/main.ts"], {
    cwd: ROOT,
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? compiled,
      HELIOGRAPH_PORT: "0",
      HELIOGRAPH_DATA_DIR: join(folder, "data"),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    ...(uid === undefined ? {} : { uid }),
  });
  const printed = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (printed.stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (printed.stderr += chunk));
  const result: Start = {
    child,
    exited: new Promise((resolve) => child.on("close", (code) => resolve(code))),
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
  };
  started.push(result);
  return result;
}

/** The address, once the server has said it. */
async function listening({ child, stdout, stderr }: Start): Promise<string> {
  for (;;) {
    const url = /^Heliograph is listening on (\S+)$/m.exec(stdout())?.[1];
    if (url !== undefined) return url;
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}: ${stderr()}`);
    await sleep(10);
  }
}

async function stop(server: Start): Promise<void> {
  server.child.kill("SIGTERM");
  expect(await server.exited).toBe(0);
}

/** Runs a server to its first ready moment and ends it again, so that there is a database. */
async function startAndStop(env: Record<string, string>): Promise<void> {
  const server = start(env);
  await listening(server);
  await stop(server);
}

/** The commands that stand under a heading, as a person copies them. */
function commandUnder(heading: string, printed: string): string {
  const [, after = ""] = printed.split(`${heading}\n\n`);
  return after.split("\n\n")[0] ?? "";
}

const bash = async (command: string): Promise<unknown> => {
  const { stdout } = await promisify(execFile)("bash", ["-c", command]);
  return JSON.parse(stdout) as unknown;
};

describe("the first start", () => {
  it("prints a curl that sends a message and one that shows it on the phone, and both work as they stand", async () => {
    const server = start();
    await listening(server);
    const sent = await bash(commandUnder("Send the first message:", server.stdout()));
    expect(sent).toMatchObject({ totalCount: 1, message: "Message Sent Successfully!", error: null });
    const seen = await bash(commandUnder("See it on the phone:", server.stdout()));
    const { data } = sent as { data: { messageId: string }[] };
    expect(seen).toMatchObject({ data: { messageId: data[0]?.messageId, text: "Hello from Heliograph" } });
  });

  it("prints the keys, and the next start prints no secret and keeps everything", async () => {
    const first = start();
    await listening(first);
    const keyOf = (name: string): string => new RegExp(`${name} key +(\\S+)`).exec(first.stdout())?.[1] ?? "";
    const password = /Password +(\S+)/.exec(first.stdout())?.[1] ?? "";
    expect(keyOf("Live")).toMatch(/^hg_live_/);
    expect(keyOf("Test")).toMatch(/^hg_test_/);
    expect(password.length).toBeGreaterThan(11);
    const sent = (await bash(commandUnder("Send the first message:", first.stdout()))) as {
      data: { messageId: string }[];
    };
    await stop(first);

    const second = start();
    const url = await listening(second);
    const printed = second.stdout() + second.stderr();
    expect(printed).not.toMatch(/hg_|curl|Password/);
    expect(printed).not.toContain(password);
    for (const name of ["Live", "Test"]) {
      const answer = await fetch(`${url}/v1/messages/${sent.data[0]?.messageId}`, { headers: { apikey: keyOf(name) } });
      expect(await answer.json()).toMatchObject({ text: "Hello from Heliograph" });
    }
  });

  it("still shows the secrets when the very first try met a port that was taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    await start({ HELIOGRAPH_PORT: String(port) }).exited;
    other.close();
    const server = start({ HELIOGRAPH_PORT: String(port) });
    await listening(server);
    expect(server.stdout()).toMatch(/Live key\s+hg_live_/);
  });

  it("takes a name that is no setting with a warning", async () => {
    const server = start({ HELIOGRAPH_PROT: "9090" });
    await listening(server);
    const lines = server.stderr().trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: "warn", setting: "HELIOGRAPH_PROT" },
    ]);
  });
});

interface Obstacle {
  name: string;
  /** Puts the obstacle in place and gives the settings that run into it. */
  prepare(): Promise<Record<string, string>>;
  says: RegExp;
  uid?: number;
}

const dataDir = (): string => join(folder, "data");

const OBSTACLES: readonly Obstacle[] = [
  {
    name: "a port that is taken",
    async prepare() {
      const other = createServer().listen(0, "127.0.0.1");
      other.unref();
      await once(other, "listening");
      return { HELIOGRAPH_PORT: String((other.address() as AddressInfo).port) };
    },
    says: /port \d+ on 127\.0\.0\.1 is taken/,
  },
  {
    name: "a host name that is not this machine's",
    prepare: async () => ({ HELIOGRAPH_HOST: "203.0.113.7" }),
    says: /HELIOGRAPH_HOST/,
  },
  {
    name: "a data directory below a file",
    async prepare() {
      await writeFile(join(folder, "file"), "");
      return { HELIOGRAPH_DATA_DIR: join(folder, "file", "data") };
    },
    says: /HELIOGRAPH_DATA_DIR: .*file\/data is not a directory that can be written/,
  },
  {
    name: "a data directory that may not be written",
    async prepare() {
      await chmod(folder, 0o755);
      await mkdir(dataDir(), { mode: 0o555 });
      return {};
    },
    says: /HELIOGRAPH_DATA_DIR: .* is not a directory that can be written/,
    // Root may write anywhere.
    ...(process.getuid?.() === 0 ? { uid: NOBODY_UID } : {}),
  },
  {
    name: "a data directory that another process uses",
    async prepare() {
      await listening(start());
      return {};
    },
    says: /HELIOGRAPH_DATA_DIR: .* is in use by another process/,
  },
  {
    name: "a file that is no database",
    async prepare() {
      await mkdir(dataDir());
      await writeFile(join(dataDir(), "heliograph.db"), "This is a letter, not a database. ".repeat(200));
      return {};
    },
    says: /not a database/,
  },
  {
    name: "a setting that cannot be read",
    prepare: async () => ({ HELIOGRAPH_PORT: "abc" }),
    says: /HELIOGRAPH_PORT must be a whole number from 0 to 65535/,
  },
  {
    name: "another master key than the database was set up with",
    async prepare() {
      await startAndStop({ HELIOGRAPH_MASTER_KEY: "the right master key" });
      return { HELIOGRAPH_MASTER_KEY: "some other master key" };
    },
    says: /another master key/,
  },
  {
    name: "a database that a newer release has migrated",
    async prepare() {
      await mkdir(dataDir());
      await writeSqliteSchema(join(dataDir(), "heliograph.db"));
      const db = new DatabaseSync(join(dataDir(), "heliograph.db"));
      db.exec("insert into migrations (name) values ('9999-of-tomorrow')");
      db.close();
      return {};
    },
    says: /newer release \(9999-of-tomorrow\)/,
  },
  {
    name: "a PostgreSQL database that a newer release has migrated",
    async prepare() {
      const { url } = await migratedDatabase(inject("postgresUrl"));
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query("insert into migrations (name) values ('9999-of-tomorrow')");
      await client.end();
      return { HELIOGRAPH_DATABASE_URL: url };
    },
    says: /newer release \(9999-of-tomorrow\)/,
  },
  {
    name: "a PostgreSQL server that is not there",
    prepare: async () => ({ HELIOGRAPH_DATABASE_URL: `postgres://somebody@127.0.0.1:${await freePort()}/heliograph` }),
    says: /the database cannot be reached/,
  },
  {
    name: "a PostgreSQL database that is not there",
    async prepare() {
      const url = new URL(inject("postgresUrl"));
      url.pathname = "/no_such_database";
      return { HELIOGRAPH_DATABASE_URL: url.href };
    },
    says: /database "no_such_database" does not exist/,
  },
];

describe("a start that cannot succeed", () => {
  const named = OBSTACLES.map((obstacle) => [obstacle.name, obstacle] as const);
  it.each(named)("says in one line that it met %s, and ends", async (_, { prepare, says, uid }) => {
    const env = await prepare();
    const server = start(env, uid);
    const code = await server.exited;
    expect(server.stderr()).toMatch(/^heliograph: [^\n]+\n$/);
    expect(server.stderr()).toMatch(says);
    expect(server.stdout()).not.toContain("listening");
    expect(server.stderr() + server.stdout()).not.toMatch(/hg_(live|test)_|^ +at /m);
    expect(code).toBe(1);
  });
});
