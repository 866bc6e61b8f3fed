import { sql, type RawBuilder } from "kysely";
import { idFloor } from "../lib/ids.ts";
import type { KeyMode } from "../model/api-key.ts";
import type { Callback } from "../model/callback.ts";
import type { CountryHour } from "../model/country-alert.ts";
import type { MessageRef } from "../model/message.ts";
import type { PrefixBlock, PumpingGuard } from "../model/pumping.ts";
import type { SendRefusal } from "../model/send-limits.ts";
import type {
  CodeSource,
  SourcedVerification,
  Verification,
  VerificationState,
  FailureCaps,
  SendCaps,
} from "../model/verification.ts";
import { listWindows, LOOK_AT_MOST } from "./bounded-window.ts";
import type { ReportingBudget } from "./collect-page.ts";
import { insertCallbacks } from "./callbacks.ts";
import type { Engine } from "./engine.ts";
import type { VerificationRow } from "./tables.ts";
import { createVerifyOutcomes, type VerifyOutcomes } from "./verify-outcomes.ts";

/** A code that a request sends. It is stored in the same transaction as its message. */
export interface NewVerification extends FailureCaps {
  /** The mode of the API key. */
  mode: KeyMode;
  config: string;
  country: string;
  /** Digest of the code, which does not reveal the code to a reader of the database. */
  digest: string;
  checksMax: number;
  expiresAt: number;
  /** Limits refuse a send, rather than only being noted. */
  bound: boolean;
  /** Send limits of a number. */
  caps: SendCaps;
  /** The fixed code of a test number. The simulator delivers it; wrong attempts at it count even where limits do not bind. */
  fixed: boolean;
  /** The key of the e-mail address that the code goes to, whose sends are limited like a number's; null on other channels. */
  address?: string | null;
  /** Pumping protection; where limits do not bind, prefixes accumulate no debt. */
  guard: PumpingGuard | null;
  /** The encrypted plan for the next channel, with its time; null when there is none. */
  next: { plan: string; at: number } | null;
  /** One more message of an existing verification: it counts as a send, but not as a new verification. */
  continues?: boolean;
  /** The end is reported by webhook, so the verification is due once more when it ends. */
  followed?: boolean;
  /** The product that made the code. */
  source?: NewSource | null;
}

interface NewSource extends CodeSource {
  /** The product never reports an outcome, so the code is judged by its delivery. */
  unreported: boolean;
}

/** One attempt at a code. */
export interface CodeCheck {
  accountId: number;
  /** The mode of the API key: verifications of the other mode are unknown to it. */
  mode: KeyMode;
  id: string;
  /** Digest of the submitted code. */
  digest: string;
  at: number;
}

/**
 * - `incorrect`: counted; with none remaining the verification is used up.
 * - `blocked`: too many wrong attempts at codes of the number, even if this one was right; not counted.
 * - `unknown`: the account has no such verification.
 */
export type CheckResult =
  | { kind: "verified" }
  | { kind: "incorrect"; remaining: number }
  | { kind: "blocked"; until: number }
  | { kind: "ended"; state: Exclude<VerificationState, "pending">; expiresAt: number }
  | { kind: "unknown" };

export interface VerificationFilter {
  state?: VerificationState;
  number?: string;
  config?: string;
  /** Only codes that this product made. */
  source?: string;
  /** Only verifications of keys of this mode. */
  mode?: KeyMode;
  /** Epoch ms, inclusive. */
  from?: number;
  /** Epoch ms, exclusive. */
  to?: number;
}

export interface StoredBlock extends PrefixBlock {
  prefix: string;
}

/** A verification that is due: its code goes out by another channel, or its end is reported. */
export interface DueVerification {
  verification: Verification;
  /** The encrypted plan for the next channel; null when there is none left. */
  plan: string | null;
  followed: boolean;
  /** No product reports on the code, and it has not been judged by its delivery. */
  unreported: boolean;
  at: number;
}

/** The fields of a verification that may have changed since it was found due. */
type TakenUp = Pick<Verification, "state" | "checks" | "doneAt">;

/** Delivery funnel of the codes to one country by one first channel. */
interface FunnelStep {
  country: string;
  /** The channel that was tried first; null when its message is no longer kept. */
  channel: string | null;
  sent: number;
  /** By the first channel or a later one. */
  delivered: number;
  /** A user has entered a code, right or wrong. */
  tried: number;
  verified: number;
}

/** Sends to a country, and how many of them were verified. */
interface CountryCount {
  country: string;
  sends: number;
  verified: number;
}

