import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { failOver } from "../../src/pipeline/dispatch/failover.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import { SIMULATOR, type CarrierContent } from "../../src/model/catalog.ts";
import type { Message } from "../../src/model/message.ts";
import { decodeTimeline } from "../../src/model/timeline.ts";
import { Smsc } from "../../src/smsc/smsc.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

const TEXT = { text: "Hello", encoding: "gsm7", flash: false } as const;
const HOUR_MS = 3_600_000;
const SIMULATED: CarrierContent = { adapter: "simulator", messagesPerSecond: null, chaos: null };
const CATCH_ALL = "Everything to the simulator";

describe.each(ENGINES)("a live message in an account with a real carrier, on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const passedOverBy = async (message: Message) =>
    decodeTimeline((await pipeline.read(message)).timeline).flatMap((entry) =>
      entry.step === "attempt" ? entry.passedOver : [],
    );

  test.each(["down", "not on this node", "missing"] as const)(
    "a live message waits while its carrier is %s",
    async (where) => {
      const north = pipeline.addRealCarrier("north");
      if (where === "down") north.up = false;
      if (where === "not on this node") north.elsewhere = true;
      if (where === "missing") pipeline.others.delete("1/north");
      pipeline.route("North", { carrier: "north", channel: "sms" });
      const message = await pipeline.accept("OTP");
      await pipeline.dispatch(message);
      expect(await pipeline.read(message)).toMatchObject({ state: "accepted" });
      expect(pipeline.carrier.submitted).toEqual([]);
      Object.assign(north, { up: true, elsewhere: false });
      pipeline.others.set("1/north", north);
      pipeline.clock.advance(5000);
      for (const again of await pipeline.claim()) await pipeline.dispatch(again);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "1/north" });
      expect(pipeline.carrier.submitted).toEqual([]);
    },
  );

  test.each(["down", "refused"] as const)(
    "a live message is not given to the simulator when its carrier answers %s",
    async (kind) => {
      const north = pipeline.addRealCarrier("north");
      north.answer = () =>
        kind === "down"
          ? { kind, description: "The line broke" }
          : { kind, fault: "carrier", code: "58", description: "Out of credit" };
      pipeline.route("North", { carrier: "north", channel: "sms" });
      const message = await pipeline.accept();
      await pipeline.dispatch(message);
      expect(await pipeline.read(message)).toMatchObject({ state: kind === "down" ? "accepted" : "rejected" });
      expect(pipeline.carrier.submitted).toEqual([]);
    },
  );

  test("a live message expires when its carrier does not come back in time", async () => {
    pipeline.addRealCarrier("north").up = false;
    pipeline.route("North", { carrier: "north", channel: "sms" });
    const message = await pipeline.accept("TRANS", 60_000);
    await pipeline.dispatch(message);
    pipeline.clock.advance(60_000);
    for (const again of await pipeline.claim()) await pipeline.dispatch(again);
    expect(await pipeline.read(message)).toMatchObject({ state: "expired", errorCode: "EXPIRED_IN_QUEUE" });
  });

  test.each(["undelivered", "silent"] as const)(
    "a live message is not failed over to the simulator: %s",
    async (news) => {
      const north = pipeline.addRealCarrier("north");
      north.answer = () => ({ kind: "taken", carrierMessageId: "n-1" });
      pipeline.route("North", { carrier: "north", channel: "sms", failoverAfterSeconds: 10 });
      const message = await pipeline.accept();
      await pipeline.dispatch(message);
      const receipt = { carrier: "1/north", carrierMessageId: "n-1", errorCode: "9", description: "No" };
      if (news === "undelivered")
        await receiveReceipt(pipeline.deps, { ...receipt, state: "undelivered", at: pipeline.clock.now() });
      pipeline.clock.advance(10_000);
      await failOver(pipeline.deps);
      for (const again of await pipeline.claim()) await pipeline.dispatch(again);
      expect(pipeline.carrier.submitted).toEqual([]);
      expect(await pipeline.read(message)).toMatchObject({ state: news === "silent" ? "submitted" : "undelivered" });
    },
  );

  test("a live message waits for a route to its carrier, and says so", async () => {
    pipeline.addRealCarrier("north");
    const message = await pipeline.accept();
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "accepted" });
    expect(await passedOverBy(message)).toEqual([
      { route: CATCH_ALL, carrier: SIMULATOR, reason: "Live messages wait for a route to a real carrier" },
    ]);
    pipeline.route("North", { carrier: "north", channel: "sms" });
    pipeline.clock.advance(5000);
    for (const again of await pipeline.claim()) await pipeline.dispatch(again);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "1/north" });
  });

  test("a live message that waits for a carrier is never given to the simulator when the carrier goes", async () => {
    const north = pipeline.addRealCarrier("north");
    const records = pipeline.catalog.of(1);
    const [carrier] = records.named("carrier").values();
    if (!carrier) throw new Error("there is no carrier");
    north.up = false;
    const waiting = await pipeline.accept();
    const scheduled = await pipeline.accept("PROMO", 7_200_000, { dueAt: pipeline.clock.now() + HOUR_MS });
    await pipeline.dispatch(waiting);
    const gone = { ...carrier, content: SIMULATED };
    const now = pipeline.clock.now();
    for (const record of records.formerChannels({ accountId: 1, put: [gone], remove: [] }, now)) records.put(record);
    records.put(gone);
    pipeline.clock.advance(5000);
    // Another node that has not heard of the change accepts this one.
    const late = await pipeline.accept();
    pipeline.clock.advance(HOUR_MS);
    await pipeline.deps.membership.heartbeat();
    const later = await pipeline.accept();
    for (const again of await pipeline.claim()) await pipeline.dispatch(again);
    await pipeline.dispatch(late);
    await pipeline.dispatch(later);
    for (const message of [waiting, late, scheduled])
      expect(await pipeline.read(message)).toMatchObject({ carrier: null });
    expect(await passedOverBy(scheduled)).toContainEqual({
      route: CATCH_ALL,
      carrier: SIMULATOR,
      reason: "Live messages wait for a route to a real carrier",
    });
    expect(await pipeline.read(later)).toMatchObject({ state: "submitted", carrier: "scripted" });
    expect(pipeline.carrier.submitted).toHaveLength(1);
    // Another real carrier takes them.
    pipeline.addRealCarrier("south");
    pipeline.route("South", { carrier: "south", channel: "sms" });
    pipeline.clock.advance(HOUR_MS / 2);
    await pipeline.deps.membership.heartbeat();
    for (const again of await pipeline.claim()) await pipeline.dispatch(again);
    expect(await pipeline.read(scheduled)).toMatchObject({ state: "submitted", carrier: "1/south" });
  });

  test("a live message goes to the simulator by a route with simulateLive, shown in its timeline and a warning", async () => {
    pipeline.addRealCarrier("north");
    pipeline.route("North", { carrier: "north", channel: "sms", prefixes: ["44"] });
    pipeline.route(CATCH_ALL, { carrier: SIMULATOR, simulateLive: true });
    const message = await pipeline.accept();
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
    expect(decodeTimeline((await pipeline.read(message)).timeline)).toContainEqual(
      expect.objectContaining({ step: "attempt", route: CATCH_ALL, simulated: true }),
    );
    expect(pipeline.simulatedLive.warningsFor(1)).toEqual([
      { code: "LIVE_SIMULATED", message: expect.stringContaining(`"${CATCH_ALL}" has simulateLive`) },
    ]);
    expect(pipeline.simulatedLive.warningsFor(2)).toEqual([]);
  });

  test("a live message goes to the simulator on a channel without a real carrier, and raises a warning", async () => {
    pipeline.addRealCarrier("google", "rbm");
    const message = await pipeline.accept();
    expect(pipeline.simulatedLive.warningsFor(1)).toEqual([]);
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
    expect(pipeline.simulatedLive.warningsFor(1)).toEqual([
      { code: "LIVE_SIMULATED", message: expect.stringContaining("no real carrier") },
    ]);
  });

  test("without any real carrier a live message goes to the simulator without a warning", async () => {
    const message = await pipeline.accept();
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
    expect(await passedOverBy(message)).toEqual([]);
    expect(pipeline.simulatedLive.warningsFor(1)).toEqual([]);
  });

  test("an RCS message gets no simulated fallback while its carrier is down", async () => {
    const content = {
      botId: "shop",
      templateName: "order",
      kind: "text",
      text: "Hello",
      suggestions: [],
      cards: [],
      params: [],
      fallback: { sender: "HELIOG", content: TEXT, segments: 1, afterSeconds: 60, validityMs: 60_000 },
    } as const;
    const message = await pipeline.accept("TRANS", 120_000, { channel: "rcs", content });
    pipeline.addRealCarrier("google", "rbm").up = false;
    pipeline.route("RCS", { carrier: "google", channel: "rcs" });
    const waitAndSend = async (): Promise<void> => {
      for (const again of await pipeline.claim()) await pipeline.dispatch(again);
    };
    await pipeline.dispatch(message);
    pipeline.clock.advance(61_000);
    await waitAndSend();
    expect(await pipeline.read(message)).toMatchObject({ state: "accepted", channel: "rcs" });
    expect(pipeline.carrier.submitted).toEqual([]);
    pipeline.route("Texts in tests", { carrier: SIMULATOR, channel: "sms", simulateLive: true });
    pipeline.clock.advance(30_000);
    await waitAndSend();
    expect(await pipeline.read(message)).toMatchObject({ state: "accepted", channel: "sms" });
  });
});

