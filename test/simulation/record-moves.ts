import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { State } from "../../src/model/message.ts";

/** A change of state, as the database saw it. */
export interface Move {
  messageId: string;
  from: State;
  to: State;
}

const COLUMNS = "message_id text not null, from_state text not null, to_state text not null";
const READ = "select message_id, from_state, to_state from simulated_moves order by id";

interface MoveRow {
  message_id: string;
  from_state: string;
  to_state: string;
}

const moveOf = (row: MoveRow): Move => ({
  messageId: row.message_id,
  from: row.from_state as State,
  to: row.to_state as State,
});

/** Makes SQLite record every change of state of a message; the returned function reads them. */
export function recordMovesInSqlite(file: string): () => Promise<Move[]> {
  const open = (): DatabaseSync => new DatabaseSync(file, { timeout: 5000 });
  const database = open();
  database.exec(`create table simulated_moves (id integer primary key, ${COLUMNS});
    create trigger simulated_move after update of state on messages when old.state <> new.state begin
      insert into simulated_moves (message_id, from_state, to_state)
      values (new.request_id || ':' || new.n, old.state, new.state);
    end`);
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
  await ask(`create table simulated_moves (id bigint generated always as identity, ${COLUMNS});
    create function simulated_move() returns trigger language plpgsql as $$ begin
      insert into simulated_moves (message_id, from_state, to_state)
      values (new.request_id || ':' || new.n, old.state, new.state);
      return null;
    end $$;
    create trigger simulated_move after update of state on messages for each row when (old.state <> new.state)
      execute function simulated_move()`);
  return async () => (await ask(READ)).map(moveOf);
}
