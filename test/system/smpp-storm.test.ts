import { afterEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { Smsc } from "../../src/smsc/smsc.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { repetitions } from "../support/repetitions.ts";
import { startTestServer } from "../support/test-server.ts";

const DISCONNECTS = repetitions(12, 1000);
const BINDS = 4;
const WINDOW = 10;
const EACH = 20;
const PATIENCE_MS = 300_000;

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(ENGINES)("connections that are cut in the middle of their windows on %s", (engine) => {
  test("lose no message, and repeat no more than the windows hold", { timeout: 600_000 }, async () => {
    // Binds are made anew at once, so that there is always something to cut.
    vi.spyOn(Math, "random").mockReturnValue(0);
    const server = await startTestServer(engine);
    const arrived = new Map<string, number>();
    const smsc = await Smsc.open({
      host: "127.0.0.1",
      port: 0,
      clock: systemClock,
      behavior: { delayMs: 1, answerAfterMs: 2 },
      onTaken: ({ destination: { address } }) => arrived.set(address, (arrived.get(address) ?? 0) + 1),
    });
    try {
      const smpp = {
        host: "127.0.0.1",
        port: smsc.port,
        systemId: "esme",
        password: "x",
        connections: BINDS,
        window: WINDOW,
      };
      // Messages with another route would take it while this connection is cut.
      const { body: routes } = await server.request<{ data: { id: string }[] }>("GET", "/api/routes");
      for (const { id } of routes.data) await server.request("DELETE", `/api/routes/${id}`);
      await server.request("POST", "/api/carriers", {
        name: "line",
        adapter: "smpp",
        smpp: { ...smpp, responseSeconds: 2 },
      });
      await server.request("POST", "/api/routes", { name: "by smpp", channel: "sms", carrier: "line", priority: 1 });
      await eventually(
        () => smsc.sessions,
        (sessions) => sessions === BINDS,
      );

      const ids: string[] = [];
      let cuts = 0;
      while (cuts < DISCONNECTS) {
        const to = Array.from({ length: EACH }, (_, n) => String(15_560_000_000 + ids.length + n));
        const before = smsc.counts.submits;
        const { body } = await server.send({ sender: "HELIOG", text: "Hello", to, type: "TRANS" });
        ids.push(...body.data.map(({ messageId }) => messageId));
        await eventually(
          () => smsc.counts.submits,
          (submits) => submits > before,
        );
        cuts += smsc.sessions;
        smsc.closeConnections();
        await eventually(
          () => smsc.sessions,
          (sessions) => sessions > 0,
        );
      }
      // One that was cut off several times waits longer each time before it is sent again.
      for (const id of ids)
        await eventually(
          async () => (await server.message(id)).state,
          (state) => state === "delivered",
          PATIENCE_MS,
        );
      const repeats = [...arrived.values()].reduce((sum, times) => sum + times - 1, 0);
      expect(arrived.size).toBe(ids.length);
      expect(repeats).toBeLessThanOrEqual(cuts * WINDOW);
      process.stdout.write(`${engine}: ${cuts} cuts, ${ids.length} messages, ${repeats} arrived twice\n`);
    } finally {
      await server.close();
      await smsc.close();
    }
  });
});
