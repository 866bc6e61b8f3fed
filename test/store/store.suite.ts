import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import type { ApiKey } from "../../src/model/api-key.ts";
import type { StoredCredential } from "../../src/model/credential.ts";
import {
  ERASED,
  CUSTOMER_STATUSES,
  customerStatus,
  reachesFinal,
  mayTransition,
  stateAfter,
  provesSubmit,
  statesShownAs,
  type MessageRef,
} from "../../src/model/message.ts";
import type { PhoneMessage } from "../../src/model/phone.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import type { NewAccount } from "../../src/store/records.ts";
import { UNOWNED, type Acceptance, type Position, type Store, type StoredMessage } from "../../src/store/store.ts";
import type { TransitionResult } from "../../src/store/transition.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { openStore, type EngineName, type OpenStore } from "../support/engines.ts";
import { transitionAll, type TransitionFields } from "../support/transitions.ts";
import { deleteExpired } from "../support/sweeps.ts";

const STATES = CUSTOMER_STATUSES.flatMap(statesShownAs);
const NODE = 1;

/** Moves of which none may fail. */
async function moveAll(store: Store, batch: readonly TransitionFields[]): Promise<TransitionResult[]> {
  const results = await transitionAll(store, batch);
  return results.map((result) => {
    if (result instanceof Error) throw result;
    return result;
  });
}

