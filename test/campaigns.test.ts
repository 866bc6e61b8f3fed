import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { changeCampaign, settleCampaigns } from "../src/messages/campaign.ts";
import type { CatalogRecord } from "../src/model/catalog.ts";
import type { Message } from "../src/model/message.ts";
import { ENGINES } from "./support/engines.ts";
import type { Answer, Envelope } from "./support/house.ts";
import { openMovedHouse, type MovedHouse } from "./support/moved-house.ts";
import { Workshop } from "./support/workshop.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const idsOf = ({ body }: Answer<Envelope>): string[] => body.data.map(({ messageId }) => messageId);
const idOf = (answer: Answer<Envelope>): string => idsOf(answer)[0] ?? "";

interface CampaignBody {
  id: string;
  name: string;
  status: string;
  pausedAt: number | null;
  counts: Record<string, number>;
  states: Record<string, number>;
}

describe.each(ENGINES)("scheduling and campaigns on %s", (engine) => {
  let house: MovedHouse;
  let last = 0;
  beforeAll(async () => {
    house = await openMovedHouse(engine);
  });
  afterAll(() => house.close());

  /** A number that no other test has written to. */
  const someone = (): string => `1202555${String((last += 1)).padStart(4, "0")}`;
  const statesOf = async (ids: readonly string[]): Promise<string[]> =>
    Promise.all(ids.map(async (id) => (await house.message(id)).state));
  const receivedAt = async (number: string): Promise<number | undefined> =>
    (await house.onPhone(number))[0]?.receivedAt;
  /** When what is due at this time is sent, and its report has come. */
  async function arrive(at: number): Promise<void> {
    await house.travelTo(at + 1000);
    await house.travel(1000);
  }
  async function campaignNamed(name: string): Promise<CampaignBody> {
    const { body } = await house.ask<{ data: CampaignBody[] }>("GET", "/api/campaigns");
    const campaign = body.data.find((each) => each.name === name);
    if (!campaign) throw new Error(`no campaign ${name}`);
    return campaign;
  }
  async function change(name: string, verb: "pause" | "resume" | "cancel"): Promise<Answer<CampaignBody>> {
    const { id } = await campaignNamed(name);
    return house.ask<CampaignBody>("POST", `/api/campaigns/${id}/${verb}`);
  }

  describe("sendAt", () => {
    test.each(["epoch milliseconds", "ISO 8601 with its zone"])("as %s is waited for and kept", async (form) => {
      const to = someone();
      const sendAt = house.clock.now() + 90 * MINUTE_MS;
      const written = form === "epoch milliseconds" ? sendAt : inKolkata(sendAt);
      const id = idOf(await house.send({ to, sendAt: written }));
      expect(await house.message(id)).toMatchObject({ status: "Pending", state: "scheduled" });
      await house.travelTo(sendAt - 1);
      expect(await house.message(id)).toMatchObject({ state: "scheduled", submittedAt: null });
      await arrive(sendAt);
      expect(await house.message(id)).toMatchObject({ status: "Delivered" });
      expect(await receivedAt(to)).toBeGreaterThanOrEqual(sendAt);
    });

    test("counts as the beginning of the validity", async () => {
      const sendAt = house.clock.now() + 2 * DAY_MS;
      const id = idOf(await house.send({ to: someone(), type: "OTP", sendAt }));
      expect(await house.stored(id)).toMatchObject({ dueAt: sendAt, expiresAt: sendAt + 5 * MINUTE_MS });
    });

    test.each<[string, (now: number) => unknown]>([
      ["in the past", (now) => now - 1],
      ["now", (now) => now],
      ["beyond 30 days", (now) => now + 30 * DAY_MS + 1],
      ["without its zone", (now) => new Date(now + HOUR_MS).toISOString().slice(0, -1)],
      ["a day without a time", (now) => new Date(now + DAY_MS).toISOString().slice(0, 10)],
      ["a day that no month has", () => "2026-02-30T12:00:00Z"],
      ["not a time", () => "tomorrow"],
      ["null", () => null],
      ["a fraction", (now) => now + HOUR_MS + 0.5],
    ])("%s is refused by name", async (_, sendAt) => {
      const to = someone();
      const { status, body } = await house.send({ to, sendAt: sendAt(house.clock.now()) });
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ code: "INVALID_REQUEST", parameter: "sendAt" });
      expect(await house.rows(`select n from messages where recipient = '${to}'`)).toEqual([]);
    });

    test("in exactly 30 days is accepted", async () => {
      expect((await house.send({ to: someone(), sendAt: house.clock.now() + 30 * DAY_MS })).status).toBe(200);
    });
  });

  describe("values of each recipient's own", () => {
    test("make a text of its own, with segments and credits of its own", async () => {
      const [short, long, unicode] = [someone(), someone(), someone()];
      const ids = idsOf(
        await house.send({
          to: undefined,
          text: "Dear {#var#}, your number is {#var#}.",
          recipients: [
            { to: short, custom: ["Ann", "7"] },
            { to: long, custom: ["B".repeat(200), "8"] },
            { to: unicode, custom: ["Ωmega", 9] },
          ],
        }),
      );
      await house.travel(1000);
      const texts = await Promise.all([short, long, unicode].map(async (number) => (await house.onPhone(number))[0]));
      expect(texts.map((message) => message?.text)).toEqual([
        "Dear Ann, your number is 7.",
        `Dear ${"B".repeat(200)}, your number is 8.`,
        "Dear Ωmega, your number is 9.",
      ]);
      expect(texts.map((message) => message?.parts.length)).toEqual([1, 2, 1]);
      const stored = await Promise.all(ids.map((id) => house.stored(id)));
      expect(stored.map(({ segments, credits }) => [segments, credits])).toEqual([[1, 1], [2, 2], [1, 1]]); // prettier-ignore
    });

    test("fill a stored template as well, and a count that differs names its recipient", async () => {
      const [first, second] = [someone(), someone()];
      const body = { to: undefined, text: undefined, templateId: "welcome" };
      await house.send({
        ...body,
        recipients: [
          { to: first, custom: ["Ann", "1"] },
          { to: second, custom: ["Bob", "2"] },
        ],
      });
      await house.travel(1000);
      expect((await house.onPhone(second))[0]?.text).toBe("Hello Bob, welcome! Your order 2 is on its way.");
      const wrong = await house.send({
        ...body,
        recipients: [
          { to: first, custom: ["Ann", "1"] },
          { to: second, custom: ["Bob"] },
        ],
      });
      expect(wrong.status).toBe(422);
      expect(wrong.body.error).toMatchObject({ code: "PARAMS_MISMATCH", parameter: "recipients[1].custom" });
    });

    test("hold and spend the credits of each", async () => {
      await house.ask("PATCH", "/api/account", { credits: "metered" });
      await house.ask("POST", "/api/credits", { amount: 3, note: "three segments" });
      const recipients = [
        { to: someone(), custom: ["A"] },
        { to: someone(), custom: ["B".repeat(200)] },
      ];
      expect((await house.send({ to: undefined, text: "{#var#}", recipients })).status).toBe(200);
      expect((await house.ask("GET", "/api/credits")).body).toMatchObject({ balance: 0 });
      await house.travel(1000);
      expect((await house.ask("GET", "/api/credits")).body).toMatchObject({ balance: 0, held: 0 });
      const { status } = await house.send({ to: undefined, text: "{#var#}", recipients });
      expect(status).toBe(402);
      await house.ask("PATCH", "/api/account", { credits: "unlimited" });
    });
  });

  describe("a campaign", () => {
    test("counts its messages by status", async () => {
      const campaignName = "counted";
      const later = house.clock.now() + HOUR_MS;
      await house.send({ to: [someone(), someone(), "12025559001", "bad"], campaignName });
      await house.send({ to: someone(), campaignName, sendAt: later });
      await house.send({ to: someone(), campaignName: "another" });
      await house.travel(1000);
      const { status, counts, states } = await campaignNamed(campaignName);
      expect({ status, counts }).toEqual({ status: "running", counts: { Pending: 1, Delivered: 2, Failed: 2 } });
      expect(states).toEqual({ scheduled: 1, delivered: 2, undelivered: 1, rejected: 1 });
    });

    test("that is paused sends nothing, neither what was scheduled nor what comes later, until it is resumed", async () => {
      const campaignName = "paused";
      const soon = house.clock.now() + 10 * MINUTE_MS;
      const late = house.clock.now() + 5 * HOUR_MS;
      const [early, tomorrow] = [
        idOf(await house.send({ to: someone(), type: "PROMO", campaignName, sendAt: soon })),
        idOf(await house.send({ to: someone(), type: "PROMO", campaignName, sendAt: late })),
      ];
      const paused = await change(campaignName, "pause");
      const pausedAt = house.clock.now();
      expect(paused.body).toMatchObject({ status: "paused", pausedAt, counts: { Pending: 2 } });
      const during = idOf(await house.send({ to: someone(), type: "PROMO", campaignName }));
      const outside = idOf(await house.send({ to: someone(), type: "PROMO" }));
      await house.travel(2 * HOUR_MS);
      expect(await statesOf([early, tomorrow, during, outside])).toEqual([
        "scheduled",
        "scheduled",
        "scheduled",
        "delivered",
      ]);

      await change(campaignName, "resume");
      const resumedAt = house.clock.now();
      await arrive(resumedAt);
      expect(await statesOf([early, tomorrow, during])).toEqual(["delivered", "scheduled", "delivered"]);
      // What its pause took of a message's time is given back, and no more: PROMO is valid for four hours.
      const expiry = async (id: string): Promise<number> => (await house.stored(id)).expiresAt;
      expect(await expiry(early)).toBe(resumedAt + 4 * HOUR_MS);
      expect(await expiry(during)).toBe(resumedAt + 4 * HOUR_MS);
      expect(await expiry(tomorrow)).toBe(late + 4 * HOUR_MS);
      await arrive(late);
      expect(await statesOf([tomorrow])).toEqual(["delivered"]);
      for (const id of [early, tomorrow, during])
        expect((await house.trail(id)).filter(({ step }) => step === "changed")).toEqual([
          expect.objectContaining({ what: "paused" }),
          expect.objectContaining({ what: "resumed" }),
        ]);
    });

    test("that is paused for longer than its messages are valid still sends them afterwards", async () => {
      const campaignName = "long pause";
      await house.send({ to: someone(), campaignName });
      await change(campaignName, "pause");
      const id = idOf(await house.send({ to: someone(), type: "OTP", campaignName }));
      await house.travel(3 * HOUR_MS);
      expect(await statesOf([id])).toEqual(["scheduled"]);
      await change(campaignName, "resume");
      await arrive(house.clock.now());
      expect(await house.message(id)).toMatchObject({ status: "Delivered" });
    });

    test("that is cancelled ends what no carrier has, gives the credits back and leaves its name unusable", async () => {
      const campaignName = "cancelled";
      await house.ask("POST", "/api/credits", { amount: 100, note: "a campaign" });
      await house.ask("PATCH", "/api/account", { credits: "metered" });
      const before = (await house.ask<{ balance: number }>("GET", "/api/credits")).body.balance;
      const sent = idOf(await house.send({ to: someone(), campaignName }));
      await house.travel(1000);
      const waiting = idsOf(
        await house.send({ to: [someone(), someone()], campaignName, sendAt: house.clock.now() + HOUR_MS }),
      );
      const { status, body } = await change(campaignName, "cancel");
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: "cancelled", counts: { Pending: 0, Delivered: 1, Failed: 2 } });
      for (const id of waiting)
        expect(await house.message(id)).toMatchObject({ status: "Failed", state: "cancelled", errCode: "CANCELLED" });
      expect(await house.message(sent)).toMatchObject({ status: "Delivered" });
      expect((await house.ask("GET", "/api/credits")).body).toMatchObject({ balance: before - 1, held: 0 });
      await house.ask("PATCH", "/api/account", { credits: "unlimited" });

      const again = await house.send({ to: someone(), campaignName });
      expect(again.status).toBe(400);
      expect(again.body.error).toMatchObject({ code: "INVALID_REQUEST", parameter: "campaignName" });
      for (const verb of ["pause", "resume"] as const) expect((await change(campaignName, verb)).status).toBe(409);
      expect((await change(campaignName, "cancel")).status, "once more is no mistake").toBe(200);
      await house.travel(2 * HOUR_MS);
      expect(await statesOf(waiting)).toEqual(["cancelled", "cancelled"]);
    });

    test("holds also what waits in memory for a slow carrier, and sends each message once when it goes on", async () => {
      await house.ask("POST", "/api/carriers", { name: "slow", messagesPerSecond: 1 });
      await house.ask("POST", "/api/routes", { name: "Slow", carrier: "slow", senders: ["SLOW"], priority: 1 });
      const campaignName = "slow";
      const numbers = Array.from({ length: 20 }, someone);
      const ids = idsOf(await house.send({ to: numbers, type: "PROMO", sender: "SLOW", campaignName }));
      await house.settle();
      await change(campaignName, "pause");
      await house.travel(HOUR_MS);
      const arrived = async (): Promise<number[]> =>
        Promise.all(numbers.map(async (number) => (await house.onPhone(number)).length));
      expect((await arrived()).filter((count) => count > 0)).toEqual([1]);
      expect((await statesOf(ids)).filter((state) => state === "scheduled")).toHaveLength(19);
      await change(campaignName, "resume");
      await house.travel(MINUTE_MS);
      await house.travel(1000);
      expect(await arrived()).toEqual(numbers.map(() => 1));
      expect(new Set(await statesOf(ids))).toEqual(new Set(["delivered"]));
    });
  });
});

