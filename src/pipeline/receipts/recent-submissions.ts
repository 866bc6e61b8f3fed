import type { Clock } from "../../lib/clock.ts";
import { PathMap } from "../../lib/path-map.ts";
import { isFinal, type Message, type MessageRef } from "../../model/message.ts";
import { mayBePhone } from "../../model/phone.ts";
import type { Receipt } from "../../model/receipt.ts";
import type { ExpectedRow, ExpectingDelivery } from "../../store/transition.ts";

/** Far shorter than the time in which carriers reuse message ids, which is days. */
const KEPT_MS = 30_000;
const KEPT_MAX = 20_000;

/** A message that a carrier has just taken, with the expected row for an optimistic delivery transition. */
export type RecentSubmission = MessageRef & { asKnown: AsKnown | null };
type AsKnown = Pick<ExpectingDelivery, "expected" | "snapshot">;

interface Taken extends MessageRef {
  recipient: string;
  asKnown: AsKnown | null;
  at: number;
  /** Resolves to whether the submit ack was written; null once it was. */
  written: Promise<boolean> | null;
}

/**
 * In-memory cache of the latest submissions by carrier and message id. Most receipts come within seconds, many while the submit
 * ack is being written: they are matched without a read, and none is stored as unmatched. Two generations bound its size.
 */
export class RecentSubmissions {
  readonly #clock: Clock;
  /** By carrier and id. */
  #young = new PathMap<Taken>();
  #old = new PathMap<Taken>();
  #noted = 0;
  #turn: Promise<void> | null = null;
  #rotatedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  record(
    carrier: string,
    carrierMessageId: string,
    message: Message,
    writing: Promise<unknown>,
    known?: ExpectedRow,
  ): void {
    const now = this.#clock.monotonic();
    if (now - this.#rotatedAt > KEPT_MS || this.#noted >= KEPT_MAX) this.#rotate(now);
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
    // A reused id belongs to the newer message, so the older entry must not be found after that one is dropped.
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

  /** The message of a receipt, once its submit ack is written; null if the store has to be asked. */
  async find(receipt: Receipt): Promise<RecentSubmission | null> {
    // Many receipts come in the same packet as their submit ack, which is processed in this turn of the event loop.
    const taken = this.#look(receipt) ?? (await this.#nextTurn().then(() => this.#look(receipt)));
    if (!taken || (taken.written && !(await taken.written))) return null;
    const { accountId, requestId, n, asKnown } = taken;
    // Dropped at the final state, because long-lived entries cost memory. A later read receipt asks the store.
    if (isFinal(receipt.state)) this.#forget([receipt.carrier, receipt.carrierMessageId], taken);
    // An intermediate receipt changes the row, so the next one cannot rely on this snapshot.
    else taken.asKnown = null;
    return { accountId, requestId, n, asKnown };
  }

  /** Resolves after this turn of the event loop; one promise for all callers. */
  #nextTurn(): Promise<void> {
    this.#turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#turn = null;
        resolve();
      });
    });
    return this.#turn;
  }

  #look({ carrier, carrierMessageId, recipient }: Receipt): Taken | null {
    const path = [carrier, carrierMessageId];
    const taken = this.#young.get(path) ?? this.#old.get(path);
    if (!taken || this.#clock.monotonic() - taken.at > KEPT_MS) return null;
    return mayBePhone(recipient, taken.recipient) ? taken : null;
  }

  #rotate(now: number): void {
    this.#old = this.#young;
    this.#young = new PathMap();
    this.#noted = 0;
    this.#rotatedAt = now;
  }

  /** Keeps the entry if the id belongs to another message by now. */
  #forget(path: readonly string[], taken: Taken): void {
    for (const generation of [this.#young, this.#old]) if (generation.get(path) === taken) generation.delete(path);
  }
}

const asKnownOf = ({ sender, credits, createdAt }: Message, known: ExpectedRow | undefined): AsKnown | null =>
  known ? { expected: known, snapshot: { sender, credits, createdAt } } : null;
