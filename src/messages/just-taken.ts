import type { Receipt } from "../carriers/carrier.ts";
import type { Clock } from "../lib/clock.ts";
import { PathMap } from "../lib/path-map.ts";
import { isFinal, type Message, type MessageRef } from "../model/message.ts";
import { mayBePhone } from "../model/phone.ts";
import type { Move } from "../store/store.ts";

/** An id means the same message for so long at the least: carriers that begin their ids anew take days for it. */
const KEPT_MS = 30_000;
const KEPT_MAX = 20_000;

/** A message that a carrier has just taken, with what a store need not look up of it when it has come to its phone. */
export type Found = MessageRef & { asKnown: AsKnown | null };
type AsKnown = Required<Pick<Move, "known" | "facts">>;

interface Taken extends MessageRef {
  recipient: string;
  asKnown: AsKnown | null;
  at: number;
  /** Whether the id could be written down; null once it has been. */
  written: Promise<boolean> | null;
}

/**
 * Remembers for a moment which messages carriers have just taken, and under which ids. Most receipts come within that moment,
 * many while the answer to the submit is being written: these ask nobody, and none of them has to be parked.
 */
export class JustTaken {
  readonly #clock: Clock;
  /** By carrier and id. */
  #young = new PathMap<Taken>();
  #old = new PathMap<Taken>();
  #noted = 0;
  #turnedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What is `known` of it is what its carrier's answer is written with. */
  note(
    carrier: string,
    carrierMessageId: string,
    message: Message,
    writing: Promise<unknown>,
    known?: Move["known"],
  ): void {
    const now = this.#clock.monotonic();
    if (now - this.#turnedAt > KEPT_MS || this.#noted >= KEPT_MAX) this.#turn(now);
    this.#noted += 1;
    const { accountId, requestId, n, recipient } = message;
    const taken: Taken = {
      accountId,
      requestId,
      n,
      recipient,
      asKnown: asKnownOf(message, known),
      at: now,
      written: null,
    };
    const path = [carrier, carrierMessageId];
    this.#young.set(path, taken);
    // An id that is used again has become this message's: once that is forgotten, the one before it is not found either.
    this.#old.delete(path);
    taken.written = writing.then(
      () => {
        taken.written = null;
        return true;
      },
      () => {
        this.#forget(path, taken);
        return false;
      },
    );
  }

  /** The message that a receipt is about, once its id is written down; null where the store has to be asked. */
  async find(receipt: Receipt): Promise<Found | null> {
    // Many come in the same packet as the answer to their submit, of which nobody has heard yet.
    const taken = this.#look(receipt) ?? (await oneTurn().then(() => this.#look(receipt)));
    if (!taken || (taken.written && !(await taken.written))) return null;
    const { accountId, requestId, n, asKnown } = taken;
    // What is kept for long is what costs: if it is told later that the message was read, the store is asked.
    if (isFinal(receipt.state)) this.#forget([receipt.carrier, receipt.carrierMessageId], taken);
    // What is heard next of it finds it elsewhere than where it was when it was taken.
    else taken.asKnown = null;
    return { accountId, requestId, n, asKnown };
  }

  #look({ carrier, carrierMessageId, recipient }: Receipt): Taken | null {
    const path = [carrier, carrierMessageId];
    const taken = this.#young.get(path) ?? this.#old.get(path);
    if (!taken || this.#clock.monotonic() - taken.at > KEPT_MS) return null;
    return mayBePhone(recipient, taken.recipient) ? taken : null;
  }

  #turn(now: number): void {
    this.#old = this.#young;
    this.#young = new PathMap();
    this.#noted = 0;
    this.#turnedAt = now;
  }

  /** Unless its id is another message's by now. */
  #forget(path: readonly string[], taken: Taken): void {
    for (const generation of [this.#young, this.#old]) if (generation.get(path) === taken) generation.delete(path);
  }
}

const asKnownOf = ({ sender, credits, createdAt }: Message, known: Move["known"]): AsKnown | null =>
  known ? { known, facts: { sender, credits, createdAt } } : null;

let turn: Promise<void> | null = null;

/** Ends with this turn of the event loop, for all who wait for it. */
const oneTurn = (): Promise<void> =>
  (turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = null;
      resolve();
    });
  }));
