import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { readAttempts } from "../src/webhooks/attempt-log.ts";
import { ENGINES } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { openHouse, type Envelope, type House } from "./support/house.ts";
import { openMovedHouse, type MovedHouse } from "./support/moved-house.ts";
import { openSink, type Heard, type Sink } from "./support/sink.ts";

interface Endpoint {
  id: string;
  secret: string;
  enabled: boolean;
  disabledReason: string | null;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Makes an endpoint that tells the sink. */
async function author(house: House, path: "webhooks" | "dlr-configs", body: object): Promise<Endpoint> {
  const answer = await house.ask<Endpoint>("POST", `/api/${path}`, body);
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 201 });
  return answer.body;
}

function bodyOf(heard: Heard | undefined): Readonly<Record<string, unknown>> {
  if (!heard) throw new Error("the sink was told nothing");
  return heard.body as Record<string, unknown>;
}

const statusOf = ({ body }: Heard): unknown => (body as { statuses?: { status: string } }).statuses?.status;

/** The last step of the walk: the customer's own server is told, over real HTTP. */
describe.each(ENGINES)("callbacks on %s", (engine) => {
  let house: House;
  let sink: Sink;
  beforeAll(async () => {
    house = await openHouse(engine);
  });
  afterAll(() => house.close());
  beforeEach(async () => {
    sink = await openSink();
  });
  afterEach(async () => {
    for (const path of ["webhooks", "dlr-configs"]) {
      const { body } = await house.ask<{ data: Endpoint[] }>("GET", `/api/${path}`);
      for (const { id } of body.data) await house.ask("DELETE", `/api/${path}/${id}`);
    }
    await sink.close();
  });

  test("a delivery report goes out as JSON with the eight sample fields when no placeholders are configured", async () => {
    await author(house, "dlr-configs", { name: "reports", provider: "ALL", method: "POST", url: `${sink.url}/dlr` });
    const { body } = await house.send({ sender: "SHOP", to: "15550100100" });
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

  test("with method GET it goes as a query, signed over the query; only configured fields, also as headers", async () => {
    const headers = [
      { key: "X-Message", value: "{{messageId}}" },
      { key: "X-State", value: "{{status}}" },
      { key: "X-Gateway", value: "{{gatewayName}}" },
    ];
    const { secret } = await author(house, "dlr-configs", {
      name: "by query",
      provider: "simulator",
      method: "GET",
      url: `${sink.url}/dlr?key=1`,
      headers,
    });
    const { body } = await house.send({ to: "15550109001" });
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

  test("the operator and circle of a recipient come from the file of whoever runs the server", async () => {
    const folder = await mkdtemp(join(tmpdir(), "heliograph-operators-"));
    const file = join(folder, "operators.csv");
    await writeFile(file, "prefix,operator,circle\n1555,Simulated,Nowhere\n");
    const own = await openHouse(engine, { env: { HELIOGRAPH_OPERATORS_FILE: file } });
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

  test("a provider filter lets only reports of that carrier through", async () => {
    await house.ask("POST", "/api/carriers", { name: "line-2" });
    await author(house, "dlr-configs", { name: "line 2", provider: "line-2", url: `${sink.url}/two` });
    await author(house, "dlr-configs", { name: "all", provider: "ALL", url: `${sink.url}/all` });
    await house.send();
    const heard = await sink.until(1);
    expect(heard.map(({ path }) => path)).toEqual(["/all"]);
  });

  test("a recipient that fails at the door is reported at once", async () => {
    await author(house, "dlr-configs", { name: "reports", provider: "ALL", url: sink.url });
    const { body } = await house.send({ to: ["15550100100", "none"] });
    const heard = await sink.until(2);
    const failed = heard.map((one) => one.body).find((report) => (report as { status: string }).status === "Failed");
    expect(failed).toMatchObject({
      messageId: body.data[1]?.messageId,
      mobileNumber: "none",
      errCode: "INVALID_RECIPIENT",
      deliveredDate: "",
    });
  });

  test("RCS tells sent, delivered and read in this order, once each, signed so that others can verify it", async () => {
    const { secret } = await author(house, "webhooks", {
      name: "rcs",
      channel: "rcs",
      url: `${sink.url}/rcs`,
      events: ["message_status"],
    });
    const sent = await house.ask<Envelope>("POST", "/v1/rcs", {
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

  test("what a user taps reaches the webhook with the button's label, payload and kind", async () => {
    await author(house, "webhooks", { name: "rcs", channel: "rcs", url: sink.url, events: ["user_message"] });
    const sent = await house.ask<Envelope>("POST", "/v1/rcs", {
      number: "+15550100100",
      botId: "heliograph",
      templateName: "rate-us",
      type: "TRANS",
    });
    const messageId = sent.body.data[0]?.messageId ?? "";
    const arrived = await house.ask<{ data: { suggestions: { text: string }[] } }>(
      "GET",
      `/api/simulator/messages/wait?to=15550100100&messageId=${messageId}`,
    );
    const tapped = await house.ask<{ suggestionResponse: object }>("POST", "/api/simulator/phones/15550100100/tap", {
      messageId,
      text: arrived.body.data.suggestions[0]?.text,
    });
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

  test("the chat app tells message_sent besides its statuses", async () => {
    const events = ["message_sent", "message_status", "user_message"];
    await author(house, "webhooks", { name: "chat", channel: "chatapp", url: sink.url, events });
    await house.ask("POST", "/v1/chatapp", {
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
    await author(house, "webhooks", { name: "sms", channel: "sms", url: sink.url, events });
    const sent = await house.send({
      to: "15550100123",
      text: "Track: {SORT}",
      shortenUrlData: { shortenUrl: true, targetUrl: ["https://shop.example/4711"] },
    });
    const messageId = sent.body.data[0]?.messageId;
    const { text } = await house.settled(messageId ?? "");
    const agent = { "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1" };
    await fetch(text.slice("Track: ".length), { redirect: "manual", headers: agent });
    await sink.until(1);
    await house.ask("POST", "/api/simulator/phones/15550100123/reply", { text: "Thanks" });
    const heard = await sink.until(2);
    expect(heard.map((one) => bodyOf(one))).toMatchObject([
      { event: "link_click", channel: "sms", messageId, link: { url: "https://shop.example/4711" }, agent: "person" },
      { event: "user_message", channel: "sms", messageId, message: { text: "Thanks" } },
    ]);
  });

  test("a webhook for verifications is told when one begins and how it ends, in order, and never the code", async () => {
    const events = ["verification_status"];
    await author(house, "webhooks", { name: "sign-ins", channel: "verify", url: sink.url, events });
    const to = "15550100177";
    const begin = async (): Promise<string> =>
      (await house.ask<{ data: string }>("POST", "/v1/verify", { configId: "default", to })).body.data;
    const first = await begin();
    const second = await begin();
    const { body } = await eventually(
      () => house.ask<{ otp: string; verifyId: string }>("GET", `/api/simulator/otp/latest?to=${to}`),
      (latest) => latest.body.verifyId === second,
    );
    await house.ask("POST", "/v1/verify/validate", { verifyId: second, otp: "wrong-1" });
    await house.ask("POST", "/v1/verify/validate", { verifyId: second, otp: body.otp });
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

  test("an endpoint that is switched off, or asks for other events, is told nothing", async () => {
    const off = await author(house, "webhooks", {
      name: "off",
      channel: "rcs",
      url: `${sink.url}/off`,
      events: ["message_status"],
      enabled: false,
    });
    expect(off.enabled).toBe(false);
    await author(house, "webhooks", { name: "users", channel: "rcs", url: `${sink.url}/u`, events: ["user_message"] });
    await author(house, "webhooks", { name: "all", channel: "rcs", url: `${sink.url}/s`, events: ["message_status"] });
    await house.ask("POST", "/v1/rcs", {
      number: "+15550100100",
      botId: "heliograph",
      templateName: "store-opening",
      type: "TRANS",
    });
    const heard = await sink.until(3);
    expect(new Set(heard.map(({ path }) => path))).toEqual(new Set(["/s"]));
  });
});

describe.each(ENGINES)("telling again on %s", (engine) => {
  let house: MovedHouse;
  let sink: Sink;
  beforeEach(async () => {
    house = await openMovedHouse(engine);
    sink = await openSink();
  });
  afterEach(async () => {
    await house.close();
    await sink.close();
  });

  const reports = (): Promise<Endpoint> =>
    author(house, "dlr-configs", { name: "reports", provider: "ALL", url: sink.url });
  /** In small steps, because an attempt that is under way must not see its time run out. */
  const hears = (count: number): Promise<number> =>
    eventually(
      async () => {
        await house.travel(500);
        return sink.heard.length;
      },
      (length) => length >= count,
    );
  const callbacks = async () => (await house.app.store.listCallbacks(1, {}, null, 50)).rows;
  test("a server that fails is asked again by the schedule, and after the last time no more", async () => {
    sink.answer((_heard, response) => response.writeHead(500).end("no"));
    await reports();
    await house.send();
    await hears(1);
    const ended = await eventually(
      async () => {
        const [callback] = await callbacks();
        await house.leap(Math.max(0, (callback?.dueAt ?? 0) - house.clock.now()));
        await house.travel(500);
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
    const heard = sink.heard.length;
    await house.leap(48 * HOUR_MS);
    await house.travel(MINUTE_MS);
    expect(sink.heard).toHaveLength(heard);
    expect(new Set(sink.heard.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  }, 120_000);

  test("what comes later of a message waits for what comes before it", async () => {
    let broken = true;
    sink.answer((_heard, response) => response.writeHead(broken ? 503 : 200).end());
    await author(house, "webhooks", { name: "rcs", channel: "rcs", url: sink.url, events: ["message_status"] });
    await house.ask("POST", "/v1/rcs", {
      number: "+15550100100",
      botId: "heliograph",
      templateName: "store-opening",
      type: "TRANS",
    });
    await hears(1);
    await house.travel(2000);
    expect(sink.heard.map(statusOf)).toEqual(["sent"]);
    broken = false;
    await eventually(
      async () => {
        await house.travel(1000);
        return sink.heard.map(statusOf);
      },
      (statuses) => statuses.includes("read"),
    );
    expect(sink.heard.map(statusOf)).toEqual(["sent", "sent", "delivered", "read"]);
  }, 60_000);

  test("410 switches the endpoint off and says why", async () => {
    sink.answer((_heard, response) => response.writeHead(410).end());
    const { id } = await reports();
    await house.send();
    await hears(1);
    const gone = await eventually(
      async () => (await house.ask<Endpoint>("GET", `/api/dlr-configs/${id}`)).body,
      ({ enabled }) => !enabled,
    );
    expect(gone.disabledReason).toContain("410");
    await house.send();
    await house.travel(10 * MINUTE_MS);
    expect(sink.heard).toHaveLength(1);
  }, 60_000);

  test("an endpoint to which nothing comes through for five days is switched off", async () => {
    sink.answer((_heard, response) => response.writeHead(500).end());
    const { id } = await reports();
    const isOff = async () => !(await house.ask<Endpoint>("GET", `/api/dlr-configs/${id}`)).body.enabled;
    const offByDay: boolean[] = [];
    for (let day = 0; day < 6; day += 1) {
      await house.send();
      for (let hour = 0; hour < 24; hour += 1) {
        await house.leap(HOUR_MS - 500);
        await house.travel(500);
      }
      offByDay.push(await isOff());
    }
    expect(offByDay).toEqual([false, false, false, false, offByDay[4], true]);
  }, 120_000);
});
