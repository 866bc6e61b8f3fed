// The parts of a release: licences of the libraries in a bundle, and bills of materials (SBOM).
import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { root } from "../pinned-node.mjs";

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** Packages that contain the modules, by their folders in node_modules. */
export function packagesOf(moduleIds) {
  const folders = new Set();
  for (const id of moduleIds) {
    const at = id.lastIndexOf(`${sep}node_modules${sep}`);
    if (at === -1) continue;
    const inside = id.slice(at + `${sep}node_modules${sep}`.length).split(sep);
    const name = inside.slice(0, inside[0].startsWith("@") ? 2 : 1).join(sep);
    folders.add(id.slice(0, at) + `${sep}node_modules${sep}${name}`);
  }
  return [...folders].map(readComponent);
}

function readComponent(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder)
    .filter((file) => LICENCE_FILE.test(file))
    .toSorted()
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  return { name, version, license: license ?? "UNKNOWN", texts };
}

/** One of each, in order of name and version. */
const unique = (components) =>
  [...new Map(components.map((component) => [`${component.name}@${component.version}`, component])).entries()]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, component]) => component);

/** The licences of everything that a package contains. */
export const licencesOf = (components) =>
  [
    readFileSync(join(root, "NOTICE"), "utf8"),
    ...unique(components).map(
      ({ name, version, license, texts }) =>
        `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${texts.join("\n\n") || "The package has no licence file."}\n`,
    ),
  ].join("\n");

/** A CycloneDX document without the time and the random number of its creation, so that it is reproducible. */
export function billOfMaterials({ version, builtAt }, components) {
  const locked = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const integrityOf = ({ name, version: wanted }) =>
    Object.entries(locked).find(
      ([path, entry]) => path.endsWith(`node_modules/${name}`) && entry.version === wanted,
    )?.[1].integrity;
  const purlOf = (name, of) => `pkg:npm/${name.replace("@", "%40")}@${of}`;
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: builtAt,
      component: {
        type: "application",
        "bom-ref": purlOf("heliograph", version),
        name: "heliograph",
        version,
        purl: purlOf("heliograph", version),
        licenses: [{ license: { id: "MIT" } }],
      },
    },
    components: unique(components).map((component) => {
      const integrity = integrityOf(component);
      return {
        type: "library",
        "bom-ref": purlOf(component.name, component.version),
        name: component.name,
        version: component.version,
        purl: purlOf(component.name, component.version),
        licenses: [
          /^[A-Za-z0-9.-]+$/.test(component.license)
            ? { license: { id: component.license } }
            : { expression: component.license },
        ],
        ...(integrity === undefined
          ? {}
          : {
              hashes: [
                { alg: "SHA-512", content: Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex") },
              ],
            }),
      };
    }),
  };
}

/** Adds the Node of its own, and other parts, to the bill of materials of a built folder; returns the document. */
export function extendMaterials(built, node, others = []) {
  const materials = JSON.parse(readFileSync(join(built, "sbom.cdx.json"), "utf8"));
  materials.components.push(nodeComponent(node), ...others);
  return `${JSON.stringify(materials, null, 2)}\n`;
}

/** The binary is that of the project, stripped, so the hash is that of the file in the package. */
function nodeComponent({ version, binary }) {
  const purl = `pkg:generic/node@${version}`;
  return {
    type: "platform",
    "bom-ref": purl,
    name: "node",
    version,
    purl,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    licenses: [{ license: { id: "MIT" } }],
    hashes: [{ alg: "SHA-256", content: hash("sha256", readFileSync(binary)) }],
  };
}

/** The packages in a file of dpkg that lists them (`/var/lib/dpkg/status`). */
export function debianComponents(status, release) {
  return status
    .split(/\n\n+/)
    .filter((entry) => entry.trim() !== "")
    .map((entry) => {
      const field = (name) => new RegExp(`^${name}: (.+)$`, "m").exec(entry)?.[1] ?? "";
      const [name, version, arch] = [field("Package"), field("Version"), field("Architecture")];
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}&distro=debian-${release}`;
      return { type: "library", "bom-ref": purl, name, version, purl };
    })
    .toSorted((one, other) => (one.purl < other.purl ? -1 : 1));
}
