import { newId } from "../../src/lib/ids.ts";
import type { CatalogContents, CatalogKind, CatalogRecord } from "../../src/model/catalog.ts";

/** An authored record of account 1. */
export const catalogRecord = <K extends CatalogKind>(
  kind: K,
  name: string,
  content: CatalogContents[K],
): CatalogRecord => ({
  accountId: 1,
  kind,
  id: newId(1_767_225_600_000),
  name,
  origin: "authored",
  content,
  createdAt: 1,
  updatedAt: 1,
});
