import { MinuteCounter } from "../../lib/minute-counter.ts";
import { rateLimitKey } from "../../lib/network.ts";

/** Failed binds per address and minute; more are refused unseen, against guessing (brute force). */
const FAILED_PER_ADDRESS = 20;
/** Distributed guessing: failed binds per system id and minute, from all addresses that it does not bind from. */
const FAILED_PER_SYSTEM_ID = 50;
const REMEMBERED_MS = 7 * 86_400_000;
const REMEMBERED_MAX = 10_000;
const AUDITED_AFTER_MS = 300_000;

/** An attempt to bind. */
export interface BindAttempt {
  systemId: string;
  address: string;
  /** The credential of the system id; null if there is none. */
  credentialId: string | null;
  /** True if the credential names its networks, and the address is in one of them. */
  isListed: boolean;
}

/**
 * Limits on failed binds, on this node. The limit per system id does not apply to its listed networks and to addresses that it has
 * bound from in the last week: guesses from elsewhere must not lock a client out (denial of service).
 */
export class BindLimits {
  readonly #byAddress = new MinuteCounter();
  readonly #byCredential = new MinuteCounter();
  /** Apart from the others, so that a flood of invented system ids does not empty their counter. */
  readonly #byUnknown = new MinuteCounter();
  /** When a system id last bound from an address. */
  readonly #boundAt = new Map<string, number>();
  readonly #auditedAt = new Map<string, number>();

  /** The reason to refuse an attempt unseen; null if its password may be checked. */
  refusalOf(attempt: BindAttempt, now: number): "address" | "system id" | null {
    if (this.#byAddress.peek(rateLimitKey(attempt.address), now) >= FAILED_PER_ADDRESS) return "address";
    if (this.#isFamiliar(attempt, now)) return null;
    return this.#counterOf(attempt).peek(attempt.systemId, now) >= FAILED_PER_SYSTEM_ID ? "system id" : null;
  }

  failed(attempt: BindAttempt, now: number): void {
    this.#byAddress.count(rateLimitKey(attempt.address), now);
    // A client with a wrong password in its settings does not lock out its other addresses.
    if (!this.#isFamiliar(attempt, now)) this.#counterOf(attempt).count(attempt.systemId, now);
  }

  bound(attempt: BindAttempt, now: number): void {
    const name = nameOf(attempt);
    // Written again at the end: the first entries are the oldest.
    this.#boundAt.delete(name);
    this.#boundAt.set(name, now);
    for (const oldest of this.#boundAt.keys()) {
      if (this.#boundAt.size <= REMEMBERED_MAX) break;
      this.#boundAt.delete(oldest);
    }
  }

  /** True once in five minutes for each system id and action, so that an attack does not fill the audit log. */
  isAuditDue(credentialId: string, action: string, now: number): boolean {
    const name = `${action} ${credentialId}`;
    if (now - (this.#auditedAt.get(name) ?? Number.NEGATIVE_INFINITY) < AUDITED_AFTER_MS) return false;
    this.#auditedAt.set(name, now);
    return true;
  }

  #counterOf({ credentialId }: BindAttempt): MinuteCounter {
    return credentialId === null ? this.#byUnknown : this.#byCredential;
  }

  #isFamiliar(attempt: BindAttempt, now: number): boolean {
    return attempt.isListed || now - (this.#boundAt.get(nameOf(attempt)) ?? Number.NEGATIVE_INFINITY) < REMEMBERED_MS;
  }
}

const nameOf = ({ credentialId, address }: BindAttempt): string => `${credentialId} ${rateLimitKey(address)}`;
