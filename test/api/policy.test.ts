import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import type { TimelineEntry } from "../../src/model/timeline.ts";
import { ENGINES } from "../support/engines.ts";
import type { Answer, Envelope } from "../support/test-server.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const idsOf = ({ body }: Answer<Envelope>): string[] => body.data.map(({ messageId }) => messageId);
const idOf = (answer: Answer<Envelope>): string => idsOf(answer)[0] ?? "";

const policyStep = (policy: string, verdict: string): object =>
  expect.objectContaining({ step: "policy", policy, verdict });
const verdictsOf = (entries: readonly TimelineEntry[]): string[] =>
  entries.flatMap((entry) => (entry.step === "policy" ? [`${entry.policy}: ${entry.verdict}`] : []));

interface Named {
  id: string;
  name: string;
}

/** Changes the one route that a new account has. */
async function changeRoute(server: MovedClockServer, change: object): Promise<void> {
  const { body } = await server.request<{ data: Named[] }>("GET", "/api/routes");
  const { status } = await server.request("PATCH", `/api/routes/${body.data[0]?.id}`, change);
  expect(status).toBe(200);
}

const { chaos: _, ...ORDINARY_SETTINGS } = DEFAULT_SETTINGS;

describe.each(ENGINES)("sending policy on %s", (engine) => {
  let server: MovedClockServer;
  let last = 0;
  beforeAll(async () => {
    server = await startMovedClockServer(engine);
  });
  afterEach(async () => {
    await changeSettings(ORDINARY_SETTINGS);
    await changeRoute(server, { enabled: true, prefixes: [], quietHours: null });
  });
  afterAll(() => server.close());

  /** A number that no other test has written to. */
  const someone = (): string => `1202555${String((last += 1)).padStart(4, "0")}`;
  const promote = (fields: Record<string, unknown> = {}) => server.send({ type: "PROMO", ...fields });
  const reply = (number: string, text: string) =>
    server.request("POST", `/api/simulator/phones/${number}/reply`, { to: "HELIOG", text });
  async function changeSettings(settings: object): Promise<void> {
    const { status, body } = await server.request("PATCH", "/api/account", settings);
    expect(body).toMatchObject(settings);
    expect(status).toBe(200);
  }
  async function endOf(messageId: string): Promise<{ status: string; errCode: string | null }> {
    await server.travel(1000);
    const { status, errCode } = await server.message(messageId);
    return { status, errCode };
  }
  const storedFor = async (recipient: string): Promise<number> =>
    (await server.rows(`select n from messages where recipient = '${recipient}'`)).length;

  describe("opt-outs", () => {
    test("after a STOP from the phone, a promotion to it alone is refused and nothing is stored", async () => {
      const number = someone();
      expect(await endOf(idOf(await promote({ to: number })))).toMatchObject({ status: "Delivered" });
      expect((await reply(number, " Stop! ")).status).toBe(200);
      const { status, body } = await promote({ to: number });
      expect(status).toBe(403);
      expect(body).toMatchObject({ id: null, data: [], error: { code: "RECIPIENT_OPTED_OUT", parameter: "to" } });
      expect(await storedFor(number)).toBe(1);
    });

    test("a reply that contains more than the word is not a STOP", async () => {
      const number = someone();
      await reply(number, "please stop by tomorrow");
      expect((await promote({ to: number })).status).toBe(200);
    });

    test.each(["TRANS", "OTP"])("%s reaches a recipient who has opted out of promotions", async (type) => {
      const number = someone();
      await reply(number, "STOP");
      expect(await endOf(idOf(await server.send({ type, to: number })))).toMatchObject({ status: "Delivered" });
    });

    test("a repeated request gets the first response, whatever happened to its recipient since", async () => {
      const to = someone();
      const fields = { to, type: "PROMO", text: "Half price" };
      const headers = { "Idempotency-Key": `before the stop ${to}` };
      const first = await server.send(fields, headers);
      expect(first.status).toBe(200);
      await server.request("POST", "/api/optouts", { number: to });
      const again = await server.send(fields, headers);
      expect([again.status, again.headers.get("idempotent-replayed"), again.body.id]).toEqual([
        200,
        "true",
        first.body.id,
      ]);
      expect((await server.send(fields)).status).toBe(403);
    });

    test("among several recipients, one that has opted out fails alone", async () => {
      const [first, gone, third] = [someone(), someone(), someone()];
      await reply(gone, "STOP");
      const [one = "", two = "", three = ""] = idsOf(await promote({ to: [first, gone, third] }));
      expect(await endOf(two)).toEqual({ status: "Failed", errCode: "RECIPIENT_OPTED_OUT" });
      expect(await endOf(one)).toMatchObject({ status: "Delivered" });
      expect(await endOf(three)).toMatchObject({ status: "Delivered" });
      expect(await server.onPhone(gone)).toEqual([]);
      expect(await server.timeline(two)).toContainEqual(policyStep("opt-out", "refused"));
      expect(await server.timeline(one)).toContainEqual(policyStep("opt-out", "passed"));
    });

    test("START removes the number from the opt-out list", async () => {
      const number = someone();
      await reply(number, "STOP");
      await reply(number, "start");
      expect(await endOf(idOf(await promote({ to: number })))).toMatchObject({ status: "Delivered" });
    });

    test.each([HOUR_MS, 2000])("a STOP stops messages accepted before it that are due %i ms later", async (laterMs) => {
      const number = someone();
      const id = idOf(await promote({ to: number, sendAt: server.clock.now() + laterMs }));
      await reply(number, "STOP");
      await server.travel(laterMs + 1000);
      expect(await endOf(id)).toEqual({ status: "Failed", errCode: "RECIPIENT_OPTED_OUT" });
      expect(await server.onPhone(number)).toEqual([]);
      expect(verdictsOf(await server.timeline(id))).toEqual(["opt-out: passed", "schedule: held", "opt-out: refused"]);
    });

    test("a STOP stops messages that wait for a busy carrier", async () => {
      const number = "12025559008";
      const id = idOf(await promote({ to: number }));
      await server.settle();
      expect(await server.stored(id)).toMatchObject({ state: "accepted", attempts: 1 });
      await reply(number, "STOP");
      await server.travel(2000);
      expect(await endOf(id)).toEqual({ status: "Failed", errCode: "RECIPIENT_OPTED_OUT" });
      expect(await server.onPhone(number)).toEqual([]);
    });

    test("a STOP does not stop a scheduled TRANS", async () => {
      const number = someone();
      const id = idOf(await server.send({ to: number, sendAt: server.clock.now() + HOUR_MS }));
      await reply(number, "STOP");
      await server.travel(HOUR_MS);
      expect(await endOf(id)).toMatchObject({ status: "Delivered" });
    });
  });

  describe("allowed countries", () => {
    const INDIAN = "919876543210";

    test("a single recipient elsewhere is refused and nothing is stored", async () => {
      await changeSettings({ allowedCountries: ["US", "GB"] });
      const { status, body } = await server.send({ to: INDIAN });
      expect(status).toBe(403);
      expect(body.error).toMatchObject({ code: "COUNTRY_NOT_ALLOWED", parameter: "to" });
      expect(await storedFor(INDIAN)).toBe(0);
    });

    test("among several recipients, one in another country fails alone", async () => {
      await changeSettings({ allowedCountries: ["US", "GB"] });
      const [one = "", two = ""] = idsOf(await server.send({ to: [someone(), INDIAN] }));
      expect(await endOf(one)).toMatchObject({ status: "Delivered" });
      expect(await endOf(two)).toEqual({ status: "Failed", errCode: "COUNTRY_NOT_ALLOWED" });
      expect(await server.timeline(one)).toContainEqual(policyStep("country", "passed"));
      expect(await server.timeline(two)).toContainEqual(policyStep("country", "refused"));
    });
  });

  describe("the duplicate-text filter", () => {
    test("a repeated text is only reported on the simulator, in a header", async () => {
      await changeSettings({ sameText: { max: 2, windowSeconds: 60 } });
      const to = someone();
      const headers = [];
      for (let sent = 0; sent < 3; sent += 1)
        headers.push((await server.send({ to })).headers.get("heliograph-would-refuse"));
      expect(headers).toEqual([null, null, "same text"]);
      await server.travel(1000);
      expect(await server.onPhone(to)).toHaveLength(3);
    });

    test("a repeated text fails where limits are enforced, until the window ends", async () => {
      await changeSettings({ sameText: { max: 2, windowSeconds: 60 }, limits: "everywhere" });
      const to = someone();
      for (let sent = 0; sent < 2; sent += 1)
        expect(await endOf(idOf(await server.send({ to })))).toMatchObject({ status: "Delivered" });
      const third = await server.send({ to });
      expect(third.headers.get("heliograph-would-refuse")).toBeNull();
      expect(await endOf(idOf(third))).toEqual({ status: "Failed", errCode: "SAME_TEXT_FLOOD" });
      expect(await server.timeline(idOf(third))).toContainEqual(policyStep("same text", "refused"));
      expect(await endOf(idOf(await server.send({ to, text: "Another" })))).toMatchObject({ status: "Delivered" });
      await server.travel(MINUTE_MS);
      expect(await endOf(idOf(await server.send({ to })))).toMatchObject({ status: "Delivered" });
    });
  });

  describe("numbers outside every numbering plan", () => {
    const IMPOSSIBLE = "9198765";

    test("invalid numbers are only reported on the simulator", async () => {
      const answer = await server.send({ to: IMPOSSIBLE });
      expect(answer.headers.get("heliograph-would-refuse")).toBe("number");
      expect(await endOf(idOf(answer))).toMatchObject({ status: "Delivered" });
      expect(await server.timeline(idOf(answer))).toContainEqual(policyStep("number", "noted"));
    });

    test("invalid numbers fail where limits are enforced, each alone and without cost", async () => {
      await changeSettings({ limits: "everywhere" });
      const [bad = "", good = ""] = idsOf(await server.send({ to: [IMPOSSIBLE, someone()] }));
      expect(await endOf(bad)).toEqual({ status: "Failed", errCode: "INVALID_RECIPIENT" });
      expect(await server.stored(bad)).toMatchObject({ credits: 0 });
      expect(await endOf(good)).toMatchObject({ status: "Delivered" });
      expect(await server.timeline(bad)).toContainEqual(policyStep("number", "refused"));
    });

    test("several reported policies share one header", async () => {
      await changeSettings({ sameText: { max: 1, windowSeconds: 60 } });
      await server.send({ to: IMPOSSIBLE, text: "Both" });
      const { headers } = await server.send({ to: IMPOSSIBLE, text: "Both" });
      expect(headers.get("heliograph-would-refuse")).toBe("number, same text");
    });
  });

  describe("no route", () => {
    test("a message without a route is accepted and fails at once, and its timeline says why", async () => {
      await changeRoute(server, { enabled: false });
      const answer = await server.send({ to: someone() });
      expect(answer.status).toBe(200);
      expect(await server.message(idOf(answer))).toMatchObject({ status: "Failed", errCode: "NO_ROUTE" });
      const entries = await server.timeline(idOf(answer));
      expect(entries).toContainEqual(policyStep("route", "refused"));
      expect(JSON.stringify(entries)).toContain("no route that is switched on");
    });

    test("among several recipients, those without a route fail alone", async () => {
      await changeRoute(server, { prefixes: ["1"] });
      const [one = "", two = ""] = idsOf(await server.send({ to: [someone(), "447700900123"] }));
      expect(await endOf(one)).toMatchObject({ status: "Delivered" });
      expect(await endOf(two)).toEqual({ status: "Failed", errCode: "NO_ROUTE" });
    });
  });

  describe("strict records", () => {
    beforeEach(async () => {
      await server.send({ to: someone(), sender: "LEARNED", templateId: "learned", text: "Hello" });
      await changeSettings({ records: "strict" });
    });
    const names = async (kind: string): Promise<string[]> =>
      (await server.request<{ data: Named[] }>("GET", `/api/${kind}s`)).body.data.map(({ name }) => name);

    test.each(["STRANGER", "LEARNED"])("the unregistered sender %s is refused", async (sender) => {
      const to = someone();
      const { status, body } = await server.send({ to, sender });
      expect(status).toBe(403);
      expect(body.error).toMatchObject({ code: "SENDER_NOT_REGISTERED", parameter: "sender" });
      expect(await storedFor(to)).toBe(0);
      expect(await names("sender")).not.toContain("STRANGER");
    });

    test.each(["unheard-of", "learned"])("the unknown template %s is not found", async (templateId) => {
      const to = someone();
      const { status, body } = await server.send({ to, templateId, text: "Hello" });
      expect(status).toBe(404);
      expect(body.error).toMatchObject({ code: "TEMPLATE_NOT_FOUND", parameter: "templateId" });
      expect(await storedFor(to)).toBe(0);
      expect(await names("template")).not.toContain("unheard-of");
    });

    test("registered senders and templates are accepted, and a campaign is listed although nothing else is learned", async () => {
      const answer = await server.send({ to: someone(), campaignName: "strict spring" });
      expect(await endOf(idOf(answer))).toMatchObject({ status: "Delivered" });
      expect(await names("campaign")).toContain("strict spring");
    });
  });
});

