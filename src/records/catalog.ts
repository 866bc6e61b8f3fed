import { coalesce } from "../lib/coalesce.ts";
import type { Clock } from "../lib/clock.ts";
import { derivedId, newId } from "../lib/ids.ts";
import { SIMULATOR, type CatalogContents, type CatalogKind, type CatalogRecord } from "../model/catalog.ts";
import type { Channel } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { CatalogStore, SetUpChange } from "../store/catalog.ts";
import type { RecordStore } from "../store/records.ts";
import { connectionType } from "./types/connections.ts";

interface CatalogDeps {
  store: CatalogStore & Pick<RecordStore, "revision">;
  clock: Clock;
  /** False if this process is the only one, which knows of every change at once. */
  isShared?: boolean;
}

/** Limits learned records per account, so that a faulty client cannot exhaust memory. */
const LEARNED_MAX = 10_000;

/**
 * A campaign must be known to be paused or cancelled, so new names beyond this limit are refused. All records are in
 * memory on every node, about 600 bytes each.
 */
const CAMPAIGNS_MAX = 100_000;

/** New campaigns are written at once for the other nodes, at most this often; a job writes the rest. */
const SAVE_PAUSE_MS = 2000;

/**
 * Retries of an optimistic change. Under load new names are learned about once a second, each of which makes a revision
 * outdated; ten in a row do not occur in practice.
 */
const TRIES_MAX = 10;

/**
 * Messages accepted this long after the removal of a carrier may come from a node that did not know of it: nodes learn of
 * it within five seconds, and their clocks may differ by 25.
 */
const REMOVAL_UNKNOWN_MS = 30_000;

const learnedKey = ({ accountId, kind, name }: Pick<CatalogRecord, "accountId" | "kind" | "name">): string =>
  `${accountId} ${kind} ${name}`;

/**
 * Kinds with derived ids. Others have random ids, so that a new webhook does not inherit the callbacks of a deleted one
 * of the same name.
 */
const LEARNED_KINDS: ReadonlySet<CatalogKind> = new Set<CatalogKind>([
  "template",
  "chatTemplate",
  "rcsTemplate",
  "bot",
  "number",
  "sender",
  "campaign",
  "verifyConfig",
]);

const idKey = ({ kind, id }: Pick<CatalogRecord, "kind" | "id">): string => `${kind} ${id}`;

/** Records of one kind by name. */
type Named<K extends CatalogKind> = Map<string, CatalogRecord<K>>;

export type EndpointRecord = CatalogRecord<"webhook"> | CatalogRecord<"dlrConfig">;