interface RouteBody {
  id: string;
  name: string;
  priority: number;
  simulateLive: boolean;
}

/** Set up as docs/smpp.md says, with the sample route in its place. */
describe.each(ENGINES)("an SMSC that goes away and comes back, on %s", (engine) => {
  let server: TestServer;
  let smsc: Smsc;
  const taken = new Set<string>();
  const open = (port: number): Promise<Smsc> =>
    Smsc.open({
      host: "127.0.0.1",
      port,
      clock: systemClock,
      behavior: { delayMs: 1 },
      onTaken: ({ destination }) => taken.add(destination.address),
    });
  beforeAll(async () => {
    server = await startTestServer(engine);
    smsc = await open(0);
    const smpp = { host: "127.0.0.1", port: smsc.port, systemId: "shop", password: "secret" };
    const { status } = await server.request("POST", "/api/carriers", { name: "north", adapter: "smpp", smpp });
    if (status !== 201) throw new Error(`the carrier was not made: ${status}`);
  });
  afterAll(async () => {
    await server.close();
    await smsc.close();
  });

  const routes = async (): Promise<RouteBody[]> =>
    (await server.request<{ data: RouteBody[] }>("GET", "/api/routes")).body.data;
  const send = async (to: string, headers = {}, fields = {}): Promise<string> => {
    // A busy machine may refuse a send for a moment; a client sends it again.
    const { status, body } = await eventually(
      () => server.send({ to, ...fields }, headers),
      (answer) => answer.status !== 503,
    );
    if (status !== 200) throw new Error(`the send was answered ${status}: ${JSON.stringify(body)}`);
    return body.data[0]?.messageId ?? "";
  };

  test("a route without a priority comes before the one to the simulator", async () => {
    const body = { name: "Texts by north", channel: "sms", carrier: "north" };
    const made = await server.request<RouteBody>("POST", "/api/routes", body);
    expect(made.status).toBe(201);
    expect(made.body.simulateLive).toBe(false);
    const sample = (await routes()).find(({ name }) => name === CATCH_ALL);
    expect(made.body.priority).toBeLessThan(sample?.priority ?? 0);
  });

  test("live messages wait for the SMSC and are delivered when it is back; those of a test key never wait", async () => {
    expect((await server.settled(await send("15550100200"))).state).toBe("delivered");
    expect(taken.has("15550100200")).toBe(true);
    const { port } = smsc;
    await smsc.close();
    const numbers = Array.from({ length: 20 }, (_, n) => `155501003${10 + n}`);
    const ids = await Promise.all(numbers.map((to) => send(to, {}, { type: "OTP" })));
    const tried = await send("15550100400", { apikey: server.testKey });
    const found = await eventually(
      async () =>
        (await server.request<{ state: string }>("GET", `/v1/messages/${tried}`, undefined, { apikey: server.testKey }))
          .body,
      ({ state }) => state === "delivered",
    );
    expect(found.state).toBe("delivered");
    const waiting = await Promise.all(
      ids.map((id) =>
        eventually(
          () => server.message(id),
          ({ timeline }) => timeline.some(({ event }) => event === "postponed"),
        ),
      ),
    );
    expect(waiting.every(({ status }) => status === "Pending")).toBe(true);
    expect(await server.onPhone(numbers[0] ?? "")).toEqual([]);
    smsc = await open(port);
    for (const id of ids)
      await eventually(
        () => server.message(id),
        ({ state }) => state === "delivered",
      );
    expect(numbers.every((to) => taken.has(to))).toBe(true);
    expect(await server.onPhone(numbers[0] ?? "")).toEqual([]);
  });

  test("nothing is learned while a real carrier has the channel", async () => {
    const { status } = await server.send({ sender: "NOBODY" });
    expect(status).toBe(403);
  });

  test("simulateLive is shown by the system, the account and the message, and ends with the route", async () => {
    const warnings = async (path: string) =>
      (await server.request<{ warnings: { code: string; message: string }[] }>("GET", path)).body.warnings;
    expect(await warnings("/api/system")).toEqual([]);
    const sample = (await routes()).find(({ name }) => name === CATCH_ALL);
    const north = (await routes()).find(({ name }) => name === "Texts by north");
    const wrong = await server.request("PATCH", `/api/routes/${north?.id}`, { simulateLive: true });
    expect(wrong.status).toBe(400);
    expect(JSON.stringify(wrong.body)).toContain('"parameter":"simulateLive"');
    const change = { simulateLive: true, priority: 1 };
    expect((await server.request("PATCH", `/api/routes/${sample?.id}`, change)).status).toBe(200);
    for (const path of ["/api/system", "/api/account"])
      expect(await warnings(path)).toEqual([{ code: "LIVE_SIMULATED", message: expect.stringContaining(CATCH_ALL) }]);
    const id = await send("15550100500");
    const message = await server.settled(id);
    expect(message.timeline).toContainEqual(expect.objectContaining({ event: "simulated" }));
    const told = await server.request<{ timeline: { step: string; what: string }[] }>("GET", `/api/messages/${id}`);
    expect(told.body.timeline).toContainEqual(
      expect.objectContaining({ step: "simulated", what: expect.stringContaining(CATCH_ALL) }),
    );
    expect(taken.has("15550100500")).toBe(false);
    expect((await server.request("PATCH", `/api/routes/${sample?.id}`, { simulateLive: false })).status).toBe(200);
    expect(await warnings("/api/system")).toEqual([]);
  });
});

