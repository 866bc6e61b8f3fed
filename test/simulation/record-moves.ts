import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { CampaignState } from "../../src/model/campaign.ts";
import { mayTransition, STATES, type State } from "../../src/model/message.ts";
import { VERIFICATION_STATES } from "../../src/model/verification.ts";

type MovedTable = "messages" | "campaigns" | "verifications" | "audiences";

/** A change of state, as the database saw it. */
export interface Move {
  table: MovedTable;
  id: string;
  from: string;
  to: string;
}

/** Tables whose rows have a state, with their id. */
const TABLES: readonly { table: MovedTable; id: string }[] = [
  { table: "messages", id: "new.request_id || ':' || new.n" },
  { table: "campaigns", id: "new.id" },
  { table: "verifications", id: "new.id" },
  { table: "audiences", id: "new.id" },
];

/** No audience is mapped again here, and a campaign in a final state stays there. */
const LEGAL: Readonly<Record<Exclude<MovedTable, "messages">, Readonly<Record<string, readonly string[]>>>> = {
  campaigns: {
    draft: ["scheduled", "running", "cancelled"],
    scheduled: ["running", "cancelled"],
    running: ["paused", "finished", "cancelled"],
    paused: ["running", "cancelled"],
  } satisfies Partial<Record<CampaignState, readonly CampaignState[]>>,
  verifications: { pending: VERIFICATION_STATES.filter((state) => state !== "pending") },
  audiences: { uploading: ["checking"], checking: ["ready"] },
};

/** True if a row of the table may change its state in this way. */
export const isLegalMove = ({ table, from, to }: Omit<Move, "id">): boolean =>
  table === "messages" ? mayTransition(from as State, to as State) : (LEGAL[table][from] ?? []).includes(to);

/** Every legal change of state. */
export const LEGAL_MOVES: readonly Omit<Move, "id">[] = [
  ...STATES.flatMap((from) =>
    STATES.filter((to) => from !== to && mayTransition(from, to)).map((to) => ({
      table: "messages" as const,
      from,
      to,
    })),
  ),
  ...(Object.keys(LEGAL) as (keyof typeof LEGAL)[]).flatMap((table) =>
    Object.entries(LEGAL[table]).flatMap(([from, all]) => all.map((to) => ({ table, from, to }))),
  ),
];

const COLUMNS = "table_name text not null, row_id text not null, from_state text not null, to_state text not null";
const INSERT = "insert into simulated_moves (table_name, row_id, from_state, to_state)";
const READ = "select table_name, row_id, from_state, to_state from simulated_moves order by id";

interface MoveRow {
  table_name: string;
  row_id: string;
  from_state: string;
  to_state: string;
}

const moveOf = (row: MoveRow): Move => ({
  table: row.table_name as MovedTable,
  id: row.row_id,
  from: row.from_state,
  to: row.to_state,
});

/** Makes SQLite record every change of state; the returned function reads them. */
export function recordMovesInSqlite(file: string): () => Promise<Move[]> {
  const open = (): DatabaseSync => new DatabaseSync(file, { timeout: 5000 });
  const database = open();
  const triggers = TABLES.map(
    ({ table, id }) => `create trigger simulated_move_of_${table} after update of state on ${table}
      when old.state <> new.state begin ${INSERT} values ('${table}', ${id}, old.state, new.state); end;`,
  );
  database.exec(`create table simulated_moves (id integer primary key, ${COLUMNS}); ${triggers.join("")}`);
  database.close();
  return async () => {
    const reader = open();
    const rows = reader.prepare(READ).all() as unknown as MoveRow[];
    reader.close();
    return rows.map(moveOf);
  };
}

/** The same on PostgreSQL. */
export async function recordMovesInPostgres(url: string): Promise<() => Promise<Move[]>> {
  const ask = async (text: string): Promise<MoveRow[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<MoveRow>(text)).rows;
    } finally {
      await client.end();
    }
  };
  const triggers = TABLES.map(
    ({ table, id }) => `create function simulated_move_of_${table}() returns trigger language plpgsql as $$ begin
        ${INSERT} values ('${table}', ${id}, old.state, new.state);
        return null;
      end $$;
      create trigger simulated_move after update of state on ${table} for each row when (old.state <> new.state)
        execute function simulated_move_of_${table}();`,
  );
  await ask(`create table simulated_moves (id bigint generated always as identity, ${COLUMNS}); ${triggers.join("")}`);
  return async () => (await ask(READ)).map(moveOf);
}
