import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { newId } from "../../src/lib/ids.ts";
import { HELD } from "../../src/store/callbacks.ts";
import { readAttempts } from "../../src/webhooks/attempt-log.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Envelope, type TestServer } from "../support/test-server.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";
import { openSink, type ReceivedRequest, type Sink } from "../support/sink.ts";

interface Endpoint {
  id: string;
  secret: string;
  enabled: boolean;
  disabledReason: string | null;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Makes an endpoint that tells the sink. */
async function author(server: TestServer, path: "webhooks" | "dlr-configs", body: object): Promise<Endpoint> {
  const answer = await server.request<Endpoint>("POST", `/api/${path}`, body);
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 201 });
  return answer.body;
}

function bodyOf(heard: ReceivedRequest | undefined): Readonly<Record<string, unknown>> {
  if (!heard) throw new Error("the sink was told nothing");
  return heard.body as Record<string, unknown>;
}

const statusOf = ({ body }: ReceivedRequest): unknown => (body as { statuses?: { status: string } }).statuses?.status;

/** The last step of the walk: the customer's own server is told, over real HTTP. */
describe.each(ENGINES)("callbacks on %s", (engine) => {
  let server: TestServer;
  let sink: Sink;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    sink = await openSink();
  });
  afterEach(async () => {
    for (const path of ["webhooks", "dlr-configs"]) {
      const { body } = await server.request<{ data: Endpoint[] }>("GET", `/api/${path}`);
      for (const { id } of body.data) await server.request("DELETE", `/api/${path}/${id}`);
    }
    await sink.close();
  });

  test("a delivery report without configured placeholders is JSON with the eight sample fields", async () => {
    await author(server, "dlr-configs", { name: "reports", provider: "ALL", method: "POST", url: `${sink.url}/dlr` });
    const { body } = await server.send({ sender: "SHOP", to: "15550100100" });
    const messageId = body.data[0]?.messageId;
    const [heard] = await sink.until(1);
    const { createdAt, deliveredDate } = bodyOf(heard);
    expect(heard).toMatchObject({ method: "POST", path: "/dlr", headers: { "content-type": "application/json" } });
    expect(heard?.body).toEqual({
      messageId,
      mobileNumber: "15550100100",
      senderName: "SHOP",
      errCode: "000",
      status: "Delivered",
      createdAt,
      deliveredDate,
      statusDescription: "Delivered to the phone",
    });
    expect(createdAt).toMatch(/^\d{13}$/);
    expect(deliveredDate).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  });

  test("with method GET a delivery report is a signed query with the configured fields, also as headers", async () => {
    const headers = [
      { key: "X-Message", value: "{{messageId}}" },
      { key: "X-State", value: "{{status}}" },
      { key: "X-Gateway", value: "{{gatewayName}}" },
    ];
    const { secret } = await author(server, "dlr-configs", {
      name: "by query",
      provider: "simulator",
      method: "GET",
      url: `${sink.url}/dlr?key=1`,
      headers,
    });
    const { body } = await server.send({ to: "15550109001" });
    const messageId = body.data[0]?.messageId ?? "";
    const [heard] = await sink.until(1);
    const query = new URL(heard?.path ?? "", sink.url).search.slice(1);
    expect(Object.fromEntries(new URLSearchParams(query))).toEqual({
      key: "1",
      messageId,
      status: "Failed",
      gatewayName: "simulator",
    });
    expect(heard?.headers).toMatchObject({ "x-message": messageId, "x-state": "Failed", "x-gateway": "simulator" });
    expect(() => new Webhook(secret).verify(query, heard?.headers as Record<string, string>)).toThrow("JSON");
    expect(() => new Webhook(secret).verify(`${query}x`, heard?.headers as Record<string, string>)).toThrow(
      "signature",
    );
  });

  test("{{messageCredit}} of a delivery report is the cost after refunds: 0 once credits were given back", async () => {
    const settings = { credits: "metered", refundUndelivered: true };
    expect((await server.request("PATCH", "/api/account", settings)).status).toBe(200);
    await server.app.store.addCredits(1, { id: newId(Date.now()), amount: 100, note: "paid", at: Date.now() });
    const headers = [
      { key: "X-Message", value: "{{messageId}}" },
      { key: "X-Credit", value: "{{messageCredit}}" },
      { key: "X-Status", value: "{{status}}" },
    ];
    const config = { name: "credits", provider: "ALL", method: "POST", url: sink.url, headers };
    await author(server, "dlr-configs", config);
    const send = async (to: string, fields = {}): Promise<string> => {
      const { status, body } = await server.send({ to, text: "x".repeat(200), ...fields });
      expect(status).toBe(200);
      return body.data[0]?.messageId ?? "";
    };
    const expected = new Map([
      [await send("15550100100"), "2 Delivered"],
      [await send("15550109003"), "0 Failed"],
      [await send("15550109001"), "0 Failed"],
    ]);
    const cancelled = await send("15550100101", { sendAt: Date.now() + HOUR_MS });
    expect((await server.request("POST", `/v1/messages/${cancelled}/cancel`)).status).toBe(200);
    expected.set(cancelled, "0 Failed");
    const reports = (await sink.until(4)).map(({ headers: sent }) => {
      return [sent["x-message"], `${String(sent["x-credit"])} ${String(sent["x-status"])}`] as const;
    });
    expect(new Map(reports)).toEqual(expected);
    expect(
      (await server.asOwner("PATCH", "/api/account", { credits: "unlimited", refundUndelivered: false })).status,
    ).toBe(200);
  });

  test("operator and circle of a recipient come from the operator's file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "heliograph-operators-"));
    const file = join(folder, "operators.csv");
    await writeFile(file, "prefix,operator,circle\n1555,Simulated,Nowhere\n");
    const own = await startTestServer(engine, { env: { HELIOGRAPH_OPERATORS_FILE: file } });
    try {
      const headers = [{ key: "X-Operator", value: "{{operatorCircle}}" }];
      await author(own, "dlr-configs", { name: "reports", provider: "ALL", url: sink.url, headers });
      await own.send();
      const [heard] = await sink.until(1);
      expect(heard?.body).toEqual({ operatorCircle: "Simulated, Nowhere" });
    } finally {
      await own.close();
      await rm(folder, { recursive: true });
    }
  });

  test("a provider filter passes only reports of that carrier", async () => {
    await server.request("POST", "/api/carriers", { name: "line-2" });
    await author(server, "dlr-configs", { name: "line 2", provider: "line-2", url: `${sink.url}/two` });
    await author(server, "dlr-configs", { name: "all", provider: "ALL", url: `${sink.url}/all` });
    await server.send();
    const heard = await sink.until(1);
    expect(heard.map(({ path }) => path)).toEqual(["/all"]);
  });

  test("a recipient that is refused at accept time is reported at once", async () => {
    await author(server, "dlr-configs", { name: "reports", provider: "ALL", url: sink.url });
    const { body } = await server.send({ to: ["15550100100", "none"] });
    const heard = await sink.until(2);
    const failed = heard.map((one) => one.body).find((report) => (report as { status: string }).status === "Failed");
    expect(failed).toMatchObject({
      messageId: body.data[1]?.messageId,
      mobileNumber: "none",
      errCode: "INVALID_RECIPIENT",
      deliveredDate: "",
    });
  });

  test("RCS reports sent, delivered and read in this order, once each, with a verifiable signature", async () => {
    const { secret } = await author(server, "webhooks", {
      name: "rcs",
      channel: "rcs",
      url: `${sink.url}/rcs`,
      events: ["message_status"],
    });
    const sent = await server.request<Envelope>("POST", "/v1/rcs", {
      number: "+15550109006",
      botId: "heliograph",
      templateName: "store-opening",
      type: "TRANS",
    });
    const heard = await sink.until(3);
    expect(heard.map(statusOf)).toEqual(["sent", "delivered", "read"]);
    for (const one of heard) {
      expect(new Webhook(secret).verify(one.text, one.headers as Record<string, string>)).toEqual(one.body);
      const { statuses } = one.body as { statuses: { eventId: string; timestamp: number } };
      expect(one.body).toEqual({
        botId: "heliograph",
        channel: "rcs",
        event: "message_status",
        messageId: sent.body.data[0]?.messageId,
        statuses: { eventId: one.headers["webhook-id"], status: statusOf(one), timestamp: statuses.timestamp },
      });
      expect(statuses.timestamp).toBeLessThan(10_000_000_000);
    }
  });

  test("a tap reaches the webhook with label, payload and type of the button", async () => {
    await author(server, "webhooks", { name: "rcs", channel: "rcs", url: sink.url, events: ["user_message"] });
    const sent = await server.request<Envelope>("POST", "/v1/rcs", {
      number: "+15550100100",
      botId: "heliograph",
      templateName: "rate-us",
      type: "TRANS",
    });
    const messageId = sent.body.data[0]?.messageId ?? "";
    const arrived = await server.request<{ data: { suggestions: { text: string }[] } }>(
      "GET",
      `/api/simulator/messages/wait?to=15550100100&messageId=${messageId}`,
    );
    const tapped = await server.request<{ suggestionResponse: object }>(
      "POST",
      "/api/simulator/phones/15550100100/tap",
      {
        messageId,
        text: arrived.body.data.suggestions[0]?.text,
      },
    );
    expect(tapped.status).toBe(200);
    const [heard] = await sink.until(1);
    const { timestamp } = bodyOf(heard);
    expect(heard?.body).toEqual({
      botId: "heliograph",
      channel: "rcs",
      event: "user_message",
      message: { text: "", suggestionResponse: tapped.body.suggestionResponse, userFile: null },
      messageId,
      timestamp,
      userPhoneNumber: "+15550100100",
    });
  });

  test("the chat app reports message_sent besides its statuses", async () => {
    const events = ["message_sent", "message_status", "user_message"];
    await author(server, "webhooks", { name: "chat", channel: "chatapp", url: sink.url, events });
    await server.request("POST", "/v1/chatapp", {
      from: "+15550100199",
      to: "15550100100",
      type: "template",
      templateName: "store_opening",
    });
    const heard = await sink.until(4);
    const told = heard.map(
      ({ body }) => body as { event: string; messageType?: string; statuses?: { status: string } },
    );
    expect(told.map(({ event, messageType, statuses }) => messageType ?? statuses?.status ?? event)).toEqual([
      "template",
      "sent",
      "delivered",
      "read",
    ]);
  });

  test("a followed short link and an inbound text reach a webhook for SMS", async () => {
    const events = ["link_click", "user_message"];
    await author(server, "webhooks", { name: "sms", channel: "sms", url: sink.url, events });
    const sent = await server.send({
      to: "15550100123",
      text: "Track: {SORT}",
      shortenUrlData: { shortenUrl: true, targetUrl: ["https://shop.example/4711"] },
    });
    const messageId = sent.body.data[0]?.messageId;
    const { text } = await server.settled(messageId ?? "");
    const agent = { "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1" };
    await fetch(text.slice("Track: ".length), { redirect: "manual", headers: agent });
    await sink.until(1);
    await server.request("POST", "/api/simulator/phones/15550100123/reply", { text: "Thanks" });
    const heard = await sink.until(2);
    expect(heard.map((one) => bodyOf(one))).toMatchObject([
      { event: "link_click", channel: "sms", messageId, link: { url: "https://shop.example/4711" }, agent: "person" },
      { event: "user_message", channel: "sms", messageId, message: { text: "Thanks" } },
    ]);
  });

  test("a webhook for verifications gets start and result in order, and never the code", async () => {
    const events = ["verification_status"];
    await author(server, "webhooks", { name: "sign-ins", channel: "verify", url: sink.url, events });
    const to = "15550100177";
    const begin = async (): Promise<string> =>
      (await server.request<{ data: string }>("POST", "/v1/verify", { configId: "default", to })).body.data;
    const first = await begin();
    const second = await begin();
    const { body } = await eventually(
      () => server.request<{ otp: string; verifyId: string }>("GET", `/api/simulator/otp/latest?to=${to}`),
      // Until the first code is on the phone, the simulator answers 404.
      (latest) => latest.status === 200 && latest.body.verifyId === second,
    );
    const validate = async (otp: string): Promise<number> =>
      (await server.request("POST", "/v1/verify/validate", { verifyId: second, otp })).status;
    expect([await validate("wrong-1"), await validate(body.otp)]).toEqual([400, 200]);
    const heard = (await sink.until(4)).map((one) => bodyOf(one));
    const told = (id: string): unknown[] =>
      heard.filter(({ verifyId }) => verifyId === id).map(({ status, attempts }) => [status, attempts]);
    expect(told(first)).toEqual([["pending", 0], ["superseded", 0]]); // prettier-ignore
    expect(told(second)).toEqual([["pending", 0], ["verified", 2]]); // prettier-ignore
    expect(heard.at(-1)).toMatchObject({
      channel: "verify",
      configId: "default",
      userPhoneNumber: `+${to}`,
      test: false,
    });
    expect(JSON.stringify(heard)).not.toContain(body.otp);
  });

  test("a disabled endpoint, or one with other subscriptions, gets nothing", async () => {
    const off = await author(server, "webhooks", {
      name: "off",
      channel: "rcs",
      url: `${sink.url}/off`,
      events: ["message_status"],
      enabled: false,
    });
    expect(off.enabled).toBe(false);
    await author(server, "webhooks", { name: "users", channel: "rcs", url: `${sink.url}/u`, events: ["user_message"] });
    await author(server, "webhooks", { name: "all", channel: "rcs", url: `${sink.url}/s`, events: ["message_status"] });
    await server.request("POST", "/v1/rcs", {
      number: "+15550100100",
      botId: "heliograph",
      templateName: "store-opening",
      type: "TRANS",
    });
    const heard = await sink.until(3);
    expect(new Set(heard.map(({ path }) => path))).toEqual(new Set(["/s"]));
  });
});

