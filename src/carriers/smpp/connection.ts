import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { bind, type BindOptions, type BindResult } from "../../smpp/client.ts";
import type { Session, SessionEnd } from "../../smpp/session.ts";
import type { StopTimeouts } from "../carrier.ts";
import { bindWaitMs, classifyBind } from "./classify-response.ts";

/** State of a bind. */
export type SmppConnectionState =
  | { kind: "connecting"; since: number }
  | { kind: "bound"; since: number }
  /** Waits for the next attempt; `alarm` if an operator must act first. */
  | { kind: "waiting"; since: number; until: number; reason: string; code: string | null; alarm: boolean }
  | { kind: "closed"; since: number };

interface SmppConnectionDeps {
  /** For the log. */
  name: string;
  clock: Clock;
  log: Log;
  /** Rejects with the reason if the host may not be reached. */
  options(): Promise<BindOptions>;
  /** Called with the status code of a failed bind, or with "unreachable". */
  onRefused(code: string): void;
  random?: () => number;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A bind that lasted this long resets the backoff. */
const STEADY_MS = 60_000;

/** A permanent bind: it rebinds whenever the session ends, with exponential backoff and jitter. */
export class SmppConnection {
  readonly #deps: SmppConnectionDeps;
  readonly #stopping = new AbortController();
  #state: SmppConnectionState;
  #session: Session | null = null;
  /** Consecutive failures. */
  #failures = 0;
  #running: Promise<void> = Promise.resolve();
  #endSleep: () => void = () => {};
  #isUntried = true;

  constructor(deps: SmppConnectionDeps) {
    this.#deps = deps;
    this.#state = { kind: "connecting", since: deps.clock.now() };
  }

  get state(): SmppConnectionState {
    return this.#state;
  }

  /** True until the first bind attempt has ended. */
  get isUntried(): boolean {
    return this.#isUntried;
  }

  /** The session if it accepts requests. */
  get session(): Session | null {
    return this.#session?.isOpen ? this.#session : null;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Waits for outstanding responses, then unbinds. */
  async stop(timeouts?: StopTimeouts): Promise<void> {
    this.#stopping.abort();
    this.#endSleep();
    await this.#session?.unbind(timeouts);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.#deps;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#state = { kind: "connecting", since: clock.now() };
      const result = await this.#bind(signal);
      this.#isUntried = false;
      const pauseMs = result.kind === "bound" ? await this.#useSession(result.session) : this.#onRefused(result);
      if (!signal.aborted) await this.#sleep(pauseMs);
    }
    this.#state = { kind: "closed", since: clock.now() };
  }

  /** Invalid settings and refused hosts count as unreachable. */
  async #bind(signal: AbortSignal): Promise<BindResult> {
    try {
      return await bind({ ...(await this.#deps.options()), signal });
    } catch (error) {
      return { kind: "unreachable", reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Resolves at the end of the session with the wait before the next bind. */
  async #useSession(session: Session): Promise<number> {
    const { clock, log, name } = this.#deps;
    const boundAt = clock.monotonic();
    this.#session = session;
    this.#state = { kind: "bound", since: clock.now() };
    log.info({ carrier: name }, "SMPP bound");
    // A stop during the bind found no session to end.
    if (this.#stopping.signal.aborted) void session.unbind();
    const end = await session.closed;
    this.#session = null;
    if (clock.monotonic() - boundAt >= STEADY_MS) this.#failures = 0;
    if (this.#stopping.signal.aborted) return 0;
    const reason = describeEnd(end);
    log.warn({ carrier: name, reason }, "SMPP session ended");
    return this.#pause(reason);
  }

  #onRefused(result: Exclude<BindResult, { kind: "bound" }>): number {
    const { log, name, onRefused, random = Math.random } = this.#deps;
    const verdict = result.kind === "refused" ? classifyBind(result.status) : null;
    if (verdict?.kind !== "refused") {
      onRefused("unreachable");
      return this.#pause(`It cannot be reached: ${result.kind === "unreachable" ? result.reason : "no answer"}`);
    }
    const { code, description: reason, alarm } = verdict;
    onRefused(code);
    if (alarm) log.error({ carrier: name, errorCode: code, reason }, "SMPP bind refused, operator action needed");
    this.#failures += 1;
    return this.#wait({ reason, code, alarm }, bindWaitMs(verdict, this.#failures, random()));
  }

  /** Exponential backoff with full jitter. */
  #pause(reason: string): number {
    const { random = Math.random } = this.#deps;
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 20);
    return this.#wait({ reason, code: null, alarm: false }, Math.round(longest * random()));
  }

  #wait(why: { reason: string; code: string | null; alarm: boolean }, ms: number): number {
    const since = this.#deps.clock.now();
    this.#state = { kind: "waiting", since, until: since + ms, ...why };
    return ms;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.after(ms, resolve);
      this.#endSleep = () => {
        cancel();
        resolve();
      };
    });
  }
}

function describeEnd(end: SessionEnd): string {
  if (end.reason === "failed") return `The connection failed: ${end.error.message}`;
  if (end.reason === "unbound") return end.by === "peer" ? "The carrier unbound" : "It was unbound";
  if (end.reason === "silent") return "The carrier has not been heard of any more";
  if (end.reason === "unframeable") return "The carrier sent what is not SMPP";
  return end.reason === "hung up" ? "The carrier hung up" : "The connection was closed";
}
