import { describe, expect, test } from "vitest";
import type { DeliveryField, TakingField } from "../src/store/as-known.ts";
import { isPacked, packMoves, unpackMove } from "../src/store/sqlite/pack-moves.ts";
import type { AnnouncementTarget, Move } from "../src/store/store.ts";

const ref = { accountId: 1, requestId: "01a1ea61-49fe-7000-9dcd-7c88c993221f", n: 3 };
const known = { channel: "sms", routeClass: "TRANS", recipient: "15550100100" } as const;
const step = { ...ref, at: 5, owner: 0, carrier: "1/north", trail: "a\n", trailAlways: true, known };
const taking: Move = { ...step, to: "submitted", carrierMessageId: "c-1" };
const target: AnnouncementTarget = {
  eventId: "e",
  endpointId: "p",
  kind: "status",
  status: "delivered",
  channel: "sms",
  carrier: null,
  endOnly: true,
};
const delivery: Move = {
  ...step,
  to: "delivered",
  errorCode: "000",
  description: null,
  failoverAt: null,
  facts: { sender: "HELIOG", credits: 1, createdAt: 4 },
};

/** As it comes out on the writer's side. */
const crossed = (move: Move): unknown => {
  const [packed] = JSON.parse(JSON.stringify(packMoves([move]))) as ReturnType<typeof packMoves>;
  return packed && isPacked(packed) ? unpackMove(packed) : packed;
};

/** Every field that such a move may have: one more has to be thought of here, and so by whoever packs it. */
const TAKING: Required<Pick<Move, TakingField>> = {
  accountId: 2,
  requestId: "another",
  n: 4,
  to: "submitted",
  at: 6,
  owner: 9,
  carrier: "1/south",
  trail: "b\n",
  trailAlways: false,
  failoverAt: 8,
  known: { channel: "rcs", routeClass: "PROMO", recipient: "15550100101" },
  carrierMessageId: "c-2",
  partIds: ["c-2", "c-3"],
};
const { carrierMessageId: _id, partIds: _ids, ...both } = TAKING;
const DELIVERY: Required<Pick<Move, DeliveryField>> = {
  ...both,
  to: "delivered",
  errorCode: "001",
  description: "There",
  facts: { sender: "OTHER", credits: 2, createdAt: 3 },
  announce: { owner: 7, dueAt: 6, targets: [target] },
};

describe("a move on its way to the writer of SQLite", () => {
  test.each<Move>([
    taking,
    delivery,
    {
      ...delivery,
      announce: {
        owner: 7,
        dueAt: 6,
        targets: [target, { ...target, carrier: "1/north", status: null, endOnly: false }],
      },
    },
    { ...delivery, announce: { owner: 0, dueAt: 6, targets: [] } },
  ])("is a list where it is what nearly every message goes through, and the same afterwards: %j", (move) => {
    expect(Array.isArray(packMoves([move])[0])).toBe(true);
    expect(crossed(move)).toEqual(move);
  });

  const { trail: _, ...untold } = taking;
  const { known: __, ...unknown } = taking;
  const { carrierMessageId: ___, ...unnamed } = taking;
  const { trail: ____, ...silent } = delivery;
  test.each<Move>([
    untold,
    unknown,
    unnamed,
    silent,
    { ...taking, trailAlways: false },
    { ...delivery, trailAlways: false },
    { ...taking, partIds: ["c-1", "c-2"] },
    { ...taking, failoverAt: 9 },
    { ...taking, dueAt: 9 },
    {
      ...taking,
      becomes: { channel: "sms", sender: "S", content: { text: "t", encoding: "gsm7", flash: false }, segments: 1 },
    },
    { ...delivery, failoverAt: 9 },
    { ...delivery, operator: "Operator" },
    { ...delivery, settles: 4 },
    { ...delivery, known: { ...known, channel: "chatapp" } },
    { ...ref, to: "accepted", at: 5, owner: 0, ownedBy: 1, dueAt: 9, errorCode: "001", description: "Busy" },
  ])("is as it was where it says anything more, or less: %j", (move) => {
    expect(packMoves([move])).toEqual([move]);
    expect(crossed(move)).toEqual(move);
  });

  test.each(Object.entries(TAKING))("says of a message that is taken what it said before: %s", (field, value) => {
    expect(crossed({ ...taking, [field]: value })).toEqual({ ...taking, [field]: value });
  });

  test.each(Object.entries(DELIVERY))("says of a delivery what it said before: %s", (field, value) => {
    expect(crossed({ ...delivery, [field]: value })).toEqual({ ...delivery, [field]: value });
  });

  test("without a code or words of the carrier it has none", () => {
    const { errorCode: _____, description: ______, ...bare } = delivery;
    expect(crossed(bare)).toEqual({ ...delivery, errorCode: null, description: null });
  });
});
