import { IS_WAITING, nodeOf, type NodeRow } from "../rows.ts";
import { DEAD_NODE_KEPT_MS, HAS_WORK, PLACE, type NodeStore } from "../nodes.ts";
import { UNOWNED } from "../store.ts";
import type { ConnectionPool } from "./pool.ts";

/** The server's clock when the statement runs, not when its transaction began. */
const NOW = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

const CLEAR = `
  delete from nodes where dead = 1 and beat_at < ${NOW} - $1::bigint
    and not ${HAS_WORK}`;

const LEFT_BEHIND = `
  select id from nodes where dead = 1 and ${HAS_WORK} order by id`;

/** Registry of running nodes. All times come from the database's clock, because the clocks of nodes differ. */
export function createNodes(pool: ConnectionPool): NodeStore {
  const { query } = pool;

  return {
    join: ({ alone, sends = true, roles = [] }) =>
      pool.transaction(async (run) => {
        if (alone) await run({ text: "update nodes set dead = 1" });
        const { rows } = await run<{ id: number }>({
          text: `insert into nodes (beat_at, started_at, sends, roles) values (${NOW}, ${NOW}, $1, $2) returning id`,
          values: [sends ? 1 : 0, roles.join(" ")],
        });
        return rows[0]?.id ?? UNOWNED;
      }),

    async beat(node) {
      const { count } = await query({
        text: `update nodes set beat_at = ${NOW} where id = $1 and dead = 0`,
        values: [node],
      });
      return count === 1;
    },

    async expireNodes(silentMs) {
      await query({
        text: `update nodes set dead = 1 where dead = 0 and beat_at < ${NOW} - $1::bigint`,
        values: [silentMs],
      });
      await query({ text: CLEAR, values: [DEAD_NODE_KEPT_MS] });
      const { rows } = await query<{ id: number }>({ text: LEFT_BEHIND });
      return rows.map((row) => row.id);
    },

    leave: (node) =>
      pool.transaction(async (run) => {
        const text = `update messages set owner = ${UNOWNED} where owner = $1 and ${IS_WAITING}`;
        await run({ text, values: [node] });
        const callbacks = `update callbacks set owner = ${UNOWNED} where owner = $1 and state = 'waiting'`;
        await run({ text: callbacks, values: [node] });
        // Marked dead, not deleted: a commit of this node that is still in flight may leave rows that are found by its id.
        await run({ text: "update nodes set dead = 1 where id = $1", values: [node] });
      }),

    async listNodes() {
      const { rows } = await query<NodeRow>({
        text: `select id, roles, started_at, greatest(0, ${NOW} - beat_at) as silent_ms from nodes where dead = 0 order by id`,
      });
      return rows.map(nodeOf);
    },

    async countNodes() {
      const { rows } = await query<{ alive: number }>({ text: "select count(*) as alive from nodes where dead = 0" });
      return rows[0]?.alive ?? 0;
    },

    async placeOf(node) {
      const { rows } = await query<{ count: number; rank: number }>({ text: PLACE.replace("?", "$1"), values: [node] });
      return rows[0] ?? { count: 0, rank: 0 };
    },
  };
}
