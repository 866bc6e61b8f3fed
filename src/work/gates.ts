import type { Carrier } from "../carriers/carrier.ts";
import type { Clock } from "../lib/clock.ts";
import { Queue } from "../lib/queue.ts";
import { TokenBucket } from "../lib/token-bucket.ts";
import { ROUTE_CLASSES, type Message, type RouteClass } from "../model/message.ts";
import { Turns } from "./turns.ts";

interface Gate {
  /** As it was when somebody last asked for it. */
  carrier: Carrier;
  bucket: TokenBucket;
  /** Messages that have been let through and are not done with. */
  underWay: number;
  waiting: Map<RouteClass, Queue<Message>>;
  turns: Turns;
  isOpening: boolean;
}

interface Needs {
  clock: Clock;
  /** How many nodes share the contracted speed. */
  nodeCount(): number;
}

/** How soon to look again at a carrier that has no place left; a place that becomes free here is seen at once. */
const LOOK_AGAIN_MS = 100;

/**
 * Holds messages for a carrier that is at its contracted speed or has no place left, in memory and in the order of the lanes:
 * a password that comes last still goes first. What waits here counts towards the bounds of the lanes. Nothing is written
 * about a message before it has passed: one that waits was certainly not sent.
 */
export class Gates {
  readonly #needs: Needs;
  readonly #gates = new Map<string, Gate>();
  #onOpen: (message: Message, carrier: string) => void = () => {};

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Calls back with each message whose turn has come, and the carrier whose turn it is. */
  onOpen(run: (message: Message, carrier: string) => void): void {
    this.#onOpen = run;
  }

  sizeOf(routeClass: RouteClass): number {
    let size = 0;
    for (const { waiting } of this.#gates.values()) size += waiting.get(routeClass)?.length ?? 0;
    return size;
  }

  /** Whether the message may go now, and then it leaves when it is done; if not, it waits here. */
  admit(carrier: Carrier, message: Message): boolean {
    if (isWideOpen(carrier)) return true;
    const gate = this.#gateOf(carrier);
    if (isEmpty(gate) && this.#takesTurn(gate).taken) return true;
    gate.waiting.get(message.routeClass)?.push(message);
    this.#open(gate);
    return false;
  }

  /** Whether a message that cannot wait here may go now: then it has taken its turn. */
  passes(carrier: Carrier): boolean {
    if (isWideOpen(carrier)) return true;
    const gate = this.#gateOf(carrier);
    return isEmpty(gate) && this.#takesTurn(gate).taken;
  }

  /** A message that was admitted is done with its carrier, whatever became of it. */
  leave(name: string): void {
    const gate = this.#gates.get(name);
    if (!gate) return;
    gate.underWay = Math.max(0, gate.underWay - 1);
    this.#open(gate);
  }

  /** Forgets everything: the rows stay in the store and belong to whoever claims them. */
  clear(): void {
    for (const gate of this.#gates.values()) gate.waiting = emptyQueues();
  }

  #gateOf(carrier: Carrier): Gate {
    let gate = this.#gates.get(carrier.name);
    if (!gate) {
      const bucket = new TokenBucket(this.#rateOf(carrier), this.#needs.clock.now());
      gate = { carrier, bucket, underWay: 0, waiting: emptyQueues(), turns: new Turns(), isOpening: false };
      this.#gates.set(carrier.name, gate);
    }
    gate.carrier = carrier;
    return gate;
  }

  /** This node's share of the speed. */
  #rateOf({ messagesPerSecond }: Carrier): number {
    return messagesPerSecond === null ? Infinity : messagesPerSecond / Math.max(1, this.#needs.nodeCount());
  }

  /** A turn is a place that is free and a token of the speed. */
  #takesTurn(gate: Gate): { taken: boolean; waitMs: number } {
    const { carrier, bucket } = gate;
    if (gate.underWay >= (carrier.capacity ?? Infinity)) return { taken: false, waitMs: LOOK_AGAIN_MS };
    const now = this.#needs.clock.now();
    const rate = this.#rateOf(carrier);
    if (rate !== Infinity) {
      if (bucket.ratePerSecond !== rate) bucket.changeRate(rate, now);
      const turn = bucket.take(now);
      if (!turn.taken) return { taken: false, waitMs: Math.ceil(turn.waitMs) };
    }
    gate.underWay += 1;
    return { taken: true, waitMs: 0 };
  }

  /** Lets through whoever has a turn, and comes back when the next turn is due. */
  #open(gate: Gate): void {
    if (gate.isOpening) return;
    for (;;) {
      this.#letGoThrough(gate);
      if (isEmpty(gate)) return;
      const { taken, waitMs } = this.#takesTurn(gate);
      if (!taken) {
        gate.isOpening = true;
        this.#needs.clock.after(waitMs, () => {
          gate.isOpening = false;
          this.#open(gate);
        });
        return;
      }
      const message = nextOf(gate);
      if (message) this.#onOpen(message, gate.carrier.name);
    }
  }

  /** What is past its validity is only ended, and what waits for a carrier that is down goes elsewhere: neither takes a turn. */
  #letGoThrough(gate: Gate): void {
    const { carrier, waiting } = gate;
    const now = this.#needs.clock.now();
    const isLost = !carrier.isUp();
    for (const queue of waiting.values()) {
      for (let first = queue.peek(); first && (isLost || first.expiresAt <= now); first = queue.peek()) {
        queue.shift();
        gate.underWay += 1;
        this.#onOpen(first, carrier.name);
      }
    }
  }
}

const isWideOpen = ({ messagesPerSecond, capacity }: Carrier): boolean =>
  messagesPerSecond === null && capacity === undefined;

const emptyQueues = (): Gate["waiting"] =>
  new Map(ROUTE_CLASSES.map((routeClass) => [routeClass, new Queue<Message>()]));

const isEmpty = ({ waiting }: Gate): boolean => {
  for (const { length } of waiting.values()) if (length > 0) return false;
  return true;
};

function nextOf({ waiting, turns }: Gate): Message | undefined {
  for (const routeClass of turns.next()) {
    const message = waiting.get(routeClass)?.shift();
    if (message) return message;
  }
  return undefined;
}