/** Without `allCases`, tests that compare two ways to write the same row try one state of it. */
export function storeSuite(engine: EngineName, { allCases = true } = {}): void {
  let opened: OpenStore;
  let store: Store;

  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  /** Stores one request and gives the refs of its messages. */
  async function stored(changes: Parameters<typeof acceptance>[0] = {}): Promise<[MessageRef, ...MessageRef[]]> {
    const item = acceptance(changes);
    expect(await store.accept([item])).toEqual([{ kind: "stored" }]);
    return refsOf(item) as [MessageRef, ...MessageRef[]];
  }

  const found = async (ref: MessageRef): Promise<StoredMessage> => {
    const message = await store.findMessage(ref);
    if (!message) throw new Error("the message is not there");
    return message;
  };

  const moveOne = async (ref: MessageRef, change: Partial<TransitionFields> & Pick<TransitionFields, "to">) => {
    const [result] = await moveAll(store, [{ ...ref, at: NOON, owner: NODE, ...change }]);
    if (!result) throw new Error("there is no result");
    return result;
  };

  const countOf = async (table: string): Promise<number> => {
    const [row] = (await opened.execute(`select count(*) as amount from ${table}`)) as { amount: number | string }[];
    return Number(row?.amount);
  };

  const allMessages = async (accountId: number): Promise<StoredMessage[]> =>
    (await store.listMessages(accountId, {}, null, 1000)).rows;

  describe("accept", () => {
    it("accept numbers recipients in the order of the request", async () => {
      const to = Array.from({ length: 50 }, (_, index) => `336000000${10 + index}`);
      const refs = await stored({ to });
      const messages = await Promise.all(refs.map(found));
      expect(messages.map(({ n, recipient }) => [n, recipient])).toEqual(
        to.map((number, index) => [index + 1, number]),
      );
    });

    it("accept stores recipients that differ only by number like each of them alone", async () => {
      const kinds: Parameters<typeof acceptance>[0][] = [
        {},
        { timeline: "judged\n", routeClass: "PROMO", campaignName: "spring", test: true, metered: true },
        { dueAt: NOON + 5, timeline: "held\n" },
        { carrier: "1/north", channel: "rcs", segments: 3, each: { credits: 7 } },
      ];
      const to = ["33600000001", "33600000002", "33600000003"];
      const rowsOf = async ({ message: { requestId } }: Acceptance): Promise<object[]> =>
        (await opened.execute(`select * from messages where request_id = '${requestId}' order by n`)) as object[];
      await opened.execute("insert into balances (account_id, balance, held) values (1, 1000, 0)");
      for (const kind of kinds) {
        const together = acceptance({ ...kind, to });
        const apart = to.map((number) => acceptance({ ...kind, to: [number] }));
        await store.accept([together, ...apart]);
        const alike = await rowsOf(together);
        const alone = (await Promise.all(apart.map(rowsOf))).flat();
        expect(alike).toHaveLength(to.length);
        const request = { request_id: together.message.requestId };
        expect(alike).toEqual(alone.map((row, index) => ({ ...row, ...request, n: index + 1 })));
      }
    });

    it("accept stores all fields unchanged", async () => {
      const item = acceptance({
        test: true,
        campaignName: "spring",
        routeClass: "OTP",
        dueAt: NOON + 5,
        sender: "Ü\"'\\,{}",
      });
      await store.accept([item]);
      expect(await store.findMessage({ ...item.message, n: 1 })).toEqual({
        ...item.message,
        n: 1,
        recipient: "33612345678",
        cost: 1,
        credits: 1,
        tried: [],
        timeline: null,
        state: "scheduled",
        attempts: 0,
        repeats: 0,
        carrier: null,
        errorCode: null,
        description: null,
        submittedAt: null,
        doneAt: null,
      });
    });

    it("accept stores a refused recipient as rejected and unowned beside the others", async () => {
      const item = acceptance({ to: ["33600000001", "12", "33600000003"] });
      item.recipients = item.recipients.map((recipient, index) => ({
        ...recipient,
        failure: index === 1 ? "INVALID_RECIPIENT" : null,
      }));
      await store.accept([item]);
      const messages = await Promise.all(refsOf(item).map(found));
      expect(messages.map(({ state }) => state)).toEqual(["accepted", "rejected", "accepted"]);
      expect(messages[1]).toMatchObject({
        errorCode: "INVALID_RECIPIENT",
        description: "The number is not an international phone number.",
        doneAt: NOON,
      });
      expect(await store.countWaiting()).toBe(2);
      expect(await opened.execute("select owner from messages order by n")).toEqual([
        { owner: 1 },
        { owner: UNOWNED },
        { owner: 1 },
      ]);
    });

    it("accept stores a directly dispatched message with its intent: in doubt, with one attempt", async () => {
      const [first, second] = [
        acceptance({ carrier: "1/north", timeline: "off\n" }),
        acceptance({ createdAt: NOON + 1 }),
      ];
      await store.accept([first, second]);
      const tried = { state: "submitting", carrier: "1/north", attempts: 1, submittedAt: null, timeline: "off\n" };
      expect(await Promise.all([first, second].flatMap(refsOf).map(found))).toMatchObject([
        tried,
        { state: "accepted", carrier: null, attempts: 0 },
      ]);
      const claim = { node: 2, from: 1, routeClass: "TRANS", dueBy: NOON + 9, limit: 9 } as const;
      expect((await store.claim(claim)).map(({ state, carrier }) => ({ state, carrier }))).toEqual([
        { state: "submitting", carrier: "1/north" },
        { state: "accepted", carrier: null },
      ]);
    });

    it("accept dispatches no message directly that is not due or refused", async () => {
      const item = acceptance({ carrier: "1/north", to: ["33600000001", "12", "33600000003"] });
      const [first, failed, held] = item.recipients;
      if (!first || !failed || !held) throw new Error("three recipients");
      item.recipients = [first, { ...failed, failure: "INVALID_RECIPIENT" }, { ...held, dueAt: NOON + 60_000 }];
      await store.accept([item]);
      const messages = await Promise.all(refsOf(item).map(found));
      expect(messages.map(({ state, carrier, attempts }) => ({ state, carrier, attempts }))).toEqual([
        { state: "submitting", carrier: "1/north", attempts: 1 },
        { state: "rejected", carrier: null, attempts: 0 },
        { state: "scheduled", carrier: null, attempts: 0 },
      ]);
    });

    it("accept stores a batch and returns results in its order", async () => {
      const batch = Array.from({ length: 40 }, (_, index) =>
        acceptance({ to: Array.from({ length: (index % 3) + 1 }, () => `3361${index}`) }),
      );
      expect(await store.accept(batch)).toEqual(batch.map(() => ({ kind: "stored" })));
      const messages = await Promise.all(batch.flatMap(refsOf).map(found));
      expect(messages.map(({ recipient }) => recipient)).toEqual(
        batch.flatMap((item) => item.recipients.map(({ number }) => number)),
      );
    });

    it("accept of an empty batch returns nothing", async () => {
      expect(await store.accept([])).toEqual([]);
    });

    it("accept replays a used idempotency key and stores nothing", async () => {
      await stored({ idempotency: keyed("a", "hash one", "first") });
      const again = acceptance({ idempotency: keyed("a", "hash one", "second") });
      expect(await store.accept([again])).toEqual([{ kind: "replayed", bodyHash: "hash one", response: "first" }]);
      expect(await countOf("messages")).toBe(1);
    });

    it("accept returns the hash stored with a key, to detect another body", async () => {
      await stored({ idempotency: keyed("a", "hash one", "first") });
      const [result] = await store.accept([acceptance({ idempotency: keyed("a", "hash two", "second") })]);
      expect(result).toMatchObject({ kind: "replayed", bodyHash: "hash one" });
    });

    it("accept replays and stores within one batch, each result in its place", async () => {
      await stored({ idempotency: keyed("a", "h", "first") });
      const batch = [
        acceptance({ idempotency: keyed("b", "h", "of b") }),
        acceptance({ idempotency: keyed("a", "h", "second") }),
        acceptance(),
        acceptance({ idempotency: keyed("b", "h", "of b again") }),
        acceptance({ idempotency: keyed("b", "h", "of b once more") }),
      ];
      expect(await store.accept(batch)).toEqual([
        { kind: "stored" },
        { kind: "replayed", bodyHash: "h", response: "first" },
        { kind: "stored" },
        { kind: "replayed", bodyHash: "h", response: "of b" },
        { kind: "replayed", bodyHash: "h", response: "of b" },
      ]);
      expect(await countOf("messages")).toBe(3);
    });

    it("accept separates idempotency keys by account and path", async () => {
      const batch = [
        acceptance({ idempotency: keyed("a") }),
        acceptance({ accountId: 2, idempotency: keyed("a") }),
        acceptance({ idempotency: { ...keyed("a"), path: "/v1/rcs" } }),
      ];
      expect(await store.accept(batch)).toEqual(batch.map(() => ({ kind: "stored" })));
    });

    it("accept fails a bad request alone and completely, and stores the rest of its batch", async () => {
      const [taken] = await stored();
      const batch = Array.from({ length: 9 }, (_, index) => acceptance({ idempotency: keyed(`key ${index}`) }));
      batch[5] = acceptance({
        requestId: taken.requestId,
        to: ["33600000001", "33600000002"],
        idempotency: keyed("key 5"),
      });
      const results = await store.accept(batch);
      expect(results[5]).toBeInstanceOf(Error);
      expect(results.filter((result) => !(result instanceof Error))).toEqual(
        Array.from({ length: 8 }, () => ({ kind: "stored" })),
      );
      expect(await countOf("messages")).toBe(9);
      expect(await store.accept([acceptance({ idempotency: keyed("key 5") })])).toEqual([{ kind: "stored" }]);
    });

    it("accept fails a bad request alone in its batch in the same way", async () => {
      const [taken] = await stored();
      expect(await store.accept([acceptance({ requestId: taken.requestId })])).toEqual([expect.any(Error)]);
    });

    it("accept stores one of many concurrent requests with the same key and replays the others", async () => {
      const batches = Array.from({ length: 20 }, (_, index) => [
        acceptance({ idempotency: keyed("a", "h", `answer ${index}`) }),
      ]);
      const results = (await Promise.all(batches.map((batch) => store.accept(batch)))).flat();
      expect(results.filter((result) => !(result instanceof Error) && result.kind === "stored")).toHaveLength(1);
      expect(await countOf("messages")).toBe(1);
      const [first] = await store.accept([acceptance({ idempotency: keyed("a") })]);
      const winner = results.findIndex((result) => !(result instanceof Error) && result.kind === "stored");
      expect(first).toEqual({ kind: "replayed", bodyHash: "h", response: `answer ${winner}` });
    });

    it.each([
      ["commit", { kind: "replayed", bodyHash: "theirs", response: "their answer" }, 0],
      ["rollback", { kind: "stored" }, 1],
    ])("accept waits for a concurrent request with the same key, and follows its %s", async (end, result, messages) => {
      await opened.execute("begin");
      await opened.execute(`insert into idempotency (account_id, path, key, body_hash, response, created_at)
        values (1, '/v1/sms', 'a', 'theirs', 'their answer', 0)`);
      const accepting = store.accept([acceptance({ idempotency: keyed("a") })]);
      await opened.untilBlocked();
      await opened.execute(end);
      expect(await accepting).toEqual([result]);
      expect(await countOf("messages")).toBe(messages);
    });

    it("accept survives batches that lock the same keys in opposite orders", async () => {
      const keys = Array.from({ length: 30 }, (_, index) => `key ${index}`);
      const batchOf = (names: string[]) => names.map((name) => acceptance({ idempotency: keyed(name) }));
      await Promise.all([store.accept(batchOf(keys)), store.accept(batchOf(keys.toReversed()))]);
      expect(await countOf("messages")).toBe(30);
    });

    it("accept stores or fails a NUL character, which PostgreSQL cannot store, without harm to others", async () => {
      const results = await store.accept([acceptance(), acceptance({ sender: "A\u0000B" }), acceptance()]);
      expect(results.map((result) => (result instanceof Error ? "failed" : result.kind))).toEqual([
        "stored",
        engine === "postgres" ? "failed" : "stored",
        "stored",
      ]);
    });
  });

  describe("transition", () => {
    it("a transition that cannot be written fails for its caller only", async () => {
      const [[first], [second], [third]] = [await stored({}), await stored({}), await stored({})];
      const move = (ref: MessageRef, description: string): TransitionFields => ({
        ...ref,
        to: "rejected",
        at: NOON,
        owner: UNOWNED,
        description,
      });
      // PostgreSQL takes no NUL in a text, SQLite no object in the place of one.
      const bad = { ...move(second, "\0"), errorCode: {} as unknown as string };
      const results = await transitionAll(store, [move(first, "a"), bad, move(third, "c")]);
      expect(results).toMatchObject([{ moved: true }, expect.any(Error), { moved: true }]);
    });

    it("transition makes every legal change of state and refuses every illegal one", async () => {
      const pairs = STATES.flatMap((from) => STATES.map((to) => ({ from, to })));
      const refs = await stored({ to: pairs.map((_, index) => `33600${index}`) });
      for (const [index, { from }] of pairs.entries()) {
        await opened.execute(`update messages set state = '${from}' where n = ${index + 1}`);
      }
      const results = await moveAll(
        store,
        pairs.map(({ to }, index) => ({ ...at(refs, index), to, at: NOON + 7, owner: 2 })),
      );
      expect(pairs.map((pair, index) => ({ ...pair, moved: results[index]?.moved }))).toEqual(
        pairs.map((pair) => ({ ...pair, moved: mayTransition(pair.from, pair.to) })),
      );
      for (const [index, { from, to }] of pairs.entries()) {
        const message = await found(at(refs, index));
        expect(message.state).toBe(mayTransition(from, to) ? stateAfter(from, to) : from);
        expect(message.doneAt).toBe(mayTransition(from, to) && reachesFinal(to) ? NOON + 7 : null);
        expect(message.submittedAt).toBe(mayTransition(from, to) && provesSubmit(to) ? NOON + 7 : null);
      }
    });

    it("a submitted transition has the same result with and without the expected row", async () => {
      const rows = [
        "trail = 'before '",
        "trail = null",
        `trail = '${"x".repeat(17_000)}'`,
        `trail = 'before ', submitted_at = ${NOON - 5}`,
        "trail = 'before ', charge = 1, error_code = '7', description = 'busy'",
        "trail = 'before ', channel = 'rcs'",
        "trail = 'before ', carrier = 'south'",
        "trail = 'before ', carrier = null",
      ];
      const states = allCases ? STATES : (["submitting"] as const);
      const cases = states.flatMap((from) =>
        [...rows, "trail = 'planned '"].map((row) => ({
          row: `state = '${from}', ${row.includes("carrier") ? "" : "carrier = 'north', "}${row}`,
          plan: row.includes("planned") ? { failoverAt: NOON + 9 } : {},
        })),
      );
      const refs = await stored({ to: cases.flatMap((_, index) => [`33600${index}`, `33600${index}`]) });
      let moves = 0;
      for (const [index, { row, plan }] of cases.entries()) {
        const two = [at(refs, 2 * index), at(refs, 2 * index + 1)] as const;
        await opened.execute(`update messages set ${row} where n in (${two[0].n}, ${two[1].n})`);
        const taken = { to: "submitted", at: NOON + 7, owner: UNOWNED, carrier: "north", timeline: "after" } as const;
        const known = { channel: "sms", routeClass: "TRANS", recipient: `33600${index}`, campaignName: null } as const;
        const change = { ...taken, carriedBy: "north", channelIs: "sms", timelineAlways: true, ...plan } as const;
        const lookedAt = await moveOne(two[0], { ...change, carrierMessageId: `id ${two[0].n}` });
        expect(await moveOne(two[1], { ...change, carrierMessageId: `id ${two[1].n}`, expected: known })).toEqual(
          lookedAt,
        );
        moves += lookedAt.moved ? 1 : 0;
      }
      const written = (await opened.execute("select * from messages order by n")) as { n: number }[];
      for (const index of cases.keys())
        expect({ ...at(written, 2 * index + 1), n: 0 }).toEqual({ ...at(written, 2 * index), n: 0 });
      expect(await countOf("submissions")).toBe(refs.length);
      expect(moves).toBeGreaterThan(allCases ? rows.length : 0);
    });

    it.each([
      "messages of their own ids",
      "an id that is used twice",
      "a message that is there twice",
      "a message that has moved on",
      "a message that cannot be written",
      "receipts that came first, one of them for somebody else",
      "words that are erased",
      "words that are erased, and an id that is used twice",
      "words that are erased, and another channel",
    ])(
      "a batch of submitted transitions with %s has the same result with and without the expected rows",
      async (kind) => {
        const told: string[] = [];
        const erased = { channel: "sms", sender: "OTHER", content: ERASED, segments: 2 } as const;
        for (const carrier of ["looked at", "known"]) {
          const refs = await stored({ to: ["33600000001", "33600000002", "33600000003"], timeline: "judged\n" });
          await moveAll(
            store,
            refs.map((ref) => ({ ...ref, to: "submitting", at: NOON, owner: NODE, carrier })),
          );
          if (kind.includes("moved on")) await moveOne(at(refs, 1), { to: "delivered" });
          const early = ["33600000001", "33600000009"].map((recipient, index) => ({
            ...receipt(`${index}`),
            carrier,
            recipient,
          }));
          if (kind.includes("came first")) await store.storeUnmatched(early, NOON);
          const all = kind.includes("there twice") ? [...refs, at(refs, 0)] : refs;
          const results = await transitionAll(
            store,
            all.map((ref, index): TransitionFields => ({
              ...ref,
              to: "submitted",
              at: NOON + 7,
              owner: UNOWNED,
              carrier,
              carriedBy: carrier,
              channelIs: "sms",
              carrierMessageId: kind.includes("used twice")
                ? "same"
                : kind.includes("cannot") && index === 1
                  ? "\0"
                  : `${index}`,
              timeline: "taken\n",
              timelineAlways: true,
              ...(kind.includes("erased")
                ? { becomes: kind.includes("channel") ? { ...erased, channel: "rcs" } : erased }
                : {}),
              ...(carrier === "known"
                ? {
                    expected: {
                      channel: "sms",
                      routeClass: "TRANS",
                      recipient: `3360000000${ref.n}`,
                      campaignName: null,
                    },
                  }
                : {}),
            })),
          );
          const [{ requestId }] = refs;
          const messages = await opened.execute(`select * from messages where request_id = '${requestId}' order by n`);
          const submissions = await opened.execute(
            `select * from submissions where request_id = '${requestId}' order by carrier_message_id`,
          );
          const failures = results.map((result) => (result instanceof Error ? "failed" : result));
          told.push(
            JSON.stringify([failures, messages, submissions])
              .replaceAll(carrier, "north")
              .replaceAll(requestId, "request")
              .replaceAll(/"id":\d+/g, '"id":1'),
          );
        }
        expect(told[1]).toBe(told[0]);
        expect(told[0]).toContain('"moved":true');
      },
    );

    it("transition ends the failover plan made in the same batch, and no other message's", async () => {
      const [[first], [second]] = [await stored({}), await stored({})];
      for (const ref of [first, second]) await moveOne(ref, { to: "submitting", carrier: "north" });
      const taken = { to: "submitted", at: NOON, owner: UNOWNED, carrier: "north", failoverAt: NOON + 1 } as const;
      const results = await moveAll(store, [
        { ...first, ...taken, carrierMessageId: "1" },
        { ...second, ...taken, carrierMessageId: "2" },
        { ...first, to: "unknown", at: NOON, owner: UNOWNED, failoverAt: null },
      ]);
      expect(results.map(({ moved }) => moved)).toEqual([true, true, true]);
      expect(await store.listFailovers(NOON + 1, 10)).toMatchObject([second]);
    });

    it("transition changes nothing for a missing message or one of another account", async () => {
      const [ref] = await stored();
      expect((await moveOne({ ...ref, n: 2 }, { to: "submitting" })).moved).toBe(false);
      expect((await moveOne({ ...ref, accountId: 2 }, { to: "submitting" })).moved).toBe(false);
      expect((await found(ref)).state).toBe("accepted");
    });

    it("transition of an empty batch returns nothing", async () => {
      expect(await moveAll(store, [])).toEqual([]);
    });

    // PostgreSQL takes no NUL in a text, SQLite no object in the place of one.
    const unwritable = engine === "postgres" ? "\0" : ({} as unknown as string);
    const recipientOf = (n: number): string => `3361234000${n - 1}`;
    const nineRecipients = () =>
      acceptance({ to: Array.from({ length: 9 }, (_, index) => recipientOf(index + 1)), timeline: "judged\n" });
    const intentOf = (ref: MessageRef): TransitionFields => ({
      ...ref,
      to: "submitting",
      at: NOON + 3,
      owner: 1,
      ownedBy: 1,
      carrier: "1/north",
      attempt: true,
      timeline: "tried\n",
      expected: { channel: "sms", routeClass: "TRANS", recipient: recipientOf(ref.n), campaignName: null },
    });

    it("transition writes the intents of one request together, and changes no neighbours", async () => {
      const item = nineRecipients();
      await store.accept([item, nineRecipients()]);
      const refs = refsOf(item);
      const results = await transitionAll(store, refs.slice(2, 7).map(intentOf));
      expect(results).toEqual(
        [3, 4, 5, 6, 7].map((n) => ({
          moved: true,
          message: { channel: "sms", routeClass: "TRANS", recipient: recipientOf(n), taken: false },
          unmatched: [],
          callbacks: [],
        })),
      );
      const messages = await Promise.all(refs.map(found));
      expect(messages.map(({ state, attempts }) => `${state} ${attempts}`)).toEqual([
        "accepted 0", "accepted 0", "submitting 1", "submitting 1", "submitting 1", "submitting 1", "submitting 1",
        "accepted 0", "accepted 0",
      ]); // prettier-ignore
      expect(messages[2]).toMatchObject({ carrier: "1/north", timeline: "judged\ntried\n", submittedAt: null });
    });

    it("transition writes runs of intents beside other transitions, with each result in its place even if one fails", async () => {
      const item = nineRecipients();
      await store.accept([item]);
      const [stranger] = await stored({});
      const intents = refsOf(item).map(intentOf);
      const bad = { ...intents[3], timeline: unwritable } as TransitionFields;
      const later = { ...intents[7], timeline: "later\n" } as TransitionFields;
      const batch = [intentOf(stranger), ...intents.slice(0, 3), bad, ...intents.slice(4, 7), later];
      const results = await transitionAll(store, batch);
      const told = results.map((result) => (result instanceof Error ? "failed" : result.message?.recipient));
      expect(told).toEqual([
        expect.stringMatching(/^\d+$/),
        ...[1, 2, 3].map(recipientOf),
        "failed",
        ...[5, 6, 7, 8].map(recipientOf),
      ]);
      const messages = await Promise.all(refsOf(item).map(found));
      expect(messages.map(({ state, attempts, timeline }) => `${state} ${attempts} ${timeline?.split("\n")[1] ?? ""}`)).toEqual([
        "submitting 1 tried", "submitting 1 tried", "submitting 1 tried", "accepted 0 ", "submitting 1 tried",
        "submitting 1 tried", "submitting 1 tried", "submitting 1 later", "accepted 0 ",
      ]); // prettier-ignore
    });

    it.each([
      ["all can be written", 9],
      ["one of them cannot", 8],
    ] as const)("finds messages by the ids under which carriers took them together, where %s", async (_, count) => {
      const item = nineRecipients();
      await store.accept([item]);
      const [stranger] = await stored({ timeline: "judged\n" });
      const refs = [...refsOf(item).slice(0, 8), stranger];
      const names = ["1/north", "1/south", "1/north"];
      await transitionAll(
        store,
        refs.map((ref, index) => ({ ...intentOf(ref), carrier: names[index % names.length] ?? "" })),
      );
      const ids = ["a", 'q"uo\\te', "über €", "a b", "0001", "1e3", "used", "1-2", "used"];
      const takings = refs
        .map((ref, index): TransitionFields => ({
          ...intentOf(ref),
          to: "submitted",
          owner: UNOWNED,
          carrier: names[index % names.length] ?? "",
          carrierMessageId: ids[index] ?? "",
          timeline: "taken\n",
          timelineAlways: true,
        }))
        .map(({ ownedBy: _owner, attempt: _attempt, ...taking }) => taking);
      const bad = { timeline: unwritable };
      const results = await transitionAll(
        store,
        takings.map((taking, index) => (index === count ? { ...taking, ...bad } : taking)),
      );
      expect(results.map((result) => !(result instanceof Error) && result.moved)).toEqual(
        refs.map((_ref, index) => index !== count),
      );
      const receipts = takings.map(({ carrier = "" }, index) => ({ ...receipt(ids[index] ?? ""), carrier }));
      const last = count === 9 ? stranger : refs[6];
      expect(await store.findSubmissions(receipts)).toEqual([...refs.slice(0, 6), last, refs[7], last]);
    });

    it("transition writes the possible intents of a run, and none for messages that moved or have another owner", async () => {
      const item = nineRecipients();
      await store.accept([item]);
      const refs = refsOf(item);
      const ended: TransitionFields = { ...refs[3], to: "cancelled", at: NOON + 1, owner: UNOWNED } as TransitionFields;
      const lost: TransitionFields = { ...refs[5], to: "accepted", at: NOON + 1, owner: 2 } as TransitionFields;
      await transitionAll(store, [ended, lost]);
      // Out of order, twice and of another request: whatever is no run of neighbours is made one by one.
      const [stranger] = await stored({});
      const order = [...refs.slice(1), refs[0], refs[0], stranger].filter((ref) => ref !== undefined);
      const results = await transitionAll(store, order.map(intentOf));
      expect(results.map((result) => !(result instanceof Error) && result.moved)).toEqual([
        true, true, false, true, false, true, true, true, true, true, true,
      ]); // prettier-ignore
      expect(results[0]).toEqual({
        moved: true,
        message: { channel: "sms", routeClass: "TRANS", recipient: "33612340001", taken: false },
        unmatched: [],
        callbacks: [],
      });
      const messages = await Promise.all(refs.map(found));
      expect(messages.map(({ state, attempts }) => `${state} ${attempts}`)).toEqual([
        "submitting 2", "submitting 1", "submitting 1", "cancelled 0", "submitting 1", "accepted 0", "submitting 1",
        "submitting 1", "submitting 1",
      ]); // prettier-ignore
      expect(messages[1]).toMatchObject({ carrier: "1/north", timeline: "judged\ntried\n", submittedAt: null });
      expect(messages[5]).toMatchObject({ carrier: null, timeline: "judged\n" });
    });

    it("transition writes the possible intents and everything written with them once", async () => {
      const item = nineRecipients();
      const beside = acceptance({ to: ["33600000001"] });
      const [stranger] = await stored({});
      await store.accept([item]);
      const refs = refsOf(item);
      await transitionAll(store, [{ ...refs[3], to: "cancelled", at: NOON + 1, owner: UNOWNED } as TransitionFields]);
      const [accepted, moved, intended] = await Promise.all([
        store.accept([beside]),
        transitionAll(store, [{ ...stranger, to: "accepted", at: NOON + 1, owner: UNOWNED, timeline: "once\n" }]),
        transitionAll(store, refs.map(intentOf)),
      ]);
      expect(accepted).toEqual([{ kind: "stored" }]);
      expect(moved).toMatchObject([{ moved: true }]);
      expect(intended.map((result) => !(result instanceof Error) && result.moved)).toEqual([
        true, true, true, false, true, true, true, true, true,
      ]); // prettier-ignore
      expect((await found(stranger)).timeline).toBe("once\n");
      expect(await found(refsOf(beside)[0] as MessageRef)).toMatchObject({ state: "accepted" });
      const attempts = (await Promise.all(refs.map(found))).map((message) => message.attempts);
      expect(attempts).toEqual([1, 1, 1, 0, 1, 1, 1, 1, 1]);
    });

    it("transition with an owner changes only messages that the node still owns", async () => {
      const [ref] = await stored({ owner: 4 });
      expect((await moveOne(ref, { to: "submitting", ownedBy: 3, owner: 3 })).moved).toBe(false);
      expect((await moveOne(ref, { to: "submitting", ownedBy: 4, owner: 5 })).moved).toBe(true);
      expect((await moveOne(ref, { to: "submitting", ownedBy: 4, owner: 4 })).moved).toBe(false);
      expect((await moveOne(ref, { to: "submitting", ownedBy: 5, owner: 5 })).moved).toBe(true);
    });

    it("transition counts attempts, and keeps times, carrier and reason", async () => {
      const [ref] = await stored();
      await moveOne(ref, { to: "submitting", attempt: true, carrier: "north" });
      await moveOne(ref, { to: "accepted", dueAt: NOON + 500 });
      expect(await found(ref)).toMatchObject({ attempts: 1, carrier: "north", dueAt: NOON + 500, submittedAt: null });
      await moveOne(ref, { to: "submitting", attempt: true, carrier: "south" });
      await moveOne(ref, { to: "submitted", at: NOON + 600 });
      await moveOne(ref, { to: "expired", at: NOON + 700, errorCode: "E1", description: "gave up" });
      expect(await found(ref)).toMatchObject({
        attempts: 2,
        carrier: "south",
        dueAt: NOON + 500,
        submittedAt: NOON + 600,
        doneAt: NOON + 700,
        errorCode: "E1",
        description: "gave up",
      });
      await moveOne(ref, { to: "delivered", at: NOON + 800 });
      expect(await found(ref)).toMatchObject({
        submittedAt: NOON + 600,
        doneAt: NOON + 800,
        errorCode: null,
        description: null,
      });
    });

    it("transition applies several changes of one message in batch order", async () => {
      const [a, b] = (await stored({ to: ["33600000001", "33600000002"] })) as [MessageRef, MessageRef];
      const step = (ref: MessageRef, to: TransitionFields["to"]): TransitionFields => ({
        ...ref,
        to,
        at: NOON,
        owner: NODE,
      });
      const results = await moveAll(store, [
        step(a, "submitting"),
        step(b, "submitting"),
        step(a, "enroute"),
        step(a, "delivered"),
        step(b, "delivered"),
        step(a, "undelivered"),
        step(b, "enroute"),
      ]);
      expect(results.map(({ moved }) => moved)).toEqual([true, true, true, true, true, false, false]);
      expect([(await found(a)).state, (await found(b)).state]).toEqual(["delivered", "delivered"]);
    });

    it("of two contradictory receipts exactly one wins", async () => {
      const refs = await stored({ to: Array.from({ length: 25 }, (_, index) => `3360000${index}`) });
      await moveAll(
        store,
        refs.map((ref) => ({ ...ref, to: "submitting", at: NOON, owner: NODE })),
      );
      const report = (to: "delivered" | "undelivered", order: MessageRef[]) =>
        moveAll(
          store,
          order.map((ref) => ({ ...ref, to, at: NOON, owner: UNOWNED })),
        );
      const [good, bad] = await Promise.all([report("delivered", refs), report("undelivered", refs.toReversed())]);
      for (const [index, ref] of refs.entries()) {
        const wins = [good[index]?.moved, bad[refs.length - 1 - index]?.moved];
        expect(wins.filter((won) => won)).toHaveLength(1);
        expect((await found(ref)).state).toBe(wins[0] ? "delivered" : "undelivered");
      }
    });

    it("transition checks the state that a concurrent transition left", async () => {
      const [ref] = await stored();
      await moveOne(ref, { to: "submitting" });
      await opened.execute("begin");
      await opened.execute("update messages set state = 'enroute'");
      const moving = moveOne(ref, { to: "delivered" });
      await opened.untilBlocked();
      await opened.execute("commit");
      expect((await moving).moved).toBe(true);
      expect((await found(ref)).state).toBe("delivered");
    });

    it("transition refuses a change that a concurrent transition made illegal", async () => {
      const [ref] = await stored();
      await moveOne(ref, { to: "submitting" });
      await opened.execute("begin");
      await opened.execute("update messages set state = 'undelivered'");
      const moving = moveOne(ref, { to: "delivered" });
      await opened.untilBlocked();
      await opened.execute("commit");
      expect((await moving).moved).toBe(false);
      expect((await found(ref)).state).toBe("undelivered");
    });
  });

  describe("submissions and receipts", () => {
    it("a carrier's id finds its message once the submit is stored, and other ids find nothing", async () => {
      const [ref] = await stored();
      await moveOne(ref, { to: "submitting" });
      await moveOne(ref, { to: "submitted", carrier: "north", carrierMessageId: "N1" });
      const asked = [
        { carrier: "north", carrierMessageId: "N2" },
        { carrier: "north", carrierMessageId: "N1" },
        { carrier: "south", carrierMessageId: "N1" },
        { carrier: "north", carrierMessageId: "N1" },
      ];
      expect(await store.findSubmissions(asked)).toEqual([null, ref, null, ref]);
      expect(await store.findSubmissions([])).toEqual([]);
    });

    it("a reused carrier id belongs to the newest message", async () => {
      const [a, b] = (await stored({ to: ["33600000001", "33600000002"] })) as [MessageRef, MessageRef];
      const taken = { to: "submitting", carrier: "north", carrierMessageId: "N1" } as const;
      await moveOne(a, taken);
      await moveOne(b, taken);
      expect(await store.findSubmissions([receipt("N1")])).toEqual([b]);
    });

    it("a carrier id used twice in a batch belongs to one message", async () => {
      const [a, b] = (await stored({ to: ["33600000001", "33600000002"] })) as [MessageRef, MessageRef];
      const taken = { to: "submitting", at: NOON, owner: UNOWNED, carrier: "north", carrierMessageId: "N1" } as const;
      await moveAll(store, [
        { ...a, ...taken },
        { ...b, ...taken },
      ]);
      expect(await store.findSubmissions([receipt("N1")])).toEqual([b]);
    });

    it("a submit is stored even if a receipt has overtaken it", async () => {
      const [ref] = await stored();
      await moveOne(ref, { to: "submitting" });
      await moveOne(ref, { to: "delivered" });
      const { moved } = await moveOne(ref, { to: "submitted", carrier: "north", carrierMessageId: "N1" });
      expect(moved).toBe(false);
      expect(await store.findSubmissions([receipt("N1")])).toEqual([ref]);
    });

    it.each([
      ["", {}],
      [
        " of which its sender knows everything",
        { expected: { channel: "sms", routeClass: "TRANS", recipient: "33612345678", campaignName: null } },
      ],
    ] as const)("parks a receipt that came first and hands it over with the submit%s", async (_, known) => {
      const [ref] = await stored({ timeline: "judged\n" });
      await moveOne(ref, { to: "submitting", carrier: "north" });
      const early = [
        receipt("N1", "enroute"),
        { ...receipt("N1"), errorCode: "000", description: "ok", at: NOON + 9 },
        receipt("N2"),
      ];
      expect(await store.storeUnmatched(early, NOON)).toEqual([null, null, null]);
      expect(await store.listMatchable(10)).toEqual([]);
      const taken = {
        to: "submitted",
        carrier: "north",
        carrierMessageId: "N1",
        timeline: "taken\n",
        ...known,
      } as const;
      const { moved, unmatched: parked } = await moveOne(ref, taken);
      expect(moved).toBe(true);
      expect(parked.map((entry) => entry.receipt)).toEqual(early.slice(0, 2));
      expect(await store.listMatchable(10)).toEqual(parked.map((entry) => ({ ...entry, ref })));
      expect(await store.listMatchable(1)).toHaveLength(1);
    });

    it("storeUnmatched returns the message instead of storing if the submit is known", async () => {
      const [ref] = await stored();
      await moveOne(ref, { to: "submitting", carrier: "north", carrierMessageId: "N1" });
      expect(await store.storeUnmatched([receipt("N2"), receipt("N1")], NOON)).toEqual([null, ref]);
      expect(await countOf("parked_receipts")).toBe(1);
    });

    it("storeUnmatched stores a repeated receipt once", async () => {
      expect(await store.storeUnmatched([receipt("N1"), receipt("N1")], NOON)).toEqual([null, null]);
      await store.storeUnmatched([receipt("N1"), receipt("N1", "enroute")], NOON);
      expect(await countOf("parked_receipts")).toBe(2);
    });

    it("an applied receipt is removed, whether or not its transition was legal", async () => {
      const [ref] = await stored();
      await store.storeUnmatched([receipt("N1", "enroute"), receipt("N1")], NOON);
      await moveOne(ref, { to: "submitting" });
      const { unmatched: parked } = await moveOne(ref, { to: "submitted", carrier: "north", carrierMessageId: "N1" });
      const [enroute, delivered] = parked.map(({ id }) => id) as [number, number];
      const results = await moveAll(store, [
        { ...ref, to: "delivered", at: NOON, owner: UNOWNED, settles: delivered },
        { ...ref, to: "enroute", at: NOON, owner: UNOWNED, settles: enroute },
      ]);
      expect(results.map(({ moved }) => moved)).toEqual([true, false]);
      expect(await countOf("parked_receipts")).toBe(0);
    });
  });

  describe("claim, release and leave", () => {
    const claiming = { node: 9, from: UNOWNED, routeClass: "TRANS", dueBy: NOON, limit: 100 } as const;

    it("claim takes the oldest due rows first, up to the limit", async () => {
      const dues = [NOON - 10, NOON - 40, NOON - 20, NOON + 1, NOON - 30, NOON];
      await store.accept(dues.map((dueAt) => acceptance({ owner: UNOWNED, dueAt })));
      const claims = [
        await store.claim({ ...claiming, limit: 3 }),
        await store.claim(claiming),
        await store.claim(claiming),
      ];
      expect(claims.map((messages) => messages.map(({ dueAt }) => dueAt - NOON))).toEqual([
        [-40, -30, -20],
        [-10, 0],
        [],
      ]);
    });

    it("claim takes only rows of its class and of the given owner", async () => {
      await store.accept([
        acceptance({ owner: UNOWNED, routeClass: "OTP", sender: "otp" }),
        acceptance({ owner: UNOWNED, routeClass: "PROMO", sender: "promo" }),
        acceptance({ owner: UNOWNED, sender: "free" }),
        acceptance({ owner: 3, sender: "of three" }),
      ]);
      const senders = async (change: object) =>
        (await store.claim({ ...claiming, ...change })).map(({ sender }) => sender);
      expect(await senders({})).toEqual(["free"]);
      expect(await senders({ from: 3 })).toEqual(["of three"]);
      expect(await senders({ routeClass: "OTP" })).toEqual(["otp"]);
      expect(await senders({ from: 9, node: 8 })).toEqual(expect.arrayContaining(["free", "of three"]));
    });

    it("claim takes only messages that wait to be sent", async () => {
      const refs = await stored({ owner: UNOWNED, to: STATES.map((_, index) => `3360${index}`) });
      for (const [index, state] of STATES.entries())
        await opened.execute(`update messages set state = '${state}' where n = ${index + 1}`);
      const claimed = await store.claim(claiming);
      expect(claimed.map(({ state }) => state).toSorted()).toEqual(["accepted", "scheduled", "submitting"]);
      expect(await store.countWaiting()).toBe(3);
      expect(refs).toHaveLength(STATES.length);
    });

    it("claim never gives a row to two claimers", async () => {
      await store.accept(Array.from({ length: 300 }, () => acceptance({ owner: UNOWNED })));
      const take = async (node: number): Promise<string[]> => {
        const mine: string[] = [];
        for (;;) {
          const messages = await store.claim({ ...claiming, node, limit: 7 });
          if (messages.length === 0) return mine;
          mine.push(...messages.map(({ requestId }) => requestId));
        }
      };
      const taken = (await Promise.all([take(11), take(12), take(13), take(14)])).flat();
      expect(taken).toHaveLength(300);
      expect(new Set(taken).size).toBe(300);
    });

    it("release returns the rows of the given requests, and no others", async () => {
      const [mine] = await stored({ owner: 5, to: ["33600000001", "33600000002"], sender: "released" });
      const [other] = await stored({ owner: 6, sender: "of six" });
      await stored({ owner: 5, sender: "kept" });
      await store.release(5, [mine, other]);
      await store.release(5, []);
      expect((await store.claim(claiming)).map(({ sender }) => sender)).toEqual(["released", "released"]);
    });

    it("owned and due messages are listed in order and in pages, and those still owned are released", async () => {
      const dues = [NOON - 10, NOON - 40, NOON - 40, NOON - 40, NOON + 1];
      await store.accept(dues.map((dueAt) => acceptance({ owner: 5, createdAt: dueAt })));
      await store.accept([
        acceptance({ owner: 5, routeClass: "OTP" }),
        acceptance({ owner: 6 }),
        acceptance({ owner: UNOWNED }),
      ]);
      const [done] = await stored({ owner: 5 });
      await moveAll(store, [{ ...done, to: "rejected", at: NOON, owner: 5 }]);
      const wanted = { node: 5, routeClass: "TRANS", dueBy: NOON, limit: 2 } as const;
      const first = await store.listOwned({ ...wanted, after: null });
      const second = await store.listOwned({ ...wanted, after: first.at(-1) ?? null });
      expect(await store.listOwned({ ...wanted, after: second.at(-1) ?? null })).toEqual([]);
      const listed = [...first, ...second];
      expect(listed.map(({ dueAt }) => dueAt - NOON)).toEqual([-40, -40, -40, -10]);
      expect(new Set(listed.map(({ requestId }) => requestId)).size).toBe(4);
      expect(await store.releaseOwned(6, listed)).toBe(0);
      expect(await store.releaseOwned(5, [...first, { ...done, n: 1 }])).toBe(2);
      expect(await store.releaseOwned(5, first)).toBe(0);
      expect(await store.listOwned({ ...wanted, after: null })).toEqual(second);
    });

    it("leave releases the rows of a node at once", async () => {
      const node = await store.join({ alone: false });
      await stored({ owner: node });
      const [done] = await stored({ owner: node });
      await moveAll(store, [{ ...done, to: "rejected", at: NOON, owner: node }]);
      await store.leave(node);
      expect(await store.countNodes()).toBe(0);
      expect(await store.beat(node)).toBe(false);
      expect(await store.expireNodes(0)).toEqual([]);
      expect(await store.claim(claiming)).toHaveLength(1);
    });

    it("a node that has left stays among the dead: a late commit of it is claimed from it", async () => {
      const node = await store.join({ alone: false });
      await store.leave(node);
      await stored({ owner: node });
      expect(await store.expireNodes(30_000)).toEqual([node]);
      expect(await store.claim({ ...claiming, from: node })).toHaveLength(1);
    });
  });

  describe("nodes", () => {
    const silence = (node: number) => opened.execute(`update nodes set beat_at = beat_at - 60000 where id = ${node}`);

    it("join gives every process a new id", async () => {
      const ids = await Promise.all([1, 2, 3].map(() => store.join({ alone: false })));
      expect(new Set([...ids, UNOWNED]).size).toBe(4);
      expect(await store.countNodes()).toBe(3);
    });

    it("silent nodes are expired, and none with a recent heartbeat", async () => {
      const [a, b] = [await store.join({ alone: false }), await store.join({ alone: false })];
      await stored({ owner: a });
      await stored({ owner: b });
      await silence(a);
      await silence(b);
      expect(await store.beat(b)).toBe(true);
      expect(await store.expireNodes(30_000)).toEqual([a]);
      expect(await store.expireNodes(30_000)).toEqual([a]);
      expect([await store.beat(a), await store.beat(b)]).toEqual([false, true]);
      expect(await store.countNodes()).toBe(1);
    });

    it("a dead node is remembered as long as a message of it waits", async () => {
      const [empty, busy] = [await store.join({ alone: false }), await store.join({ alone: false })];
      await stored({ owner: busy });
      await opened.execute("update nodes set beat_at = beat_at - 200000000");
      expect(await store.expireNodes(30_000)).toEqual([busy]);
      expect(await store.beat(empty)).toBe(false);
    });

    it("a node that joins alone expires all others", async () => {
      const before = await store.join({ alone: false });
      await stored({ owner: before });
      const node = await store.join({ alone: true });
      expect(await store.expireNodes(30_000)).toEqual([before]);
      expect(await store.beat(node)).toBe(true);
    });

    it("nodes that send are ranked in the order in which they joined", async () => {
      const first = await store.join({ alone: false });
      await store.join({ alone: false, sends: false });
      const [second, third] = [await store.join({ alone: false }), await store.join({ alone: false, sends: true })];
      const places = () => Promise.all([first, second, third].map((node) => store.placeOf(node)));
      expect(await places()).toEqual([
        { count: 3, rank: 0 },
        { count: 3, rank: 1 },
        { count: 3, rank: 2 },
      ]);
      await silence(first);
      await store.expireNodes(30_000);
      expect((await places()).slice(1)).toEqual([
        { count: 2, rank: 0 },
        { count: 2, rank: 1 },
      ]);
      await store.leave(second);
      expect(await store.placeOf(third)).toEqual({ count: 1, rank: 0 });
    });

    it("a dead node without rows is not listed", async () => {
      const dead = await store.join({ alone: false });
      await silence(dead);
      expect(await store.expireNodes(30_000)).toEqual([]);
      await stored({ owner: dead });
      expect(await store.expireNodes(30_000), "a row that it committed late is found").toEqual([dead]);
    });
  });

  describe("accounts, users and keys", () => {
    it("an account is created with its owner, keys and phones in one transaction", async () => {
      const account = newAccount("acme");
      const before = await store.revision("records");
      const id = (await store.createAccount(account)) ?? 0;
      expect(await store.listAccounts()).toEqual([{ id, name: "acme", suspended: false, settings: DEFAULT_SETTINGS }]);
      expect(await store.findUser("acme@example.com")).toMatchObject({ ...account.owner, accountId: id });
      expect(await store.listKeys()).toEqual(account.keys.map((key) => ({ ...key, accountId: id })));
      expect((await store.listPhones(id, null, 10)).rows).toEqual([
        { accountId: id, number: "33600000001", name: "Ada", messageCount: 0, lastMessageAt: null },
      ]);
      expect(await store.revision("records")).toBeGreaterThan(before);
    });

    it("an account with a used name creates nothing", async () => {
      await store.createAccount(newAccount("acme"));
      const before = await store.revision("records");
      expect(await store.createAccount({ ...newAccount("acme"), owner: newAccount("other").owner })).toBeNull();
      expect(await store.findUser("other@example.com")).toBeNull();
      expect(await store.listKeys()).toHaveLength(1);
      expect(await store.revision("records")).toBe(before);
    });

    it("an account is created once by many concurrent requests", async () => {
      const ids = await Promise.all(Array.from({ length: 8 }, () => store.createAccount(newAccount("acme"))));
      expect(ids.filter((id) => id !== null)).toHaveLength(1);
      expect(await store.listAccounts()).toHaveLength(1);
    });

    it("an account whose owner's address is taken creates nothing", async () => {
      await store.createAccount(newAccount("acme"));
      const twin = { ...newAccount("twin"), owner: { ...newAccount("twin").owner, email: "acme@example.com" } };
      await expect(store.createAccount(twin)).rejects.toThrow("a user has the email address acme@example.com already");
      expect((await store.listAccounts()).map(({ name }) => name)).toEqual(["acme"]);
    });

    it("settings are kept, with defaults for those never set", async () => {
      const id = (await store.createAccount(newAccount("acme"))) ?? 0;
      const before = await store.revision("records");
      // Two changes at once, each of its own settings, undo nothing of each other.
      await Promise.all([
        store.saveSettings(id, { numbers: "strict" }),
        store.saveSettings(id, { defaultRegion: "IN" }),
      ]);
      await store.saveSettings(id, { defaultRegion: "FR" });
      // Null is a value like any other, and not the default again.
      await store.saveSettings(id, { sameText: null });
      expect((await store.listAccounts())[0]?.settings).toEqual({
        ...DEFAULT_SETTINGS,
        numbers: "strict",
        defaultRegion: "FR",
        sameText: null,
      });
      expect(await store.revision("records")).toBeGreaterThan(before);
    });

    it("keys are kept with all their fields", async () => {
      const accountId = (await store.createAccount({ ...newAccount("acme"), keys: [] })) ?? 0;
      const key: ApiKey = {
        ...newKey("acme"),
        accountId,
        allowedIps: ["10.0.0.0/8"],
        requestsPerSecond: 5,
        expiresAt: NOON,
      };
      const before = await store.revision("records");
      await store.insertKey(key);
      expect(await store.listKeys()).toEqual([key]);
      const inserted = await store.revision("records");
      expect(inserted).toBeGreaterThan(before);
      expect(
        await store.updateKey(accountId, key.id, { name: "new", scopes: ["read"], revokedAt: NOON, expiresAt: null }),
      ).toBe(true);
      const changed: ApiKey = { ...key, name: "new", scopes: ["read"], revokedAt: NOON, expiresAt: null };
      expect(await store.listKeys()).toEqual([changed]);
      expect(await store.revision("records")).toBeGreaterThan(inserted);
      await store.touchKeys([{ accountId, id: key.id, lastUsedAt: NOON + 3 }]);
      await store.touchKeys([]);
      expect(await store.listKeys()).toEqual([{ ...changed, lastUsedAt: NOON + 3 }]);
    });

    it("a missing key or one of another account is not changed", async () => {
      const accountId = (await store.createAccount(newAccount("acme"))) ?? 0;
      const [key] = await store.listKeys();
      const before = await store.revision("records");
      expect(await store.updateKey(accountId, newId(NOON), { name: "new" })).toBe(false);
      expect(await store.updateKey(accountId + 1, key?.id ?? "", { name: "new" })).toBe(false);
      expect(await store.listKeys()).toEqual([key]);
      expect(await store.revision("records")).toBe(before);
    });

    it("a second key with the same digest is refused", async () => {
      const accountId = (await store.createAccount(newAccount("acme"))) ?? 0;
      await expect(store.insertKey({ ...newKey("acme"), accountId })).rejects.toThrow(/unique/i);
      expect(await store.listKeys()).toHaveLength(1);
    });

    it("credentials are kept with all their fields, and changed only in their own account", async () => {
      const accountId = (await store.createAccount(newAccount("acme"))) ?? 0;
      const credential: StoredCredential = {
        accountId,
        id: newId(NOON),
        kind: "kannel",
        username: "kannel1",
        digest: "digest of a login",
        sealed: "v1.sealed",
        name: "shop",
        mode: "test",
        scopes: ["sms"],
        allowedIps: ["10.0.0.0/8"],
        requestsPerSecond: 5,
        settings: { window: 10 },
        createdAt: NOON,
        expiresAt: NOON + 1,
        revokedAt: null,
        lastUsedAt: null,
      };
      const before = await store.revision("records");
      await store.insertCredential(credential);
      expect(await store.listCredentials()).toEqual([credential]);
      const inserted = await store.revision("records");
      expect(inserted).toBeGreaterThan(before);
      const change = { name: "new", revokedAt: NOON, expiresAt: null, settings: { window: 20 } };
      expect(await store.updateCredential(accountId + 1, credential.id, change)).toBe(false);
      expect(await store.updateCredential(accountId, newId(NOON), change)).toBe(false);
      expect(await store.updateCredential(accountId, credential.id, {})).toBe(true);
      expect(await store.revision("records")).toBe(inserted);
      expect(await store.updateCredential(accountId, credential.id, change)).toBe(true);
      expect(await store.revision("records")).toBeGreaterThan(inserted);
      await store.touchCredentials([{ accountId, id: credential.id, lastUsedAt: NOON + 3 }]);
      expect(await store.listCredentials()).toEqual([{ ...credential, ...change, lastUsedAt: NOON + 3 }]);
      const second = { ...credential, id: newId(NOON) };
      await expect(store.insertCredential(second)).rejects.toThrow(/unique/i);
    });

    it("a service value is replaced only while it is the expected one", async () => {
      expect(await store.replaceSettled("swapped", "x", "y")).toBe(false);
      expect(await store.replaceSettled("swapped", null, "first")).toBe(true);
      expect(await store.replaceSettled("swapped", null, "second")).toBe(false);
      const racers = ["a", "b", "c", "d"].map((value) => store.replaceSettled("swapped", "first", value));
      expect((await Promise.all(racers)).filter(Boolean)).toHaveLength(1);
      expect(await store.settled("swapped")).toMatch(/^[a-d]$/);
    });

    it("a value is settled once for all nodes", async () => {
      const values = await Promise.all(["a", "b", "c"].map((value) => store.settle("pepper", value)));
      expect(new Set(values).size).toBe(1);
      expect(await store.settle("pepper", "late")).toBe(values[0]);
      expect(await store.settled("other")).toBeNull();
      expect(await store.settle("other", "x")).toBe("x");
      expect(await store.settled("other")).toBe("x");
    });
  });

  describe("listing", () => {
    it("listing finds messages by every filter, alone and combined", async () => {
      const day = 86_400_000;
      await store.accept([
        acceptance({ createdAt: NOON - day, to: ["33600000001", "33600000002"], campaignName: "spring" }),
        acceptance({ createdAt: NOON, to: ["33600000001"] }),
        acceptance({ createdAt: NOON + day, to: ["33600000003"], campaignName: "spring" }),
      ]);
      const messages = (await allMessages(1)).toReversed();
      expect(messages.map(({ recipient }) => recipient.slice(-1))).toEqual(["1", "2", "1", "3"]);
      const [first, , third] = messages as [StoredMessage, StoredMessage, StoredMessage, StoredMessage];
      await moveOne(first, { to: "submitting" });
      await moveOne(first, { to: "delivered" });
      await moveOne(third, { to: "cancelled" });
      const listed = async (filter: Parameters<Store["listMessages"]>[1]) =>
        (await store.listMessages(1, filter, null, 10)).rows.map((row) =>
          messages.findIndex((message) => same(message, row)),
        );
      expect(await listed({ status: "Delivered" })).toEqual([0]);
      expect(await listed({ status: "Failed" })).toEqual([2]);
      expect(await listed({ status: "Pending" })).toEqual([3, 1]);
      expect(await listed({ channel: "sms" })).toEqual([3, 2, 1, 0]);
      expect(await listed({ channel: "rcs" })).toEqual([]);
      expect(await listed({ recipient: "33600000001" })).toEqual([2, 0]);
      expect(await listed({ campaignName: "spring" })).toEqual([3, 1, 0]);
      expect(await listed({ routeClass: "TRANS" })).toEqual([3, 2, 1, 0]);
      expect(await listed({ routeClass: "OTP" })).toEqual([]);
      expect(await listed({ from: NOON })).toEqual([3, 2]);
      expect(await listed({ to: NOON })).toEqual([1, 0]);
      expect(await listed({ from: NOON, to: NOON + 1 })).toEqual([2]);
      expect(await listed({ recipient: "33600000001", campaignName: "spring", status: "Delivered", to: NOON })).toEqual(
        [0],
      );
    });

    it("listing finds messages by template, whatever its name and their texts", async () => {
      const chat = (templateName: string, text = "Hello") =>
        acceptance({
          channel: "chatapp",
          routeClass: "PROMO",
          content: {
            kind: "template",
            templateName,
            language: "en",
            header: null,
            text,
            footer: null,
            buttons: [],
            params: [],
          },
        });
      const odd = 'été "quoted" \\ 100%_';
      await store.accept([chat("autumn"), chat("Autumn"), chat("autumn_2"), chat(odd), acceptance()]);
      await store.accept([chat("other", 'said "templateName":"autumn" to me')]);
      const named = async (templateName: string) =>
        (await store.listMessages(1, { templateName }, null, 10)).rows.map(({ content }) =>
          "templateName" in content ? content.templateName : null,
        );
      for (const name of ["autumn", "Autumn", "autumn_2", odd]) expect(await named(name)).toEqual([name]);
      expect(await named("autum_")).toEqual([]);
      expect((await store.listMessages(1, { routeClass: "PROMO" }, null, 10)).rows).toHaveLength(5);
    });

    it("listing returns all rows in pages, newest first, each once", async () => {
      const request = fc.record({ size: fc.integer({ min: 1, max: 4 }), hour: fc.integer({ min: 0, max: 3 }) });
      let accountId = 100;
      await fc.assert(
        fc.asyncProperty(
          fc.array(request, { maxLength: 12 }),
          fc.integer({ min: 1, max: 9 }),
          async (requests, limit) => {
            accountId += 1;
            const items = requests.map(({ size, hour }) =>
              acceptance({
                accountId,
                createdAt: NOON + hour * 3_600_000,
                to: Array.from({ length: size }, () => "33600000001"),
              }),
            );
            await store.accept(items);
            const expected = items.flatMap(refsOf).map(positionOf).toSorted().toReversed();
            const walked: string[] = [];
            let after: Position | null = null;
            do {
              const page: Awaited<ReturnType<Store["listMessages"]>> = await store.listMessages(
                accountId,
                {},
                after,
                limit,
              );
              walked.push(...page.rows.map(positionOf));
              after = page.next;
            } while (after);
            expect(walked).toEqual(expected);
          },
        ),
        { numRuns: 15 },
      );
    });

    it("listing shows an account only its own rows", async () => {
      const [ref] = await stored({ accountId: 1 });
      await stored({ accountId: 2 });
      await store.receiveOnPhones([phoneMessage({ accountId: 1 }), phoneMessage({ accountId: 2 })]);
      expect(await store.findMessage({ ...ref, accountId: 2 })).toBeNull();
      for (const accountId of [1, 2]) {
        expect((await allMessages(accountId)).map((row) => row.accountId)).toEqual([accountId]);
        expect((await store.listPhones(accountId, null, 10)).rows.map((row) => row.accountId)).toEqual([accountId]);
        const messages = (await store.listPhoneMessages(accountId, "33600000001", null, 10)).rows;
        expect(messages.map((row) => row.accountId)).toEqual([accountId]);
        const since = await store.phoneMessagesSince(accountId, newId(0), 10);
        expect(since.map((row) => row.accountId)).toEqual([accountId]);
      }
      expect(await allMessages(3)).toEqual([]);
    });
  });

  describe("phones", () => {
    it("a phone counts its messages, several at once, and a repeated one once", async () => {
      const batch = [
        phoneMessage({ receivedAt: NOON }),
        phoneMessage({ receivedAt: NOON + 1 }),
        phoneMessage({ number: "33600000002", receivedAt: NOON + 2 }),
      ];
      await store.receiveOnPhones(batch);
      await store.receiveOnPhones(batch);
      await store.receiveOnPhones([phoneMessage({ receivedAt: NOON + 5 })]);
      await store.receiveOnPhones([]);
      expect((await store.listPhones(1, null, 10)).rows).toEqual([
        { accountId: 1, number: "33600000001", name: null, messageCount: 3, lastMessageAt: NOON + 5 },
        { accountId: 1, number: "33600000002", name: null, messageCount: 1, lastMessageAt: NOON + 2 },
      ]);
    });

    it("a phone counts correctly when many batches reach it at once", async () => {
      const numbers = Array.from({ length: 10 }, (_, index) => `3360000000${index}`);
      const batches = Array.from({ length: 8 }, (_, turn) =>
        (turn % 2 === 0 ? numbers : numbers.toReversed()).map((number) => phoneMessage({ number })),
      );
      await Promise.all(batches.map((batch) => store.receiveOnPhones(batch)));
      const { rows } = await store.listPhones(1, null, 100);
      expect(rows.map(({ number, messageCount }) => [number, messageCount])).toEqual(
        numbers.map((number) => [number, 8]),
      );
    });

    it("phones and their messages are paged", async () => {
      const messages = Array.from({ length: 5 }, (_, index) =>
        phoneMessage({ id: newId(NOON + index), number: index === 4 ? "33600000009" : "33600000001" }),
      );
      await store.receiveOnPhones(messages);
      const phones = await store.listPhones(1, null, 1);
      expect(phones.rows.map(({ number }) => number)).toEqual(["33600000001"]);
      expect((await store.listPhones(1, phones.next, 1)).rows.map(({ number }) => number)).toEqual(["33600000009"]);
      const newest = await store.listPhoneMessages(1, "33600000001", null, 3);
      expect(newest.rows).toEqual([messages[3], messages[2], messages[1]]);
      expect(await store.listPhoneMessages(1, "33600000001", newest.next, 3)).toEqual({
        rows: [messages[0]],
        next: null,
      });
      expect(await store.phoneMessagesSince(1, messages[3]?.id ?? "", 10)).toEqual([messages[3], messages[4]]);
      expect(await store.phoneMessagesSince(1, messages[1]?.id ?? "", 1)).toEqual([messages[1]]);
    });

    it("phone messages with overdue reports are listed until they are marked", async () => {
      const due = [NOON + 30, null, NOON + 10, NOON + 20].map((reportsDueAt) => phoneMessage({ reportsDueAt }));
      await store.receiveOnPhones(due);
      expect(await store.listUnreported(NOON + 30, 10)).toEqual([due[2], due[3]]);
      expect(await store.listUnreported(NOON + 31, 1)).toEqual([due[2]]);
      await store.markReported([due[2] as PhoneMessage, { accountId: 2, id: due[3]?.id ?? "" }]);
      expect(await store.listUnreported(NOON + 31, 10)).toEqual([due[3], due[0]]);
    });
  });

  it("old idempotency keys and unmatched receipts are deleted and counted", async () => {
    await store.accept([
      acceptance({ createdAt: NOON - 2, idempotency: keyed("old") }),
      acceptance({ createdAt: NOON, idempotency: keyed("new") }),
    ]);
    await store.storeUnmatched([receipt("N1")], NOON - 2);
    await store.storeUnmatched([receipt("N2")], NOON);
    for (const kind of ["idempotencyKeys", "unmatchedReceipts"] as const)
      expect(await deleteExpired(store, kind, { before: NOON - 1 }, 1)).toEqual([1, 0]);
    const [old, recent] = await store.accept([
      acceptance({ idempotency: keyed("old") }),
      acceptance({ idempotency: keyed("new") }),
    ]);
    expect([old, recent]).toMatchObject([{ kind: "stored" }, { kind: "replayed" }]);
    expect(await countOf("parked_receipts")).toBe(1);
  });

  it("every state is listed under a customer status", async () => {
    await stored({ to: STATES.map((_, index) => `3360${index}`) });
    for (const [index, state] of STATES.entries())
      await opened.execute(`update messages set state = '${state}' where n = ${index + 1}`);
    for (const status of CUSTOMER_STATUSES) {
      const { rows } = await store.listMessages(1, { status }, null, 100);
      expect(rows.map(({ state }) => state).toSorted()).toEqual(
        STATES.filter((state) => customerStatus(state) === status).toSorted(),
      );
    }
  });

  it("ping succeeds", async () => {
    await expect(store.ping()).resolves.toBeUndefined();
    await expect(store.ping()).resolves.toBeUndefined();
  });
}

