import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { migratedDatabase } from "../support/databases.ts";
import { SERVER } from "../support/entries.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { writeSqliteSchema } from "../support/sqlite-schema.ts";

const ROOT = join(import.meta.dirname, "../..");
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

/** Starts the server as a user does, with only the given settings. */
function start(env: Record<string, string> = {}, uid?: number): Start {
  const child = spawn(process.execPath, [SERVER], {
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

/** A data directory as a first start leaves it, made once. */
let usedDataDir: Promise<string> | null = null;

async function copyUsedDataDir(): Promise<void> {
  usedDataDir ??= (async () => {
    const kept = join(await mkdtemp(join(inject("scratchFolder"), "used-")), "data");
    await startAndStop({ HELIOGRAPH_DATA_DIR: kept });
    return kept;
  })();
  await cp(await usedDataDir, dataDir(), { recursive: true });
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
  it("the printed curl commands send a message and show it on the phone", async () => {
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
    const read = (name: string): Promise<Response> =>
      fetch(`${url}/v1/messages/${sent.data[0]?.messageId}`, { headers: { apikey: keyOf(name) } });
    expect(await (await read("Live")).json()).toMatchObject({ text: "Hello from Heliograph" });
    // It opens, and shows nothing live.
    expect((await read("Test")).status).toBe(404);
  });

  it("prints no secret that the operator has set", async () => {
    const given = {
      HELIOGRAPH_ADMIN_PASSWORD: "a password of our own",
      HELIOGRAPH_API_KEY: "a-live-key-of-our-own",
      HELIOGRAPH_TEST_API_KEY: "a-test-key-of-our-own",
    };
    const server = start(given);
    const url = await listening(server);
    for (const secret of Object.values(given)) expect(server.stdout() + server.stderr()).not.toContain(secret);
    expect(server.stdout()).toMatch(/Live key +\(as set\)/);
    const answer = await fetch(`${url}/v1/messages`, { headers: { apikey: given.HELIOGRAPH_API_KEY } });
    expect(answer.status).toBe(200);
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
    name: "a data directory that is a file",
    async prepare() {
      await writeFile(join(folder, "file"), "");
      return { HELIOGRAPH_DATA_DIR: join(folder, "file") };
    },
    says: /HELIOGRAPH_DATA_DIR: .*file is not a directory that can be written/,
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
  ...(process.platform === "linux"
    ? [
        {
          name: "a data directory that the system lets nobody make",
          prepare: async () => ({ HELIOGRAPH_DATA_DIR: "/proc/x/data" }),
          says: /HELIOGRAPH_DATA_DIR: \/proc\/x\/data is not a directory that can be written/,
        },
      ]
    : []),
  {
    name: "a master key that is missing",
    async prepare() {
      await copyUsedDataDir();
      await rm(join(dataDir(), "master.key"));
      return {};
    },
    says: /was set up under a master key, and .*master\.key is missing; restore it from a backup, or set HELIOGRAPH_MASTER_KEY/,
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
    says: /HELIOGRAPH_DATA_DIR: .*heliograph\.db cannot be used: file is not a database/,
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
    prepare: async () => ({
      HELIOGRAPH_DATABASE_URL: "postgres://somebody@127.0.0.1:1/heliograph",
      HELIOGRAPH_START_WAIT_SECONDS: "0",
    }),
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
  it.each(named)("%s ends the start with one line", async (_, { prepare, says, uid }) => {
    const env = await prepare();
    const server = start(env, uid);
    const code = await server.exited;
    expect(server.stderr()).toMatch(/^heliograph: [^\n]+\n$/);
    expect(server.stderr()).toMatch(says);
    expect(server.stdout()).not.toContain("listening");
    expect(server.stderr() + server.stdout()).not.toMatch(/hg_(live|test)_|^ +at /m);
    expect(code).toBe(1);
  });

  it("writes no new master key in the place of one that is missing", async () => {
    await copyUsedDataDir();
    await rm(join(dataDir(), "master.key"));
    expect(await start().exited).toBe(1);
    expect(await readdir(dataDir())).not.toContain("master.key");
  });

  it("Windows ends the start with one line", async () => {
    const asOnWindows = "Object.defineProperty(process, 'platform', { value: 'win32' }); delete process.getuid;";
    const args = ["--import", `data:text/javascript,${encodeURIComponent(asOnWindows)}`, "scripts/start.mjs"];
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
    const [code] = (await once(child, "close")) as [number | null];
    expect({ code, printed }).toEqual({
      code: 1,
      printed: "Heliograph runs on Linux and macOS: on Windows, use WSL.\n",
    });
  });
});

describe("a start before its database", () => {
  const warnings = (server: Start): unknown[] =>
    server
      .stderr()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as unknown);
  const UNAVAILABLE = { level: "warn", msg: "database unavailable, trying to start again" };

  it("tries again with a log line each time, and ends with 1 when its time is over", async () => {
    const server = start({
      HELIOGRAPH_DATABASE_URL: "postgres://somebody@127.0.0.1:1/heliograph",
      HELIOGRAPH_START_WAIT_SECONDS: "4",
    });
    expect(await server.exited).toBe(1);
    const logged = warnings(server);
    expect(logged.length).toBeGreaterThan(1);
    expect(logged).toEqual(logged.map(() => expect.objectContaining(UNAVAILABLE)));
    expect(server.stderr()).toMatch(/^heliograph: the database cannot be reached: [^\n]+\n$/mu);
  });

  it("the start continues as soon as the database is available", async () => {
    const { url } = await migratedDatabase(inject("postgresUrl"));
    const there = new URL(url);
    const here = new URL(url);
    here.port = String(await freePort());
    const server = start({ HELIOGRAPH_DATABASE_URL: here.href });
    await eventually(
      () => warnings(server).length,
      (count) => count > 0,
    );
    const proxy = createServer((near) => {
      const far = connect(Number(there.port), there.hostname);
      near.pipe(far).pipe(near);
      near.on("error", () => far.destroy());
      far.on("error", () => near.destroy());
    });
    proxy.listen(Number(here.port), "127.0.0.1");
    expect(await listening(server)).toMatch(/^http:/);
    await stop(server);
    proxy.close();
  });
});

describe("files of the data directory", () => {
  const modes = async (): Promise<Record<string, string>> => {
    const names = await readdir(dataDir());
    const found = await Promise.all(
      names.map(async (name) => [name, (await stat(join(dataDir(), name))).mode & 0o777]),
    );
    return Object.fromEntries(found.map(([name, mode]) => [name, Number(mode).toString(8)])) as Record<string, string>;
  };
  const PRIVATE = { "heliograph.db": "600", "heliograph.lock": "600", "master.key": "600" };

  it("are closed to others, also those that were open to them", async () => {
    await copyUsedDataDir();
    expect(await modes()).toMatchObject(PRIVATE);
    await mkdir(join(dataDir(), "media"));
    for (const name of await readdir(dataDir())) await chmod(join(dataDir(), name), 0o644);
    const server = start();
    await listening(server);
    const { media, ...files } = await modes();
    expect(media).toBe("700");
    expect(Object.values(files)).toEqual(Object.values(files).map(() => "600"));
    await stop(server);
  });
});
