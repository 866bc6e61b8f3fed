import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Client } from "pg";
import type { EngineName } from "./engines.ts";
import type { RecordedStatement } from "./recorded-statements.ts";

/** Asks an engine how it runs statements, and reports each that reads more rows than it should. */
export interface PlanReader {
  faultsIn(statements: readonly Asked[]): Promise<string[]>;
  /** ANALYZE, as an operator may run it. */
  collectStatistics(): Promise<void>;
  close(): Promise<void>;
}

type Asked = RecordedStatement & { request: string };

/** Tables that stay small, whatever the traffic. All others grow. */
const SMALL = new Set([
  "service",
  "revisions",
  "schema_versions",
  "accounts",
  "users",
  "recovery_codes",
  "invitations",
  "sessions",
  "login_failures",
  "api_keys",
  "credentials",
  "smpp_binds",
  "nodes",
  "balances",
  "retention",
  "receipt_watch",
  "id_forms",
  "endpoint_health",
  "figure_writers",
  "verify_strays",
  // One row per carrier, and one per alert that is open.
  "carrier_states",
  "open_alerts",
  // Emptied by the job within a second.
  "search_changes",
]);

interface Exception {
  statement: RegExp;
  /** Rows that the statement may read or sort, where that is counted. */
  rows: number;
  reason: string;
}

/** Statements that may read many rows, each with the reason why they stay fast. */
const EXCEPTIONS: readonly Exception[] = [
  {
    statement: /from "figure(?:s|_groups)"/,
    rows: 10_000,
    reason: "statistics read at most 400 steps of time, and a bounded number of counters for each",
  },
  {
    statement:
      /^select count\(\*\) as "waiting" from "messages"|as "waiting" from "callbacks" where "state" = 'waiting'$/,
    rows: 600,
    reason: "the queues are counted in the partial index of waiting rows",
  },
  {
    statement: /^select \* from "catalog" (?:where .*)?order by "account_id", "kind", "id" limit/,
    rows: 10_000,
    reason: "a node reads the configuration records into memory, page by page",
  },
  {
    statement: /"code" from "links" where "links"/,
    rows: 1100,
    reason: "the clicks of a target over time are found by the codes of its links, at most 1,000",
  },
  {
    statement: /as "seen"|limit \S+ offset \S+$/,
    rows: 30_000,
    reason: "a filter without an index looks at 20,000 rows per call (bounded-window.ts)",
  },
  {
    statement:
      /^select \* from "messages" where .*\(request_id, n\) < .* order by "request_id" desc, "n" desc limit \S+$/,
    rows: 10_000,
    reason: "a search reads at most eight blocks of 1,024 messages per statement (search.ts)",
  },
  {
    statement: /as codes group by country/,
    rows: 80_000,
    reason: "the verification funnel counts at most 20,000 verifications",
  },
  {
    statement:
      /^select "account_id", "id" from "(?:audiences|contact_imports)" where (?:state (?:in|=) .* order by "claimed_until"|has_file = 2) limit/,
    rows: 100,
    reason: "audiences that are checked or whose files are removed, and imports that run, have a partial index each",
  },
  {
    statement: /from "search_(?:zones|numbers)"|as "read" group by/,
    rows: 10_000,
    reason: "the search index summarizes 1,024 messages at a time, in ten to sixty short rows",
  },
  {
    statement: /^select count\(\*\) as "count" from \(select 1 as "one" from "optouts"/,
    rows: 100_001,
    reason: "the opt-outs are counted in their primary key, at most 100,000 of them",
  },
];

const used = new Set<Exception>();

/** Rows that a statement may read or sort without an exception: a page, and a little more. */
const ROWS_MAX = 250;

function exceptionFor({ text }: RecordedStatement): Exception | undefined {
  return EXCEPTIONS.find(({ statement }) => statement.test(text));
}

const faultOf = ({ request, text }: Asked, reason: string): string => `${reason}, ${request}: ${text}`;

/** Exceptions that no statement of any engine needed so far. */
export const unusedExceptions = (): string[] =>
  EXCEPTIONS.filter((exception) => !used.has(exception)).map(({ reason }) => reason);

export const openPlanReader = (engine: EngineName, location: string): Promise<PlanReader> =>
  engine === "sqlite" ? Promise.resolve(openSqlite(location)) : openPostgres(location);

function openSqlite(file: string): PlanReader {
  let db = new DatabaseSync(file);
  return {
    async faultsIn(statements) {
      return statements.flatMap((statement) => {
        const faults = sqliteFaults(db, statement);
        const exception = faults.length > 0 ? exceptionFor(statement) : undefined;
        if (exception) used.add(exception);
        return exception ? [] : faults.map((reason) => faultOf(statement, reason));
      });
    },
    async collectStatistics() {
      db.exec("analyze");
      db.close();
      // A connection reads the statistics when it opens.
      db = new DatabaseSync(file);
    },
    async close() {
      db.close();
    },
  };
}

interface Step {
  id: number;
  parent: number;
  detail: string;
}

function sqliteFaults(db: DatabaseSync, { text, values }: RecordedStatement): string[] {
  const given = values as SQLInputValue[];
  const steps = db.prepare(`explain query plan ${text}`).all(...given) as unknown as Step[];
  const growingTableOf = tableNames(db, text);
  const sortsIn = (parent: number): boolean =>
    steps.some((step) => step.parent === parent && step.detail.startsWith("USE TEMP B-TREE"));
  const faults: string[] = [];
  for (const { parent, detail } of steps) {
    const [, kind = "", name = ""] = /^(SCAN|SEARCH) (\w+)/.exec(detail) ?? [];
    const table = growingTableOf(name);
    const isSubquery = steps.some(
      (step) => /^(?:CO-ROUTINE|MATERIALIZE) /.test(step.detail) && step.detail.endsWith(` ${name}`),
    );
    if (table === null || (kind === "SCAN" && isSubquery)) continue;
    const readsAccount = detail.endsWith("(account_id=?)") && (sortsIn(parent) || !/\blimit\b/i.test(text));
    if (kind === "SCAN" || readsAccount) faults.push(detail);
    else if (sortsIn(parent) && parent !== 0) faults.push(`temporary sort of ${table}`);
  }
  if (faults.length > 0 || !sortsIn(0)) return faults;
  const sorted = sortedRows(db, text, given);
  return sorted > ROWS_MAX ? [`temporary sort of ${sorted} rows`] : [];
}

/** Finds the table of a name in a plan, which may be an alias; null for tables that stay small and for subqueries. */
function tableNames(db: DatabaseSync, text: string): (name: string) => string | null {
  const known = db.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[];
  const tables = new Set(known.map(({ name }) => name));
  const aliases = [...text.matchAll(/"?(\w+)"? as "?(\w+)"?/g)];
  return (name) => {
    const table = tables.has(name) ? name : (aliases.find(([, , alias]) => alias === name)?.[1] ?? "");
    return tables.has(table) && !SMALL.has(table) ? table : null;
  };
}

/** Rows that a statement sorts: those that it would return without its limit. */
function sortedRows(db: DatabaseSync, text: string, values: SQLInputValue[]): number {
  const whole = text.replace(/\slimit \?\s*$/i, "");
  return db.prepare(whole).all(...(whole === text ? values : values.slice(0, -1))).length;
}

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  "Rows Removed by Join Filter"?: number;
  Plans?: PlanNode[];
}

