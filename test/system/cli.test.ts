import { COMMAND_LINE } from "../support/entries.ts";
import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { nearestCommand } from "../../src/cli/nearest-command.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { lockFile } from "../../src/lib/lock-file.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES } from "../support/engines.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

const run = (env: Record<string, string>, ...args: string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    execFile(process.execPath, [COMMAND_LINE, ...args], { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
const heliograph = (...args: string[]): Promise<Outcome> => run({}, ...args);

const SEE_ALL = "npm run heliograph -- --help shows all commands\n";

describe("a command that does not exist", () => {
  test("is named, with the nearest that does, and ends with exit code 2", async () => {
    expect(await heliograph("acount", "add", "acme")).toEqual({
      code: 2,
      stdout: "",
      stderr: `heliograph: unknown command: acount add acme\nDid you mean this?\n  account add NAME [--email OWNER@EXAMPLE.COM]\n${SEE_ALL}`,
    });
  });

  test.each([["frobnicate"], ["constructor"]])("%s is like none, and none is offered", async (word) => {
    expect(await heliograph(word)).toEqual({
      code: 2,
      stdout: "",
      stderr: `heliograph: unknown command: ${word}\n${SEE_ALL}`,
    });
  });

  test.each([
    ["accounts", "account list"],
    ["accounts list", "account list"],
    ["accounts add", "account add"],
    ["keys", "keys list"],
  ])("%s is another name of %s", async (words, command) => {
    const { code, stdout } = await heliograph(...words.split(" "), "--help");
    expect([code, stdout]).toEqual([0, expect.stringContaining(`\n  ${command}`)]);
  });

  test.each([
    ["acount add", "account add"],
    ["account", "account add"],
    ["account create", "account add"],
    ["config exprot", "config export"],
    ["config aply", "config apply"],
    ["CONFIG APPLY", "config apply"],
    ["lisen", "listen"],
    ["listen http://127.0.0.1:3000", "listen"],
    ["smcs", "smsc"],
    ["smcs --port 1", "smsc"],
    ["lsiten http://127.0.0.1:3000", "listen"],
    ["smsc 2775", "smsc"],
    ["frobnicate", null],
    ["serve", null],
    ["a".repeat(100_000), null],
  ])("%.30s: nearest is %s", (words, nearest) => {
    const commands = ["account add", "config export", "config apply", "listen", "smsc"];
    expect(nearestCommand(words.split(" "), commands)).toBe(nearest);
  });
});

test("--version prints the version, and that it runs from source", async () => {
  expect(await heliograph("--version")).toEqual({ code: 0, stdout: "heliograph 0.1.0 (from source)\n", stderr: "" });
});

test("--help prints every command and every exit code, and is no failure", async () => {
  const { code, stdout, stderr } = await heliograph("--help");
  expect([code, stderr]).toEqual([0, ""]);
  for (const word of [
    "account add",
    "config export",
    "config apply",
    "database compact",
    "backup DIR",
    "migrate [--data-dir DIR]",
    "restore BACKUP",
    "hold",
    "resume",
    "listen",
    "smsc",
    "Exit codes:",
  ])
    expect(stdout).toContain(word);
});

describe("database compact", () => {
  const compact = (env: Record<string, string>): Promise<Outcome> => run(env, "database", "compact");

  test("rewrites the file of a stopped server, and not that of a running one", async () => {
    const folder = await mkdtemp(join(inject("scratchFolder"), "compact-"));
    await openSqliteStore(join(folder, "heliograph.db"), systemClock).close();
    const env = { HELIOGRAPH_DATA_DIR: folder };
    expect(await compact(env)).toMatchObject({ code: 0, stdout: expect.stringMatching(/1 MB before, 1 MB now/) });
    const unlock = lockFile(join(folder, "heliograph.lock"));
    expect(await compact(env)).toMatchObject({ code: 2, stderr: expect.stringContaining("is in use by another") });
    unlock();
  });

  test("names the setting where there is no file, or the store is PostgreSQL", async () => {
    const folder = await mkdtemp(join(inject("scratchFolder"), "compact-"));
    const HELIOGRAPH_DATABASE_URL = "postgresql://127.0.0.1:1/none";
    expect((await compact({ HELIOGRAPH_DATA_DIR: folder })).stderr).toContain("HELIOGRAPH_DATA_DIR: there is no");
    expect((await compact({ HELIOGRAPH_DATABASE_URL })).stderr).toContain("HELIOGRAPH_DATABASE_URL: PostgreSQL frees");
  });
});

describe.each(ENGINES)("account add on %s", (engine) => {
  test("names the option where the address of the owner is taken or none, and creates nothing", async () => {
    const env: Record<string, string> =
      engine === "postgres"
        ? {
            HELIOGRAPH_DATABASE_URL: (await migratedDatabase(inject("postgresUrl"))).url,
            HELIOGRAPH_MASTER_KEY: "a".repeat(64),
          }
        : { HELIOGRAPH_DATA_DIR: await mkdtemp(join(inject("scratchFolder"), "accounts-")) };
    const add = (...args: string[]): Promise<Outcome> => run(env, "account", "add", ...args);
    expect(await add("first", "--email", "Ann@Example.com")).toMatchObject({ code: 0, stderr: "" });
    const taken = "a user has the email address ann@example.com already";
    expect(await add("second", "--email", "ann@example.com")).toEqual({
      code: 2,
      stdout: "",
      stderr: `heliograph: --email: ${taken}; give another, nothing was created\n`,
    });
    expect(await add("second", "--email", "ann")).toEqual({
      code: 2,
      stdout: "",
      stderr: "heliograph: --email must be an email address, such as ann@example.com\n",
    });
    expect(await add("second")).toMatchObject({ code: 0, stderr: "" });
    expect(await add("second")).toMatchObject({ code: 2, stderr: "heliograph: there is an account second already\n" });
  });
});
