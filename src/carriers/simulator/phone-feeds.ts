import { idFloor } from "../../lib/ids.ts";
import type { PhoneMessage } from "../../model/phone.ts";
import { nextArrival, type WaitDeps } from "./wait.ts";

/** Poll interval: messages received by another node are visible only in the store. */
const POLL_MS = 500;
/** Ids are ordered by time but not by commit, so a feed reads this far back for late commits. */
const LOOK_BACK_MS = 5000;
const PAGE = 500;

interface Followed {
  accountId: number;
  /** Only messages sent with test keys. */
  testOnly: boolean;
}

interface Follower {
  /** All followers get the same objects, so that their text can be shared. */
  onMessages(messages: readonly PhoneMessage[]): void;
  /** The store failed, and no further messages come. */
  onFailure(): void;
}

/** Streams the messages that reach the phones of an account, through any node. Streams with the same view share one poll. */
export class PhoneFeeds {
  readonly #deps: WaitDeps;
  readonly #feeds = new Map<string, Feed>();

  constructor(deps: WaitDeps) {
    this.#deps = deps;
  }

  /** Sends every message once, beginning after `after` if given. The returned function ends it. */
  follow(followed: Followed, after: string | null, follower: Follower): () => void {
    const name = `${followed.accountId} ${followed.testOnly}`;
    let feed = this.#feeds.get(name);
    if (!feed) {
      const opened = new Feed(this.#deps, followed, () => {
        if (this.#feeds.get(name) === opened) this.#feeds.delete(name);
      });
      this.#feeds.set(name, opened);
      feed = opened;
    }
    return feed.join(after, follower);
  }
}

class Member {
  readonly #follower: Follower;
  readonly #firstId: string;
  /** The feed brings only messages from here on. */
  readonly #feedFromId: string;
  /** Messages that arrive while the missed ones are read; null once those are sent. */
  #waiting: PhoneMessage[] | null = [];
  /** Missed messages that the feed may bring too. */
  readonly #sent = new Set<string>();

  constructor(follower: Follower, firstId: string, feedFromId: string) {
    this.#follower = follower;
    this.#firstId = firstId;
    this.#feedFromId = feedFromId;
  }

  addMissed(missed: readonly PhoneMessage[]): void {
    for (const { id } of missed) if (id >= this.#feedFromId) this.#sent.add(id);
    if (missed.length > 0) this.#follower.onMessages(missed);
  }

  begin(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    this.add(waiting);
  }

  add(messages: readonly PhoneMessage[]): void {
    if (this.#waiting) return void this.#waiting.push(...messages);
    const own = messages.filter(({ id }) => id > this.#firstId && !this.#sent.delete(id));
    if (own.length > 0) this.#follower.onMessages(own);
  }

  fail(): void {
    this.#follower.onFailure();
  }
}

class Feed {
  readonly #deps: WaitDeps;
  readonly #followed: Followed;
  readonly #onEnd: () => void;
  readonly #members = new Set<Member>();
  #arrival: ReturnType<typeof nextArrival>;
  #fromId: string;

  constructor(deps: WaitDeps, followed: Followed, onEnd: () => void) {
    this.#deps = deps;
    this.#followed = followed;
    this.#onEnd = onEnd;
    this.#fromId = idFloor(deps.clock.now() - LOOK_BACK_MS);
    this.#arrival = nextArrival(deps, followed.accountId, 0);
    this.#run().catch(() => this.#fail());
  }

  join(after: string | null, follower: Follower): () => void {
    const member = new Member(follower, after ?? idFloor(this.#deps.clock.now()), this.#fromId);
    // Joined before the missed messages are read, so that no message falls between them and the next ones.
    this.#members.add(member);
    if (after === null) member.begin();
    else
      this.#sendMissed(member, after).catch(() => {
        if (this.#members.has(member)) member.fail();
        this.#leave(member);
      });
    return () => this.#leave(member);
  }

  #leave(member: Member): void {
    if (!this.#members.delete(member) || this.#members.size > 0) return;
    this.#onEnd();
    this.#arrival.cancel();
  }

  #read(fromId: string): Promise<PhoneMessage[]> {
    const { accountId, testOnly } = this.#followed;
    return this.#deps.store.phoneMessagesSince(accountId, fromId, PAGE, { testOnly });
  }

  async #sendMissed(member: Member, after: string): Promise<void> {
    for (let fromId: string | null = after; fromId !== null && this.#members.has(member);) {
      const messages: PhoneMessage[] = await this.#read(fromId);
      // The first of a page is the last of the page before it.
      member.addMissed(messages.filter(({ id }) => id !== fromId));
      fromId = messages.length === PAGE ? (messages.at(-1)?.id ?? null) : null;
    }
    if (this.#members.has(member)) member.begin();
  }

  async #run(): Promise<void> {
    const { clock } = this.#deps;
    const seen = new Set<string>();
    await this.#arrival.happened;
    while (this.#members.size > 0) {
      this.#arrival = nextArrival(this.#deps, this.#followed.accountId, POLL_MS);
      const floor = idFloor(clock.now() - LOOK_BACK_MS);
      const messages = await this.#read(this.#fromId);
      const fresh = messages.filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) seen.add(id);
      if (fresh.length > 0) for (const member of this.#members) member.add(fresh);
      const last = messages.at(-1);
      if (last && messages.length === PAGE) {
        // Continue at once with the next page.
        this.#fromId = last.id;
        this.#arrival.cancel();
      } else if (floor > this.#fromId) this.#fromId = floor;
      for (const id of seen) if (id < this.#fromId) seen.delete(id);
      if (this.#members.size === 0) this.#arrival.cancel();
      await this.#arrival.happened;
    }
  }

  #fail(): void {
    this.#onEnd();
    this.#arrival.cancel();
    const members = [...this.#members];
    this.#members.clear();
    for (const member of members) member.fail();
  }
}
