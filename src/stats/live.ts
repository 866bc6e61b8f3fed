import { every, type Clock } from "../lib/clock.ts";
import { newId, timeOf } from "../lib/ids.ts";
import type { InboundMessage } from "../model/inbound.ts";
import type { Log } from "../lib/log.ts";
import { messageIdOf, parseMessageId, type Channel, type MessageRef, type State } from "../model/message.ts";
import type { Acceptance, Store } from "../store/store.ts";
import { targetState, type ChangedMessage, type Transition } from "../store/transition.ts";
import type { Observer } from "../pipeline/group-commit.ts";

/** Events per second and account. Further events are only counted. */
const PER_SECOND = 20;
const SECOND_MS = 1000;
/** Pause before followers hear of inbound messages, so that many make one event. */
const RECEIVED_MS = 300;
/** Recent events kept per account, for followers that reconnect and ask for the events they missed. */
const KEPT_MAX = 500;
const LINGER_MS = 60_000;
/** Events of other nodes are read from the store: once a second, from the newest 100 messages. */
const LOOK_AT = 100;
const LOOK_BACK_MS = 600_000;
const PUBLISHED_MAX = 5000;

/** A message that was accepted or changed its state. */
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
  /** All followers get the same object, so that its text can be shared. */
  onEvent(event: LiveEvent): void;
  /** Further events happened, up to this one, that are not sent. */
  onMore(more: OmittedEvents): void;
  /** Users have sent something since the last call; at most once a second. */
  onReceived(): void;
}

export interface OmittedEvents {
  id: string;
  count: number;
}

/** The messages that a follower receives. */
interface Followed {
  accountId: number;
  /** Only messages of test keys. */
  testOnly: boolean;
}

interface LiveDeps {
  store: Pick<Store, "listInbound" | "listMessages" | "testRequestsAmong">;
  /** Number of nodes that share the store. */
  membership: { readonly count: number };
  clock: Clock;
  log: Log;
}

type Happened = Omit<LiveEvent, "id">;

/** The state `submitting` lasts only a moment, so followers do not see it. */
const isNews = (state: State): boolean => state !== "submitting";

/** Streams the state changes of an account's messages to its followers. Without followers a change costs one map lookup. */
export class Live implements Observer {
  readonly #deps: LiveDeps;
  readonly #rooms = new Map<number, Room>();

  constructor(deps: LiveDeps) {
    this.#deps = deps;
  }

  onAccepted({ message, recipients }: Acceptance): void {
    const room = this.#rooms.get(message.accountId);
    if (!room) return;
    const { requestId, channel, createdAt } = message;
    for (const [index, { number, failure, dueAt = message.dueAt }] of recipients.entries()) {
      const state = failure === null ? (dueAt > createdAt ? "scheduled" : "accepted") : "rejected";
      room.publish({
        messageId: messageIdOf({ requestId, n: index + 1 }),
        channel,
        state,
        recipient: number,
        at: createdAt,
      });
    }
  }

