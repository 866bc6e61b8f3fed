import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ReceiptState } from "../../src/model/receipt.ts";
import { failOver } from "../../src/pipeline/dispatch/failover.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import { renderCustomerTimeline, renderOperatorTimeline } from "../../src/pipeline/timeline.ts";
import { carrierKey, PAUSED_MS } from "../../src/model/catalog.ts";
import type { LedgerEntry } from "../../src/model/credits.ts";
import type { InboundContent } from "../../src/model/inbound.ts";
import { encodeTimeline, type TimelineEntry } from "../../src/model/timeline.ts";
import type { StoredMessage } from "../../src/store/store.ts";
import { NOON } from "../support/acceptances.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type TestServer, type MessageBody } from "../support/test-server.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

const REF = { accountId: 1, requestId: "01a1de2e-8887-76e5-817a-2cae74cadaf2", n: 1 };
const NORTH = carrierKey(1, "north");
const ISO = (at: number): string => new Date(at).toISOString();

function messageWith(entries: readonly TimelineEntry[], changes: Partial<StoredMessage> = {}): StoredMessage {
  return {
    ...REF,
    channel: "sms",
    routeClass: "TRANS",
    test: false,
    sender: "HELIOG",
    recipient: "15550100100",
    content: { text: "Hello", encoding: "gsm7", flash: false },
    segments: 1,
    cost: 1,
    credits: 2,
    campaignName: null,
    tried: [],
    state: "submitted",
    attempts: 1,
    repeats: 0,
    createdAt: NOON,
    dueAt: NOON,
    expiresAt: NOON + 3_600_000,
    timeline: entries.length === 0 ? null : encodeTimeline(...entries),
    carrier: NORTH,
    errorCode: null,
    description: null,
    submittedAt: null,
    doneAt: null,
    ...changes,
  };
}

/** The customer's timeline, without the times. */
const told = (entries: readonly TimelineEntry[], changes: Partial<StoredMessage> = {}): string[] =>
  renderCustomerTimeline({ message: messageWith(entries, changes), clicks: [], answers: [] }).map(
    ({ event, detail }) => `${event}: ${detail}`,
  );

/** The operator's timeline, without the times. */
const explained = (entries: readonly TimelineEntry[], changes: Partial<StoredMessage> = {}): string[] =>
  renderOperatorTimeline({ message: messageWith(entries, changes), clicks: [], ledger: [], answers: [] }).map(
    ({ step, what }) => `${step}: ${what}`,
  );

const at = NOON + 10;
const attempt: TimelineEntry = { at, step: "attempt", route: "India", carrier: NORTH, passedOver: [] };
const answer = (outcome: string, more: object = {}): TimelineEntry => ({
  at: at + 1,
  step: "answer",
  carrier: NORTH,
  outcome,
  ...more,
});
const receipt = (state: ReceiptState, when: number, words = `It is ${state}`): TimelineEntry => ({
  at: when,
  step: "receipt",
  carrier: NORTH,
  state,
  code: state === "enroute" ? null : "002",
  description: state === "enroute" ? null : words,
});
const ACCEPTED = "accepted: 1 segment, 2 credits";

