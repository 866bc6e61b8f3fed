import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSeal } from "../src/lib/seal.ts";

const KEY = Buffer.alloc(32, 7);
const { seal, open } = createSeal(KEY);

describe("a seal", () => {
  test("what was sealed opens to the same text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 500 }), (text) => {
        expect(open(seal(text))).toBe(text.toWellFormed());
      }),
    );
  });

  test("another seal with the same key opens it, so that every node and every start can", () => {
    expect(createSeal(Buffer.alloc(32, 7)).open(seal("whsec_1"))).toBe("whsec_1");
  });

  test("the same text is sealed differently each time", () => {
    expect(new Set(Array.from({ length: 1000 }, () => seal("whsec_1"))).size).toBe(1000);
  });

  test("nothing of the text can be seen, and the form is named in front", () => {
    const sealed = seal("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    expect(sealed).toMatch(/^v1\.[A-Za-z0-9_-]+$/);
    expect(sealed).not.toContain("whsec");
    expect(Buffer.from(sealed.slice(3), "base64url").includes("whsec")).toBe(false);
  });

  test("a value with any one character changed, added or lost does not open", () => {
    const sealed = seal("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    const character = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 1 });
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), fc.constantFrom(0, 1), fc.option(character), (place, lost, put) => {
        const changed = sealed.slice(0, place) + (put ?? "") + sealed.slice(place + lost);
        fc.pre(changed !== sealed);
        expect(() => open(changed)).toThrow("does not open");
      }),
      { numRuns: 2000 },
    );
  });

  test("every single bit counts", () => {
    const bytes = Buffer.from(seal("whsec_1").slice(3), "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => open(`v1.${changed.toString("base64url")}`)).toThrow("does not open");
    }
  });

  test("another key does not open it", () => {
    expect(() => createSeal(randomBytes(32)).open(seal("whsec_1"))).toThrow("another key");
  });

  test.each(["", "v1.", "v1.AAAA", "v2.AAAA", "whsec_1", `v1.${"A".repeat(37)}`])("%j is no sealed value", (value) => {
    expect(() => open(value)).toThrow("it is not one");
  });

  test.each([0, 16, 31, 33])("a key of %i bytes is refused", (length) => {
    expect(() => createSeal(Buffer.alloc(length))).toThrow("32 bytes");
  });
});
