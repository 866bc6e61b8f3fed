import { sql } from "kysely";
import type { Engine } from "./engine.ts";
import type { Tables } from "./tables.ts";

export const BIND_KINDS = ["transmitter", "receiver", "transceiver"] as const;
export type BindKind = (typeof BIND_KINDS)[number];

/** A bind of a client, as the node that has it reports it. */
export interface SmppBind {
  accountId: number;
  id: string;
  credentialId: string;
  node: number;
  kind: BindKind;
  address: string;
  secure: boolean;
  boundAt: number;
  /** Counters and state as JSON. */
  counters: string;
  /** The last PDUs as JSON, for a while after someone asked for them. */
  trace: string | null;
}

/** A bind as its node looks for it. */
interface NodeBind extends Pick<SmppBind, "accountId" | "id" | "boundAt"> {
  isClosing: boolean;
  /** The node reports the last PDUs until then. */
  traceUntil: number;
}

export interface SmppBindStore {
  /** Registers a bind; false if the system id has `max` on living nodes already. */
  openBind(bind: SmppBind, max: number): Promise<boolean>;
  closeBind(accountId: number, id: string): Promise<void>;
  reportBinds(binds: readonly Pick<SmppBind, "accountId" | "id" | "counters" | "trace">[]): Promise<void>;
  /** Binds of living nodes, oldest first. */
  listBinds(accountId: number): Promise<readonly SmppBind[]>;
  findBind(accountId: number, id: string): Promise<SmppBind | null>;
  /** Asks the node of a bind to close it, or to report its PDUs until a time; false if there is none. */
  askBind(accountId: number, id: string, ask: { close: true } | { traceUntil: number }): Promise<boolean>;
  /** The binds of a node, with what people have asked of it. */
  listNodeBinds(node: number): Promise<readonly NodeBind[]>;
  /** Removes binds of nodes that have ended. */
  removeDeadBinds(): Promise<void>;
}

const isAlive = sql<boolean>`node in (select id from nodes where dead = 0)`;

export function createSmppBinds({ db, atomically }: Engine): SmppBindStore {
  const ofAccount = (accountId: number) =>
    db.selectFrom("smpp_binds").where("account_id", "=", accountId).where(isAlive);
  const close = (accountId: number, id: string) =>
    db.deleteFrom("smpp_binds").where("account_id", "=", accountId).where("id", "=", id);

  return {
    async openBind(bind, max) {
      await db.insertInto("smpp_binds").values(rowOf(bind)).execute();
      // Counted after the commit, in one order on all nodes: of two that bind at once, only the later one is refused.
      const { earlier } = await ofAccount(bind.accountId)
        .select(sql<number>`cast(count(*) as bigint)`.as("earlier"))
        .where("credential_id", "=", bind.credentialId)
        .where(sql<boolean>`(bound_at, id) < (${bind.boundAt}, ${bind.id})`)
        .executeTakeFirstOrThrow();
      if (earlier < max) return true;
      await close(bind.accountId, bind.id).execute();
      return false;
    },
    async closeBind(accountId, id) {
      await close(accountId, id).execute();
    },
    async reportBinds(binds) {
      await atomically(
        binds.map(({ accountId, id, counters, trace }) =>
          db
            .updateTable("smpp_binds")
            .set({ counters, trace })
            .where("account_id", "=", accountId)
            .where("id", "=", id)
            .compile(),
        ),
      );
    },
    async listBinds(accountId) {
      const rows = await ofAccount(accountId).selectAll().orderBy("bound_at").orderBy("id").execute();
      return rows.map(bindOf);
    },
    async findBind(accountId, id) {
      const row = await ofAccount(accountId).selectAll().where("id", "=", id).executeTakeFirst();
      return row ? bindOf(row) : null;
    },
    async askBind(accountId, id, ask) {
      const { numUpdatedRows } = await db
        .updateTable("smpp_binds")
        .set("close" in ask ? { closing: 1 } : { trace_until: ask.traceUntil })
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .where(isAlive)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async listNodeBinds(node) {
      const rows = await db
        .selectFrom("smpp_binds")
        .select(["account_id", "id", "bound_at", "closing", "trace_until"])
        .where("node", "=", node)
        .execute();
      return rows.map((row) => ({
        accountId: row.account_id,
        id: row.id,
        boundAt: row.bound_at,
        isClosing: row.closing === 1,
        traceUntil: row.trace_until,
      }));
    },
    async removeDeadBinds() {
      await db
        .deleteFrom("smpp_binds")
        .where(sql<boolean>`not ${isAlive}`)
        .execute();
    },
  };
}

const rowOf = (bind: SmppBind) => ({
  account_id: bind.accountId,
  id: bind.id,
  credential_id: bind.credentialId,
  node: bind.node,
  kind: bind.kind,
  address: bind.address,
  secure: Number(bind.secure),
  bound_at: bind.boundAt,
  counters: bind.counters,
  trace: bind.trace,
  closing: 0,
  trace_until: 0,
});

const bindOf = (row: Tables["smpp_binds"]): SmppBind => ({
  accountId: row.account_id,
  id: row.id,
  credentialId: row.credential_id,
  node: row.node,
  kind: BIND_KINDS.find((kind) => kind === row.kind) ?? "transceiver",
  address: row.address,
  secure: row.secure === 1,
  boundAt: row.bound_at,
  counters: row.counters,
  trace: row.trace,
});