async function openPostgres(url: string): Promise<PlanReader> {
  const client = new Client({ connectionString: url });
  await client.connect();
  let hasStatistics = false;
  const nodesFor = async ({ text, values }: RecordedStatement): Promise<PlanNode[]> => {
    const { rows } = await client.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>({
      text: `explain (analyze, timing off, format json) ${text}`,
      values: [...values],
    });
    return (rows[0]?.["QUERY PLAN"] ?? []).flatMap(({ Plan }) => nodesOf(Plan));
  };
  return {
    async faultsIn(statements) {
      const faults: string[] = [];
      await client.query(hasStatistics ? "reset all; set enable_seqscan = off" : INDEXES_FIRST);
      for (const statement of statements) {
        const nodes = await nodesFor(statement);
        const found = nodes.flatMap((node) => postgresFault(node, ROWS_MAX));
        if (found.length === 0) continue;
        const exception = exceptionFor(statement);
        if (exception) used.add(exception);
        const left = exception ? nodes.flatMap((node) => postgresFault(node, exception.rows)) : found;
        faults.push(...left.map((reason) => faultOf(statement, reason)));
      }
      return faults;
    },
    async collectStatistics() {
      await client.query("analyze");
      hasStatistics = true;
    },
    close: () => client.end(),
  };
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/**
 * Without statistics, PostgreSQL sorts a table of this size in memory. At a hundred times the size it reads the table in the
 * order of an index. These settings ask for the plan of the large table.
 */
const INDEXES_FIRST = "set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off";

function postgresFault(node: PlanNode, rowsMax: number): string[] {
  const { "Node Type": type, "Relation Name": table, "Actual Rows": rows, "Actual Loops": loops } = node;
  const removed = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  if (table !== undefined && !SMALL.has(table)) {
    const read = (rows + removed) * loops;
    if (read > rowsMax) return [`${type} of ${read} rows of ${table}`];
  }
  if (type === "Sort" || type === "Incremental Sort") {
    const sorted = (node.Plans ?? []).reduce((sum, child) => sum + child["Actual Rows"] * child["Actual Loops"], 0);
    if (sorted > rowsMax) return [`${type} of ${sorted} rows`];
  }
  return [];
}
