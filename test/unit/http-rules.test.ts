import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HttpExchange } from "../../src/carriers/http-exchange.ts";
import { createClassifier } from "../../src/carriers/http/classify-response.ts";
import { readTime } from "../../src/carriers/http/receive.ts";
import type { HealthVerdict } from "../../src/carriers/connection-health.ts";
import { HTTP_DEFAULTS, type HttpErrorRule, type HttpSettings } from "../../src/model/http-connection.ts";
import { compilePick, readJson, readPath, readPattern, followPath } from "../../src/model/http-pick.ts";
import { PRESETS } from "../../src/model/http-presets.ts";
import { repetitions } from "../support/repetitions.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
const OWN = "00000000-0000-7000-8000-000000000000:1";

const judged = (
  settings: Partial<HttpSettings>,
  status: number,
  text: string,
  retryAfter: string | null = null,
): HealthVerdict =>
  createClassifier({ ...HTTP_DEFAULTS, ...settings })({ kind: "answered", status, retryAfter, text }, NOW, OWN);

const rule = (meaning: HttpErrorRule["meaning"], fits: Partial<HttpErrorRule>): HttpErrorRule => ({
  status: null,
  path: null,
  pattern: null,
  equals: null,
  ...fits,
  meaning,
});

describe("a response without a matching rule is classified by status", () => {
  test.each<[number, object]>([
    [200, { outcome: { kind: "taken", carrierMessageId: OWN } }],
    [202, { outcome: { kind: "taken" } }],
    [301, { outcome: { kind: "down" }, effect: "halted" }],
    [400, { outcome: { kind: "refused", fault: "message", code: "HTTP 400" }, code: "HTTP 400" }],
    [401, { outcome: { kind: "down" }, effect: "halted" }],
    [402, { outcome: { kind: "down" }, effect: "halted" }],
    [403, { outcome: { kind: "down" }, effect: "halted" }],
    [404, { outcome: { kind: "refused", fault: "carrier" } }],
    [408, { outcome: { kind: "unknown" } }],
    [422, { outcome: { kind: "refused", fault: "message" } }],
    [429, { outcome: { kind: "busy" }, effect: "throttled" }],
    [500, { outcome: { kind: "unknown" } }],
    [502, { outcome: { kind: "unknown" } }],
    [503, { outcome: { kind: "busy" } }],
    [504, { outcome: { kind: "unknown" } }],
  ])("%i", (status, verdict) => {
    expect(judged({}, status, "")).toMatchObject(verdict);
  });

  test("an unreached one is down, and a broken one is unknown", () => {
    const classify = createClassifier(HTTP_DEFAULTS);
    expect(classify({ kind: "unreached", reason: "nobody" }, NOW, OWN).outcome).toEqual({
      kind: "down",
      description: "nobody",
    });
    expect(classify({ kind: "broken", reason: "cut" }, NOW, OWN).outcome).toEqual({
      kind: "unknown",
      description: "cut",
    });
  });
});

