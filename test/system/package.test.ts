import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
// @ts-expect-error a script without types
import { buildPackage, packPackage } from "../../scripts/release/build-package.mjs";
import { readMaterials } from "../support/cyclonedx.ts";
import { freshDatabase } from "../support/databases.ts";
import { hasPostgres } from "../support/engines.ts";
import { startServer } from "../support/server-process.ts";

const BUILD = {
  version: "0.1.0",
  commit: "5f0c1d2e8a9b4c7d6e3f1a2b3c4d5e6f7a8b9c0d",
  builtAt: "2026-01-01T00:00:00.000Z",
};

const VERSION_LINE = "heliograph 0.1.0 (commit 5f0c1d2, 2026-01-01)\n";

const run = promisify(execFile);

describe("the npm package", () => {
  let folder: string;
  let tarball: string;
  let command: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "heliograph-package-"));
    await buildPackage(join(folder, "built"), BUILD);
    tarball = packPackage(join(folder, "built"), folder);
    const empty = join(folder, "empty");
    await mkdir(empty);
    await run("npm", ["install", tarball], { cwd: empty, env: withoutNetwork("install") });
    command = join(empty, "node_modules/.bin/heliograph");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Everything but an optional Node is in the bundle. The cache is empty, because npx keeps there what it has installed. */
  const withoutNetwork = (cache: string): NodeJS.ProcessEnv => ({
    ...process.env,
    npm_config_cache: join(folder, `cache-${cache}`),
    npm_config_offline: "true",
    npm_config_omit: "optional",
    npm_config_audit: "false",
    npm_config_fund: "false",
  });

  test("holds bundle, dashboard, source maps and licences, and neither tests nor TypeScript", async () => {
    const files = await readdir(join(folder, "empty/node_modules/heliograph"), { recursive: true });
    for (const file of [
      "lib/cli.mjs",
      "lib/main.mjs",
      "lib/main.mjs.map",
      "dashboard/index.html",
      "LICENSE",
      "LICENCES",
      "sbom.cdx.json",
    ])
      expect(files).toContain(file);
    expect(files.filter((file) => /\.tsx?$|^(?:src|test|docs)\b/.test(file))).toEqual([]);
    expect(await readdir(join(folder, "empty/node_modules"))).toEqual([".bin", ".package-lock.json", "heliograph"]);
  });

  test("lists every bundled library in its bill of materials, with hash and licence", async () => {
    const read = (file: string): Promise<string> => readFile(join(folder, "built", file), "utf8");
    const components = readMaterials(await read("sbom.cdx.json"));
    const names = components.map(({ name }) => name);
    for (const library of ["fastify", "pg", "pg-types", "ajv", "kysely", "pino", "react", "@mantine/core"])
      expect(names).toContain(library);
    for (const library of ["vite", "typescript", "vitest"]) expect(names).not.toContain(library);
    expect(components.filter(({ hashes }) => hashes?.[0]?.content.length !== 128)).toEqual([]);
    const licences = await read("LICENCES");
    expect(components.filter(({ name, version }) => !licences.includes(`\n${name} ${version} (`))).toEqual([]);
  });

  test("prints its version and commit", async () => {
    const { stdout } = await run(command, ["--version"]);
    expect(stdout).toBe(VERSION_LINE);
  });

  test("runs by npx from the tarball in an empty folder, and leaves it empty", async () => {
    const empty = join(folder, "empty for npx");
    await mkdir(empty);
    const { stdout } = await run("npx", ["--yes", `../${basename(tarball)}`, "--version"], {
      cwd: empty,
      env: withoutNetwork("npx"),
    });
    expect(stdout).toBe(VERSION_LINE);
    expect(await readdir(empty)).toEqual([]);
  });

  test("is a command of the whole machine after npm install -g, and starts a server from any folder", async () => {
    const prefix = join(folder, "prefix");
    const args = ["install", "--global", `--prefix=${prefix}`, tarball];
    await run("npm", args, { cwd: folder, env: withoutNetwork("global") });
    const globalCommand = join(prefix, "bin/heliograph");
    const elsewhere = join(folder, "elsewhere for a global command");
    await mkdir(elsewhere);
    expect((await run(globalCommand, ["--version"], { cwd: elsewhere })).stdout).toBe(VERSION_LINE);
    const server = await startServer({ entry: globalCommand });
    try {
      expect((await fetch(`${server.baseUrl}/healthz`)).status).toBe(200);
    } finally {
      await server.cleanup();
    }
    await run("npm", ["uninstall", "--global", `--prefix=${prefix}`, "heliograph"], { env: withoutNetwork("global") });
    expect(await readdir(join(prefix, "bin"))).toEqual([]);
  });

  test("names its own command in the help", async () => {
    const { stdout } = await run(command, ["--help"]);
    expect(stdout).toContain("Usage: heliograph [COMMAND]\n");
  });

  test("starts a server that sends, and serves dashboard and documentation", async () => {
    const server = await startServer({ entry: command });
    try {
      const get = (path: string): Promise<Response> =>
        fetch(server.baseUrl + path, { headers: { apikey: server.apiKey } });
      expect(await (await get("/healthz")).json()).toEqual({ status: "ok", ...BUILD });
      expect(await (await get("/metrics")).text()).toContain(
        `heliograph_build_info{version="0.1.0",commit="${BUILD.commit}",built_at="${BUILD.builtAt}"} 1\n`,
      );
      expect(await (await get("/api/system")).json()).toMatchObject(BUILD);
      const sent = await fetch(`${server.baseUrl}/v1/sms`, {
        method: "POST",
        headers: { apikey: server.apiKey, "content-type": "application/json" },
        body: JSON.stringify({ sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" }),
      });
      expect(sent.status).toBe(200);
      const phone = await get("/api/simulator/messages/wait?to=15550100100");
      expect(await phone.json()).toMatchObject({ data: { text: "Hello" } });
      const files = /<(?:script|link)[^>]+(?:src|href)="([^"]+\.(?:js|css)[^"]*)"/g;
      expect(await (await get("/docs/guides/performance")).text()).toContain("../files/");
      for (const page of ["/", "/docs", "/docs/reference/sms"]) {
        const found = [...(await (await get(page)).text()).matchAll(files)].map(([, file = ""]) => file);
        expect(found).not.toEqual([]);
        for (const file of found)
          expect([file, (await get(new URL(file, "http://x/").pathname)).status]).toEqual([file, 200]);
      }
      expect((await server.kill("SIGTERM")).code).toBe(0);
    } finally {
      await server.cleanup();
    }
  });

  test.runIf(hasPostgres)("moves the data of its server from SQLite to PostgreSQL", async () => {
    const server = await startServer({ entry: command });
    const database = await freshDatabase(inject("postgresUrl"));
    try {
      await server.kill("SIGTERM");
      const env = { ...process.env, HELIOGRAPH_DATA_DIR: server.dataDir, HELIOGRAPH_DATABASE_URL: database.url };
      const { stdout } = await run(command, ["migrate"], { env });
      expect(stdout).toMatch(/^accounts +1 rows/m);
      expect(stdout).toContain("all are the same");
      await expect(run(command, ["migrate"], { env })).resolves.toMatchObject({
        stdout: expect.stringContaining("copied by an earlier run"),
      });
    } finally {
      await server.cleanup();
      await database.drop();
    }
  });
});
