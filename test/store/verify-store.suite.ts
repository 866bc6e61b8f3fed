import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { KeyMode } from "../../src/model/api-key.ts";
import { DEFAULT_GUARD } from "../../src/model/pumping.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, VERIFICATION_STATES } from "../../src/model/verification.ts";
import type { AcceptResult, Acceptance, Store } from "../../src/store/store.ts";
import type { CheckResult, NewVerification } from "../../src/store/verifications.ts";
import { NOON } from "../support/acceptances.ts";
import { ANY_NUMBER, codeAcceptance, DIGEST } from "../support/codes.ts";
import { resumeDue, type ResumeDueDeps } from "../../src/otp/resume-due.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { openStore, type EngineName, type OpenStore } from "../support/engines.ts";
import { deleteExpired } from "../support/sweeps.ts";

const NUMBER = "15550800001";

/** One-time password tests that every engine passes. */
export function verifyStoreSuite(engine: EngineName): void {
  describe(`one-time passwords in the ${engine} store`, () => {
    let opened: OpenStore;
    let store: Store;
    beforeEach(async () => {
      opened = await openStore(engine);
      store = opened.store;
    });
    afterEach(() => opened.discard());

    const accept = async (request: Acceptance): Promise<AcceptResult> => {
      const [result] = await store.accept([request]);
      if (!result || result instanceof Error) throw result ?? new Error("no result");
      return result;
    };
    const sent = async (
      changes: Parameters<typeof codeAcceptance>[0] = {},
      verification: Partial<NewVerification> = {},
    ): Promise<string> => {
      const request = codeAcceptance({ to: [NUMBER], ...changes }, verification);
      expect(await accept(request)).toMatchObject({ kind: "stored" });
      return request.message.requestId;
    };
    const check = async (
      id: string,
      digest: string,
      at = NOON + 1000,
      accountId = 1,
      mode: KeyMode = "live",
    ): Promise<CheckResult> => {
      const [result] = await store.checkCodes([{ accountId, mode, id, digest, at }]);
      if (!result || result instanceof Error) throw result ?? new Error("no result");
      return result;
    };
    const stateOf = async (id: string): Promise<string | undefined> => (await store.findVerification(1, id))?.state;
    const bound = { bound: true, guard: DEFAULT_GUARD } as const;

    test("a code is stored with its message, or neither is", async () => {
      const id = await sent({}, bound);
      expect(await store.findVerification(1, id)).toMatchObject({ id, number: NUMBER, state: "pending", checks: 0 });
      expect(await store.findMessage({ accountId: 1, requestId: id, n: 1 })).not.toBeNull();
      const refused = codeAcceptance({ to: [NUMBER], createdAt: NOON + 1 }, bound);
      expect(await accept(refused)).toMatchObject({
        kind: "held back",
        admission: { refused: [{ limit: "otp cooldown", until: NOON + 30_000 }] },
      });
      const { requestId } = refused.message;
      expect(await store.findVerification(1, requestId)).toBeNull();
      expect(await store.findMessage({ accountId: 1, requestId, n: 1 })).toBeNull();
      expect(await stateOf(id)).toBe("pending");
    });

    test("a code that cannot be paid for is not stored or counted, and ends no other", async () => {
      const id = await sent();
      const unpaid = codeAcceptance({ to: [NUMBER], createdAt: NOON + HOUR_MS, metered: true, accountId: 1 }, bound);
      await opened.execute("insert into balances (account_id, balance, held) values (1, 0, 0) returning account_id");
      expect(await accept(unpaid)).toEqual({ kind: "unpaid" });
      expect(await store.findVerification(1, unpaid.message.requestId)).toBeNull();
      expect(await stateOf(id)).toBe("pending");
      expect(await store.countConversion(1, NOON)).toEqual({ sends: 1, verified: 0 });
    });

    test("a repeated request gets the first response, and ends nothing", async () => {
      const idempotency = { path: "/v1/verify", key: "k", bodyHash: "h", response: "the first answer" };
      const id = await sent({ idempotency });
      const again = codeAcceptance({ to: [NUMBER], idempotency: { ...idempotency, response: "another" } });
      expect(await accept(again)).toEqual({ kind: "replayed", bodyHash: "h", response: "the first answer" });
      expect(await stateOf(id)).toBe("pending");
    });

    test("the first of two requests with one key in a batch is stored, and the second is replayed", async () => {
      const idempotency = { path: "/v1/verify", key: "k", bodyHash: "h", response: "the first answer" };
      const [first, second] = [codeAcceptance({ to: [NUMBER], idempotency }), codeAcceptance({ idempotency })] as const;
      expect(await store.accept([first, second])).toMatchObject([{ kind: "stored" }, { kind: "replayed" }]);
      expect(await stateOf(first.message.requestId)).toBe("pending");
      expect(await store.findVerification(1, second.message.requestId)).toBeNull();
    });

    test("within one batch each code counts for the later ones", async () => {
      const requests = [NUMBER, NUMBER, "15550800002"].map((to) => codeAcceptance({ to: [to] }, bound));
      const results = (await store.accept(requests)) as AcceptResult[];
      expect(results.map(({ kind }) => kind)).toEqual(["stored", "held back", "stored"]);
    });

    test("the last of two codes for a number in a batch is valid", async () => {
      const [first, second] = [codeAcceptance({ to: [NUMBER] }), codeAcceptance({ to: [NUMBER] })] as const;
      await store.accept([first, second]);
      expect([await stateOf(first.message.requestId), await stateOf(second.message.requestId)]).toEqual([
        "superseded",
        "pending",
      ]);
    });

    test("codes of test and live keys are separate: none ends, checks or counts for the other", async () => {
      const live = await sent({}, bound);
      const tested = await sent({ test: true, createdAt: NOON + 1 }, { ...bound, guard: null });
      expect([await stateOf(live), await stateOf(tested)]).toEqual(["pending", "pending"]);
      expect(await check(tested, DIGEST)).toEqual({ kind: "unknown" });
      expect(await check(live, DIGEST, NOON + 1000, 1, "test")).toEqual({ kind: "unknown" });
      expect(await check(tested, DIGEST, NOON + 1000, 1, "test")).toEqual({ kind: "verified" });
      expect(await check(live, DIGEST)).toEqual({ kind: "verified" });
      expect(await store.countConversion(1, NOON)).toEqual({ sends: 1, verified: 1 });
    });

    test("sends counted for information do not use up enforced limits", async () => {
      const noted = { caps: { ...ANY_NUMBER, sendsPerDay: 1 }, guard: { ...DEFAULT_GUARD, sendsPerDay: 1 } };
      const simulated = await sent({}, { ...noted, failuresPerHour: 1 });
      await check(simulated, "wrong");
      const again = codeAcceptance({ to: [NUMBER], createdAt: NOON + 1 }, noted);
      expect(await accept(again)).toMatchObject({
        kind: "stored",
        noted: [{ limit: "otp sends" }, { limit: "otp daily cap" }],
      });
      const real = await sent({ createdAt: NOON + 2 }, { ...noted, bound: true, failuresPerHour: 1 });
      expect(await check(real, "wrong")).toMatchObject({ kind: "incorrect" });
      expect(await check(real, "wrong")).toMatchObject({ kind: "blocked" });
    });

    test("a number under many configurations keeps only codes that may be pending", async () => {
      for (let index = 0; index < 3; index += 1)
        await sent({ createdAt: NOON + index * 11 * MINUTE_MS }, { config: `learned ${index}` });
      const [row] = (await opened.execute("select latest from verify_numbers")) as { latest: string }[];
      expect(Object.keys(JSON.parse(row?.latest ?? "") as object)).toEqual(["learned 2"]);
    });

    test("a code that expired before the next was sent has ended at its expiry", async () => {
      const id = await sent({}, { expiresAt: NOON + 60_000 });
      await sent({ createdAt: NOON + 120_000 });
      expect(await store.findVerification(1, id)).toMatchObject({ state: "expired", doneAt: NOON + 60_000 });
    });

    test("a check returns its verification, and nothing to another account", async () => {
      const id = await sent();
      expect(await check(id, DIGEST, NOON + 1000, 2)).toEqual({ kind: "unknown" });
      expect(await check(newId(NOON), DIGEST)).toEqual({ kind: "unknown" });
      expect(await check(id, "wrong")).toEqual({ kind: "incorrect", remaining: 4 });
      expect(await check(id, DIGEST)).toEqual({ kind: "verified" });
      expect(await check(id, DIGEST)).toMatchObject({ kind: "ended", state: "verified" });
      const late = await sent();
      expect(await check(late, DIGEST, NOON + 300_000)).toMatchObject({ kind: "ended", state: "expired" });
    });

    test("checks of one code in one batch are decided in order", async () => {
      const id = await sent();
      const tries = ["a", "b", DIGEST, DIGEST].map((digest) => ({
        accountId: 1,
        mode: "live" as const,
        id,
        digest,
        at: NOON + 1,
      }));
      expect(await store.checkCodes(tries)).toMatchObject([
        { kind: "incorrect", remaining: 4 },
        { kind: "incorrect", remaining: 3 },
        { kind: "verified" },
        { kind: "ended", state: "verified" },
      ]);
    });

    test("the last wrong check reports that none remains, and a right one after it that the code has ended", async () => {
      const id = await sent({}, { checksMax: 1 });
      expect(await check(id, "wrong")).toEqual({ kind: "incorrect", remaining: 0 });
      expect(await check(id, DIGEST)).toMatchObject({ kind: "ended", state: "exhausted" });
    });

    test("failed checks of a number are forgotten after an hour, to the millisecond", async () => {
      const caps = { ...bound, guard: null, caps: ANY_NUMBER, checksMax: 10, failuresPerHour: 2 };
      const id = await sent({}, { ...caps, expiresAt: NOON + DAY_MS });
      for (const at of [NOON, NOON + 10]) expect(await check(id, "wrong", at)).toMatchObject({ kind: "incorrect" });
      expect(await check(id, DIGEST, NOON + 20)).toEqual({ kind: "blocked", until: NOON + HOUR_MS });
      expect(await check(id, "wrong", NOON + HOUR_MS - 1)).toMatchObject({ kind: "blocked" });
      expect(await check(id, "wrong", NOON + HOUR_MS)).toMatchObject({ kind: "incorrect" });
      expect(await check(id, DIGEST, NOON + HOUR_MS + 1)).toEqual({ kind: "blocked", until: NOON + HOUR_MS + 10 });
    });

    test("verifications are listed newest first, by state, number, configuration and time", async () => {
      const ids: string[] = [];
      for (let index = 0; index < 4; index += 1)
        ids.push(
          await sent({ to: [`1555080010${index}`], createdAt: NOON + index * 60_000 }, { config: `c${index % 2}` }),
        );
      await check(ids[3] ?? "", DIGEST, NOON + 200_000);
      const list = async (filter: Parameters<Store["listVerifications"]>[1], now = NOON + 200_000) =>
        (await store.listVerifications(1, filter, now, null, 50)).rows.map(({ id }) => ids.indexOf(id));
      expect(await list({})).toEqual([3, 2, 1, 0]);
      expect(await list({ state: "verified" })).toEqual([3]);
      expect(await list({ state: "pending" })).toEqual([2, 1, 0]);
      expect(await list({ state: "expired" }, NOON + 330_000)).toEqual([0]);
      expect(await list({ config: "c1" })).toEqual([3, 1]);
      expect(await list({ number: "15550800102" })).toEqual([2]);
      expect(await list({ from: NOON + 60_000, to: NOON + 180_000 })).toEqual([2, 1]);
      const first = await store.listVerifications(1, {}, NOON, null, 3);
      const rest = await store.listVerifications(1, {}, NOON, first.next, 3);
      expect(rest.rows.map(({ id }) => id)).toEqual([ids[0]]);
      expect((await store.listVerifications(2, {}, NOON, null, 50)).rows).toEqual([]);
      for (const state of VERIFICATION_STATES) expect(await list({ state })).toBeDefined();
    });

    test("sends and verified codes are counted, fixed codes are not", async () => {
      const [used] = [await sent(), await sent({ to: ["15550800002"] })];
      const fixed = await sent({ to: ["15550800003"] }, { fixed: true });
      await check(used, DIGEST);
      await check(fixed, DIGEST);
      // The second was superseded by nothing, and the first was used.
      expect(await store.countConversion(1, NOON)).toEqual({ sends: 2, verified: 1 });
    });

    test("a prefix is blocked by its sends, and later by fewer codes, for twice as long", async () => {
      const attack = async (from: number): Promise<{ stored: number; last: AcceptResult }> => {
        let stored = 0;
        for (let index = 0; index < 25; index += 1) {
          const { kind } = await accept(codeAcceptance({ to: [`1555081${1000 + index}`], createdAt: from }, bound));
          stored += kind === "stored" ? 1 : 0;
        }
        const after = codeAcceptance({ to: ["15550811999"], createdAt: from + 20 * MINUTE_MS }, bound);
        return { stored, last: await accept(after) };
      };
      expect(await attack(NOON)).toMatchObject({
        stored: 20,
        last: { kind: "held back", admission: { blocked: { strikes: 1, sends: 20, verified: 0 } } },
      });
      const [block] = await store.listBlocks(1, NOON + 21 * MINUTE_MS);
      expect(block).toMatchObject({ prefix: "1555081", until: NOON + 20 * MINUTE_MS + 12 * HOUR_MS });
      expect(await store.listBlocks(2, NOON)).toEqual([]);
      expect(await store.listBlocks(1, NOON + 21 * MINUTE_MS, "1555081")).toEqual([block]);
      expect(await store.listBlocks(1, NOON + 21 * MINUTE_MS, "1555082")).toEqual([]);
      const later = (block?.until ?? 0) + 2 * DAY_MS;
      expect(await attack(later)).toMatchObject({
        stored: 3,
        last: {
          kind: "held back",
          admission: { blocked: { strikes: 2, sends: 3, until: later + 20 * MINUTE_MS + 24 * HOUR_MS } },
        },
      });
      expect(await store.liftBlock(1, "1555081", later + 21 * MINUTE_MS)).toBe(true);
      expect(await store.liftBlock(1, "1555081", later + 21 * MINUTE_MS)).toBe(false);
      expect(await attack(later + 2 * DAY_MS)).toMatchObject({ stored: 20, last: { kind: "held back" } });
    });

    test("a used code pays for five, and for no more than a prefix may owe", async () => {
      const number = (index: number): string => `1555083${1000 + index}`;
      const send = async (index: number): Promise<{ kind: string; id: string }> => {
        const request = codeAcceptance({ to: [number(index)] }, bound);
        return { kind: (await accept(request)).kind, id: request.message.requestId };
      };
      const kindsOf = async (from: number, count: number): Promise<string[]> => {
        const kinds = [];
        for (let index = from; index < from + count; index += 1) kinds.push((await send(index)).kind);
        return kinds;
      };
      const ids = [];
      for (let index = 0; index < 20; index += 1) ids.push((await send(index)).id);
      expect(await kindsOf(20, 1)).toEqual(["held back"]);
      await check(ids[0] ?? "", DIGEST);
      expect(await kindsOf(20, 6)).toEqual([...Array.from({ length: 5 }, () => "stored"), "held back"]);
      for (const id of ids.slice(1)) await check(id, DIGEST);
      expect((await kindsOf(30, 50)).filter((kind) => kind === "stored")).toHaveLength(40);
    });

    test("a user with a used code passes a block, three codes at a time, and shortens it by using one", async () => {
      const number = "15550850000";
      await check(await sent({ to: [number] }, bound), DIGEST);
      const attackAt = NOON + HOUR_MS;
      for (let index = 0; index < 50; index += 1)
        await accept(codeAcceptance({ to: [`1555085${1000 + index}`], createdAt: attackAt }, bound));
      const blockedAt = attackAt + 20 * MINUTE_MS;
      const stranger = await accept(codeAcceptance({ to: ["15550852000"], createdAt: blockedAt }, bound));
      expect(stranger).toMatchObject({ kind: "held back", admission: { blocked: { prefix: "1555085" } } });
      const until = blockedAt + 12 * HOUR_MS;
      const ids = [];
      for (let minutes = 1; minutes <= 3; minutes += 1)
        ids.push(await sent({ to: [number], createdAt: blockedAt + minutes * MINUTE_MS }, bound));
      const fourth = codeAcceptance({ to: [number], createdAt: blockedAt + 4 * MINUTE_MS }, bound);
      expect(await accept(fourth)).toMatchObject({
        kind: "held back",
        admission: { refused: [{ limit: "otp prefix block" }] },
      });
      const usedAt = blockedAt + 6 * MINUTE_MS;
      expect(await check(ids[2] ?? "", DIGEST, usedAt)).toEqual({ kind: "verified" });
      const [block] = await store.listBlocks(1, usedAt);
      expect(block?.until).toBe(usedAt + (until - usedAt) / 2);
      await sent({ to: [number], createdAt: usedAt + MINUTE_MS }, bound);
    });

    test("prefixes owe nothing where limits are not enforced", async () => {
      for (let index = 0; index < 25; index += 1)
        await sent({ to: [`1555084${1000 + index}`] }, { guard: DEFAULT_GUARD });
      const later = { createdAt: NOON + HOUR_MS, to: ["15550842000"] };
      expect(await accept(codeAcceptance(later, bound))).toEqual({ kind: "stored" });
    });

    test("sends are counted by day and country, and by hour for the requested span", async () => {
      const used = await sent({ to: ["35262100000"] }, { country: "LU" });
      await sent({ to: ["35262100001"], createdAt: NOON + 2 * HOUR_MS }, { country: "LU" });
      await sent({ to: ["447700900000"], createdAt: NOON + 2 * HOUR_MS }, { country: "GB" });
      await check(used, DIGEST);
      const now = NOON + 2 * HOUR_MS + MINUTE_MS;
      const { today, countries } = await store.countTraffic(1, now);
      expect(today).toBe(3);
      expect(countries.toSorted((a, b) => (a.country < b.country ? -1 : 1))).toEqual([
        { country: "GB", sends: 1, verified: 0 },
        { country: "LU", sends: 1, verified: 0 },
      ]);
      const hours = await store.countCountryHours(1, NOON - DAY_MS, now + HOUR_MS);
      expect(hours.filter(({ country }) => country === "LU").toSorted((a, b) => a.hour - b.hour)).toEqual([
        { country: "LU", hour: NOON / HOUR_MS, sends: 1, verified: 1 },
        { country: "LU", hour: NOON / HOUR_MS + 2, sends: 1, verified: 0 },
      ]);
      expect(await store.countCountryHours(1, NOON + HOUR_MS, NOON + 2 * HOUR_MS)).toEqual([]);
      expect(await store.countTraffic(2, now)).toEqual({ today: 0, countries: [] });
    });

    test("the next channel is claimed once, and ends with the verification", async () => {
      const next = { plan: "sealed", at: NOON + 20_000 };
      const id = await sent({}, { next });
      expect(await store.listDueVerifications(NOON + 19_999, 10)).toEqual([]);
      const [due] = await store.listDueVerifications(NOON + 20_000, 10);
      expect(due).toMatchObject({ plan: "sealed", at: next.at, verification: { id } });
      const ref = { accountId: 1, id };
      const other = newId(NOON + 30_000);
      expect(await store.planNext(ref, next.at, { plan: "more", at: NOON + 40_000 }, other)).toBe(true);
      expect(await store.planNext(ref, next.at, null, null)).toBe(false);
      expect(await store.findVerificationOf(1, other)).toMatchObject({ id });
      expect(await store.findVerificationOf(1, id)).toMatchObject({ id });
      expect(await store.findVerificationOf(2, other)).toBeNull();
      await check(id, DIGEST);
      expect(await store.listDueVerifications(NOON + DAY_MS, 10)).toEqual([]);
    });

    test.each([
      ["is verified", "verified", (id: string) => check(id, DIGEST)],
      ["is used up", "exhausted", (id: string) => check(id, "wrong")],
      ["is superseded", "superseded", () => sent({ createdAt: NOON + 1000 })],
      ["expires", "expired", () => Promise.resolve()],
    ] as const)("one that is followed is due once more when it %s, and told of once", async (_, state, end) => {
      const id = await sent({}, { followed: true, checksMax: 1, expiresAt: NOON + 60_000 });
      await end(id);
      const due = (await store.listDueVerifications(NOON + 60_000, 10)).find((each) => each.verification.id === id);
      expect(due).toMatchObject({ followed: true, plan: null });
      if (!due) return;
      expect(await store.leaseDue(due, NOON + 90_000, NOON + 60_000)).toMatchObject({ state });
      expect(await store.leaseDue(due, NOON + 90_000, NOON + 60_000)).toBeNull();
      await store.queueEndCallbacks(due.verification, NOON + 90_000, [], NOON + 60_000);
      expect(await store.listDueVerifications(NOON + DAY_MS, 10)).toEqual([]);
      expect(await store.findVerification(1, id)).toMatchObject({ state });
    });

    test("the end of a verification is reported by the node that owns it only", async () => {
      const id = await sent({}, { followed: true, expiresAt: NOON + 60_000 });
      const verification = { id, config: "default", number: NUMBER, state: "expired", checks: 0, test: false } as const;
      const happening = { kind: "verification", at: NOON + 60_000, verification } as const;
      const callback = { accountId: 1, eventId: newId(NOON), endpointId: newId(NOON), attempts: 0, happening };
      const told = (): Promise<unknown[]> => opened.execute("select event_id from callbacks");
      await store.queueEndCallbacks({ accountId: 1, id }, NOON + 59_999, [callback], NOON + 60_000);
      expect(await told()).toEqual([]);
      await store.queueEndCallbacks({ accountId: 1, id }, NOON + 60_000, [callback], NOON + 60_000);
      expect(await told()).toEqual([{ event_id: callback.eventId }]);
    });

    test("a node that does not know the account yet leaves due verifications to another", async () => {
      const id = await sent({}, { next: { plan: "sealed", at: NOON + 20_000 } });
      const clock = new MovedClock(NOON + 20_000);
      await resumeDue({ store, clock, accountOf: () => null } as unknown as ResumeDueDeps);
      expect(await stateOf(id)).toBe("pending");
      expect(await store.listDueVerifications(NOON + 20_000, 10)).toEqual([]);
      const [due] = await store.listDueVerifications(NOON + DAY_MS, 10);
      expect(due).toMatchObject({ plan: "sealed", verification: { id } });
    });

    test("nothing is due after the end of a verification, which removes its next channel", async () => {
      const next = { plan: "sealed", at: NOON + 90_000 };
      const id = await sent({}, { followed: true, next, expiresAt: NOON + 60_000 });
      const [due] = await store.listDueVerifications(NOON + 60_000, 10);
      expect(due).toMatchObject({ at: NOON + 60_000, verification: { id } });
      const taken = due && (await store.leaseDue(due, NOON + 90_000, NOON + 60_000));
      expect(taken).toMatchObject({ state: "expired", doneAt: NOON + 60_000 });
    });

    test("a further message of a verification counts as a send, not as a verification", async () => {
      const id = await sent({}, bound);
      const caps = { cooldownSeconds: 0, sendsPer10Minutes: 2, sendsPerDay: 2 };
      const hop = (at: number): Promise<AcceptResult> =>
        accept(codeAcceptance({ to: [NUMBER], createdAt: at }, { ...bound, caps, continues: true }));
      expect(await hop(NOON + 1000)).toMatchObject({ kind: "stored" });
      expect(await hop(NOON + 2000)).toMatchObject({ kind: "held back" });
      expect(await store.countConversion(1, NOON)).toEqual({ sends: 2, verified: 0 });
      const { rows } = await store.listVerifications(1, {}, NOON + 3000, null, 10);
      expect(rows).toMatchObject([{ id, state: "pending" }]);
      expect(await opened.execute("select owed from verify_prefixes")).toEqual([{ owed: 2 }]);
    });

    test("a verification without subscribers is not due at its end", async () => {
      const id = await sent();
      await check(id, DIGEST);
      await sent({ to: ["15550800002"] });
      expect(await store.listDueVerifications(NOON + DAY_MS, 10)).toEqual([]);
    });

    test("old verifications are deleted, a bounded number at a time", async () => {
      const old = await sent();
      const young = await sent({ to: ["15550800002"], createdAt: NOON + DAY_MS });
      await sent({ to: ["15550810001"] }, bound);
      await sent({ to: ["15550820001"], createdAt: NOON + DAY_MS }, bound);
      const hourLater = NOON + HOUR_MS;
      const cutoff = { accountId: 1, before: hourLater, alsoBefore: hourLater };
      const gone: number[] = [];
      for (const kind of [
        "verifications",
        "verifyRequests",
        "verifyNumbers",
        "verifyTallies",
        "verifyPrefixes",
      ] as const)
        gone.push(...(await deleteExpired(store, kind, cutoff, 1)));
      expect(Math.max(...gone)).toBe(1);
      expect(gone.reduce((sum, rows) => sum + rows)).toBeGreaterThanOrEqual(6);
      expect(await store.findVerification(1, old)).toBeNull();
      expect(await store.findVerification(1, young)).not.toBeNull();
      const numbers = await opened.execute("select number from verify_numbers order by number");
      expect(numbers).toEqual([{ number: "15550800002" }, { number: "15550820001" }]);
      expect(await opened.execute("select prefix from verify_prefixes")).toEqual([{ prefix: "1555082" }]);
    });
  });
}
