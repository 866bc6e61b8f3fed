import { describe, expect, test } from "vitest";
import { hideNumbers, maskCodes, maskText, openCursor } from "../../src/http/hide-numbers.ts";
import { createEncryption } from "../../src/lib/encryption.ts";

const encryption = createEncryption(Buffer.alloc(32, 7));

describe("masking phone numbers in a text", () => {
  test.each([
    ["15550100100", "*******0100"],
    ["+15550100100", "+*******0100"],
    ["call 15550100100 now", "call *******0100 now"],
    ["(15550100100,15550100101)", "(*******0100,*******0101)"],
    ["+1 (555) 010-0100!", "+*******0100!"],
    ["+91 98765 43210", "+********3210"],
    ["https://a.example/?to=%2B15550100100&x=1", "https://a.example/?to=*******0100&x=1"],
    ["/phones/15550100100/messages", "/phones/*******0100/messages"],
    ['{"mobile":"15550100100"}', '{"mobile":"*******0100"}'],
    ["of:15550100100", "of:*******0100"],
    [String.raw`{"text":"call\n15550100100"}`, String.raw`{"text":"call\n*******0100"}`],
    ["?to%3A15550100100", "?to%3A*******0100"],
    ["+1 (555) 010-0199", "+*******0199"],
    ["1 (555) 010-0199", "*******0199"],
    ["(555) 010-0199", "******0199"],
    ["Call 555-010-0199.", "Call ******0199."],
    ["555.010.0199", "******0199"],
    ["1.555.010.0199", "*******0199"],
    ["555-0199", "***0199"],
    ["98765 43210", "******3210"],
    ["01 23 45 67 89", "******6789"],
    ["01.23.45.67.89", "******6789"],
    ["06 1 234 5678", "******5678"],
    ["612 345 678", "*****5678"],
    ["(030) 1234567", "******4567"],
    ["(call 555-010-0199)", "(call ******0199)"],
    ["555\u00a0010\u00a00199", "******0199"],
    ["555\u2013010\u20130199", "******0199"],
    ["?text=call%20555%20010%200199", "?text=call%20******0199"],
    ["%2B1%20555%20010%200199", "*******0199"],
    [String.raw`{"text":"call\n555 010 0199"}`, String.raw`{"text":"call\n******0199"}`],
    ["on 2026-01-31 555 010 0199", "on 2026-01-31 ******0199"],
    ["49 15550100100", "49 *******0100"],
    ["10.0.0.1 555-010-0199", "10.0.0.1 ******0199"],
  ])("%j is shown as %j", (text, shown) => {
    expect(maskText(text)).toBe(shown);
  });

  test.each(["12 ", "1 234 ", "0-1 ", "10.0.0.1 ", "555-010-0199a ", "2026-01-31 "])(
    "a long text of %j is read in a moment",
    (part) => {
      expect(maskText(`${part.repeat(20_000)}x 555-010-0199`)).toMatch(/x \*{6}0199$/);
    },
  );

  test.each([
    "",
    "order 4711",
    "0198f3a2-7c40-7d1e-9a51-123456789012:1",
    "01983333-7440-7111-9951-123456789012",
    "2026-01-31T18:00:00Z",
    "2026-01-31 18:00:00",
    "1101234567890123456",
    "hg_live_x1234567",
    "v1.abc12345678",
    "999999",
    "2026-01-31",
    "7 2026-01-31",
    "2026-01-31T18:00:00.000-0500",
    "2026-01-31T18:00:00.123456Z",
    "2026-01-31 2026-02-28",
    "31.01.2026",
    "01-31-2026",
    "2024-2026",
    "Wed, 18 Nov 2026 05:35:05 GMT",
    "192.168.100.200",
    "from 192.168.100.200:65535",
    "8080 127.0.0.1 10.0.0.1",
    "203.0.113.255/32",
    "1,234,567.89",
    "1.234.567,89",
    "1.234.567",
    "1 234 567,89",
    "1 234 567 EUR",
    "€ 1 234 567",
    "1234567.89",
    "48.8566, 2.3522",
    "0.1234567",
    "Chrome/120.0.6099.109 Safari/537.36",
    "a1b2-1234-5678",
  ])("%j contains none and stays", (text) => {
    expect(maskText(text)).toBe(text);
  });
});

describe("masking codes in a text", () => {
  test.each([
    ["482913 is your code", "****** is your code"],
    ["Code: X7K2PQ", "Code: ******"],
    ["G-482913, 123-456, 123 456", "G-******, *******, *******"],
    ["@example.com #482913", "@example.com #******"],
    ["Hello, you have 3 letters", "Hello, you have 3 letters"],
  ])("%j is shown as %j", (text, shown) => {
    expect(maskCodes(text)).toBe(shown);
  });
});

describe("a masked response", () => {
  test("keeps its structure, times and ids", () => {
    const answer = {
      data: [{ to: "15550100100", at: 1767225600000, ok: true, none: null, "+15550100100": ["15550100101", 5] }],
      nextCursor: null,
    };
    expect(hideNumbers(answer, encryption)).toEqual({
      data: [{ to: "*******0100", at: 1767225600000, ok: true, none: null, "+*******0100": ["*******0101", 5] }],
      nextCursor: null,
    });
  });

  test("has an encrypted cursor if that contains a number, and it can be decrypted", () => {
    const { nextCursor } = hideNumbers({ nextCursor: "15550100100" }, encryption) as { nextCursor: string };
    expect(nextCursor).not.toContain("0100");
    expect(openCursor(nextCursor, encryption)).toBe("15550100100");
    expect(hideNumbers({ nextCursor: "name-7" }, encryption)).toEqual({ nextCursor: "name-7" });
    for (const other of ["15550100100", "v1.forged", undefined]) expect(openCursor(other, encryption)).toBe(other);
  });

  test("is refused for streams and raw bytes", () => {
    expect(() => hideNumbers(Buffer.from("15550100100"), encryption)).toThrow(TypeError);
    expect(() => hideNumbers({ data: new Map([["a", "15550100100"]]) }, encryption)).toThrow(TypeError);
  });
});
