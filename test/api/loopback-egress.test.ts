import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { EgressRules } from "../../src/egress/addresses.ts";
import { createGuardedClient } from "../../src/egress/guarded-connect.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createWebhookTransport } from "../../src/webhooks/transport/transport.ts";
import { COMMAND_LINE } from "../support/entries.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { openSink, type Sink } from "../support/sink.ts";

let server: TestServer | null = null;
let sink: Sink | null = null;
afterEach(async () => {
  await server?.close();
  await sink?.close();
  [server, sink] = [null, null];
});

/** Response to a test event for a webhook on the server's own machine. */
async function triesLoopback(
  own: TestServer,
): Promise<() => Promise<{ status: number | null; reason: string | null }>> {
  sink = await openSink();
  const webhook = { name: "Here", channel: "rcs", url: sink.url, events: ["user_message"] };
  const made = await own.request<{ id: string }>("POST", "/api/webhooks", webhook);
  expect(made.status).toBe(201);
  return async () => {
    const { status, body } = await own.request<{ response: { status: number | null; reason: string | null } }>(
      "POST",
      `/api/webhooks/${made.body.id}/test`,
    );
    expect(status).toBe(200);
    return body.response;
  };
}

const REFUSED = { status: null, reason: expect.stringContaining("HELIOGRAPH_EGRESS_ALLOW") as string };
const CLOSED = { HELIOGRAPH_EGRESS_ALLOW: "" };

describe("a server that listens on loopback", () => {
  test("a server that listens on loopback may call its own machine", async () => {
    server = await startTestServer("sqlite", { env: CLOSED });
    const call = await triesLoopback(server);
    expect(await call()).toMatchObject({ status: 200 });
  });

  test.each([
    ["trusts a proxy", { HELIOGRAPH_TRUST_PROXY: "true" }],
    ["has a public address", { HELIOGRAPH_BASE_URL: "https://sms.example.com" }],
  ])(
    "a server that listens on loopback may not call its own machine if it %s, and names the setting that allows it",
    async (_, env) => {
      server = await startTestServer("sqlite", { env: { ...CLOSED, ...env } });
      expect(await (await triesLoopback(server))()).toMatchObject(REFUSED);
    },
  );

  test.each([
    ["its address is on this machine", { ...CLOSED, HELIOGRAPH_BASE_URL: "http://localhost:8080" }],
    ["the operator has opened it", { HELIOGRAPH_TRUST_PROXY: "true", HELIOGRAPH_EGRESS_ALLOW: "127.0.0.0/8" }],
  ])("a server that listens on loopback may call its own machine if %s", async (_, env) => {
    server = await startTestServer("sqlite", { env });
    expect(await (await triesLoopback(server))()).toMatchObject({ status: 200 });
  });

  test.each(ENGINES)(
    "a server that listens on loopback may not call its own machine once there is a second account, on %s",
    async (engine) => {
      server = await startTestServer(engine, { env: CLOSED });
      const call = await triesLoopback(server);
      expect(await call()).toMatchObject({ status: 200 });
      const add = promisify(execFile);
      await add(process.execPath, [COMMAND_LINE, "account", "add", "acme"], { env: server.env });
      await eventually(call, ({ status }) => status === null);
      expect(await call()).toMatchObject(REFUSED);
    },
  );
});

test("a connection from before loopback was forbidden is not reused", async () => {
  sink = await openSink();
  const loopback = new Uint8Array(new SharedArrayBuffer(1));
  Atomics.store(loopback, 0, 1);
  const client = createGuardedClient({ rules: new EgressRules({ allow: [], loopback }), clock: systemClock });
  const transport = createWebhookTransport(client, systemClock);
  const request = { method: "POST", url: sink.url, headers: {}, body: "{}" } as const;
  expect(await transport.sendWebhook(request)).toMatchObject({ kind: "delivered" });
  Atomics.store(loopback, 0, 0);
  expect(await transport.sendWebhook(request)).toMatchObject({ kind: "failed", status: null });
  Atomics.store(loopback, 0, 1);
  expect(await transport.sendWebhook(request)).toMatchObject({ kind: "delivered" });
  await transport.close();
});
