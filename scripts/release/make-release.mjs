// The files of a release: packages, image, Helm chart, bill of materials, notes and checksums.
import { hash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "../pinned-node.mjs";
import { buildDeb } from "./build-deb.mjs";
import { buildImage, canBuildImage, writeTar } from "./build-image.mjs";
import { buildPackage, packPackage } from "./build-package.mjs";

/** Writes a release into a folder, and returns the checksums of its files. Two runs for one build give the same bytes. */
export async function makeRelease(out, build, { withImage = true, compression } = {}) {
  if (withImage && !canBuildImage())
    throw new Error("The container image needs root and mmdebstrap: run this as root, or add --without-image.");
  const notes = notesOf(readFileSync(join(root, "CHANGELOG.md"), "utf8"), build.version);
  rmSync(out, { recursive: true, force: true });

  const folder = join(out, "package");
  await buildPackage(folder, build);
  const files = [packPackage(folder, out), buildDeb(folder, out, build, { compression }), packChart(out, build)];
  if (withImage) files.push(buildImage(folder, out, build));
  const materials = join(out, `heliograph-${build.version}.cdx.json`);
  cpSync(join(folder, "sbom.cdx.json"), materials);
  rmSync(folder, { recursive: true });
  writeFileSync(join(out, "NOTES.md"), notes);
  const sums = [...files, materials]
    .map((file) => `${hash("sha256", readFileSync(file))}  ${basename(file)}\n`)
    .join("");
  writeFileSync(join(out, "SHA256SUMS"), sums);
  return sums;
}

/** The section of a version in a changelog; its heading says until then that it is unreleased. */
export function notesOf(changelog, version) {
  const section = changelog.split(/^(?=## )/m).find((text) => /^## (\S+)/.exec(text)?.[1] === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}".`);
  return section.replace(/^(## \S+) \(unreleased\)$/m, "$1");
}

/** As `helm package` does. The name is another one, because the npm package has Helm's. */
function packChart(out, build) {
  const work = mkdtempSync(join(tmpdir(), "heliograph-chart-"));
  try {
    const chart = join(work, "heliograph");
    cpSync(join(root, "deploy/helm/heliograph"), chart, { recursive: true });
    const description = readFileSync(join(chart, "Chart.yaml"), "utf8");
    writeFileSync(
      join(chart, "Chart.yaml"),
      description
        .replace(/^version: .*$/m, `version: ${build.version}`)
        .replace(/^appVersion: .*$/m, `appVersion: "${build.version}"`),
    );
    const tar = join(work, "chart.tar");
    writeTar(work, tar, Date.parse(build.builtAt) / 1000, ["heliograph"]);
    const file = join(out, `heliograph-chart-${build.version}.tgz`);
    writeFileSync(file, gzipSync(readFileSync(tar), { level: 9 }));
    return file;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
