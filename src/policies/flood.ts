import { hash } from "node:crypto";
import { SendsTable } from "./sends-table.ts";

/**
 * Counts how often the same text went to the same number, in memory that does not grow. It keeps two generations: when
 * the young one is full it becomes the old one and what was old is forgotten, so at least the last `entriesMax / 2`
 * sends are always counted rightly, and older ones may be missed but never invented.
 */
export class FloodFilter {
  #young: SendsTable;
  #old: SendsTable;
  #text = "";
  #digest = digestOf("");

  constructor({ entriesMax }: { entriesMax: number }) {
    if (!(entriesMax >= 2)) throw new RangeError(`entriesMax is ${entriesMax}; a flood filter needs 2 or more.`);
    this.#young = new SendsTable(Math.floor(entriesMax / 2));
    this.#old = new SendsTable(Math.floor(entriesMax / 2));
  }

  /** How many sends are remembered, which is never more than `entriesMax`. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** How often this text would have gone to this recipient in the last `windowMs` if it went now. */
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

  /** How often this text went to this recipient in the last `windowMs`, this time included; it counts from now on. */
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

  /** All recipients of a request have the same text, so the last digest is kept. */
  #digestFor(text: string): number {
    if (text !== this.#text) {
      this.#text = text;
      this.#digest = digestOf(text);
    }
    return this.#digest;
  }
}

/** 48 bits of the text's hash. Whoever makes two texts collide is counted twice himself, since the account is compared. */
function digestOf(text: string): number {
  const octets = hash("sha1", text, "binary");
  let digest = 0;
  for (let i = 0; i < 6; i++) digest = digest * 256 + octets.charCodeAt(i);
  return digest;
}

/** A number of up to 15 digits as one that arithmetic holds exactly: no two digits' codes and no two lengths meet. */
function numberOf(recipient: string): number {
  let value = 1;
  for (let i = 0; i < recipient.length; i++) value = value * 10 + recipient.charCodeAt(i);
  return value;
}
