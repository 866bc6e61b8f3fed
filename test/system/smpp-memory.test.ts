import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { bind } from "../../src/smpp/client.ts";
import type { Session } from "../../src/smpp/session.ts";
import { residentMB } from "../fuzz/smpp-server.ts";
import { freePort } from "../support/free-port.ts";
import { startServer } from "../support/server-process.ts";

const BINDS = 500;
const BINDS_PER_SYSTEM_ID = 100;
const AT_ONCE = 20;
const GROWTH_MAX_MB = 100;
const SAMPLES = 10;

// Only Linux tells the memory of another process in a file.
test.runIf(process.platform === "linux")("500 idle binds take less than 100 MB", { timeout: 600_000 }, async () => {
  const port = await freePort();
  const server = await startServer({ env: { HELIOGRAPH_SMPP_PORT: String(port) } });
  const sessions: Session[] = [];
  try {
    const logins: { username: string; password: string }[] = [];
    for (let made = 0; made < BINDS / BINDS_PER_SYSTEM_ID; made += 1) {
      const response = await fetch(`${server.baseUrl}/api/credentials`, {
        method: "POST",
        headers: { apikey: server.apiKey, "content-type": "application/json" },
        body: JSON.stringify({ kind: "smpp", name: `idle ${made}`, maxBinds: BINDS_PER_SYSTEM_ID }),
      });
      logins.push((await response.json()) as (typeof logins)[number]);
    }
    const open = async (index: number): Promise<void> => {
      const { username = "", password = "" } = logins[index % logins.length] ?? {};
      const login = { host: "127.0.0.1", port, systemId: username, password };
      const result = await bind({ ...login, onRequest: () => null });
      if (result.kind !== "bound") throw new Error(JSON.stringify(result));
      sessions.push(result.session);
    };
    const lowest = async (): Promise<number> => {
      let least = Infinity;
      // The lowest of some samples: garbage of a request is no memory of a bind.
      for (let sample = 0; sample < SAMPLES; sample += 1) {
        least = Math.min(least, residentMB(server));
        await sleep(200);
      }
      return least;
    };
    const before = await lowest();
    for (let index = 0; index < BINDS; index += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => open(index + n)));
    const growth = (await lowest()) - before;
    process.stdout.write(`${BINDS} idle binds: ${growth.toFixed(0)} MB more than ${before.toFixed(0)} MB\n`);
    expect(sessions.filter(({ isOpen }) => isOpen)).toHaveLength(BINDS);
    expect(growth).toBeLessThan(GROWTH_MAX_MB);
  } finally {
    for (const session of sessions) session.destroy();
    await server.cleanup();
  }
});
