import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// @ts-expect-error a script without types
import { buildDeb } from "../../scripts/release/build-deb.mjs";
// @ts-expect-error a script without types
import { buildPackage } from "../../scripts/release/build-package.mjs";
import { readMaterials } from "../support/cyclonedx.ts";
import { canTestWith, inPath } from "../support/programmes.ts";

const BUILD = {
  version: "0.1.0",
  commit: "5f0c1d2e8a9b4c7d6e3f1a2b3c4d5e6f7a8b9c0d",
  builtAt: "2026-01-01T00:00:00.000Z",
};
/** The next release, with the same source. */
const NEWER = {
  version: "0.1.1",
  commit: "6a1d2e3f9bac5d8e7f401b2c3d4e5f60718293a4",
  builtAt: "2026-02-01T00:00:00.000Z",
};
const DROP_IN = "privileged-ports.conf";
const PACKAGING = join(import.meta.dirname, "../../packaging/debian");

/** No server of another test uses this port. */
const LOW_PORT = 1009;
const LISTEN = [
  process.execPath,
  "--eval",
  `const say = (text) => { console.log(text); process.exit(); };
  require("net").createServer().listen(${LOW_PORT}, "127.0.0.1", () => say("listening")).on("error", ({ code }) => say(code));`,
];

const isLong = process.env["HELIOGRAPH_TEST_LONG"] !== undefined;
/** Compressing Node takes half a minute. */
const compression = isLong ? "gzip" : "none";

const exec = promisify(execFile);
const run = async (command: string, ...args: string[]): Promise<string> =>
  (await exec(command, args, { maxBuffer: 1e8 })).stdout;

/** A Debian of its own, in a folder: needs root, mmdebstrap and a mirror, and takes minutes. */
const canInstall =
  isLong && canTestWith(process.getuid?.() === 0 && inPath("mmdebstrap") !== undefined, "root and mmdebstrap");
const canBuild = canTestWith(inPath("dpkg-deb") && inPath("strip"), "dpkg-deb and strip (binutils)");
const canRate = canTestWith(inPath("systemd-analyze"), "systemd-analyze (systemd)");
const canCheck = isLong && canTestWith(inPath("lintian"), "lintian");

/** A kernel may let everyone listen on low ports. */
const canListen = canTestWith(
  process.getuid?.() === 0 &&
    inPath("setpriv") !== undefined &&
    Number(readFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8")) > LOW_PORT,
  `root, and port ${LOW_PORT} reserved by the kernel`,
);

describe.runIf(canBuild)("the Debian package", () => {
  let folder: string;
  let deb: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "heliograph-deb-"));
    await buildPackage(join(folder, "built"), BUILD);
    deb = buildDeb(join(folder, "built"), folder, BUILD, { compression }) as string;
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("holds server, Node, dashboard, unit, settings and manual, all owned by root", async () => {
    const lines = (await run("dpkg-deb", "--contents", deb)).trim().split("\n");
    const files = new Map(lines.map((line) => [line.split(/\s+/)[5] ?? "", line.split(/\s+/).slice(0, 2).join(" ")]));
    expect(files.get("./usr/bin/heliograph")).toBe("-rwxr-xr-x root/root");
    expect(files.get("./usr/lib/heliograph/bin/node")).toBe("-rwxr-xr-x root/root");
    for (const file of [
      "./usr/lib/heliograph/lib/cli.mjs",
      "./usr/lib/heliograph/dashboard/index.html",
      "./lib/systemd/system/heliograph.service",
      "./etc/heliograph/heliograph.env",
      "./usr/share/man/man1/heliograph.1.gz",
      "./usr/share/doc/heliograph/configuration.md",
      "./usr/share/doc/heliograph/examples/privileged-ports.conf",
    ])
      expect([file, files.get(file)]).toEqual([file, "-rw-r--r-- root/root"]);
    expect([...files.values()].filter((owner) => !owner.endsWith(" root/root"))).toEqual([]);
  });

  test("lists its Node, with the hash of the file, beside the libraries in its bill of materials", async () => {
    const unpacked = join(folder, "unpacked");
    await run("dpkg-deb", "--extract", deb, unpacked);
    const zipped = await readFile(join(unpacked, "usr/share/doc/heliograph/sbom.cdx.json.gz"));
    const components = readMaterials(gunzipSync(zipped).toString());
    const names = components.map(({ name }) => name);
    expect(names).toContain("fastify");
    const binary = join(unpacked, "usr/lib/heliograph/bin/node");
    const version = (await run(binary, "--version")).trim().slice(1);
    expect(components.find(({ name }) => name === "node")).toMatchObject({
      version,
      purl: `pkg:generic/node@${version}`,
      hashes: [{ alg: "SHA-256", content: hash("sha256", await readFile(binary)) }],
    });
  });

  test("keeps the operator's settings over an upgrade", async () => {
    expect(await run("dpkg-deb", "--info", deb, "conffiles")).toBe("/etc/heliograph/heliograph.env\n");
  });

  test("is the same, byte by byte, when it is built again", async () => {
    const first = await readFile(deb);
    const again = buildDeb(join(folder, "built"), join(folder, "again"), BUILD, { compression }) as string;
    expect(first.equals(await readFile(again))).toBe(true);
  });

  test.runIf(canRate).each([
    { name: "alone", dropIns: [] },
    { name: "with the drop-in for ports below 1024", dropIns: [DROP_IN] },
  ])("runs in a sandbox that systemd rates 2.5 or better, $name", async ({ dropIns }) => {
    const root = await mkdtemp(join(folder, "rated-"));
    const units = join(root, "etc/systemd/system");
    await cp(join(PACKAGING, "heliograph.service"), join(units, "heliograph.service"));
    for (const dropIn of dropIns) await cp(join(PACKAGING, dropIn), join(units, "heliograph.service.d", dropIn));
    const rated = await run("systemd-analyze", "security", "--offline=true", `--root=${root}`, "heliograph.service");
    // Proves that the drop-in was read.
    expect(rated).toMatch(dropIns.length > 0 ? /✗ PrivateUsers=/ : /✓ PrivateUsers=/);
    const [, exposure] = /exposure level for heliograph\.service: ([\d.]+)/.exec(rated) ?? [];
    expect(Number(exposure)).toBeLessThanOrEqual(2.5);
  });

  test.runIf(canListen)(
    "can listen on ports below 1024 with the capability of the drop-in, outside a user namespace",
    async () => {
      const settings = await readFile(join(PACKAGING, DROP_IN), "utf8");
      const [, capability = ""] = /^AmbientCapabilities=CAP_(\w+)$/m.exec(settings) ?? [];
      expect(settings).toMatch(new RegExp(`^CapabilityBoundingSet=CAP_${capability}$`, "m"));
      expect(settings).toMatch(/^PrivateUsers=false$/m);
      const name = capability.toLowerCase();
      const asService = ["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"];
      const none = ["--bounding-set=-all", "--inh-caps=-all"];
      const one = [`--bounding-set=-all,+${name}`, `--inh-caps=-all,+${name}`, `--ambient-caps=+${name}`];
      expect(await run("setpriv", ...asService, ...none, ...LISTEN)).toBe("EACCES\n");
      expect(await run("setpriv", ...asService, ...one, ...LISTEN)).toBe("listening\n");
      expect(await run("unshare", "--user", "--map-root-user", ...LISTEN)).toBe("EACCES\n");
    },
  );

  test.runIf(canCheck)("has no complaint of lintian", async () => {
    expect(await run("lintian", "--allow-root", deb)).toBe("");
  });

  test.runIf(canInstall)("installs, serves, upgrades, is removed and purged in a Debian of its own", async () => {
    const root = join(folder, "root");
    const needed = "adduser,init-system-helpers,libstdc++6,curl,ca-certificates";
    await run("mmdebstrap", "--variant=minbase", `--include=${needed}`, "bookworm", root);
    await cp(deb, join(root, "tmp/heliograph.deb"));
    await buildPackage(join(folder, "built-newer"), NEWER);
    const newer = buildDeb(join(folder, "built-newer"), folder, NEWER, { compression: "none" }) as string;
    await cp(newer, join(root, "tmp/heliograph-newer.deb"));
    await writeFile(join(root, "tmp/try.sh"), IN_DEBIAN);
    expect(await run("chroot", root, "sh", "/tmp/try.sh")).toContain("everything is gone\n");
  });
});