describe("error rules", () => {
  test.each<[string, Partial<HttpSettings>, number, string, object]>([
    ["5xx may be tried again", { errors: [rule("retry", { status: "5xx" })] }, 502, "", { outcome: { kind: "busy" } }],
    [
      "the first that fits decides",
      { errors: [rule("refuse", { status: "500" }), rule("retry", { status: "5xx" })] },
      500,
      "",
      { outcome: { kind: "refused", fault: "message" } },
    ],
    [
      "a field decides",
      { errors: [rule("throttle", { path: "code", equals: ["7", "8"] })] },
      400,
      '{"code":8}',
      { outcome: { kind: "busy" }, effect: "throttled" },
    ],
    [
      "another value does not",
      { errors: [rule("throttle", { path: "code", equals: ["7"] })] },
      400,
      '{"code":8}',
      { outcome: { kind: "refused" } },
    ],
    [
      "a text decides",
      { errors: [rule("carrier", { status: "403", pattern: "Not routable*" })] },
      403,
      "Not routable. Do not try again.",
      { outcome: { kind: "refused", fault: "carrier" } },
    ],
    [
      "a status alone does not, where a text is asked for",
      { errors: [rule("carrier", { status: "403", pattern: "Not routable*" })] },
      403,
      "Authorization failed",
      { effect: "halted" },
    ],
    [
      "a text equals",
      { errors: [rule("retry", { equals: ["ERR 9"] })] },
      400,
      " ERR 9\n",
      { outcome: { kind: "busy" } },
    ],
    [
      "the code is the provider's",
      { errorCode: { path: "error.code", pattern: null } },
      400,
      '{"error":{"code":21211}}',
      { code: "21211", outcome: { code: "21211" } },
    ],
    [
      "the code has words",
      { errorCode: { path: "c", pattern: null }, errorTexts: { "9": "No such phone" } },
      400,
      '{"c":9}',
      { outcome: { description: "No such phone" } },
    ],
    ["a code by pattern", { errorCode: { path: null, pattern: "ERR: (*)" } }, 400, "ERR: 105", { code: "105" }],
    [
      "what is no code is none",
      { errorCode: { path: null, pattern: null } },
      400,
      "<html>nothing like it</html>",
      { code: "HTTP 400" },
    ],
  ])("%s", (_, settings, status, text, verdict) => {
    expect(judged(settings, status, text)).toMatchObject(verdict);
  });

  test("Retry-After is read in seconds and as a date, up to an hour", () => {
    const waits = ["7", new Date(NOW + 9000).toUTCString(), "999999", "-3", "soon", new Date(NOW - 1).toUTCString()];
    const told = waits.map((each) => judged({}, 503, "", each).outcome);
    expect(told).toEqual([
      { kind: "busy", retryAfterMs: 7000 },
      { kind: "busy", retryAfterMs: 9000 },
      { kind: "busy", retryAfterMs: 3_600_000 },
      expect.objectContaining({ kind: "busy" }),
      { kind: "busy" },
      { kind: "busy", retryAfterMs: 0 },
    ]);
    expect(judged({}, 429, "", "7")).toMatchObject({
      outcome: { retryAfterMs: 7000 },
      effect: "throttled",
    });
  });

  test("descriptions contain nothing of the response, unless it is mapped", () => {
    for (const status of [400, 401, 404, 429, 500, 503])
      expect(JSON.stringify(judged({}, status, "15550100100 may not have 'my text'"))).not.toMatch(
        /15550100100|my text/,
      );
  });
});

