import { describe, expect, test } from "vitest";
import { hideNumbers, maskText, openCursor } from "../src/http/hide-numbers.ts";
import { createSeal } from "../src/lib/seal.ts";

const seal = createSeal(Buffer.alloc(32, 7));

describe("a text without its phone numbers", () => {
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
  ])("%j is shown as %j", (text, shown) => {
    expect(maskText(text)).toBe(shown);
  });

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
  ])("%j holds none, and stays", (text) => {
    expect(maskText(text)).toBe(text);
  });
});

describe("an answer without its phone numbers", () => {
  test("keeps its shape, its times and its ids", () => {
    const answer = {
      data: [{ to: "15550100100", at: 1767225600000, ok: true, none: null, "+15550100100": ["15550100101", 5] }],
      nextCursor: null,
    };
    expect(hideNumbers(answer, seal)).toEqual({
      data: [{ to: "*******0100", at: 1767225600000, ok: true, none: null, "+*******0100": ["*******0101", 5] }],
      nextCursor: null,
    });
  });

  test("seals a place that is a number, and opens it again", () => {
    const { nextCursor } = hideNumbers({ nextCursor: "15550100100" }, seal) as { nextCursor: string };
    expect(nextCursor).not.toContain("0100");
    expect(openCursor(nextCursor, seal)).toBe("15550100100");
    expect(hideNumbers({ nextCursor: "name-7" }, seal)).toEqual({ nextCursor: "name-7" });
    for (const other of ["15550100100", "v1.forged", undefined]) expect(openCursor(other, seal)).toBe(other);
  });

  test("is never what cannot be looked through", () => {
    expect(() => hideNumbers(Buffer.from("15550100100"), seal)).toThrow(TypeError);
    expect(() => hideNumbers({ data: new Map([["a", "15550100100"]]) }, seal)).toThrow(TypeError);
  });
});
