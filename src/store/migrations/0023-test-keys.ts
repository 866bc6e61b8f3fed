import { SQLITE, type Migration } from "./migration.ts";

/**
 * Idempotency keys of test sends get a path of their own, so that a live send never gets the response of an earlier test send.
 * The messages of a stored key show whether it belongs to a test send.
 */
export const testKeys: Migration = {
  name: "0023-test-keys",
  statements: (dialect) => {
    const sent =
      dialect === SQLITE
        ? "coalesce(json_extract(response, '$.id'), json_extract(response, '$.data'))"
        : `case when coalesce(response::json ->> 'id', response::json ->> 'data') ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
             then coalesce(response::json ->> 'id', response::json ->> 'data')::uuid end`;
    return [
      `update idempotency set path = path || ' test' where exists (
         select 1 from messages where messages.account_id = idempotency.account_id and messages.request_id = ${sent}
           and messages.n = 1 and messages.test = 1)`,
    ];
  },
};