/** The same moment on the clocks of India. */
const inKolkata = (at: number): string => `${new Date(at + 5.5 * HOUR_MS).toISOString().slice(0, -5)}+05:30`;

describe.each(ENGINES)("campaigns and what is in memory, on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
  });
  afterEach(() => shop.close());

  const NAME = "autumn";
  const PROMO = "PROMO" as const;

  async function begin(): Promise<Message> {
    shop.catalog.learn(1, "campaign", NAME, { status: "running", pausedAt: null, pausedMs: 0 });
    await shop.catalog.saveLearned();
    return shop.accept(PROMO, HOUR_MS, { campaignName: NAME });
  }
  async function change(status: "running" | "paused" | "cancelled"): Promise<void> {
    await changeCampaign({ ...shop.needs, store: shop.store }, campaign(), status);
    // The records were read anew, and the workshop's route is not among them.
    shop.route("Everything to the simulator", { carrier: "simulator" });
  }
  function campaign(): CatalogRecord<"campaign"> {
    const found = shop.catalog.of(1).named("campaign").get(NAME);
    if (!found) throw new Error("the campaign is gone");
    return found;
  }
  async function sendAll(messages: readonly Message[]): Promise<void> {
    await Promise.all(messages.map((message) => shop.dispatch(message)));
  }

  test("a message in a lane while its campaign is paused and resumed is sent once", async () => {
    const inLane = await begin();
    await change("paused");
    await change("running");
    await sendAll([inLane, ...(await shop.claim())]);
    expect(shop.carrier.submitted).toHaveLength(1);
    expect(await shop.read(inLane)).toMatchObject({ state: "submitted" });
  });

  test("one whose turn comes during the pause is held and sent once afterwards", async () => {
    const inLane = await begin();
    await change("paused");
    await sendAll([inLane]);
    expect(await shop.read(inLane)).toMatchObject({ state: "scheduled" });
    shop.clock.advance(10_000);
    await change("running");
    const claimed = await shop.claim();
    expect(claimed).toMatchObject([{ expiresAt: inLane.expiresAt + 10_000 }]);
    await sendAll(claimed);
    expect(shop.carrier.submitted).toHaveLength(1);
  });

  test("one whose turn comes after its campaign was cancelled elsewhere is cancelled", async () => {
    const inLane = await begin();
    await changeCampaign({ ...shop.needs, store: { ...shop.store, listCampaignMessages: async () => [] } }, campaign(), "cancelled"); // prettier-ignore
    shop.route("Everything to the simulator", { carrier: "simulator" });
    await sendAll([inLane]);
    expect(shop.carrier.submitted).toEqual([]);
    expect(await shop.read(inLane)).toMatchObject({ state: "cancelled", errorCode: "CANCELLED" });
  });

  test("a message that has been with a carrier is not called back when its campaign is cancelled", async () => {
    const message = await begin();
    await sendAll([message]);
    await shop.needs.commits.move.add({
      ...message,
      to: "accepted",
      at: shop.clock.now(),
      owner: 0,
      carrier: "",
      tried: ["r"],
    });
    await change("cancelled");
    expect(await shop.read(message)).toMatchObject({ state: "accepted" });
  });

  test("a change that stopped half-way is carried through by the job, also for campaigns learned on two nodes", async () => {
    const message = await begin();
    await shop.store.release(shop.needs.membership.node, [message]);
    const learnedElsewhere = { ...campaign(), id: "00000000-0000-7000-8000-0000000000ff" };
    const listNothing = { ...shop.needs, store: { ...shop.store, listCampaignMessages: async () => [] } };
    const changed = await changeCampaign(listNothing, learnedElsewhere, "paused");
    expect(changed.content).toMatchObject({ status: "paused" });
    expect(await shop.read(message)).toMatchObject({ state: "accepted" });
    await settleCampaigns({ ...shop.needs, store: shop.store });
    expect(await shop.read(message)).toMatchObject({ state: "scheduled" });
    expect(await shop.claim()).toEqual([]);
  });
});
