import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isPersonal, type Route, type TypedParameter } from "../../src/http/route.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { ENGINES } from "../support/engines.ts";
import { startFilledServer, type FilledServer } from "../support/filled-server.ts";
import { openPlanReader, unusedExceptions, type PlanReader } from "../support/read-plans.ts";
import { recordStatements, type RecordedStatement } from "../support/recorded-statements.ts";

/**
 * Every statement behind a page or a list of the API reads rows by an index and in the order of that index. The
 * statements are those that the real server sends, so a new operation or parameter is covered without a change here.
 */

/** Lists that give the value of a parameter of a path, where it is not the list at the path itself. */
const LISTS: Record<string, string> = {
  "/v1/messages/:messageId": "/v1/messages",
  "/v1/verify/:verifyId": "/api/verifications",
};

/** Operations that hold the response open, so they have no list to read. */
const STREAMS = new Set(["/api/live", "/api/simulator/events", "/api/simulator/messages/wait"]);

/** Sessions, and the revision of the configuration, which a node keeps in memory. */
const IN_MEMORY = /from "?(?:sessions|users|revisions|accounts|api_keys|credentials|catalog)\b/;

/** Lists that come from that memory. */
const RECORD_LISTS = new Set(
  ["alert-rules", "bots", "canned-replies", "carriers", "credentials", "dlr-configs", "event-types", "identity-hooks", "keys", "numbers", "prices", "routes", "segments", "senders", "templates", "users", "verify-configs", "verify-rules", "webhooks"].map((name) => `/api/${name}`),
); // prettier-ignore

/** Monitoring reads queues of all accounts without authentication. */
const METRICS = "/metrics";

const isRead = (route: Route): boolean =>
  route.method === "GET" &&
  !route.hidden &&
  !STREAMS.has(route.path) &&
  (isPersonal(route) || route.scope !== null || route.path === METRICS);
const READS = ROUTES.filter(isRead);

describe.each(ENGINES)("%s, on a filled store", (engine) => {
  let filled: FilledServer;
  let plans: PlanReader;
  /** Statements by text, with the first request that used each. */
  const recorded = new Map<string, RecordedStatement & { request: string }>();
  /** Statements of a scrape. A job that runs meanwhile may have used one first. */
  const scraped = new Set<string>();
  const answered: Record<string, number> = {};
  /** Paths of the operations that sent a statement about more than the caller and the configuration. */
  const reading = new Set<string>();

  beforeAll(async () => {
    filled = await startFilledServer(engine);
    const recorder = recordStatements(engine, filled.database);
    for (const route of READS)
      for (const request of requestsOf(route, await pathOf(filled, route))) {
        const { status } =
          route.path === METRICS
            ? await fetch(`${filled.server.url}${request}`)
            : await filled.server.asOwner("GET", request);
        answered[`${status} ${route.path}`] = (answered[`${status} ${route.path}`] ?? 0) + 1;
        for (const statement of recorder.take()) {
          if (request === METRICS) scraped.add(statement.text);
          if (!recorded.has(statement.text)) recorded.set(statement.text, { ...statement, request });
          if (!IN_MEMORY.test(statement.text)) reading.add(route.path);
        }
      }
    recorder.stop();
    await filled.forgetStatistics();
    plans = await openPlanReader(engine, filled.location);
  });
  afterAll(async () => {
    await plans.close();
    await filled.close();
  });

  test("every operation that reads was asked for, and none failed", () => {
    const paths = new Set(Object.keys(answered).map((key) => key.slice(4)));
    expect(READS.filter(({ path }) => !paths.has(path))).toEqual([]);
    expect(Object.keys(answered).filter((key) => !/^(?:200|404|400)/.test(key))).toEqual([]);
    const onlyRefused = READS.filter(({ path }) => !answered[`200 ${path}`] && !answered[`404 ${path}`]);
    expect(onlyRefused.map(({ path }) => path)).toEqual([]);
  });

  test("the statements of every list were recorded", () => {
    const lists = READS.filter(({ response }) => response !== null && "nextCursor" in (response.properties ?? {}));
    expect(lists.length).toBeGreaterThan(20);
    const silent = lists.filter(({ path }) => !reading.has(path) && !RECORD_LISTS.has(path));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  test("a scrape of the metrics reads the heads of the queues", () => {
    for (const table of ["messages", "callbacks"])
      expect([...scraped].filter((text) => text.includes(`from "${table}" where "owner"`))).toHaveLength(1);
  });

  test("no statement scans or sorts a table that grows, without statistics and with them", async () => {
    expect(recorded.size).toBeGreaterThan(50);
    const without = await plans.faultsIn([...recorded.values()]);
    await plans.collectStatistics();
    const withStatistics = await plans.faultsIn([...recorded.values()]);
    expect([...without, ...withStatistics.map((fault) => `with statistics: ${fault}`)]).toEqual([]);
  });
});

test.runIf(ENGINES.length > 1)("every exception is needed by a statement", () => {
  expect(unusedExceptions()).toEqual([]);
});

const UNKNOWN_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

/** The path with the first record of its list, so that the operation finds something to read. */
async function pathOf({ server }: FilledServer, { path }: Route): Promise<string> {
  const [parameter] = /:\w+/.exec(path) ?? [];
  if (parameter === undefined) return path;
  const list = LISTS[path] ?? path.slice(0, path.indexOf(`/${parameter}`));
  const { body } = await server.asOwner<{ data?: Record<string, string>[] }>("GET", list);
  const [first] = body.data ?? [];
  return path.replace(parameter, encodeURIComponent(first?.[parameter.slice(1)] ?? UNKNOWN_ID));
}

/** The operation without parameters, with each parameter alone, with every pair of them, and its second page. */
function requestsOf({ query = {} }: Route, path: string): string[] {
  const choices = Object.entries(query).flatMap(([name, parameter]) =>
    typeof parameter === "string" ? [] : valuesOf(parameter).map((value) => ({ name, given: `${name}=${encodeURIComponent(value)}` })),
  );
  const singles = choices.map(({ given }) => given);
  const isFirst = (name: string, index: number): boolean => choices.findIndex((choice) => choice.name === name) === index;
  const firsts = choices.filter(({ name }, index) => name !== "limit" && isFirst(name, index));
  const pairs = firsts.flatMap(({ given }, index) => firsts.slice(index + 1).map((other) => `${given}&${other.given}`));
  return ["", ...singles, ...pairs].map((given) => (given === "" ? path : `${path}?${given}`));
} // prettier-ignore

interface Valued {
  const?: string;
  examples?: readonly string[];
  anyOf?: readonly Valued[];
  default?: unknown;
}

/** The choices of an enumeration, or the sample of the reference. */
function valuesOf({ schema, example }: TypedParameter): string[] {
  const { anyOf = [], examples = [] } = (schema ?? {}) as Valued;
  const choices = anyOf.flatMap((branch) => branch.const ?? []);
  if (choices.length > 0) return choices;
  return [...examples, ...(example === undefined ? [] : [String(example)])].slice(0, 1);
}