describe("success rules", () => {
  const success = (changes: Partial<HttpSettings["success"]>): Partial<HttpSettings> => ({
    success: { ...HTTP_DEFAULTS.success, ...changes },
  });
  test.each<[string, Partial<HttpSettings>, number, string, string]>([
    ["by status", success({ statuses: ["202"] }), 202, "", "taken"],
    ["and not by another", success({ statuses: ["202"] }), 200, "", "unknown"],
    ["by a field", success({ path: "ok", equals: ["true"] }), 200, '{"ok":true}', "taken"],
    ["and not by another value", success({ path: "ok", equals: ["true"] }), 200, '{"ok":false}', "unknown"],
    ["and not by no JSON", success({ path: "ok", equals: ["true"] }), 200, "<html>", "unknown"],
    ["by a pattern", success({ pattern: "OK*" }), 200, "OK 15", "taken"],
    ["and not by another text", success({ pattern: "OK*" }), 200, "ERROR", "unknown"],
    ["by all of a list", success({ path: "m[*].s", equals: ["0"] }), 200, '{"m":[{"s":"0"},{"s":0}]}', "taken"],
    [
      "and not by some of it",
      success({ path: "m[*].s", equals: ["0"] }),
      200,
      '{"m":[{"s":"0"},{"s":"1"}]}',
      "unknown",
    ],
    [
      "and not where a pattern fits some of it",
      success({ path: "m[*].s", pattern: "OK*" }),
      200,
      '{"m":[{"s":"OK 1"},{"s":"NO"}]}',
      "unknown",
    ],
    ["and not by none of it", success({ path: "m[*].s", equals: ["0"] }), 200, '{"m":[]}', "unknown"],
    ["because a field is there", success({ path: "id" }), 200, '{"id":"x"}', "taken"],
    ["and not where it is empty", success({ path: "id" }), 200, '{"id":""}', "unknown"],
  ])("%s", (_, settings, status, text, kind) => {
    expect(judged(settings, status, text).outcome.kind).toBe(kind);
  });

  test.each<[string, HttpSettings["id"], string, object]>([
    ["a field", { path: "data.id", pattern: null }, '{"data":{"id":"abc"}}', { carrierMessageId: "abc" }],
    [
      "a long number keeps its digits",
      { path: "id", pattern: null },
      '{"id":12345678901234567890}',
      { carrierMessageId: "12345678901234567890" },
    ],
    ["a pattern", { path: null, pattern: "OK: (*)" }, "OK: 77\n", { carrierMessageId: "77" }],
    ["a pattern in the middle", { path: null, pattern: "*|(*)|*" }, "1701|919|xyz", { carrierMessageId: "919" }],
    ["a field and a pattern", { path: "s", pattern: "id=(*);*" }, '{"s":"id=9;x"}', { carrierMessageId: "9" }],
    [
      "one for each part",
      { path: "m[*].id", pattern: null },
      '{"m":[{"id":"a"},{"id":"b"}]}',
      { carrierMessageId: "a", partIds: ["a", "b"] },
    ],
    ["ours where there is none", { path: "id", pattern: null }, "{}", { carrierMessageId: OWN }],
    ["ours where it is no id", { path: null, pattern: null }, "<html>\nno id", { carrierMessageId: OWN }],
    ["ours where none is asked for", null, '{"id":"abc"}', { carrierMessageId: OWN }],
  ])("message id: %s", (_, id, text, outcome) => {
    expect(judged({ id }, 200, text).outcome).toEqual({ kind: "taken", ...outcome });
  });
});

describe("responses of presets", () => {
  test.each<[keyof typeof PRESETS, number, string, object]>([
    ["kannel", 202, "0: Accepted for delivery", { outcome: { kind: "taken", carrierMessageId: OWN } }],
    ["kannel", 202, "3: Queued for later delivery", { outcome: { kind: "taken" } }],
    ["kannel", 403, "Authorization failed for sendsms", { effect: "halted" }],
    ["kannel", 403, "Not routable. Do not try again.", { outcome: { kind: "refused", fault: "carrier" } }],
    ["kannel", 503, "Temporal failure, try again later.", { outcome: { kind: "busy" } }],
    ["twilio", 201, '{"sid":"SM1","status":"queued"}', { outcome: { kind: "taken", carrierMessageId: "SM1" } }],
    [
      "twilio",
      400,
      '{"code":21211,"message":"No","status":400}',
      { outcome: { kind: "refused", fault: "message", code: "21211" } },
    ],
    ["twilio", 400, '{"code":21606,"status":400}', { outcome: { kind: "refused", fault: "carrier" } }],
    ["twilio", 401, '{"code":20003,"status":401}', { effect: "halted" }],
    ["twilio", 429, '{"code":20429,"status":429}', { effect: "throttled" }],
    [
      "sinch",
      201,
      '{"id":"01FC66621XXXXX119Z8PMV1QPQ"}',
      { outcome: { carrierMessageId: "01FC66621XXXXX119Z8PMV1QPQ" } },
    ],
    [
      "sinch",
      400,
      '{"code":"syntax_invalid_parameter_format"}',
      { outcome: { kind: "refused", code: "syntax_invalid_parameter_format" } },
    ],
    ["sinch", 401, "", { effect: "halted" }],
    ["vonage", 200, '{"messages":[{"status":"0","message-id":"A"}]}', { outcome: { carrierMessageId: "A" } }],
    ["vonage", 200, '{"messages":[{"status":"1"}]}', { effect: "throttled", code: "1" }],
    ["vonage", 200, '{"messages":[{"status":"4"}]}', { effect: "halted" }],
    ["vonage", 200, '{"messages":[{"status":"6"}]}', { outcome: { kind: "refused", fault: "message", code: "6" } }],
    ["vonage", 200, '{"messages":[{"status":"5"}]}', { outcome: { kind: "busy" } }],
    ["vonage", 200, "<html>maintenance</html>", { outcome: { kind: "unknown" } }],
  ])("%s %i %s", (preset, status, text, verdict) => {
    expect(judged(PRESETS[preset], status, text)).toMatchObject(verdict);
  });
});

