import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/lib/clock.ts";
import { Smsc } from "../../src/smsc/smsc.ts";
import { eventually } from "../support/eventually.ts";
import type { ServerProcess } from "../support/server-process.ts";
import { readLedger } from "../torture/ledger.ts";
import { seedOf } from "../torture/random.ts";
import { openReportSink } from "../torture/report-sink.ts";
import type { PhoneRow, StoredRow } from "../torture/stored-rows.ts";
import { SENDER } from "../torture/traffic.ts";
import { openTrial, type Trial } from "../torture/trial.ts";
import { openFaultProxy } from "./fault-proxy.ts";
import { ROWS, runRow, watchPromotion, type Drill, type Row } from "./rows.ts";
import { missingPrograms, startStack, type Stack } from "./stack.ts";

/**
 * The failover drill: three etcd, three PostgreSQL servers with Patroni, HAProxy, two nodes and an SMSC on this machine. Each row
 * breaks something under load; afterwards the ledger proves that nothing was lost.
 *
 *   npm run drill [-- --rate 100 --only switchover --json FILE]
 *   npm run drill -- --up        starts it all and waits for Ctrl-C
 */

const { values: options } = parseArgs({
  options: {
    rate: { type: "string", default: "100" },
    only: { type: "string" },
    json: { type: "string" },
    seed: { type: "string" },
    up: { type: "boolean", default: false },
  },
});

const WINDOW = 50;
const STEADY_MS = 3000;
const BACK_AFTER = 200;
const BACK_WITHIN_MS = 120_000;
const PROMOTED_WITHIN_MS = 60_000;
const VIOLATIONS_SHOWN = 10;
const KEY_IN_TEXT = /^Message of (\S+)$/;

interface Result {
  row: string;
  accepted: number;
  lost: number;
  orphaned: number;
  duplicates: number;
  heldInDoubt: number;
  callbacksRepeated: number;
  /** From the fault until another server was primary. */
  promotionMs: number | null;
  /** The longest time without a 200. */
  gapMs: number;
  violations: readonly string[];
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const missing = missingPrograms();
if (missing.length > 0) {
  print(`The drill needs ${missing.join(", ")}: apt-get install patroni etcd-server haproxy postgresql`);
  process.exit(2);
}

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());

print("starting etcd, Patroni, PostgreSQL and HAProxy …");
const stack = await startStack();
let results: Result[];
try {
  results = await withStack(stack);
} finally {
  await stack.close();
}
if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`);
process.exit(results.some(({ violations }) => violations.length > 0) ? 1 : 0);

async function withStack({ members, primaryPort, urlOf, nodePorts, apiPort }: Stack): Promise<Result[]> {
  const networks = [
    [await openFaultProxy(primaryPort)],
    await Promise.all(members.map(({ pgPort }) => openFaultProxy(pgPort))),
  ] as const;
  const seed = seedOf(options.seed);
  const trial = await openTrial({
    postgresUrl: null,
    databaseUrl: urlOf(members.map(({ pgPort }) => pgPort)),
    seed,
    window: WINDOW,
    isThrottled: false,
    env: { HELIOGRAPH_NODE_SILENT_SECONDS: "10", HELIOGRAPH_ACCEPT_WAIT_MS: "5000" },
  });
  const received: { key: string; number: string; at: number }[] = [];
  const smsc = await Smsc.open({
    port: 0,
    clock: systemClock,
    onTaken({ shortMessage, destination }) {
      const key = KEY_IN_TEXT.exec(shortMessage.toString("latin1"))?.[1] ?? "";
      received.push({ key, number: destination.address.replace(/^\+/, ""), at: Date.now() });
    },
  });
  const sink = await openReportSink();
  try {
    const start = (node: 0 | 1): Promise<ServerProcess> =>
      trial.start({
        HELIOGRAPH_PORT: String(nodePorts[node]),
        HELIOGRAPH_DATABASE_URL: urlOf(networks[node].map(({ port }) => port)),
      });
    // Configured before the second node starts, which would otherwise refuse the first requests.
    const first = await start(0);
    await useSmsc(first, smsc.port);
    await sink.register(first);
    const nodes: Drill["nodes"] = [first, await start(1)];
    const drill: Drill = {
      stack,
      nodes,
      networks,
      async restart(node) {
        nodes[node] = await trial.restart(nodes[node]);
      },
    };
    print(`API http://127.0.0.1:${apiPort} (seed ${seed}), key ${nodes[0].apiKey}`);
    if (options.up) {
      print("Ctrl-C ends it.");
      await sleep(2 ** 31 - 1, null, { signal: stopping.signal }).catch(() => {});
      return [];
    }
    const onSmsc = (messages: AsyncIterable<StoredRow>): Promise<PhoneRow[]> => phoneRows(received, messages);
    const runs = createRuns(trial, drill, (kills) => trial.verify(kills, new Map(), sink.reported, onSmsc));
    const found: Result[] = [];
    const chosen = ROWS.filter(({ name }) => options.only === undefined || name.includes(options.only));
    for (const row of chosen) {
      if (stopping.signal.aborted) break;
      if (row.needsDisks && !stack.hasDisks) {
        print(`SKIPPED ${row.name}: mounting a small disk is not permitted`);
        continue;
      }
      const result = await runs(row);
      found.push(result);
      print(lineOf(result));
      for (const violation of result.violations.slice(0, VIOLATIONS_SHOWN)) print(`  VIOLATION ${violation}`);
    }
    print(tableOf(found));
    return found;
  } finally {
    await trial.close();
    await sink.close();
    await smsc.close();
    for (const network of networks.flat()) network.close();
  }
}

