import type { Migration } from "./migration.ts";

/** Finds the later messages of a verification, which the funnel counts. Few verifications need a second channel. */
export const verifyFunnel: Migration = {
  name: "0035-verify-funnel",
  statements: () => [`create index verify_requests_of on verify_requests (account_id, verify_id)`],
};