/** One-time passwords. `accept` stores them with their message. */
export interface VerifyStore extends VerifyOutcomes {
  /**
   * Checks codes atomically: of any number of correct attempts on any nodes, exactly one is `verified`. Timing attack: an
   * attempt at an unknown code is written too, so that it takes as long as any other.
   */
  checkCodes(batch: readonly CodeCheck[]): Promise<readonly (CheckResult | Error)[]>;
  findVerification(accountId: number, id: string): Promise<SourcedVerification | null>;
  /** The last verification of a number under a configuration, in whatever state. */
  findLatestVerification(
    accountId: number,
    of: Pick<Verification, "mode" | "number" | "config">,
  ): Promise<Verification | null>;
  /** Ends a pending verification, whose code is then worth nothing; false if it had ended. */
  cancelVerification(accountId: number, id: string, at: number): Promise<boolean>;
  /** The verification whose code a request delivered, by its first channel or a later one. */
  findVerificationOf(accountId: number, requestId: string): Promise<Verification | null>;
  /** Newest first. A page may be short before the end, if the filter matches few verifications. */
  listVerifications(
    accountId: number,
    filter: VerificationFilter,
    now: number,
    after: string | null,
    limit: number,
  ): Promise<{ rows: SourcedVerification[]; next: string | null }>;
  /** Sends of live keys, or of test keys, and how many of them were verified, on the day of `at` and the day before. */
  countConversion(accountId: number, at: number, mode?: KeyMode): Promise<{ sends: number; verified: number }>;
  /** The codes of the newest verifications in a span, by country and channel. Counts a bounded number of verifications. */
  countFunnel(
    accountId: number,
    span: { from: number; to: number; mode?: KeyMode },
  ): Promise<{ steps: readonly FunnelStep[]; complete: boolean }>;
  /** The current counts that limits use: sends of the day, and sends to each country within the hour. */
  countTraffic(accountId: number, now: number): Promise<{ today: number; countries: readonly CountryCount[] }>;
  /** Sends to each country by hour, from `from` until before `until`. */
  countCountryHours(accountId: number, from: number, until: number): Promise<readonly CountryHour[]>;
  /** All active blocks, newest first, or the block of one prefix. */
  listBlocks(accountId: number, now: number, prefix?: string): Promise<readonly StoredBlock[]>;
  /** Ends a block; false when there is none. Earlier sends no longer count against the prefix. */
  liftBlock(accountId: number, prefix: string, now: number): Promise<boolean>;
  listDueVerifications(dueBy: number, limit: number): Promise<readonly DueVerification[]>;
  /**
   * Claims a due verification until a time, after which another node may claim it. Returns its current state, or null when
   * another node was faster. A verification past its validity becomes expired.
   */
  leaseDue(due: DueVerification, until: number, now: number): Promise<TakenUp | null>;
  /**
   * Sets the next step if it is still due at `was`; false when another node was faster. Also records the request that delivered
   * the code by a later channel.
   */
  planNext(
    verification: Pick<Verification, "accountId" | "id">,
    was: number,
    next: { at: number; plan: string | null } | null,
    requestId: string | null,
  ): Promise<boolean>;
  /** Makes the next channel of a pending verification due now, unless a later request has delivered its code. */
  startNextNow(request: Pick<MessageRef, "accountId" | "requestId">, now: number): Promise<void>;
  /** Stores the callbacks about the end, and that no step follows, if it is still due at `was`. */
  queueEndCallbacks(
    verification: Pick<Verification, "accountId" | "id">,
    was: number,
    callbacks: readonly Callback[],
    now: number,
  ): Promise<void>;
}

/** The decision of the limits on a code. */
export interface Admission {
  /** Limits that refused it, if limits bind. */
  refused: readonly SendRefusal[];
  /** Limits that would have refused it, if they do not bind. */
  noted: readonly SendRefusal[];
  /** A prefix that this send caused to be blocked. */
  blocked: StoredBlock | null;
}

type VerificationStore = Omit<
  VerifyStore,
  "checkCodes" | "countConversion" | "countTraffic" | "countCountryHours" | "listBlocks" | "liftBlock"
>;

