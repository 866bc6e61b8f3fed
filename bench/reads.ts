// Latency of every list, search and page on a store of a given size, and of sends while people use the dashboard.
// Run: npm run bench:reads [-- --size 10000,1000000,10000000 --engine sqlite,postgres --folder /data/bench-reads
//   --label current --seconds 8 --rounds 3 --only pages|sends]
// Filled stores stay in the folder for later runs; ten million messages take about 8 GB.
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { logIn } from "../test/support/session-user.ts";
import { callApi, portOf } from "./api-client.ts";
import type { HttpRequest, Person, Program, UserLatency, UsersLoad, UsersMeasured } from "./dashboard-users.ts";
import { RARE, TEMPLATE, carrierIdOf, recipientOf } from "./message-fields.ts";
import { codeOf } from "./fill-links.ts";
import { cpuMsOf, openFilledStore, type FilledStore } from "./filled-store.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { median, print } from "./report.ts";
import { readResult } from "./targets.ts";

const { values: options } = parseArgs({
  options: {
    size: { type: "string", default: "10000,1000000" },
    engine: { type: "string", default: "sqlite,postgres" },
    /** Default: a temporary folder, which is removed at the end. */
    folder: { type: "string" },
    /** Name of the measured version: results of other versions are kept beside it. */
    label: { type: "string", default: "current" },
    /** The length of one measurement of sends. */
    seconds: { type: "string", default: "8" },
    rounds: { type: "string", default: "3" },
    /** `pages` or `sends`; default: both. */
    only: { type: "string" },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const DAY_MS = 86_400_000;
const PAGES = 60;
const PAGE_SECONDS = 6;
const VARIANTS = 20;
const PEOPLE = 50;
const CAMPAIGN_READERS = 10;
const READ_MS = 1000;

const startedAt = performance.now();
const printProgress = (line: string): void =>
  print(`  ${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${line}`);

interface Page {
  name: string;
  paths: readonly string[];
  /** Follows the cursor until a row is found, or the list ends. */
  untilFound?: boolean;
  /** Default: `something`. */
  finds?: Person["finds"];
  /** Query parameter without which the page cannot be measured: versions that lack it skip the page. */
  needs?: string;
}

const variants = (pathOf: (index: number) => string): string[] => Array.from({ length: VARIANTS }, (_, i) => pathOf(i));

/** Every list, search and page that grows with the store. */
async function pagesOf(store: FilledStore): Promise<Page[]> {
  type Document = { paths: Record<string, { get: { parameters: { name: string }[] } }> };
  const { paths } = await callApi<Document>(store.server, "GET", "/openapi.json");
  const known = paths["/api/messages"]?.get.parameters.map(({ name }) => name);
  return (await allPagesOf(store)).filter(({ needs }) => needs === undefined || known?.includes(needs));
}

async function allPagesOf({ server, messages, firstAt }: FilledStore): Promise<Page[]> {
  type List = { data: { messageId: string }[] };
  const { data: campaigns } = await callApi<{ data: { id: string }[] }>(server, "GET", "/api/campaigns?limit=20");
  const ids = (
    await Promise.all(
      variants((day) => `/api/messages?limit=1&to=${firstAt + (day + 1) * 4 * DAY_MS}`).map((path) =>
        callApi<List>(server, "GET", path),
      ),
    )
  ).flatMap(({ data }) => data.map(({ messageId }) => encodeURIComponent(messageId)));
  /** Messages of the first account, spread over the 90 days. */
  const spread = (index: number): number => Math.floor(((index + 0.5) / VARIANTS) * messages * 0.8);
  const search = (name: string, queries: readonly string[]): Page => ({
    name,
    paths: queries.map((query) => `/api/messages?${query}`),
    untilFound: true,
  });
  const nothing = (name: string, queries: readonly string[]): Page => ({ ...search(name, queries), finds: "nothing" });
  /** Two to four fields at a time, with frequent, rare and unknown values. */
  const combinations = (place: (index: number) => number): string[] =>
    Array.from({ length: PAGES }, (_, i) => {
      const at = place((i * 7) % VARIANTS);
      const number = recipientOf(at, messages);
      const day = Math.floor((at / (messages * 0.8)) * 90);
      const fields = [
        `status=${["Delivered", "Failed", "Pending"][i % 3]}`,
        `templateName=${[TEMPLATE, RARE.template, "unknown"][(i >> 1) % 3]}`,
        i % 2 === 0 ? `recipient=${number}` : `recipientEnding=${number.slice(-4)}`,
        `campaignName=campaign-${i % 51}`,
        `from=${firstAt + day * DAY_MS}&to=${firstAt + (day + 1 + (i % 30)) * DAY_MS}`,
        `channel=sms&type=PROMO`,
        `test=${i % 5 === 0}`,
      ];
      const size = 2 + (i % 3);
      return Array.from({ length: size }, (_each, next) => fields[(i + next * (1 + (i % 2))) % fields.length]).join("&");
    });
  const one = (name: string, path: string): Page => ({ name, paths: [path] });
  return [
    one("messages", "/api/messages"),
    search("search: number", variants((i) => `recipient=${recipientOf(spread(i), messages)}`)),
    search("search: number, 90 days old", [`recipient=${RARE.recipient}`]),
    { ...search("search: last 4 digits", variants((i) => `recipientEnding=${recipientOf(spread(i), messages).slice(-4)}`)), needs: "recipientEnding" },
    { ...search("search: last 7 digits, 90 days old", [`recipientEnding=${RARE.recipient.slice(-7)}`]), needs: "recipientEnding" },
    { ...search("search: message id", ids.map((id) => `messageId=${id}`)), needs: "messageId" },
    { ...search("search: carrier's id", variants((i) => `carrierMessageId=${carrierIdOf(spread(i))}`)), needs: "carrierMessageId" },
    search("search: campaign and status", variants((i) => `campaignName=campaign-${i}&status=Failed`)),
    search("search: template", [`templateName=${TEMPLATE}`]),
    search("search: template, 90 days old", [`templateName=${RARE.template}`]),
    search("search: rare status", ["status=Pending"]),
    search("search: number and status", variants((i) => `recipient=${recipientOf(spread(i), messages)}&status=Failed`)),
    search("search: a day, 80 days ago", [`from=${firstAt + 10 * DAY_MS}&to=${firstAt + 11 * DAY_MS}`]),
    nothing("search without a match: number", variants((i) => `recipient=1999${1_000_000 + i}`)),
    nothing("search without a match: number and template", variants((i) => `recipient=${recipientOf(spread(i), messages)}&templateName=unknown`)),
    nothing("search without a match: campaign and template", variants((i) => `campaignName=campaign-${i + 10}&templateName=${RARE.template}`)),
    nothing("search without a match: status and template", [`status=Pending&templateName=${TEMPLATE}`]),
    nothing("search without a match: channel", ["channel=rcs", "channel=chatapp&status=Failed", "test=true"]),
    { ...search("search: any combination", combinations(spread)), finds: "anything" },
    { name: "message page", paths: ids.map((id) => `/api/messages/${id}`) },
    { name: "GET /v1/messages/{id}", paths: ids.map((id) => `/v1/messages/${id}`) },
    one("campaigns", "/api/campaigns"),
    { name: "campaign page", paths: campaigns.map(({ id }) => `/api/campaigns/${id}`) },
    one("links", "/api/links"),
    one("statistics, a day", "/api/stats"),
    one("statistics, 90 days", `/api/stats?from=${firstAt}`),
    one("statistics by carrier, a day", "/api/stats/breakdown?by=carrier"),
    one("statistics by country, a day", "/api/stats/breakdown?by=country"),
    one("statistics by country, 90 days", `/api/stats/breakdown?by=country&from=${firstAt}`),
    one("callbacks", "/api/callbacks"),
    one("callbacks, failed", "/api/callbacks?state=exhausted"),
    one("opt-outs", "/api/optouts"),
    one("verifications", "/api/verifications"),
    one("inbound", "/v1/inbound"),
    one("audit log", "/api/audit"),
    one("ledger", "/api/credits/ledger"),
    one("unmatched receipts", "/api/receipts"),
    one("simulated phones", "/api/simulator/phones"),
    one("system", "/api/system"),
  ];
} // prettier-ignore

type PageResult = UserLatency & { cpuMs: number };

const load = new LoadProcess<UsersLoad, UsersMeasured>("dashboard-users.ts");

async function measurePages(store: FilledStore, cookie: string): Promise<PageResult[]> {
  const results: PageResult[] = [];
  for (const { name, paths, untilFound = false, finds = "something" } of await pagesOf(store)) {
    const requests = paths.map((path): HttpRequest => ({ method: "GET", path, headers: { cookie } }));
    const person: Person = { name, requests, readMs: 0, untilFound, finds };
    const run = (pages: number): Promise<UsersMeasured> =>
      load.run({ port: portOf(store.server), seconds: PAGE_SECONDS, pages, people: [person], programs: [] });
    await run(3);
    const pids = await store.pids();
    const before = await cpuMsOf(pids);
    const [measured] = (await run(PAGES)).users;
    if (!measured) throw new Error(`${name} was not measured`);
    const cpuMs = ((await cpuMsOf(pids)) - before) / Math.max(1, measured.count);
    results.push({ ...measured, cpuMs });
    printProgress(`${name}: ${describe(measured)}, CPU ${cpuMs.toFixed(1)} ms`);
  }
  return results;
}

function describe({ p50Ms, p95Ms, p99Ms, count, requestsMax, failures }: UserLatency): string {
  const failed = Object.entries(failures).map(([status, times]) => `${times} × ${status}`);
  const times = count === 0 ? "none" : `${[p50Ms, p95Ms, p99Ms].map((ms) => ms.toFixed(1)).join(", ")} ms (${count})`;
  return [times, ...(requestsMax > 1 ? [`${requestsMax} requests`] : []), ...failed].join(", ");
}

/** The load of customers' programs: every kind of request that people must not delay. */
function programsOf({ server, links }: FilledStore, messageIds: readonly string[]): Program[] {
  const headers = { apikey: server.apiKey };
  const send = (type: string, first: number): HttpRequest[] =>
    Array.from({ length: 5000 }, (_, index) => {
      const to = String(first + index);
      const body = JSON.stringify({ sender: "HELIOG", to, text: `Your code is ${100_000 + index}`, type });
      return { method: "POST", path: "/v1/sms", headers, body };
    });
  const linkPaths = Array.from({ length: 2000 }, () => `/s/${codeOf(Math.floor(Math.random() * links), links)}`);
  const agent = { "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Mobile/15E148 Safari/604.1" };
  return [
    { name: "OTP", requests: send("OTP", 12_025_550_000), perSecond: 20 },
    { name: "TRANS", requests: send("TRANS", 13_105_550_000), perSecond: 20 },
    { name: "PROMO", requests: send("PROMO", 14_155_550_000), perSecond: 20 },
    {
      name: "short link",
      requests: linkPaths.map((path) => ({ method: "GET", path, headers: agent })),
      perSecond: 40,
      success: 3,
    },
    {
      name: "GET one message",
      requests: messageIds.map((id) => ({ method: "GET", path: `/v1/messages/${id}`, headers })),
      perSecond: 20,
    },
  ];
}

interface SendResult {
  name: string;
  alone: Pick<UserLatency, "p50Ms" | "p95Ms" | "p99Ms">;
  withPeople: Pick<UserLatency, "p50Ms" | "p95Ms" | "p99Ms">;
  failures: Record<string, number>;
}

/** Alternates between programs alone and programs with people, so that variations of the machine affect both. */
async function measureSends(store: FilledStore, cookie: string): Promise<SendResult[]> {
  const pages = await pagesOf(store);
  const messageIds = (pages.find(({ name }) => name === "message page")?.paths ?? []).map((path) => path.slice("/api/messages/".length)); // prettier-ignore
  const programs = programsOf(store, messageIds);
  const shown = (paths: readonly string[]): HttpRequest[] =>
    paths.map((path) => ({ method: "GET", path, headers: { cookie } }));
  const others = pages.filter(({ name }) => name !== "campaigns").map(({ paths }) => paths[0] ?? "/api/messages");
  const people = Array.from({ length: PEOPLE }, (_, index): Person => {
    const isCampaignReader = index < CAMPAIGN_READERS;
    const requests = shown(isCampaignReader ? ["/api/campaigns"] : others);
    return { name: isCampaignReader ? "people: campaigns" : "people: other pages", requests, readMs: READ_MS };
  });
  const port = portOf(store.server);
  const run = (given: readonly Person[], seconds = SECONDS): Promise<UsersMeasured> =>
    load.run({ port, seconds, people: given, programs });
  await run([], 2);
  const rounds: { alone: UsersMeasured; withPeople: UsersMeasured }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const alone = await run([]);
    const withPeople = await run(people);
    rounds.push({ alone, withPeople });
  }
  const names = [...programs.map(({ name }) => name), "people: campaigns", "people: other pages"];
  return names.map((name) => {
    const latencyIn = (side: "alone" | "withPeople") => {
      const found = rounds.flatMap((round) => round[side].users.filter((user) => user.name === name));
      const of = (field: "p50Ms" | "p95Ms" | "p99Ms"): number => median(found.map((user) => user[field]));
      return { p50Ms: of("p50Ms"), p95Ms: of("p95Ms"), p99Ms: of("p99Ms") };
    };
    const failures: Record<string, number> = {};
    for (const { failures: some } of rounds.flatMap((round) => round.withPeople.users.filter((user) => user.name === name)))
      for (const [status, times] of Object.entries(some)) failures[status] = (failures[status] ?? 0) + times;
    const result = { name, alone: latencyIn("alone"), withPeople: latencyIn("withPeople"), failures };
    const failed = Object.entries(failures).map(([status, times]) => `, ${times} × ${status}`);
    printProgress(
      `${name}: p50 ${result.alone.p50Ms.toFixed(1)} → ${result.withPeople.p50Ms.toFixed(1)} ms, p99 ${result.alone.p99Ms.toFixed(1)} → ${result.withPeople.p99Ms.toFixed(1)} ms${failed.join("")}`,
    );
    return result;
  });
} // prettier-ignore

interface Result {
  engine: string;
  size: number;
  label: string;
  /** Load average of the machine before and after. */
  loadBefore: number;
  loadAfter: number;
  pages: PageResult[];
  sends: SendResult[];
}

async function measure(folder: string, engine: string, size: number): Promise<Result> {
  const name = `${engine}, ${size.toLocaleString("en")} messages`;
  const store = await openFilledStore(folder, engine, size, (line) => printProgress(`${name}: ${line}`));
  try {
    const [loadBefore = 0] = loadavg();
    printProgress(`${name}, load ${loadBefore.toFixed(1)}`);
    const { cookie } = await logIn(store.server.baseUrl, {
      email: "admin@localhost",
      password: store.server.adminPassword,
    });
    const pages = options.only === "sends" ? [] : await measurePages(store, cookie);
    const sends = options.only === "pages" ? [] : await measureSends(store, cookie);
    const [loadAfter = 0] = loadavg();
    return { engine, size, label: options.label, loadBefore, loadAfter, pages, sends };
  } finally {
    await store.close();
  }
}

/** Replaces the result of the same engine, size and label, and keeps all others. */
async function save(result: Result): Promise<void> {
  const isSame = (other: Result): boolean =>
    other.engine === result.engine && other.size === result.size && other.label === result.label;
  const all = (readResult("reads")?.results ?? []) as unknown as Result[];
  const old = all.find(isSame);
  const merged = {
    ...result,
    pages: result.pages.length > 0 ? result.pages : (old?.pages ?? []),
    sends: result.sends.length > 0 ? result.sends : (old?.sends ?? []),
  };
  const results = [...all.filter((other) => !isSame(other)), merged].toSorted(
    (a, b) => a.engine.localeCompare(b.engine) || a.size - b.size || a.label.localeCompare(b.label),
  );
  await record("reads", { people: PEOPLE, seconds: SECONDS, rounds: ROUNDS, results });
}

const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "heliograph-reads-")));
try {
  for (const size of options.size.split(",").map(Number))
    for (const engine of options.engine.split(",")) await save(await measure(folder, engine, size));
} finally {
  load.end();
  if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
}
