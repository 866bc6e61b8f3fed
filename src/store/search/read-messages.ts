import { sql, type SelectQueryBuilder } from "kysely";
import { statesShownAs } from "../../model/message.ts";
import { edgeOf, LOOK_AT_MOST } from "../bounded-window.ts";
import type { Engine } from "../engine.ts";
import { laneOf } from "../rows.ts";
import type { MessageFilter, MessageOrder, Position } from "../store.ts";
import type { MessageRow, Tables } from "../tables.ts";
import { byNewest, isAfter, keysWithin, positionOf, type CandidateBlock, type Key } from "./blocks.ts";
import { endsWith } from "./numbers.ts";

/**
 * Messages of a campaign, with the status if one is asked for, that are read by the index of campaigns. PostgreSQL reads a page
 * of the table for each, at worst from the disk.
 */
const CAMPAIGN_SMALL = 250;

/** The messages that a search covers: above a position, and below another. */
export interface Bounds {
  accountId: number;
  filter: MessageFilter;
  /** Exclusive. */
  above: Position;
  /** Exclusive. */
  below: Position;
}

/** Part of the results: rows in order. */
export type Source = AsyncGenerator<MessageRow[], void>;

/** Reads messages that match a filter: by ranges of ids, by keys, and by requests. */
export function createMessageReader({ db, rowsOf, holds, holdsInAnyCase, jsonText }: Engine) {
  type MessageQuery = SelectQueryBuilder<Tables, "messages", object>;

  const matches = <Q extends MessageQuery>(query: Q, filter: MessageFilter): Q => {
    let found: MessageQuery = query;
    const { messageId } = filter;
    if (messageId) found = found.where("request_id", "=", messageId.requestId).where("n", "=", messageId.n);
    if (filter.test !== undefined) found = found.where("test", "=", filter.test ? 1 : 0);
    if (filter.status) found = found.where("state", "in", statesShownAs(filter.status));
    if (filter.channel) found = found.where("channel", "=", filter.channel);
    if (filter.recipient) found = found.where("recipient", "=", filter.recipient);
    if (filter.recipientEnding) found = found.where(endsWith(filter.recipientEnding));
    if (filter.senders) found = found.where("sender", "in", filter.senders);
    if (filter.campaignName !== undefined) found = found.where("campaign_name", "=", filter.campaignName);
    if (filter.routeClass) found = found.where("lane", "=", laneOf(filter.routeClass));
    if (filter.templateName !== undefined) found = found.where(holds("content", templateAsStored(filter.templateName)));
    if (filter.text !== undefined) {
      // Octets are stored as hexadecimal digits.
      found = found.where(sql<boolean>`not ${holds("content", '"encoding":"binary"')}`);
      // Before the text is read out of its JSON, which few rows then need.
      const stored = JSON.stringify(filter.text).slice(1, -1);
      found = found.where(holdsInAnyCase(sql.ref("content"), stored));
      found = found.where(holdsInAnyCase(jsonText("content", "text"), filter.text));
    }
    return found as Q;
  };

  const rowsWithin = ({ accountId, above, below }: Bounds): MessageQuery =>
    db
      .selectFrom("messages")
      .where("account_id", "=", accountId)
      .where("request_id", ">=", above.requestId)
      .where("request_id", "<=", below.requestId)
      .where(sql<boolean>`(request_id, n) > (${above.requestId}, cast(${above.n} as integer))`)
      .where(sql<boolean>`(request_id, n) < (${below.requestId}, cast(${below.n} as integer))`);

  const inOrder = <Q extends MessageQuery>(query: Q, order: MessageOrder): Q => {
    const direction = order === "newest" ? "desc" : "asc";
    return query.orderBy("request_id", direction).orderBy("n", direction) as Q;
  };
  const newestFirst = <Q extends MessageQuery>(query: Q): Q => inOrder(query, "newest");

  /** Reads the messages of a range in the order of the filter, a bounded number per statement. */
  async function* scan(bounds: Bounds, limit: number): Source {
    const { order = "newest" } = bounds.filter;
    let { above, below } = bounds;
    for (;;) {
      const window = inOrder(rowsWithin({ ...bounds, above, below }), order).limit(LOOK_AT_MOST);
      const seen = db.selectFrom(window.selectAll().as("seen")) as unknown as MessageQuery;
      const rows = await inOrder(matches(seen, bounds.filter), order).selectAll().limit(limit).execute();
      yield rows;
      const edge =
        rows.length === limit
          ? rows.at(-1)
          : await edgeOf<Pick<MessageRow, "request_id" | "n">>(window, ["request_id", "n"]);
      if (!edge) return;
      if (order === "newest") below = positionOf(edge);
      else above = positionOf(edge);
    }
  }

  /** Reads the messages of a short range in order. */
  async function* readRange(bounds: Bounds, limit: number): Source {
    let { below } = bounds;
    for (;;) {
      const rows = await newestFirst(matches(rowsWithin({ ...bounds, below }), bounds.filter))
        .selectAll()
        .limit(limit)
        .execute();
      yield rows;
      const last = rows.at(-1);
      if (!last || rows.length < limit) return;
      below = positionOf(last);
    }
  }

  /** Messages by their keys, as far as they match. */
  const rowsOfKeys = async (
    { accountId, filter, above, below }: Bounds,
    keys: readonly Key[],
  ): Promise<MessageRow[]> => {
    const inside = keys.filter((key) => isAfter(positionOf(key), above) && isAfter(below, positionOf(key)));
    if (inside.length === 0) return [];
    const batch = rowsOf<Key>({ request_id: "uuid", n: "integer" }, inside);
    const found = db
      .selectFrom("messages")
      .where("account_id", "=", accountId)
      .where(sql<boolean>`(request_id, n) in (select request_id, n from ${batch} as batch)`);
    const rows = await matches(found, filter).selectAll().execute();
    return rows.toSorted(byNewest);
  };

  /** Messages in parts of single requests, as far as they match. */
  const rowsOfParts = async (
    { accountId, filter, above, below }: Bounds,
    parts: readonly CandidateBlock[],
  ): Promise<MessageRow[]> => {
    const ids = parts.map(({ last }) => ({ request_id: last.requestId }));
    const found = db
      .selectFrom("messages")
      .where("account_id", "=", accountId)
      .where(
        sql<boolean>`request_id in (select request_id from ${rowsOf<{ request_id: string }>({ request_id: "uuid" }, ids)} as batch)`,
      );
    const rows = await matches(found, filter).selectAll().execute();
    const inside = rows.filter((row) => isAfter(positionOf(row), above) && isAfter(below, positionOf(row)));
    // The rest of a request may lie in another block, which is read apart.
    return keysWithin(inside.toSorted(byNewest), parts);
  };

  /** The keys of few messages that all matches are among; null if the filter names none. */
  const fewKeys = async ({ accountId, filter }: Bounds): Promise<readonly Key[] | null> => {
    const { messageId, carrierMessageId, campaignName, status } = filter;
    if (carrierMessageId !== undefined) return keysOfSubmissions(accountId, carrierMessageId);
    if (messageId) return [{ request_id: messageId.requestId, n: messageId.n }];
    if (campaignName === undefined || (await countOf(accountId, campaignName, status)) > CAMPAIGN_SMALL) return null;
    const ofCampaign = db
      .selectFrom("messages")
      .select(["request_id", "n"])
      .where("account_id", "=", accountId)
      .where("campaign_name", "=", campaignName)
      .limit(CAMPAIGN_SMALL + 1);
    const keys = await (status ? ofCampaign.where("state", "in", statesShownAs(status)) : ofCampaign).execute();
    return keys.length > CAMPAIGN_SMALL ? null : keys;
  };

  /** The kept count of a campaign's messages, with the status if one is given. */
  const countOf = async (accountId: number, campaignName: string, status: MessageFilter["status"]): Promise<number> => {
    const counted = db
      .selectFrom("campaign_totals")
      .select(sql<number | null>`cast(sum(count) as bigint)`.as("messages"))
      .where("account_id", "=", accountId)
      .where("campaign_name", "=", campaignName);
    const row = await (status ? counted.where("state", "in", statesShownAs(status)) : counted).executeTakeFirst();
    return row?.messages ?? 0;
  };

  /**
   * The key of a submission begins with its carrier, so a skip scan finds the carriers first. The account is compared here:
   * without statistics, PostgreSQL would prefer an index that begins with the account, and read all its submissions.
   */
  const keysOfSubmissions = async (accountId: number, carrierMessageId: string): Promise<readonly Key[]> => {
    const rows = await db
      .withRecursive("carriers", (query) =>
        query
          .selectFrom("submissions")
          .select(sql<string | null>`min(carrier)`.as("name"))
          .unionAll(
            query
              .selectFrom("carriers" as never)
              .select(
                sql<string | null>`(select min(carrier) from submissions where carrier > carriers.name)`.as("name"),
              )
              .where(sql<boolean>`carriers.name is not null`),
          ),
      )
      .selectFrom("carriers")
      .innerJoin("submissions", "submissions.carrier", "carriers.name")
      .select(["submissions.account_id", "submissions.request_id", "submissions.n"])
      .where("submissions.carrier_message_id", "=", carrierMessageId)
      .execute();
    return rows.filter((row) => row.account_id === accountId);
  };

  return { scan, readRange, rowsOfKeys, rowsOfParts, fewKeys };
}

/** A template name as stored JSON. Quotes within values are escaped, so no other value can match. */
const templateAsStored = (name: string): string => `"templateName":${JSON.stringify(name)}`;
