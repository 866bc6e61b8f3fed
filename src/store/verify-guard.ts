import { sql } from "kysely";
import type { KeyMode } from "../model/api-key.ts";
import { BUCKET_MS, dayOf, oldestBucket } from "../model/pumping.ts";
import { HOUR_MS } from "../model/verification.ts";
import type { Engine } from "./engine.ts";
import type { VerifyStore } from "./verifications.ts";

type GuardStore = Pick<
  VerifyStore,
  "countConversion" | "countTraffic" | "countCountryHours" | "listBlocks" | "liftBlock"
>;

const BUCKETS_PER_HOUR = HOUR_MS / BUCKET_MS;
const total = (column: "sends" | "verified") => sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as integer)`;

/** Queries about the pumping guard, for both engines. */
export function createVerifyGuard({ db }: Engine): GuardStore {
  // Live and test traffic are counted separately: the pumping guard uses live traffic only.
  const tallies = (accountId: number, what: "country" | "account", mode: KeyMode = "live") =>
    db
      .selectFrom("verify_tallies")
      .where("account_id", "=", accountId)
      .where("kind", "in", mode === "test" ? [`${what} test`] : [`${what} real`, `${what} noted`]);

  return {
    countConversion: (accountId, at, mode) =>
      tallies(accountId, "account", mode)
        .select([total("sends").as("sends"), total("verified").as("verified")])
        .where("name", "=", "")
        .where("bucket", ">=", dayOf(at) - 1)
        .executeTakeFirstOrThrow(),

    async countTraffic(accountId, now) {
      const day = await tallies(accountId, "account")
        .select(total("sends").as("sends"))
        .where("name", "=", "")
        .where("bucket", "=", dayOf(now))
        .executeTakeFirstOrThrow();
      const countries = await tallies(accountId, "country")
        .select(["name as country", total("sends").as("sends"), total("verified").as("verified")])
        .where("bucket", ">=", oldestBucket(now))
        .groupBy("name")
        .execute();
      return { today: day.sends, countries };
    },

    countCountryHours: (accountId, from, until) =>
      tallies(accountId, "country")
        .select([
          "name as country",
          sql<number>`bucket / ${sql.lit(BUCKETS_PER_HOUR)}`.as("hour"),
          total("sends").as("sends"),
          total("verified").as("verified"),
        ])
        .where("bucket", ">=", Math.floor(from / BUCKET_MS))
        .where("bucket", "<", Math.floor(until / BUCKET_MS))
        .groupBy(["name", "hour"])
        .execute(),

    async listBlocks(accountId, now, prefix) {
      const rows = await db
        .selectFrom("verify_prefixes")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("blocked_until", ">", now)
        // Repeats the condition of the partial index: most prefixes were never blocked.
        .where(sql<boolean>`blocked_until > 0`)
        .$if(prefix !== undefined, (query) => query.where("prefix", "=", prefix ?? ""))
        .orderBy("blocked_at", "desc")
        .limit(1000)
        .execute();
      return rows.map((row) => ({
        prefix: row.prefix,
        blockedAt: row.blocked_at,
        until: row.blocked_until,
        strikes: row.strikes,
        sends: row.sends,
        verified: row.verified,
      }));
    },

    async liftBlock(accountId, prefix, now) {
      const { numUpdatedRows } = await db
        .updateTable("verify_prefixes")
        .set({ owed: 0, slot_sends: 0, before_sends: 0, blocked_until: now, strikes: 0 })
        .where("account_id", "=", accountId)
        .where("prefix", "=", prefix)
        .where("blocked_until", ">", now)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}
