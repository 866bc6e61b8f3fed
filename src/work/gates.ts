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
  /** The next look, and whether a place that becomes free would be reason enough for an earlier one. */
  nextLook: { cancel(): void; isForPlace: boolean } | null;
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
    if (this.#goesAtOnce(gate, message)) return true;
    gate.waiting.get(message.routeClass)?.push(message);
    this.#open(gate);
    return false;
  }

  /** Whether a message that cannot wait here may go now: then it has taken its turn. */
  passes(carrier: Carrier, message: Message): boolean {
    if (isWideOpen(carrier)) return true;
    const gate = this.#gateOf(carrier);
    return this.#goesAtOnce(gate, message);
  }

  /** A message that was admitted did not go after all: its turn is another's. */
  turnBack(name: string, { segments }: Message): void {
    const gate = this.#gates.get(name);
    if (gate && gate.carrier.messagesPerSecond !== null)
      gate.bucket.giveBack(this.#needs.clock.now(), Math.max(1, segments));
    this.leave(name);
  }

  /** A message that was admitted is done with its carrier, whatever became of it. */
  leave(name: string): void {
    const gate = this.#gates.get(name);
    if (!gate) return;
    gate.underWay = Math.max(0, gate.underWay - 1);
    if (gate.nextLook?.isForPlace) {
      gate.nextLook.cancel();
      gate.nextLook = null;
    }
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
      gate = { carrier, bucket, underWay: 0, waiting: emptyQueues(), turns: new Turns(), nextLook: null };
      this.#gates.set(carrier.name, gate);
    }
    gate.carrier = carrier;
    return gate;
  }

  /** This node's share of the speed. */
  #rateOf({ messagesPerSecond, share }: Carrier): number {
    return messagesPerSecond === null
      ? Infinity
      : messagesPerSecond * (share ?? 1 / Math.max(1, this.#needs.nodeCount()));
  }

  /** How long until there is a place and a token; nothing where there are both now. */
  #wait({ carrier, bucket, underWay }: Gate, rate: number): { ms: number; isForPlace: boolean } | null {
    if (underWay >= (carrier.capacity ?? Infinity)) return { ms: LOOK_AGAIN_MS, isForPlace: true };
    if (rate === Infinity) return null;
    const now = this.#needs.clock.now();
    if (bucket.ratePerSecond !== rate) bucket.changeRate(rate, now);
    const ms = Math.ceil(bucket.waitMs(now));
    return ms === 0 ? null : { ms, isForPlace: false };
  }

  /** A turn is a place, and a token of the speed for every part. */
  #takeTurn(gate: Gate, { segments }: Message, rate: number): void {
    gate.underWay += 1;
    if (rate !== Infinity) gate.bucket.take(this.#needs.clock.now(), Math.max(1, segments));
  }

  /** Whether a message that nobody waits before has a turn now; then it has taken it. */
  #goesAtOnce(gate: Gate, message: Message): boolean {
    if (!isEmpty(gate)) return false;
    const rate = this.#rateOf(gate.carrier);
    if (this.#wait(gate, rate)) return false;
    this.#takeTurn(gate, message, rate);
    return true;
  }

  /** Lets through whoever has a turn, and comes back when the next turn is due. */
  #open(gate: Gate): void {
    if (gate.nextLook || isEmpty(gate)) return;
    for (;;) {
      this.#letGoThrough(gate);
      if (isEmpty(gate)) return;
      const rate = this.#rateOf(gate.carrier);
      const wait = this.#wait(gate, rate);
      if (wait) {
        const cancel = this.#needs.clock.after(wait.ms, () => {
          gate.nextLook = null;
          this.#open(gate);
        });
        gate.nextLook = { cancel, isForPlace: wait.isForPlace };
        return;
      }
      const message = nextOf(gate);
      if (!message) return;
      this.#takeTurn(gate, message, rate);
      this.#onOpen(message, gate.carrier.name);
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

// The capacity first: to say the speed of a line is more work.
const isWideOpen = (carrier: Carrier): boolean => carrier.capacity === undefined && carrier.messagesPerSecond === null;

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
