import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  DEFAULT_GUARD,
  decidePrefix,
  ledgerAfterBlock,
  ledgerAfterSend,
  NEW_LEDGER,
  paysFor,
  prefixOf,
  type PrefixLedger,
} from "../../src/model/pumping.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/model/verification.ts";
import type { AcceptResult, Acceptance } from "../../src/store/store.ts";
import { NOON } from "../support/acceptances.ts";
import { codeAcceptance, DIGEST } from "../support/codes.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";
import { honestTrace, seeded } from "../support/otp-trace.ts";

/** The whole campaign has 100,000: `HELIOGRAPH_TRACE=100000 npm test -- test/store/verify-pumping.test.ts`. */
const TRACE = Number(process.env["HELIOGRAPH_TRACE"] ?? 500);

const ATTACK = 10_000;
const MOST = 50;

/** One prefix, as the rules see it. */
class Prefix {
  ledger: PrefixLedger = NEW_LEDGER;

  ask(now: number): boolean {
    const { refusal, newBlock } = decidePrefix(this.ledger, DEFAULT_GUARD, now);
    if (newBlock) this.ledger = ledgerAfterBlock(this.ledger, newBlock, DEFAULT_GUARD);
    if (!refusal) this.ledger = ledgerAfterSend(this.ledger, DEFAULT_GUARD, now);
    return refusal === null;
  }

  use(): void {
    this.ledger = { ...this.ledger, owed: this.ledger.owed - paysFor(DEFAULT_GUARD) };
  }
}

/** Returns the number of requests that got a code. Every `usedEvery`-th code is used. */
function pump(prefix: Prefix, from: number, everyMs: number, requests: number, usedEvery: number): number {
  let sent = 0;
  for (let index = 0; index < requests; index += 1) {
    if (!prefix.ask(from + index * everyMs)) continue;
    sent += 1;
    if (sent % usedEvery === 0) prefix.use();
  }
  return sent;
}

const NEVER = Number.POSITIVE_INFINITY;
const PACES = [
  ["in a minute", MINUTE_MS],
  ["in an hour", HOUR_MS],
  ["in a day", DAY_MS],
  ["in a week", 7 * DAY_MS],
  ["in a month", 30 * DAY_MS],
] as const;

describe("the pumping guard of a prefix", () => {
  test.each(PACES)("a prefix gets at most 50 of 10,000 codes requested %s", (_, span) => {
    expect(pump(new Prefix(), NOON, span / ATTACK, ATTACK, NEVER)).toBeLessThanOrEqual(MOST);
  });

  test.each(PACES.slice(0, -1))("a prefix gets at most 50 codes %s while one in twenty is used", (_, span) => {
    expect(pump(new Prefix(), NOON, span / ATTACK, ATTACK, 20)).toBeLessThanOrEqual(MOST);
  });

  test("a prefix gets at most 50 codes in a week from a request every ten seconds, even with prepaid codes", () => {
    const known = new Prefix();
    for (let index = 0; index < 100; index += 1) {
      known.ask(NOON);
      known.use();
    }
    for (const prefix of [new Prefix(), known]) {
      const sent = pump(prefix, NOON + HOUR_MS, 10_000, (7 * DAY_MS) / 10_000, NEVER);
      expect(sent).toBeGreaterThanOrEqual(DEFAULT_GUARD.prefixUnused);
      expect(sent).toBeLessThanOrEqual(MOST);
    }
  });

  test("a blocked prefix is open again after its codes are used", () => {
    const prefix = new Prefix();
    pump(prefix, NOON, 1000, 1000, NEVER);
    expect(prefix.ask(NOON + HOUR_MS)).toBe(false);
    const later = prefix.ledger.blockedUntil + MINUTE_MS;
    expect(pump(prefix, later, MINUTE_MS, 200, 2)).toBe(200);
  });

  test("a prefix of honest users is never blocked, on any of many honest days", () => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const prefixes = new Map<string, Prefix>();
      const happenings = honestTrace(NOON, 20_000, seed).flatMap(({ to, at, usedAt }) => {
        const prefix = prefixes.get(prefixOf(to)) ?? new Prefix();
        prefixes.set(prefixOf(to), prefix);
        const asked = { at, happen: () => prefix.ask(at) };
        return usedAt === null ? [asked] : [asked, { at: usedAt, happen: () => (prefix.use(), true) }];
      });
      const refused = happenings.toSorted((a, b) => a.at - b.at).filter(({ happen }) => !happen());
      expect(refused).toEqual([]);
    }
  });
});

