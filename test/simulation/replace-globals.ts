import crypto from "node:crypto";
import filesystem from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import { seededRandom, type Random } from "../torture/random.ts";
import { runningProcess } from "./world.ts";

/*
 * Makes a run repeatable: random numbers come from the seed, and the turns, pauses and background work that a simulated process
 * asks Node for become events of the world. Code outside a simulated process (drivers of the databases, the simulation itself)
 * keeps Node's own. This module is imported first: some modules keep a reference to these functions from their start.
 */

let random = seededRandom(0);

/** All random numbers come from this generator from now on. */
export function seedGlobals(seeded: Random): void {
  random = seeded;
}

function fill<T extends NodeJS.ArrayBufferView>(view: T): T {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = random.between(0, 255);
  return view;
}

type Callback = (error: Error | null, result?: unknown) => void;

Math.random = () => random.next();
const builtin = crypto as unknown as Record<string, (...args: never[]) => unknown>;
builtin["randomFillSync"] = fill;
builtin["randomBytes"] = (size: number) => fill(Buffer.alloc(size));
builtin["randomInt"] = (one: number, other?: number) =>
  other === undefined ? random.between(0, one - 1) : random.between(one, other - 1);
// Password hashes cost a tenth of a second, and come back from a thread. No rule of the simulation depends on them.
builtin["argon2"] = (algorithm: string, { message, nonce }: { message: string; nonce: Buffer }, done: Callback) =>
  process.nextTick(() =>
    done(null, crypto.createHash("sha256").update(algorithm).update(message).update(nonce).digest()),
  );

const realImmediate = globalThis.setImmediate;
globalThis.setImmediate = ((run: (...args: unknown[]) => void, ...args: unknown[]): unknown => {
  const simulated = runningProcess();
  if (!simulated) return realImmediate(run, ...args);
  simulated.world.plan(0, simulated, () => run(...args));
  return {};
}) as typeof setImmediate;

/** A timer of a simulated process. */
class SimulatedTimer {
  #cancel: () => void = () => {};
  readonly #start: () => () => void;

  constructor(start: () => () => void) {
    this.#start = start;
    this.refresh();
  }

  refresh(): this {
    this.#cancel();
    this.#cancel = this.#start();
    return this;
  }

  close(): this {
    this.#cancel();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

type Run = (...args: unknown[]) => void;
const real = { setTimeout, setInterval, clearTimeout, clearInterval, now: Date.now, sinceStart: performance.now };
globalThis.setTimeout = ((run: Run, delayMs = 0, ...args: unknown[]): unknown => {
  const simulated = runningProcess();
  if (!simulated) return real.setTimeout(run, delayMs, ...args);
  return new SimulatedTimer(() => simulated.world.plan(delayMs, simulated, () => run(...args)));
}) as typeof setTimeout;
globalThis.setInterval = ((run: Run, delayMs = 0, ...args: unknown[]): unknown => {
  const simulated = runningProcess();
  if (!simulated) return real.setInterval(run, delayMs, ...args);
  const timer = new SimulatedTimer(() =>
    simulated.world.plan(Math.max(1, delayMs), simulated, () => {
      timer.refresh();
      run(...args);
    }),
  );
  return timer;
}) as typeof setInterval;
const clear = (timer: unknown): void => {
  if (timer instanceof SimulatedTimer) timer.close();
  else real.clearTimeout(timer as NodeJS.Timeout);
};
globalThis.clearTimeout = clear;
globalThis.clearInterval = clear;
Date.now = () => runningProcess()?.clock.now() ?? real.now();
performance.now = () => runningProcess()?.clock.monotonic() ?? real.sinceStart.call(performance);

const realPause = timersPromises.setTimeout as (...args: unknown[]) => Promise<unknown>;
(timersPromises as { setTimeout: unknown }).setTimeout = (delayMs: number, ...rest: unknown[]): Promise<unknown> => {
  const simulated = runningProcess();
  if (!simulated) return realPause(delayMs, ...rest);
  return new Promise<void>((resolve) => void simulated.world.plan(delayMs, simulated, resolve));
};

// A process opens a file only to see whether it still can.
const realOpen = filesystem.open;
(filesystem as { open: unknown }).open = async (...args: Parameters<typeof realOpen>) =>
  runningProcess() ? { close: async () => undefined } : realOpen(...args);

syncBuiltinESMExports();
