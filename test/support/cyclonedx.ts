import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { fullFormats } from "ajv-formats/dist/formats.js";

const BASE = "http://cyclonedx.org/schema/";
const SCHEMAS = join(
  dirname(fileURLToPath(import.meta.resolve("@cyclonedx/cyclonedx-library/package.json"))),
  "res/schema",
);

const read = (name: string): object => JSON.parse(readFileSync(join(SCHEMAS, name), "utf8")) as object;

/** The part of a component that tests read. */
export interface Component {
  type: string;
  name: string;
  version: string;
  purl: string;
  hashes?: { alg: string; content: string }[];
}

/** The components of a bill of materials that follows the schema of CycloneDX 1.6; throws on any other document. */
export function readMaterials(text: string): Component[] {
  const ajv = new Ajv({ strict: false, formats: { ...fullFormats, "iri-reference": true, "idn-email": true } });
  // The package names its files after snapshots, and its references with them, unlike the ids in the files.
  for (const name of ["spdx", "jsf-0.82", "cryptography-defs"]) {
    const file = `${name}.SNAPSHOT.schema.json`;
    ajv.addSchema(read(file), new URL(file, BASE).href);
  }
  const document = JSON.parse(text) as { components: Component[] };
  if (!ajv.validate(read("bom-1.6.SNAPSHOT.schema.json"), document)) throw new Error(ajv.errorsText());
  return document.components;
}