describe.each(ENGINES)("pumping on %s", (engine) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await openStore(engine);
  });
  afterAll(() => opened.discard());

  const isStored = (result: AcceptResult | Error | undefined): boolean =>
    result !== undefined && !(result instanceof Error) && result.kind === "stored";

  async function use(requests: readonly Acceptance[], afterMs = 20_000): Promise<void> {
    if (requests.length === 0) return;
    await opened.store.checkCodes(
      requests.map(({ message: { requestId, createdAt } }) => ({
        accountId: 1,
        mode: "live" as const,
        id: requestId,
        digest: DIGEST,
        at: createdAt + afterMs,
      })),
    );
  }

  test.each([
    ["at full speed", 10, 0, 100],
    ["over a day", 8640, 0, 100],
    ["over a week", 60_480, 0, 100],
    ["over a week, with one in twenty used", 60_480, 0.05, 20],
  ] as const)("10,000 sequential numbers get at most 50 codes per prefix %s", async (_, everyMs, share, batch) => {
    const random = seeded(everyMs);
    const first = 99_890_000_000 + everyMs * 1_000_000 + batch * 10_000;
    const sent = new Map<string, number>();
    for (let index = 0; index < ATTACK; index += batch) {
      const requests = Array.from({ length: batch }, (_each, place) =>
        codeAcceptance(
          { to: [String(first + index + place)], createdAt: NOON + (index + place) * everyMs },
          { bound: true, guard: DEFAULT_GUARD, country: "UZ" },
        ),
      );
      const results = await opened.store.accept(requests);
      const stored = requests.filter((_each, place) => isStored(results[place]));
      for (const { recipients } of stored) {
        const prefix = prefixOf(recipients[0]?.number ?? "");
        sent.set(prefix, (sent.get(prefix) ?? 0) + 1);
      }
      await use(stored.filter(() => random() < share));
    }
    expect(Math.max(...sent.values())).toBeGreaterThanOrEqual(DEFAULT_GUARD.prefixUnused);
    expect(Math.max(...sent.values())).toBeLessThanOrEqual(MOST);
  });

  test("no honest user is refused while 60 % of codes are used", { timeout: 1_200_000 }, async () => {
    const SLICE_MS = 30_000;
    const start = NOON + 30 * DAY_MS;
    const trace = honestTrace(start, TRACE, 4711).map((code) => ({
      ...code,
      request: codeAcceptance(
        { to: [code.to], createdAt: Math.floor(code.at) },
        { bound: true, guard: DEFAULT_GUARD, country: code.country },
      ),
    }));
    const shareOf = (codes: typeof trace): number =>
      codes.filter(({ usedAt }) => usedAt !== null).length / codes.length;
    const [slow, calm] = [trace.filter((code) => code.slow), trace.filter((code) => !code.slow)];
    expect(shareOf(calm)).toBeCloseTo(0.6, 1);
    expect(shareOf(slow)).toBeLessThan(0.45);

    let refused = 0;
    let waiting: typeof trace = [];
    for (let next = 0; next < trace.length || waiting.length > 0;) {
      const at = Math.min(trace[next]?.at ?? NEVER, ...waiting.map(({ usedAt }) => usedAt ?? NEVER));
      const end = (Math.floor(at / SLICE_MS) + 1) * SLICE_MS;
      const asked = [];
      for (let code = trace[next]; code && code.at < end; code = trace[next]) {
        asked.push(code);
        next += 1;
      }
      if (asked.length > 0) {
        const results = await opened.store.accept(asked.map(({ request }) => request));
        refused += results.filter((result) => !isStored(result)).length;
        waiting.push(...asked.filter(({ usedAt }) => usedAt !== null));
      }
      const used = waiting.filter(({ usedAt }) => (usedAt ?? NEVER) < end);
      waiting = waiting.filter(({ usedAt }) => (usedAt ?? NEVER) >= end);
      if (used.length > 0)
        await opened.store.checkCodes(
          used.map(({ request, usedAt }) => ({
            accountId: 1,
            mode: "live" as const,
            id: request.message.requestId,
            digest: DIGEST,
            at: Math.floor(usedAt ?? 0),
          })),
        );
    }
    expect(refused).toBe(0);
    const rows = await opened.execute(
      "select strikes from verify_prefixes where account_id = 1 and sent_at > " + start,
    );
    expect(rows.length).toBeGreaterThan(TRACE / 4);
    expect(rows.filter((row) => (row as { strikes: number }).strikes > 0)).toEqual([]);
  });
});
