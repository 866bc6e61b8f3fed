import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { HOLD_SUFFIX } from "./hold-file.ts";
import { startTestServer, type TestServer } from "./test-server.ts";
import type { EngineName } from "./engines.ts";

const HELD_READER = new URL("held-reader.ts", import.meta.url);

/** A list that `hold` stops, and that no send reads. */
export const HELD_LIST = "/api/audit";

export interface HeldServer extends TestServer {
  /** Stops every query of `HELD_LIST` until `release`. */
  hold(): Promise<void>;
  release(): Promise<void>;
}

/** A server whose reporting queries can be stopped: by a lock on PostgreSQL, by its reader thread on SQLite. */
export async function startHeldServer(
  engine: EngineName,
  given: { env?: Record<string, string>; connectionThread?: boolean } = {},
): Promise<HeldServer> {
  const env = { HELIOGRAPH_REPORTING_TIMEOUT_SECONDS: "600", ...given.env };
  const server = await startTestServer(engine, { ...given, env, reportingThread: HELD_READER });
  const { hold, release } =
    engine === "sqlite"
      ? holdByFile(join(server.env["HELIOGRAPH_DATA_DIR"] ?? "", `heliograph.db${HOLD_SUFFIX}`))
      : holdByLock(server.env["HELIOGRAPH_DATABASE_URL"] ?? "");
  return {
    ...server,
    hold,
    release,
    async close() {
      await release();
      await server.close();
    },
  };
}

const holdByFile = (file: string): Pick<HeldServer, "hold" | "release"> => ({
  hold: async () => writeFileSync(file, ""),
  release: async () => rmSync(file, { force: true }),
});

function holdByLock(connectionString: string): Pick<HeldServer, "hold" | "release"> {
  let blocker: Client | null = null;
  return {
    async hold() {
      blocker = new Client({ connectionString });
      await blocker.connect();
      await blocker.query("begin");
      await blocker.query("lock table audit in access exclusive mode");
    },
    async release() {
      await blocker?.end();
      blocker = null;
    },
  };
}
