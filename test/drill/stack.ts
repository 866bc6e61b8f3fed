import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { clusterOwner, postgresBinaries } from "../support/postgres-cluster.ts";

const TEMPLATES = join(import.meta.dirname, "../../deploy/patroni");
const PASSWORD = "drill";
const DISK = "600m";
const NEEDED = ["etcd", "patroni", "haproxy"] as const;
const NUMBERS = [1, 2, 3] as const;

type Values = Record<string, string | number>;

/** A program that the drill kills and starts again. */
interface Program {
  name: string;
  readonly pid: number;
  kill(signal?: NodeJS.Signals): Promise<void>;
  start(): void;
}

/** A PostgreSQL server with its Patroni. */
export interface Member {
  name: string;
  pgPort: number;
  restPort: number;
  disk: string;
  dataDir: string;
  patroni: Program;
}

interface MemberState {
  name: string;
  role: string;
  state: string;
  timeline?: number;
  lag?: number | string;
}

export interface Stack {
  etcd: readonly Program[];
  members: readonly Member[];
  /** HAProxy's listener in front of the primary. */
  primaryPort: number;
  apiPort: number;
  nodePorts: readonly [number, number];
  /** URL of the database on the servers that listen on these ports. */
  urlOf(ports: readonly number[]): string;
  primary(): Promise<Member>;
  synchronousStandby(): Promise<Member>;
  /** True if Patroni says so on its REST API, as HAProxy asks it. */
  isPrimary(member: Member): Promise<boolean>;
  /** Waits until there is a primary and both standbys follow it, one of them synchronously. */
  untilWhole(): Promise<void>;
  /** False where the disks are not separate file systems. */
  hasDisks: boolean;
  close(): Promise<void>;
}

/** Names of the programs that are not installed. */
export const missingPrograms = (): string[] =>
  NEEDED.filter(
    (name) => !["/usr/bin", "/usr/sbin", "/usr/local/bin"].some((folder) => existsSync(join(folder, name))),
  );