const refsOf = ({ message, recipients }: Acceptance): MessageRef[] =>
  recipients.map((_, index) => ({ accountId: message.accountId, requestId: message.requestId, n: index + 1 }));

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error("the list is shorter");
  return item;
}

const same = (a: MessageRef, b: MessageRef): boolean => a.requestId === b.requestId && a.n === b.n;

const positionOf = ({ requestId, n }: Position): string => `${requestId} ${String(n).padStart(6, "0")}`;

const keyed = (key: string, bodyHash = "h", response = "answer") => ({ path: "/v1/sms", key, bodyHash, response });

const receipt = (carrierMessageId: string, state: Receipt["state"] = "delivered"): Receipt => ({
  carrier: "north",
  carrierMessageId,
  state,
  errorCode: null,
  description: null,
  at: NOON,
});

const phoneMessage = (changes: Partial<PhoneMessage> = {}): PhoneMessage => ({
  accountId: 1,
  id: newId(NOON),
  number: "33600000001",
  sender: "HELIO",
  channel: "sms",
  content: { text: "hello", encoding: "gsm7", flash: false },
  messageId: `${newId(NOON)}:1`,
  receivedAt: NOON,
  reportsDueAt: null,
  carrier: "simulator",
  test: false,
  ...changes,
});

const newKey = (name: string): Omit<ApiKey, "accountId"> => ({
  id: newId(NOON),
  name,
  mode: "live",
  digest: `digest of ${name}`,
  hint: "abcd",
  scopes: ["sms", "read"],
  allowedIps: [],
  requestsPerSecond: null,
  createdAt: NOON,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  agent: null,
});

const newAccount = (name: string): NewAccount => ({
  name,
  createdAt: NOON,
  owner: { id: newId(NOON), email: `${name}@example.com`, passwordHash: "hash", role: "owner", createdAt: NOON },
  keys: [newKey(name)],
  phones: [{ number: "33600000001", name: "Ada" }],
  catalog: [],
});
