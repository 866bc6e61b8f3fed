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
  #onOpen: (message: Message) => void = () => {};

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Calls back with each message whose turn has come. */
  onOpen(run: (message: Message) => void): void {
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
    this.#open(gate);
    return false;
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
  #open(gate: Gate): void {
    if (gate.isOpening) return;
    while (!isEmpty(gate)) {
      const turn = gate.bucket.take(this.#needs.clock.now());
      if (!turn.taken) {
        gate.isOpening = true;
        this.#needs.clock.after(Math.ceil(turn.waitMs), () => {
          gate.isOpening = false;
          this.#open(gate);
        });
        return;
      }
      const message = nextOf(gate);
      if (message) this.#onOpen(message);
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
