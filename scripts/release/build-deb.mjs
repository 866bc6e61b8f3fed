// Builds the Debian package from the files of the npm package. Run: npm run build:deb [-- --out FOLDER]
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { root } from "../pinned-node.mjs";
import { buildPackage, readBuild } from "./build-package.mjs";
import { extendMaterials } from "./components.mjs";
import { ARCHITECTURES, copyServer, nodeFolderOf } from "./copy-server.mjs";

/** The project has no mailbox, and `.invalid` says so (RFC 2606). A packager puts their own address here. */
const MAINTAINER = "Heliograph packages <packages@heliograph.invalid>";

/** Packs the built files and a Node of their own; returns the path of the package. */
export function buildDeb(built, out, build, { arch = process.arch, compression = "xz" } = {}) {
  const tree = join(out, "deb");
  rmSync(tree, { recursive: true, force: true });
  const from = (...path) => join(root, "packaging/debian", ...path);
  const to = (path) => {
    const target = join(tree, path);
    mkdirSync(join(target, ".."), { recursive: true });
    return target;
  };

  const node = copyServer(built, to("usr/lib/heliograph"), arch);
  cpSync(from("heliograph.sh"), to("usr/bin/heliograph"));
  cpSync(from("heliograph.service"), to("lib/systemd/system/heliograph.service"));
  cpSync(from("heliograph.env"), to("etc/heliograph/heliograph.env"));

  const documents = "usr/share/doc/heliograph";
  for (const page of readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md")))
    cpSync(join(root, "docs", page), to(`${documents}/${page}`));
  cpSync(from("privileged-ports.conf"), to(`${documents}/examples/privileged-ports.conf`));
  cpSync(join(root, "README.md"), to(`${documents}/README.md`));
  const zip = (path, text) => writeFileSync(to(path), gzipSync(text, { level: 9 }));
  writeFileSync(to(`${documents}/copyright`), copyright());
  zip(`${documents}/LICENCES.gz`, readFileSync(join(built, "LICENCES")));
  zip(`${documents}/sbom.cdx.json.gz`, extendMaterials(built, node));
  cpSync(join(nodeFolderOf(arch), "LICENSE"), to(`${documents}/node-licence.txt`));
  zip(`${documents}/changelog.gz`, readFileSync(join(root, "CHANGELOG.md")));
  zip(`${documents}/changelog.Debian.gz`, debianChangelog(build));
  const manual = readFileSync(from("heliograph.1"), "utf8");
  const date = build.builtAt.slice(0, 10);
  zip("usr/share/man/man1/heliograph.1.gz", manual.replace("@DATE@", date).replace("@VERSION@", build.version));
  cpSync(from("lintian-overrides"), to("usr/share/lintian/overrides/heliograph"));

  for (const script of ["postinst", "prerm", "postrm"]) cpSync(from(script), to(`DEBIAN/${script}`));
  writeFileSync(to("DEBIAN/conffiles"), "/etc/heliograph/heliograph.env\n");
  const files = filesIn(tree).filter((file) => !file.startsWith("DEBIAN/"));
  writeFileSync(
    to("DEBIAN/md5sums"),
    checksumsOf(
      tree,
      files.filter((file) => !file.startsWith("etc/")),
    ),
  );
  writeFileSync(to("DEBIAN/control"), controlOf(build, arch, tree, files));
  setModesAndTimes(tree, Date.parse(build.builtAt) / 1000);

  const deb = join(out, `heliograph_${build.version}-1_${ARCHITECTURES[arch]}.deb`);
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(Date.parse(build.builtAt) / 1000) };
  execFileSync("dpkg-deb", ["--root-owner-group", `-Z${compression}`, "--build", tree, deb], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  rmSync(tree, { recursive: true });
  return deb;
}

function controlOf({ version }, arch, tree, files) {
  const kilobytes = Math.ceil(files.reduce((sum, file) => sum + statSync(join(tree, file)).size, 0) / 1024);
  return `Package: heliograph
Version: ${version}-1
Architecture: ${ARCHITECTURES[arch]}
Maintainer: ${MAINTAINER}
Installed-Size: ${kilobytes}
Depends: adduser, init-system-helpers (>= 1.62), libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 6)
Recommends: ca-certificates
Section: net
Priority: optional
Description: self-hosted messaging and verification server
 Heliograph sends SMS, RCS and chat-app messages and verifies users by
 one-time password, behind one HTTP/JSON API. Callbacks report what became
 of each message and what users answered; a dashboard configures and shows
 everything. It stores its data in SQLite or PostgreSQL, and delivers over
 SMPP, WhatsApp Cloud, RCS for Business and HTTP providers.
`;
}

const copyright = () => `Heliograph

${readFileSync(join(root, "LICENSE"), "utf8")}
LICENCES.gz has the licences of the libraries in the bundle, and node-licence.txt is the licence of Node and of what it contains.
`;

/** Debian's own changelog: one entry for the packaged release. */
const debianChangelog = ({ version, builtAt }) => `heliograph (${version}-1) stable; urgency=medium

  * Release ${version}; changelog.gz has the changes.

 -- ${MAINTAINER}  ${new Date(builtAt).toUTCString().replace("GMT", "+0000")}
`;

const checksumsOf = (tree, files) => execFileSync("md5sum", files, { cwd: tree, encoding: "utf8" });

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

const EXECUTABLE = /^(?:DEBIAN\/(?:postinst|prerm|postrm)|usr\/bin\/heliograph|usr\/lib\/heliograph\/bin\/node)$/;

/** The same modes and times whatever the umask and the time of the build. */
function setModesAndTimes(tree, seconds) {
  const entries = readdirSync(tree, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    chmodSync(path, entry.isDirectory() || EXECUTABLE.test(path.slice(tree.length + 1)) ? 0o755 : 0o644);
    utimesSync(path, seconds, seconds);
  }
  chmodSync(tree, 0o755);
  utimesSync(tree, seconds, seconds);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({ options: { out: { type: "string", default: join(root, "release") } } });
  const out = resolve(values.out);
  const build = readBuild();
  await buildPackage(join(out, "package"), build);
  process.stdout.write(`${buildDeb(join(out, "package"), out, build)}\n`);
}
