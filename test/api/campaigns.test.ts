import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { changeCampaign, settleCampaigns } from "../../src/pipeline/campaigns.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import { newId } from "../../src/lib/ids.ts";
import type { CatalogRecord } from "../../src/model/catalog.ts";
import type { Message } from "../../src/model/message.ts";
import { ENGINES } from "../support/engines.ts";
import type { Answer, Envelope } from "../support/test-server.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

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
  let server: MovedClockServer;
  let last = 0;
  beforeAll(async () => {
    server = await startMovedClockServer(engine);
  });
  afterAll(() => server.close());

  /** A number that no other test has written to. */
  const someone = (): string => `1202555${String((last += 1)).padStart(4, "0")}`;
  const statesOf = async (ids: readonly string[]): Promise<string[]> =>
    Promise.all(ids.map(async (id) => (await server.message(id)).state));
  const receivedAt = async (number: string): Promise<number | undefined> =>
    (await server.onPhone(number))[0]?.receivedAt;
  /** Moves the clock past `at`, so that due messages are sent and their receipts arrive. */
  async function arrive(at: number): Promise<void> {
    await server.travelTo(at + 1000);
    await server.travel(1000);
  }
  async function campaignNamed(name: string): Promise<CampaignBody> {
    const { body } = await server.request<{ data: CampaignBody[] }>("GET", "/api/campaigns");
    const campaign = body.data.find((each) => each.name === name);
    if (!campaign) throw new Error(`no campaign ${name}`);
    return campaign;
  }
  async function change(name: string, verb: "pause" | "resume" | "cancel"): Promise<Answer<CampaignBody>> {
    const { id } = await campaignNamed(name);
    return server.request<CampaignBody>("POST", `/api/campaigns/${id}/${verb}`);
  }

  describe("sendAt", () => {
    test.each(["epoch milliseconds", "ISO 8601 with its zone"])(
      "sendAt as %s is kept, and the message waits for it",
      async (form) => {
        const to = someone();
        const sendAt = server.clock.now() + 90 * MINUTE_MS;
        const written = form === "epoch milliseconds" ? sendAt : inKolkata(sendAt);
        const id = idOf(await server.send({ to, sendAt: written }));
        expect(await server.message(id)).toMatchObject({ status: "Pending", state: "scheduled" });
        await server.travelTo(sendAt - 1);
        expect(await server.message(id)).toMatchObject({ state: "scheduled", submittedAt: null });
        await arrive(sendAt);
        expect(await server.message(id)).toMatchObject({ status: "Delivered" });
        expect(await receivedAt(to)).toBeGreaterThanOrEqual(sendAt);
      },
    );

    test("sendAt starts the validity", async () => {
      const sendAt = server.clock.now() + 2 * DAY_MS;
      const id = idOf(await server.send({ to: someone(), type: "OTP", sendAt }));
      expect(await server.stored(id)).toMatchObject({ dueAt: sendAt, expiresAt: sendAt + 5 * MINUTE_MS });
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
    ])("%s is refused by field", async (_, sendAt) => {
      const to = someone();
      const { status, body } = await server.send({ to, sendAt: sendAt(server.clock.now()) });
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ code: "INVALID_REQUEST", parameter: "sendAt" });
      expect(await server.rows(`select n from messages where recipient = '${to}'`)).toEqual([]);
    });

    test("sendAt in exactly 30 days is accepted", async () => {
      expect((await server.send({ to: someone(), sendAt: server.clock.now() + 30 * DAY_MS })).status).toBe(200);
    });
  });

  describe("values per recipient", () => {
    test("values per recipient give each its own text, segments and credits", async () => {
      const [short, long, unicode] = [someone(), someone(), someone()];
      const ids = idsOf(
        await server.send({
          to: undefined,
          text: "Dear {#var#}, your number is {#var#}.",
          recipients: [
            { to: short, custom: ["Ann", "7"] },
            { to: long, custom: ["B".repeat(200), "8"] },
            { to: unicode, custom: ["Ωmega", 9] },
          ],
        }),
      );
      await server.travel(1000);
      const texts = await Promise.all([short, long, unicode].map(async (number) => (await server.onPhone(number))[0]));
      expect(texts.map((message) => message?.text)).toEqual([
        "Dear Ann, your number is 7.",
        `Dear ${"B".repeat(200)}, your number is 8.`,
        "Dear Ωmega, your number is 9.",
      ]);
      expect(texts.map((message) => message?.parts.length)).toEqual([1, 2, 1]);
      const stored = await Promise.all(ids.map((id) => server.stored(id)));
      expect(stored.map(({ segments, credits }) => [segments, credits])).toEqual([[1, 1], [2, 2], [1, 1]]); // prettier-ignore
    });

    test("values per recipient fill a stored template, and a wrong number of them names the recipient", async () => {
      const [first, second] = [someone(), someone()];
      const body = { to: undefined, text: undefined, templateId: "welcome" };
      await server.send({
        ...body,
        recipients: [
          { to: first, custom: ["Ann", "1"] },
          { to: second, custom: ["Bob", "2"] },
        ],
      });
      await server.travel(1000);
      expect((await server.onPhone(second))[0]?.text).toBe("Hello Bob, welcome! Your order 2 is on its way.");
      const wrong = await server.send({
        ...body,
        recipients: [
          { to: first, custom: ["Ann", "1"] },
          { to: second, custom: ["Bob"] },
        ],
      });
      expect(wrong.status).toBe(422);
      expect(wrong.body.error).toMatchObject({ code: "PARAMS_MISMATCH", parameter: "recipients[1].custom" });
    });

    test("values per recipient hold and spend the credits of each", async () => {
      await server.request("PATCH", "/api/account", { credits: "metered" });
      await server.asOwner("POST", "/api/credits", { amount: 3, note: "three segments" });
      const recipients = [
        { to: someone(), custom: ["A"] },
        { to: someone(), custom: ["B".repeat(200)] },
      ];
      expect((await server.send({ to: undefined, text: "{#var#}", recipients })).status).toBe(200);
      expect((await server.request("GET", "/api/credits")).body).toMatchObject({ balance: 0 });
      await server.travel(1000);
      expect((await server.request("GET", "/api/credits")).body).toMatchObject({ balance: 0, held: 0 });
      const { status } = await server.send({ to: undefined, text: "{#var#}", recipients });
      expect(status).toBe(402);
      await server.asOwner("PATCH", "/api/account", { credits: "unlimited" });
    });
  });

  describe("a campaign", () => {
    test("a campaign counts its messages by status", async () => {
      const campaignName = "counted";
      const later = server.clock.now() + HOUR_MS;
      await server.send({ to: [someone(), someone(), "12025559001", "bad"], campaignName });
      await server.send({ to: someone(), campaignName, sendAt: later });
      await server.send({ to: someone(), campaignName: "another" });
      await server.travel(1000);
      const { status, counts, states } = await campaignNamed(campaignName);
      expect({ status, counts }).toEqual({ status: "running", counts: { Pending: 1, Delivered: 2, Failed: 2 } });
      expect(states).toEqual({ scheduled: 1, delivered: 2, undelivered: 1, rejected: 1 });
    });

    test("a paused campaign sends neither scheduled nor later messages until it is resumed", async () => {
      const campaignName = "paused";
      const soon = server.clock.now() + 10 * MINUTE_MS;
      const late = server.clock.now() + 5 * HOUR_MS;
      const [early, tomorrow] = [
        idOf(await server.send({ to: someone(), type: "PROMO", campaignName, sendAt: soon })),
        idOf(await server.send({ to: someone(), type: "PROMO", campaignName, sendAt: late })),
      ];
      const paused = await change(campaignName, "pause");
      const pausedAt = server.clock.now();
      expect(paused.body).toMatchObject({ status: "paused", pausedAt, counts: { Pending: 2 } });
      const during = idOf(await server.send({ to: someone(), type: "PROMO", campaignName }));
      const outside = idOf(await server.send({ to: someone(), type: "PROMO" }));
      await server.travel(2 * HOUR_MS);
      expect(await statesOf([early, tomorrow, during, outside])).toEqual([
        "scheduled",
        "scheduled",
        "scheduled",
        "delivered",
      ]);

      await change(campaignName, "resume");
      const resumedAt = server.clock.now();
      await arrive(resumedAt);
      expect(await statesOf([early, tomorrow, during])).toEqual(["delivered", "scheduled", "delivered"]);
      // Validity is extended by the time that the pause took from it, and no more: PROMO is valid for four hours.
      const expiry = async (id: string): Promise<number> => (await server.stored(id)).expiresAt;
      expect(await expiry(early)).toBe(resumedAt + 4 * HOUR_MS);
      expect(await expiry(during)).toBe(resumedAt + 4 * HOUR_MS);
      expect(await expiry(tomorrow)).toBe(late + 4 * HOUR_MS);
      await arrive(late);
      expect(await statesOf([tomorrow])).toEqual(["delivered"]);
      for (const id of [early, tomorrow, during])
        expect((await server.timeline(id)).filter(({ step }) => step === "changed")).toEqual([
          expect.objectContaining({ what: "paused" }),
          expect.objectContaining({ what: "resumed" }),
        ]);
    });

    test("a campaign paused for longer than the validity of its messages still sends them", async () => {
      const campaignName = "long pause";
      await server.send({ to: someone(), campaignName });
      await change(campaignName, "pause");
      const id = idOf(await server.send({ to: someone(), type: "OTP", campaignName }));
      await server.travel(3 * HOUR_MS);
      expect(await statesOf([id])).toEqual(["scheduled"]);
      await change(campaignName, "resume");
      await arrive(server.clock.now());
      expect(await server.message(id)).toMatchObject({ status: "Delivered" });
    });

    test("a cancelled campaign ends unsent messages, refunds their credits and blocks its name", async () => {
      const campaignName = "cancelled";
      await server.asOwner("POST", "/api/credits", { amount: 100, note: "a campaign" });
      await server.request("PATCH", "/api/account", { credits: "metered" });
      const before = (await server.request<{ balance: number }>("GET", "/api/credits")).body.balance;
      const sent = idOf(await server.send({ to: someone(), campaignName }));
      await server.travel(1000);
      const waiting = idsOf(
        await server.send({ to: [someone(), someone()], campaignName, sendAt: server.clock.now() + HOUR_MS }),
      );
      const { status, body } = await change(campaignName, "cancel");
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: "cancelled", counts: { Pending: 0, Delivered: 1, Failed: 2 } });
      for (const id of waiting)
        expect(await server.message(id)).toMatchObject({ status: "Failed", state: "cancelled", errCode: "CANCELLED" });
      expect(await server.message(sent)).toMatchObject({ status: "Delivered" });
      expect((await server.request("GET", "/api/credits")).body).toMatchObject({ balance: before - 1, held: 0 });
      await server.asOwner("PATCH", "/api/account", { credits: "unlimited" });

      const again = await server.send({ to: someone(), campaignName });
      expect(again.status).toBe(400);
      expect(again.body.error).toMatchObject({ code: "INVALID_REQUEST", parameter: "campaignName" });
      for (const verb of ["pause", "resume"] as const)
        expect(await change(campaignName, verb)).toMatchObject({
          status: 409,
          body: { error: { code: "CAMPAIGN_CANCELLED" } },
        });
      expect((await change(campaignName, "cancel")).status, "once more is no mistake").toBe(200);
      await server.travel(2 * HOUR_MS);
      expect(await statesOf(waiting)).toEqual(["cancelled", "cancelled"]);
    });

    test("a paused campaign holds messages that wait in memory for a slow carrier, and sends each once when resumed", async () => {
      await server.request("POST", "/api/carriers", { name: "slow", messagesPerSecond: 1 });
      await server.request("POST", "/api/routes", { name: "Slow", carrier: "slow", senders: ["SLOW"], priority: 1 });
      const campaignName = "slow";
      const numbers = Array.from({ length: 20 }, someone);
      const ids = idsOf(await server.send({ to: numbers, type: "PROMO", sender: "SLOW", campaignName }));
      await server.settle();
      await change(campaignName, "pause");
      await server.travel(HOUR_MS);
      const arrived = async (): Promise<number[]> =>
        Promise.all(numbers.map(async (number) => (await server.onPhone(number)).length));
      expect((await arrived()).filter((count) => count > 0)).toEqual([1]);
      expect((await statesOf(ids)).filter((state) => state === "scheduled")).toHaveLength(19);
      await change(campaignName, "resume");
      await server.travel(MINUTE_MS);
      await server.travel(1000);
      expect(await arrived()).toEqual(numbers.map(() => 1));
      expect(new Set(await statesOf(ids))).toEqual(new Set(["delivered"]));
    });
  });
});

