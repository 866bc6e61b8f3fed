// Builds a container image from Debian packages and the files of the npm package, without any other image: the C library, Node
// and Heliograph. Needs root and mmdebstrap. Run: npm run build:image [-- --out FOLDER]
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { fail, root } from "../pinned-node.mjs";
import { buildPackage, readBuild } from "./build-package.mjs";
import { debianComponents, extendMaterials } from "./components.mjs";
import { ARCHITECTURES, copyServer, nodeFolderOf } from "./copy-server.mjs";

const SUITE = "bookworm";
const SUITE_VERSION = 12;
const USER = 10001;
const HOME = "/usr/lib/heliograph";
const DATA = "/var/lib/heliograph";

export const canBuildImage = () =>
  process.getuid() === 0 &&
  (process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, "mmdebstrap")));

/** Packs a built folder into an image that `docker load` and `podman load` read; returns its path. */
export function buildImage(built, out, build, { arch = process.arch, compressionLevel = 9 } = {}) {
  const work = mkdtempSync(join(tmpdir(), "heliograph-image-"));
  try {
    const seconds = Date.parse(build.builtAt) / 1000;
    const debian = debianLayer(work, seconds);
    const layers = [
      { by: `Debian ${SUITE}: C library`, tar: debian.layer },
      { by: `Heliograph ${build.version}`, tar: heliographLayer(work, built, arch, seconds, debian.packages) },
    ];
    const config = JSON.stringify(configOf(layers, build, ARCHITECTURES[arch]));
    const archive = join(work, "archive");
    mkdirSync(archive);
    const names = layers.map(({ tar }) => {
      const name = `${digestOf(tar)}.tar`;
      cpSync(tar, join(archive, name));
      return name;
    });
    const configName = `${hash("sha256", config)}.json`;
    writeFileSync(join(archive, configName), config);
    writeFileSync(
      join(archive, "manifest.json"),
      JSON.stringify([{ Config: configName, RepoTags: [`localhost/heliograph:${build.version}`], Layers: names }]),
    );
    const image = join(work, "image.tar");
    writeTar(archive, image, seconds, ["manifest.json", configName, ...names]);
    const file = join(out, `heliograph-${build.version}-${ARCHITECTURES[arch]}.image.tar.gz`);
    mkdirSync(out, { recursive: true });
    writeFileSync(file, gzipSync(readFileSync(image), { level: compressionLevel }));
    return file;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The libraries that Node needs, with the list of their packages, because scanners look for it. */
function debianLayer(work, seconds) {
  const system = join(work, "debian");
  const needed = "libc6,libgcc-s1,libstdc++6";
  execFileSync(
    "mmdebstrap",
    ["--quiet", "--variant=extract", "--skip=cleanup/apt", `--include=${needed}`, SUITE, system],
    {
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  const libraries = join(system, "usr/lib", execFileSync("uname", ["-m"], { encoding: "utf8" }).trim() + "-linux-gnu");
  const status = listPackages(join(system, "var/cache/apt/archives"));
  writeFileSync(join(system, "var/lib/dpkg/status"), status);
  // Conversions between character sets, which Node does not use.
  rmSync(join(libraries, "gconv"), { recursive: true, force: true });
  for (const folder of [
    "dev",
    "proc",
    "sys",
    "run",
    "tmp",
    "etc/apt",
    "etc/dpkg",
    "var/lib/apt",
    "var/cache",
    "var/log",
  ])
    rmSync(join(system, folder), { recursive: true, force: true });
  for (const file of ["fstab", "hostname", "resolv.conf"]) rmSync(join(system, "etc", file), { force: true });
  for (const folder of ["proc", "sys", "dev", "tmp"]) mkdirSync(join(system, folder));
  mkdirSync(join(system, "etc"), { recursive: true });
  writeFileSync(
    join(system, "etc/passwd"),
    `root:x:0:0:root:/:/nologin\nheliograph:x:${USER}:${USER}::${DATA}:/nologin\n`,
  );
  writeFileSync(join(system, "etc/group"), `root:x:0:\nheliograph:x:${USER}:\n`);
  writeFileSync(join(system, "etc/nsswitch.conf"), "hosts: files dns\n");
  writeFileSync(
    join(system, "etc/os-release"),
    `ID=debian\nNAME="Debian GNU/Linux"\nVERSION_ID="${SUITE_VERSION}"\nVERSION_CODENAME=${SUITE}\n`,
  );
  const packages = debianComponents(status, SUITE_VERSION);
  const layer = join(work, "debian.tar");
  writeTar(
    system,
    layer,
    seconds,
    readdirSync(system).filter((name) => name !== "tmp"),
  );
  writeTar(system, layer, seconds, ["tmp"], { mode: "a=rwxt", append: true });
  return { layer, packages };
}

/** Packages that are only extracted are not in dpkg's own list. */
function listPackages(folder) {
  const files = readdirSync(folder).filter((name) => name.endsWith(".deb"));
  const entries = files
    .toSorted()
    .map((name) => execFileSync("dpkg-deb", ["--field", join(folder, name)], { encoding: "utf8" }));
  if (entries.length === 0) throw new Error("mmdebstrap left no packages to list.");
  return entries.map((entry) => entry.replace(/^(Package: .+)$/m, "$1\nStatus: install ok installed")).join("\n");
}

function heliographLayer(work, built, arch, seconds, packages) {
  const tree = join(work, "heliograph");
  const home = join(tree, HOME);
  mkdirSync(join(tree, DATA), { recursive: true });
  const node = copyServer(built, home, arch);
  cpSync(join(nodeFolderOf(arch), "LICENSE"), join(home, "node-licence.txt"));
  writeFileSync(join(home, "sbom.cdx.json"), extendMaterials(built, node, packages));
  for (const file of ["LICENSE", "LICENCES"]) cpSync(join(built, file), join(home, file));
  cpSync(join(root, "packaging/container/healthcheck.mjs"), join(home, "healthcheck.mjs"));
  const layer = join(work, "heliograph.tar");
  writeTar(tree, layer, seconds, ["usr"]);
  // Last, because the server owns only this folder.
  writeTar(tree, layer, seconds, [DATA.slice(1)], { owner: USER, mode: "u=rwx,g=rx,o=", append: true });
  return layer;
}

/** The same bytes whatever the umask, the order of the files on disk and the time of the build. */
export function writeTar(folder, file, seconds, names, { owner = 0, mode = "u=rwX,go=rX", append = false } = {}) {
  execFileSync("tar", [
    append ? "--append" : "--create",
    `--file=${file}`,
    `--directory=${folder}`,
    "--sort=name",
    "--format=gnu",
    "--numeric-owner",
    `--owner=${owner}`,
    `--group=${owner}`,
    `--mode=${mode}`,
    `--mtime=@${seconds}`,
    ...names.toSorted(),
  ]);
}

export function configOf(layers, build, architecture) {
  const node = `${HOME}/bin/node`;
  return {
    architecture,
    os: "linux",
    created: build.builtAt,
    config: {
      User: `${USER}:${USER}`,
      WorkingDir: DATA,
      Env: [
        "HELIOGRAPH_HOST=0.0.0.0",
        `HELIOGRAPH_DATA_DIR=${DATA}`,
        // Large blocks return to the system when they are freed.
        "MALLOC_MMAP_THRESHOLD_=262144",
      ],
      Entrypoint: [node, `${HOME}/lib/cli.mjs`],
      Cmd: ["start"],
      ExposedPorts: { "8080/tcp": {} },
      Volumes: { [DATA]: {} },
      Healthcheck: {
        Test: ["CMD", node, `${HOME}/healthcheck.mjs`],
        Interval: 10e9,
        Timeout: 5e9,
        StartPeriod: 60e9,
      },
      Labels: {
        "org.opencontainers.image.title": "Heliograph",
        "org.opencontainers.image.version": build.version,
        "org.opencontainers.image.revision": build.commit,
        "org.opencontainers.image.licenses": "MIT",
      },
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ tar: file }) => `sha256:${digestOf(file)}`) },
    history: layers.map(({ by }) => ({ created: build.builtAt, created_by: by })),
  };
}

const digestOf = (file) => hash("sha256", readFileSync(file));

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({ options: { out: { type: "string", default: join(root, "release") } } });
  const out = resolve(values.out);
  if (!canBuildImage()) fail("The image needs root and mmdebstrap: apt install mmdebstrap, and run this as root.");
  const build = readBuild();
  const folder = join(out, "package");
  await buildPackage(folder, build);
  process.stdout.write(`${buildImage(folder, out, build)}\n`);
}