describe("a partly accepted long text", () => {
  const partly = (...statuses: string[]): string =>
    JSON.stringify({
      messages: statuses.map((status, place) => ({ status, ...(status === "0" && { "message-id": `id${place}` }) })),
    });
  test.each<[string[], object]>([
    [["0", "1"], { outcome: { kind: "unknown" }, code: "1", effect: "throttled", partIds: ["id0"] }],
    [["0", "5"], { outcome: { kind: "unknown" }, code: "5", partIds: ["id0"] }],
    [["0", "0", "9"], { outcome: { kind: "unknown" }, code: "9", effect: "halted", partIds: ["id0", "id1"] }],
    [["0", "7"], { outcome: { kind: "refused", fault: "message", code: "7" }, code: "7", partIds: ["id0"] }],
    [["6", "0"], { outcome: { kind: "refused", fault: "message", code: "6" }, code: "6", partIds: ["id1"] }],
  ])("Vonage %j: it is not sent again as if nothing had been accepted", (statuses, verdict) => {
    expect(judged(PRESETS.vonage, 200, partly(...statuses))).toMatchObject(verdict);
  });

  test("the error code is that of the failed part, also if only the first is mapped", () => {
    const before = { ...PRESETS.vonage, errorCode: { path: "messages[0].status", pattern: null } };
    expect(judged(before, 200, partly("0", "7"))).toMatchObject({ outcome: { kind: "refused", code: "7" } });
  });

  test("a part that does not match the pattern was not accepted", () => {
    const success = { statuses: ["2xx"], path: "parts[*]", pattern: "OK *", equals: null };
    const settings = { success, id: { path: "parts[*]", pattern: "OK (*)" } };
    expect(judged(settings, 200, '{"parts":["OK a","NO"]}')).toMatchObject({
      outcome: { kind: "unknown" },
      partIds: ["a"],
    });
    expect(judged(settings, 200, '{"parts":["NO","NO"]}')).not.toHaveProperty("partIds");
  });

  test("a Retry-After is respected", () => {
    const verdict = judged(PRESETS.vonage, 200, partly("0", "1"), "20");
    expect(verdict).toMatchObject({ effect: "throttled", pauseMs: 20_000 });
  });

  test("with no accepted part it is classified as a single-part response", () => {
    expect(judged(PRESETS.vonage, 200, partly("1", "1"))).toMatchObject({ outcome: { kind: "busy" }, code: "1" });
    expect(judged(PRESETS.vonage, 200, partly("7", "7"))).toMatchObject({
      outcome: { kind: "refused", fault: "carrier" },
    });
  });
});