const IN_DEBIAN = `set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
mount -t proc proc /proc
trap 'umount /proc' EXIT
dpkg -i /tmp/heliograph.deb
test "$(stat -c '%U:%G %a' /etc/heliograph/heliograph.env)" = "root:heliograph 640"
test "$(stat -c '%U:%G %a' /var/lib/heliograph)" = "heliograph:heliograph 750"
heliograph --version | grep "0.1.0 (commit 5f0c1d2"
heliograph account add shop --email owner@shop.example | grep hg_live_
start() {
  setpriv --reuid=heliograph --regid=heliograph --init-groups env HELIOGRAPH_PORT=18777 \\
    HELIOGRAPH_DATA_DIR=/var/lib/heliograph HELIOGRAPH_WELCOME_FILE=/var/lib/heliograph/welcome.txt \\
    /usr/lib/heliograph/bin/node /usr/lib/heliograph/lib/cli.mjs start > /tmp/log 2>&1 & server=$!
  until grep -q "is listening" /tmp/log; do kill -0 $server; sleep 0.2; done
}
start
curl -sf localhost:18777/healthz | grep '"version":"0.1.0"'
curl -sf localhost:18777/ | grep "<script"
if grep hg_live_ /tmp/log; then exit 1; fi
key=$(grep -o 'hg_live_[A-Za-z0-9]*' /var/lib/heliograph/welcome.txt | head -n 1)
curl -sf localhost:18777/v1/sms -H "apikey: $key" -H "Content-Type: application/json" \\
  -d '{"sender":"HELIOG","to":"15550100100","text":"Hello","type":"TRANS"}' | grep "Sent Successfully"
kill $server
wait $server
echo "HELIOGRAPH_PORT=18778" >> /etc/heliograph/heliograph.env
dpkg --force-confold -i /tmp/heliograph-newer.deb
tail -n 1 /etc/heliograph/heliograph.env | grep 18778
test "$(dpkg-query -W -f '\${Version}' heliograph)" = 0.1.1-1
test "$(stat -c '%U:%G %a' /etc/heliograph/heliograph.env)" = "root:heliograph 640"
heliograph --version | grep "0.1.1 (commit 6a1d2e3"
start
curl -sf localhost:18777/healthz | grep '"version":"0.1.1"'
curl -sf localhost:18777/v1/messages -H "apikey: $key" | grep 15550100100
kill $server
wait $server
dpkg -r heliograph
test -f /var/lib/heliograph/heliograph.db
test ! -e /usr/lib/heliograph
dpkg -P heliograph
test ! -e /var/lib/heliograph
test ! -e /etc/heliograph
echo "everything is gone"
`;
