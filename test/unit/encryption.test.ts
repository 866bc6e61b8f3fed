import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEncryption } from "../../src/lib/encryption.ts";
import { repetitions } from "../support/repetitions.ts";

const KEY = Buffer.alloc(32, 7);
const { encrypt, decrypt } = createEncryption(KEY);

describe("Encryption", () => {
  test("decrypting an encrypted text returns the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 500 }), (text) => {
        expect(decrypt(encrypt(text))).toBe(text.toWellFormed());
      }),
    );
  });

  test("another instance with the same key decrypts a value, so that every node can", () => {
    expect(createEncryption(Buffer.alloc(32, 7)).decrypt(encrypt("whsec_1"))).toBe("whsec_1");
  });

  test("equal texts have different ciphertexts", () => {
    expect(new Set(Array.from({ length: 1000 }, () => encrypt("whsec_1"))).size).toBe(1000);
  });

  test("an encrypted value begins with its format and reveals nothing of the text", () => {
    const encrypted = encrypt("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    expect(encrypted).toMatch(/^v1\.[A-Za-z0-9_-]+$/);
    expect(encrypted).not.toContain("whsec");
    expect(Buffer.from(encrypted.slice(3), "base64url").includes("whsec")).toBe(false);
  });

  test("a value with one character changed, added or removed cannot be decrypted", () => {
    const encrypted = encrypt("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    const character = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 1 });
    fc.assert(
      fc.property(fc.nat(encrypted.length - 1), fc.constantFrom(0, 1), fc.option(character), (place, lost, put) => {
        const changed = encrypted.slice(0, place) + (put ?? "") + encrypted.slice(place + lost);
        fc.pre(changed !== encrypted);
        expect(() => decrypt(changed)).toThrow("cannot be decrypted");
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  test("a value with one bit flipped cannot be decrypted", () => {
    const bytes = Buffer.from(encrypt("whsec_1").slice(3), "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => decrypt(`v1.${changed.toString("base64url")}`)).toThrow("cannot be decrypted");
    }
  });

  test("another key cannot decrypt a value", () => {
    expect(() => createEncryption(randomBytes(32)).decrypt(encrypt("whsec_1"))).toThrow("another key");
  });

  test.each(["", "v1.", "v1.AAAA", "v2.AAAA", "whsec_1", `v1.${"A".repeat(37)}`])(
    "%j is no encrypted value",
    (value) => {
      expect(() => decrypt(value)).toThrow("its format is unknown");
    },
  );

  test.each([0, 16, 31, 33])("a key of %i bytes is refused", (length) => {
    expect(() => createEncryption(Buffer.alloc(length))).toThrow("32 bytes");
  });
});
