import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS } from "../src/model/account.ts";
import type { TrailEntry } from "../src/model/trail.ts";
import { ENGINES } from "./support/engines.ts";
import type { Answer, Envelope } from "./support/house.ts";
import { openMovedHouse, type MovedHouse } from "./support/moved-house.ts";
import { Workshop } from "./support/workshop.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const idsOf = ({ body }: Answer<Envelope>): string[] => body.data.map(({ messageId }) => messageId);
const idOf = (answer: Answer<Envelope>): string => idsOf(answer)[0] ?? "";

const policyStep = (policy: string, verdict: string): object =>
  expect.objectContaining({ step: "policy", policy, verdict });
const verdictsOf = (trail: readonly TrailEntry[]): string[] =>
  trail.flatMap((entry) => (entry.step === "policy" ? [`${entry.policy}: ${entry.verdict}`] : []));

interface Named {
  id: string;
  name: string;
}

/** Changes the one route that a new account has. */
async function changeRoute(house: MovedHouse, change: object): Promise<void> {
  const { body } = await house.ask<{ data: Named[] }>("GET", "/api/routes");
  const { status } = await house.ask("PATCH", `/api/routes/${body.data[0]?.id}`, change);
  expect(status).toBe(200);
}

const { chaos: _, ...ORDINARY_SETTINGS } = DEFAULT_SETTINGS;

