import type { Clock } from "../lib/clock.ts";
import type { RequestObserver } from "./connection.ts";
import type { Connector } from "./connector.ts";
import { NoResponse } from "./no-response.ts";
import { OriginConnections, type OriginConnectionsDeps } from "./origin-connections.ts";
import { writeRequest, type OutgoingRequest, type Target } from "./write-request.ts";

/** Above this number of open connections, a connection in use is closed after its response and not kept. */
const KEPT_MAX = 2048;
/**
 * Interval of the search for expired idle connections. An expired connection is not reused even before the search finds it.
 */
const SWEEP_MS = 1000;

interface HttpClientDeps {
  connector: Connector;
  clock: Clock;
  keptMax?: number;
}

/** The part of the client that senders of requests need. */
export type HttpSender = Pick<HttpClient, "send">;

/**
 * HTTP/1.1 client with keep-alive and one request at a time per connection, without pipelining. It takes half the CPU of a
 * general client. It follows no redirect and repeats no request, because a repeated request could be processed twice.
 */
export class HttpClient {
  readonly #clock: Clock;
  readonly #deps: OriginConnectionsDeps;
  readonly #origins = new Map<string, OriginConnections>();
  #isSweeping = false;
  #isDestroyed = false;

  constructor({ connector, clock, keptMax = KEPT_MAX }: HttpClientDeps) {
    this.#clock = clock;
    this.#deps = {
      clock,
      connector,
      keptMax,
      onIdle: () => this.#sweepLater(),
      onEmpty: (origin) => this.#remove(origin),
    };
  }

  /** Number of origins with open connections or pending requests. */
  get origins(): number {
    return this.#origins.size;
  }

  /** Throws if the request cannot be written or the client is destroyed. */
  send(target: Target, request: OutgoingRequest, caller: RequestObserver): void {
    if (this.#isDestroyed) throw clientClosed();
    const call = { request: writeRequest(target, request), caller };
    this.#originOf(target).send(call);
  }

  /** Fails pending requests, and every later one. */
  destroy(): void {
    this.#isDestroyed = true;
    for (const origin of this.#origins.values()) origin.destroy(clientClosed());
  }

  #originOf(target: Target): OriginConnections {
    const known = this.#origins.get(target.origin);
    if (known) return known;
    const origin = new OriginConnections(this.#deps, target);
    this.#origins.set(target.origin, origin);
    return origin;
  }

  /** A newer pool of the same origin may have replaced this one. */
  #remove(origin: OriginConnections): void {
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

const clientClosed = (): NoResponse => new NoResponse("was called off, because this server stops");
