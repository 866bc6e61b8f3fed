import { sql } from "kysely";
import type { AgentOperation, AgentSend, AgentSendState } from "../model/agent.ts";
import type { Engine } from "./engine.ts";
import { pageOf } from "./page-of.ts";
import type { Tables } from "./tables.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Ended sends are kept this long, for the list in the dashboard. */
const KEPT_MS = 30 * DAY_MS;
/** Unsent previews per key; further ones replace the oldest. */
const PREVIEWS_MAX = 100;

type Ref = Pick<AgentSend, "accountId" | "id">;

interface Claim {
  from: AgentSendState;
  /** Random text that identifies this claim. */
  claim: string;
  now: number;
  messagesPerHour: number;
  creditsPerDay: number;
  /** The person who approves it; null if the agent sends it itself. */
  by: string | null;
}

interface SendEnd extends Pick<AgentSend, "reason" | "result"> {
  state: "sent" | "failed";
  /** False if it no longer counts towards the limits of its key. */
  counted: boolean;
}

/** Sends that agents have prepared. They also are the record by which the limits of a key are counted. */
export interface AgentSendStore {
  /** Also deletes previews that have expired, and sends that ended long ago. */
  addAgentSend(send: AgentSend): Promise<void>;
  findAgentSend(ref: Ref): Promise<AgentSend | null>;
  findAgentSendByToken(ref: Pick<AgentSend, "accountId" | "keyId" | "digest">): Promise<AgentSend | null>;
  /** Newest first, without previews. */
  listAgentSends(
    accountId: number,
    filter: { state?: AgentSendState; now: number },
    after: string | null,
    limit: number,
  ): Promise<{ rows: AgentSend[]; next: string | null }>;
  /**
   * Begins to send: true for one of several callers, and only within the limits of the key. Both are one condition, with the
   * row of the key locked, so that parallel sends cannot exceed a limit together.
   */
  claimAgentSend(ref: Pick<AgentSend, "accountId" | "id" | "keyId">, claim: Claim): Promise<boolean>;
  /** Counts of a key: messages of the last hour, credits of the last 24. */
  countAgentUse(
    ref: Pick<AgentSend, "accountId" | "keyId">,
    now: number,
  ): Promise<{ messages: number; credits: number }>;
  /** Waits for approval; false if it was sent or has expired, or if `waitingMax` others wait. */
  requestApproval(
    ref: Pick<AgentSend, "accountId" | "id" | "keyId">,
    terms: { now: number; expiresAt: number; waitingMax: number },
  ): Promise<boolean>;
  /** False if it no longer waits. */
  declineAgentSend(ref: Ref, by: string, now: number): Promise<boolean>;
  /** Ends a claimed send and erases its body. */
  endAgentSend(ref: Ref, end: SendEnd): Promise<void>;
}

