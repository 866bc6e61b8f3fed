import { sql } from "kysely";
import { CUSTOMER_STATUSES, sourceStatesOf, statesShownAs } from "../model/message.ts";
import type { Engine } from "./engine.ts";
import { splitIntoSubBatches } from "./sub-batches.ts";
import { submissionOf, unmatchedOf } from "./rows.ts";
import type { MessageStore, Part, PartReport, Respelled } from "./store.ts";
import type { Tables } from "./tables.ts";

/** Learned message-id formats of carriers, which survive a restart. */
export interface IdFormatStore {
  listIdForms(): Promise<readonly LearnedIdForm[]>;
  /** Replaces the format that was learned before. */
  saveIdForm(learned: LearnedIdForm, at: number): Promise<void>;
}

/** The message-id format in a carrier's receipts. */
interface LearnedIdForm {
  accountId: number;
  /** The id of the carrier's record: a new carrier of the same name starts without a learned format. */
  carrierId: string;
  form: string;
}

/** A part without a state counts as submitted; from there the state table of messages applies. */
const IS_LEGAL = sql.raw<boolean>(
  `case batch.state ${CUSTOMER_STATUSES.flatMap(statesShownAs)
    .map((to) => `when '${to}' then coalesce(submissions.state, 'submitted') in (${listed(sourceStatesOf(to))})`)
    .join(" ")} end`,
);

/** Carriers may omit the country code, so numbers are compared by their last digits. Fewer than 7 are ambiguous. */
const NUMBER_MIN = 7;

type Queries = Pick<
  MessageStore,
  | "findRespelled"
  | "listUnmatched"
  | "findUnmatched"
  | "removeUnmatched"
  | "reportParts"
  | "listParts"
  | "findCarrierMessageId"
>;

