import type { Migration } from "./migration.ts";

/** Values before and after a change in the audit log, as JSON; null for none. */
export const auditChanges: Migration = {
  name: "0044-audit-changes",
  statements: () => [`alter table audit add column changes text`],
};
