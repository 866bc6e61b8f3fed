import type { Migration } from "./migration.ts";

/** The sheet of a workbook; null for the first one. */
export const audienceSheets: Migration = {
  name: "0066-audience-sheets",
  worksWith: "0.1.0",
  statements: () => [`alter table audiences add column sheet text`],
};
