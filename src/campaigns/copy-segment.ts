import type { AudienceFailure, AudienceLayout, AudienceRecipient } from "../model/audience.ts";
import type { AudienceWork } from "../store/audience-check.ts";
import type { AudienceStore } from "../store/audiences.ts";
import type { ContactStore } from "../store/contacts.ts";
import type { OptOutStore } from "../store/opt-outs.ts";

interface CopySegmentDeps {
  store: Pick<ContactStore, "listContacts"> & Pick<AudienceStore, "addCheckedRows"> & Pick<OptOutStore, "areOptedOut">;
  rowsMax: number;
}

/** Variable with the name of a contact. The others are its attributes. */
const NAME_VARIABLE = "name";

/** The columns of an audience whose recipients are contacts with these attributes. */
export function layoutOfContacts(attributes: readonly string[]): AudienceLayout {
  const columns = ["number", NAME_VARIABLE, ...attributes];
  const variables = columns.slice(1).map((name, index) => ({ name, column: index + 1 }));
  return { delimiter: ",", hasHeader: true, columns, number: 0, variables };
}

/**
 * Copies the next contacts of a segment into its audience, in one transaction with the position, so that any process continues
 * after a crash. Returns the work that follows, or the end of the audience; null if another process has it.
 */
export async function copySegment(
  { store, rowsMax }: CopySegmentDeps,
  given: AudienceWork,
  { limit, until }: { limit: number; until: number },
): Promise<{ next: AudienceWork; ms: number } | { failure: AudienceFailure | null } | null> {
  const { audience, lines } = given;
  const { accountId, test, segment, layout } = audience;
  if (!segment || !layout) return { failure: "NO_CONTACTS" };
  const { rows, next } = await store.listContacts({ accountId, test }, segment.filter, given.position, limit);
  if (audience.rows + rows.length > rowsMax) return { failure: "TOO_MANY_ROWS" };
  const last = rows.at(-1);
  if (!last) return { failure: audience.rows === 0 ? "NO_CONTACTS" : null };
  const optedOut = await store.areOptedOut(rows.map(({ number }) => ({ accountId, number, test })));
  const recipients = rows.map(({ number, name, attributes }, index): AudienceRecipient => ({
    row: lines + index + 1,
    number,
    values: layout.variables.map((variable) =>
      variable.name === NAME_VARIABLE ? (name ?? "") : (attributes[variable.name] ?? ""),
    ),
    optedOut: optedOut[index] ?? false,
  }));
  const to = audience.checked + rows.length;
  const written = await store.addCheckedRows(given, {
    from: audience.checked,
    to,
    layout,
    linesBefore: lines,
    lines: lines + rows.length,
    rows: rows.length,
    recipients,
    faults: [],
    claimedUntil: until,
    position: last.number,
  });
  if (!written) return null;
  if (next === null) return { failure: null };
  const current = { ...audience, checked: to, rows: audience.rows + rows.length };
  return { next: { ...given, audience: current, lines: lines + rows.length, position: last.number }, ms: written.ms };
}
