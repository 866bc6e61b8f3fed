import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../lib/clock.ts";
import { DEAD_NODE_KEPT_MS, HAS_WORK, PLACE, type NodeStore } from "../nodes.ts";
import { IS_WAITING, nodeOf, type NodeRow } from "../rows.ts";
import { UNOWNED } from "../store.ts";
import type { Write } from "./commands.ts";
import type { Read } from "./thread.ts";

/** Shuts a node down, inside the writer's transaction. */
export function createLeave(db: DatabaseSync) {
  const releaseMessages = db.prepare(`update messages set owner = ${UNOWNED} where owner = ? and ${IS_WAITING}`);
  const releaseCallbacks = db.prepare(`update callbacks set owner = ${UNOWNED} where owner = ? and state = 'waiting'`);
  const expire = db.prepare("update nodes set dead = 1 where id = ?");
  return (node: number): void => {
    releaseMessages.run(node);
    releaseCallbacks.run(node);
    expire.run(node);
  };
}

/** Registry of running nodes. */
export function createNodes(read: Read, write: Write, clock: Clock): NodeStore {
  return {
    async join({ alone, sends = true, roles = [] }) {
      if (alone) await write("query", "update nodes set dead = 1", []);
      const insert = "insert into nodes (beat_at, started_at, sends, roles) values (?, ?, ?, ?) returning id";
      const values = [clock.now(), clock.now(), sends ? 1 : 0, roles.join(" ")];
      const { rows } = await write("query", insert, values);
      return (rows[0] as { id: number }).id;
    },

    async beat(node) {
      const { changes } = await write("query", "update nodes set beat_at = ? where id = ? and dead = 0", [
        clock.now(),
        node,
      ]);
      return changes === 1;
    },

    async expireNodes(silentMs) {
      await write("query", "update nodes set dead = 1 where dead = 0 and beat_at < ?", [clock.now() - silentMs]);
      await write("query", `delete from nodes where dead = 1 and beat_at < ? and not ${HAS_WORK}`, [
        clock.now() - DEAD_NODE_KEPT_MS,
      ]);
      const rows = await read<{ id: number }>(`select id from nodes where dead = 1 and ${HAS_WORK} order by id`);
      return rows.map((row) => row.id);
    },

    leave: (node) => write("leave", node),

    async listNodes() {
      const rows = await read<NodeRow>(
        "select id, roles, started_at, max(0, ? - beat_at) as silent_ms from nodes where dead = 0 order by id",
        clock.now(),
      );
      return rows.map(nodeOf);
    },

    async countNodes() {
      const rows = await read<{ alive: number }>("select count(*) as alive from nodes where dead = 0");
      return rows[0]?.alive ?? 0;
    },

    async placeOf(node) {
      const rows = await read<{ count: number; rank: number }>(PLACE, node);
      return rows[0] ?? { count: 0, rank: 0 };
    },
  };
}