const INDIA = { from: "21:00", to: "10:00" };
/** Half past eight in the evening in India, three in the afternoon in England, ten in the morning in Washington. */
const EVENING = Date.UTC(2026, 0, 15, 15);
const NIGHT_BEGINS = EVENING + HOUR_MS / 2;
const NIGHT_ENDS = NIGHT_BEGINS + 13 * HOUR_MS;

describe.each(ENGINES)("quiet hours on %s", (engine) => {
  let server: MovedClockServer;
  beforeEach(async () => {
    server = await startMovedClockServer(engine, { now: EVENING });
    await changeRoute(server, { quietHours: INDIA });
  });
  afterEach(() => server.close());

  const DELHI = "919876543210";
  const LONDON = "447700900123";
  const promote = (fields: Record<string, unknown> = {}) => server.send({ type: "PROMO", to: DELHI, ...fields });
  const bind = () => server.request("PATCH", "/api/account", { limits: "everywhere" });
  /** In one step: nothing is due before. */
  const leapTo = (at: number): Promise<void> => server.leap(Math.max(0, at - server.clock.now()));
  /** Moves the clock past `at`, so that due messages are sent and their receipts arrive. */
  async function arrive(at: number): Promise<void> {
    await leapTo(at - 1000);
    await server.travel(2000);
    await server.travel(1000);
  }
  const receivedAt = async (number: string): Promise<number[]> =>
    (await server.onPhone(number)).map((message) => message.receivedAt);

  test("quiet hours hold nothing on the simulator, and the response says what they would hold", async () => {
    await leapTo(NIGHT_BEGINS);
    const answer = await promote();
    expect(answer.headers.get("heliograph-would-refuse")).toBe("quiet hours");
    await server.travel(1000);
    expect(await server.message(idOf(answer))).toMatchObject({ status: "Delivered" });
    expect(await server.timeline(idOf(answer))).toContainEqual(policyStep("quiet hours", "noted"));
  });

  test("quiet hours hold promotions until they end in the recipient's time zone, and no others", async () => {
    await bind();
    const daytime = await promote();
    expect(daytime.headers.get("heliograph-would-refuse")).toBeNull();
    await leapTo(NIGHT_BEGINS);
    expect(await server.message(idOf(daytime))).toMatchObject({ status: "Delivered" });

    const [held = "", other = ""] = idsOf(await promote({ to: [DELHI, LONDON], text: "At night" }));
    await server.travel(1000);
    expect(await server.message(other)).toMatchObject({ status: "Delivered" });
    expect(await server.message(held)).toMatchObject({ status: "Pending", state: "scheduled" });
    expect(await server.stored(held)).toMatchObject({ dueAt: NIGHT_ENDS, expiresAt: NIGHT_ENDS + 4 * HOUR_MS });
    expect(verdictsOf(await server.timeline(held))).toEqual(["opt-out: passed", "quiet hours: held"]);
    await leapTo(NIGHT_ENDS - 1);
    expect(await server.message(held)).toMatchObject({ state: "scheduled" });
    await arrive(NIGHT_ENDS);
    expect(await server.message(held)).toMatchObject({ status: "Delivered" });
    const [latest = 0] = await receivedAt(DELHI);
    expect(latest).toBeGreaterThanOrEqual(NIGHT_ENDS);
  });

  test.each(["TRANS", "OTP"])("quiet hours do not hold %s", async (type) => {
    await bind();
    await leapTo(NIGHT_BEGINS);
    const id = idOf(await server.send({ to: DELHI, type }));
    await server.travel(1000);
    expect(await server.message(id)).toMatchObject({ status: "Delivered" });
  });

  test("quiet hours hold messages that are due while they last", async () => {
    await bind();
    const id = idOf(await promote({ sendAt: NIGHT_BEGINS + 2 * HOUR_MS }));
    expect(await server.stored(id)).toMatchObject({ state: "scheduled", dueAt: NIGHT_ENDS });
    await arrive(NIGHT_ENDS);
    expect(await server.message(id)).toMatchObject({ status: "Delivered" });
  });

  test("quiet hours hold messages accepted before they began whose turn comes within them", async () => {
    await bind();
    const id = idOf(await promote({ sendAt: NIGHT_BEGINS - 1 }));
    await leapTo(NIGHT_BEGINS - 2000);
    server.clock.advance(3000);
    await server.settle();
    expect(await server.message(id)).toMatchObject({ status: "Pending", state: "scheduled" });
    expect(await server.timeline(id)).toContainEqual(policyStep("quiet hours", "held"));
    await leapTo(NIGHT_ENDS - 1);
    expect(await receivedAt(DELHI)).toEqual([]);
    await arrive(NIGHT_ENDS);
    expect(await server.message(id)).toMatchObject({ status: "Delivered" });
  });
});

