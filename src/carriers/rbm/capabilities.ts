import type { Clock } from "../../lib/clock.ts";
import type { HttpExchange } from "../http-exchange.ts";
import type { Closed } from "./access-token.ts";
import { bodyOf, errorOf } from "./parse-response.ts";

/** Capabilities of a phone. */
export interface Capability {
  kind: "known";
  isReachable: boolean;
  /** Names of the platform's features that the phone has. */
  features: ReadonlySet<string>;
}

/** A temporary failure to look up capabilities. */
interface UnknownCapability {
  kind: "unclear";
  answer: HttpExchange | Closed;
}

interface CapabilitiesDeps {
  clock: Clock;
  cacheMs: number;
  /** Cache size; the oldest entries are evicted first. */
  max: number;
  ask(agentId: string, number: string): Promise<HttpExchange | Closed>;
}

const UNREACHABLE: Capability = { kind: "known", isReachable: false, features: new Set() };

/** Cache of phone capabilities per agent, which saves a lookup per message. */
export class Capabilities {
  readonly #deps: CapabilitiesDeps;
  readonly #cache = new Map<string, { capability: Capability; until: number }>();
  readonly #pending = new Map<string, Promise<Capability | UnknownCapability>>();

  constructor(deps: CapabilitiesDeps) {
    this.#deps = deps;
  }

  async of(agentId: string, number: string): Promise<Capability | UnknownCapability> {
    const key = `${number} ${agentId}`;
    const cached = this.#cache.get(key);
    if (cached && this.#deps.clock.monotonic() < cached.until) return cached.capability;
    const pending = this.#pending.get(key) ?? this.#lookUp(key, agentId, number);
    this.#pending.set(key, pending);
    return pending;
  }

  /** Another response has shown that the phone is not reachable. */
  markUnreachable(agentId: string, number: string): void {
    this.#store(`${number} ${agentId}`, UNREACHABLE);
  }

  async #lookUp(key: string, agentId: string, number: string): Promise<Capability | UnknownCapability> {
    try {
      const answer = await this.#deps.ask(agentId, number);
      const capability = readCapability(answer);
      if (!capability) return { kind: "unclear", answer };
      this.#store(key, capability);
      return capability;
    } finally {
      this.#pending.delete(key);
    }
  }

  #store(key: string, capability: Capability): void {
    const { clock, cacheMs, max } = this.#deps;
    this.#cache.delete(key);
    this.#cache.set(key, { capability, until: clock.monotonic() + cacheMs });
    if (this.#cache.size <= max) return;
    const [oldest] = this.#cache.keys();
    if (oldest !== undefined) this.#cache.delete(oldest);
  }
}

const FEATURES_MAX = 50;
const SETS_MAX = 1000;
const sets = new Map<string, ReadonlySet<string>>();

/** Phones have few combinations of features, so the cache holds each combination once. */
function knownSet(names: readonly string[]): ReadonlySet<string> {
  const key = names.toSorted().join();
  const known = sets.get(key) ?? new Set(names);
  if (sets.size < SETS_MAX) sets.set(key, known);
  return known;
}

function readCapability(answer: HttpExchange | Closed): Capability | null {
  if (answer.kind !== "answered") return null;
  if (answer.status === 404) return errorOf(answer).status === "NOT_FOUND" ? UNREACHABLE : null;
  const features = answer.status === 200 ? bodyOf(answer)?.features : null;
  if (!Array.isArray(features)) return null;
  const names = features.filter((name): name is string => typeof name === "string");
  return { kind: "known", isReachable: true, features: knownSet(names.slice(0, FEATURES_MAX)) };
}