/** Queries by carrier ids: parts of long messages, alternate formats and unmatched receipts. */
export function createSubmissions({ db, rowsOf }: Engine): Queries & IdFormatStore {
  return {
    async listIdForms() {
      const rows = await db.selectFrom("id_forms").selectAll().execute();
      return rows.map((row) => ({ accountId: row.account_id, carrierId: row.carrier_id, form: row.form }));
    },

    async saveIdForm({ accountId, carrierId, form }, at) {
      await db
        .insertInto("id_forms")
        .values({ account_id: accountId, carrier_id: carrierId, form, learned_at: at })
        .onConflict((conflict) => conflict.columns(["account_id", "carrier_id"]).doUpdateSet({ form, learned_at: at }))
        .execute();
    },

    async findRespelled(batch) {
      const asked = batch.flatMap(({ carrier, otherIds = [], recipient = "" }, place) => {
        const number = numberOf(recipient);
        if (number.length < NUMBER_MIN) return [];
        return otherIds.map((id, rank) => ({ place, rank, carrier, id, number }));
      });
      if (asked.length === 0) return batch.map(() => null);
      const types = { place: "integer", rank: "integer", carrier: "text", id: "text", number: "text" } as const;
      const rows = await db
        .selectFrom(rowsOf<(typeof asked)[number]>(types, asked).as("batch"))
        .innerJoin("submissions", (join) =>
          join
            .onRef("submissions.carrier", "=", "batch.carrier")
            .onRef("submissions.carrier_message_id", "=", "batch.id"),
        )
        .innerJoin("messages", (join) =>
          join
            .onRef("messages.account_id", "=", "submissions.account_id")
            .onRef("messages.request_id", "=", "submissions.request_id")
            .onRef("messages.n", "=", "submissions.n"),
        )
        .where(
          sql<boolean>`substr(messages.recipient, length(messages.recipient) - length(batch.number) + 1) = batch.number`,
        )
        .select(["batch.place", "submissions.carrier_message_id as known_as", "submissions.parts"])
        .select(["submissions.account_id", "submissions.request_id", "submissions.n"])
        .orderBy("batch.rank", "desc")
        .execute();
      const found = new Map<number, Respelled>();
      // The likeliest format comes last and overwrites the others.
      for (const row of rows) found.set(row.place, { submission: submissionOf(row), knownAs: row.known_as });
      return batch.map((_, place) => found.get(place) ?? null);
    },

    async listUnmatched({ accountId, carrier, respelled, since }, after, limit) {
      let query = db.selectFrom("parked_receipts").selectAll();
      if (accountId !== undefined) query = query.where("account_id", "=", accountId);
      if (carrier !== undefined) query = query.where("carrier", "=", carrier);
      if (respelled) query = query.where("other_ids", "is not", null);
      if (since !== undefined) query = query.where("parked_at", ">=", since);
      if (after !== null) query = query.where("id", "<", after);
      const rows = await query.orderBy("id", "desc").limit(limit).execute();
      const last = rows.length === limit ? rows.at(-1) : undefined;
      return { rows: rows.map(unmatchedOf), next: last?.id ?? null };
    },

    async findUnmatched(accountId, id) {
      const row = await db
        .selectFrom("parked_receipts")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .executeTakeFirst();
      return row ? unmatchedOf(row) : null;
    },

    async removeUnmatched(accountId, id) {
      const { numDeletedRows } = await db
        .deleteFrom("parked_receipts")
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    async reportParts(batch) {
      for (const subBatch of splitIntoSubBatches(batch, keyOf)) {
        // Nodes that update the same rows lock them in the same order, which avoids deadlocks.
        const reports = subBatch
          .map(({ item }) => item)
          .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
          .map(reportRow);
        const types = {
          carrier: "text",
          carrier_message_id: "text",
          state: "text",
          error_code: "text",
          description: "text",
        } as const;
        await db
          .updateTable("submissions")
          .from(rowsOf<ReturnType<typeof reportRow>>(types, reports).as("batch"))
          .set((row) => ({
            state: row.ref("batch.state"),
            error_code: row.ref("batch.error_code"),
            description: row.ref("batch.description"),
          }))
          .whereRef("submissions.carrier", "=", "batch.carrier")
          .whereRef("submissions.carrier_message_id", "=", "batch.carrier_message_id")
          .where(IS_LEGAL)
          .execute();
      }
    },

    async findCarrierMessageId({ accountId, requestId, n }) {
      const rows = await db
        .selectFrom("submissions")
        .innerJoin("messages", (join) =>
          join
            .onRef("messages.account_id", "=", "submissions.account_id")
            .onRef("messages.request_id", "=", "submissions.request_id")
            .onRef("messages.n", "=", "submissions.n")
            .onRef("messages.carrier", "=", "submissions.carrier"),
        )
        .where("submissions.account_id", "=", accountId)
        .where("submissions.request_id", "=", requestId)
        .where("submissions.n", "=", n)
        .select("submissions.carrier_message_id as id")
        .limit(1)
        .execute();
      return rows[0]?.id ?? null;
    },

    async listParts(batch) {
      const asked = batch.map(({ carrier, carrierMessageId: id }, place) => ({ place, carrier, id }));
      const types = { place: "integer", carrier: "text", id: "text" } as const;
      const rows = await db
        .selectFrom(rowsOf<(typeof asked)[number]>(types, asked).as("batch"))
        .innerJoin("submissions as named", (join) =>
          join.onRef("named.carrier", "=", "batch.carrier").onRef("named.carrier_message_id", "=", "batch.id"),
        )
        .innerJoin("submissions as each", (join) =>
          join
            .onRef("each.account_id", "=", "named.account_id")
            .onRef("each.request_id", "=", "named.request_id")
            .onRef("each.n", "=", "named.n")
            .onRef("each.carrier", "=", "named.carrier")
            .onRef("each.whole", "=", "named.whole"),
        )
        .selectAll("each")
        .select("batch.place")
        .orderBy("each.part")
        .execute();
      const found = batch.map((): Part[] => []);
      for (const row of rows) found[row.place]?.push(partOf(row));
      return found;
    },
  };
}

const partOf = (row: Tables["submissions"]): Part => ({
  index: row.part,
  total: row.parts,
  carrierMessageId: row.carrier_message_id,
  state: row.state as Part["state"],
  errorCode: row.error_code,
  description: row.description,
});

const reportRow = (report: PartReport) => ({
  carrier: report.carrier,
  carrier_message_id: report.carrierMessageId,
  state: report.state,
  error_code: report.errorCode,
  description: report.description,
});

const keyOf = ({ carrier, carrierMessageId }: PartReport): string => `${carrier} ${carrierMessageId}`;

/** Digits without dialling prefixes. */
const numberOf = (written: string): string => written.replace(/\D/g, "").replace(/^0+/, "");

function listed(states: readonly string[]): string {
  return states.map((state) => `'${state}'`).join(", ");
}
