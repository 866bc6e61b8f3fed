import type { DatabaseSync } from "node:sqlite";
import { bucketOf, dayOf, oldestBucket, type Bucket } from "../../model/pumping.ts";

/** Identifies the counters of a send and of the use of its code. */
export interface CountedSend {
  accountId: number;
  book: string;
  country: string;
  /** Time of the send. */
  at: number;
}

interface Tally extends Bucket {
  addedSends: number;
  addedVerified: number;
}

/** The counters of one account under one name. */
interface Series {
  accountId: number;
  kind: string;
  name: string;
  /** Stored counts are loaded from this bucket on; earlier buckets hold only the additions. */
  knownFrom: number;
  tallies: Map<number, Tally>;
}

/**
 * Counts sends and used codes by country and by account. All codes of a batch share a few rows, which are read once per batch
 * and written once at its end.
 */
export class TallyCache {
  readonly #find;
  readonly #add;
  readonly #series = new Map<string, Series>();

  constructor(db: DatabaseSync) {
    this.#find = db.prepare(
      `select bucket, sends, verified from verify_tallies
       where account_id = ? and kind = ? and name = ? and bucket >= ? and bucket < ?`,
    );
    this.#add = db.prepare(
      `insert into verify_tallies (account_id, kind, name, bucket, sends, verified) values (?, ?, ?, ?, ?, ?)
       on conflict (account_id, kind, name, bucket) do update set sends = sends + excluded.sends, verified = verified + excluded.verified`,
    );
  }

  /** Runs a batch, inside the writer's transaction. Clears the counts of a failed batch, which was rolled back. */
  during<T>(batch: () => T): T {
    this.#series.clear();
    const result = batch();
    this.#write();
    return result;
  }

  add({ accountId, book, country, at }: CountedSend, sends: number, verified: number): void {
    addTo(this.#countryOf(accountId, book, country), bucketOf(at), sends, verified);
    addTo(this.#accountOf(accountId, book), dayOf(at), sends, verified);
  }

  /** The counts of a country within the period that limits use. */
  country({ accountId, book, country, at }: CountedSend): readonly Bucket[] {
    const from = oldestBucket(at);
    const series = this.#known(this.#countryOf(accountId, book, country), from);
    return [...series.tallies.values()].filter(({ bucket }) => bucket >= from);
  }

  /** The account's sends of today. */
  today({ accountId, book, at }: CountedSend): number {
    const day = dayOf(at);
    return this.#known(this.#accountOf(accountId, book), day).tallies.get(day)?.sends ?? 0;
  }

  #countryOf(accountId: number, book: string, country: string): Series {
    return this.#seriesOf(accountId, `country ${book}`, country);
  }

  #accountOf(accountId: number, book: string): Series {
    return this.#seriesOf(accountId, `account ${book}`, "");
  }

  #seriesOf(accountId: number, kind: string, name: string): Series {
    const key = `${accountId} ${kind} ${name}`;
    let series = this.#series.get(key);
    if (!series) {
      series = { accountId, kind, name, knownFrom: Number.MAX_SAFE_INTEGER, tallies: new Map() };
      this.#series.set(key, series);
    }
    return series;
  }

  #known(series: Series, from: number): Series {
    const { accountId, kind, name, knownFrom, tallies } = series;
    if (knownFrom <= from) return series;
    for (const stored of this.#find.all(accountId, kind, name, from, knownFrom) as unknown as Bucket[]) {
      const tally = tallyAt(tallies, stored.bucket);
      tally.sends += stored.sends;
      tally.verified += stored.verified;
    }
    series.knownFrom = from;
    return series;
  }

  #write(): void {
    for (const { accountId, kind, name, tallies } of this.#series.values())
      for (const { bucket, addedSends, addedVerified } of tallies.values())
        if (addedSends > 0 || addedVerified > 0)
          this.#add.run(accountId, kind, name, bucket, addedSends, addedVerified);
    this.#series.clear();
  }
}

function addTo({ tallies }: Series, bucket: number, sends: number, verified: number): void {
  const tally = tallyAt(tallies, bucket);
  tally.sends += sends;
  tally.verified += verified;
  tally.addedSends += sends;
  tally.addedVerified += verified;
}

function tallyAt(tallies: Map<number, Tally>, bucket: number): Tally {
  let tally = tallies.get(bucket);
  if (!tally) {
    tally = { bucket, sends: 0, verified: 0, addedSends: 0, addedVerified: 0 };
    tallies.set(bucket, tally);
  }
  return tally;
}