/** Verification queries for both engines. Code checks are implemented by each engine. */
export function createVerifications(
  { db, atomically, rowsOf }: Engine,
  budget: ReportingBudget | null,
): VerificationStore {
  const ofAccount = (accountId: number) => db.selectFrom("verifications").where("account_id", "=", accountId);

  /** The sources of those verifications whose code another product made. */
  async function sourcesOf(accountId: number, ids: readonly string[]): Promise<Map<string, CodeSource>> {
    if (ids.length === 0) return new Map();
    const rows = await db
      .selectFrom("verify_sources")
      .select(["verify_id", "source", "deliver_only"])
      .where("account_id", "=", accountId)
      .where("verify_id", "in", ids)
      .execute();
    return new Map(rows.map((row) => [row.verify_id, { name: row.source, deliverOnly: row.deliver_only === 1 }]));
  }

  return {
    ...createVerifyOutcomes({ db, atomically }),

    async findVerification(accountId, id) {
      const row = await ofAccount(accountId).selectAll().where("id", "=", id).executeTakeFirst();
      if (!row) return null;
      const sources = await sourcesOf(accountId, [id]);
      return { ...verificationOf(row), source: sources.get(row.id) ?? null };
    },

    async findLatestVerification(accountId, { mode, number, config }) {
      const known = await db
        .selectFrom("verify_numbers")
        .select("latest")
        .where("account_id", "=", accountId)
        .where("mode", "=", mode)
        .where("number", "=", number)
        .executeTakeFirst();
      const latest = JSON.parse(known?.latest ?? "{}") as Record<string, string | undefined>;
      const id = Object.hasOwn(latest, config) ? latest[config] : undefined;
      const row = id && (await ofAccount(accountId).selectAll().where("id", "=", id).executeTakeFirst());
      return row ? verificationOf(row) : null;
    },

    async cancelVerification(accountId, id, at) {
      const { numUpdatedRows } = await db
        .updateTable("verifications")
        .set({
          state: "cancelled",
          done_at: at,
          plan: null,
          next_at: sql<number | null>`case when followed = 1 then ${sql.lit(at)} end`,
        })
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .where("state", "=", "pending")
        .where("expires_at", ">", at)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async findVerificationOf(accountId, requestId) {
      const own = await ofAccount(accountId).selectAll().where("id", "=", requestId).executeTakeFirst();
      if (own) return verificationOf(own);
      const later = db
        .selectFrom("verify_requests")
        .select("verify_id")
        .where("account_id", "=", accountId)
        .where("request_id", "=", requestId);
      const row = await ofAccount(accountId).selectAll().where("id", "=", later).executeTakeFirst();
      return row ? verificationOf(row) : null;
    },

    async listVerifications(accountId, { state, number, config, source, mode, from, to }, now, after, limit) {
      const { rows, next } = await listWindows(
        {
          windowBelow(position: string | null) {
            let window = ofAccount(accountId).select(["id", "state", "number", "config", "mode", "expires_at"]);
            if (from !== undefined) window = window.where("id", ">=", idFloor(from));
            if (to !== undefined) window = window.where("id", "<", idFloor(to));
            if (position !== null) window = window.where("id", "<", position);
            return window.orderBy("id", "desc").limit(LOOK_AT_MOST);
          },
          matchesIn(window, most) {
            let found = db.selectFrom(window.as("seen")).select("id");
            if (number) found = found.where("number", "=", number);
            if (mode) found = found.where("mode", "=", mode);
            if (config) found = found.where("config", "=", config);
            if (source) {
              const made = db.selectFrom("verify_sources").select("verify_id").where("account_id", "=", accountId);
              found = found.where("id", "in", made.where("source", "=", source));
            }
            if (state) found = found.where(isInState(state, now));
            const page = found.orderBy("id", "desc").limit(most);
            return ofAccount(accountId).selectAll().where("id", "in", page).orderBy("id", "desc").execute();
          },
          key: ["id"],
          positionOf: ({ id }: { id: string }) => id,
        },
        { after, limit, budget },
      );
      const sources = await sourcesOf(
        accountId,
        rows.map(({ id }) => id),
      );
      return { rows: rows.map((row) => ({ ...verificationOf(row), source: sources.get(row.id) ?? null })), next };
    },

    async countFunnel(accountId, { from, to, mode }) {
      const picked = ofAccount(accountId)
        .select(["id", "country", "state", "checks"])
        .where("id", ">=", idFloor(from))
        .where("id", "<", idFloor(to))
        .$if(mode !== undefined, (query) => query.where("mode", "=", mode ?? "live"))
        .orderBy("id", "desc")
        .limit(LOOK_AT_MOST);
      const { rows } = await sql<FunnelStep>`
        select country, channel, cast(count(*) as integer) as sent, cast(sum(delivered) as integer) as delivered,
          cast(sum(tried) as integer) as tried, cast(sum(verified) as integer) as verified
        from (
          select picked.id, picked.country, coalesce(first.asked_channel, first.channel) as channel,
            case when picked.checks > 0 or picked.state = 'verified' then 1 else 0 end as tried,
            case when picked.state = 'verified' then 1 else 0 end as verified,
            max(case when first.state in ('delivered', 'read') or later.state in ('delivered', 'read')
              then 1 else 0 end) as delivered
          from (${picked}) as picked
          left join messages as first
            on first.account_id = ${accountId} and first.request_id = picked.id and first.n = 1
          left join verify_requests as further
            on further.account_id = ${accountId} and further.verify_id = picked.id
          left join messages as later
            on later.account_id = ${accountId} and later.request_id = further.request_id and later.n = 1
          group by picked.id, picked.country, first.asked_channel, first.channel, picked.checks, picked.state
        ) as codes group by country, channel order by sent desc, country`.execute(db);
      const counted = rows.reduce((sum, { sent }) => sum + sent, 0);
      return { steps: rows, complete: counted < LOOK_AT_MOST };
    },

    async listDueVerifications(dueBy, limit) {
      const rows = await db
        .selectFrom("verifications")
        .leftJoin("verify_sources", (join) =>
          join
            .onRef("verify_sources.account_id", "=", "verifications.account_id")
            .onRef("verify_sources.verify_id", "=", "verifications.id"),
        )
        .selectAll("verifications")
        .select("verify_sources.unreported")
        .where("next_at", "<=", dueBy)
        .orderBy("next_at")
        .limit(limit)
        .execute();
      return rows.flatMap((row) =>
        row.next_at === null
          ? []
          : [
              {
                verification: verificationOf(row),
                plan: row.plan,
                followed: row.followed === 1,
                unreported: row.unreported === 1,
                at: row.next_at,
              },
            ],
      );
    },

    async leaseDue({ verification: { accountId, id }, at }, until, now) {
      const isExpired = sql<boolean>`state = 'pending' and expires_at <= ${sql.lit(now)}`;
      const row = await db
        .updateTable("verifications")
        .set({
          next_at: until,
          state: sql<string>`case when ${isExpired} then 'expired' else state end`,
          done_at: sql<number | null>`case when ${isExpired} then expires_at else done_at end`,
        })
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .where("next_at", "=", at)
        .returning(["state", "checks", "done_at"])
        .executeTakeFirst();
      return row ? { state: row.state as VerificationState, checks: row.checks, doneAt: row.done_at } : null;
    },

    async planNext({ accountId, id }, was, next, requestId) {
      if (requestId !== null)
        await db
          .insertInto("verify_requests")
          .values({ account_id: accountId, request_id: requestId, verify_id: id })
          .onConflict((conflict) => conflict.columns(["account_id", "request_id"]).doNothing())
          .execute();
      const { numUpdatedRows } = await db
        .updateTable("verifications")
        .set({ next_at: next?.at ?? null, plan: next?.plan ?? null })
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .where("next_at", "=", was)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async startNextNow({ accountId, requestId }, now) {
      const requests = db.selectFrom("verify_requests").where("account_id", "=", accountId);
      const own = requests.select("verify_id").where("request_id", "=", requestId);
      const later = requests
        .select("request_id")
        .where(sql<boolean>`verify_id = verifications.id`)
        .where("request_id", ">", requestId);
      await db
        .updateTable("verifications")
        .set({ next_at: now })
        .where("account_id", "=", accountId)
        .where("id", "=", sql<string>`coalesce((${own}), ${requestId})`)
        .where("state", "=", "pending")
        .where("plan", "is not", null)
        .where("next_at", ">", now)
        .where(({ not, exists }) => not(exists(later)))
        .execute();
    },

    async queueEndCallbacks({ accountId, id }, was, callbacks, now) {
      const end = db
        .updateTable("verifications")
        .set({ next_at: null, plan: null })
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .where("next_at", "=", was)
        .compile();
      // Before the end is marked, because `next_at` then still shows that this node reports it.
      const isDue = sql<boolean>`exists (select 1 from verifications
        where account_id = ${accountId} and id = ${id} and next_at = ${was})`;
      const inserts = callbacks.length === 0 ? [] : [insertCallbacks({ db, rowsOf }, callbacks, now, isDue)];
      await atomically([...inserts, end]);
    },
  };
}

/** True if a row is in a state at a time. Expiry is computed, because no write marks it. */
function isInState(state: VerificationState, now: number): RawBuilder<boolean> {
  if (state === "pending") return sql`state = 'pending' and expires_at > ${now}`;
  if (state === "expired") return sql`(state = 'expired' or (state = 'pending' and expires_at <= ${now}))`;
  return sql`state = ${state}`;
}

const verificationOf = (row: VerificationRow): Verification => ({
  accountId: row.account_id,
  id: row.id,
  mode: row.mode as KeyMode,
  config: row.config,
  number: row.number,
  country: row.country,
  state: row.state as VerificationState,
  digest: row.digest,
  checks: row.checks,
  checksMax: row.checks_max,
  test: row.test === 1,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  doneAt: row.done_at,
});