/** Records of one account, indexed for sending. */
export class AccountCatalog {
  readonly #kinds: { [K in CatalogKind]: Named<K> } = {
    template: new Map(),
    chatTemplate: new Map(),
    rcsTemplate: new Map(),
    bot: new Map(),
    number: new Map(),
    sender: new Map(),
    carrier: new Map(),
    route: new Map(),
    price: new Map(),
    campaign: new Map(),
    formerChannel: new Map(),
    webhook: new Map(),
    dlrConfig: new Map(),
    verifyConfig: new Map(),
    verifyRule: new Map(),
    alertRule: new Map(),
    segment: new Map(),
    cannedReply: new Map(),
  };
  readonly #byId = new Map<string, CatalogRecord>();
  #routes: readonly CatalogRecord<"route">[] | null = null;
  /** Routes of live messages that await a real carrier, and of those that do not. */
  readonly #realRoutes = new Map<Channel, readonly CatalogRecord<"route">[]>();
  readonly #anyRoutes = new Map<Channel, readonly CatalogRecord<"route">[]>();
  #realChannels: ReadonlySet<Channel> | null = null;
  #prices: readonly CatalogRecord<"price">[] | null = null;
  #endpoints: readonly EndpointRecord[] | null = null;
  #endpointsById: ReadonlyMap<string, EndpointRecord> | null = null;
  readonly #removalUnknownMs: number;

  constructor(removalUnknownMs = REMOVAL_UNKNOWN_MS) {
    this.#removalUnknownMs = removalUnknownMs;
  }

  named<K extends CatalogKind>(kind: K): Named<K> {
    return this.#kinds[kind];
  }

  find<K extends CatalogKind>(kind: K, id: string): CatalogRecord<K> | null {
    return (this.#byId.get(idKey({ kind, id })) as CatalogRecord<K> | undefined) ?? null;
  }

  /**
   * Id of a new record. Learned names have derived ids, so that nodes that learn or create the same name concurrently
   * agree without asking the store. A renamed record keeps its id; its old name then gets the next derived id.
   */
  newIdFor({ accountId, kind, name }: Pick<CatalogRecord, "accountId" | "kind" | "name">, now: number): string {
    if (!LEARNED_KINDS.has(kind)) return newId(now);
    for (let next = 0; ; next += 1) {
      const id = derivedId(JSON.stringify([accountId, kind, name, next]));
      const holder = this.find(kind, id);
      if (!holder || holder.name === name) return id;
    }
  }

  put<K extends CatalogKind>(record: CatalogRecord<K>): void {
    const ofKind: Map<string, CatalogRecord<K>> | undefined = this.#kinds[record.kind];
    // A kind of a newer release, whose nodes run beside this one.
    if (ofKind === undefined) return;
    ofKind.set(record.name, record);
    this.#byId.set(idKey(record), record);
    this.#routes = null;
    this.#realRoutes.clear();
    this.#anyRoutes.clear();
    this.#realChannels = null;
    this.#prices = null;
    this.#endpoints = null;
    this.#endpointsById = null;
  }

  /** Enabled webhooks and dlr-configs. */
  get endpoints(): readonly EndpointRecord[] {
    this.#endpoints ??= [...this.named("webhook").values(), ...this.named("dlrConfig").values()].filter(
      ({ content }) => content.enabled,
    );
    return this.#endpoints;
  }

  /** One of the enabled endpoints. */
  endpoint(id: string): EndpointRecord | null {
    this.#endpointsById ??= new Map(this.endpoints.map((endpoint) => [endpoint.id, endpoint]));
    return this.#endpointsById.get(id) ?? null;
  }

  /** Enabled routes by priority. */
  get routes(): readonly CatalogRecord<"route">[] {
    this.#routes ??= [...this.named("route").values()]
      .filter(({ content }) => content.enabled)
      .toSorted((a, b) => a.content.priority - b.content.priority);
    return this.#routes;
  }

  /**
   * Routes that live messages of a channel may use. A simulated carrier would report deliveries that never happened, so
   * its routes are used only if the message does not wait for a real one, or with `simulateLive`.
   */
  liveRoutes(channel: Channel, awaitsReal = this.realChannels.has(channel)): readonly CatalogRecord<"route">[] {
    const cached = awaitsReal ? this.#realRoutes : this.#anyRoutes;
    let routes = cached.get(channel);
    if (!routes) {
      routes = this.routes.filter(
        ({ content }) =>
          (content.channel === null || content.channel === channel) &&
          (!awaitsReal || content.simulateLive === true || !this.isSimulated(content.carrier)),
      );
      cached.set(channel, routes);
    }
    return routes;
  }

  /** Channels for which the account has a real carrier, with or without a route. */
  get realChannels(): ReadonlySet<Channel> {
    this.#realChannels ??= realChannelsOf(this.named("carrier").values());
    return this.#realChannels;
  }

  /**
   * True if a live message waits for a real carrier of its channel: there is one, or there was one when the message was
   * accepted. Without a time, a message that is accepted now.
   */
  awaitsReal({ channel, createdAt = Infinity }: { channel: Channel; createdAt?: number }): boolean {
    if (this.realChannels.has(channel)) return true;
    const former = this.named("formerChannel").get(channel);
    return former !== undefined && createdAt <= former.content.until + this.#removalUnknownMs;
  }

  /**
   * Records of the channels that a change leaves without a real carrier. They belong into the transaction of the change,
   * because the simulator must not take messages that waited for that carrier.
   */
  formerChannels(
    { accountId, put, remove }: Pick<SetUpChange, "accountId" | "put" | "remove">,
    now: number,
  ): CatalogRecord<"formerChannel">[] {
    const carriers = new Map<string, Pick<CatalogRecord<"carrier">, "content">>(this.named("carrier"));
    for (const { kind, name } of remove) if (kind === "carrier") carriers.delete(name);
    for (const record of put) if (isKind(record, "carrier")) carriers.set(record.name, record);
    const left = realChannelsOf(carriers.values());
    return [...this.realChannels]
      .filter((channel) => !left.has(channel))
      .map((channel) => ({
        accountId,
        kind: "formerChannel",
        id: newId(now),
        name: channel,
        origin: "authored",
        content: { until: now },
        createdAt: now,
        updatedAt: now,
      }));
  }

  /** True for simulated carriers, which reach no phone and cost nothing. */
  isSimulated(carrier: string): boolean {
    return carrier === SIMULATOR || this.named("carrier").get(carrier)?.content.adapter === "simulator";
  }

  /** Most specific prices first. */
  get prices(): readonly CatalogRecord<"price">[] {
    this.#prices ??= [...this.named("price").values()].toSorted(
      ({ content: a }, { content: b }) =>
        b.prefix.length - a.prefix.length || Number(a.routeClass === null) - Number(b.routeClass === null),
    );
    return this.#prices;
  }
}

