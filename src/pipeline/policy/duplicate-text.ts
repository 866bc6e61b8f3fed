import { hash } from "node:crypto";
import { SendsTable } from "./sends-table.ts";

/**
 * Duplicate-text filter: counts how often the same text went to the same number, in bounded memory. When the young of two
 * generations is full it replaces the old one, so at least the last `entriesMax / 2` sends are counted. Older ones may be
 * missed but are never invented.
 */
export class DuplicateTextFilter {
  #young: SendsTable;
  #old: SendsTable;
  #text = "";
  #digest = digestOf("");

  constructor({ entriesMax }: { entriesMax: number }) {
    if (!(entriesMax >= 2))
      throw new RangeError(`entriesMax is ${entriesMax}; a duplicate-text filter needs 2 or more.`);
    this.#young = new SendsTable(Math.floor(entriesMax / 2));
    this.#old = new SendsTable(Math.floor(entriesMax / 2));
  }

  /** The number of sends in memory, at most `entriesMax`. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Sends of this text to this recipient in the last `windowMs`, plus one for a send now. Counts nothing. */
  ask(accountId: number, recipient: string, text: string, windowMs: number, now: number): number {
    const number = numberOf(recipient);
    const digest = this.#digestFor(text);
    const since = now - windowMs;
    return (
      1 +
      this.#old.countAfter(accountId, number, digest, since) +
      this.#young.countAfter(accountId, number, digest, since)
    );
  }

  /** Counts a send. Returns the sends of this text to this recipient in the last `windowMs`, including it. */
  count(accountId: number, recipient: string, text: string, windowMs: number, now: number): number {
    if (this.#young.isFull) {
      [this.#young, this.#old] = [this.#old, this.#young];
      this.#young.clear();
    }
    const number = numberOf(recipient);
    const digest = this.#digestFor(text);
    const earlier = this.#old.countAfter(accountId, number, digest, now - windowMs);
    return earlier + this.#young.add(accountId, number, digest, now - windowMs, now);
  }

  /** Memo of the last digest: all recipients of a request have the same text. */
  #digestFor(text: string): number {
    if (text !== this.#text) {
      this.#text = text;
      this.#digest = digestOf(text);
    }
    return this.#digest;
  }
}

/** 48 bits of the text's hash. A forced collision harms only its own account, which is part of the key. */
function digestOf(text: string): number {
  const octets = hash("sha1", text, "binary");
  let digest = 0;
  for (let i = 0; i < 6; i++) digest = digest * 256 + octets.charCodeAt(i);
  return digest;
}

/** An injective encoding of up to 15 digits as an exact integer. */
function numberOf(recipient: string): number {
  let value = 1;
  for (let i = 0; i < recipient.length; i++) value = value * 10 + recipient.charCodeAt(i);
  return value;
}
