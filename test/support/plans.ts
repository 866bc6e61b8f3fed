import { Client } from "pg";
import { inject } from "vitest";
import { ConnectionPool, type Statement } from "../../src/store/postgres/pool.ts";
import { migratedDatabase } from "./databases.ts";

interface PlanNode {
  "Node Type"?: string;
  "Relation Name"?: string;
  "Index Cond"?: string;
  "Index Name"?: string;
  "Recheck Cond"?: string;
  Plans?: PlanNode[];
}

interface Search {
  table: string;
  condition: string;
}

/** A database with empty tables that explains statements without running them. */
export interface Planner {
  url: string;
  /** Records statements and returns no rows. */
  pool: ConnectionPool;
  /**
   * Index searches of the recorded statements on the given tables. `partly` are those that do not use the whole key.
   */
  indexSearches(lastOfKey: Readonly<Record<string, RegExp>>): Promise<{ all: Search[]; partly: Search[] }>;
  close(): Promise<void>;
}

export async function openPlanner(): Promise<Planner> {
  const database = await migratedDatabase(inject("postgresUrl"));
  const pool = new ConnectionPool(database.url, { connections: 1 });
  const client = new Client(database.url);
  await client.connect();
  const recorded: Statement[] = [];
  pool.query = (statement) => {
    recorded.push(statement);
    return Promise.resolve({ rows: [], count: 0 });
  };
  pool.transaction = (work) => work(pool.query);
  return {
    url: database.url,
    pool,
    async indexSearches(lastOfKey) {
      await client.query("set enable_seqscan = off; set plan_cache_mode = force_generic_plan");
      const nodes: PlanNode[] = [];
      for (const [index, { text, values = [] }] of recorded.entries()) {
        await client.query(`prepare recorded_${index} as ${text}`);
        const given = values.map((column) => client.escapeLiteral(String(column))).join(", ");
        const { rows } = await client.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
          `explain (format json) execute recorded_${index} (${given})`,
        );
        nodes.push(...(rows[0]?.["QUERY PLAN"] ?? []).flatMap(({ Plan }) => nodesOf(Plan)));
      }
      const all = nodes.flatMap((node) => {
        const { "Relation Name": table = "", "Recheck Cond": found = "", "Index Cond": condition = found } = node;
        const isSearch = "Index Name" in node || "Recheck Cond" in node || node["Node Type"] === "Seq Scan";
        return table in lastOfKey && isSearch ? [{ table, condition }] : [];
      });
      return { all, partly: all.filter(({ table, condition }) => !lastOfKey[table]?.test(condition)) };
    },
    async close() {
      await Promise.all([client.end(), pool.end()]);
      await database.drop();
    },
  };
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
