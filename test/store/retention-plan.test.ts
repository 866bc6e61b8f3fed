import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
} from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { FunctionDriver, type Engine } from "../../src/store/engine.ts";
import { createRetention, type Expiring } from "../../src/store/retention.ts";
import type { Tables } from "../../src/store/tables.ts";
import { NOON } from "../support/acceptances.ts";
import { ENGINES, hasPostgres, openStore, type EngineName, type OpenStore } from "../support/engines.ts";

const DIALECTS = {
  sqlite: [SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler],
  postgres: [PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler],
} as const;

/** Retention queries that are recorded and not run. Every range ends at the same row. */
function recordRetention(engine: EngineName) {
  const [Adapter, Introspector, Compiler] = DIALECTS[engine];
  const statements: string[] = [];
  const row = { request_id: newId(NOON), n: 1, k: 1, id: newId(NOON), event_id: newId(NOON), endpoint_id: newId(NOON) };
  const record = (query: CompiledQuery): void => void statements.push(query.sql);
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new Adapter(),
      createDriver: () =>
        new FunctionDriver(async (query) => {
          record(query);
          return { rows: [row as never] };
        }),
      createIntrospector: (kysely) => new Introspector(kysely),
      createQueryCompiler: () => new Compiler(),
    },
  });
  const inBackground: Engine["inBackground"] = async (queries) => {
    queries.forEach(record);
    return { changes: queries.map(() => 0), ms: 0 };
  };
  const deletingMessages: Engine["deletingMessages"] = (condition) => [
    sql`delete from messages where ${condition}`.compile(db),
  ];
  const engineOf = { db, inBackground, deletingMessages } as unknown as Engine;
  return { statements, retention: createRetention(engineOf), row };
}

/** Tables that grow with every message, and the column that a search of them must be bounded by. */
const GROWING: Record<string, string> = {
  messages: "request_id",
  submissions: "request_id",
  failovers: "request_id",
  kept_texts: "request_id",
  awaited_receipts: "request_id",
  callbacks: "event_id",
  phone_messages: "id",
  inbound: "id",
  audit: "id",
  verifications: "id",
  verify_requests: "request_id",
  verify_sources: "verify_id",
  links: "request_id",
  link_targets: "request_id",
  clicks: "code",
  idempotency: "created_at|key",
  parked_receipts: "parked_at|account_id|id",
  figures: "at",
  figure_groups: "at",
};

interface PlanNode {
  "Relation Name"?: string;
  "Node Type": string;
  "Index Cond"?: string;
  "Recheck Cond"?: string;
  Plans?: PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

describe.each(ENGINES)("retention on %s", (engine) => {
  let opened: OpenStore;
  beforeEach(async () => {
    opened = await openStore(engine);
    if (engine === "postgres")
      await opened.execute("set enable_seqscan = off; set plan_cache_mode = force_generic_plan");
  });
  afterEach(() => opened.discard());

  /** The accesses to growing tables, each with its condition. */
  async function accessesOf(statement: string): Promise<{ table: string; condition: string }[]> {
    if (engine === "sqlite") {
      const steps = (await opened.execute(`explain query plan ${statement}`)) as { detail: string }[];
      return steps.flatMap(({ detail }) => {
        const [, table = "", condition = ""] = /^(?:SEARCH|SCAN) (\w+)(.*)$/.exec(detail) ?? [];
        return table in GROWING ? [{ table, condition }] : [];
      });
    }
    await opened.execute(`prepare asked as ${statement}`);
    const values = Array.from({ length: statement.match(/\$\d+/g)?.length ?? 0 }, () => "null");
    const asked = values.length > 0 ? `asked (${values.join(", ")})` : "asked";
    const [plan] = (await opened.execute(`explain (format json) execute ${asked}`)) as {
      "QUERY PLAN": { Plan: PlanNode }[];
    }[];
    await opened.execute("deallocate asked");
    const nodes = (plan?.["QUERY PLAN"] ?? []).flatMap(({ Plan }) => nodesOf(Plan));
    return nodes.flatMap((node) => {
      const { "Relation Name": table = "", "Recheck Cond": found = "", "Index Cond": condition = found } = node;
      return table in GROWING && node["Node Type"].endsWith("Scan") ? [{ table, condition }] : [];
    });
  }

  test("every statement finds its rows by a range or a key, never by a scan", async () => {
    const { statements, retention, row } = recordRetention(engine);
    const cutoff = { accountId: 1, before: NOON, alsoBefore: NOON };
    const afters: Partial<Record<Expiring, (string | number)[]>> = {
      messages: [row.request_id, 1],
      callbacks: [row.event_id, row.endpoint_id],
      phoneMessages: [row.id],
      inbound: [row.id],
      audit: [row.id],
      verifications: [row.id],
      verifyRequests: [row.request_id],
      verifySources: [row.request_id],
      links: [row.request_id, 1, 1],
      linkTargets: [row.request_id, 1],
      idempotencyKeys: [],
      unmatchedReceipts: [],
      stats: [],
      statsMinutes: [],
      groupStats: [],
      groupStatsMinutes: [],
      campaignStats: [],
      campaignStatsMinutes: [],
    };
    for (const [kind, after] of Object.entries(afters)) {
      await retention.deleteExpired(kind as Expiring, cutoff, [], 100);
      if (after.length > 0) await retention.deleteExpired(kind as Expiring, cutoff, after, 100);
    }
    await retention.eraseTexts(1, NOON, 100);
    const seen = new Set<string>();
    const wide: string[] = [];
    for (const statement of statements)
      for (const { table, condition } of await accessesOf(statement)) {
        seen.add(table);
        if (!new RegExp(`\\b(?:${GROWING[table]})\\b`).test(condition)) wide.push(`${table}${condition}: ${statement}`);
      }
    expect(wide).toEqual([]);
    expect([...seen].toSorted()).toEqual(Object.keys(GROWING).toSorted());
  });
});

test.runIf(hasPostgres)("PostgreSQL vacuums the tables of retention before a fifth of them is dead", async () => {
  const opened = await openStore("postgres");
  const factors = await opened.execute(
    `select relname, option_value::float as factor from pg_class cross join pg_options_to_table(reloptions)
     where option_name = 'autovacuum_vacuum_scale_factor' order by relname`,
  );
  await opened.discard();
  expect(factors).toEqual(["callbacks", "messages", "submissions"].map((relname) => ({ relname, factor: 0.05 })));
});
