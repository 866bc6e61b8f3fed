import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Engine } from "./engine.ts";

/** Part of a name or number. */
export interface NameSearch {
  text: string;
  /** True for callers that see numbers masked except for their last four digits. */
  isMasked: boolean;
}

const ENDING_DIGITS = 4;

/** True if the name, in any case, or the number contains the text. */
export function nameOrNumber(
  { holds, holdsInAnyCase }: Pick<Engine, "holds" | "holdsInAnyCase">,
  name: RawBuilder<unknown>,
  { text, isMasked }: NameSearch,
): RawBuilder<SqlBool> {
  const byName = holdsInAnyCase(name, text);
  const digits = text.replaceAll(/[\s+().-]/g, "");
  if (!/^\d+$/.test(digits)) return byName;
  // With any part, a caller that sees numbers masked could find out their digits one by one.
  if (!isMasked) return sql`(${byName} or ${holds("number", digits)})`;
  if (digits.length !== ENDING_DIGITS) return byName;
  return sql`(${byName} or number like ${`%${digits}`})`;
}
