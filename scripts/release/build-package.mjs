// Builds the npm package from a clean checkout. Run: npm run build:package [-- --out FOLDER]
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { buildDashboard } from "../build-dashboard.mjs";
import { root } from "../pinned-node.mjs";
import { bundle } from "./bundle.mjs";
import { billOfMaterials, licencesOf, packagesOf } from "./components.mjs";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

/** The commit's own time, so that two builds of one commit give the same bytes. */
export function readBuild() {
  const changed = git("status", "--porcelain") !== "";
  const [commit, date] = git("log", "-1", "--format=%H %cI").split(" ");
  return {
    version: manifest.version,
    commit: changed ? `${commit}-changed` : commit,
    builtAt: new Date(date).toISOString(),
  };
}

/** Writes the package's files into a folder, without packing them. */
export async function buildPackage(folder, build = readBuild()) {
  await buildDashboard();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "bin"), { recursive: true });
  const dashboard = join(root, "dashboard/dist");
  const components = [
    ...(await bundle(join(folder, "lib"), build)),
    ...packagesOf(JSON.parse(readFileSync(join(dashboard, "modules.json"), "utf8")).map((id) => join(root, id))),
  ];
  cpSync(dashboard, join(folder, "dashboard"), { recursive: true });
  for (const file of ["made-of", "modules.json", "docs/made-of"]) rmSync(join(folder, "dashboard", file));
  writeFileSync(join(folder, "LICENCES"), licencesOf(components));
  writeFileSync(join(folder, "sbom.cdx.json"), `${JSON.stringify(billOfMaterials(build, components), null, 2)}\n`);
  for (const file of ["README.md", "LICENSE", "CHANGELOG.md"]) cpSync(join(root, file), join(folder, file));
  const command = join(folder, "bin/heliograph.mjs");
  cpSync(join(root, "packaging/npm/bin/heliograph.mjs"), command);
  chmodSync(command, 0o755);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(packageManifest(build), null, 2)}\n`);
}

/** Everything is in the bundle except a Node for machines that have an older one. */
function packageManifest(build) {
  const { name, version, description, license, engines, optionalDependencies } = manifest;
  return {
    name,
    version,
    description,
    license,
    type: "module",
    bin: { heliograph: "bin/heliograph.mjs" },
    files: ["bin", "lib", "dashboard", "CHANGELOG.md", "LICENCES", "sbom.cdx.json"],
    engines,
    optionalDependencies,
    gitHead: build.commit,
  };
}

/** Packs a built folder; returns the path of the tarball. */
export function packPackage(folder, into) {
  mkdirSync(into, { recursive: true });
  const args = ["pack", folder, "--pack-destination", into, "--json", "--loglevel=error"];
  const [{ filename }] = JSON.parse(execFileSync("npm", args, { encoding: "utf8" }));
  return join(into, filename);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({ options: { out: { type: "string", default: join(root, "release") } } });
  const out = resolve(values.out);
  const folder = join(out, "package");
  await buildPackage(folder);
  process.stdout.write(`${packPackage(folder, out)}\n`);
}
