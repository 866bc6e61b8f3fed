import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { COMMAND_LINE } from "../support/entries.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startTestServer } from "../support/test-server.ts";

const MESSAGES = 200;
const KILLED_AFTER = 50;
const BACK_AFTER = 150;
const CATCH_ALL = "Everything to the simulator";

const running = new Set<ChildProcess>();
afterEach(async () => {
  for (const smsc of running) await kill(smsc);
});

async function kill(smsc: ChildProcess): Promise<void> {
  running.delete(smsc);
  const closed = once(smsc, "close");
  smsc.kill("SIGKILL");
  await closed;
}

/** A process of its own, as an operator starts it. */
async function startSmsc(port: number): Promise<ChildProcess> {
  const smsc = spawn(process.execPath, [COMMAND_LINE, "smsc", "--port", String(port)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(smsc);
  await once(smsc.stdout, "data");
  return smsc;
}

describe.each(ENGINES)("an SMSC that is killed under load, with the sample route in its place, on %s", (engine) => {
  test("loses no message, and none is simulated: all are delivered after it is back", async () => {
    const server = await startTestServer(engine);
    try {
      const port = await freePort();
      let smsc = await startSmsc(port);
      const smpp = { host: "127.0.0.1", port, systemId: "shop", password: "secret", responseSeconds: 2 };
      const made = await server.request("POST", "/api/carriers", { name: "north", adapter: "smpp", smpp });
      expect(made.status).toBe(201);
      const route = { name: "Texts by north", channel: "sms", carrier: "north" };
      expect((await server.request("POST", "/api/routes", route)).status).toBe(201);
      const { body: routes } = await server.request<{ data: { name: string; enabled: boolean }[] }>(
        "GET",
        "/api/routes",
      );
      expect(routes.data).toContainEqual(expect.objectContaining({ name: CATCH_ALL, enabled: true }));

      const ids: string[] = [];
      for (let sent = 0; sent < MESSAGES; sent += 1) {
        if (sent === KILLED_AFTER) await kill(smsc);
        if (sent === BACK_AFTER) {
          smsc = await startSmsc(port);
        }
        const { status, body } = await eventually(
          () => server.send({ to: String(15_550_200_000 + sent), type: "OTP" }),
          (answer) => answer.status !== 503,
        );
        expect(status).toBe(200);
        ids.push(body.data[0]?.messageId ?? "");
      }
      for (const [index, id] of ids.entries()) {
        const { timeline } = await eventually(
          () => server.message(id),
          // The receipts of what the SMSC had taken died with it.
          ({ state }) => state === "delivered" || (index < KILLED_AFTER && state === "submitted"),
        );
        expect(timeline.map(({ event }) => event)).not.toContain("simulated");
      }
      const { body: phones } = await server.request<{ data: { number: string }[] }>("GET", "/api/simulator/phones");
      expect(phones.data.filter(({ number }) => number.startsWith("1555020"))).toEqual([]);
    } finally {
      await server.close();
    }
  });
});
