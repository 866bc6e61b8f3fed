import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ReceiptState } from "../src/carriers/carrier.ts";
import { failOver } from "../src/messages/fail-over.ts";
import { report } from "../src/messages/report.ts";
import { tellCustomer, tellOperator } from "../src/messages/tell-trail.ts";
import { carrierKey, PAUSED_MS } from "../src/model/catalog.ts";
import type { LedgerEntry } from "../src/model/credits.ts";
import type { InboundContent } from "../src/model/inbound.ts";
import { writeTrail, type TrailEntry } from "../src/model/trail.ts";
import type { StoredMessage } from "../src/store/store.ts";
import { NOON } from "./support/acceptances.ts";
import { ENGINES } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { openHouse, type House, type MessageBody } from "./support/house.ts";
import { Workshop } from "./support/workshop.ts";

const REF = { accountId: 1, requestId: "01a1de2e-8887-76e5-817a-2cae74cadaf2", n: 1 };
const NORTH = carrierKey(1, "north");
const ISO = (at: number): string => new Date(at).toISOString();

function messageWith(trail: readonly TrailEntry[], changes: Partial<StoredMessage> = {}): StoredMessage {
  return {
    ...REF,
    channel: "sms",
    routeClass: "TRANS",
    test: false,
    sender: "HELIOG",
    recipient: "15550100100",
    content: { text: "Hello", encoding: "gsm7", flash: false },
    segments: 1,
    credits: 2,
    campaignName: null,
    tried: [],
    state: "submitted",
    attempts: 1,
    repeats: 0,
    createdAt: NOON,
    dueAt: NOON,
    expiresAt: NOON + 3_600_000,
    trail: trail.length === 0 ? null : writeTrail(...trail),
    carrier: NORTH,
    errorCode: null,
    description: null,
    submittedAt: null,
    doneAt: null,
    ...changes,
  };
}

/** What a customer is told, without the times. */
const told = (trail: readonly TrailEntry[], changes: Partial<StoredMessage> = {}): string[] =>
  tellCustomer({ message: messageWith(trail, changes), clicks: [], answers: [] }).map(
    ({ event, detail }) => `${event}: ${detail}`,
  );

/** What an operator is told, without the times. */
const explained = (trail: readonly TrailEntry[], changes: Partial<StoredMessage> = {}): string[] =>
  tellOperator({ message: messageWith(trail, changes), clicks: [], ledger: [], answers: [] }).map(
    ({ step, what }) => `${step}: ${what}`,
  );

const at = NOON + 10;
const attempt: TrailEntry = { at, step: "attempt", route: "India", carrier: NORTH, passedOver: [] };
const answer = (outcome: string, more: object = {}): TrailEntry => ({
  at: at + 1,
  step: "answer",
  carrier: NORTH,
  outcome,
  ...more,
});
const receipt = (state: ReceiptState, when: number, words = `It is ${state}`): TrailEntry => ({
  at: when,
  step: "receipt",
  carrier: NORTH,
  state,
  code: state === "enroute" ? null : "002",
  description: state === "enroute" ? null : words,
});
const ACCEPTED = "accepted: 1 segment, 2 credits";

