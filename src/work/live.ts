import { every, type Clock } from "../lib/clock.ts";
import { newId, timeOf } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { messageIdOf, type Channel, type MessageRef, type State } from "../model/message.ts";
import type { Acceptance, MovedMessage, Move, Store } from "../store/store.ts";
import type { Onlooker } from "./group-commit.ts";

/** What one follower is told within a second; of the rest, only how many there were. */
const PER_SECOND = 20;
const SECOND_MS = 1000;
/** What an account's last events are kept for: somebody whose line broke comes back and asks for them. */
const KEPT_MAX = 500;
const LINGER_MS = 60_000;
/** What other nodes did shows in the store: so many of the newest messages are looked at, once in a second. */
const LOOK_AT = 100;
const LOOK_BACK_MS = 600_000;
const TOLD_MAX = 5000;

/** A message that was accepted, or has come into another state. */
export interface LiveEvent {
  /** Ordered by time. */
  id: string;
  messageId: string;
  channel: Channel;
  state: State;
  recipient: string;
  at: number;
}

interface Follower {
  onEvent(event: LiveEvent): void;
  /** So many more happened, up to this id, than there was room to tell. */
  onMore(id: string, count: number): void;
}

interface Needs {
  store: Pick<Store, "listMessages">;
  /** How many nodes share the store. */
  membership: { readonly count: number };
  clock: Clock;
  log: Log;
}

type Happened = Omit<LiveEvent, "id">;

/** That a message is being handed over is true for a moment, and nobody's news. */
const isNews = (state: State): boolean => state !== "submitting";