describe.each(ENGINES)("sending policy on %s", (engine) => {
  let house: MovedHouse;
  let last = 0;
  beforeAll(async () => {
    house = await openMovedHouse(engine);
  });
  afterEach(async () => {
    await changeSettings(ORDINARY_SETTINGS);
    await changeRoute(house, { enabled: true, prefixes: [], quietHours: null });
  });
  afterAll(() => house.close());

  /** A number that no other test has written to. */
  const someone = (): string => `1202555${String((last += 1)).padStart(4, "0")}`;
  const promote = (fields: Record<string, unknown> = {}) => house.send({ type: "PROMO", ...fields });
  const reply = (number: string, text: string) =>
    house.ask("POST", `/api/simulator/phones/${number}/reply`, { to: "HELIOG", text });
  async function changeSettings(settings: object): Promise<void> {
    const { status, body } = await house.ask("PATCH", "/api/account", settings);
    expect(body).toMatchObject(settings);
    expect(status).toBe(200);
  }
  async function endOf(messageId: string): Promise<{ status: string; errCode: string | null }> {
    await house.travel(1000);
    const { status, errCode } = await house.message(messageId);
    return { status, errCode };
  }
  const storedFor = async (recipient: string): Promise<number> =>
    (await house.rows(`select n from messages where recipient = '${recipient}'`)).length;

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

    test("a reply that says more than the word is no STOP", async () => {
      const number = someone();
      await reply(number, "please stop by tomorrow");
      expect((await promote({ to: number })).status).toBe(200);
    });

    test.each(["TRANS", "OTP"])("%s reaches who has opted out of promotions", async (type) => {
      const number = someone();
      await reply(number, "STOP");
      expect(await endOf(idOf(await house.send({ type, to: number })))).toMatchObject({ status: "Delivered" });
    });

    test("a repeated request answers what the first did, whatever has become of its recipient since", async () => {
      const to = someone();
      const fields = { to, type: "PROMO", text: "Half price" };
      const headers = { "Idempotency-Key": `before the stop ${to}` };
      const first = await house.send(fields, headers);
      expect(first.status).toBe(200);
      await house.ask("POST", "/api/optouts", { number: to });
      const again = await house.send(fields, headers);
      expect([again.status, again.headers.get("idempotent-replayed"), again.body.id]).toEqual([
        200,
        "true",
        first.body.id,
      ]);
      expect((await house.send(fields)).status).toBe(403);
    });

    test("among several recipients, who has opted out fails alone and the others go", async () => {
      const [first, gone, third] = [someone(), someone(), someone()];
      await reply(gone, "STOP");
      const [one = "", two = "", three = ""] = idsOf(await promote({ to: [first, gone, third] }));
      expect(await endOf(two)).toEqual({ status: "Failed", errCode: "RECIPIENT_OPTED_OUT" });
      expect(await endOf(one)).toMatchObject({ status: "Delivered" });
      expect(await endOf(three)).toMatchObject({ status: "Delivered" });
      expect(await house.onPhone(gone)).toEqual([]);
      expect(await house.trail(two)).toContainEqual(policyStep("opt-out", "refused"));
      expect(await house.trail(one)).toContainEqual(policyStep("opt-out", "passed"));
    });

    test("START takes the number off the list", async () => {
      const number = someone();
      await reply(number, "STOP");
      await reply(number, "start");
      expect(await endOf(idOf(await promote({ to: number })))).toMatchObject({ status: "Delivered" });
    });

    test.each([HOUR_MS, 2000])("a STOP stops what was accepted before it to be sent %i ms later", async (laterMs) => {
      const number = someone();
      const id = idOf(await promote({ to: number, sendAt: house.clock.now() + laterMs }));
      await reply(number, "STOP");
      await house.travel(laterMs + 1000);
      expect(await endOf(id)).toEqual({ status: "Failed", errCode: "RECIPIENT_OPTED_OUT" });
      expect(await house.onPhone(number)).toEqual([]);
      expect(verdictsOf(await house.trail(id))).toEqual(["opt-out: passed", "schedule: held", "opt-out: refused"]);
    });

    test("a STOP stops what waits for a busy carrier", async () => {
      const number = "12025559008";
      const id = idOf(await promote({ to: number }));
      await house.settle();
      expect(await house.stored(id)).toMatchObject({ state: "accepted", attempts: 1 });
      await reply(number, "STOP");
      await house.travel(2000);
      expect(await endOf(id)).toEqual({ status: "Failed", errCode: "RECIPIENT_OPTED_OUT" });
      expect(await house.onPhone(number)).toEqual([]);
    });

    test("a STOP does not stop a scheduled TRANS", async () => {
      const number = someone();
      const id = idOf(await house.send({ to: number, sendAt: house.clock.now() + HOUR_MS }));
      await reply(number, "STOP");
      await house.travel(HOUR_MS);
      expect(await endOf(id)).toMatchObject({ status: "Delivered" });
    });
  });

  describe("allowed countries", () => {
    const INDIAN = "919876543210";

    test("a single recipient elsewhere is refused and nothing is stored", async () => {
      await changeSettings({ allowedCountries: ["US", "GB"] });
      const { status, body } = await house.send({ to: INDIAN });
      expect(status).toBe(403);
      expect(body.error).toMatchObject({ code: "COUNTRY_NOT_ALLOWED", parameter: "to" });
      expect(await storedFor(INDIAN)).toBe(0);
    });

    test("among several recipients, the one elsewhere fails alone", async () => {
      await changeSettings({ allowedCountries: ["US", "GB"] });
      const [one = "", two = ""] = idsOf(await house.send({ to: [someone(), INDIAN] }));
      expect(await endOf(one)).toMatchObject({ status: "Delivered" });
      expect(await endOf(two)).toEqual({ status: "Failed", errCode: "COUNTRY_NOT_ALLOWED" });
      expect(await house.trail(one)).toContainEqual(policyStep("country", "passed"));
      expect(await house.trail(two)).toContainEqual(policyStep("country", "refused"));
    });
  });

  describe("the same text again and again", () => {
    test("is only noted on the simulator, with a header that says what would have been refused", async () => {
      await changeSettings({ sameText: { max: 2, windowSeconds: 60 } });
      const to = someone();
      const headers = [];
      for (let sent = 0; sent < 3; sent += 1)
        headers.push((await house.send({ to })).headers.get("heliograph-would-refuse"));
      expect(headers).toEqual([null, null, "same text"]);
      await house.travel(1000);
      expect(await house.onPhone(to)).toHaveLength(3);
    });

    test("fails where limits bind, until the window is over", async () => {
      await changeSettings({ sameText: { max: 2, windowSeconds: 60 }, limits: "everywhere" });
      const to = someone();
      for (let sent = 0; sent < 2; sent += 1)
        expect(await endOf(idOf(await house.send({ to })))).toMatchObject({ status: "Delivered" });
      const third = await house.send({ to });
      expect(third.headers.get("heliograph-would-refuse")).toBeNull();
      expect(await endOf(idOf(third))).toEqual({ status: "Failed", errCode: "SAME_TEXT_FLOOD" });
      expect(await house.trail(idOf(third))).toContainEqual(policyStep("same text", "refused"));
      expect(await endOf(idOf(await house.send({ to, text: "Another" })))).toMatchObject({ status: "Delivered" });
      await house.travel(MINUTE_MS);
      expect(await endOf(idOf(await house.send({ to })))).toMatchObject({ status: "Delivered" });
    });
  });

  describe("numbers that no country gives out", () => {
    const IMPOSSIBLE = "9198765";

    test("are only noted on the simulator", async () => {
      const answer = await house.send({ to: IMPOSSIBLE });
      expect(answer.headers.get("heliograph-would-refuse")).toBe("number");
      expect(await endOf(idOf(answer))).toMatchObject({ status: "Delivered" });
      expect(await house.trail(idOf(answer))).toContainEqual(policyStep("number", "noted"));
    });

    test("fail where limits bind, each alone and without cost", async () => {
      await changeSettings({ limits: "everywhere" });
      const [bad = "", good = ""] = idsOf(await house.send({ to: [IMPOSSIBLE, someone()] }));
      expect(await endOf(bad)).toEqual({ status: "Failed", errCode: "INVALID_RECIPIENT" });
      expect(await house.stored(bad)).toMatchObject({ credits: 0 });
      expect(await endOf(good)).toMatchObject({ status: "Delivered" });
      expect(await house.trail(bad)).toContainEqual(policyStep("number", "refused"));
    });

    test("several policies that are noted stand in one header", async () => {
      await changeSettings({ sameText: { max: 1, windowSeconds: 60 } });
      await house.send({ to: IMPOSSIBLE, text: "Both" });
      const { headers } = await house.send({ to: IMPOSSIBLE, text: "Both" });
      expect(headers.get("heliograph-would-refuse")).toBe("number, same text");
    });
  });

  describe("no route", () => {
    test("the message is accepted and fails at once, and its trail says why", async () => {
      await changeRoute(house, { enabled: false });
      const answer = await house.send({ to: someone() });
      expect(answer.status).toBe(200);
      expect(await house.message(idOf(answer))).toMatchObject({ status: "Failed", errCode: "NO_ROUTE" });
      const trail = await house.trail(idOf(answer));
      expect(trail).toContainEqual(policyStep("route", "refused"));
      expect(JSON.stringify(trail)).toContain("no route that is switched on");
    });

    test("among several recipients, those that no route matches fail alone", async () => {
      await changeRoute(house, { prefixes: ["1"] });
      const [one = "", two = ""] = idsOf(await house.send({ to: [someone(), "447700900123"] }));
      expect(await endOf(one)).toMatchObject({ status: "Delivered" });
      expect(await endOf(two)).toEqual({ status: "Failed", errCode: "NO_ROUTE" });
    });
  });

  describe("strict records", () => {
    beforeEach(async () => {
      await house.send({ to: someone(), sender: "LEARNED", templateId: "learned", text: "Hello" });
      await changeSettings({ records: "strict" });
    });
    const names = async (kind: string): Promise<string[]> =>
      (await house.ask<{ data: Named[] }>("GET", `/api/${kind}s`)).body.data.map(({ name }) => name);

    test.each(["STRANGER", "LEARNED"])("the sender %s, whom nobody registered, is refused", async (sender) => {
      const to = someone();
      const { status, body } = await house.send({ to, sender });
      expect(status).toBe(403);
      expect(body.error).toMatchObject({ code: "SENDER_NOT_REGISTERED", parameter: "sender" });
      expect(await storedFor(to)).toBe(0);
      expect(await names("sender")).not.toContain("STRANGER");
    });

    test.each(["unheard-of", "learned"])("the template %s, which nobody stored, is not found", async (templateId) => {
      const to = someone();
      const { status, body } = await house.send({ to, templateId, text: "Hello" });
      expect(status).toBe(404);
      expect(body.error).toMatchObject({ code: "TEMPLATE_NOT_FOUND", parameter: "templateId" });
      expect(await storedFor(to)).toBe(0);
      expect(await names("template")).not.toContain("unheard-of");
    });

    test("what was registered goes, and a campaign is listed although nothing else is learned", async () => {
      const answer = await house.send({ to: someone(), campaignName: "strict spring" });
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
  let house: MovedHouse;
  beforeEach(async () => {
    house = await openMovedHouse(engine, { now: EVENING });
    await changeRoute(house, { quietHours: INDIA });
  });
  afterEach(() => house.close());

  const DELHI = "919876543210";
  const LONDON = "447700900123";
  const promote = (fields: Record<string, unknown> = {}) => house.send({ type: "PROMO", to: DELHI, ...fields });
  const bind = () => house.ask("PATCH", "/api/account", { limits: "everywhere" });
  /** When what is due at this time is sent, and its report has come. */
  async function arrive(at: number): Promise<void> {
    await house.travelTo(at + 1000);
    await house.travel(1000);
  }
  const receivedAt = async (number: string): Promise<number[]> =>
    (await house.onPhone(number)).map((message) => message.receivedAt);

  test("hold nothing on the simulator, and the answer says what would have been held", async () => {
    await house.travelTo(NIGHT_BEGINS);
    const answer = await promote();
    expect(answer.headers.get("heliograph-would-refuse")).toBe("quiet hours");
    await house.travel(1000);
    expect(await house.message(idOf(answer))).toMatchObject({ status: "Delivered" });
    expect(await house.trail(idOf(answer))).toContainEqual(policyStep("quiet hours", "noted"));
  });

  test("hold promotions until they end where the recipient is, and nobody else's", async () => {
    await bind();
    const daytime = await promote();
    expect(daytime.headers.get("heliograph-would-refuse")).toBeNull();
    await house.travelTo(NIGHT_BEGINS);
    expect(await house.message(idOf(daytime))).toMatchObject({ status: "Delivered" });

    const [held = "", other = ""] = idsOf(await promote({ to: [DELHI, LONDON], text: "At night" }));
    await house.travel(1000);
    expect(await house.message(other)).toMatchObject({ status: "Delivered" });
    expect(await house.message(held)).toMatchObject({ status: "Pending", state: "scheduled" });
    expect(await house.stored(held)).toMatchObject({ dueAt: NIGHT_ENDS, expiresAt: NIGHT_ENDS + 4 * HOUR_MS });
    expect(verdictsOf(await house.trail(held))).toEqual(["opt-out: passed", "quiet hours: held"]);
    await house.travelTo(NIGHT_ENDS - 1);
    expect(await house.message(held)).toMatchObject({ state: "scheduled" });
    await arrive(NIGHT_ENDS);
    expect(await house.message(held)).toMatchObject({ status: "Delivered" });
    const [latest = 0] = await receivedAt(DELHI);
    expect(latest).toBeGreaterThanOrEqual(NIGHT_ENDS);
  });

  test.each(["TRANS", "OTP"])("do not hold %s", async (type) => {
    await bind();
    await house.travelTo(NIGHT_BEGINS);
    const id = idOf(await house.send({ to: DELHI, type }));
    await house.travel(1000);
    expect(await house.message(id)).toMatchObject({ status: "Delivered" });
  });

  test("hold what is to be sent while they last", async () => {
    await bind();
    const id = idOf(await promote({ sendAt: NIGHT_BEGINS + 2 * HOUR_MS }));
    expect(await house.stored(id)).toMatchObject({ state: "scheduled", dueAt: NIGHT_ENDS });
    await arrive(NIGHT_ENDS);
    expect(await house.message(id)).toMatchObject({ status: "Delivered" });
  });

  test("hold what was accepted before they began and comes to its turn when they have", async () => {
    await bind();
    const id = idOf(await promote({ sendAt: NIGHT_BEGINS - 1 }));
    await house.travelTo(NIGHT_BEGINS - 2000);
    house.clock.advance(3000);
    await house.settle();
    expect(await house.message(id)).toMatchObject({ status: "Pending", state: "scheduled" });
    expect(await house.trail(id)).toContainEqual(policyStep("quiet hours", "held"));
    await house.travelTo(NIGHT_ENDS - 1);
    expect(await receivedAt(DELHI)).toEqual([]);
    await arrive(NIGHT_ENDS);
    expect(await house.message(id)).toMatchObject({ status: "Delivered" });
  });
});

describe.each(ENGINES)("second thoughts before a message is sent, on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
    shop.settings = { ...DEFAULT_SETTINGS, limits: "everywhere" };
    shop.route("Everything to the simulator", { carrier: "simulator", quietHours: { from: "12:00", to: "13:00" } });
  });
  afterEach(() => shop.close());

  const LONDON = { recipient: "447700900123" };
  async function later(ms: number): Promise<void> {
    shop.clock.advance(ms);
    await shop.needs.membership.beat();
  }

  test("quiet hours that began a second ago hold a promotion that was accepted two seconds ago", async () => {
    await later(24 * HOUR_MS - 1000);
    const message = await shop.accept("PROMO", HOUR_MS, LONDON);
    await later(2000);
    await shop.dispatch(message);
    expect(shop.carrier.submitted).toEqual([]);
    expect(await shop.read(message)).toMatchObject({
      state: "scheduled",
      dueAt: shop.clock.now() + HOUR_MS - 1000,
      expiresAt: message.expiresAt + HOUR_MS - 1000,
    });
  });

  test("of two routes, the hours that count are those of the one that is still to be tried", async () => {
    await later(HOUR_MS);
    shop.addCarrier("first");
    const first = shop.route("First", { carrier: "first", priority: 1, quietHours: null });
    const message = await shop.accept("PROMO", HOUR_MS, LONDON);
    await later(23 * HOUR_MS);
    await shop.dispatch({ ...message, expiresAt: shop.clock.now() + HOUR_MS, tried: [first] });
    expect(shop.carrier.submitted).toEqual([]);
    expect(await shop.read(message)).toMatchObject({ state: "scheduled" });
  });
});