  onMoved(transition: Transition, { channel, recipient }: ChangedMessage): void {
    const room = this.#rooms.get(transition.accountId);
    const to = room && targetState(transition);
    // Back to accepted means that an attempt failed; the next one is more informative.
    if (!room || !to || !isNews(to) || to === "accepted") return;
    room.publish(happened(transition, to, { channel, recipient }, this.#deps.clock.now()));
  }

  onInbound(inbound: InboundMessage): void {
    this.#rooms.get(inbound.accountId)?.noteReceived(inbound);
  }

  /** Begins with the events after `after`, if given. The returned function ends the stream. */
  async follow({ accountId, testOnly }: Followed, after: string | null, follower: Follower): Promise<() => void> {
    let room = this.#rooms.get(accountId);
    if (!room) {
      room = new Room(this.#deps, accountId, () => this.#rooms.delete(accountId));
      this.#rooms.set(accountId, room);
    }
    return room.enter(follower, after, testOnly);
  }
}

const happened = (
  ref: Pick<MessageRef, "requestId" | "n">,
  state: State,
  { channel, recipient }: Pick<LiveEvent, "channel" | "recipient">,
  at: number,
): Happened => ({ messageId: messageIdOf(ref), channel, state, recipient, at });

/** State that the followers of one account share. */
class Room {
  readonly #deps: LiveDeps;
  readonly #accountId: number;
  readonly #all: Feed;
  readonly #testsOnly: Feed;
  readonly #received: { all: Received; testsOnly: Received };
  /** The newest inbound message that this node knows of: those of other nodes are read from the store. */
  #lastInbound = "";
  readonly #openedAt: number;
  #recent: LiveEvent[] = [];
  /** States of each message that were published, so that those read again from the store are skipped. */
  readonly #published = new Map<string, Set<State>>();
  readonly #looking: { stop(): Promise<void> };
  readonly #onEmpty: () => void;
  #looked = false;
  #callOff: () => void = () => {};

  constructor(deps: LiveDeps, accountId: number, onEmpty: () => void) {
    this.#deps = deps;
    this.#accountId = accountId;
    this.#all = new Feed(deps.clock, null);
    this.#testsOnly = new Feed(deps.clock, (events) => this.#testsAmong(events));
    this.#received = { all: new Received(deps.clock), testsOnly: new Received(deps.clock) };
    this.#openedAt = deps.clock.now();
    this.#onEmpty = onEmpty;
    this.#looking = every(deps.clock, SECOND_MS, () => this.#look());
  }

  async enter(follower: Follower, after: string | null, testOnly: boolean): Promise<() => void> {
    this.#callOff();
    const feed = testOnly ? this.#testsOnly : this.#all;
    // Joined before the missed events are read, so that later ones follow them.
    const member = feed.join(follower, this.#recent.at(-1)?.id ?? "");
    const received = testOnly ? this.#received.testsOnly : this.#received.all;
    received.followers.add(follower);
    const leave = (): void => {
      feed.leave(member);
      received.followers.delete(follower);
      if (this.#all.isEmpty && this.#testsOnly.isEmpty)
        this.#callOff = this.#deps.clock.after(LINGER_MS, () => this.#close());
    };
    try {
      await feed.begin(member, after === null ? [] : await this.#since(after, testOnly));
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  publish(news: Happened): void {
    if (!this.#remember(news.messageId, news.state)) return;
    const event = { id: newId(this.#deps.clock.now()), ...news };
    this.#recent.push(event);
    if (this.#recent.length > 2 * KEPT_MAX) this.#recent = this.#recent.slice(-KEPT_MAX);
    this.#all.write(event);
    this.#testsOnly.write(event);
  }

  noteReceived({ id, test }: Pick<InboundMessage, "id" | "test">): void {
    if (id > this.#lastInbound) this.#lastInbound = id;
    this.#received.all.note();
    if (test) this.#received.testsOnly.note();
  }

  /** False if this state was published before. */
  #remember(messageId: string, state: State): boolean {
    const states = this.#published.get(messageId) ?? new Set();
    if (states.has(state)) return false;
    states.add(state);
    this.#published.delete(messageId);
    this.#published.set(messageId, states);
    const [oldest] = this.#published.keys();
    if (this.#published.size > PUBLISHED_MAX && oldest !== undefined) this.#published.delete(oldest);
    return true;
  }

  /** Events after the given one, if they are still in memory; otherwise the newest messages in their present state. */
  async #since(after: string, testOnly: boolean): Promise<LiveEvent[]> {
    const [first] = this.#recent;
    if (timeOf(after) >= this.#openedAt && (!first || this.#recent.length < KEPT_MAX || first.id <= after))
      return this.#recent.filter(({ id }) => id > after);
    const { store, clock } = this.#deps;
    const filter = { from: timeOf(after), ...(testOnly && { test: true as const }) };
    const { rows } = await store.listMessages(this.#accountId, filter, null, PER_SECOND);
    return rows.toReversed().map((message) => ({
      id: newId(clock.now()),
      ...happened(message, message.state, message, message.doneAt ?? message.submittedAt ?? message.createdAt),
    }));
  }

  /** A transition does not contain the mode of its message, so the few followers with a test key look it up. */
  async #testsAmong(events: readonly LiveEvent[]): Promise<readonly LiveEvent[]> {
    const requestOf = ({ messageId }: LiveEvent): string => parseMessageId(messageId)?.requestId ?? "";
    const own = await this.#deps.store.testRequestsAmong(this.#accountId, events.map(requestOf));
    return events.filter((event) => own.has(requestOf(event)));
  }

  /** Publishes changes by other nodes. The first read only records the present states. */
  async #look(): Promise<void> {
    const { store, membership, clock, log } = this.#deps;
    if (membership.count < 2) return;
    try {
      const from = clock.now() - LOOK_BACK_MS;
      const { rows } = await store.listMessages(this.#accountId, { from }, null, LOOK_AT);
      for (const message of rows.toReversed()) {
        if (!isNews(message.state)) continue;
        if (this.#looked) this.publish(happened(message, message.state, message, clock.now()));
        else this.#remember(messageIdOf(message), message.state);
      }
      const { rows: inbound } = await store.listInbound(this.#accountId, { since: from }, null, 1);
      for (const message of inbound) if (message.id > this.#lastInbound) this.noteReceived(message);
      this.#looked = true;
    } catch (error) {
      log.debug({ err: error }, "live stream could not read changes of other nodes");
    }
  }

  #close(): void {
    void this.#looking.stop();
    this.#onEmpty();
  }
}

/** Calls followers once for all that users send within a second. */
class Received {
  readonly followers = new Set<Follower>();
  readonly #clock: Clock;
  #isDue = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(): void {
    if (this.#isDue || this.followers.size === 0) return;
    this.#isDue = true;
    this.#clock.after(RECEIVED_MS, () => {
      this.#isDue = false;
      for (const follower of this.followers) follower.onReceived();
    });
  }
}

type Filter = (events: readonly LiveEvent[]) => Promise<readonly LiveEvent[]>;

interface Member {
  readonly follower: Follower;
  /** Id of the newest event when it joined. Earlier ones that are still being filtered are among its missed events. */
  readonly since: string;
  /** Events that arrive while the missed ones are read; null once those are sent. */
  waiting: (() => void)[] | null;
  /** Events that were omitted in the current second before it joined: it has read them as missed ones. */
  omittedBefore: number;
}

/** Sends the same events to all followers with the same view, at most `PER_SECOND` per second. One timer serves them all. */
class Feed {
  readonly #clock: Clock;
  readonly #filter: Filter | null;
  readonly #members = new Set<Member>();
  #unfiltered: LiveEvent[] = [];
  #filtering = false;
  #sent = 0;
  #omitted = 0;
  #lastId = "";
  #inSecond = false;

  constructor(clock: Clock, filter: Filter | null) {
    this.#clock = clock;
    this.#filter = filter;
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  join(follower: Follower, since: string): Member {
    const member: Member = { follower, since, waiting: [], omittedBefore: this.#omitted };
    this.#members.add(member);
    return member;
  }

  leave(member: Member): void {
    this.#members.delete(member);
  }

  /** Sends the missed events, as many as in one second, then what has happened since the follower joined. */
  async begin(member: Member, missed: readonly LiveEvent[]): Promise<void> {
    const visible = this.#filter && missed.length > 0 ? await this.#filter(missed) : missed;
    const { follower } = member;
    const waiting = member.waiting ?? [];
    member.waiting = null;
    if (!this.#members.has(member)) return;
    for (const event of visible.slice(0, PER_SECOND)) follower.onEvent(event);
    const count = visible.length - PER_SECOND;
    const last = visible.at(-1);
    if (last && count > 0) follower.onMore({ id: last.id, count });
    for (const send of waiting) send();
  }

  write(event: LiveEvent): void {
    if (this.isEmpty) return;
    if (!this.#filter) return this.#show(event);
    this.#unfiltered.push(event);
    if (!this.#filtering) void this.#showFiltered(this.#filter);
  }

  /** Keeps the order: events that arrive during a lookup form the next batch. If the lookup fails, its events are dropped. */
  async #showFiltered(filter: Filter): Promise<void> {
    this.#filtering = true;
    while (this.#unfiltered.length > 0) {
      const events = this.#unfiltered.splice(0);
      for (const event of await filter(events).catch(() => [])) this.#show(event);
    }
    this.#filtering = false;
  }

  #show(event: LiveEvent): void {
    if (!this.#inSecond) {
      this.#inSecond = true;
      this.#clock.after(SECOND_MS, () => this.#endSecond());
    }
    if (this.#sent >= PER_SECOND) {
      this.#omitted += 1;
      this.#lastId = event.id;
      return;
    }
    this.#sent += 1;
    for (const member of this.#members) {
      if (event.id <= member.since) continue;
      if (member.waiting) member.waiting.push(() => member.follower.onEvent(event));
      else member.follower.onEvent(event);
    }
  }

  #endSecond(): void {
    const more = { id: this.#lastId, count: this.#omitted };
    this.#inSecond = false;
    this.#sent = 0;
    this.#omitted = 0;
    for (const member of this.#members) {
      const { omittedBefore } = member;
      member.omittedBefore = 0;
      const own = omittedBefore === 0 ? more : { ...more, count: more.count - omittedBefore };
      if (own.count <= 0) continue;
      if (member.waiting) member.waiting.push(() => member.follower.onMore(own));
      else member.follower.onMore(own);
    }
  }
}
