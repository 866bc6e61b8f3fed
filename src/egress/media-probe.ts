import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { Queue } from "../lib/queue.ts";
import type { HttpSender } from "../http-client/client.ts";
import type { RequestObserver, RequestHandle } from "../http-client/connection.ts";
import { classifyMedia, NO_FACTS, readMedia, type MediaFacts, type MediaKind, type MediaVerdict } from "./media.ts";
import type { ResponseHead } from "../http-client/response-head.ts";
import { readTarget, type Target } from "../http-client/write-request.ts";

const PROBE_LIMIT_MS = 5000;
const CACHE_MS = 600_000;
const CACHE_MAX = 10_000;
const CONCURRENCY_MAX = 50;
/** Beyond this queue length links are accepted without a probe: a result that comes minutes later is of no use. */
const WAITING_MAX = 1000;

interface MediaProbeDeps {
  /** Guarded against SSRF, because customers supply the links. */
  egress: HttpSender;
  clock: Clock;
  log?: Log;
}

/** Checks type and size of linked media without downloading it. */
export interface MediaProbe {
  /** Waits for the result. */
  probe(link: string, kind: MediaKind): Promise<MediaVerdict>;
  /** The cached result, or null while a probe runs in the background. */
  peek(link: string, kind: MediaKind): MediaVerdict | null;
  /**
   * The result if it is known within `waitMs`, otherwise "unknown" while the probe continues. Only the caller that starts a
   * probe waits for it.
   */
  probeWithin(link: string, kind: MediaKind, waitMs: number): Promise<MediaVerdict>;
}

/** Caches facts and not verdicts, because one link may be used for two kinds of media. */
export function createMediaProbe(deps: MediaProbeDeps): MediaProbe {
  const { clock } = deps;
  const factsByUrl = new Map<string, { found: MediaFacts; until: number }>();
  const pending = new Map<string, Promise<MediaFacts>>();
  const waiting = new Queue<() => void>();
  let running = 0;

  function cached(address: string): MediaFacts | null {
    const entry = factsByUrl.get(address);
    return entry && entry.until > clock.monotonic() ? entry.found : null;
  }

  function cache(address: string, found: MediaFacts): void {
    // Deleted first, so that insertion order stays the order of age.
    factsByUrl.delete(address);
    factsByUrl.set(address, { found, until: clock.monotonic() + CACHE_MS });
    const [oldest] = factsByUrl.keys();
    if (factsByUrl.size > CACHE_MAX && oldest !== undefined) factsByUrl.delete(oldest);
  }

  /** At most one probe per URL; concurrent callers share it. */
  function find(address: string): Promise<MediaFacts> {
    const shared = pending.get(address);
    if (shared) return shared;
    if (waiting.length >= WAITING_MAX) return Promise.resolve(NO_FACTS);
    const finding = runLimited(() => fetchFacts(deps, address)).then((found) => {
      cache(address, found);
      pending.delete(address);
      return found;
    });
    pending.set(address, finding);
    return finding;
  }

  async function runLimited<T>(run: () => Promise<T>): Promise<T> {
    if (running >= CONCURRENCY_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await run();
    } finally {
      // The next waiting probe takes over this slot, so `running` stays the same.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }

  return {
    async probe(link, kind) {
      const address = addressOf(link);
      if (address === null) return { kind: "unknown" };
      return classifyMedia(kind, cached(address) ?? (await find(address)));
    },
    peek(link, kind) {
      const address = addressOf(link);
      if (address === null) return { kind: "unknown" };
      const known = cached(address);
      if (known) return classifyMedia(kind, known);
      void find(address);
      return null;
    },
    async probeWithin(link, kind, waitMs) {
      const address = addressOf(link);
      if (address === null) return { kind: "unknown" };
      const known = cached(address);
      if (known) return classifyMedia(kind, known);
      const isFirst = !pending.has(address);
      const finding = find(address);
      return classifyMedia(kind, isFirst ? await orNoFacts(clock, finding, waitMs) : NO_FACTS);
    },
  };
}

/** The URL without fragment; null if it is not HTTP. */
function addressOf(link: string): string | null {
  if (!URL.canParse(link)) return null;
  const url = new URL(link);
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  url.hash = "";
  return url.href;
}

function orNoFacts(clock: Clock, finding: Promise<MediaFacts>, waitMs: number): Promise<MediaFacts> {
  return new Promise((resolve) => {
    const cancel = clock.after(waitMs, () => resolve(NO_FACTS));
    void finding.then(resolve).finally(cancel);
  });
}

/**
 * HEAD first. If type or size is missing, GET with a range of one byte, whose content-range contains the size. One time
 * limit covers both.
 */
async function fetchFacts(deps: MediaProbeDeps, address: string): Promise<MediaFacts> {
  const target = readTarget(address);
  if (!target) return NO_FACTS;
  const endsAt = deps.clock.monotonic() + PROBE_LIMIT_MS;
  const head = await requestHead(deps, target, "HEAD", PROBE_LIMIT_MS);
  if (head === null || (head.type !== null && head.bytes !== null)) return head ?? NO_FACTS;
  const get = await requestHead(deps, target, "GET", Math.max(0, endsAt - deps.clock.monotonic()));
  return { type: get?.type ?? head.type, bytes: get?.bytes ?? head.bytes };
}

/** Null on time-out. Refused addresses, resets and invalid responses count as no facts, and the link is accepted. */
function requestHead(
  { egress, clock, log }: MediaProbeDeps,
  target: Target,
  method: "HEAD" | "GET",
  limitMs: number,
): Promise<MediaFacts | null> {
  // A compressed response would have the wrong size.
  const headers = { "accept-encoding": "identity", ...(method === "GET" ? { range: "bytes=0-0" } : {}) };
  return new Promise((resolve) => {
    const onFailure = (error: Error): void => {
      log?.debug({ err: error, method }, "media probe failed");
      resolve(NO_FACTS);
    };
    const reader = new HeadReader(clock, limitMs, { onFound: resolve, onFailure });
    try {
      egress.send(target, { method, headers, body: null, thenClose: true }, reader);
    } catch (error) {
      reader.onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

interface HeadListener {
  onFound(found: MediaFacts | null): void;
  onFailure(error: Error): void;
}

/** Reads the head of a response and aborts: the body may be endless. */
class HeadReader implements RequestObserver {
  readonly #listener: HeadListener;
  readonly #cancelLimit: () => void;
  #handle: RequestHandle | null = null;
  #isOver = false;

  constructor(clock: Clock, limitMs: number, listener: HeadListener) {
    this.#listener = listener;
    this.#cancelLimit = clock.after(limitMs, () => this.#end(() => listener.onFound(null)));
  }

  isWaiting(): boolean {
    return !this.#isOver;
  }

  onConnected(handle: RequestHandle): void {
    this.#handle = handle;
  }

  onHead(head: ResponseHead): void {
    this.#end(() => this.#listener.onFound(readMedia(head)));
  }

  onBody(): void {}

  onEnd(): void {}

  onFailure(error: Error): void {
    this.#end(() => this.#listener.onFailure(error));
  }

  #end(report: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelLimit();
    this.#handle?.abort(this);
    report();
  }
}
