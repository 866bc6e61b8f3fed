import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startCluster, type Cluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { callApi } from "./api-client.ts";
import { openBarePostgres, openBareSqlite } from "./bare-store.ts";
import { fillHistory } from "./fill-history.ts";
import { fillLists } from "./fill-lists.ts";

/** A store with a given number of messages, kept in a folder for later runs. */
export interface FilledStore {
  messages: number;
  links: number;
  /** Start of the 90 days that it covers. */
  firstAt: number;
  /** Process ids whose CPU time is that of the server and its database. */
  pids(): Promise<number[]>;
  server: ServerProcess;
  /** Absent on SQLite. */
  databaseUrl?: string;
  close(): Promise<void>;
}

interface Facts {
  env: Record<string, string>;
  links: number;
  firstAt: number;
}

const LINKS_MAX = 1_000_000;

/** Creates the records that `fillHistory` copies. */
export async function createSampleRecords(server: ServerProcess): Promise<void> {
  await callApi(server, "PATCH", "/api/account", { keepTextsDays: 400 });
  await callApi(server, "POST", "/api/templates", {
    name: "bench",
    channel: "sms",
    text: "Your order {1} is on its way.",
  });
  const webhook = { name: "bench", url: "https://shop.example/events", channel: "sms", events: ["user_message"] };
  const { id } = await callApi<{ id: string }>(server, "POST", "/api/webhooks", webhook);
  const dlr = { name: "bench", url: "https://shop.example/reports" };
  const { id: dlrId } = await callApi<{ id: string }>(server, "POST", "/api/dlr-configs", dlr);
  // Only the originals of the copies: disabled, so that the measured account has no webhook deliveries.
  await callApi(server, "PATCH", `/api/webhooks/${id}`, { enabled: false });
  await callApi(server, "PATCH", `/api/dlr-configs/${dlrId}`, { enabled: false });
}

/** Starts the server on the store in the folder, and fills the store first if it does not exist. */
export async function openFilledStore(
  folder: string,
  engine: string,
  messages: number,
  progress: (line: string) => void,
): Promise<FilledStore> {
  const dataDir = join(folder, `${engine}-${messages}`);
  const factsFile = join(dataDir, "facts.json");
  await mkdir(dataDir, { recursive: true });
  const cluster = engine === "postgres" ? await startCluster({ keepIn: join(dataDir, "postgres") }) : null;
  const common = { dataDir, ...(cluster ? { databaseUrl: cluster.url } : {}) };
  if (!existsSync(factsFile)) await fill(common, messages, factsFile, progress);
  const { env, links, firstAt } = JSON.parse(await readFile(factsFile, "utf8")) as Facts;
  const server = await startServer({ ...common, env });
  await untilIndexed(server, progress);
  return {
    messages,
    links,
    firstAt,
    server,
    ...(cluster && { databaseUrl: cluster.url }),
    pids: async () => [server.pid, ...(cluster ? await backendsOf(cluster) : [])],
    async close() {
      await server.kill("SIGTERM");
      await cluster?.stop();
    },
  };
}

/** The server indexes existing messages for the search in the background: up to 20,000 per second. */
async function untilIndexed(server: ServerProcess, progress: (line: string) => void): Promise<void> {
  // Only the index tells within a few requests that a number has no messages.
  const search = `/api/messages?recipient=${UNUSED_NUMBER}`;
  for (let lastMs = Infinity; lastMs > INDEXED_SEARCH_MS; await pause(5000)) {
    const sentAt = performance.now();
    // The time limit of searches ends it while many messages are not indexed.
    const isAnswered = await callApi(server, "GET", search).then(
      () => true,
      () => false,
    );
    lastMs = isAnswered ? performance.now() - sentAt : Infinity;
    progress(`search of an unused number: ${lastMs.toFixed(0)} ms`);
  }
}

const UNUSED_NUMBER = "15550199999";
const INDEXED_SEARCH_MS = 150;

async function fill(
  common: { dataDir: string; databaseUrl?: string },
  messages: number,
  factsFile: string,
  progress: (line: string) => void,
): Promise<void> {
  const { dataDir, databaseUrl } = common;
  const first = await startServer(common);
  await createSampleRecords(first);
  await first.kill("SIGTERM");
  const links = Math.min(LINKS_MAX, messages);
  const bare = await (databaseUrl === undefined
    ? openBareSqlite(join(dataDir, "heliograph.db"))
    : openBarePostgres(databaseUrl));
  const firstAt = await fillHistory(bare, { rows: messages, links, webhooks: 100, templates: 1000 }, progress);
  await fillLists(bare, messages, progress);
  await bare.close();
  const facts: Facts = {
    env: {
      HELIOGRAPH_API_KEY: first.apiKey,
      HELIOGRAPH_TEST_API_KEY: first.testKey,
      HELIOGRAPH_ADMIN_PASSWORD: first.adminPassword,
    },
    links,
    firstAt,
  };
  await writeFile(factsFile, JSON.stringify(facts));
}

/** The postmaster and its processes. */
async function backendsOf({ dataDir }: Cluster): Promise<number[]> {
  const postmaster = Number((await readFile(join(dataDir, "postmaster.pid"), "utf8")).split("\n", 1)[0]);
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, "utf8");
  return [postmaster, ...children.trim().split(" ").filter(Boolean).map(Number)];
}

const TICKS_PER_SECOND = 100;

/** CPU time of processes so far, in ms; 0 where the system has no /proc. */
export async function cpuMsOf(pids: readonly number[]): Promise<number> {
  const times = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      // The name in parentheses may hold spaces; the fields are counted from behind it.
      const [user, system] = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .slice(11, 13);
      return ((Number(user ?? 0) + Number(system ?? 0)) * 1000) / TICKS_PER_SECOND;
    }),
  );
  return times.reduce((sum, ms) => sum + ms, 0);
}
