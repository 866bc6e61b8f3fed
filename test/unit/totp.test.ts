import { describe, expect, test } from "vitest";
import {
  newRecoveryCodes,
  newTotpSecret,
  otpauthUrl,
  readRecoveryCode,
  stepOfCode,
  totpCode,
} from "../../src/accounts/totp.ts";
import { base32 } from "../../src/lib/base32.ts";

/** The secret of the vectors: RFC 6238, appendix B, SHA-1. */
const SECRET = Buffer.from("12345678901234567890");
const STEP_MS = 30_000;

describe("codes by time", () => {
  test.each([
    [59, "94287082"],
    [1_111_111_109, "07081804"],
    [1_111_111_111, "14050471"],
    [1_234_567_890, "89005924"],
    [2_000_000_000, "69279037"],
    [20_000_000_000, "65353130"],
  ])("at %i seconds RFC 6238 has %s", (seconds, code) => {
    expect(totpCode(SECRET, Math.floor(seconds / 30), 8)).toBe(code);
    expect(stepOfCode(SECRET, code.slice(2), seconds * 1000)).toBe(Math.floor(seconds / 30));
  });

  const counted = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"];
  test.each(counted.map((code, counter) => [counter, code] as const))(
    "as a counter, %i gives %s of RFC 4226",
    (counter, code) => {
      expect(totpCode(SECRET, counter)).toBe(code);
    },
  );

  test("a code is good half a minute before and after its own, and no longer", () => {
    const now = 1_767_225_600_000;
    const step = now / STEP_MS;
    const code = totpCode(SECRET, step);
    expect(stepOfCode(SECRET, code, now - STEP_MS)).toBe(step);
    expect(stepOfCode(SECRET, code, now + 2 * STEP_MS - 1)).toBe(step);
    expect(stepOfCode(SECRET, code, now - STEP_MS - 1)).toBeNull();
    expect(stepOfCode(SECRET, code, now + 2 * STEP_MS)).toBeNull();
  });

  test.each(["", "12345", "1234567", "abcdef", "１２３４５６", "-00001"])("%j is no code", (code) => {
    expect(stepOfCode(SECRET, code, 59_000)).toBeNull();
  });
});

test.each([
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
])("base 32 of %j is %j, as RFC 4648 has it without padding", (text, expected) => {
  expect(base32(Buffer.from(text))).toBe(expected);
});

test("an authenticator app reads all it needs from one address", () => {
  const url = new URL(otpauthUrl(SECRET, "ann+x@example.com", "Helio graph"));
  expect(url.protocol).toBe("otpauth:");
  expect(decodeURIComponent(url.pathname)).toContain("Helio graph:ann+x@example.com");
  expect(Object.fromEntries(url.searchParams)).toEqual({
    secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
    issuer: "Helio graph",
    period: "30",
    digits: "6",
  });
});

test("secrets are 160 random bits, and recovery codes ten of 80", () => {
  expect(newTotpSecret()).toHaveLength(20);
  expect(newTotpSecret()).not.toEqual(newTotpSecret());
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) {
    expect(code).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
    expect(readRecoveryCode(` ${code.toUpperCase().replaceAll("-", " ")} `)).toBe(code.replaceAll("-", ""));
  }
  for (const other of ["", "123456", "aaaa-aaaa-aaaa-aaa1"]) expect(readRecoveryCode(other)).toBeNull();
});
