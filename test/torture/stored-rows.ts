import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Client, TypeOverrides } from "pg";
import { readDatabaseUrl } from "../../src/lib/database-url.ts";
import { SENDER, type RouteClass } from "./traffic.ts";

/** A row of the messages table. */
export interface StoredRow {
  messageId: string;
  type: RouteClass;
  recipient: string;
  key: string | null;
  state: string;
  owner: number;
  errorCode: string | null;
  /**
   * The submit is in doubt and the message class is not retried: the message waits for a receipt until its validity
   * ends.
   */
  heldInDoubt: boolean;
}

/** A message on a simulated phone. */
export interface PhoneRow {
  messageId: string;
  number: string;
  receivedAt: number;
}

/**
 * Reads the ledger client's messages directly from the tables: verifying the store must not rely on the server's
 * answers.
 */
export interface StoreReader {
  messages(): AsyncGenerator<StoredRow>;
  onPhones(): AsyncGenerator<PhoneRow>;
  /** Number of messages, reports and callbacks that can still change before a validity ends. */
  countUnsettled(): Promise<number>;
  select(sql: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

const ROUTE_CLASSES: readonly RouteClass[] = ["OTP", "TRANS", "PROMO"];
const PAGE = 20_000;
const FIRST_ID = "00000000-0000-0000-0000-000000000000";

const HELD = "state = 'submitting' and lane = 2 and due_at >= expires_at and owner = 0";
const UNSETTLED = `
  select (select count(*) from messages where state in ('accepted', 'submitting', 'submitted', 'enroute')
      and not (${HELD}) and not (state = 'submitted' and recipient like '%9004'))
    + (select count(*) from phone_messages where reports_due_at is not null)
    + (select count(*) from callbacks where state = 'waiting') as unsettled`;

type Select = (sql: string, values?: readonly (string | number)[]) => Promise<Record<string, unknown>[]>;

export function openSqliteReader(dataDir: string): StoreReader {
  const db = new DatabaseSync(join(dataDir, "heliograph.db"), { readOnly: true, timeout: 10_000 });
  return createReader(
    (sql, values = []) => Promise.resolve(db.prepare(sql).all(...(values as SQLInputValue[]))),
    () => Promise.resolve(db.close()),
  );
}

const INT8 = 20;

/** Reads from the primary if the URL names several servers. */
export async function openPostgresReader(url: string): Promise<StoreReader> {
  const client = await connectToPrimary(readDatabaseUrl(url));
  return createReader(
    async (sql, values = []) => {
      let index = 0;
      const { rows } = await client.query(
        sql.replaceAll("?", () => `$${(index += 1)}`),
        [...values],
      );
      return rows as Record<string, unknown>[];
    },
    () => client.end(),
  );
}

async function connectToPrimary([url, ...others]: readonly string[]): Promise<Client> {
  const types = new TypeOverrides();
  types.setTypeParser(INT8, Number);
  const client = new Client({ connectionString: url, types, connectionTimeoutMillis: 5000 });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ isStandby: boolean }>('select pg_is_in_recovery() as "isStandby"');
    if (!rows[0]?.isStandby) return client;
    await client.end();
    throw new Error("the server is a standby");
  } catch (error) {
    if (others.length === 0) throw error;
    return connectToPrimary(others);
  }
}

function createReader(select: Select, close: () => Promise<void>): StoreReader {
  async function* messages(): AsyncGenerator<StoredRow> {
    let [requestId, n] = [FIRST_ID, 0];
    for (;;) {
      const rows = (await select(
        `select request_id, n, lane, recipient, campaign_name, state, owner, error_code,
           case when ${HELD} then 1 else 0 end as held
         from messages where account_id = 1 and sender = '${SENDER}' and (request_id, n) > (?, ?) order by request_id, n limit ${PAGE}`,
        [requestId, n],
      )) as unknown as MessageColumns[];
      for (const row of rows) yield storedRow(row);
      const last = rows.at(-1);
      if (!last) return;
      [requestId, n] = [last.request_id, last.n];
    }
  }

  async function* onPhones(): AsyncGenerator<PhoneRow> {
    let after = FIRST_ID;
    for (;;) {
      const rows = (await select(
        `select id, message_id, number, received_at from phone_messages
         where account_id = 1 and sender = '${SENDER}' and id > ? order by id limit ${PAGE}`,
        [after],
      )) as unknown as { id: string; message_id: string; number: string; received_at: number }[];
      for (const row of rows) yield { messageId: row.message_id, number: row.number, receivedAt: row.received_at };
      const last = rows.at(-1);
      if (!last) return;
      after = last.id;
    }
  }

  return {
    messages,
    onPhones,
    async countUnsettled() {
      const [row] = await select(UNSETTLED);
      return Number(row?.["unsettled"]);
    },
    select: (sql) => select(sql),
    close,
  };
}

interface MessageColumns {
  request_id: string;
  n: number;
  lane: number;
  recipient: string;
  campaign_name: string | null;
  state: string;
  owner: number;
  error_code: string | null;
  held: number;
}

const storedRow = (row: MessageColumns): StoredRow => ({
  messageId: `${row.request_id}:${row.n}`,
  type: ROUTE_CLASSES[row.lane] ?? "PROMO",
  recipient: row.recipient,
  key: row.campaign_name,
  state: row.state,
  owner: row.owner,
  errorCode: row.error_code,
  heldInDoubt: row.held === 1,
});
