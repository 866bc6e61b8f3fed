import fs, { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadMasterKey } from "../../src/accounts/master-key.ts";

const { linkSync } = fs;
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "heliograph-key-"));
});
afterEach(() => {
  setLink(linkSync);
  rmSync(dataDir, { recursive: true });
});

function setLink(link: typeof linkSync): void {
  fs.linkSync = link;
  syncBuiltinESMExports();
}

const NEW = { settled: async () => null };
const failing = (code: string) => (): never => {
  throw Object.assign(new Error("link failed"), { code });
};

test.each(["EPERM", "ENOTSUP", "ENOSYS"])("a key file is created where links fail with %s", async (code) => {
  setLink(failing(code));
  const key = await loadMasterKey(NEW, null, dataDir);
  expect(readdirSync(dataDir)).toEqual(["master.key"]);
  expect(readFileSync(join(dataDir, "master.key"), "utf8").trim()).toBe(key.toString());
  expect(statSync(join(dataDir, "master.key")).mode & 0o777).toBe(0o600);
  expect(await loadMasterKey(NEW, null, dataDir)).toEqual(key);
});

test("no key file is created when the link fails for another reason", async () => {
  setLink(failing("EIO"));
  await expect(loadMasterKey(NEW, null, dataDir)).rejects.toThrow("link failed");
  expect(existsSync(join(dataDir, "master.key"))).toBe(false);
  expect(readdirSync(dataDir)).toEqual([]);
});
