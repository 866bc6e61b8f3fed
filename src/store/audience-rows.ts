import type { Audience, AudienceFailure, AudienceLayout, AudienceMapping, AudienceState } from "../model/audience.ts";
import type { AudienceRow } from "./tables.ts";

export type AudienceRef = Pick<Audience, "accountId" | "id">;

/** Values of `has_file`. A file leaves in several transactions; after a crash, housekeeping removes the rest. */
export const FILE = { none: 0, stored: 1, leaving: 2 } as const;

export const audienceRowOf = (audience: Audience): AudienceRow => ({
  account_id: audience.accountId,
  id: audience.id,
  test: audience.test ? 1 : 0,
  name: audience.name,
  state: audience.state,
  size: audience.size,
  received: audience.received,
  checked: audience.checked,
  lines: 0,
  sheet: audience.sheet,
  mapping: audience.mapping && JSON.stringify(audience.mapping),
  layout: audience.layout && JSON.stringify(audience.layout),
  row_count: audience.rows,
  recipients: audience.recipients,
  faults: audience.faults,
  opted_out: audience.optedOut,
  failure: audience.failure,
  created_at: audience.createdAt,
  ended_at: audience.endedAt,
  has_file: audience.hasFile ? FILE.stored : FILE.none,
  claim: null,
  claimed_until: 0,
  segment: audience.segment && JSON.stringify(audience.segment),
  segment_position: null,
});

export const audienceOf = (row: AudienceRow): Audience => ({
  accountId: row.account_id,
  id: row.id,
  test: row.test === 1,
  name: row.name,
  state: row.state as AudienceState,
  size: row.size,
  received: row.received,
  checked: Math.max(0, row.checked),
  sheet: row.sheet,
  mapping: row.mapping === null ? null : (JSON.parse(row.mapping) as AudienceMapping),
  layout: row.layout === null ? null : (JSON.parse(row.layout) as AudienceLayout),
  rows: row.row_count,
  recipients: row.recipients,
  faults: row.faults,
  optedOut: row.opted_out,
  failure: row.failure as AudienceFailure | null,
  createdAt: row.created_at,
  endedAt: row.ended_at,
  hasFile: row.has_file === FILE.stored,
  segment: row.segment === null ? null : (JSON.parse(row.segment) as Audience["segment"]),
});