const realChannelsOf = (carriers: Iterable<Pick<CatalogRecord<"carrier">, "content">>): Set<Channel> =>
  new Set(
    [...carriers].flatMap(({ content }) =>
      content.adapter === "simulator" ? [] : connectionType(content.adapter).channels,
    ),
  );

const isKind = <K extends CatalogKind>(record: CatalogRecord, kind: K): record is CatalogRecord<K> =>
  record.kind === kind;

/**
 * Configuration records in memory, so that sending never waits for the database. Changes on other nodes are noticed by
 * the revision, which is polled every two seconds.
 */
export class Catalog {
  readonly #deps: CatalogDeps;
  #accounts = new Map<number, AccountCatalog>();
  #revision = -1;
  /** Learned but not yet stored. */
  readonly #fresh = new Map<string, CatalogRecord>();
  #saving: Promise<void> = Promise.resolve();
  #savedAt = Number.NEGATIVE_INFINITY;
  #changing: Promise<unknown> = Promise.resolve();
  #onChange: () => void = () => {};

  constructor(deps: CatalogDeps) {
    this.#deps = deps;
  }

  of(accountId: number): AccountCatalog {
    let account = this.#accounts.get(accountId);
    if (!account) {
      account = new AccountCatalog(this.#deps.isShared === false ? 0 : REMOVAL_UNKNOWN_MS);
      this.#accounts.set(accountId, account);
    }
    return account;
  }

  /** All records of a kind in all accounts. */
  all<K extends CatalogKind>(kind: K): CatalogRecord<K>[] {
    return [...this.#accounts.values()].flatMap((account) => [...account.named(kind).values()]);
  }

  find<K extends CatalogKind>(accountId: number, kind: K, id: string): CatalogRecord<K> | null {
    return this.of(accountId).find(kind, id);
  }

  /** Registers a callback for reloads. */
  onChange(run: () => void): void {
    this.#onChange = run;
  }

  /** Learns a record from a request. It is effective on this node at once, and stored by the next `saveLearned`. */
  learn<K extends CatalogKind>(accountId: number, kind: K, name: string, content: CatalogContents[K]): void {
    const account = this.of(accountId);
    const known = account.named(kind).get(name);
    if (known && (known.origin === "authored" || sameContent(known.content, content))) return;
    if (!known && !this.#hasRoomFor(account, kind, name)) return;
    const now = this.#deps.clock.now();
    const record: CatalogRecord<K> = {
      accountId,
      kind,
      id: known?.id ?? account.newIdFor({ accountId, kind, name }, now),
      name,
      origin: "learned",
      content,
      createdAt: known?.createdAt ?? now,
      updatedAt: now,
    };
    account.put(record);
    this.#fresh.set(learnedKey(record), record);
    // The job reports the failure and retries.
    if (kind === "campaign" && this.#deps.clock.monotonic() - this.#savedAt >= SAVE_PAUSE_MS)
      void this.saveLearned().catch(() => undefined);
  }

  #hasRoomFor(account: AccountCatalog, kind: CatalogKind, name: string): boolean {
    const { size } = account.named(kind);
    if (kind !== "campaign") return size < LEARNED_MAX;
    if (size < CAMPAIGNS_MAX) return true;
    const message = `The account has reached the limit of ${CAMPAIGNS_MAX} campaigns, and ${JSON.stringify(name)} is not one of them: use an existing name, or omit campaignName.`;
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "campaignName", message }] });
  }

  /** Serialized, because concurrent runs would write the same record twice. */
  saveLearned(): Promise<void> {
    this.#savedAt = this.#deps.clock.monotonic();
    const saved = this.#saving.then(() => this.#saveFresh());
    this.#saving = saved.catch(() => undefined);
    return saved;
  }

  async #saveFresh(): Promise<void> {
    if (this.#fresh.size === 0) return;
    const records = [...this.#fresh.values()];
    await this.#deps.store.learnCatalogRecords(records);
    for (const record of records)
      if (this.#fresh.get(learnedKey(record)) === record) this.#fresh.delete(learnedKey(record));
  }

  /**
   * Changes records under optimistic locking. Changes on this node are serialized; if another node changed the
   * revision, `attempt` is repeated with fresh records. This prevents a route to a carrier that was deleted
   * concurrently.
   */
  change<T>(attempt: (revision: number) => Promise<T | "outdated">): Promise<T> {
    const changed = this.#changing.then(async () => {
      const result = await retryUntilCurrent(async () => {
        await this.saveLearned();
        await this.refresh();
        return attempt(this.#revision);
      });
      await this.refresh();
      return result;
    });
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  /** The same for any number of callers. */
  readonly refreshShared: () => Promise<void> = coalesce(() => this.refresh());

  /** Reloads all records if the revision has changed. */
  async refresh(): Promise<void> {
    const { store } = this.#deps;
    const revision = await store.revision("catalog");
    if (revision === this.#revision) return;
    const records = await store.listCatalog();
    // A slow earlier read must not overwrite a later one.
    if (revision < this.#revision) return;
    this.#accounts = new Map();
    for (const record of records) this.of(record.accountId).put(record);
    for (const [key, record] of this.#fresh) {
      const account = this.of(record.accountId);
      if (account.named(record.kind).get(record.name)?.origin === "authored") continue;
      // The learned record may have been renamed meanwhile; then this is a new one.
      const holder = this.find(record.accountId, record.kind, record.id);
      const isOthers = holder !== null && holder.name !== record.name;
      const fresh = isOthers ? { ...record, id: account.newIdFor(record, this.#deps.clock.now()) } : record;
      this.#fresh.set(key, fresh);
      account.put(fresh);
    }
    this.#revision = revision;
    this.#onChange();
  }
}

/** Repeats an attempt under optimistic locking until its revision is current. */
export async function retryUntilCurrent<T>(attempt: () => Promise<T | "outdated">): Promise<T> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const result = await attempt();
    if (result !== "outdated") return result;
  }
  throw new Problem("OVERLOADED", {
    message: "The account's records are being changed concurrently. Nothing was changed; retry.",
    retryAfterSeconds: 1,
  });
}

const sameContent = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);