/** Tells who looks on what happens to an account's messages. Where nobody looks on, it costs a look into a map. */
export class Live implements Onlooker {
  readonly #needs: Needs;
  readonly #rooms = new Map<number, Room>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  onAccepted({ message, recipients }: Acceptance): void {
    const room = this.#rooms.get(message.accountId);
    if (!room) return;
    const { requestId, channel, createdAt } = message;
    for (const [index, { number, failure, dueAt = message.dueAt }] of recipients.entries()) {
      const state = failure === null ? (dueAt > createdAt ? "scheduled" : "accepted") : "rejected";
      room.tell({
        messageId: messageIdOf({ requestId, n: index + 1 }),
        channel,
        state,
        recipient: number,
        at: createdAt,
      });
    }
  }

  onMoved(move: Move, { channel, recipient }: MovedMessage): void {
    const room = this.#rooms.get(move.accountId);
    // Back to waiting is a try that failed, and the next one tells more.
    if (!room || !isNews(move.to) || move.to === "accepted") return;
    room.tell(happened(move, move.to, { channel, recipient }, this.#needs.clock.now()));
  }

  /** Begins with what came after `after`, if it is given. The returned function ends it. */
  async follow(accountId: number, after: string | null, follower: Follower): Promise<() => void> {
    let room = this.#rooms.get(accountId);
    if (!room) {
      room = new Room(this.#needs, accountId, () => this.#rooms.delete(accountId));
      this.#rooms.set(accountId, room);
    }
    return room.enter(follower, after);
  }
}

const happened = (
  ref: Pick<MessageRef, "requestId" | "n">,
  state: State,
  { channel, recipient }: Pick<LiveEvent, "channel" | "recipient">,
  at: number,
): Happened => ({ messageId: messageIdOf(ref), channel, state, recipient, at });

/** What an account's followers share. */
class Room {
  readonly #needs: Needs;
  readonly #accountId: number;
  readonly #pens = new Set<Pen>();
  readonly #openedAt: number;
  #recent: LiveEvent[] = [];
  /** The states of each message that were told, so that what the store shows again is not told again. */
  readonly #told = new Map<string, Set<State>>();
  readonly #looking: { stop(): Promise<void> };
  readonly #onEmpty: () => void;
  #looked = false;
  #callOff: () => void = () => {};

  constructor(needs: Needs, accountId: number, onEmpty: () => void) {
    this.#needs = needs;
    this.#accountId = accountId;
    this.#openedAt = needs.clock.now();
    this.#onEmpty = onEmpty;
    this.#looking = every(needs.clock, SECOND_MS, () => this.#look());
  }

  async enter(follower: Follower, after: string | null): Promise<() => void> {
    this.#callOff();
    const pen = new Pen(this.#needs.clock, follower);
    // From now on: what happens while the past is being read comes after it.
    this.#pens.add(pen);
    const leave = (): void => {
      pen.close();
      this.#pens.delete(pen);
      if (this.#pens.size === 0) this.#callOff = this.#needs.clock.after(LINGER_MS, () => this.#close());
    };
    try {
      pen.open(after === null ? [] : await this.#since(after));
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  tell(news: Happened): void {
    if (!this.#remember(news.messageId, news.state)) return;
    const event = { id: newId(this.#needs.clock.now()), ...news };
    this.#recent.push(event);
    if (this.#recent.length > 2 * KEPT_MAX) this.#recent = this.#recent.slice(-KEPT_MAX);
    for (const pen of this.#pens) pen.write(event);
  }

  /** False when this was told before. */
  #remember(messageId: string, state: State): boolean {
    const states = this.#told.get(messageId) ?? new Set();
    if (states.has(state)) return false;
    states.add(state);
    this.#told.delete(messageId);
    this.#told.set(messageId, states);
    const [oldest] = this.#told.keys();
    if (this.#told.size > TOLD_MAX && oldest !== undefined) this.#told.delete(oldest);
    return true;
  }

  /** What happened after an event: all of it where it is remembered here, else the newest messages as they are now. */
  async #since(after: string): Promise<LiveEvent[]> {
    const [first] = this.#recent;
    if (timeOf(after) >= this.#openedAt && (!first || this.#recent.length < KEPT_MAX || first.id <= after))
      return this.#recent.filter(({ id }) => id > after);
    const { store, clock } = this.#needs;
    const { rows } = await store.listMessages(this.#accountId, { from: timeOf(after) }, null, PER_SECOND);
    return rows.toReversed().map((message) => ({
      id: newId(clock.now()),
      ...happened(message, message.state, message, message.doneAt ?? message.submittedAt ?? message.createdAt),
    }));
  }

  /** Tells what other nodes did. At its first look it only learns what there is. */
  async #look(): Promise<void> {
    const { store, membership, clock, log } = this.#needs;
    if (membership.count < 2) return;
    try {
      const from = clock.now() - LOOK_BACK_MS;
      const { rows } = await store.listMessages(this.#accountId, { from }, null, LOOK_AT);
      for (const message of rows.toReversed()) {
        if (!isNews(message.state)) continue;
        if (this.#looked) this.tell(happened(message, message.state, message, clock.now()));
        else this.#remember(messageIdOf(message), message.state);
      }
      this.#looked = true;
    } catch (error) {
      log.debug({ err: error }, "what other nodes did could not be read");
    }
  }

  #close(): void {
    void this.#looking.stop();
    this.#onEmpty();
  }
}

/** Writes to one follower no faster than somebody can read. */
class Pen {
  readonly #clock: Clock;
  readonly #follower: Follower;
  #waiting: LiveEvent[] | null = [];
  #written = 0;
  #more = 0;
  #lastId = "";
  #callOff: (() => void) | null = null;

  constructor(clock: Clock, follower: Follower) {
    this.#clock = clock;
    this.#follower = follower;
  }

  /** Begins with what was missed; until then everything waits. */
  open(missed: readonly LiveEvent[]): void {
    const known = new Set(missed.map(({ id }) => id));
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const event of [...missed, ...waiting.filter(({ id }) => !known.has(id))]) this.write(event);
  }

  write(event: LiveEvent): void {
    if (this.#waiting) {
      this.#waiting.push(event);
      return;
    }
    this.#callOff ??= this.#clock.after(SECOND_MS, () => this.#endSecond());
    if (this.#written < PER_SECOND) {
      this.#written += 1;
      this.#follower.onEvent(event);
      return;
    }
    this.#more += 1;
    this.#lastId = event.id;
  }

  #endSecond(): void {
    this.#callOff = null;
    if (this.#more > 0) this.#follower.onMore(this.#lastId, this.#more);
    this.#written = 0;
    this.#more = 0;
  }

  close(): void {
    this.#callOff?.();
  }
}