describe("a customer's timeline", () => {
  test("tells of a message that was delivered", () => {
    const trail = [attempt, answer("taken", { carrierMessageId: "abc" }), receipt("enroute", at + 5)];
    const end = { state: "delivered", doneAt: at + 9, description: "Delivered to the phone" } as const;
    expect(
      tellCustomer({ message: messageWith([...trail, receipt("delivered", at + 9)], end), clicks: [], answers: [] }),
    ).toEqual([
      { at: NOON, event: "accepted", detail: "1 segment, 2 credits" },
      { at: at + 1, event: "sent", detail: "Handed to the network" },
      { at: at + 5, event: "enroute", detail: "On its way to the phone" },
      { at: at + 9, event: "delivered", detail: "Delivered to the phone" },
    ]);
  });

  test("says why a message is held and until when", () => {
    const held = "21:00 to 10:00 where the recipient is; held until 2026-01-16T10:00:00.000Z";
    const trail: TrailEntry[] = [
      { at: NOON, step: "policy", policy: "opt-out", verdict: "passed", detail: "Not on the list" },
      { at: NOON, step: "policy", policy: "quiet hours", verdict: "held", detail: held },
    ];
    expect(told(trail, { state: "scheduled" })).toEqual([ACCEPTED, `held: ${held}`]);
  });

  test.each([
    ["busy", "The network is busy"],
    ["down", "The network cannot be reached"],
    ["unknown", "The network did not say whether it has the message"],
  ])("says when the next try comes after an answer of %s", (outcome, why) => {
    expect(told([attempt, answer(outcome, { nextTryAt: at + 1000 })], { state: "accepted" })).toEqual([
      ACCEPTED,
      `postponed: ${why}; the next look is at ${ISO(at + 1000)}`,
    ]);
  });

  test("says when no network can be reached at all", () => {
    const passedOver = [{ route: "India", carrier: "north", reason: "The carrier is down" }];
    const none: TrailEntry = { at, step: "attempt", route: "none", carrier: "none", passedOver };
    expect(told([none], { state: "accepted" })).toEqual([
      ACCEPTED,
      "postponed: No network can be reached; it is tried again",
    ]);
  });

  test("tells of a campaign's pause, also of one that was there before the message", () => {
    const changed = (what: "paused" | "resumed"): TrailEntry => ({ at, step: "changed", what });
    const pausedAt = { state: "scheduled", dueAt: NOON + PAUSED_MS } as const;
    const held = "held: Its campaign is paused";
    expect(told([], pausedAt)).toEqual([ACCEPTED, held]);
    expect(told([changed("paused")], pausedAt)).toEqual([ACCEPTED, held]);
    expect(told([changed("paused"), changed("resumed")])).toEqual([ACCEPTED, held, "resumed: Its campaign goes on"]);
  });

  test.each([
    ["rejected", "failed", "No route takes this message."],
    ["expired", "failed", "It waited too long."],
    ["undelivered", "failed", "The phone could not be reached"],
    ["cancelled", "cancelled", "The message was cancelled before it was sent."],
  ] as const)("ends as the message did: %s", (state, event, description) => {
    expect(told([], { state, doneAt: NOON, description })).toEqual([ACCEPTED, `${event}: ${description}`]);
  });

  test("an end that has no words has its code, and that nobody knows is said too", () => {
    expect(told([], { state: "rejected", doneAt: NOON, errorCode: "77" }).at(-1)).toBe("failed: 77");
    expect(told([], { state: "unknown" }).at(-1)).toBe("unconfirmed: Nobody knows whether it arrived");
  });

  test("repeated and late receipts are no news", () => {
    const trail = [receipt("delivered", at), receipt("enroute", at + 1), receipt("delivered", at + 2)];
    expect(told(trail, { state: "delivered", doneAt: at, description: "There" })).toEqual([
      ACCEPTED,
      "delivered: There",
    ]);
  });

  test("a delivery after the network had given up tells of both", () => {
    const trail = [receipt("expired", at), receipt("delivered", at + 1)];
    const end = { state: "delivered", doneAt: at + 1, description: "There" } as const;
    expect(told(trail, end)).toEqual([ACCEPTED, "failed: It is expired", "delivered: There"]);
    // Of a carrier that had been given up before, and after a delivery, it was no failure.
    expect(told(trail, { ...end, carrier: "1/south" })).toEqual([ACCEPTED, "delivered: There"]);
    expect(told(trail.toReversed(), end)).toEqual([ACCEPTED, "delivered: There"]);
  });

  test.each(["rcs", "chatapp"] as const)("counts no segments on %s", (channel) => {
    expect(told([], { channel })).toEqual(["accepted: 2 credits"]);
  });

  test("tells of an RCS message that goes on as a text", () => {
    const turned: TrailEntry = {
      at,
      step: "failover",
      carrier: "",
      reason: "The number is not on RCS",
      becomes: "sms",
    };
    const end = { state: "delivered", doneAt: at + 9, description: "There" } as const;
    expect(told([turned, answer("taken"), receipt("delivered", at + 9)], end)).toEqual([
      "accepted: 2 credits",
      "rerouted: It is sent as a text message instead: The number is not on RCS",
      "sent: Handed to the network",
      "delivered: There",
    ]);
  });

  const READ = { state: "read", doneAt: at + 5, description: "Opened" } as const;

  test("what was read was delivered first, each at its time and in its own words", () => {
    const implied = receipt("delivered", at + 8, "Opened");
    const trail = [receipt("delivered", at + 5), implied, receipt("read", at + 8, "Opened"), receipt("read", at + 9)];
    const events = tellCustomer({ message: messageWith(trail, READ), clicks: [], answers: [] });
    expect(events.slice(1)).toEqual([
      { at: at + 5, event: "delivered", detail: "It is delivered" },
      { at: at + 8, event: "read", detail: "Opened" },
    ]);
  });

  test("a reading without a word of the delivery is both", () => {
    const trail = [receipt("delivered", at + 5, "Opened"), receipt("read", at + 5, "Opened")];
    expect(told(trail, READ).slice(1)).toEqual(["delivered: Delivered to the phone", "read: Opened"]);
  });

  test("a reading whose carrier's clock is slow still comes after the delivery", () => {
    const trail = [receipt("delivered", at + 5), receipt("delivered", at, "Opened"), receipt("read", at, "Opened")];
    expect(told(trail, READ).slice(1)).toEqual(["delivered: It is delivered", "read: Opened"]);
  });

  test("a reading of what the network had given up tells of all three", () => {
    const trail = [receipt("expired", at), receipt("delivered", at + 5, "Opened"), receipt("read", at + 5, "Opened")];
    expect(told(trail, READ).slice(1)).toEqual([
      "failed: It is expired",
      "delivered: Delivered to the phone",
      "read: Opened",
    ]);
  });

  test("a reading that came to nothing is no news", () => {
    const trail = [
      receipt("undelivered", at),
      receipt("delivered", at + 1, "Opened"),
      receipt("read", at + 1, "Opened"),
    ];
    const end = { state: "undelivered", doneAt: at, description: "Gone" } as const;
    expect(told(trail, end).slice(1)).toEqual(["failed: Gone"]);
  });

  const FILE = { mimeType: "image/jpeg", fileSizeBytes: 1, fileName: "door.jpg", fileUri: "https://files.example/1" };
  test.each<[InboundContent, string]>([
    [{ kind: "text", text: "Yes please" }, 'Answered "Yes please"'],
    [{ kind: "suggestion", plainText: "Yes", data: "secret", type: "REPLY" }, 'Tapped "Yes"'],
    [
      { kind: "file", file: { category: "image", payload: FILE, thumbnail: null } },
      'Sent a file: "door.jpg" (image/jpeg)',
    ],
    [{ kind: "location", latitude: 48.8584, longitude: 2.2945 }, "Shared a place"],
    [{ kind: "text", text: "x".repeat(100) }, `Answered "${"x".repeat(100)}"`],
    [{ kind: "text", text: "x".repeat(101) }, `Answered "${"x".repeat(99)}…"`],
    [{ kind: "text", text: `${"x".repeat(98)}😀xx` }, `Answered "${"x".repeat(98)}…"`],
  ])("tells what the recipient sent back, and a long text only in part: %j", (content, words) => {
    const history = { message: messageWith([]), clicks: [], ledger: [], answers: [{ at: at + 3, content }] };
    expect(tellCustomer(history).at(-1)).toEqual({ at: at + 3, event: "replied", detail: words });
    const what = `The recipient ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
    expect(tellOperator(history).at(-1)).toEqual({ at: at + 3, step: "reply", what, exchange: null });
  });

  test("tells when people followed its links, and not when programs did", () => {
    const clicks = [
      { at: at + 2, agent: "person", k: 2 },
      { at: at + 1, agent: "preview", k: 1 },
    ] as const;
    expect(tellCustomer({ message: messageWith([]), clicks, answers: [] })).toEqual([
      { at: NOON, event: "accepted", detail: "1 segment, 2 credits" },
      { at: at + 2, event: "clicked", detail: "Link 2" },
    ]);
  });

  test("names no carrier, no route, no exchange and no policy that only passed", () => {
    const trail: TrailEntry[] = [
      { at, step: "number", written: "0 1", read: "1" },
      { at, step: "policy", policy: "same text", verdict: "noted", detail: "secret detail" },
      { ...attempt, passedOver: [{ route: "secret route", carrier: "south", reason: "secret reason" }] },
      answer("taken", { carrierMessageId: "secret id", exchange: "secret exchange" }),
    ];
    const words = told(trail).join();
    for (const secret of ["north", "south", "India", "secret", "1/"]) expect(words).not.toContain(secret);
  });
});

describe("an operator's timeline", () => {
  const ACCEPTED_IN_FULL = "accepted: Accepted for 15550100100 as TRANS: 1 segment, 2 credits";

  test("tells which routes were passed over and why, once for each try", () => {
    const down = { route: "India", carrier: "north", reason: "The carrier is down" };
    const refused = { route: "Second", carrier: carrierKey(1, "south"), reason: "No such traffic" };
    const trail: TrailEntry[] = [
      { at, step: "attempt", route: "Second", carrier: carrierKey(1, "south"), passedOver: [down] },
      { at, step: "attempt", route: "Third", carrier: "simulator", passedOver: [down, refused] },
      answer("busy", { nextTryAt: at + 1000 }),
      { at: at + 1000, step: "attempt", route: "Third", carrier: "simulator", passedOver: [down] },
    ];
    expect(explained(trail)).toEqual([
      ACCEPTED_IN_FULL,
      'passed over: Route "India" passed over: the carrier is down',
      'attempt: Handed to carrier "south" by route "Second"',
      'passed over: Route "Second" passed over: no such traffic',
      'attempt: Handed to carrier "simulator" by route "Third"',
      `answer: Carrier "north" is busy; the next look is at ${ISO(at + 1000)}`,
      'passed over: Route "India" passed over: the carrier is down',
      'attempt: Handed to carrier "simulator" by route "Third"',
    ]);
  });

  test.each<[TrailEntry, string]>([
    [{ at, step: "number", written: "0171 23", read: "4917123" }, 'number: The number "0171 23" was read as 4917123'],
    [{ at, step: "policy", policy: "country", verdict: "passed", detail: "IN" }, 'policy: Passed "country": IN'],
    [{ at, step: "policy", policy: "opt-out", verdict: "refused", detail: "x" }, 'policy: Refused by "opt-out": x'],
    [{ at, step: "policy", policy: "same text", verdict: "noted", detail: "x" }, 'policy: Noted by "same text": x'],
    [{ at, step: "policy", policy: "schedule", verdict: "held", detail: "x" }, 'policy: Held by "schedule": x'],
    [attempt, 'attempt: Handed to carrier "north" by route "India"'],
    [{ ...attempt, carrier: "none" }, "attempt: No route takes it"],
    [answer("taken", { carrierMessageId: "abc" }), 'answer: Carrier "north" took it as abc'],
    [
      answer("refused", { code: "003", description: "Not wanted" }),
      'answer: Carrier "north" refused it: Not wanted (003)',
    ],
    [answer("down", { description: "No line" }), 'answer: Carrier "north" cannot be reached: No line'],
    [answer("unknown"), 'answer: Carrier "north" did not say whether it took it'],
    [receipt("delivered", at), 'receipt: Carrier "north" reports delivered: It is delivered (002)'],
    [receipt("enroute", at), 'receipt: Carrier "north" reports enroute'],
    [
      { at, step: "failover", carrier: NORTH, reason: "No delivery in time" },
      'failover: Carrier "north" given up: no delivery in time',
    ],
    [receipt("read", at), 'receipt: Carrier "north" reports read: It is read (002)'],
    [{ at, step: "changed", what: "paused" }, "changed: Paused with its campaign"],
    [{ at, step: "changed", what: "resumed" }, "changed: Resumed with its campaign"],
    [{ at, step: "changed", what: "cancelled" }, "changed: Cancelled before it was sent"],
  ])("has words for every step: %j", (entry, words) => {
    expect(explained([entry])).toEqual([ACCEPTED_IN_FULL, words]);
  });

  test("says how it ended even where no step does", () => {
    const end = { state: "expired", doneAt: at, errorCode: "EXPIRED_IN_QUEUE", description: "It waited." } as const;
    expect(explained([], end)).toEqual([ACCEPTED_IN_FULL, "end: Ended as expired: It waited. (EXPIRED_IN_QUEUE)"]);
  });

  test("says which carrier was given up when a message goes on as a text, if there was one", () => {
    const turned = (carrier: string): TrailEntry => ({
      at,
      step: "failover",
      carrier,
      reason: "No delivery in time",
      becomes: "sms",
    });
    const bare = "accepted: Accepted for 15550100100 as TRANS: 2 credits";
    expect(explained([turned(NORTH)])).toEqual([
      bare,
      'failover: Carrier "north" given up, and sent as a text message instead: no delivery in time',
    ]);
    expect(explained([turned("")])).toEqual([bare, "failover: Sent as a text message instead: no delivery in time"]);
  });

  test("a message that was read has ended with its delivery, and deliveries that no carrier reported are not told", () => {
    const read = [receipt("delivered", at + 8, "Opened"), receipt("read", at + 8, "Opened")];
    const end = { state: "read", doneAt: at + 5, description: "Opened" } as const;
    expect(explained([receipt("delivered", at + 5), ...read], end).slice(1)).toEqual([
      'receipt: Carrier "north" reports delivered: It is delivered (002)',
      "end: Ended as delivered: It is delivered (002)",
      'receipt: Carrier "north" reports read: Opened (002)',
    ]);
    expect(explained(read, { ...end, doneAt: at + 8 }).slice(1)).toEqual([
      'receipt: Carrier "north" reports read: Opened (002)',
      "end: Ended as delivered",
    ]);
  });

  test("shows what went over the line with the answer to it", () => {
    const trail = [attempt, answer("taken", { carrierMessageId: "abc", exchange: "submit -> abc" })];
    const steps = tellOperator({ message: messageWith(trail), clicks: [], ledger: [], answers: [] });
    expect(steps.map(({ exchange }) => exchange)).toEqual([null, null, "submit -> abc"]);
  });

  test("puts credits and clicks of all kinds in their places in time, and keeps the order of one moment", () => {
    const entry = (kind: LedgerEntry["kind"], amount: number, held: number, when: number): LedgerEntry => ({
      ...REF,
      kind,
      amount,
      held,
      note: null,
      at: when,
    });
    const message = messageWith([attempt, answer("taken", { carrierMessageId: "abc" })]);
    const ledger = [entry("hold", -6, 6, NOON), entry("spend", 0, -2, at + 1), entry("refund", 2, 0, at + 9)];
    const clicks = [
      { at: at + 4, agent: "bot", k: 1 },
      { at: at + 3, agent: "preview", k: 1 },
      { at: at + 2, agent: "person", k: 1 },
    ] as const;
    expect(tellOperator({ message, clicks, ledger, answers: [] }).map(({ what }) => what)).toEqual([
      "Accepted for 15550100100 as TRANS: 1 segment, 2 credits",
      "2 credits held, of 6 for the whole request",
      'Handed to carrier "north" by route "India"',
      'Carrier "north" took it as abc',
      "2 credits spent",
      "A person followed link 1",
      "A program that shows previews fetched link 1",
      "A program followed link 1",
      "2 credits paid back",
    ]);
    const released = [entry("release", 1, -1, at)];
    expect(tellOperator({ message: messageWith([]), clicks: [], ledger: released, answers: [] }).at(-1)?.what).toBe(
      "1 credit given back, as no carrier took it",
    );
  });
});

describe.each(ENGINES)("the middle of the house on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
  });
  afterEach(() => shop.close());

  test("a message that goes on by another route says so to both", async () => {
    shop.addCarrier("silent");
    shop.addCarrier("second");
    shop.route("First", { carrier: "silent", priority: 1, failoverAfterSeconds: 60 });
    shop.route("Second", { carrier: "second", priority: 2 });
    const message = await shop.accept();
    await shop.dispatch(message);
    shop.clock.advance(61_000);
    await shop.needs.membership.beat();
    await failOver(shop.needs);
    for (const claimed of await shop.claim()) await shop.dispatch(claimed);
    await report(shop.needs, {
      carrier: carrierKey(1, "second"),
      carrierMessageId: "x",
      ref: message,
      state: "delivered",
      errorCode: "000",
      description: "There",
      at: shop.clock.now(),
    });
    const stored = await shop.read(message);
    const customer = tellCustomer({ message: stored, clicks: [], answers: [] });
    expect(customer.map(({ event }) => event)).toEqual(["accepted", "sent", "rerouted", "sent", "delivered"]);
    const operator = tellOperator({ message: stored, clicks: [], ledger: [], answers: [] }).map(({ what }) => what);
    expect(operator).toContain('Carrier "silent" given up: no delivery in time');
    expect(operator).toContain('Route "First" passed over: it brought no delivery before');
    expect(operator).toContain('Handed to carrier "second" by route "Second"');
  });
});

interface Explained extends Omit<MessageBody, "timeline"> {
  carrier: string | null;
  attempts: number;
  timeline: { at: number; step: string; what: string; exchange: string | null }[];
}

describe.each(ENGINES)("reading a message on %s", (engine) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(engine);
  });
  afterAll(() => house.close());

  const send = async (fields: Record<string, unknown>): Promise<string> =>
    (await house.send(fields)).body.data[0]?.messageId ?? "";
  const explain = async (messageId: string): Promise<Explained> =>
    (await house.ask<Explained>("GET", `/api/messages/${messageId}`)).body;
  const eventsOf = async (messageId: string): Promise<string[]> =>
    (await house.message(messageId)).timeline.map(({ event }) => event);

  test("the customer reads the way of a message, and the operator every step of it", async () => {
    const messageId = await send({ to: "15550109008", text: "x".repeat(200) });
    const message = await house.settled(messageId);
    expect(message).toMatchObject({ segments: 2, credits: 2, erased: false, dueAt: null });
    expect(message.timeline.map(({ event }) => event)).toEqual(["accepted", "postponed", "sent", "delivered"]);
    expect(message.timeline[1]?.detail).toMatch(/^The network is busy; the next look is at 20\d\d-/);

    const full = await explain(messageId);
    expect(full).toMatchObject({ messageId, status: "Delivered", carrier: "simulator", attempts: 2, credits: 2 });
    expect(full.timeline.map(({ step }) => step)).toEqual([
      "accepted",
      "attempt",
      "answer",
      "attempt",
      "answer",
      "receipt",
      "end",
    ]);
    expect(full.timeline.filter(({ exchange }) => exchange !== null)).toHaveLength(2);
    expect(JSON.stringify(message)).not.toContain("simulator");
    expect(JSON.stringify(full.timeline)).not.toContain("xxxxx");
    const times = full.timeline.map((step) => step.at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test("a list shows no timelines, and the operator's has the carriers", async () => {
    const messageId = await send({ to: "15550100133" });
    await house.settled(messageId);
    const [seen] = (await house.ask<{ data: object[] }>("GET", "/v1/messages?recipient=15550100133")).body.data;
    const [known] = (await house.ask<{ data: object[] }>("GET", "/api/messages?recipient=15550100133")).body.data;
    expect(seen).toMatchObject({ messageId, credits: 1 });
    expect(seen).not.toHaveProperty("timeline");
    expect(seen).not.toHaveProperty("carrier");
    expect(known).toEqual({ ...seen, carrier: "simulator", attempts: 1 });
  });

  test("a message to be sent later says when, until it is sent", async () => {
    const sendAt = Date.now() + 3_600_000;
    const messageId = await send({ sendAt });
    const message = await house.message(messageId);
    expect(message).toMatchObject({ state: "scheduled", dueAt: sendAt });
    expect(message.timeline.slice(1)).toMatchObject([{ event: "held", detail: `To be sent at ${ISO(sendAt)}` }]);
  });

  test("a message of a paused campaign has no time", async () => {
    await send({ campaignName: "paused", to: "15550100134" });
    const { body } = await house.ask<{ data: { id: string; name: string }[] }>("GET", "/api/campaigns");
    const campaign = body.data.find(({ name }) => name === "paused");
    expect((await house.ask("POST", `/api/campaigns/${campaign?.id}/pause`)).status).toBe(200);
    const messageId = await send({ campaignName: "paused" });
    expect(await house.message(messageId)).toMatchObject({ state: "scheduled", dueAt: null });
    expect(await eventsOf(messageId)).toEqual(["accepted", "held"]);
  });

  test("a recipient that failed at the door tells why", async () => {
    await house.ask("PATCH", "/api/account", { allowedCountries: ["IN"] });
    const sent = await house.send({ to: "919876543210,33612345678" });
    await house.ask("PATCH", "/api/account", { allowedCountries: null });
    const messageId = sent.body.data[1]?.messageId ?? "";
    const message = await house.message(messageId);
    expect(message).toMatchObject({ status: "Failed", credits: 0, errCode: "COUNTRY_NOT_ALLOWED" });
    expect(message.timeline.at(-1)).toMatchObject({
      event: "failed",
      detail: "The account may not send to this country.",
    });
    expect((await explain(messageId)).timeline.map(({ what }) => what)).toContain(
      'Refused by "country": FR is not among IN',
    );
  });

  test("what it did to the credits stands in the operator's timeline", async () => {
    await house.ask("POST", "/api/credits", { amount: 10 });
    await house.ask("PATCH", "/api/account", { credits: "metered" });
    const sent = await house.send({ to: "15550100100,15550109003" });
    const [good = "", refused = ""] = sent.body.data.map(({ messageId }) => messageId);
    await Promise.all([house.settled(good), house.settled(refused)]);
    await house.ask("PATCH", "/api/account", { credits: "unlimited" });
    const credits = async (messageId: string) =>
      (await explain(messageId)).timeline.filter(({ step }) => step === "credits").map(({ what }) => what);
    expect(await credits(good)).toEqual(["1 credit held, of 2 for the whole request", "1 credit spent"]);
    expect(await credits(refused)).toEqual([
      "1 credit held, of 2 for the whole request",
      "1 credit given back, as no carrier took it",
    ]);
  });

  test("a click stands in both timelines", async () => {
    const messageId = await send({
      text: "Look: {SORT}",
      shortenUrlData: { shortenUrl: true, targetUrl: ["https://shop.example/"] },
    });
    const { text } = await house.settled(messageId);
    const link = new URL(/https?:\S+/.exec(text)?.[0] ?? "");
    const visit = (agent: string) =>
      fetch(`${house.url}${link.pathname}`, { redirect: "manual", headers: { "user-agent": agent } });
    await visit("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1");
    await visit("curl/8.0");
    const clicks = await eventually(
      async () => (await explain(messageId)).timeline.filter(({ step }) => step === "click").map(({ what }) => what),
      (seen) => seen.length === 2,
    );
    expect(clicks.toSorted()).toEqual(["A person followed link 1", "A program followed link 1"]);
    expect((await eventsOf(messageId)).filter((event) => event === "clicked")).toHaveLength(1);
  });

  test("an unknown message is 404 for the operator too", async () => {
    expect((await house.ask("GET", "/api/messages/none")).status).toBe(404);
    expect((await house.ask("GET", `/api/messages/${REF.requestId}:1`)).status).toBe(404);
  });
});
