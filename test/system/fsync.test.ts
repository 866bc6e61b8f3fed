import { execFileSync, spawn } from "node:child_process";
import { cp, mkdtemp, open, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { readSyncTrace, STRACE_OPTIONS, type SyncReport } from "../torture/sync-trace.ts";

const ROOT = join(import.meta.dirname, "../..");
const REQUESTS = 96;
const CALLERS = 16;
const END_BYTES = 2000;
const API_KEY = "hg_live_of_the_sync_test";

let folder: string;

beforeAll(async () => {
  try {
    execFileSync("strace", ["--version"], { stdio: "ignore" });
  } catch (error) {
    throw new Error('this test watches the system calls of the server: install strace ("apt-get install strace")', {
      cause: error,
    });
  }
  folder = await mkdtemp(join(tmpdir(), "heliograph-fsync-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("an answer that a message is accepted", { timeout: 600_000 }, () => {
  it("leaves only after the message has been synced to disk", async () => {
    const { acks, syncs, ...report } = await traceServer(ROOT, join(folder, "real"));
    process.stdout.write(`${acks} answers, ${syncs} syncs\n`);
    expect(report).toEqual({ unsynced: [], unwritten: [] });
    expect(acks).toBe(REQUESTS);
    expect(syncs).toBeGreaterThan(0);
  });

  it("is caught by this test when the store does not sync", async () => {
    const root = await copyWithoutSync(join(folder, "copy"));
    const { acks, unsynced, unwritten } = await traceServer(root, join(folder, "careless"));
    process.stdout.write(`without a sync: ${unsynced.length} of ${acks} answers too early\n`);
    expect(unwritten).toEqual([]);
    expect(unsynced.length).toBeGreaterThan(REQUESTS * 0.9);
  });
});

/** The same server without the word that makes SQLite sync every commit. */
async function copyWithoutSync(root: string): Promise<string> {
  await cp(join(ROOT, "src"), join(root, "src"), { recursive: true });
  for (const name of await readdir(ROOT)) if (name !== "src") await symlink(join(ROOT, name), join(root, name));
  // The second file sets the level again after each maintenance transaction.
  for (const name of ["open.ts", "writer.ts"]) {
    const file = join(root, "src/store/sqlite", name);
    const source = await readFile(file, "utf8");
    const careless = source.replaceAll("pragma synchronous = full", "pragma synchronous = normal");
    expect(careless).not.toBe(source);
    await writeFile(file, careless);
  }
  return root;
}

/** Runs a server under strace, has it accept messages from several callers, and reads the trace. */
async function traceServer(root: string, dataDir: string): Promise<SyncReport> {
  const trace = `${dataDir}.trace`;
  const command = [process.execPath, join(root, "src/main.ts")];
  // With -D the tracer is the grandchild, so that signals and the exit are the server's own.
  const server = spawn("strace", ["-D", ...STRACE_OPTIONS, "-o", trace, ...command], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      // strace makes compiling the source several times slower.
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      HELIOGRAPH_PORT: "0",
      HELIOGRAPH_DATA_DIR: dataDir,
      HELIOGRAPH_API_KEY: API_KEY,
      HELIOGRAPH_LOG_LEVEL: "error",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => server.on("close", resolve));
  try {
    let printed = "";
    server.stdout.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
    const heading = /^Heliograph is listening on (\S+)$/m;
    await eventually(
      () => printed,
      (text) => heading.test(text),
    );
    const url = heading.exec(printed)?.[1] ?? "";
    await Promise.all(Array.from({ length: CALLERS }, (_, caller) => send(url, caller)));
  } finally {
    server.kill("SIGTERM");
  }
  expect(await exited).toBe(0);
  const over = new RegExp(`^${server.pid} +\\+\\+\\+ exited with 0`, "m");
  await eventually(
    () => readEnd(trace),
    (end) => over.test(end),
  );
  return readSyncTrace(trace);
}

async function send(url: string, caller: number): Promise<void> {
  for (let count = 0; count < REQUESTS / CALLERS; count += 1) {
    const to = `44${String(caller).padStart(4, "0")}${String(count).padStart(2, "0")}1234`;
    const answer = await fetch(`${url}/v1/sms`, {
      method: "POST",
      headers: { apikey: API_KEY, "content-type": "application/json" },
      body: JSON.stringify({ sender: "HELIOG", to, text: "Hello", type: "TRANS" }),
    });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  }
}

async function readEnd(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read({ position: Math.max(0, size - END_BYTES), length: END_BYTES });
    return buffer.toString("latin1", 0, bytesRead);
  } finally {
    await file.close();
  }
}
