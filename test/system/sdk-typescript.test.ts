import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// @ts-expect-error a script without types
import { schemaTypes } from "../../scripts/sdk/schema-types.mjs";
import { readProgram } from "../support/doc-page.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const ROOT = join(import.meta.dirname, "../..");
const SIZE_MAX = 15 * 1024;
const run = promisify(execFile);
const runTool = (tool: string, args: string[], cwd = ROOT): Promise<{ stdout: string }> =>
  run(process.execPath, [join(ROOT, "node_modules/.bin", tool), ...args], { cwd });

/** Installed into an empty folder from the packed tarball, as a user of the client has it. */
describe("the TypeScript client", () => {
  let folder: string;
  let server: TestServer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "heliograph-sdk-"));
    await run(process.execPath, [join(ROOT, "scripts/build-sdk.mjs")]);
    await run("npm", ["pack", join(ROOT, "sdk/typescript"), "--pack-destination", folder]);
    const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz")) ?? "";
    await mkdir(join(folder, "app"));
    await writeFile(join(folder, "app/package.json"), '{"type":"module"}');
    await run("npm", ["install", join(folder, tarball), "--offline", "--no-audit", "--no-fund"], {
      cwd: join(folder, "app"),
    });
    server = await startTestServer("sqlite");
  });
  afterAll(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("has types that are those of the OpenAPI document", async () => {
    const file = join(folder, "schema.ts");
    await writeFile(file, schemaTypes() as string);
    await runTool("oxfmt", ["-c", join(ROOT, ".oxfmtrc.json"), file]);
    expect(await readFile(join(ROOT, "sdk/typescript/src/schema.ts"), "utf8")).toBe(await readFile(file, "utf8"));
  });

  test("has no dependencies and less than 15 KB of code after gzip", async () => {
    const installed = join(folder, "app/node_modules/@heliograph/client");
    expect(await readdir(join(folder, "app/node_modules"))).toEqual([".package-lock.json", "@heliograph"]);
    const files = (await readdir(join(installed, "dist"))).filter((name) => name.endsWith(".js"));
    const code = await Promise.all(files.map((name) => readFile(join(installed, "dist", name))));
    const size = gzipSync(Buffer.concat(code)).length;
    process.stdout.write(`${size} bytes after gzip\n`);
    expect(size).toBeLessThan(SIZE_MAX);
    expect(await readdir(installed)).toEqual(expect.arrayContaining(["LICENSE", "README.md"]));
  });

  test("runs the examples of its page as they are, which compile under strict", async () => {
    const program = await readProgram(join(ROOT, "docs/sdk-typescript.md"), "ts");
    await writeFile(join(folder, "app/example.ts"), program);
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      module: "nodenext",
      target: "es2022",
      lib: ["es2022", "dom"],
      types: ["node"],
      typeRoots: [join(ROOT, "node_modules/@types")],
      noEmit: true,
    };
    await writeFile(join(folder, "app/tsconfig.json"), JSON.stringify({ compilerOptions, include: ["example.ts"] }));
    await runTool("tsc", ["-p", join(folder, "app")]);
    const { stdout } = await run(process.execPath, ["example.ts"], {
      cwd: join(folder, "app"),
      env: { PATH: process.env["PATH"], URL: server.url, KEY: server.key },
    });
    const lines = stdout.trim().split("\n");
    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(/^15550100100 [0-9a-f-]{36}:1$/),
      expect.stringMatching(/^15550100101 [0-9a-f-]{36}:2$/),
      "true",
    ]);
    expect(lines[3]).toMatch(/^(Pending|Delivered) \d+$/);
    // One of the first send, and one of the second and its repetition.
    expect(lines.slice(4, -2)).toEqual([expect.stringMatching(/:1 /), expect.stringMatching(/:1 /)]);
    expect(lines.slice(-2)).toEqual(["wrong, 4 attempts left", "2 recipients"]);
  });
});
