import * as fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newSecret, sign, signedPayload } from "../../src/webhooks/sign.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const AT = 1_767_225_600;
const BODY = '{"messageId":"0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1"}';

const signed = (payload: string, secrets: readonly string[]): Record<string, string> =>
  sign({ id: "0198f3a2-7c60-7a1e-8a51-3f0c8e2b6d47", timestampSeconds: AT, payload, secrets });

/** Receivers refuse old timestamps, so the clock is fixed. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: AT * 1000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const RECEIVERS = [
  ["standardwebhooks", (secret: string) => new Webhook(secret)],
  ["svix", (secret: string) => new SvixWebhook(secret)],
] as const;

describe("the signature of a push", () => {
  test("it is the one of the published example", () => {
    const headers = sign({
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestampSeconds: 1_674_087_231,
      payload: '{"test": 2432232314}',
      secrets: [SECRET],
    });
    expect(headers).toEqual({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1674087231",
      "webhook-signature": "v1,AQG81rX2n4rTN1fkXoqILSHO9gAOcwya9dP41rhrQDI=",
    });
  });

  test("it is the one that the library of Standard Webhooks makes, whatever is signed", () => {
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.integer({ min: 0, max: 4_102_444_800 }),
        fc.string({ unit: "binary", maxLength: 300 }),
        fc.uint8Array({ minLength: 24, maxLength: 64 }),
        (id, timestampSeconds, payload, bytes) => {
          const secret = `whsec_${Buffer.from(bytes).toString("base64")}`;
          const theirs = new Webhook(secret).sign(id, new Date(timestampSeconds * 1000), payload);
          expect(sign({ id, timestampSeconds, payload, secrets: [secret] })["webhook-signature"]).toBe(theirs);
        },
      ),
    );
  });

  test.each(RECEIVERS)("a receiver with %s accepts the body as sent", (_name, receiver) => {
    expect(() => receiver(SECRET).verify(BODY, signed(BODY, [SECRET]))).not.toThrow();
  });

  test.each(RECEIVERS)("a receiver with %s refuses a body that was changed on the way", (_name, receiver) => {
    expect(() => receiver(SECRET).verify(BODY.replace(":1", ":2"), signed(BODY, [SECRET]))).toThrow("No matching");
  });

  test.each(RECEIVERS)("a receiver with %s refuses a signature of another secret", (_name, receiver) => {
    expect(() => receiver(OTHER).verify(BODY, signed(BODY, [SECRET]))).toThrow("No matching");
  });

  test.each(RECEIVERS)(
    "while a secret is replaced, a receiver with %s may know the old one or the new one",
    (_name, receiver) => {
      const headers = signed(BODY, [OTHER, SECRET]);
      expect(headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
      expect(() => receiver(OTHER).verify(BODY, headers)).not.toThrow();
      expect(() => receiver(SECRET).verify(BODY, headers)).not.toThrow();
    },
  );

  test("nothing goes out unsigned: an endpoint without a secret is a fault of ours", () => {
    expect(() => signed(BODY, [])).toThrow("no secret");
  });
});

describe("the signed payload", () => {
  test("of a POST it is the body", () => {
    expect(signedPayload({ method: "POST", url: "https://shop.example/dlr?a=1", headers: {}, body: BODY })).toBe(BODY);
  });

  test("of a GET the raw query is signed, with the parameters of the configured URL", () => {
    const url = "https://shop.example/dlr?a=1&text=caf%C3%A9%20%26%20bar";
    expect(signedPayload({ method: "GET", url, headers: {}, body: null })).toBe("a=1&text=caf%C3%A9%20%26%20bar");
  });

  test("a receiver with the library can check a GET", () => {
    const payload = "messageId=1&status=Delivered";
    expect(() => new Webhook(SECRET).verify(payload, signed(payload, [SECRET]), { jsonParse: false })).not.toThrow();
  });
});

describe("a new secret", () => {
  test("it is whsec_ and the base64 of 24 random bytes, without padding", () => {
    expect(newSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  });

  test("no two are alike", () => {
    expect(new Set(Array.from({ length: 1000 }, newSecret)).size).toBe(1000);
  });

  test("it signs", () => {
    const secret = newSecret();
    expect(new Webhook(secret).verify(BODY, signed(BODY, [secret]))).toEqual(JSON.parse(BODY));
  });
});