describe("a customer's timeline", () => {
  test("the customer's timeline shows a delivered message", () => {
    const entries = [attempt, answer("taken", { carrierMessageId: "abc" }), receipt("enroute", at + 5)];
    const end = { state: "delivered", doneAt: at + 9, description: "Delivered to the phone" } as const;
    expect(
      renderCustomerTimeline({
        message: messageWith([...entries, receipt("delivered", at + 9)], end),
        clicks: [],
        answers: [],
      }),
    ).toEqual([
      { at: NOON, event: "accepted", detail: "1 segment, 2 credits" },
      { at: at + 1, event: "sent", detail: "Handed to the network" },
      { at: at + 5, event: "enroute", detail: "On its way to the phone" },
      { at: at + 9, event: "delivered", detail: "Delivered to the phone" },
    ]);
  });

  test("the customer's timeline shows why a message is held and until when", () => {
    const held = "21:00 to 10:00 where the recipient is; held until 2026-01-16T10:00:00.000Z";
    const entries: TimelineEntry[] = [
      { at: NOON, step: "policy", policy: "opt-out", verdict: "passed", detail: "Not on the list" },
      { at: NOON, step: "policy", policy: "quiet hours", verdict: "held", detail: held },
    ];
    expect(told(entries, { state: "scheduled" })).toEqual([ACCEPTED, `held: ${held}`]);
  });

  test.each([
    ["busy", "The network is busy"],
    ["down", "The network cannot be reached"],
    ["unknown", "The network did not say whether it has the message"],
  ])("the customer's timeline shows when the next attempt follows an answer of %s", (outcome, why) => {
    expect(told([attempt, answer(outcome, { nextTryAt: at + 1000 })], { state: "accepted" })).toEqual([
      ACCEPTED,
      `postponed: ${why}; the next look is at ${ISO(at + 1000)}`,
    ]);
  });

  test("the customer's timeline shows that no network can be reached", () => {
    const passedOver = [{ route: "India", carrier: "north", reason: "The carrier is down" }];
    const none: TimelineEntry = { at, step: "attempt", route: "none", carrier: "none", passedOver };
    expect(told([none], { state: "accepted" })).toEqual([
      ACCEPTED,
      "postponed: No network can be reached; it is tried again",
    ]);
  });

  test("the customer's timeline shows a campaign's pause, even one from before the message", () => {
    const changed = (what: "paused" | "resumed"): TimelineEntry => ({ at, step: "changed", what });
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

  test("a final state without a text shows its code, and unknown is shown too", () => {
    expect(told([], { state: "rejected", doneAt: NOON, errorCode: "77" }).at(-1)).toBe("failed: 77");
    expect(told([], { state: "unknown" }).at(-1)).toBe("unconfirmed: The carrier does not know whether it arrived");
  });

  test("repeated and late receipts are not in the customer's timeline", () => {
    const entries = [receipt("delivered", at), receipt("enroute", at + 1), receipt("delivered", at + 2)];
    expect(told(entries, { state: "delivered", doneAt: at, description: "There" })).toEqual([
      ACCEPTED,
      "delivered: There",
    ]);
  });

  test("a delivery after a failure shows both", () => {
    const entries = [receipt("expired", at), receipt("delivered", at + 1)];
    const end = { state: "delivered", doneAt: at + 1, description: "There" } as const;
    expect(told(entries, end)).toEqual([ACCEPTED, "failed: It is expired", "delivered: There"]);
    // A failure receipt is ignored from a carrier we have failed over from, and after a delivery.
    expect(told(entries, { ...end, carrier: "1/south" })).toEqual([ACCEPTED, "delivered: There"]);
    expect(told(entries.toReversed(), end)).toEqual([ACCEPTED, "delivered: There"]);
  });

  test.each(["rcs", "chatapp"] as const)("the customer's timeline shows no segments on %s", (channel) => {
    expect(told([], { channel })).toEqual(["accepted: 2 credits"]);
  });

  test("the customer's timeline shows an RCS message that continues as a text", () => {
    const turned: TimelineEntry = {
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

  test("a read message was delivered first, each with its time and text", () => {
    const implied = receipt("delivered", at + 8, "Opened");
    const entries = [receipt("delivered", at + 5), implied, receipt("read", at + 8, "Opened"), receipt("read", at + 9)];
    const events = renderCustomerTimeline({ message: messageWith(entries, READ), clicks: [], answers: [] });
    expect(events.slice(1)).toEqual([
      { at: at + 5, event: "delivered", detail: "It is delivered" },
      { at: at + 8, event: "read", detail: "Opened" },
    ]);
  });

  test("a read receipt without a delivery shows both", () => {
    const entries = [receipt("delivered", at + 5, "Opened"), receipt("read", at + 5, "Opened")];
    expect(told(entries, READ).slice(1)).toEqual(["delivered: Delivered to the phone", "read: Opened"]);
  });

  test("a read receipt from a slow clock still follows the delivery", () => {
    const entries = [receipt("delivered", at + 5), receipt("delivered", at, "Opened"), receipt("read", at, "Opened")];
    expect(told(entries, READ).slice(1)).toEqual(["delivered: It is delivered", "read: Opened"]);
  });

  test("a read receipt after a failure shows all three", () => {
    const entries = [receipt("expired", at), receipt("delivered", at + 5, "Opened"), receipt("read", at + 5, "Opened")];
    expect(told(entries, READ).slice(1)).toEqual([
      "failed: It is expired",
      "delivered: Delivered to the phone",
      "read: Opened",
    ]);
  });

  test("a read receipt without effect is not shown", () => {
    const entries = [
      receipt("undelivered", at),
      receipt("delivered", at + 1, "Opened"),
      receipt("read", at + 1, "Opened"),
    ];
    const end = { state: "undelivered", doneAt: at, description: "Gone" } as const;
    expect(told(entries, end).slice(1)).toEqual(["failed: Gone"]);
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
  ])("the customer's timeline shows replies, and a long text only in part: %j", (content, words) => {
    const history = { message: messageWith([]), clicks: [], ledger: [], answers: [{ at: at + 3, content }] };
    expect(renderCustomerTimeline(history).at(-1)).toEqual({ at: at + 3, event: "replied", detail: words });
    const what = `The recipient ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
    expect(renderOperatorTimeline(history).at(-1)).toEqual({
      at: at + 3,
      step: "reply",
      what,
      exchange: null,
      outcome: "ok",
    });
  });

  test("the customer's timeline shows clicks of people, and not of programs", () => {
    const clicks = [
      { at: at + 2, agent: "person", k: 2 },
      { at: at + 1, agent: "preview", k: 1 },
    ] as const;
    expect(renderCustomerTimeline({ message: messageWith([]), clicks, answers: [] })).toEqual([
      { at: NOON, event: "accepted", detail: "1 segment, 2 credits" },
      { at: at + 2, event: "clicked", detail: "Link 2" },
    ]);
  });

  test("the customer's timeline names no carrier, route, exchange or passed policy", () => {
    const entries: TimelineEntry[] = [
      { at, step: "number", written: "0 1", read: "1" },
      { at, step: "policy", policy: "same text", verdict: "noted", detail: "secret detail" },
      { ...attempt, passedOver: [{ route: "secret route", carrier: "south", reason: "secret reason" }] },
      answer("taken", { carrierMessageId: "secret id", exchange: "secret exchange" }),
    ];
    const words = told(entries).join();
    for (const secret of ["north", "south", "India", "secret", "1/"]) expect(words).not.toContain(secret);
  });
});

describe("an operator's timeline", () => {
  const ACCEPTED_IN_FULL = "accepted: Accepted for 15550100100 as TRANS: 1 segment, 2 credits";

  test("the operator's timeline shows skipped routes with the reason, once per attempt", () => {
    const down = { route: "India", carrier: "north", reason: "The carrier is down" };
    const refused = { route: "Second", carrier: carrierKey(1, "south"), reason: "No such traffic" };
    const entries: TimelineEntry[] = [
      { at, step: "attempt", route: "Second", carrier: carrierKey(1, "south"), passedOver: [down] },
      { at, step: "attempt", route: "Third", carrier: "simulator", passedOver: [down, refused] },
      answer("busy", { nextTryAt: at + 1000 }),
      { at: at + 1000, step: "attempt", route: "Third", carrier: "simulator", passedOver: [down] },
    ];
    expect(explained(entries)).toEqual([
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

  test.each<[TimelineEntry, string]>([
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
  ])("the operator's timeline has a text for every step: %j", (entry, words) => {
    expect(explained([entry])).toEqual([ACCEPTED_IN_FULL, words]);
  });

  test("the operator's timeline shows the final state even without a step for it", () => {
    const end = { state: "expired", doneAt: at, errorCode: "EXPIRED_IN_QUEUE", description: "It waited." } as const;
    expect(explained([], end)).toEqual([ACCEPTED_IN_FULL, "end: Ended as expired: It waited. (EXPIRED_IN_QUEUE)"]);
  });

  test("the operator's timeline shows the carrier before the fallback, if there was one", () => {
    const turned = (carrier: string): TimelineEntry => ({
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

  test("a read message has ended with its delivery, and unreported deliveries are not shown", () => {
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

  test("the operator's timeline says of each step whether it failed", () => {
    const outcomes = (entries: readonly TimelineEntry[], state: Partial<StoredMessage>): string[] =>
      renderOperatorTimeline({
        message: { ...messageWith(entries), ...state },
        clicks: [],
        ledger: [],
        answers: [],
      }).map(({ step, outcome }) => `${step} ${outcome}`);
    const refused = [attempt, answer("refused", { code: "011", description: "Unknown number" })];
    expect(outcomes(refused, { state: "rejected", doneAt: at + 2 })).toEqual([
      "accepted ok",
      "attempt ok",
      "answer failed",
      "end failed",
    ]);
    const late = [attempt, answer("busy"), answer("taken", { carrierMessageId: "abc" }), receipt("delivered", at + 2)];
    expect(outcomes(late, { state: "delivered", doneAt: at + 2 })).toEqual([
      "accepted ok",
      "attempt ok",
      "answer warning",
      "answer ok",
      "receipt ok",
      "end ok",
    ]);
    expect(outcomes([], { state: "cancelled", doneAt: at }).at(-1)).toBe("end ok");
    expect(outcomes([], { state: "unknown", doneAt: at }).at(-1)).toBe("end warning");
  });

  test("the operator's timeline shows the exchange with the carrier", () => {
    const entries = [attempt, answer("taken", { carrierMessageId: "abc", exchange: "submit -> abc" })];
    const steps = renderOperatorTimeline({ message: messageWith(entries), clicks: [], ledger: [], answers: [] });
    expect(steps.map(({ exchange }) => exchange)).toEqual([null, null, "submit -> abc"]);
  });

  test("the operator's timeline sorts credits and clicks by time, and keeps the order within a moment", () => {
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
    expect(renderOperatorTimeline({ message, clicks, ledger, answers: [] }).map(({ what }) => what)).toEqual([
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
    expect(
      renderOperatorTimeline({ message: messageWith([]), clicks: [], ledger: released, answers: [] }).at(-1)?.what,
    ).toBe("1 credit given back, as no carrier took it");
  });
});

describe.each(ENGINES)("timelines of the pipeline on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  test("a failover is in both timelines", async () => {
    pipeline.addCarrier("silent");
    pipeline.addCarrier("second");
    pipeline.route("First", { carrier: "silent", priority: 1, failoverAfterSeconds: 60 });
    pipeline.route("Second", { carrier: "second", priority: 2 });
    const message = await pipeline.accept();
    await pipeline.dispatch(message);
    pipeline.clock.advance(61_000);
    await pipeline.deps.membership.heartbeat();
    await failOver(pipeline.deps);
    for (const claimed of await pipeline.claim()) await pipeline.dispatch(claimed);
    await receiveReceipt(pipeline.deps, {
      carrier: carrierKey(1, "second"),
      carrierMessageId: "x",
      ref: message,
      state: "delivered",
      errorCode: "000",
      description: "There",
      at: pipeline.clock.now(),
    });
    const stored = await pipeline.read(message);
    const customer = renderCustomerTimeline({ message: stored, clicks: [], answers: [] });
    expect(customer.map(({ event }) => event)).toEqual(["accepted", "sent", "rerouted", "sent", "delivered"]);
    const operator = renderOperatorTimeline({ message: stored, clicks: [], ledger: [], answers: [] }).map(
      ({ what }) => what,
    );
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
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  const send = async (fields: Record<string, unknown>): Promise<string> =>
    (await server.send(fields)).body.data[0]?.messageId ?? "";
  const explain = async (messageId: string): Promise<Explained> =>
    (await server.request<Explained>("GET", `/api/messages/${messageId}`)).body;
  const eventsOf = async (messageId: string): Promise<string[]> =>
    (await server.message(messageId)).timeline.map(({ event }) => event);

  test("the customer reads the timeline of a message, and the operator every step", async () => {
    const messageId = await send({ to: "15550109008", text: "x".repeat(200) });
    const message = await server.settled(messageId);
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
    await server.settled(messageId);
    const [seen] = (await server.request<{ data: object[] }>("GET", "/v1/messages?recipient=15550100133")).body.data;
    const [known] = (await server.request<{ data: object[] }>("GET", "/api/messages?recipient=15550100133")).body.data;
    expect(seen).toMatchObject({ messageId, credits: 1 });
    expect(seen).not.toHaveProperty("timeline");
    expect(seen).not.toHaveProperty("carrier");
    expect(known).toEqual({ ...seen, carrier: "simulator", attempts: 1 });
  });

  test("a scheduled message shows its time until it is sent", async () => {
    const sendAt = Date.now() + 3_600_000;
    const messageId = await send({ sendAt });
    const message = await server.message(messageId);
    expect(message).toMatchObject({ state: "scheduled", dueAt: sendAt });
    expect(message.timeline.slice(1)).toMatchObject([{ event: "held", detail: `To be sent at ${ISO(sendAt)}` }]);
  });

  test("a message of a paused campaign has no time", async () => {
    await send({ campaignName: "paused", to: "15550100134" });
    const { body } = await server.request<{ data: { id: string; name: string }[] }>("GET", "/api/campaigns");
    const campaign = body.data.find(({ name }) => name === "paused");
    expect((await server.request("POST", `/api/campaigns/${campaign?.id}/pause`)).status).toBe(200);
    const messageId = await send({ campaignName: "paused" });
    expect(await server.message(messageId)).toMatchObject({ state: "scheduled", dueAt: null });
    expect(await eventsOf(messageId)).toEqual(["accepted", "held"]);
  });

  test("a recipient refused at accept time shows the reason", async () => {
    await server.request("PATCH", "/api/account", { allowedCountries: ["IN"] });
    const sent = await server.send({ to: "919876543210,33612345678" });
    await server.request("PATCH", "/api/account", { allowedCountries: null });
    const messageId = sent.body.data[1]?.messageId ?? "";
    const message = await server.message(messageId);
    expect(message).toMatchObject({ status: "Failed", credits: 0, errCode: "COUNTRY_NOT_ALLOWED" });
    expect(message.timeline.at(-1)).toMatchObject({
      event: "failed",
      detail: "The account may not send to this country.",
    });
    expect((await explain(messageId)).timeline.map(({ what }) => what)).toContain(
      'Refused by "country": FR is not among IN',
    );
  });

  test("credit changes are in the operator's timeline", async () => {
    await server.asOwner("POST", "/api/credits", { amount: 10 });
    await server.request("PATCH", "/api/account", { credits: "metered" });
    const sent = await server.send({ to: "15550100100,15550109003" });
    const [good = "", refused = ""] = sent.body.data.map(({ messageId }) => messageId);
    await Promise.all([server.settled(good), server.settled(refused)]);
    await server.asOwner("PATCH", "/api/account", { credits: "unlimited" });
    const credits = async (messageId: string) =>
      (await explain(messageId)).timeline.filter(({ step }) => step === "credits").map(({ what }) => what);
    expect(await credits(good)).toEqual(["1 credit held, of 2 for the whole request", "1 credit spent"]);
    expect(await credits(refused)).toEqual([
      "1 credit held, of 2 for the whole request",
      "1 credit given back, as no carrier took it",
    ]);
  });

  test("a click is in both timelines", async () => {
    const messageId = await send({
      text: "Look: {SORT}",
      shortenUrlData: { shortenUrl: true, targetUrl: ["https://shop.example/"] },
    });
    const { text } = await server.settled(messageId);
    const link = new URL(/https?:\S+/.exec(text)?.[0] ?? "");
    const visit = (agent: string) =>
      fetch(`${server.url}${link.pathname}`, { redirect: "manual", headers: { "user-agent": agent } });
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
    expect((await server.request("GET", "/api/messages/none")).status).toBe(404);
    expect((await server.request("GET", `/api/messages/${REF.requestId}:1`)).status).toBe(404);
  });
});
