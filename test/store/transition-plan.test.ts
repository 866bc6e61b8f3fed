import { afterEach, beforeEach, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { createClaim } from "../../src/store/postgres/claim.ts";
import { createClaimCallbacks } from "../../src/store/postgres/claim-callbacks.ts";
import { applyFast } from "../../src/store/postgres/fast.ts";
import { findSubmissions, listMatchable, storeUnmatched } from "../../src/store/postgres/unmatched.ts";
import { markReported } from "../../src/store/postgres/phones.ts";
import { settleCallbacks } from "../../src/store/postgres/settle-callbacks.ts";
import { transition } from "../../src/store/postgres/transition.ts";
import { NOON } from "../support/acceptances.ts";
import { openPlanner, type Planner } from "../support/plans.ts";
import { transitionTo, type TransitionFields } from "../support/transitions.ts";

/** The last column of each key: without it a search is one through all that waits, or through all that an account has. */
const LAST_OF_KEY: Record<string, RegExp> = {
  callbacks: /\(endpoint_id =/,
  messages: /\(n =/,
  failovers: /\(n =/,
  parked_receipts: /\((?:id|carrier_message_id) =/,
};

let planner: Planner;
beforeEach(async () => {
  planner = await openPlanner();
});
afterEach(() => planner.close());

// The statements of a store under a name are planned while its tables are empty, and run when they are not.

const target = { kind: "status", status: "delivered", channel: "sms", carrier: null, endOnly: true } as const;
const known = { channel: "sms", routeClass: "TRANS", recipient: "33612345678", campaignName: null } as const;
const movesWith = (wishes: { told: boolean; parts: boolean; taken?: boolean }): TransitionFields[] =>
  Array.from({ length: 10 }, (_, index) => ({
    accountId: 1,
    requestId: newId(NOON),
    n: 1,
    ...(wishes.taken
      ? { to: "submitted", expected: known, carriedBy: "line", channelIs: "sms" }
      : { to: "delivered", failoverAt: null }),
    at: NOON,
    owner: 0,
    carrier: "line",
    carrierMessageId: `${index}`,
    ...(wishes.parts ? { partIds: [`${index}`, `${index}b`] } : {}),
    ...(wishes.told
      ? {
          callbacks: { owner: 1, dueAt: NOON, targets: [{ ...target, eventId: newId(NOON), endpointId: newId(NOON) }] },
        }
      : {}),
  }));

test.each([
  ["moves", { told: false, parts: false }],
  ["moves that somebody is told of", { told: true, parts: false }],
  ["moves of messages in parts", { told: false, parts: true }],
  ["moves of messages in parts that somebody is told of", { told: true, parts: true }],
] as const)("%s are planned by whole keys on empty tables", async (_, wishes) => {
  await transition(planner.pool, movesWith(wishes).map(transitionTo));
  const { all, partly } = await planner.indexSearches(LAST_OF_KEY);
  const asked = Object.keys(LAST_OF_KEY).filter((table) => wishes.told || table !== "callbacks");
  expect(new Set(all.map(({ table }) => table))).toEqual(new Set(asked));
  expect(partly).toEqual([]);
});

test("intents without stops are planned by whole keys on empty tables", async () => {
  const intents = movesWith({ told: false, parts: false }).map(
    ({ accountId, requestId, n }): TransitionFields => ({ accountId, requestId, n, at: NOON, to: "submitting", owner: 1, carrier: "line", unlessStopped: true }), // prettier-ignore
  );
  await transition(planner.pool, intents.map(transitionTo));
  const { all, partly } = await planner.indexSearches({ ...LAST_OF_KEY, optouts: /\(number =/, catalog: /\(name =/ });
  expect(all.map(({ table }) => table)).toEqual(expect.arrayContaining(["messages", "optouts", "catalog"]));
  expect(partly).toEqual([]);
});

test("submitted transitions are planned by whole keys on empty tables", async () => {
  const taken = movesWith({ told: false, parts: false, taken: true });
  expect(await applyFast(planner.pool.query, taken.map(transitionTo))).toHaveLength(taken.length);
  const { all, partly } = await planner.indexSearches(LAST_OF_KEY);
  expect(new Set(all.map(({ table }) => table))).toEqual(new Set(["messages", "parked_receipts"]));
  expect(partly).toEqual([]);
});

test.each([true, false])(
  "delivered transitions are planned by whole keys on empty tables, with the expected row: %s",
  async (told) => {
    const facts = { sender: "HELIO", credits: 1, createdAt: NOON };
    const delivered = movesWith({ told, parts: false }).map((step): TransitionFields => {
      delete step.carrierMessageId;
      return { ...step, expected: known, snapshot: facts };
    });
    expect(await applyFast(planner.pool.query, delivered.map(transitionTo))).toHaveLength(delivered.length);
    const { all, partly } = await planner.indexSearches(LAST_OF_KEY);
    const asked = ["messages", "failovers", ...(told ? ["callbacks"] : [])];
    expect(new Set(all.map(({ table }) => table))).toEqual(new Set(asked));
    expect(partly).toEqual([]);
  },
);

test("messages are claimed in the order of their due times", async () => {
  await createClaim(planner.pool)({ node: 1, from: 0, routeClass: "PROMO", dueBy: NOON, limit: 100 });
  const { all, partly } = await planner.indexSearches({ messages: /owner = .*lane = .*due_at <=/ });
  expect(all).toHaveLength(1);
  expect(partly).toEqual([]);
});

test("callbacks are settled, and later ones held back, by whole keys on empty tables", async () => {
  const batch = Array.from({ length: 10 }, () => ({
    accountId: 1,
    eventId: newId(NOON),
    endpointId: newId(NOON),
    ownedBy: 1,
    attempts: 0,
    state: "waiting" as const,
    at: NOON,
    dueAt: NOON,
    attempted: true,
    log: "",
    message: { requestId: newId(NOON), n: 1 },
  }));
  await settleCallbacks(planner.pool, batch);
  const { all, partly } = await planner.indexSearches({ callbacks: /\(endpoint_id =/ });
  expect(all).toHaveLength(4);
  expect(partly).toEqual([]);
});

test("callbacks are claimed in the order of their due times, and earlier ones are found by whole keys", async () => {
  const claim = createClaimCallbacks(planner.pool.query);
  await claim({ node: 1, from: 0, dueBy: NOON, limit: 100 });
  const { all, partly } = await planner.indexSearches({ callbacks: /\(endpoint_id =|^\(\(owner = .*due_at <=/ });
  expect(all).toHaveLength(3);
  expect(partly).toEqual([]);
});

test("receipts find their message, or none, by whole keys on empty tables", async () => {
  const receipts = Array.from({ length: 10 }, (_, index) => ({
    carrier: "line",
    carrierMessageId: String(index),
    state: "delivered" as const,
    errorCode: null,
    description: null,
    at: NOON,
    recipient: "15550100100",
  }));
  await findSubmissions(planner.pool.query, receipts);
  await storeUnmatched(planner.pool.query, receipts, NOON);
  await listMatchable(planner.pool.query, 100);
  const { all, partly } = await planner.indexSearches({ submissions: /\(carrier_message_id =/, messages: /\(n =/ });
  expect(all).toHaveLength(6);
  expect(partly).toEqual([]);
});

test("phone reports are recorded by whole keys on empty tables", async () => {
  await markReported(
    planner.pool.query,
    Array.from({ length: 10 }, () => ({ accountId: 1, id: newId(NOON) })),
  );
  const { all, partly } = await planner.indexSearches({ phone_messages: /\(id =/ });
  expect(all).toHaveLength(1);
  expect(partly).toEqual([]);
});