describe.each(ENGINES)("webhook retries on %s", (engine) => {
  let server: MovedClockServer;
  let sink: Sink;
  beforeEach(async () => {
    server = await startMovedClockServer(engine);
    sink = await openSink();
  });
  afterEach(async () => {
    await server.close();
    await sink.close();
  });

  const reports = (): Promise<Endpoint> =>
    author(server, "dlr-configs", { name: "reports", provider: "ALL", url: sink.url });
  /** In small steps, because an attempt that is under way must not see its time run out. */
  const hears = (count: number): Promise<number> =>
    eventually(
      async () => {
        await server.travel(500);
        return sink.received.length;
      },
      (length) => length >= count,
    );
  const callbacks = async () => (await server.app.store.listCallbacks(1, {}, null, 50)).rows;
  test("a failed delivery is retried by the schedule and given up after the last attempt", async () => {
    sink.respondWith((_heard, response) => response.writeHead(500).end("no"));
    await reports();
    await server.send();
    await hears(1);
    const ended = await eventually(
      async () => {
        const [callback] = await callbacks();
        await server.leap(Math.max(0, (callback?.dueAt ?? 0) - server.clock.now()));
        await server.travel(500);
        return callback;
      },
      (callback) => callback?.state === "exhausted",
      100_000,
    );
    const times = readAttempts(ended?.log ?? null).map(({ at }) => at);
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    const wanted = [
      5000,
      5 * MINUTE_MS,
      0.5 * HOUR_MS,
      2 * HOUR_MS,
      5 * HOUR_MS,
      10 * HOUR_MS,
      14 * HOUR_MS,
      20 * HOUR_MS,
      24 * HOUR_MS,
    ];
    for (const [index, pause] of pauses.entries())
      expect(Math.abs(pause - (wanted[index] ?? 0))).toBeLessThan((wanted[index] ?? 0) * 0.2 + MINUTE_MS);
    expect(times).toHaveLength(10);
    const heard = sink.received.length;
    await server.leap(48 * HOUR_MS);
    await server.travel(MINUTE_MS);
    expect(sink.received).toHaveLength(heard);
    expect(new Set(sink.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  test("later events of a message wait for the earlier ones", async () => {
    let broken = true;
    sink.respondWith((_heard, response) => response.writeHead(broken ? 503 : 200).end());
    await author(server, "webhooks", { name: "rcs", channel: "rcs", url: sink.url, events: ["message_status"] });
    await server.request("POST", "/v1/rcs", {
      number: "+15550100100",
      botId: "heliograph",
      templateName: "store-opening",
      type: "TRANS",
    });
    await hears(1);
    await server.travel(2000);
    expect(sink.received.map(statusOf)).toEqual(["sent"]);
    broken = false;
    await eventually(
      async () => {
        await server.travel(1000);
        return sink.received.map(statusOf);
      },
      (statuses) => statuses.includes("read"),
    );
    expect(sink.received.map(statusOf)).toEqual(["sent", "sent", "delivered", "read"]);
  });

  test("pending events of a disabled endpoint are kept, and sent once it is enabled", async () => {
    sink.respondWith((_heard, response) => response.writeHead(500).end());
    const { id } = await reports();
    await server.send();
    await hears(1);
    const patch = (enabled: boolean) => server.request("PATCH", `/api/dlr-configs/${id}`, { enabled });
    await eventually(callbacks, ([callback]) => callback?.attempts === 1);
    expect(await patch(false)).toMatchObject({ status: 200, body: { enabled: false, waitingCallbacks: 1 } });
    await eventually(
      async () => {
        await server.travel(5000);
        return callbacks();
      },
      ([callback]) => callback?.dueAt === HELD,
    );
    expect(await callbacks()).toMatchObject([{ state: "waiting", attempts: 1 }]);
    const listed = await server.request("GET", `/api/callbacks?endpointId=${id}`);
    expect(listed).toMatchObject({ status: 200, body: { data: [{ state: "waiting", nextTryAt: null }] } });
    const health = await server.request("GET", `/api/dlr-configs/${id}/health`);
    expect(health).toMatchObject({ status: 200, body: { enabled: false, waitingCallbacks: 1 } });
    expect(sink.received).toHaveLength(1);

    sink.respondWith((_heard, response) => response.writeHead(200).end());
    expect(await patch(true)).toMatchObject({ status: 200, body: { enabled: true, waitingCallbacks: 1 } });
    await hears(2);
    await eventually(callbacks, ([callback]) => callback?.state === "delivered");
  });

  test("pending events are dropped when their endpoint is removed, also if it is disabled", async () => {
    sink.respondWith((_heard, response) => response.writeHead(500).end());
    const { id } = await reports();
    await server.send();
    await hears(1);
    await eventually(callbacks, ([callback]) => callback?.attempts === 1);
    expect((await server.request("PATCH", `/api/dlr-configs/${id}`, { enabled: false })).status).toBe(200);
    const travelUntil = (isRight: (rows: Awaited<ReturnType<typeof callbacks>>) => boolean) =>
      eventually(async () => {
        await server.travel(5000);
        return callbacks();
      }, isRight);
    await travelUntil(([callback]) => callback?.dueAt === HELD);
    const removed = await server.request("DELETE", `/api/dlr-configs/${id}`);
    expect(removed).toMatchObject({ status: 200, body: { id, waitingCallbacks: 1 } });
    const [dropped] = await travelUntil(([callback]) => callback?.state === "dropped");
    expect(readAttempts(dropped?.log ?? null).at(-1)?.reason).toBe("its endpoint is gone");
  });

  test("410 disables the endpoint with that reason", async () => {
    sink.respondWith((_heard, response) => response.writeHead(410).end());
    const { id } = await reports();
    await server.send();
    await hears(1);
    const gone = await eventually(
      async () => (await server.request<Endpoint>("GET", `/api/dlr-configs/${id}`)).body,
      ({ enabled }) => !enabled,
    );
    expect(gone.disabledReason).toContain("410");
    await server.send();
    await server.travel(10 * MINUTE_MS);
    expect(sink.received).toHaveLength(1);
  });

  test("an endpoint without a successful delivery for five days is disabled", async () => {
    sink.respondWith((_heard, response) => response.writeHead(500).end());
    const { id } = await reports();
    const isOff = async () => !(await server.request<Endpoint>("GET", `/api/dlr-configs/${id}`)).body.enabled;
    const offByDay: boolean[] = [];
    for (let day = 0; day < 6; day += 1) {
      await server.send();
      for (let quarter = 0; quarter < 4; quarter += 1) {
        await server.leap(6 * HOUR_MS - 500);
        await server.travel(500);
      }
      offByDay.push(await isOff());
    }
    expect(offByDay).toEqual([false, false, false, false, offByDay[4], true]);
  });
});