describe.each(ENGINES)("the last real carrier of a channel, on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  const deleteCarrier = (id: string) => server.request("DELETE", `/api/carriers/${id}`);
  const simulate = (id: string) => server.request("PATCH", `/api/carriers/${id}`, { adapter: "simulator", smpp: null });
  const apply = () => server.request("PUT", "/api/config", { carriers: [] });

  test.each([
    ["is deleted", deleteCarrier],
    ["becomes a simulated one", simulate],
    ["is missing in a configuration file", apply],
  ])("when it %s, live messages that wait for it are not given to the simulator", async (_, takeAway) => {
    const smpp = { host: "127.0.0.1", port: 1, systemId: "shop", password: "secret" };
    const made = await server.request<{ id: string }>("POST", "/api/carriers", {
      name: "north",
      adapter: "smpp",
      smpp,
    });
    expect(made.status).toBe(201);
    const sent = await server.send({ to: "15550100200", type: "OTP" });
    expect(sent.status).toBe(200);
    const id = sent.body.data[0]?.messageId ?? "";
    const postponements = async (): Promise<number> =>
      (await server.message(id)).timeline.filter(({ event }) => event === "postponed").length;
    const before = await eventually(postponements, (count) => count > 0);
    expect((await takeAway(made.body.id)).status).toBeLessThan(300);
    await eventually(postponements, (count) => count > before);
    expect((await server.message(id)).status).toBe("Pending");
    expect(await server.onPhone("15550100200")).toEqual([]);
    expect((await server.request("POST", `/v1/messages/${id}/cancel`)).status).toBe(200);
    // Only the simulated one is still there.
    expect((await deleteCarrier(made.body.id)).status).toBe(takeAway === simulate ? 200 : 404);
  });
});
