import { sql, type RawBuilder } from "kysely";
import { HOLD } from "../model/hold.ts";
import { ROUTE_CLASSES, type MessageRef, type RouteClass } from "../model/message.ts";
import type { Engine } from "./engine.ts";
import { IS_WAITING, storedMessageOf } from "./rows.ts";
import type { Position, StoredMessage } from "./store.ts";

/** Messages that are not sent yet, or that may be. */
export interface UnsentCount {
  /** `waiting`: no carrier had it. `in doubt`: it was being submitted. `later`: it is scheduled for a time to come. */
  kind: "waiting" | "in doubt" | "later";
  routeClass: RouteClass;
  campaignName: string | null;
  count: number;
}

type UnsentKind = UnsentCount["kind"];

export interface UnsentCampaign {
  accountId: number;
  name: string;
}

/** Single messages, and all messages of campaigns. */
export interface UnsentSet {
  messages: readonly Position[];
  campaigns: readonly UnsentCampaign[];
}

export interface HoldStore {
  /** The stored hold; null if the service is not held. */
  findHold(): Promise<string | null>;
  saveHold(value: string): Promise<void>;
  /** Ends the hold, if it is still this one. */
  endHold(value: string): Promise<void>;
  countUnsent(now: number): Promise<UnsentCount[]>;
  /** Planned failovers and next channels of one-time passwords: both would send. */
  countPlans(): Promise<number>;
  listUnsent(
    wanted: {
      kinds: readonly Exclude<UnsentKind, "later">[];
      now: number;
      createdBy: number;
      among?: UnsentSet;
      except?: UnsentSet;
    },
    limit: number,
  ): Promise<readonly StoredMessage[]>;
  /** All messages that are not sent, ordered by account and id, starting after `after`. */
  listEachUnsent(
    now: number,
    after: MessageRef | null,
    limit: number,
  ): Promise<readonly { kind: UnsentKind; message: StoredMessage }[]>;
  /** Campaigns with messages that wait or are in doubt. */
  listUnsentCampaigns(now: number): Promise<readonly UnsentCampaign[]>;
  dropPlans(): Promise<void>;
}

const isWaiting = sql<boolean>`${sql.raw(IS_WAITING)}`;

const NOTHING: UnsentSet = { messages: [], campaigns: [] };

/** Messages of a paused campaign are scheduled far in the future, so they count as `later`. */
const kindAt = (now: number): RawBuilder<UnsentCount["kind"]> =>
  sql`case when state = 'submitting' then 'in doubt' when state = 'scheduled' and due_at > ${now} then 'later' else 'waiting' end`;

export function createHold({ db, atomically, rowsOf }: Engine): HoldStore {
  const isIn = ({ messages, campaigns }: UnsentSet): RawBuilder<boolean> => {
    const ids = rowsOf(
      { request_id: "uuid", n: "integer" },
      messages.map(({ requestId, n }) => ({ request_id: requestId, n })),
    );
    const names = rowsOf(
      { account_id: "integer", campaign_name: "text" },
      campaigns.map(({ accountId, name }) => ({ account_id: accountId, campaign_name: name })),
    );
    return sql`((request_id, n) in (select request_id, n from ${ids} as ids)
      or (campaign_name is not null and (account_id, campaign_name) in (select account_id, campaign_name from ${names} as names)))`;
  };
  const isPlanned = sql<boolean>`state = 'pending' and plan is not null and next_at is not null`;
  return {
    async findHold() {
      const row = await db.selectFrom("service").select("value").where("name", "=", HOLD).executeTakeFirst();
      return row?.value ?? null;
    },
    async saveHold(value) {
      await db
        .insertInto("service")
        .values({ name: HOLD, value })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
        .execute();
    },
    async endHold(value) {
      await db.deleteFrom("service").where("name", "=", HOLD).where("value", "=", value).execute();
    },
    async countUnsent(now) {
      const rows = await db
        .selectFrom("messages")
        .select([kindAt(now).as("kind"), "lane", "campaign_name", sql<number>`cast(count(*) as bigint)`.as("count")])
        .where(isWaiting)
        .groupBy(sql`1, 2, 3`)
        .orderBy(sql`1, 2, 3`)
        .execute();
      return rows.map(({ kind, lane, campaign_name: campaignName, count }) => ({
        kind,
        routeClass: ROUTE_CLASSES[lane] ?? "TRANS",
        campaignName,
        count,
      }));
    },
    async countPlans() {
      const [failovers, codes] = await Promise.all([
        db
          .selectFrom("failovers")
          .select(sql<number>`cast(count(*) as bigint)`.as("count"))
          .executeTakeFirst(),
        db
          .selectFrom("verifications")
          .select(sql<number>`cast(count(*) as bigint)`.as("count"))
          .where(isPlanned)
          .executeTakeFirst(),
      ]);
      return (failovers?.count ?? 0) + (codes?.count ?? 0);
    },
    async listUnsent({ kinds, now, createdBy, among, except }, limit) {
      if (kinds.length === 0) return [];
      const rows = await db
        .selectFrom("messages")
        .selectAll()
        .where(isWaiting)
        .where(kindAt(now), "in", kinds)
        .where("created_at", "<=", createdBy)
        .$if(among !== undefined, (query) => query.where(isIn(among ?? NOTHING)))
        .$if(except !== undefined, (query) => query.where(sql<boolean>`not ${isIn(except ?? NOTHING)}`))
        .limit(limit)
        .execute();
      return rows.map(storedMessageOf);
    },
    async listEachUnsent(now, after, limit) {
      const { accountId, requestId, n } = after ?? { accountId: 0, requestId: "", n: 0 };
      const rows = await db
        .selectFrom("messages")
        .selectAll()
        .select(kindAt(now).as("kind"))
        .where(isWaiting)
        .$if(after !== null, (query) =>
          query.where(sql<boolean>`(account_id, request_id, n) > (${accountId}, ${requestId}, ${n})`),
        )
        .orderBy("account_id")
        .orderBy("request_id")
        .orderBy("n")
        .limit(limit)
        .execute();
      return rows.map(({ kind, ...row }) => ({ kind, message: storedMessageOf(row) }));
    },
    async listUnsentCampaigns(now) {
      const rows = await db
        .selectFrom("messages")
        .select(["account_id", "campaign_name"])
        .distinct()
        .where(isWaiting)
        .where(kindAt(now), "!=", "later")
        .where("campaign_name", "is not", null)
        .execute();
      return rows.map((row) => ({ accountId: row.account_id, name: row.campaign_name ?? "" }));
    },
    async dropPlans() {
      await atomically([
        db.deleteFrom("failovers").compile(),
        // The end of a verification that a webhook follows is still reported.
        db
          .updateTable("verifications")
          .set({ plan: null, next_at: sql`case when followed = 1 then expires_at end` })
          .where(isPlanned)
          .compile(),
      ]);
    },
  };
}
