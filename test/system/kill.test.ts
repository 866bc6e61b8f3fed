import { describe, expect, inject, it } from "vitest";
import { runKills } from "../torture/kill-run.ts";
import { repetitions, testSeed } from "../support/repetitions.ts";
import type { Entry } from "../torture/ledger.ts";
import { reconcile, type Evidence } from "../torture/reconcile.ts";
import type { PhoneRow, StoredRow } from "../torture/stored-rows.ts";
import { isAllowedTransition } from "../torture/histories.ts";

/** `npm run torture` kills as often as it is told to. */
const KILLS = repetitions(3, 20);
const MESSAGES_PER_SECOND = 300;
const TIMEOUT_MS = 900_000;

describe("a server that is killed at any instant under load", () => {
  it.each(["sqlite", "postgres"] as const)(
    "loses nothing it has accepted and repeats no more than its window (%s)",
    { timeout: TIMEOUT_MS },
    async (engine) => {
      const seed = testSeed(process.env["TORTURE_SEED"]);
      process.stdout.write(`kills on ${engine}, TORTURE_SEED=${seed}\n`);
      const { violations, ...report } = await runKills({
        postgresUrl: engine === "postgres" ? inject("postgresUrl") : null,
        kills: KILLS,
        messagesPerSecond: MESSAGES_PER_SECOND,
        seed,
      });
      process.stdout.write(`${JSON.stringify(report)}\n`);
      expect(violations).toEqual([]);
      expect(report.accepted).toBeGreaterThan(KILLS * 20);
      expect(report.unknown).toBeGreaterThan(0);
      expect(report.reports).toBeGreaterThan(report.messages / 2);
    },
  );
});

describe("the reconciler", () => {
  const KILL = 1500;
  const intent = { entry: "intent", key: "a", type: "TRANS", to: ["441234567890"], valid: true } as const;
  const accepted = { entry: "accepted", key: "a", messageIds: ["a:1"], replayed: false } as const;
  const row: StoredRow = {
    messageId: "a:1",
    type: "TRANS",
    recipient: "441234567890",
    key: "a",
    state: "delivered",
    owner: 0,
    errorCode: "000",
    heldInDoubt: false,
  };
  const onPhone: PhoneRow = { messageId: "a:1", number: "441234567890", receivedAt: 1000 };
  const again: PhoneRow = { ...onPhone, receivedAt: 2000 };

  const findings = (changes: Partial<Evidence>) =>
    reconcile({
      ledger: [intent, accepted] satisfies Entry[],
      messages: [row],
      onPhones: [onPhone],
      kills: [KILL],
      window: 1,
      observed: new Map(),
      ...changes,
    });

  it("finds no violation for a message that is accepted, delivered and on its phone once", async () => {
    expect((await findings({})).violations).toEqual([]);
  });

  it("allows a duplicate after a kill", async () => {
    expect(await findings({ onPhones: [onPhone, again] })).toMatchObject({ violations: [], duplicates: 1 });
  });

  const promo = { ...intent, type: "PROMO" } as const;
  it.each<[string, string, Partial<Evidence>]>([
    ["a lost message", "I1", { messages: [], onPhones: [] }],
    ["an accepted message that never ends", "I1", { messages: [{ ...row, state: "accepted" }] }],
    ["a final state other than the scripted one", "I1", { messages: [{ ...row, state: "undelivered" }] }],
    ["a delivered message on no phone", "I2", { onPhones: [] }],
    ["a message on the phone of another number", "I2", { onPhones: [{ ...onPhone, number: "441234567891" }] }],
    [
      "a failure without a reason",
      "I2",
      { messages: [{ ...row, recipient: "441234569003", state: "rejected", errorCode: null }], onPhones: [] },
    ],
    ["two responses to one key", "I1", { ledger: [intent, accepted, { ...accepted, messageIds: ["b:1"] }] }],
    ["two messages of one key", "I1", { messages: [row, { ...row, messageId: "b:1" }] }],
    [
      "a stored message of a refused request",
      "I3",
      {
        ledger: [
          { ...intent, valid: false },
          { entry: "refused", key: "a", status: 400, code: "INVALID_REQUEST" },
        ],
      },
    ],
    [
      "a valid request that is refused",
      "I3",
      { ledger: [intent, { entry: "refused", key: "a", status: 400, code: "X" }], messages: [], onPhones: [] },
    ],
    ["a message on a phone without a stored row", "I3", { onPhones: [onPhone, { ...onPhone, messageId: "b:1" }] }],
    ["a request without a response", "ledger", { ledger: [intent], messages: [], onPhones: [] }],
    ["a final state without a report", "I4", { reported: new Map() }],
    ["a report of another final state", "I4", { reported: new Map([["a:1", ["Delivered", "Failed"]]]) }],
    [
      "a report of an unknown message",
      "I4",
      {
        reported: new Map([
          ["a:1", ["Delivered"]],
          ["b:1", ["Failed"]],
        ]),
      },
    ],
    ["a final state that changed", "I5", { observed: new Map([["a:1", "undelivered"]]) }],
    ["a duplicate without a kill", "I6", { onPhones: [onPhone, again], kills: [] }],
    ["more duplicates than the window", "I6", { onPhones: [onPhone, again], window: 0 }],
    [
      "a promotion on its phone twice",
      "I6",
      { ledger: [promo, accepted], messages: [{ ...row, type: "PROMO" }], onPhones: [onPhone, again] },
    ],
    [
      "a message on its phone that is still in doubt",
      "I1",
      { ledger: [promo, accepted], messages: [{ ...row, type: "PROMO", state: "submitting", heldInDoubt: true }] },
    ],
  ])("finds %s", async (_, invariant, changes) => {
    const { violations } = await findings(changes);
    expect(violations.map((line) => line.split(":")[0])).toContain(invariant);
  });

  it.each([
    ["submitted", "accepted"],
    ["delivered", "submitted"],
    ["delivered", "undelivered"],
    ["rejected", "delivered"],
    ["enroute", "submitted"],
  ])("knows that %s is never followed by %s", (before, after) => {
    expect(isAllowedTransition(before, after)).toBe(false);
  });
});
