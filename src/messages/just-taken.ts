import type { Receipt } from "../carriers/carrier.ts";
import type { Clock } from "../lib/clock.ts";
import type { Message, MessageRef } from "../model/message.ts";
import { mayBePhone } from "../model/phone.ts";

/** An id means the same message for so long at the least: carriers that begin their ids anew take days for it. */
const KEPT_MS = 30_000;
const KEPT_MAX = 20_000;

interface Taken {
  ref: MessageRef;
  recipient: string;
  at: number;
  /** Whether the id could be written down. */
  written: Promise<boolean>;
}

/**
 * Remembers for a moment which messages carriers have just taken, and under which ids. Most receipts come within that moment,
 * many while the answer to the submit is being written: these ask nobody, and none of them has to be parked.
 */
export class JustTaken {
  readonly #clock: Clock;
  #young = new Map<string, Taken>();
  #old = new Map<string, Taken>();
  #turnedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(carrier: string, carrierMessageId: string, message: Message, write: Promise<unknown>): void {
    const now = this.#clock.monotonic();
    if (now - this.#turnedAt > KEPT_MS || this.#young.size >= KEPT_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#turnedAt = now;
    }
    const { accountId, requestId, n, recipient } = message;
    const written = write.then(
      () => true,
      () => false,
    );
    this.#young.set(keyOf(carrier, carrierMessageId), {
      ref: { accountId, requestId, n },
      recipient,
      at: now,
      written,
    });
  }

  /** The message that a receipt is about, once its id is written down; null where the store has to be asked. */
  async find(receipt: Receipt): Promise<MessageRef | null> {
    // Many come in the same packet as the answer to their submit, of which nobody has heard yet.
    const key = keyOf(receipt.carrier, receipt.carrierMessageId);
    const taken = this.#look(key, receipt) ?? (await oneTurn().then(() => this.#look(key, receipt)));
    return taken && (await taken.written) ? taken.ref : null;
  }

  #look(key: string, { recipient }: Receipt): Taken | null {
    const taken = this.#young.get(key) ?? this.#old.get(key);
    if (!taken || this.#clock.monotonic() - taken.at > KEPT_MS) return null;
    return mayBePhone(recipient, taken.recipient) ? taken : null;
  }
}

const oneTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const keyOf = (carrier: string, carrierMessageId: string): string => `${carrier} ${carrierMessageId}`;