type Verify = (kills: readonly number[]) => ReturnType<Trial["verify"]>;

/** Runs rows one after the other on the same database; the figures of a row are what it adds to those before it. */
function createRuns(trial: Trial, drill: Drill, verify: Verify): (row: Row) => Promise<Result> {
  const kills: number[] = [];
  const known = new Set<string>();
  let before = { accepted: 0, duplicates: 0, heldInDoubt: 0, reportsRepeated: 0 };
  return async (row) => {
    await drill.stack.untilWhole();
    const api = { ...drill.nodes[0], baseUrl: `http://127.0.0.1:${drill.stack.apiPort}` };
    const client = trial.send([api], Number(options.rate));
    await eventually(trial.countAccepted, (count) => count > before.accepted + BACK_AFTER / 4, BACK_WITHIN_MS);
    await sleep(STEADY_MS);
    const promotion = row.promotes ? await watchPromotion(drill.stack, PROMOTED_WITHIN_MS) : null;
    const startedAt = Date.now();
    kills.push(startedAt);
    await runRow(row, drill);
    const repaired = await trial.countAccepted();
    // Back without a human: the load goes on by itself.
    await eventually(trial.countAccepted, (count) => count > repaired + BACK_AFTER, BACK_WITHIN_MS);
    const endedAt = Date.now();
    await client.stop();
    const promotionMs = (await promotion?.()) ?? null;
    const findings = await verify(kills);
    const violations = findings.violations.filter((violation) => !known.has(violation));
    for (const violation of violations) known.add(violation);
    const result: Result = {
      row: row.name,
      accepted: findings.accepted - before.accepted,
      lost: violations.filter((violation) => violation.startsWith("I1")).length,
      orphaned: violations.filter((violation) => /^(I2|I3|ledger)/.test(violation)).length,
      duplicates: findings.duplicates - before.duplicates,
      heldInDoubt: findings.heldInDoubt - before.heldInDoubt,
      callbacksRepeated: findings.reportsRepeated - before.reportsRepeated,
      promotionMs: promotionMs === null ? null : Math.round(promotionMs),
      gapMs: await longestGap(trial.ledger, startedAt, endedAt),
      violations,
    };
    before = findings;
    return result;
  };
}

/** Makes the SMSC the only route, with connections for both nodes. */
async function useSmsc(server: ServerProcess, port: number): Promise<void> {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(server.baseUrl + path, {
      method,
      headers: { apikey: server.apiKey, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return answer.status === 204 ? null : await answer.json();
  };
  const { data } = (await call("GET", "/api/routes")) as { data: { id: string }[] };
  const smpp = { host: "127.0.0.1", port, systemId: "drill", password: "secret", connections: 4, receipts: "all" };
  await call("POST", "/api/carriers", { name: "drill", adapter: "smpp", smpp });
  await call("POST", "/api/routes", { name: "drill", channel: "sms", carrier: "drill", priority: 1 });
  for (const { id } of data) await call("DELETE", `/api/routes/${id}`);
  await call("PATCH", "/api/account", { sameText: null });
  // Only the simulator takes any sender.
  await call("POST", "/api/senders", { name: SENDER });
}

/** Finds the message of each submit by the key in its text and by its number. */
async function phoneRows(
  received: readonly { key: string; number: string; at: number }[],
  messages: AsyncIterable<StoredRow>,
): Promise<PhoneRow[]> {
  const ids = new Map<string, string>();
  for await (const { key, recipient, messageId } of messages) ids.set(`${key} ${recipient}`, messageId);
  return received.map(({ key, number, at }) => ({
    messageId: ids.get(`${key} ${number}`) ?? `unknown message to ${number} of ${key}`,
    number,
    receivedAt: at,
  }));
}

async function longestGap(ledger: string, from: number, to: number): Promise<number> {
  let [last, longest] = [from, 0];
  const times: number[] = [];
  for await (const entry of readLedger(ledger)) if (entry.entry === "accepted") times.push(entry.at ?? 0);
  for (const at of [...times.filter((time) => time >= from && time <= to).toSorted((a, b) => a - b), to]) {
    longest = Math.max(longest, at - last);
    last = at;
  }
  return longest;
}

function seconds(ms: number | null): string {
  return ms === null ? "–" : `${(ms / 1000).toFixed(1)} s`;
}

function lineOf(result: Result): string {
  return (
    `${result.row}: ${result.accepted} requests accepted, ${result.lost} lost, ${result.orphaned} orphaned, ` +
    `${result.duplicates} duplicates, ${result.heldInDoubt} held in doubt, ${result.callbacksRepeated} callbacks repeated, ` +
    `promotion ${seconds(result.promotionMs)}, longest gap ${seconds(result.gapMs)}, ${result.violations.length} violations`
  );
}

function tableOf(found: readonly Result[]): string {
  const rows = found.map(
    (result) =>
      `| ${result.row} | ${result.accepted} | ${result.lost} | ${result.orphaned} | ${result.duplicates} | ${result.heldInDoubt} | ` +
      `${result.callbacksRepeated} | ${seconds(result.promotionMs)} | ${seconds(result.gapMs)} |`,
  );
  return [
    "| Row | Accepted | Lost | Orphaned | Duplicates | In doubt | Callbacks repeated | Promotion | Longest gap |",
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ...rows,
  ].join("\n");
}