/** Queries of agents' sends for both engines. */
export function createAgentSends({ db, atomically }: Engine): AgentSendStore {
  const ofRow = ({ accountId, id }: Ref) =>
    db.updateTable("agent_sends").where("account_id", "=", accountId).where("id", "=", id);
  const inAccount = (accountId: number) => db.selectFrom("agent_sends").selectAll().where("account_id", "=", accountId);
  const sumOf = (column: "recipients" | "credits", keyId: string, since: number) => sql<number>`(
    select cast(coalesce(sum(used.${sql.ref(column)}), 0) as bigint) from agent_sends as used
    where used.key_id = ${keyId} and used.counted_at > ${since})`;

  return {
    async addAgentSend(send) {
      const ofAccount = () => db.deleteFrom("agent_sends").where("account_id", "=", send.accountId);
      const spare = db
        .selectFrom("agent_sends")
        .select("id")
        .where("account_id", "=", send.accountId)
        .where("key_id", "=", send.keyId)
        .where("state", "=", "previewed")
        .orderBy("id", "desc")
        .limit(10 * PREVIEWS_MAX)
        .offset(PREVIEWS_MAX - 1);
      await atomically([
        ofAccount().where("state", "=", "previewed").where("expires_at", "<", send.createdAt).compile(),
        ofAccount()
          .where("created_at", "<", send.createdAt - KEPT_MS)
          .compile(),
        ofAccount().where("id", "in", spare).compile(),
        db.insertInto("agent_sends").values(rowOf(send)).compile(),
      ]);
    },

    async findAgentSend({ accountId, id }) {
      const row = await inAccount(accountId).where("id", "=", id).executeTakeFirst();
      return row ? sendOf(row) : null;
    },

    async findAgentSendByToken({ accountId, keyId, digest }) {
      const row = await inAccount(accountId)
        .where("key_id", "=", keyId)
        .where("digest", "=", digest)
        .executeTakeFirst();
      return row ? sendOf(row) : null;
    },

    async listAgentSends(accountId, { state, now }, after, limit) {
      let found = inAccount(accountId).where("state", "!=", "previewed");
      if (state === "expired") found = found.where("state", "=", "waiting").where("expires_at", "<=", now);
      else if (state !== undefined) found = found.where("state", "=", state);
      if (state === "waiting") found = found.where("expires_at", ">", now);
      if (after !== null) found = found.where("id", "<", after);
      const rows = await found
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, sendOf, ({ id }) => id);
    },

    async claimAgentSend({ accountId, id, keyId }, { from, claim, now, messagesPerHour, creditsPerDay, by }) {
      const lockKey = db
        .updateTable("api_keys")
        .set({ name: sql`name` })
        .where("account_id", "=", accountId)
        .where("id", "=", keyId);
      const take = ofRow({ accountId, id })
        .set({
          state: "sending",
          claim,
          counted_at: now,
          ...(by === null ? {} : { decided_by: by, decided_at: now }),
        })
        .where("state", "=", from)
        .where("expires_at", ">", now)
        .where(sql<boolean>`${sumOf("recipients", keyId, now - HOUR_MS)} + recipients <= ${messagesPerHour}`)
        .where(sql<boolean>`${sumOf("credits", keyId, now - DAY_MS)} + credits <= ${creditsPerDay}`);
      await atomically([lockKey.compile(), take.compile()]);
      const row = await inAccount(accountId).where("id", "=", id).executeTakeFirst();
      return row?.claim === claim;
    },

    async countAgentUse({ keyId }, now) {
      const { rows } = await sql<{ messages: number; credits: number }>`
        select ${sumOf("recipients", keyId, now - HOUR_MS)} as messages,
          ${sumOf("credits", keyId, now - DAY_MS)} as credits`.execute(db);
      return rows[0] ?? { messages: 0, credits: 0 };
    },

    async requestApproval({ accountId, id, keyId }, { now, expiresAt, waitingMax }) {
      const waiting = sql<number>`(select count(*) from agent_sends as others
        where others.key_id = ${keyId} and others.state = 'waiting' and others.expires_at > ${now})`;
      const { numUpdatedRows } = await ofRow({ accountId, id })
        .set({ state: "waiting", expires_at: expiresAt })
        .where("state", "=", "previewed")
        .where("expires_at", ">", now)
        .where(sql<boolean>`${waiting} < ${waitingMax}`)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async declineAgentSend(ref, by, now) {
      const { numUpdatedRows } = await ofRow(ref)
        .set({ state: "declined", body: null, decided_by: by, decided_at: now })
        .where("state", "=", "waiting")
        .where("expires_at", ">", now)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async endAgentSend(ref, { state, reason, result, counted }) {
      await ofRow(ref)
        .set({ state, reason, result, body: null, ...(counted ? {} : { counted_at: null }) })
        .where("state", "=", "sending")
        .execute();
    },
  };
}

type Row = Tables["agent_sends"];

const rowOf = (send: AgentSend): Row => ({
  account_id: send.accountId,
  id: send.id,
  key_id: send.keyId,
  digest: send.digest,
  operation: send.operation,
  body: send.body,
  recipients: send.recipients,
  credits: send.credits,
  state: send.state,
  claim: null,
  reason: send.reason,
  result: send.result,
  address: send.address,
  created_at: send.createdAt,
  expires_at: send.expiresAt,
  counted_at: null,
  decided_by: send.decidedBy,
  decided_at: send.decidedAt,
});

const sendOf = (row: Row): AgentSend => ({
  accountId: row.account_id,
  id: row.id,
  keyId: row.key_id,
  digest: row.digest,
  operation: row.operation as AgentOperation,
  body: row.body,
  recipients: row.recipients,
  credits: row.credits,
  state: row.state as AgentSendState,
  reason: row.reason,
  result: row.result,
  address: row.address,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  decidedBy: row.decided_by,
  decidedAt: row.decided_at,
});
