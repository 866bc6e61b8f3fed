import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recipientAddress, senderAddress, DEFAULT_ADDRESSES } from "../../src/carriers/smpp/addresses.ts";
import { canonical, alternateIds, ID_FORMS, learnFormat } from "../../src/carriers/smpp/message-id.ts";
import {
  fullRate,
  pauseLeftMs,
  perSecondAt,
  queueFull,
  throttled,
  withContract,
  type AdaptiveRate,
} from "../../src/carriers/adaptive-rate.ts";
import {
  bindWaitMs,
  codeOf,
  classifyBind,
  classifySubmit,
  type StatusPolicy,
} from "../../src/carriers/smpp/classify-response.ts";
import { chainHash, clientTlvs, readTlvs, submitTlvs, type TlvRule } from "../../src/carriers/smpp/tlvs.ts";
import { registeredDelivery, relativeValidity, DEFAULT_PRIORITIES } from "../../src/carriers/smpp/validity.ts";
import { repetitions } from "../support/repetitions.ts";

describe("an alternate message id", () => {
  test.each<[string, string, string, string | null]>([
    ["the same", "4f3a", "4f3a", "as given"],
    ["a UUID in capitals", "a-b-c", "A-B-C", "in lower case"],
    ["small letters for capitals", "4F3A", "4f3a", "in upper case"],
    ["zeros in front", "12345", "0000012345", "without leading zeros"],
    ["zeros in front of hex in capitals", "abc0", "0000ABC0", "without leading zeros, in lower case"],
    ["decimal for hex, padded", "abc000", "0011255808", "from decimal to hex, in lower case"],
    ["decimal for hex in capitals", "ABC000", "11255808", "from decimal to hex, in upper case"],
    ["decimal for hex of eight digits", "00abc000", "11255808", "from decimal to hex, in lower case, 8 digits"],
    ["decimal for hex of 64 bits", "FFFFFFFFFFFFFFFF", "18446744073709551615", "from decimal to hex, in upper case"],
    ["hex for decimal", "11255808", "abc000", "from hex to decimal"],
    ["hex in capitals for decimal", "11255808", "ABC000", "from hex to decimal"],
    ["padded hex for padded decimal", "0011255808", "00ABC000", "from hex to decimal, 10 digits"],
    ["hex beyond what a number can hold exactly", "9007199254740993", "20000000000001", "from hex to decimal"],
    ["no zeros where there were some", "0000012345", "12345", "with leading zeros, 10 digits"],
    ["no zeros where hex had some", "0000abcd", "abcd", "with leading zeros, in lower case, 8 digits"],
    ["another id", "12345", "12346", null],
    ["a decimal beyond 64 bits", "10000000000000000", "18446744073709551616", null],
    ["an id with more", "12345", "12345-1", null],
    ["nothing", "12345", "", null],
  ])("%s is recognised", (_case, submitId, receiptId, form) => {
    expect(learnFormat(submitId, receiptId)).toBe(form);
  });

  const id = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => value.toString(16)),
    fc.integer({ min: 0, max: 2 ** 32 }).map((value) => String(value).padStart(10, "0")),
    fc.integer({ min: 0, max: 2 ** 32 }).map((value) => value.toString(16).toUpperCase().padStart(8, "0")),
    fc.uuid(),
    fc.string({ minLength: 1, maxLength: 64 }),
  );

  test("the id itself comes first, each alternate once, and each matches its format", () => {
    fc.assert(
      fc.property(id, (given) => {
        const forms = alternateIds(given);
        expect(forms[0]).toEqual({ id: given, form: "as given" });
        expect(new Set(forms.map((each) => each.id)).size).toBe(forms.length);
        for (const each of forms) expect(canonical(given, each.form)).toBe(each.id);
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  test("a format learned from one pair of ids converts one into the other", () => {
    fc.assert(
      fc.property(id, fc.nat(), (receiptId, which) => {
        const forms = alternateIds(receiptId);
        const submitId = forms[which % forms.length]?.id ?? "";
        const form = learnFormat(submitId, receiptId) ?? "none";
        expect(canonical(receiptId, form)).toBe(submitId);
        expect(forms).toContainEqual({ id: submitId, form });
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  test("a number in hex is found from its decimal and vice versa, padded or not, in either case", () => {
    const spelling = fc.constantFrom(
      (value: bigint) => value.toString(),
      (value: bigint) => value.toString().padStart(20, "0"),
      (value: bigint) => value.toString(16),
      (value: bigint) => value.toString(16).toUpperCase(),
      (value: bigint) => value.toString(16).padStart(16, "0"),
      (value: bigint) => value.toString(16).toUpperCase().padStart(16, "0"),
    );
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), spelling, spelling, (value, submit, receipt) => {
        // Twenty digits exceed 64-bit hex, and sixteen without a letter are read as both.
        expect(alternateIds(receipt(value)).map((each) => each.id)).toContain(submit(value));
      }),
      { numRuns: repetitions(600, 3000) },
    );
  });

  test("a format learned from one message applies to the next ones of the carrier", () => {
    const form = learnFormat("abc000", "0011255808") ?? "none";
    expect(canonical("0011255809", form)).toBe("abc001");
    expect(canonical("0000000010", form)).toBe("a");
  });

  test("an unknown or inapplicable format leaves the id unchanged", () => {
    expect(canonical("AbC", "by moonlight")).toBe("AbC");
    expect(canonical("not-a-number", "from hex to decimal")).toBe("not-a-number");
  });

  test("the number of alternates to look up is small", () => {
    expect(new Set(ID_FORMS).size).toBe(ID_FORMS.length);
    expect(ID_FORMS.length).toBeLessThanOrEqual(24);
  });
});

describe("a submit response", () => {
  test.each<[string, number, object]>([
    ["0x00 is taken", 0x00, { kind: "taken" }],
    ["0x58 is too fast", 0x58, { kind: "busy", cause: "throttled", retryAfterMs: 1000 }],
    ["0x14 is a full queue", 0x14, { kind: "busy", cause: "queue full", retryAfterMs: 5000 }],
    ["0x08 is trouble", 0x08, { kind: "busy", cause: "trouble" }],
    ["0x64 is trouble", 0x64, { kind: "busy", cause: "trouble" }],
    ["0x04 ends the session", 0x04, { kind: "session", code: "0x00000004" }],
    ["0x0B is the message's fault", 0x0b, { kind: "refused", fault: "message", alarm: false, code: "0x0000000B" }],
    ["0x0A may do elsewhere", 0x0a, { kind: "refused", fault: "carrier", alarm: false }],
    ["0x45 may mean anything", 0x45, { kind: "refused", fault: "carrier", alarm: false }],
    ["0x43 is a wrong setting", 0x43, { kind: "refused", fault: "carrier", alarm: true }],
    ["0xC3 is a missing parameter, and somebody must know", 0xc3, { kind: "refused", fault: "carrier", alarm: true }],
    ["0xC4 is a wrong parameter, and somebody must know", 0xc4, { kind: "refused", fault: "carrier", alarm: true }],
    ["0xFE may mean anything", 0xfe, { kind: "refused", fault: "carrier" }],
    ["0xFF may mean anything", 0xff, { kind: "refused", fault: "carrier" }],
    [
      "a vendor's own code is told as it is",
      0x402,
      {
        kind: "refused",
        fault: "carrier",
        alarm: false,
        code: "0x00000402",
        description: "The carrier refused the message with a code of its own, 0x00000402",
      },
    ],
  ])("%s", (_promise, status, verdict) => {
    expect(classifySubmit(status)).toMatchObject(verdict);
  });

  test.each<[string, number, StatusPolicy, object]>([
    ["retry makes a refusal wait", 0x45, { "0x45": "retry" }, { kind: "busy", cause: "trouble" }],
    ["refuse makes it the message's fault", 0x45, { "0x45": "refuse" }, { kind: "refused", fault: "message" }],
    ["carrier makes it the carrier's fault", 0x0b, { "0x0B": "carrier" }, { kind: "refused", fault: "carrier" }],
    ["a full queue that means no balance can be refused", 0x14, { "0x14": "carrier" }, { kind: "refused" }],
    ["retry leaves throttling what it is", 0x58, { "0x58": "retry" }, { kind: "busy", cause: "throttled" }],
    ["a vendor's own code can be waited for", 0x402, { "0x00000402": "retry" }, { kind: "busy" }],
    ["a key may be written in any case", 0xc3, { "0XC3": "retry" }, { kind: "busy" }],
    ["a key may be decimal", 0x45, { "69": "retry" }, { kind: "busy" }],
    ["other codes are as ever", 0x0b, { "0x45": "retry" }, { kind: "refused", fault: "message" }],
    ["what was taken stays taken", 0x00, { "0x00": "refuse" }, { kind: "taken" }],
  ])("a carrier's policy: %s", (_promise, status, policy, verdict) => {
    expect(classifySubmit(status, policy)).toMatchObject(verdict);
  });

  test("every status has a verdict with a code and a sentence", () => {
    for (let status = 1; status <= 0x500; status++) {
      const verdict = classifySubmit(status);
      if (verdict.kind === "taken") throw new Error(`${status} was taken`);
      expect(verdict.code).toBe(codeOf(status));
      expect(verdict.description).toMatch(/^The carrier(?:'s)? [^.]+$/);
    }
    expect(classifySubmit(0xffffffff)).toMatchObject({ kind: "refused", code: "0xFFFFFFFF" });
  });
});

describe("a bind response", () => {
  test.each<[string, number, object]>([
    ["0x00 is bound", 0x00, { kind: "bound" }],
    ["0x0D is about credentials", 0x0d, { cause: "credentials", alarm: true, retryAfterMs: 60_000 }],
    ["0x0E is about credentials", 0x0e, { cause: "credentials", alarm: true, retryAfterMs: 60_000 }],
    ["0x0F is about credentials", 0x0f, { cause: "credentials", alarm: true, retryAfterMs: 60_000 }],
    ["0x53 is about settings", 0x53, { cause: "settings", alarm: true, retryAfterMs: 60_000 }],
    [
      "0x05 is an old session",
      0x05,
      { cause: "already bound", alarm: false, retryAfterMs: 30_000, retryAfterMaxMs: 60_000 },
    ],
    ["0x08 passes", 0x08, { cause: "trouble", alarm: false, retryAfterMs: 1000 }],
    ["0x58 passes", 0x58, { cause: "trouble", alarm: false }],
    ["a vendor's own code needs somebody", 0x401, { cause: "settings", alarm: true, code: "0x00000401" }],
  ])("%s", (_promise, status, verdict) => {
    expect(classifyBind(status)).toMatchObject(verdict);
  });

  const waits = (status: number, random: number): number[] => {
    const verdict = classifyBind(status);
    if (verdict.kind === "bound") throw new Error("bound");
    return [1, 2, 3, 4, 5, 60].map((refusals) => bindWaitMs(verdict, refusals, random));
  };

  test("wrong credentials are retried after a minute at the earliest, with backoff", () => {
    expect(waits(0x0e, 0)).toEqual([60_000, 60_000, 60_000, 60_000, 60_000, 60_000]);
    expect(waits(0x0e, 1)).toEqual([120_000, 240_000, 480_000, 900_000, 900_000, 900_000]);
  });

  test("an old session is waited for between 30 and 60 seconds, however often", () => {
    expect(new Set([...waits(0x05, 0), ...waits(0x05, 1)])).toEqual(new Set([30_000, 60_000]));
    expect(new Set(waits(0x05, 0.5))).toEqual(new Set([45_000]));
  });
});

describe("addresses", () => {
  test.each<[string, string, object, object | null]>([
    ["a name is alphanumeric", "ACME", {}, { ton: 5, npi: 0, address: "ACME" }],
    ["a name may have spaces and signs", "ACME & Co.", {}, { ton: 5, npi: 0, address: "ACME & Co." }],
    ["a name may have letters of Latin-1 that GSM has", "Müller", {}, { ton: 5, npi: 0, address: "Müller" }],
    ["eleven characters are the most", "ABCDEFGHIJK", {}, { ton: 5, npi: 0, address: "ABCDEFGHIJK" }],
    ["twelve are too many", "ABCDEFGHIJKL", {}, null],
    ["an escaped character counts twice", "[ABCDEFGHI]", {}, null],
    ["a letter that GSM does not have cannot be shown", "Garçon", {}, null],
    ["a letter that the line does not have cannot be sent", "ΔELTA", {}, null],
    ["a line break is no name", "A\nB", {}, null],
    ["nothing is no name", "", {}, null],
    ["a number goes without its plus", "+919876543210", {}, { ton: 1, npi: 1, address: "919876543210" }],
    ["a number without plus is international too", "919876543210", {}, { ton: 1, npi: 1, address: "919876543210" }],
    ["up to six digits are a short code", "567678", {}, { ton: 3, npi: 0, address: "567678" }],
    ["a plus says that it is none", "+567678", {}, { ton: 1, npi: 1, address: "567678" }],
    ["seven digits are a number", "5676789", {}, { ton: 1, npi: 1, address: "5676789" }],
    [
      "how long a short code is can be set",
      "56767890",
      { shortCodeDigits: 8 },
      { ton: 3, npi: 0, address: "56767890" },
    ],
    ["the types can be set", "56767", { shortCode: { ton: 6, npi: 0 } }, { ton: 6, npi: 0, address: "56767" }],
    ["a plus can be wanted", "919876543210", { plus: true }, { ton: 1, npi: 1, address: "+919876543210" }],
    ["a short code never gets one", "56767", { plus: true }, { ton: 3, npi: 0, address: "56767" }],
    ["sixteen digits are no number", "1234567890123456", {}, null],
  ])("a sender: %s", (_promise, sender, changes, address) => {
    expect(senderAddress(sender, { ...DEFAULT_ADDRESSES, ...changes })).toEqual(address);
  });

  test("a recipient is an international number in the carrier's format", () => {
    expect(recipientAddress("919876543210", DEFAULT_ADDRESSES)).toEqual({ ton: 1, npi: 1, address: "919876543210" });
    const own = { ...DEFAULT_ADDRESSES, recipient: { ton: 0, npi: 1 }, plus: true };
    expect(recipientAddress("+919876543210", own)).toEqual({ ton: 0, npi: 1, address: "+919876543210" });
  });
});

describe("validity, priority and receipts", () => {
  test.each([
    ["ten minutes", 600_000, "000000001000000R"],
    ["an hour, a minute and a second", 3_661_000, "000000010101000R"],
    ["three days", 3 * 86_400_000, "000003000000000R"],
    ["thirty days at the most", 400 * 86_400_000, "000030000000000R"],
    ["parts of seconds are dropped", 1999, "000000000001000R"],
    ["never nothing", 0, "000000000001000R"],
    ["never less than nothing", -5000, "000000000001000R"],
  ])("%s", (_promise, ms, expected) => {
    expect(relativeValidity(ms)).toBe(expected);
  });

  test("a validity period has sixteen characters and never exceeds the requested time", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 40 * 86_400_000 }), (ms) => {
        const written = relativeValidity(ms);
        const [, days, hours, minutes, seconds] = /^0000(\d\d)(\d\d)(\d\d)(\d\d)000R$/.exec(written) ?? [];
        const length = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
        expect(length * 1000).toBeLessThanOrEqual(ms);
        expect(length * 1000).toBeGreaterThan(Math.min(ms, 30 * 86_400_000) - 1000);
      }),
    );
  });

  test("one-time passwords precede transactions and promotions, and none is an emergency", () => {
    const { OTP, TRANS, PROMO } = DEFAULT_PRIORITIES;
    expect([OTP, TRANS, PROMO].toSorted((one, other) => other - one)).toEqual([OTP, TRANS, PROMO]);
    expect(OTP).toBeLessThan(3);
  });

  test.each([
    ["all", false, 0x01],
    ["all", true, 0x11],
    ["failures", false, 0x02],
    ["none", false, 0x00],
  ] as const)(
    "receipts %s with intermediate notifications %s are registered_delivery %i",
    (receipts, intermediate, expected) => {
      expect(registeredDelivery({ receipts, intermediate })).toBe(expected);
    },
  );
});

describe("TLVs by the carrier's mapping", () => {
  const INDIA: readonly TlvRule[] = [
    { tag: 0x1400, type: "octets", source: "template.dltEntityId" },
    { tag: 0x1401, type: "octets", source: "template.dltContentId" },
    { tag: 0x1402, type: "octets", source: "chainHash" },
  ];
  const dlt = { entityId: "1101172974420810001", contentId: "1107161234567890123" };
  const shown = (rules: readonly TlvRule[], sources: Parameters<typeof submitTlvs>[1]): [number, string][] =>
    submitTlvs(rules, sources).map(({ tag, value }) => [tag, value.toString("latin1")]);

  test("the chain hash equals that of Indian operators", () => {
    expect(chainHash("1101172974420810001", ["1101172974420830004"])).toBe(
      "c0c951afca257c5b87c3da535c09112080483f35b7e6faf35e2428b3b526b694",
    );
  });

  test("a TLV of the client never overrides one that the carrier has a rule for, and other tags are not its", () => {
    const given = [
      { tag: 0x1402, value: "66616b65" },
      { tag: 0x1500, value: "6d617900" },
      { tag: 0x0204, value: "1267" },
      { tag: 0x0424, value: "6f74686572" },
      { tag: 0x1400, value: "31" },
    ];
    expect(clientTlvs(given, INDIA)).toEqual([
      { tag: 0x1500, value: Buffer.from("may\0") },
      { tag: 0x0204, value: Buffer.from([0x12, 0x67]) },
    ]);
  });

  test("DLT ids are sent as digits without NUL, and the chain as its hash", () => {
    expect(shown(INDIA, { dlt, chain: ["1101172974420830004"] })).toEqual([
      [0x1400, "1101172974420810001"],
      [0x1401, "1107161234567890123"],
      [0x1402, "c0c951afca257c5b87c3da535c09112080483f35b7e6faf35e2428b3b526b694"],
    ]);
  });

  test("a rule without a value adds no TLV", () => {
    expect(shown(INDIA, { chain: ["1"] })).toEqual([]);
    expect(shown(INDIA, { dlt: { entityId: null, contentId: "7" }, chain: ["1"] })).toEqual([[0x1401, "7"]]);
    expect(shown(INDIA, { dlt: { entityId: "5", contentId: null }, chain: [] })).toEqual([[0x1400, "5"]]);
  });

  test.each<[TlvRule["type"], string, string | null]>([
    ["octets", "abc", "616263"],
    ["octets", "", ""],
    ["cstring", "abc", "61626300"],
    ["uint8", "255", "ff"],
    ["uint8", "0x1F", "1f"],
    ["uint8", "256", null],
    ["uint16", "258", "0102"],
    ["uint32", "4294967295", "ffffffff"],
    ["uint32", "1101172974420810001", null],
    ["uint16", "-1", null],
    ["uint16", "1.5", null],
    ["uint16", "", null],
    ["uint16", "many", null],
  ])("a literal as %s: %j is %s", (type, literal, expected) => {
    const [found] = submitTlvs([{ tag: 0x1501, type, source: { literal } }], { chain: [] });
    expect(found?.value.toString("hex") ?? null).toBe(expected);
  });

  test("the TLVs of a receipt fill the mapped fields", () => {
    const value = (text: string): Buffer => Buffer.from(text, "latin1");
    const rules = [
      { tag: 0x1401, type: "cstring", field: "operator" },
      { tag: 0x1403, type: "octets", field: "circle" },
      { tag: 0x1404, type: "uint16", field: "circle" },
    ] as const;
    expect(readTlvs(rules, [{ tag: 0x1401, value: value("Airtel\0") }])).toEqual({ operator: "Airtel" });
    expect(readTlvs(rules, [{ tag: 0x1401, value: value("Airtel") }])).toEqual({ operator: "Airtel" });
    expect(readTlvs(rules, [{ tag: 0x1404, value: Buffer.from([1, 2]) }])).toEqual({ circle: "258" });
    expect(
      readTlvs(rules, [
        { tag: 0x1404, value: Buffer.from([7]) },
        { tag: 0x1403, value: value("Kerala") },
      ]),
    ).toEqual({ circle: "Kerala" });
    expect(
      readTlvs(rules, [
        { tag: 0x1401, value: value("\0") },
        { tag: 0x9999, value: value("x") },
      ]),
    ).toEqual({});
    expect(readTlvs(rules, [{ tag: 0x1404, value: Buffer.alloc(9) }])).toEqual({});
  });

  test.each<[string, Buffer, string | undefined]>([
    ["Latin-1", Buffer.from("T\u00e9l\u00e9", "latin1"), "T\u00e9l\u00e9"],
    ["UTF-8", Buffer.from("T\u00e9l\u00e9 \u0905", "utf8"), "T\u00e9l\u00e9 \u0905"],
    ["control characters", Buffer.from("Air\r\nX-Evil: 1\u001b\0\0", "latin1"), "Air X-Evil: 1"],
    ["nothing but control characters", Buffer.from([0, 7, 0x1b, 0]), undefined],
    ["far too much", Buffer.alloc(60_000, "x"), "x".repeat(100)],
  ])("network fields of a receipt are short and printable: %s", (_, value, operator) => {
    const read = readTlvs([{ tag: 0x1401, type: "octets", field: "operator" }], [{ tag: 0x1401, value }]);
    expect(read.operator).toBe(operator);
  });
});

describe("the adaptive rate", () => {
  const T = 1_000_000;
  const speeds = (speed: AdaptiveRate, ...seconds: number[]): (number | null)[] =>
    seconds.map((after) => perSecondAt(speed, T + after * 1000));

  test("the contracted rate applies until the carrier throttles", () => {
    expect(speeds(fullRate(100), 0, 60)).toEqual([100, 100]);
    expect(speeds(fullRate(null), 0, 60)).toEqual([null, null]);
    expect(pauseLeftMs(fullRate(100), T)).toBe(0);
  });

  test("throttling halves the rate, pauses, and recovers 5 % per second", () => {
    const slowed = throttled(fullRate(100), T, 0);
    expect(pauseLeftMs(slowed, T)).toBe(1000);
    expect(pauseLeftMs(slowed, T + 1000)).toBe(0);
    expect(speeds(slowed, 0, 0.9, 1, 2, 9, 10, 11, 1000)).toEqual([50, 50, 55, 60, 95, 100, 100, 100]);
  });

  test("a window that is throttled at once counts once", () => {
    let speed = fullRate(100);
    for (let ms = 0; ms < 1000; ms += 10) speed = throttled(speed, T + ms, 0);
    expect(speeds(speed, 0)).toEqual([50]);
  });

  test("repeated throttling halves the recovered rate, and never reaches zero", () => {
    let speed = throttled(fullRate(100), T, 0);
    speed = throttled(speed, T + 2000, 0);
    expect(speeds(speed, 2)).toEqual([30]);
    for (let second = 3; second < 60; second++) speed = throttled(speed, T + second * 1000, 0);
    const [last] = speeds(speed, 60);
    expect(last).toBeGreaterThanOrEqual(1);
    expect(last).toBeLessThan(12);
  });

  test("without a contract the rate is half of the measured one, and becomes unlimited again", () => {
    const slowed = throttled(fullRate(null), T, 400);
    expect(speeds(slowed, 0, 10, 29, 30, 31)).toEqual([200, 400, 780, null, null]);
  });

  test("a contract below one message per second is not raised by throttling", () => {
    expect(speeds(throttled(fullRate(0.5), T, 0), 0)).toEqual([0.5]);
  });

  test("a full queue pauses with backoff and keeps the rate", () => {
    let speed = fullRate(100);
    const pauses: number[] = [];
    let now = T;
    for (let time = 0; time < 7; time++) {
      speed = queueFull(speed, now);
      pauses.push(pauseLeftMs(speed, now));
      now = speed.pausedUntil;
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(perSecondAt(speed, now)).toBe(100);
    expect(pauseLeftMs(queueFull(speed, now + 30_000), now + 30_000)).toBe(1000);
  });

  test("responses during a pause do not prolong it", () => {
    const paused = queueFull(fullRate(100), T);
    expect(queueFull(paused, T + 500)).toEqual(paused);
  });

  test("a new contract or share keeps the reduction in proportion", () => {
    expect(speeds(withContract(fullRate(100), 40, T), 0)).toEqual([40]);
    const slowed = throttled(fullRate(100), T, 0);
    expect(speeds(withContract(slowed, 40, T), 0, 1, 10)).toEqual([20, 22, 40]);
    expect(speeds(withContract(slowed, null, T), 0)).toEqual([null]);
    expect(pauseLeftMs(withContract(slowed, 40, T), T)).toBe(1000);
  });

  test("the rate stays between one and the contract, and recovers within twenty seconds", () => {
    const event = fc.tuple(fc.constantFrom("throttled", "queue full"), fc.integer({ min: 0, max: 5000 }));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.array(event, { maxLength: 60 }), (contracted, events) => {
        let speed = fullRate(contracted);
        let now = T;
        for (const [kind, afterMs] of events) {
          now += afterMs;
          speed = kind === "throttled" ? throttled(speed, now, 0) : queueFull(speed, now);
          const perSecond = perSecondAt(speed, now) ?? 0;
          expect(perSecond).toBeGreaterThanOrEqual(1);
          expect(perSecond).toBeLessThanOrEqual(contracted);
        }
        expect(perSecondAt(speed, now + 20_000)).toBe(contracted);
        expect(pauseLeftMs(speed, now + 30_000)).toBe(0);
      }),
    );
  });
});
