import { describe, expect, test } from "vitest";
import { isPacked, packTransitions, unpackTransition } from "../../src/store/sqlite/fast.ts";
import type { CallbackTarget, ExpectingDelivery, Submitted, Transition } from "../../src/store/transition.ts";

const ref = { accountId: 1, requestId: "01a1ea61-49fe-7000-9dcd-7c88c993221f", n: 3 };
const expected = { channel: "sms", routeClass: "TRANS", recipient: "15550100100", campaignName: null } as const;
const step = { ...ref, at: 5, owner: 0, carrier: "1/north", timeline: "a\n", expected };
const submitted: Submitted = { ...step, kind: "submitted", channel: "sms", carrierMessageId: "c-1" };
const target: CallbackTarget = {
  eventId: "e",
  endpointId: "p",
  kind: "status",
  status: "delivered",
  channel: "sms",
  carrier: null,
  endOnly: true,
};
const delivered: ExpectingDelivery = {
  ...step,
  kind: "delivered",
  to: "delivered",
  timelineAlways: true,
  errorCode: "000",
  description: null,
  snapshot: { sender: "HELIOG", credits: 1, createdAt: 4 },
};

/** As it comes out on the writer's side. */
const crossed = (transition: Transition): unknown => {
  const [packed] = JSON.parse(JSON.stringify(packTransitions([transition]))) as ReturnType<typeof packTransitions>;
  return packed && isPacked(packed) ? unpackTransition(packed) : packed;
};

/** Every field of the two kinds that are packed: the compiler asks for a new field here, and so of the packer. */
const SUBMITTED: Required<Submitted> = {
  ...ref,
  kind: "submitted",
  accountId: 2,
  requestId: "another",
  n: 4,
  at: 6,
  owner: 9,
  carrier: "1/south",
  channel: "rcs",
  timeline: "b\n",
  repeated: true,
  callbacks: { owner: 7, dueAt: 6, targets: [target] },
  carrierMessageId: "c-2",
  partIds: ["c-2", "c-3"],
  failoverAt: 8,
  becomes: { channel: "sms", sender: "S", content: { text: "t", encoding: "gsm7", flash: false }, segments: 1 },
  expected: { channel: "sms", routeClass: "PROMO", recipient: "15550100101", campaignName: "spring" },
};
const DELIVERED: Required<ExpectingDelivery> = {
  ...ref,
  kind: "delivered",
  to: "delivered",
  accountId: 2,
  requestId: "another",
  n: 4,
  at: 6,
  owner: 9,
  carrier: "1/south",
  timeline: "b\n",
  timelineAlways: false,
  repeated: true,
  errorCode: "001",
  description: "There",
  expected: { channel: "rcs", routeClass: "PROMO", recipient: "15550100101", campaignName: "spring" },
  snapshot: { sender: "OTHER", credits: 2, createdAt: 3 },
  callbacks: { owner: 7, dueAt: 6, targets: [target] },
};

describe("a transition on its way to the writer thread of SQLite", () => {
  test.each<Transition>([
    submitted,
    delivered,
    {
      ...delivered,
      callbacks: {
        owner: 7,
        dueAt: 6,
        targets: [target, { ...target, carrier: "1/north", status: null, endOnly: false }],
      },
    },
    { ...delivered, callbacks: { owner: 0, dueAt: 6, targets: [] } },
  ])("is a tuple where nearly every message goes through it, and is the same afterwards: %j", (transition) => {
    expect(Array.isArray(packTransitions([transition])[0])).toBe(true);
    expect(crossed(transition)).toEqual(transition);
  });

  const { timeline: _, ...silentSubmit } = submitted;
  const { expected: __, ...unexpected } = submitted;
  const { timeline: ___, ...silentDelivery } = delivered;
  test.each<Transition>([
    silentSubmit,
    unexpected,
    { ...submitted, channel: "rcs" },
    { ...submitted, repeated: true },
    { ...submitted, partIds: ["c-1", "c-2"] },
    { ...submitted, failoverAt: 9 },
    { ...submitted, becomes: SUBMITTED.becomes },
    silentDelivery,
    { ...delivered, timelineAlways: false },
    { ...delivered, repeated: true },
    { ...delivered, expected: { ...expected, channel: "chatapp" } },
    { ...ref, kind: "deferred", to: "accepted", at: 5, owner: 0, ownedBy: 1, dueAt: 9 },
    { ...ref, kind: "timeline", at: 5, timeline: "c\n", settles: 4 },
  ])("crosses as it is where the tuple has no place for a field: %j", (transition) => {
    expect(packTransitions([transition])).toEqual([transition]);
    expect(crossed(transition)).toEqual(transition);
  });

  test.each(Object.entries(SUBMITTED))("keeps every field of a submit response: %s", (field, value) => {
    expect(crossed({ ...submitted, [field]: value })).toEqual({ ...submitted, [field]: value });
  });

  test.each(Object.entries(DELIVERED))("keeps every field of a delivery: %s", (field, value) => {
    expect(crossed({ ...delivered, [field]: value })).toEqual({ ...delivered, [field]: value });
  });

  test("a delivery without error code and description has null for both", () => {
    const { errorCode: ____, description: _____, ...bare } = delivered;
    expect(crossed(bare)).toEqual({ ...delivered, errorCode: null, description: null });
  });
});
