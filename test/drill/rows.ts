import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../support/eventually.ts";
import type { ServerProcess } from "../support/server-process.ts";
import type { FaultProxy } from "./fault-proxy.ts";
import type { Member, Stack } from "./stack.ts";

/** The parts that a row breaks. */
export interface Drill {
  stack: Stack;
  /** Node 1 reaches the primary through HAProxy, node 2 by a URL with all servers. */
  nodes: [ServerProcess, ServerProcess];
  /** The networks of each node to its database. */
  networks: readonly [readonly FaultProxy[], readonly FaultProxy[]];
  restart(node: 0 | 1): Promise<void>;
}

export interface Row {
  name: string;
  /** The row ends the service of the primary, so that Patroni promotes a standby. */
  promotes?: boolean;
  needsDisks?: boolean;
  /** Breaks something under load. */
  run(drill: Drill): Promise<void>;
  /** The pause between fault and repair. */
  lastsMs: number;
  /** Ends the fault, as a supervisor, the network or the operator of the disk would. */
  repair?(drill: Drill): Promise<void> | void;
}

let target: Member | null = null;
const targetMember = (): Member => target as Member;

export const ROWS: readonly Row[] = [
  {
    name: "primary killed (-9)",
    promotes: true,
    lastsMs: 15_000,
    async run({ stack }) {
      process.kill(postmasterOf(await stack.primary()), "SIGKILL");
    },
  },
  {
    name: "primary and its Patroni killed (-9)",
    promotes: true,
    lastsMs: 35_000,
    async run({ stack }) {
      target = await stack.primary();
      await target.patroni.kill();
      process.kill(postmasterOf(target), "SIGKILL");
    },
    repair: () => targetMember().patroni.start(),
  },
  {
    name: "switchover",
    promotes: true,
    lastsMs: 15_000,
    async run({ stack }) {
      const [primary, standby] = [await stack.primary(), await stack.synchronousStandby()];
      const answer = await fetch(`http://127.0.0.1:${primary.restPort}/switchover`, {
        method: "POST",
        body: JSON.stringify({ leader: primary.name, candidate: standby.name }),
      });
      if (!answer.ok) throw new Error(`the switchover was refused: ${await answer.text()}`);
    },
  },
  {
    name: "two of three etcd killed for 30 s",
    lastsMs: 30_000,
    async run({ stack }) {
      for (const member of stack.etcd.slice(0, 2)) await member.kill();
    },
    repair({ stack }) {
      for (const member of stack.etcd.slice(0, 2)) member.start();
    },
  },
  {
    name: "synchronous standby hangs (SIGSTOP) for 30 s",
    lastsMs: 30_000,
    async run({ stack }) {
      target = await stack.synchronousStandby();
      signalServer(target, "SIGSTOP");
    },
    repair: () => signalServer(targetMember(), "SIGCONT"),
  },
  {
    name: "node killed (-9), restarted after 5 s",
    lastsMs: 5_000,
    async run({ nodes }) {
      await nodes[0].kill("SIGKILL");
    },
    repair: ({ restart }) => restart(0),
  },
  {
    name: "node stopped (SIGSTOP) for 60 s",
    lastsMs: 60_000,
    async run({ nodes }) {
      process.kill(nodes[1].pid, "SIGSTOP");
    },
    repair: ({ nodes }) => void process.kill(nodes[1].pid, "SIGCONT"),
  },
  {
    name: "node cut from the database for 20 s",
    lastsMs: 20_000,
    async run({ networks }) {
      for (const network of networks[0]) network.set("refuses");
    },
    repair({ networks }) {
      for (const network of networks[0]) network.set("works");
    },
  },
  {
    name: "database is a black hole for 30 s",
    lastsMs: 30_000,
    async run({ networks }) {
      for (const network of networks.flat()) network.set("swallows");
    },
    repair({ networks }) {
      for (const network of networks.flat()) network.set("works");
    },
  },
  {
    name: "disk of the primary full for 20 s",
    needsDisks: true,
    lastsMs: 20_000,
    async run({ stack }) {
      target = await stack.primary();
      fill(ballastOf(target));
    },
    repair: () => rmSync(ballastOf(targetMember())),
  },
];

/** Time from now until another member than the present primary is primary, in ms; null if none becomes it in time. */
export async function watchPromotion(stack: Stack, withinMs: number): Promise<() => Promise<number | null>> {
  const former = await stack.primary();
  const startedAt = performance.now();
  const others = stack.members.filter((member) => member !== former);
  const promoted = eventually(
    async () => (await Promise.all(others.map((member) => stack.isPrimary(member)))).some(Boolean),
    (isPromoted) => isPromoted,
    withinMs,
  ).then(
    () => performance.now() - startedAt,
    () => null,
  );
  return () => promoted;
}

const postmasterOf = ({ dataDir }: Member): number =>
  Number(readFileSync(join(dataDir, "postmaster.pid"), "utf8").split("\n")[0]);

/** Signals PostgreSQL with all its processes, which have sessions of their own. */
function signalServer(member: Member, signal: NodeJS.Signals): void {
  const postmaster = postmasterOf(member);
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8");
  for (const pid of [postmaster, ...children.trim().split(" ").map(Number)]) process.kill(pid, signal);
}

const ballastOf = ({ disk }: Member): string => join(disk, "ballast");

function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (let size = 1 << 20; size >= 1; size = size > 1 ? size >> 4 : 0) {
      const piece = Buffer.alloc(size);
      try {
        while (writeSync(file, piece) === size);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    }
  } finally {
    closeSync(file);
  }
}

/** Runs a row: the load goes on meanwhile. */
export async function runRow(row: Row, drill: Drill): Promise<void> {
  await row.run(drill);
  await sleep(row.lastsMs);
  await row.repair?.(drill);
}