/** Starts three etcd, three PostgreSQL servers with Patroni, and HAProxy, with the configuration of `deploy/patroni`. */
export async function startStack(): Promise<Stack> {
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error("no PostgreSQL server was found");
  const owner = clusterOwner();
  const folder = await mkdtemp(join(tmpdir(), "heliograph-drill-"));
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const disks: string[] = [];
  const programs: Program[] = [];

  const run = (name: string, command: string, args: readonly string[]): Program => {
    let child: ChildProcess;
    const start = (): void => {
      const log = openSync(join(folder, `${name}.log`), "a");
      const env = { ...process.env, PATH: `${bin}:/usr/sbin:/usr/bin:/bin` };
      child = spawn(command, args, { ...owner, cwd: folder, env, stdio: ["ignore", log, log], detached: true });
      closeSync(log);
    };
    start();
    const program: Program = {
      name,
      get pid() {
        return child.pid ?? 0;
      },
      async kill(signal = "SIGKILL") {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = once(child, "exit");
        child.kill(signal);
        await ended;
      },
      start,
    };
    programs.push(program);
    return program;
  };
  const write = (template: string, file: string, values: Values): string => {
    const text = readFileSync(join(TEMPLATES, template), "utf8");
    const path = join(folder, file);
    const rendered = text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => String(values[name] ?? missing(name)));
    writeFileSync(path, rendered);
    return path;
  };
  const missing = (name: string): never => {
    throw new Error(`deploy/patroni names ${name}, which the drill does not set`);
  };

  const etcdPorts = await Promise.all(NUMBERS.map(async () => ({ client: await freePort(), peer: await freePort() })));
  const members0 = etcdPorts.map(({ peer }, index) => `etcd${index + 1}=http://127.0.0.1:${peer}`).join(",");
  const etcd = etcdPorts.map(({ client, peer }, index) => {
    const name = `etcd${index + 1}`;
    const values = { NAME: name, FOLDER: folder, CLIENT_PORT: client, PEER_PORT: peer, MEMBERS: members0 };
    return run(name, "etcd", ["--config-file", write("etcd.yml", `${name}.yml`, values)]);
  });

  const members: Member[] = [];
  for (const number of NUMBERS) {
    const name = `pg${number}`;
    const disk = join(folder, `disk-${name}`);
    mkdirSync(disk);
    if (mountDisk(disk)) disks.push(disk);
    if (owner.uid !== undefined && owner.gid !== undefined) chownSync(disk, owner.uid, owner.gid);
    const dataDir = join(disk, "data");
    const [pgPort, restPort] = [await freePort(), await freePort()];
    const config = write("patroni.yml", `${name}.yml`, {
      NAME: name,
      FOLDER: folder,
      DATA_DIR: dataDir,
      BIN_DIR: bin,
      PG_PORT: pgPort,
      REST_PORT: restPort,
      ETCD_HOSTS: etcdPorts.map(({ client }) => `127.0.0.1:${client}`).join(","),
      PASSWORD,
    });
    members.push({ name, pgPort, restPort, disk, dataDir, patroni: run(name, "patroni", [config]) });
  }

  const [apiPort, primaryPort, node1, node2] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const haproxy = write("haproxy.cfg", "haproxy.cfg", {
    API_PORT: apiPort,
    DB_PORT: primaryPort,
    NODE1_PORT: node1,
    NODE2_PORT: node2,
    ...Object.fromEntries(
      members.flatMap(({ pgPort, restPort }, index) => [
        [`PG${index + 1}_PORT`, pgPort],
        [`REST${index + 1}_PORT`, restPort],
      ]),
    ),
  });
  run("haproxy", "haproxy", ["-db", "-f", haproxy]);

  const states = async (): Promise<readonly MemberState[]> => {
    for (const { restPort } of members) {
      const answer = await ask(restPort, "/cluster");
      if (answer) return ((await answer.json()) as { members: MemberState[] }).members;
    }
    return [];
  };
  const withRole = async (...roles: readonly string[]): Promise<Member> => {
    const state = await eventually(
      async () => (await states()).find(({ role }) => roles.includes(role)),
      (found) => found !== undefined,
    );
    return members.find(({ name }) => name === state?.name) as Member;
  };
  const isPrimary = async ({ restPort }: Member): Promise<boolean> => (await ask(restPort, "/primary"))?.status === 200;
  const urlOf = (ports: readonly number[]): string =>
    `postgres://heliograph:${PASSWORD}@${ports.map((port) => `127.0.0.1:${port}`).join(",")}/heliograph`;

  const stack: Stack = {
    etcd,
    members,
    primaryPort,
    apiPort,
    nodePorts: [node1, node2],
    urlOf,
    isPrimary,
    primary: () => withRole("leader"),
    synchronousStandby: () => withRole("sync_standby"),
    async untilWhole() {
      await eventually(
        states,
        (all) =>
          all.length === members.length &&
          all.filter(({ role, state }) => role === "leader" && state === "running").length === 1 &&
          all.filter(({ role, state }) => role === "sync_standby" && isFollowing(state)).length === 1 &&
          all.every(({ role, state, lag }) => role === "leader" || (isFollowing(state) && Number(lag) < 1_000_000)),
        300_000,
      );
    },
    hasDisks: disks.length === members.length,
    async close() {
      // Patroni first: it would start its PostgreSQL again.
      for (const program of programs.filter(({ name }) => name.startsWith("pg"))) await program.kill();
      for (const { dataDir } of members)
        if (existsSync(join(dataDir, "postmaster.pid")))
          try {
            execFileSync(join(bin, "pg_ctl"), ["stop", "-D", dataDir, "-m", "immediate", "-w"], {
              ...owner,
              cwd: folder,
              stdio: "ignore",
            });
          } catch {
            // It had ended already.
          }
      for (const program of programs) await program.kill();
      for (const disk of disks) execFileSync("umount", ["--lazy", disk]);
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await stack.untilWhole();
    const { pgPort } = await stack.primary();
    const admin = new Client({ connectionString: `postgres://postgres:${PASSWORD}@127.0.0.1:${pgPort}/postgres` });
    await admin.connect();
    await admin.query(`create role heliograph login password '${PASSWORD}'`);
    await admin.query("create database heliograph owner heliograph");
    await admin.end();
    return stack;
  } catch (error) {
    await stack.close();
    throw error;
  }
}

/** Patroni 3 says running; later versions say streaming. */
const isFollowing = (state: string): boolean => state === "running" || state === "streaming";

async function ask(port: number, path: string): Promise<Response | null> {
  try {
    return await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(1000) });
  } catch {
    return null;
  }
}

/** False without the right to mount. */
function mountDisk(path: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK}`, "tmpfs", path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
