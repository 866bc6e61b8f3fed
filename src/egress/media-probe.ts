import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { Queue } from "../lib/queue.ts";
import type { WayOut } from "./http-client.ts";
import type { Caller, Line } from "./http-connection.ts";
import { judgeMedia, NOTHING, readMedia, type Found, type MediaKind, type Verdict } from "./media.ts";
import type { ResponseHead } from "./response-head.ts";
import { readTarget, type Target } from "./write-request.ts";

const PROBE_LIMIT_MS = 5000;
const REMEMBERED_MS = 600_000;
const REMEMBERED_MAX = 10_000;
const AT_ONCE_MAX = 50;
/** Links beyond these are let pass unprobed: a verdict that comes after minutes would help nobody. */
const WAITING_MAX = 1000;

interface Needs {
  /** A guarded one: the links are customers'. */
  wayOut: WayOut;
  clock: Clock;
  log?: Log;
}

/** Looks at what lies behind the links of media, without ever fetching it. */
export interface MediaProbe {
  /** The verdict, once it is known. */
  probe(link: string, kind: MediaKind): Promise<Verdict>;
  /** The verdict if it is known, else null while somebody looks: whoever asks is not kept. */
  look(link: string, kind: MediaKind): Verdict | null;
  /**
   * The verdict if it is known within the time, else "unknown" while the probe goes on. Only who starts a probe waits
   * for it; whoever comes with the same link meanwhile is not kept.
   */
  settle(link: string, kind: MediaKind, waitMs: number): Promise<Verdict>;
}

/** Remembers what was found rather than verdicts, since one link may be used as media of two kinds. */
export function createMediaProbe(needs: Needs): MediaProbe {
  const { clock } = needs;
  const remembered = new Map<string, { found: Found; until: number }>();
  const underWay = new Map<string, Promise<Found>>();
  const waiting = new Queue<() => void>();
  let running = 0;

  function recall(address: string): Found | null {
    const memory = remembered.get(address);
    return memory && memory.until > clock.monotonic() ? memory.found : null;
  }

  function remember(address: string, found: Found): void {
    // Taken out first, so that the oldest always stands in front.
    remembered.delete(address);
    remembered.set(address, { found, until: clock.monotonic() + REMEMBERED_MS });
    const [oldest] = remembered.keys();
    if (remembered.size > REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
  }

  /** One probe of an address at a time; all who ask meanwhile share it. */
  function find(address: string): Promise<Found> {
    const shared = underWay.get(address);
    if (shared) return shared;
    if (waiting.length >= WAITING_MAX) return Promise.resolve(NOTHING);
    const finding = takeTurn(() => look(needs, address)).then((found) => {
      remember(address, found);
      underWay.delete(address);
      return found;
    });
    underWay.set(address, finding);
    return finding;
  }

  async function takeTurn<T>(run: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await run();
    } finally {
      // Whoever waits takes over this turn, so the number that run stays the same.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }

  return {
    async probe(link, kind) {
      const address = addressOf(link);
      if (address === null) return { kind: "unknown" };
      return judgeMedia(kind, recall(address) ?? (await find(address)));
    },
    look(link, kind) {
      const address = addressOf(link);
      if (address === null) return { kind: "unknown" };
      const known = recall(address);
      if (known) return judgeMedia(kind, known);
      void find(address);
      return null;
    },
    async settle(link, kind, waitMs) {
      const address = addressOf(link);
      if (address === null) return { kind: "unknown" };
      const known = recall(address);
      if (known) return judgeMedia(kind, known);
      const isFirst = !underWay.has(address);
      const finding = find(address);
      return judgeMedia(kind, isFirst ? await orNothing(clock, finding, waitMs) : NOTHING);
    },
  };
}

/** The link as the server sees it; null for one that is no address of the web. */
function addressOf(link: string): string | null {
  if (!URL.canParse(link)) return null;
  const url = new URL(link);
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  url.hash = "";
  return url.href;
}

function orNothing(clock: Clock, finding: Promise<Found>, waitMs: number): Promise<Found> {
  return new Promise((resolve) => {
    const cancel = clock.after(waitMs, () => resolve(NOTHING));
    void finding.then(resolve).finally(cancel);
  });
}

/**
 * Asks for the head, and where that leaves type or size open, for the first byte, whose answer tells the whole size. There is
 * one limit for both.
 */
async function look(needs: Needs, address: string): Promise<Found> {
  const target = readTarget(address);
  if (!target) return NOTHING;
  const endsAt = needs.clock.monotonic() + PROBE_LIMIT_MS;
  const head = await ask(needs, target, "HEAD", PROBE_LIMIT_MS);
  if (head === null || (head.type !== null && head.bytes !== null)) return head ?? NOTHING;
  const get = await ask(needs, target, "GET", Math.max(0, endsAt - needs.clock.monotonic()));
  return { type: get?.type ?? head.type, bytes: get?.bytes ?? head.bytes };
}

/**
 * Null when the time was over. Closed addresses, resets and garbage are all the same otherwise: nothing is known, and the
 * link passes.
 */
function ask(
  { wayOut, clock, log }: Needs,
  target: Target,
  method: "HEAD" | "GET",
  limitMs: number,
): Promise<Found | null> {
  // A compressed answer would tell the wrong size.
  const headers = { "accept-encoding": "identity", ...(method === "GET" ? { range: "bytes=0-0" } : {}) };
  return new Promise((resolve) => {
    const onFailure = (error: Error): void => {
      log?.debug({ err: error, method }, "media was not reached");
      resolve(NOTHING);
    };
    const looking = new Looking(clock, limitMs, { onFound: resolve, onFailure });
    try {
      wayOut.send(target, { method, headers, body: null, thenClose: true }, looking);
    } catch (error) {
      looking.onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

interface LookHearer {
  onFound(found: Found | null): void;
  onFailure(error: Error): void;
}

/** Hears the head of an answer, and hangs up: what follows may have no end. */
class Looking implements Caller {
  readonly #hearer: LookHearer;
  readonly #cancelLimit: () => void;
  #line: Line | null = null;
  #isOver = false;

  constructor(clock: Clock, limitMs: number, hearer: LookHearer) {
    this.#hearer = hearer;
    this.#cancelLimit = clock.after(limitMs, () => this.#end(() => hearer.onFound(null)));
  }

  isWaiting(): boolean {
    return !this.#isOver;
  }

  onConnected(line: Line): void {
    this.#line = line;
  }

  onHead(head: ResponseHead): void {
    this.#end(() => this.#hearer.onFound(readMedia(head)));
  }

  onBody(): void {}

  onEnd(): void {}

  onFailure(error: Error): void {
    this.#end(() => this.#hearer.onFailure(error));
  }

  #end(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelLimit();
    this.#line?.hangUp(this);
    tell();
  }
}
