import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// @ts-expect-error a script without types
import { buildImage } from "../../scripts/release/build-image.mjs";
// @ts-expect-error a script without types
import { buildPackage } from "../../scripts/release/build-package.mjs";
import { readMaterials } from "../support/cyclonedx.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { canTestWith, inPath } from "../support/programmes.ts";

const BUILD = { version: "0.1.0", commit: "5f0c1d2", builtAt: "2026-01-01T00:00:00.000Z" };
const HOME = "/usr/lib/heliograph";

/** The image needs root, mmdebstrap and a mirror of Debian, and takes minutes. */
const canBuild =
  process.env["HELIOGRAPH_TEST_LONG"] !== undefined &&
  canTestWith(
    process.getuid?.() === 0 &&
      ["mmdebstrap", "strip", "chroot", "unshare"].every((name) => inPath(name) !== undefined),
    "root, mmdebstrap and binutils",
  );

const exec = promisify(execFile);
const run = async (command: string, ...args: string[]): Promise<string> => (await exec(command, args)).stdout;

describe.runIf(canBuild)("the container image", () => {
  let folder: string;
  let image: string;
  let root: string;
  /** Runs a command in the unpacked image as its user, with a root file system that is read-only. */
  const inImage = (env: string[], ...args: string[]): [string, string[]] => {
    const script = `mount --bind ${root} ${root} && mount -o remount,ro,bind ${root} && mount -t tmpfs -o mode=700,uid=10001 data ${root}/var/lib/heliograph && mount -t proc proc ${root}/proc && exec env -i PATH=/usr/sbin:/usr/bin ${env.join(" ")} chroot --userspec=10001:10001 ${root} "$@"`;
    return ["unshare", ["--mount", "sh", "-c", script, "sh", `${HOME}/bin/node`, ...args]];
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "heliograph-image-test-"));
    await buildPackage(join(folder, "built"), BUILD);
    image = buildImage(join(folder, "built"), folder, BUILD, { compressionLevel: 1 }) as string;
    root = join(folder, "root");
    await mkdir(join(folder, "archive"));
    await mkdir(root);
    await run("tar", "-xzf", image, "-C", join(folder, "archive"));
    const [{ Layers: layers }] = JSON.parse(await readFile(join(folder, "archive/manifest.json"), "utf8"));
    for (const layer of layers) await run("tar", "-xpf", join(folder, "archive", layer), "-C", root);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("lists its Node and its Debian packages in its bill of materials", async () => {
    const components = readMaterials(await readFile(join(root, HOME, "sbom.cdx.json"), "utf8"));
    const purls = components.map(({ purl }) => purl);
    expect(purls).toContain(`pkg:generic/node@${process.versions.node}`);
    const installed = await readFile(join(root, "var/lib/dpkg/status"), "utf8");
    const names = [...installed.matchAll(/^Package: (.+)$/gm)].map(([, name = ""]) => name);
    expect(names).toContain("libc6");
    for (const name of names)
      expect(purls.some((purl) => purl.startsWith(`pkg:deb/debian/${encodeURIComponent(name)}@`))).toBe(true);
  });

  test("has at most 200 MB", async () => {
    expect((await stat(image)).size).toBeLessThanOrEqual(200_000_000);
  });

  test("is the same, byte by byte, when it is built again", async () => {
    const again = buildImage(join(folder, "built"), join(folder, "again"), BUILD, { compressionLevel: 1 }) as string;
    expect((await readFile(image)).equals(await readFile(again))).toBe(true);
  });

  test("contains nothing of the machine that built it", async () => {
    for (const file of ["etc/hostname", "etc/resolv.conf"])
      await expect(stat(join(root, file))).rejects.toThrow("ENOENT");
  });

  test("serves as its own user on a read-only file system, and its health check notices", async () => {
    const port = await freePort();
    const env = [`HELIOGRAPH_PORT=${port}`, "HELIOGRAPH_DATA_DIR=/var/lib/heliograph"];
    await expect(exec(...inImage(env, `${HOME}/healthcheck.mjs`))).rejects.toThrow("ECONNREFUSED");
    const server = spawn(...inImage(env, `${HOME}/lib/cli.mjs`, "start"));
    let output = "";
    server.stdout.on("data", (chunk) => (output += chunk));
    const ended = new Promise((resolve) => server.on("exit", (code, signal) => resolve(code ?? signal)));
    await eventually(
      () => output,
      (text) => text.includes("is listening"),
    );
    await exec(...inImage(env, `${HOME}/healthcheck.mjs`));
    expect(await readFile(`/proc/${server.pid}/status`, "utf8")).toMatch(/^Uid:\t10001\t10001/m);
    const [key = ""] = /hg_live_\w+/.exec(output) ?? [];
    const sent = await fetch(`http://127.0.0.1:${port}/v1/sms`, {
      method: "POST",
      headers: { apikey: key, "Content-Type": "application/json" },
      body: JSON.stringify({ sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" }),
    });
    expect(sent.status).toBe(200);
    server.kill();
    expect(await ended).toBe(0);
  });
});