describe.each(ENGINES)("rechecks before a message is sent, on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    pipeline.settings = { ...DEFAULT_SETTINGS, limits: "everywhere" };
    pipeline.route("Everything to the simulator", { carrier: "simulator", quietHours: { from: "12:00", to: "13:00" } });
  });
  afterEach(() => pipeline.close());

  const LONDON = { recipient: "447700900123" };
  async function later(ms: number): Promise<void> {
    pipeline.clock.advance(ms);
    await pipeline.deps.membership.heartbeat();
  }

  test("quiet hours that began a second ago hold a promotion accepted two seconds ago", async () => {
    await later(24 * HOUR_MS - 1000);
    const message = await pipeline.accept("PROMO", HOUR_MS, LONDON);
    await later(2000);
    await pipeline.dispatch(message);
    expect(pipeline.carrier.submitted).toEqual([]);
    expect(await pipeline.read(message)).toMatchObject({
      state: "scheduled",
      dueAt: pipeline.clock.now() + HOUR_MS - 1000,
      expiresAt: message.expiresAt + HOUR_MS - 1000,
    });
  });

  test("the quiet hours of the route that is still to be tried apply", async () => {
    await later(HOUR_MS);
    pipeline.addCarrier("first");
    const first = pipeline.route("First", { carrier: "first", priority: 1, quietHours: null });
    const message = await pipeline.accept("PROMO", HOUR_MS, LONDON);
    await later(23 * HOUR_MS);
    await pipeline.dispatch({ ...message, expiresAt: pipeline.clock.now() + HOUR_MS, tried: [first] });
    expect(pipeline.carrier.submitted).toEqual([]);
    expect(await pipeline.read(message)).toMatchObject({ state: "scheduled" });
  });
});
