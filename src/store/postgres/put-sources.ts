import { columns } from "./columns.ts";
import type { Query } from "./pool.ts";
import type { WithCode } from "./verify-numbers.ts";

const SOURCES = columns({
  account_id: "integer",
  verify_id: "uuid",
  source: "text",
  deliver_only: "integer",
  unreported: "integer",
});

const PUT = `insert into verify_sources (account_id, verify_id, source, deliver_only, unreported)
  select account_id, verify_id, source, deliver_only, unreported from ${SOURCES.rows}`;

/** Stores the products of admitted codes. A statement of its own, so that ordinary codes do not pay for it. */
export async function putSources(query: Query, admitted: readonly WithCode[]): Promise<void> {
  const rows = admitted.flatMap(({ message, verification: { source, continues } }) =>
    source && !continues
      ? [
          {
            account_id: message.accountId,
            verify_id: message.requestId,
            source: source.name,
            deliver_only: source.deliverOnly ? 1 : 0,
            unreported: source.unreported ? 1 : 0,
          },
        ]
      : [],
  );
  if (rows.length > 0) await query({ name: "otp sources", text: PUT, values: SOURCES.values(rows) });
}
