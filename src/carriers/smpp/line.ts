import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { bind, type BindOptions, type BindResult } from "../../smpp/client.ts";
import type { Session, SessionEnd } from "../../smpp/session.ts";
import type { Patience } from "../carrier.ts";
import { bindWaitMs, judgeBind } from "./status.ts";

/** Where a bind stands. */
export type LineState =
  | { kind: "connecting"; since: number }
  | { kind: "bound"; since: number }
  /** Not bound, and tried again at a time; `alarm` where somebody has to do something first. */
  | { kind: "waiting"; since: number; until: number; reason: string; code: string | null; alarm: boolean }
  | { kind: "closed"; since: number };

interface LineNeeds {
  /** Names it in the log. */
  name: string;
  clock: Clock;
  log: Log;
  /** Rejects with the reason where no connection may be made. */
  options(): Promise<BindOptions>;
  /** Told when a bind failed, by its code or in a word. */
  onRefused(code: string): void;
  random?: () => number;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A bind that has held for so long is forgiven all that went before. */
const STEADY_MS = 60_000;

/** One bind that is kept: whenever it ends it is made anew, with pauses that grow and that no two nodes share. */
export class Line {
  readonly #needs: LineNeeds;
  readonly #stopping = new AbortController();
  #state: LineState;
  #session: Session | null = null;
  /** Failures in a row. */
  #failures = 0;
  #running: Promise<void> = Promise.resolve();
  #endPause: () => void = () => {};

  constructor(needs: LineNeeds) {
    this.#needs = needs;
    this.#state = { kind: "connecting", since: needs.clock.now() };
  }

  get state(): LineState {
    return this.#state;
  }

  /** The bind while there is one that takes requests. */
  get session(): Session | null {
    return this.#session?.isOpen ? this.#session : null;
  }

  start(): void {
    this.#running = this.#keep();
  }

  /** Ends in good order: what is due is waited for, then it unbinds. */
  async stop(patience?: Patience): Promise<void> {
    this.#stopping.abort();
    this.#endPause();
    await this.#session?.unbind(patience);
    await this.#running;
  }

  async #keep(): Promise<void> {
    const { clock } = this.#needs;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#state = { kind: "connecting", since: clock.now() };
      const result = await this.#bind(signal);
      const pauseMs = result.kind === "bound" ? await this.#hold(result.session) : this.#refusal(result);
      if (!signal.aborted) await this.#rest(pauseMs);
    }
    this.#state = { kind: "closed", since: clock.now() };
  }

  /** What cannot be tried, for settings that cannot be written or a host that must not be reached, is as good as away. */
  async #bind(signal: AbortSignal): Promise<BindResult> {
    try {
      return await bind({ ...(await this.#needs.options()), signal });
    } catch (error) {
      return { kind: "unreachable", reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Lives as long as the bind does; gives how long to wait before the next. */
  async #hold(session: Session): Promise<number> {
    const { clock, log, name } = this.#needs;
    const boundAt = clock.now();
    this.#session = session;
    this.#state = { kind: "bound", since: boundAt };
    log.info({ carrier: name }, "bound to the carrier");
    // A stop that came while it was binding found no session to end.
    if (this.#stopping.signal.aborted) void session.unbind();
    const end = await session.closed;
    this.#session = null;
    if (clock.now() - boundAt >= STEADY_MS) this.#failures = 0;
    if (this.#stopping.signal.aborted) return 0;
    const reason = wordsOf(end);
    log.warn({ carrier: name, reason }, "bind to the carrier has ended");
    return this.#pause(reason);
  }

  #refusal(result: Exclude<BindResult, { kind: "bound" }>): number {
    const { log, name, onRefused, random = Math.random } = this.#needs;
    const verdict = result.kind === "refused" ? judgeBind(result.status) : null;
    if (verdict?.kind !== "refused") {
      onRefused("unreachable");
      return this.#pause(`It cannot be reached: ${result.kind === "unreachable" ? result.reason : "no answer"}`);
    }
    const { code, description: reason, alarm } = verdict;
    onRefused(code);
    if (alarm) log.error({ carrier: name, code, reason }, "carrier refuses the bind: somebody has to look at it");
    this.#failures += 1;
    return this.#wait({ reason, code, alarm }, bindWaitMs(verdict, this.#failures, random()));
  }

  /** The longest pause doubles with each failure, and each pause is anything up to it. */
  #pause(reason: string): number {
    const { random = Math.random } = this.#needs;
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 20);
    return this.#wait({ reason, code: null, alarm: false }, Math.round(longest * random()));
  }

  #wait(why: { reason: string; code: string | null; alarm: boolean }, ms: number): number {
    const since = this.#needs.clock.now();
    this.#state = { kind: "waiting", since, until: since + ms, ...why };
    return ms;
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#needs.clock.after(ms, resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
  }
}

function wordsOf(end: SessionEnd): string {
  if (end.reason === "failed") return `The connection failed: ${end.error.message}`;
  if (end.reason === "unbound") return end.by === "peer" ? "The carrier unbound" : "It was unbound";
  if (end.reason === "silent") return "The carrier has not been heard of any more";
  if (end.reason === "unframeable") return "The carrier sent what is not SMPP";
  return end.reason === "hung up" ? "The carrier hung up" : "The connection was closed";
}
