import type { Clock } from "../lib/clock.ts";
import { createGuardedConnect, type ConnectNeeds } from "./guarded-connect.ts";
import type { Caller } from "./http-connection.ts";
import { KEPT_MAX } from "./limits.ts";
import { NoAnswer } from "./no-answer.ts";
import { OriginConnections, type OriginNeeds } from "./origin-connections.ts";
import { writeRequest, type OutgoingRequest, type Target } from "./write-request.ts";

/** How often connections are looked for that have waited too long; none of them is used meanwhile. */
const SWEEP_MS = 1000;

interface Needs extends ConnectNeeds {
  keptMax?: number;
}

/** What whoever asks something of the world needs of it. */
export type WayOut = Pick<HttpClient, "send">;

/**
 * The way out to addresses that customers give: HTTP/1.1 and nothing else, one request at a time on a connection, which takes
 * half of what a client for everything does. Every connection goes to an address that the rules have just passed, and not
 * to whatever the name means when it is asked once more. No redirect is followed, and no request is made again by itself,
 * since nothing may be told twice.
 */
export class HttpClient {
  readonly #clock: Clock;
  readonly #needs: OriginNeeds;
  readonly #origins = new Map<string, OriginConnections>();
  #isSweeping = false;
  #isDestroyed = false;

  constructor({ keptMax = KEPT_MAX, ...needs }: Needs) {
    this.#clock = needs.clock;
    this.#needs = {
      clock: needs.clock,
      wayOut: createGuardedConnect(needs),
      keptMax,
      onIdle: () => this.#sweepLater(),
      onEmpty: (origin) => this.#forget(origin),
    };
  }

  /** How many origins it has anything to do with. */
  get origins(): number {
    return this.#origins.size;
  }

  /** Throws when nothing can be sent at all. */
  send(target: Target, request: OutgoingRequest, caller: Caller): void {
    if (this.#isDestroyed) throw calledOff();
    const call = { request: writeRequest(target, request), caller };
    this.#originOf(target).send(call);
  }

  /** Calls off what is under way, and whatever is asked later. */
  destroy(): void {
    this.#isDestroyed = true;
    for (const origin of this.#origins.values()) origin.destroy(calledOff());
  }

  #originOf(target: Target): OriginConnections {
    const known = this.#origins.get(target.origin);
    if (known) return known;
    const origin = new OriginConnections(this.#needs, target);
    this.#origins.set(target.origin, origin);
    return origin;
  }

  /** Another may have come in its place meanwhile. */
  #forget(origin: OriginConnections): void {
    const { origin: name } = origin.target;
    if (this.#origins.get(name) === origin) this.#origins.delete(name);
  }

  #sweepLater(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    this.#clock.after(SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#isSweeping = false;
    const now = this.#clock.monotonic();
    for (const origin of this.#origins.values()) if (origin.sweep(now) > 0) this.#sweepLater();
  }
}

const calledOff = (): NoAnswer => new NoAnswer("was called off, because this server stops");
