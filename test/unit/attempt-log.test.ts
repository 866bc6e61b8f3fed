import { describe, expect, test } from "vitest";
import { readAttempts, writeAttempt, type Attempt } from "../../src/webhooks/attempt-log.ts";

const at = 1_794_930_492_033;

describe("the tries of a callback in its row", () => {
  test("attempts read back equal and in order", () => {
    const refused = { at, ms: 21.6, status: 503, reason: "Answered 503", excerpt: '{"a":\n"→"}', nextTryAt: at + 5000 };
    const unheard = { at: at + 5000, ms: 0, status: null, reason: "Nobody answered", excerpt: "", nextTryAt: null };
    const taken = { at: at + 9000, ms: 3, status: 200, excerpt: "ok", nextTryAt: null };
    const log = writeAttempt(refused) + writeAttempt(unheard) + writeAttempt(taken);
    expect(readAttempts(log)).toEqual([{ ...refused, ms: 22 }, unheard, { ...taken, reason: null }]);
    expect(log).not.toContain("status");
    expect(readAttempts(null)).toEqual([]);
  });

  test("read as earlier versions wrote them: with their names", () => {
    const attempt: Attempt = { at, ms: 1, status: 200, reason: null, excerpt: "ok", nextTryAt: null };
    expect(
      readAttempts(
        `${JSON.stringify(attempt)}\n${writeAttempt({ at, ms: 1, status: 200, excerpt: "ok", nextTryAt: null })}`,
      ),
    ).toEqual([attempt, attempt]);
  });

  test("keep the beginning of a long answer, and no half of a sign at its end", () => {
    const excerpt = `${"x".repeat(999)}🙂`;
    const [attempt] = readAttempts(writeAttempt({ at, ms: 1, status: 500, excerpt, nextTryAt: null }));
    expect(attempt?.excerpt).toBe(`${"x".repeat(999)}\uFFFD`);
  });
});