describe("paths and patterns", () => {
  test.each(["a", "a.b", "a[0].b", "[0]", "[*].a", "message-id", "a.b-c[12].d e", "a[*][0]"])(
    "%s is a path",
    (path) => {
      expect(readPath(path)).not.toBeNull();
    },
  );

  test.each(["", ".", "a.", ".a", "a..b", "a[", "a[]", "a[x]", "a[-1]", "a[0]b", "a[99999]"])(
    "%j is no path",
    (path) => {
      expect(readPath(path)).toBeNull();
    },
  );

  test("inherited properties are not fields", () => {
    for (const path of ["__proto__", "constructor.name", "toString", "a.length", "a[0].length"])
      expect(followPath({ a: ["x"] }, readPath(path) ?? [])).toEqual([]);
  });

  test.each<[string, string, string | null]>([
    ["OK", "OK", "OK"],
    ["OK", "OK!", null],
    ["OK*", "OKAY", "OKAY"],
    ["*(*)", "abc", "abc"],
    ["id:(*) *", "id:5 rest of it", "5"],
    ["id:(*) *", "id:5", null],
    ["*err:(*) *", "id:1 err:001 text:err:2 x", "001"],
    ["(*)", " all of it ", "all of it"],
    ["a*a", "a", null],
    ["a*a", "aa", "aa"],
    ["*b*b", "ab", null],
  ])("%s in %j finds %j", (pattern, text, found) => {
    expect(readPattern(pattern)?.(text)).toBe(found);
  });

  test("an empty pattern and two groups are invalid", () => {
    expect([readPattern(""), readPattern("(*)(*)")]).toEqual([null, null]);
  });

  test("a pattern that would make a regular expression exponential matches in linear time", () => {
    const found = readPattern(`${"*a".repeat(200)}*b`)?.("a".repeat(1_000_000));
    expect(found).toBeNull();
  });

  test("patterns are searched near the start, and their last literal also at the end of a long text", () => {
    const long = "a".repeat(100_000);
    expect(readPattern("*id:(*);*")?.(`id:5; ${long}`)).toBe("5");
    expect(readPattern("*id:(*);*")?.(`${long} id:5;`)).toBeNull();
    expect(readPattern("SAY (*)")?.(`SAY ${long}`)).toBe(long);
    expect(readPattern("*a")?.(long)).toBe(long);
    expect(readPattern("*b")?.(long)).toBeNull();
  });

  test("a text matches its own pattern with stars", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string().filter((part) => !/[*()\s]/.test(part) && part !== ""),
          { minLength: 1 },
        ),
        (parts) => {
          const text = parts.join("x");
          expect(readPattern(parts.join("*"))?.(text)).toBe(text);
        },
      ),
    );
  });

  test("text that is not JSON has no fields", () => {
    expect(readJson("{")).toBeUndefined();
    expect(compilePick({ path: "a", pattern: null })({ text: "{", at: () => [] })).toEqual([]);
  });
});

describe("times", () => {
  test.each<[string, number]>([
    ["1767268799", NOW - 1000],
    ["1767268799500", NOW - 500],
    ["2026-01-01T11:59:59Z", NOW - 1000],
    ["2026-01-01T11:59:59.250Z", NOW - 750],
    ["2026-01-01 11:59:59", NOW - 1000],
    ["2026-01-01 17:29:59 +0530", NOW - 1000],
    ["2026-01-01T17:29:59+05:30", NOW - 1000],
    ["Thu, 01 Jan 2026 11:59:59 +0000", NOW - 1000],
    ["2026-01-02T12:00:00Z", NOW + 86_400_000],
  ])("%s is a valid time", (written, at) => {
    expect(readTime(written, NOW)).toBe(at);
  });

  test.each([
    "",
    "soon",
    "0",
    "-1",
    "99999999999999999",
    "2026-01-02T12:00:01Z",
    "2099-01-01T00:00:00Z",
    "1999-01-01T00:00:00Z",
  ])("%j is no plausible time", (written) => {
    expect(readTime(written, NOW)).toBeNull();
  });
});

test("every response has a verdict", () => {
  const exchanges = fc.oneof(
    fc.record({
      kind: fc.constant("answered" as const),
      status: fc.integer({ min: 200, max: 599 }),
      retryAfter: fc.option(fc.string()),
      text: fc.oneof(fc.string(), fc.json()),
    }),
  );
  const classifiers = Object.values(PRESETS).map((preset) => createClassifier({ ...HTTP_DEFAULTS, ...preset }));
  fc.assert(
    fc.property(exchanges, (exchange: HttpExchange) => {
      for (const classify of classifiers)
        expect(["taken", "busy", "refused", "down", "unknown"]).toContain(classify(exchange, NOW, OWN).outcome.kind);
    }),
    { numRuns: repetitions(400, 2000) },
  );
});
