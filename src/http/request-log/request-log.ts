import type { Caller } from "../../accounts/caller.ts";
import type { Clock } from "../../lib/clock.ts";

/** Entries of one key: refusals apart, so that a busy key does not push them out. */
const ENTRIES_MAX = 100;
/** Successes of one key per second; a busy key's further ones are only counted, so the log costs the send path nothing. */
const SUCCESSES_PER_SECOND = 10;
const REFUSALS_PER_SECOND = 50;
const RINGS_PER_ACCOUNT = 20;
/** 200 rings of 200 entries of about 400 bytes are 16 MB; entries with the largest body shapes need 55 MB. */
const RINGS_MAX = 200;

/** A logged request. It has no content, no secret and no phone number. */
export interface LoggedRequest {
  /** Rises with every entry of this node. */
  number: number;
  at: number;
  actor: Caller["actor"];
  /** Sent with a test key. */
  test: boolean;
  method: string;
  path: string;
  query: readonly string[];
  status: number;
  /** Error code; null for a success. */
  code: string | null;
  requestId: string | null;
  durationMs: number;
  /** JSON of `bodyShape`; null without a JSON body. */
  body: string | null;
}

type Outcome = "success" | "refusal";

interface Ring {
  accountId: number;
  entries: Record<Outcome, LoggedRequest[]>;
  second: number;
  inSecond: Record<Outcome, number>;
  omitted: number;
}

interface Listing {
  rows: LoggedRequest[];
  /** Requests above the rate, which have no entry. */
  omitted: number;
}

/** The last requests of each API key, credential and user, in the memory of this node. */
export class RequestLog {
  readonly #clock: Pick<Clock, "now">;
  /** By actor. The least recently logged comes first. */
  readonly #rings = new Map<string, Ring>();
  #number = 0;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** False if the actor is over the rate: the request is then only counted. Called for every request, so it builds nothing. */
  admits({ account, actor }: Caller, outcome: Outcome): boolean {
    const ring = this.#rings.get(actor.id ?? "") ?? this.#open(account.id, actor.id ?? "");
    const second = Math.floor(this.#clock.now() / 1000);
    if (ring.second !== second) {
      ring.second = second;
      ring.inSecond.success = 0;
      ring.inSecond.refusal = 0;
    }
    ring.inSecond[outcome] += 1;
    if (ring.inSecond[outcome] <= (outcome === "success" ? SUCCESSES_PER_SECOND : REFUSALS_PER_SECOND)) return true;
    ring.omitted += 1;
    return false;
  }

  /** Adds an admitted request. */
  add({ account, actor, key }: Caller, request: Omit<LoggedRequest, "number" | "at" | "actor" | "test">): void {
    const id = actor.id ?? "";
    const ring = this.#rings.get(id) ?? this.#open(account.id, id);
    this.#rings.delete(id);
    this.#rings.set(id, ring);
    const entries = ring.entries[request.code === null ? "success" : "refusal"];
    this.#number += 1;
    entries.push({ ...request, number: this.#number, at: this.#clock.now(), actor, test: key.mode === "test" });
    if (entries.length > ENTRIES_MAX) entries.shift();
  }

  /** The entries of an account, newest first. */
  list(accountId: number, isWanted: (request: LoggedRequest) => boolean): Listing {
    const rings = [...this.#rings.values()].filter((ring) => ring.accountId === accountId);
    const rows = rings
      .flatMap(({ entries }) => [...entries.success, ...entries.refusal].filter(isWanted))
      .toSorted((one, other) => other.number - one.number);
    return { rows, omitted: rings.reduce((sum, ring) => sum + ring.omitted, 0) };
  }

  /** An account beyond its share loses its own oldest ring, so that it cannot push out the rings of others. */
  #open(accountId: number, id: string): Ring {
    const own = [...this.#rings].filter(([, ring]) => ring.accountId === accountId);
    const [oldest] = own.length >= RINGS_PER_ACCOUNT ? own : this.#rings.size >= RINGS_MAX ? this.#rings : [];
    if (oldest) this.#rings.delete(oldest[0]);
    const ring: Ring = {
      accountId,
      entries: { success: [], refusal: [] },
      second: 0,
      inSecond: { success: 0, refusal: 0 },
      omitted: 0,
    };
    this.#rings.set(id, ring);
    return ring;
  }
}
