import { Client } from "pg";
import { eventually } from "./eventually.ts";

/** Removes and restores a cluster's synchronous standby. Without it every commit hangs. */
export interface Standby {
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /** Connections of servers to the cluster, and how many of them hang in a commit. */
  connections(): Promise<{ all: number; hanging: number }>;
  close(): Promise<void>;
}

export async function openStandby(clusterUrl: string): Promise<Standby> {
  const admin = new Client({ connectionString: clusterUrl });
  await admin.connect();
  await admin.query("set synchronous_commit = off");
  const watcher = new Client({ connectionString: clusterUrl });
  await watcher.connect();
  const committer = new Client({ connectionString: clusterUrl });
  await committer.connect();
  const { rows: backends } = await committer.query<{ pid: number }>("select pg_backend_pid() as pid");
  /** The commit that hangs while the standby is away. */
  let hangingCommit: Promise<unknown> = Promise.resolve();
  const commit = (): Promise<unknown> => committer.query("select pg_logical_emit_message(true, 'test', '')");

  async function isHanging(): Promise<boolean> {
    const look = "select wait_event = 'SyncRep' as hangs from pg_stat_activity where pid = $1";
    const {
      rows: [row],
    } = await watcher.query<{ hangs: boolean | null }>(look, [backends[0]?.pid]);
    return row?.hangs === true;
  }

  /** The checkpointer puts the setting into effect, on a busy machine later than sessions show it. */
  async function untilCommitsHang(): Promise<void> {
    for (;;) {
      let isCommitted = false;
      hangingCommit = commit().then(() => (isCommitted = true));
      await eventually(async () => isCommitted || (await isHanging()), Boolean);
      if (!isCommitted) return;
    }
  }
  async function set(names: string): Promise<void> {
    await admin.query(`alter system set synchronous_standby_names = '${names}'`);
    await admin.query("select pg_reload_conf()");
    await eventually(
      async () =>
        (await watcher.query<{ names: string }>("select current_setting('synchronous_standby_names') as names")).rows,
      ([row]) => row?.names === names,
    );
  }
  return {
    async goAway() {
      await set("absent");
      await untilCommitsHang();
    },
    async comeBack() {
      await set("");
      await hangingCommit;
      await commit();
    },
    async connections() {
      const { rows } = await watcher.query<{ all: number; hanging: number }>(
        `select count(*)::integer as all, count(*) filter (where wait_event = 'SyncRep')::integer as hanging
         from pg_stat_activity where application_name = 'heliograph'`,
      );
      return rows[0] ?? { all: 0, hanging: 0 };
    },
    async close() {
      await admin.end();
      await watcher.end();
      await committer.end();
    },
  };
}