/** The same moment on the clocks of India. */
const inKolkata = (at: number): string => `${new Date(at + 5.5 * HOUR_MS).toISOString().slice(0, -5)}+05:30`;

describe.each(ENGINES)("campaigns and messages in memory, on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const NAME = "autumn";
  const PROMO = "PROMO" as const;

  async function begin(): Promise<Message> {
    pipeline.catalog.learn(1, "campaign", NAME, { status: "running", pausedAt: null, pausedMs: 0 });
    await pipeline.catalog.saveLearned();
    return pipeline.accept(PROMO, HOUR_MS, { campaignName: NAME });
  }
  async function change(status: "running" | "paused" | "cancelled"): Promise<void> {
    await changeCampaign({ ...pipeline.deps, store: pipeline.store }, campaign(), status);
    // The records were read anew, and the workshop's route is not among them.
    pipeline.route("Everything to the simulator", { carrier: "simulator" });
  }
  function campaign(): CatalogRecord<"campaign"> {
    const found = pipeline.catalog.of(1).named("campaign").get(NAME);
    if (!found) throw new Error("the campaign is gone");
    return found;
  }
  async function sendAll(messages: readonly Message[]): Promise<void> {
    await Promise.all(messages.map((message) => pipeline.dispatch(message)));
  }

  test("a message in a queue while its campaign is paused and resumed is sent once", async () => {
    const inLane = await begin();
    await change("paused");
    await change("running");
    await sendAll([inLane, ...(await pipeline.claim())]);
    expect(pipeline.carrier.submitted).toHaveLength(1);
    expect(await pipeline.read(inLane)).toMatchObject({ state: "submitted" });
  });

  test("a message whose turn comes during the pause is held and sent once afterwards", async () => {
    const inLane = await begin();
    await change("paused");
    await sendAll([inLane]);
    expect(await pipeline.read(inLane)).toMatchObject({ state: "scheduled" });
    pipeline.clock.advance(10_000);
    await change("running");
    const claimed = await pipeline.claim();
    expect(claimed).toMatchObject([{ expiresAt: inLane.expiresAt + 10_000 }]);
    await sendAll(claimed);
    expect(pipeline.carrier.submitted).toHaveLength(1);
  });

  test.each(["paused", "cancelled"] as const)(
    "a campaign whose record a killed node did not store is %s",
    async (status) => {
      // Messages are stored before the record that is learned from them.
      const inLane = await pipeline.accept(PROMO, HOUR_MS, { campaignName: NAME });
      const now = pipeline.clock.now();
      const content = { status: "running", pausedAt: null, pausedMs: 0 } as const;
      const times = { createdAt: now, updatedAt: now };
      const asked = { accountId: 1, kind: "campaign", id: newId(now), name: NAME, origin: "authored", content, ...times } as const; // prettier-ignore
      await changeCampaign({ ...pipeline.deps, store: pipeline.store }, asked, status);
      pipeline.route("Everything to the simulator", { carrier: "simulator" });
      expect(campaign()).toMatchObject({ id: asked.id, content: { status } });
      await sendAll([inLane]);
      expect(pipeline.carrier.submitted).toEqual([]);
    },
  );

  test("a message whose turn comes after its campaign was cancelled on another node is cancelled", async () => {
    const inLane = await begin();
    await changeCampaign({ ...pipeline.deps, store: { ...pipeline.store, listCampaignMessages: async () => [] } }, campaign(), "cancelled"); // prettier-ignore
    pipeline.route("Everything to the simulator", { carrier: "simulator" });
    await sendAll([inLane]);
    expect(pipeline.carrier.submitted).toEqual([]);
    expect(await pipeline.read(inLane)).toMatchObject({ state: "cancelled", errorCode: "CANCELLED" });
  });

  test.each(["paused", "running"] as const)(
    "a campaign that was cancelled meanwhile does not become %s",
    async (status) => {
      await begin();
      const deps = { ...pipeline.deps, store: pipeline.store };
      const asked = campaign();
      const [cancelled, other] = await Promise.allSettled([
        changeCampaign(deps, asked, "cancelled"),
        changeCampaign(deps, asked, status),
      ]);
      expect(cancelled.status).toBe("fulfilled");
      expect(other).toMatchObject({ status: "rejected", reason: { code: "CAMPAIGN_CANCELLED" } });
      expect(campaign().content).toMatchObject({ status: "cancelled" });
    },
  );

  test("a message that a carrier has is not revoked when its campaign is cancelled", async () => {
    const message = await begin();
    await sendAll([message]);
    await change("cancelled");
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
  });

  test.each(["by its cancellation", "after a pause", "on another node", "by the job"])(
    "a message that waits for its next route is stopped %s, and a late delivery still counts",
    async (how) => {
      const { deps, store } = pipeline;
      pipeline.carrier.answer = () => ({ kind: "taken", carrierMessageId: "late" });
      const message = await begin();
      await sendAll([message]);
      const { accountId, requestId, n } = message;
      const at = pipeline.clock.now();
      const rerouted = { kind: "rerouted", accountId, requestId, n, at, owner: 0, dueAt: at, tried: ["r"] } as const;
      await deps.commits.move.add(rerouted);
      const claimed = how === "on another node" ? await pipeline.claim() : [];
      if (how === "after a pause") await change("paused");
      const seen = how === "by the job" || how === "on another node" ? { listCampaignMessages: async () => [] } : {};
      await changeCampaign({ ...deps, store: { ...store, ...seen } }, campaign(), "cancelled");
      if (how === "by the job") await settleCampaigns({ ...deps, store });
      pipeline.route("Everything to the simulator", { carrier: "simulator" });
      await sendAll([...claimed, ...(await pipeline.claim())]);
      expect(pipeline.carrier.submitted).toHaveLength(1);
      const description = "The message was cancelled before its next route was tried.";
      expect(await pipeline.read(message)).toMatchObject({ state: "expired", errorCode: "CANCELLED", description });
      const receipt = { carrier: pipeline.carrier.name, carrierMessageId: "late", errorCode: null, description: null };
      await receiveReceipt(deps, { ...receipt, state: "delivered", at });
      expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
    },
  );

  test("the job completes an interrupted change, also for campaigns learned on two nodes", async () => {
    const message = await begin();
    await pipeline.store.release(pipeline.deps.membership.node, [message]);
    const learnedElsewhere = { ...campaign(), id: "00000000-0000-7000-8000-0000000000ff" };
    const listNothing = { ...pipeline.deps, store: { ...pipeline.store, listCampaignMessages: async () => [] } };
    const changed = await changeCampaign(listNothing, learnedElsewhere, "paused");
    expect(changed.content).toMatchObject({ status: "paused" });
    expect(await pipeline.read(message)).toMatchObject({ state: "accepted" });
    await settleCampaigns({ ...pipeline.deps, store: pipeline.store });
    expect(await pipeline.read(message)).toMatchObject({ state: "scheduled" });
    expect(await pipeline.claim()).toEqual([]);
  });
});
