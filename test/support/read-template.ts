import type { CatalogContents } from "../../src/model/catalog.ts";
import { Problem, type Fault } from "../../src/model/problem.ts";
import { AccountCatalog } from "../../src/records/catalog.ts";
import { readRecord } from "../../src/records/read-record.ts";
import type { RecordDefinition } from "../../src/records/record-type.ts";

/** Reads a template as a request to create it; the content is null if it is refused. */
export function readTemplate<K extends "chatTemplate" | "rcsTemplate">(
  definition: RecordDefinition<K>,
  given: unknown,
): { template: CatalogContents[K] | null; faults: readonly Fault[] } {
  const type = { singular: "template", plural: "templates", definitions: [definition] } as const;
  const named = typeof given === "object" && given !== null && !Array.isArray(given) ? { name: "t", ...given } : given;
  try {
    const { content } = readRecord(type, named, { known: null, catalog: new AccountCatalog() });
    return { template: content as CatalogContents[K], faults: [] };
  } catch (error) {
    if (error instanceof Problem) return { template: null, faults: error.faults };
    throw error;
  }
}
