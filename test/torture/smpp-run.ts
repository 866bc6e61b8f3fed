import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import type { ServerProcess } from "../support/server-process.ts";
import { seededRandom } from "./random.ts";
import { newLedger, SmppStormClient, type SmppLedger } from "./smpp-clients.ts";
import { openTrial, type Trial } from "./trial.ts";

export interface SmppStormOptions {
  /** Cluster to create a database in, for two nodes; null for one on SQLite. */
  postgresUrl: string | null;
  /** Binds that are cut in the middle of their windows. */
  cuts: number;
  /** Times that a server is killed (SIGKILL) and started again. */
  kills: number;
  seed: number;
  onEvent?(done: { cuts: number; kills: number }): void;
}

export interface SmppStormReport {
  engine: "sqlite" | "postgres";
  seed: number;
  cuts: number;
  kills: number;
  /** Submit responses with an id. */
  acknowledged: number;
  /** Submits that the client repeated, because it had no answer. */
  repeated: number;
  throttled: number;
  refusedBinds: number;
  receipts: number;
  /** Receipts that came more than once. */
  duplicateReceipts: number;
  /** Texts that reached their phone more than once. */
  duplicateTexts: number;
  violations: string[];
  tookMs: number;
}

const BINDS = 2;
const WINDOW = 10;
const PROGRESS_WITHIN_MS = 240_000;
const SETTLE_WITHIN_MS = 400_000;
const ACKNOWLEDGED_PER_EVENT = 5;
const VIOLATIONS_MAX = 50;

/**
 * Cuts binds and kills servers under load. Afterwards each acknowledged id must have a receipt of its delivery, and each
 * acknowledged text must be on its phone.
 */
export async function runSmppStorm(options: SmppStormOptions): Promise<SmppStormReport> {
  const { postgresUrl, cuts, kills, seed, onEvent } = options;
  const startedAt = performance.now();
  const random = seededRandom(seed);
  const trial = await openTrial({ postgresUrl, seed });
  const ledger = newLedger();
  let client: SmppStormClient | null = null;
  try {
    const ports = [await freePort(), ...(postgresUrl === null ? [] : [await freePort()])];
    const servers: ServerProcess[] = [];
    for (const port of ports) servers.push(await trial.start({ HELIOGRAPH_SMPP_PORT: String(port) }));
    const { username, password } = await createSystemId(servers[0] as ServerProcess);
    client = new SmppStormClient({ ports, systemId: username, password, binds: BINDS, window: WINDOW, ledger, random });
    const storm = client;
    const done = { cuts: 0, kills: 0 };
    let progress = 0;
    while (done.cuts < cuts || done.kills < kills) {
      await sleep(random.between(1, 60));
      // On a busy machine nothing may have been accepted since the last event.
      await eventually(
        () => ledger.acknowledged.size,
        (count) => count >= progress + ACKNOWLEDGED_PER_EVENT,
        PROGRESS_WITHIN_MS,
      );
      progress = ledger.acknowledged.size;
      const left = { cuts: cuts - done.cuts, kills: kills - done.kills };
      if (random.next() * (left.cuts + left.kills) < left.kills) {
        const index = random.between(0, servers.length - 1);
        await (servers[index] as ServerProcess).kill("SIGKILL");
        servers[index] = await trial.restart(servers[index] as ServerProcess);
        done.kills += 1;
      } else if (storm.cut()) done.cuts += 1;
      onEvent?.(done);
    }
    storm.stopSubmitting();
    const violations = [...ledger.violations, ...(await untilReported(ledger))];
    const phones = await findOnPhones(trial, ledger);
    violations.push(...phones.violations);
    const acknowledged = [...ledger.acknowledged.keys()];
    const timesOf = (id: string): number => ledger.receipts.get(id)?.length ?? 0;
    const receipts = acknowledged.reduce((sum, id) => sum + timesOf(id), 0);
    return {
      engine: postgresUrl === null ? "sqlite" : "postgres",
      seed,
      ...done,
      acknowledged: acknowledged.length,
      repeated: ledger.repeated,
      throttled: ledger.throttled,
      refusedBinds: ledger.refusedBinds,
      receipts,
      duplicateReceipts: acknowledged.reduce((sum, id) => sum + Math.max(0, timesOf(id) - 1), 0),
      duplicateTexts: phones.duplicates,
      violations: violations.slice(0, VIOLATIONS_MAX),
      tookMs: Math.round(performance.now() - startedAt),
    };
  } finally {
    await client?.close();
    await trial.close();
  }
}

async function createSystemId({ baseUrl, apiKey }: ServerProcess): Promise<{ username: string; password: string }> {
  const response = await fetch(`${baseUrl}/api/credentials`, {
    method: "POST",
    headers: { apikey: apiKey, "content-type": "application/json" },
    // Binds of a killed node count until it is declared dead.
    body: JSON.stringify({ kind: "smpp", name: "storm", window: 100, maxBinds: 100 }),
  });
  if (response.status !== 201) throw new Error(`no system id: ${await response.text()}`);
  return (await response.json()) as { username: string; password: string };
}

/** Waits until every acknowledged id has a receipt. Returns the ids that have none, or another state than delivered. */
async function untilReported({ acknowledged, receipts }: SmppLedger): Promise<string[]> {
  const findMissing = (): string[] => [...acknowledged.keys()].filter((id) => !receipts.has(id));
  const until = performance.now() + SETTLE_WITHIN_MS;
  while (findMissing().length > 0 && performance.now() < until) await sleep(200);
  const wrong = [...acknowledged.keys()].filter((id) => receipts.get(id)?.some((state) => state !== "DELIVRD"));
  return [
    ...findMissing().map((id) => `acknowledged without a receipt: ${id} to ${acknowledged.get(id)?.to}`),
    ...wrong.map((id) => `receipts of ${id}: ${receipts.get(id)?.join(", ")}`),
  ];
}

/** Reads the phones from the tables: a text of which every part is acknowledged must be on its phone, whole. */
async function findOnPhones(
  trial: Trial,
  { whole }: SmppLedger,
): Promise<{ violations: string[]; duplicates: number }> {
  const { select } = await trial.storeReader();
  const rows = await select(
    "select number, count(*) as times from phone_messages where sender = 'STORM' group by number",
  );
  const times = new Map(rows.map((row) => [String(row["number"]), Number(row["times"])]));
  const violations = [...whole].filter((to) => !times.has(to)).map((to) => `acknowledged text not on its phone: ${to}`);
  const duplicates = [...times.values()].reduce((sum, count) => sum + count - 1, 0);
  return { violations, duplicates };
}
