import { describe, expect, test } from "vitest";
import { DEFAULT_GUARD, settleTimeOf, paidUnreportedPerDay, paysForItself } from "../../src/model/pumping.ts";
import { MINUTE_MS, VERIFICATION_STATES } from "../../src/model/verification.ts";

describe("a code that no product reports on", () => {
  test.each(VERIFICATION_STATES)("pays for itself only if it was delivered and not replaced: %s", (state) => {
    const isOpen = state === "pending" || state === "expired";
    expect(paysForItself({ state, delivered: true })).toBe(isOpen);
    expect(paysForItself({ state, delivered: false })).toBe(false);
  });

  test("counts as unreported after three minutes, or when it expires", () => {
    const createdAt = 1_000_000;
    expect(settleTimeOf({ createdAt, expiresAt: createdAt + 10 * MINUTE_MS })).toBe(createdAt + 3 * MINUTE_MS);
    expect(settleTimeOf({ createdAt, expiresAt: createdAt + MINUTE_MS })).toBe(createdAt + MINUTE_MS);
  });

  test("is one of as many a day as a prefix may owe", () => {
    expect(paidUnreportedPerDay(DEFAULT_GUARD)).toBe(20);
  });
});
