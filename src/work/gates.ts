import type { Carrier } from "../carriers/carrier.ts";
import type { Clock } from "../lib/clock.ts";
import { Queue } from "../lib/queue.ts";
import { TokenBucket } from "../lib/token-bucket.ts";
import { ROUTE_CLASSES, type Message, type RouteClass } from "../model/message.ts";
import { Turns } from "./turns.ts";

interface Gate {
  bucket: TokenBucket;
  waiting: Map<RouteClass, Queue<Message>>;
  turns: Turns;
  isOpening: boolean;
}

interface Needs {
  clock: Clock;
  /** How many nodes share the contracted speed. */
  nodeCount(): number;
}

/**
 * Holds messages for a carrier that is at its contracted speed, in memory and in the order of the lanes: a password that comes
 * last still goes first. What waits here counts towards the bounds of the lanes.
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

  /** Whether the message may go now; if not, it waits here. */
  admit({ name, messagesPerSecond }: Carrier, message: Message): boolean {
    if (messagesPerSecond === null) return true;
    const gate = this.#gateOf(name, messagesPerSecond);
    if (isEmpty(gate) && gate.bucket.take(this.#needs.clock.now()).taken) return true;
    gate.waiting.get(message.routeClass)?.push(message);
    this.#open(name, gate);
    return false;
  }

  /** Whether a message that cannot wait here may go now: then it has taken its turn. */
  passes({ name, messagesPerSecond }: Carrier): boolean {
    if (messagesPerSecond === null) return true;
    const gate = this.#gateOf(name, messagesPerSecond);
    return isEmpty(gate) && gate.bucket.take(this.#needs.clock.now()).taken;
  }

  /** Forgets everything: the rows stay in the store and belong to whoever claims them. */
  clear(): void {
    for (const gate of this.#gates.values()) gate.waiting = emptyQueues();
  }

  #gateOf(name: string, messagesPerSecond: number): Gate {
    const rate = messagesPerSecond / Math.max(1, this.#needs.nodeCount());
    let gate = this.#gates.get(name);
    if (!gate) {
      const bucket = new TokenBucket(rate, this.#needs.clock.now());
      gate = { bucket, waiting: emptyQueues(), turns: new Turns(), isOpening: false };
      this.#gates.set(name, gate);
    }
    if (gate.bucket.ratePerSecond !== rate) gate.bucket = new TokenBucket(rate, this.#needs.clock.now());
    return gate;
  }

  /** Lets through whoever has a turn, and comes back when the next turn is due. */
  #open(name: string, gate: Gate): void {
    if (gate.isOpening) return;
    for (;;) {
      this.#letExpiredThrough(name, gate);
      if (isEmpty(gate)) return;
      const turn = gate.bucket.take(this.#needs.clock.now());
      if (!turn.taken) {
        gate.isOpening = true;
        this.#needs.clock.after(Math.ceil(turn.waitMs), () => {
          gate.isOpening = false;
          this.#open(name, gate);
        });
        return;
      }
      const message = nextOf(gate);
      if (message) this.#onOpen(message, name);
    }
  }

  /** What is past its validity is only ended, which takes no turn of the carrier's. */
  #letExpiredThrough(name: string, { waiting }: Gate): void {
    const now = this.#needs.clock.now();
    for (const queue of waiting.values()) {
      for (let first = queue.peek(); first && first.expiresAt <= now; first = queue.peek()) {
        queue.shift();
        this.#onOpen(first, name);
      }
    }
  }
}

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
