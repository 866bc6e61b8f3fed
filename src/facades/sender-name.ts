import type { AccountCatalog } from "../records/catalog.ts";

/** The name of a sender as the account has registered it: a number is registered with or without its plus. */
export function senderNamed(catalog: Pick<AccountCatalog, "named">, written: string): string {
  const senders = catalog.named("sender");
  const digits = /^\+?([1-9][0-9]*)$/.exec(written)?.[1];
  if (digits === undefined || senders.has(written)) return written;
  return senders.has(`+${digits}`) ? `+${digits}` : digits;
}

/** A number with and without its plus, because senders are stored as they are registered; another name as it is. */
export const spellingsOf = (name: string): readonly string[] => {
  const digits = /^\+?([1-9][0-9]*)$/.exec(name)?.[1];
  return digits === undefined ? [name] : [digits, `+${digits}`];
};

/** True if an inbound message reached one of these numbers or senders, written with or without plus. An empty list means all. */
export function isOneOf(numbers: readonly string[], to: string): boolean {
  const plain = (number: string): string => number.trim().replace(/^\+(?=[0-9])/, "");
  return numbers.length === 0 || numbers.some((number) => plain(number) === plain(to));
}
