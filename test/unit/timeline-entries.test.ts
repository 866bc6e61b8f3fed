import { describe, expect, test } from "vitest";
import { decodeTimeline, encodeTimeline, type TimelineEntry } from "../../src/model/timeline.ts";

const at = 1_794_930_492_033;
const exchange = "submit_sm to=********0001 from=HELIOG data_coding=0 parts=1 -> taken 69946";
const taken = {
  at,
  step: "answer",
  carrier: "1/bench",
  outcome: "taken",
  carrierMessageId: "69946",
  exchange,
} as const;
const receipt = {
  at,
  step: "receipt",
  carrier: "1/bench",
  state: "delivered",
  code: "000",
  description: "Delivered",
} as const;
const attempt = { at, step: "attempt", route: "bench", carrier: "1/bench", passedOver: [] } as const;

/** The timeline of an ordinary message. */
const ORDINARY: readonly TimelineEntry[] = [
  { at, step: "policy", policy: "opt-out", verdict: "passed", detail: "Not on the list" },
  attempt,
  taken,
  receipt,
  { ...receipt, code: null, description: null },
];

const RARE: readonly TimelineEntry[] = [
  { at, step: "number", written: "+1 (555) 0100", read: "15550100" },
  { ...attempt, passedOver: [{ route: "first", carrier: "1/other", reason: "The carrier is not bound" }] },
  { ...taken, late: true },
  { ...taken, nextTryAt: at + 1 },
  { ...taken, code: "0", description: "OK" },
  { ...taken, carrierMessageId: "1, 2", exchange: "submit_sm parts=2 -> taken 1 2" },
  { ...taken, carrierMessageId: "an id" },
  { at, step: "answer", carrier: "1/bench", outcome: "taken", carrierMessageId: "69946" },
  { at, step: "answer", carrier: "1/bench", outcome: "taken", exchange },
  {
    at,
    step: "answer",
    carrier: "1/bench",
    outcome: "refused",
    code: "11",
    description: "No",
    exchange: "a -> refused 11",
  },
  { ...receipt, part: { index: 1, total: 2, state: "delivered" } },
  { ...receipt, operator: "Operator" },
  { ...receipt, circle: "Circle" },
  { at, step: "failover", carrier: "1/bench", reason: "No delivery in time", becomes: "sms" },
  { at, step: "changed", what: "paused" },
];

describe("the timeline of a message's row", () => {
  test.each([...ORDINARY, ...RARE])("an entry reads back equal: %j", (entry) => {
    expect(decodeTimeline(encodeTimeline(entry))).toEqual([entry]);
  });

  test("keeps its order and any text of its entries", () => {
    const odd = { ...attempt, route: 'say "no"\n\\ [1] → ☎', carrier: " " };
    const entries = [...RARE, odd, ...ORDINARY, odd];
    expect(decodeTimeline(encodeTimeline(...entries))).toEqual(entries);
    expect(decodeTimeline(encodeTimeline(...RARE) + encodeTimeline(odd))).toEqual([...RARE, odd]);
  });

  test("has no names for the steps of nearly every message, which would be most of the row", () => {
    const written = encodeTimeline(...ORDINARY);
    expect(written).not.toContain("{");
    expect(written.length).toBeLessThan(0.65 * ORDINARY.map((entry) => `${JSON.stringify(entry)}\n`).join("").length);
  });

  test("an id at the end of the exchange is not repeated", () => {
    expect(encodeTimeline(taken)).toBe(`["taken",${at},"1/bench",${JSON.stringify(exchange)}]\n`);
  });

  test("entries of earlier versions, one object per step, are readable", () => {
    const entries = [...ORDINARY, ...RARE];
    const written = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    expect(decodeTimeline(written)).toEqual(entries);
    expect(decodeTimeline(null)).toEqual([]);
  });
});
