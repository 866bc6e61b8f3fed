import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../../src/lib/clock.ts";
import { seededRandom, type Random } from "../torture/random.ts";

/** Something that will happen at a simulated time. `process` is the process that it happens in; null for the outside world. */
interface Event {
  at: number;
  /** Breaks ties between events of the same time; drawn from the seed. */
  order: number;
  process: SimulatedProcess | null;
  cancelled: boolean;
  /** It waits for the end of its process's pause. */
  isHeld: boolean;
  run(): void | Promise<void>;
}

const START_AT = Date.UTC(2026, 0, 5, 12);
/** FNV-1a. */
const HASH_START = 0x811c9dc5;
function hashOf(text: string, before = HASH_START): number {
  let hash = before;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
/** Turns of the real event loop after which a process that did nothing is idle: streams and promises settle within these. */
const IDLE_TURNS = 2;
const realImmediate = setImmediate;
/** Events within this time compete by their priorities. */
const MOMENT_MS = 5;
/** Probability for each event that its process gets another priority: about three times in a run. */
const PRIORITY_CHANGES = 0.0001;

const currentProcess = new AsyncLocalStorage<SimulatedProcess>();

/** The simulated process whose code runs now. */
export const runningProcess = (): SimulatedProcess | undefined => currentProcess.getStore();

/** Runs code as a part of a simulated process. */
export const inProcess = <T>(process: SimulatedProcess, run: () => T): T => currentProcess.run(process, run);

/**
 * Simulated time and the scheduler. One event happens at a time: the next one begins when all code that the last one woke is
 * idle. Every order in which things happen therefore follows from the seed.
 */
export class World {
  now = START_AT;
  eventCount = 0;
  /** Counts everything that shows that code still runs. */
  activity = 0;
  readonly random: Random;
  readonly story: string[] = [];
  /** Store calls of all processes, by their name. */
  readonly calls = new Map<string, number>();
  /** Store calls during which a process died or stood still, by their name. */
  readonly interrupted = new Map<string, number>();
  /** Warnings and errors in the logs of all processes, by their text. */
  readonly logged = new Map<string, number>();
  /** Exceptions that no code caught. */
  readonly faults: string[] = [];
  /** Receives every event and store call, to find where two runs of one seed differ. */
  trace: ((line: string) => void) | null = null;
  /** Over every event and store call: two runs with the same hash were the same run. */
  hash = HASH_START;
  /**
   * Every process gets a priority, which changes a few times. Of the events within a moment, those of the first process happen
   * first. Random delays alone seldom let one process overtake another for long.
   */
  hasPriorities = false;
  readonly #priorities = new Map<SimulatedProcess, number>();
  /** In the order in which they happen. */
  readonly #events: Event[] = [];
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
    this.random = seededRandom(seed);
  }

  /** Random choices of one thing. Other things do not shift them, so that a run with an action less stays nearly the same. */
  randomFor(key: string): Random {
    return seededRandom(hashOf(`${this.#seed} ${key}`));
  }

  /** Adds an event or a store call to the trace. */
  note(line: string): void {
    this.hash = hashOf(line, this.hash);
    this.trace?.(line);
  }

  /** A process logs a warning or an error. Its stack may differ between machines, so it is no part of the hash. */
  log(name: string, line: string): void {
    const { msg } = JSON.parse(line) as { msg: string };
    this.logged.set(msg, (this.logged.get(msg) ?? 0) + 1);
    this.trace?.(`${name} logs ${line.trim()}`);
  }

  /** Plans an event; the returned function cancels it. `actor` is the process that caused it, if it happens outside. */
  plan(
    delayMs: number,
    process: SimulatedProcess | null,
    run: () => void | Promise<void>,
    actor: SimulatedProcess | null = process,
  ): () => void {
    // Whole milliseconds, as `Date.now` and the store have them.
    const at = this.now + Math.ceil(Math.max(0, delayMs));
    const order = this.random.next();
    const isRanked = this.hasPriorities && actor !== null;
    const event: Event = {
      at: isRanked ? Math.ceil(at / MOMENT_MS) * MOMENT_MS : at,
      order: isRanked ? this.#priorityOf(actor) + order / 1e6 : order,
      process,
      cancelled: false,
      isHeld: false,
      run,
    };
    this.activity += 1;
    this.#insert(event);
    return () => {
      event.cancelled = true;
    };
  }

  #priorityOf(process: SimulatedProcess): number {
    const known = this.#priorities.get(process);
    if (known !== undefined && !this.random.chance(PRIORITY_CHANGES)) return known;
    const drawn = this.random.next();
    this.#priorities.set(process, drawn);
    return drawn;
  }

  /** Adds a line to the story of the run. */
  tell(line: string): void {
    this.story.push(`${((this.now - START_AT) / 1000).toFixed(3).padStart(9)} s  ${line}`);
  }

  /** Runs events until the time or the condition is reached. */
  async run(untilMs: number, isDone: () => boolean = () => false): Promise<void> {
    const end = this.now + untilMs;
    for (;;) {
      const [next] = this.#events;
      if (!next || next.at > end) {
        this.now = end;
        return;
      }
      this.#events.shift();
      if (next.cancelled) continue;
      const { process } = next;
      if (process?.isDead) continue;
      this.now = next.at;
      if (process && process.pausedUntil > this.now) {
        next.at = process.pausedUntil;
        next.isHeld = true;
        this.#insert(next);
        continue;
      }
      this.eventCount += 1;
      this.note(`${this.now} ${process?.name ?? "world"} ${next.order}`);
      // The outside world stands still until a database call has ended; a process goes on by its own events.
      if (process) currentProcess.run(process, () => void this.#begin(next));
      else await next.run();
      await this.settle();
      if (isDone()) return;
    }
  }

  /** Runs events until the work of the outside world has ended; false if that takes longer. */
  async finish(work: Promise<unknown>, withinMs: number): Promise<boolean> {
    let isDone = false;
    void work.then(() => {
      isDone = true;
    });
    await this.run(withinMs, () => isDone);
    return isDone;
  }

  /** Plans the events that a process missed for now: its pause has ended early. */
  release(process: SimulatedProcess): void {
    const held = this.#events.filter((event) => event.isHeld && event.process === process);
    for (const event of held) {
      this.#events.splice(this.#events.indexOf(event), 1);
      event.at = this.now;
      event.isHeld = false;
      this.#insert(event);
    }
  }

  #insert(event: Event): void {
    let [least, most] = [0, this.#events.length];
    while (least < most) {
      const middle = (least + most) >> 1;
      const other = this.#events[middle];
      if (other && isBefore(other, event)) least = middle + 1;
      else most = middle;
    }
    this.#events.splice(least, 0, event);
  }

  async #begin({ process, run }: Event): Promise<void> {
    try {
      await run();
    } catch (error) {
      this.faults.push(`${process?.name ?? "the world"}: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }

  /** Resolves when all code that was woken waits for a planned event. */
  async settle(): Promise<void> {
    for (let idleTurns = 0; idleTurns < IDLE_TURNS;) {
      const before = this.activity;
      await new Promise<void>((resolve) => void realImmediate(resolve));
      idleTurns = this.activity === before ? idleTurns + 1 : 0;
    }
  }
}

/** Reasons for which a process acts late, or does not store the result. */
type TroubleKind = "store" | "pause" | "death" | "membership" | "clock";

interface Trouble {
  kind: TroubleKind;
  from: number;
  until: number;
}

/** A process of the simulated machine room: it has a clock of its own, can be killed, and can be stopped for a while. */
export class SimulatedProcess {
  readonly name: string;
  /** World time of its end. */
  diedAt = Number.POSITIVE_INFINITY;
  /** World time at which a stopped process (SIGSTOP) goes on. */
  pausedUntil = 0;
  /** Periods in which its machine is suspended, in order: its monotonic clock stands still meanwhile. */
  readonly #sleeps: { from: number; until: number }[] = [];
  /** Lead of its wall clock over the world's. */
  skewMs = 0;
  readonly troubles: Trouble[] = [];
  /** Learns of each store call that begins. */
  onCall: ((name: string) => void) | null = null;
  /** Store calls without an answer yet. */
  readonly #openCalls: string[] = [];
  readonly world: World;
  readonly clock: Clock;

  constructor(world: World, name: string) {
    this.world = world;
    this.name = name;
    const startedAt = world.now;
    this.clock = {
      now: () => world.now + this.skewMs,
      monotonic: () => world.now - startedAt - this.#sleptMs(),
      after: (delayMs, run) => world.plan(delayMs, this, run),
    };
  }

  get isDead(): boolean {
    return this.diedAt <= this.world.now;
  }

  hadTrouble(kind: TroubleKind, from: number, until: number): void {
    this.troubles.push({ kind, from, until });
  }

  /** True if one of these troubles fell into the period. */
  wasTroubled(from: number, until: number, kinds: readonly TroubleKind[]): boolean {
    return this.troubles.some((each) => kinds.includes(each.kind) && each.from <= until && each.until >= from);
  }

  /** A store call begins; the returned function notes its end. */
  beginCall(name: string): () => void {
    const { calls } = this.world;
    calls.set(name, (calls.get(name) ?? 0) + 1);
    this.#openCalls.push(name);
    this.onCall?.(name);
    return () => void this.#openCalls.splice(this.#openCalls.indexOf(name), 1);
  }

  #noteInterrupted(): void {
    const { interrupted } = this.world;
    for (const name of this.#openCalls) interrupted.set(name, (interrupted.get(name) ?? 0) + 1);
  }

  /** Stops the process, as SIGSTOP does. */
  pause(ms: number): void {
    const { now } = this.world;
    this.#noteInterrupted();
    this.pausedUntil = Math.max(this.pausedUntil, now + ms);
    this.hadTrouble("pause", now, this.pausedUntil);
  }

  /** Suspends its machine. */
  sleep(ms: number): void {
    const { now } = this.world;
    this.pause(ms);
    const from = Math.max(now, this.#sleeps.at(-1)?.until ?? 0);
    this.#sleeps.push({ from, until: Math.max(from, now + ms) });
  }

  /** Ends pauses and sleeps early. */
  wake(): void {
    const { now } = this.world;
    this.pausedUntil = Math.min(this.pausedUntil, now);
    for (const sleep of this.#sleeps) sleep.until = Math.min(sleep.until, now);
    for (const trouble of this.troubles) if (trouble.kind === "pause") trouble.until = Math.min(trouble.until, now);
    this.world.release(this);
  }

  #sleptMs(): number {
    const { now } = this.world;
    return this.#sleeps.reduce((sum, { from, until }) => sum + Math.max(0, Math.min(until, now) - from), 0);
  }

  die(): void {
    if (this.isDead) return;
    this.#noteInterrupted();
    this.diedAt = this.world.now;
    this.hadTrouble("death", this.diedAt, Number.POSITIVE_INFINITY);
  }

  /** Moves the wall clock. */
  step(ms: number): void {
    const { now } = this.world;
    this.skewMs += ms;
    this.hadTrouble("clock", now, now + Math.abs(ms));
  }
}

const isBefore = (one: Event, other: Event): boolean =>
  one.at === other.at ? one.order < other.order : one.at < other.at;
