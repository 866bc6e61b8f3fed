import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { CatalogContents, CatalogKind, CatalogRecord } from "../model/catalog.ts";
import { Problem } from "../model/problem.ts";
import type { CatalogStore } from "../store/catalog-store.ts";
import type { RecordStore } from "../store/record-store.ts";

interface Needs {
  store: CatalogStore & Pick<RecordStore, "revision">;
  clock: Clock;
}

/** A name that nobody authored is taken from a request only so often, so that a mistaken caller cannot fill the memory. */
const LEARNED_MAX = 10_000;

/** Under load new names are learned every second or so, and each makes a decision old; so many in a row no service has. */
const TRIES_MAX = 10;

const learnedKey = ({ accountId, kind, name }: Pick<CatalogRecord, "accountId" | "kind" | "name">): string =>
  `${accountId} ${kind} ${name}`;

/** Records of one kind by their names. */
type Named<K extends CatalogKind> = Map<string, CatalogRecord<K>>;

export type EndpointRecord = CatalogRecord<"webhook"> | CatalogRecord<"dlrConfig">;

/** The records of one account, as sending asks for them. */
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
    webhook: new Map(),
    dlrConfig: new Map(),
    verifyConfig: new Map(),
  };
  #routes: readonly CatalogRecord<"route">[] | null = null;
  #prices: readonly CatalogRecord<"price">[] | null = null;
  #endpoints: readonly EndpointRecord[] | null = null;
  #endpointsById: ReadonlyMap<string, EndpointRecord> | null = null;

  named<K extends CatalogKind>(kind: K): Named<K> {
    return this.#kinds[kind];
  }

  put<K extends CatalogKind>(record: CatalogRecord<K>): void {
    this.#kinds[record.kind].set(record.name, record);
    this.#routes = null;
    this.#prices = null;
    this.#endpoints = null;
    this.#endpointsById = null;
  }

  /** Where customers want to be called, of those that are switched on. */
  get endpoints(): readonly EndpointRecord[] {
    this.#endpoints ??= [...this.named("webhook").values(), ...this.named("dlrConfig").values()].filter(
      ({ content }) => content.enabled,
    );
    return this.#endpoints;
  }

  /** One of those. */
  endpoint(id: string): EndpointRecord | null {
    this.#endpointsById ??= new Map(this.endpoints.map((endpoint) => [endpoint.id, endpoint]));
    return this.#endpointsById.get(id) ?? null;
  }

  /** Those that are switched on, first ones first. */
  get routes(): readonly CatalogRecord<"route">[] {
    this.#routes ??= [...this.named("route").values()]
      .filter(({ content }) => content.enabled)
      .toSorted((a, b) => a.content.priority - b.content.priority);
    return this.#routes;
  }

  /** The most particular ones first. */
  get prices(): readonly CatalogRecord<"price">[] {
    this.#prices ??= [...this.named("price").values()].toSorted(
      ({ content: a }, { content: b }) =>
        b.prefix.length - a.prefix.length || Number(a.routeClass === null) - Number(b.routeClass === null),
    );
    return this.#prices;
  }
}

/**
 * What people configured about sending, in memory: no message waits for the database to know its template or its route.
 * Other nodes' changes arrive through the revision, which is looked at every two seconds.
 */
export class Catalog {
  readonly #needs: Needs;
  #accounts = new Map<number, AccountCatalog>();
  #revision = -1;
  /** Learned and not written yet. */
  readonly #fresh = new Map<string, CatalogRecord>();
  #saving: Promise<void> = Promise.resolve();
  #changing: Promise<unknown> = Promise.resolve();
  #onChange: () => void = () => {};

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  of(accountId: number): AccountCatalog {
    let account = this.#accounts.get(accountId);
    if (!account) {
      account = new AccountCatalog();
      this.#accounts.set(accountId, account);
    }
    return account;
  }

  /** All records of a kind in every account. */
  all<K extends CatalogKind>(kind: K): CatalogRecord<K>[] {
    return [...this.#accounts.values()].flatMap((account) => [...account.named(kind).values()]);
  }

  find<K extends CatalogKind>(accountId: number, kind: K, id: string): CatalogRecord<K> | null {
    for (const record of this.of(accountId).named(kind).values()) if (record.id === id) return record;
    return null;
  }

  /** Calls back whenever records have been read anew. */
  onChange(run: () => void): void {
    this.#onChange = run;
  }

  /** Takes a record from a request. It counts at once here, and is written with the next turn of `saveLearned`. */
  learn<K extends CatalogKind>(accountId: number, kind: K, name: string, content: CatalogContents[K]): void {
    const account = this.of(accountId);
    const known = account.named(kind).get(name);
    if (known && (known.origin === "authored" || sameContent(known.content, content))) return;
    if (!known && account.named(kind).size >= LEARNED_MAX) return;
    const now = this.#needs.clock.now();
    const record: CatalogRecord<K> = {
      accountId,
      kind,
      id: known?.id ?? newId(now),
      name,
      origin: "learned",
      content,
      createdAt: known?.createdAt ?? now,
      updatedAt: now,
    };
    account.put(record);
    this.#fresh.set(learnedKey(record), record);
  }

  /** One after another: two at once would both write the same new record. */
  saveLearned(): Promise<void> {
    const saved = this.#saving.then(() => this.#saveFresh());
    this.#saving = saved.catch(() => undefined);
    return saved;
  }

  async #saveFresh(): Promise<void> {
    if (this.#fresh.size === 0) return;
    const records = [...this.#fresh.values()];
    await this.#needs.store.learnCatalogRecords(records);
    for (const record of records)
      if (this.#fresh.get(learnedKey(record)) === record) this.#fresh.delete(learnedKey(record));
  }

  /**
   * Changes records by what they are at this moment. One after another here; and what another node was quicker with
   * is looked at before `attempt` is made again, so that no route names a carrier that was removed beside it.
   */
  change<T>(attempt: (revision: number) => Promise<T | "outdated">): Promise<T> {
    const changed = this.#changing.then(async () => {
      const result = await tryUntilFresh(async () => {
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

  /** Reads everything again if anything has changed. */
  async refresh(): Promise<void> {
    const { store } = this.#needs;
    const revision = await store.revision("catalog");
    if (revision === this.#revision) return;
    const records = await store.listCatalog();
    // A slower reading that began earlier must not bring back what a later one has seen end.
    if (revision < this.#revision) return;
    this.#accounts = new Map();
    for (const record of records) this.of(record.accountId).put(record);
    for (const [key, record] of this.#fresh) {
      const account = this.of(record.accountId);
      if (account.named(record.kind).get(record.name)?.origin === "authored") continue;
      // The record that was learned may have another name by now; then this is a new one.
      const holder = this.find(record.accountId, record.kind, record.id);
      const fresh = holder && holder.name !== record.name ? { ...record, id: newId(this.#needs.clock.now()) } : record;
      this.#fresh.set(key, fresh);
      account.put(fresh);
    }
    this.#revision = revision;
    this.#onChange();
  }
}

/** Makes an attempt anew while others change what it was decided by. */
export async function tryUntilFresh<T>(attempt: () => Promise<T | "outdated">): Promise<T> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const result = await attempt();
    if (result !== "outdated") return result;
  }
  throw new Problem("OVERLOADED", {
    message: "Others change the account's records all the time. Nothing was changed.",
    retryAfterSeconds: 1,
  });
}

const sameContent = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);
