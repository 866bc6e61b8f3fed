import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { ErrorBody, MessageBody } from "../support/test-server.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";
import type { Answer } from "../support/test-server.ts";

interface Otp {
  data: string | null;
  message: string;
  error: (ErrorBody & { attemptsRemaining?: number }) | null;
}

interface VerificationBody {
  verifyId: string;
  configId: string;
  to: string;
  state: string;
  attempts: number;
  attemptsRemaining: number;
  test: boolean;
  createdAt: number;
  expiresAt: number;
  doneAt: number | null;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MINUTE_MS = 60_000;

let lastNumber = 15_550_300_000;
/** A number that no other test uses. */
const freshNumber = (): string => String((lastNumber += 1));

describe.each(ENGINES)("one-time passwords on %s", (engine) => {
  let server: MovedClockServer;
  beforeAll(async () => {
    server = await startMovedClockServer(engine);
    // No two of these are ever the same.
    await server.request("POST", "/api/verify-configs", { name: "long", length: 10 });
  });
  afterAll(() => server.close());

  const generate = (fields: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Answer<Otp>> =>
    server.request("POST", "/v1/verify", { configId: "default", ...fields }, headers);
  const validate = (verifyId: unknown, otp: unknown, headers: Record<string, string> = {}): Promise<Answer<Otp>> =>
    server.request("POST", "/v1/verify/validate", { verifyId, otp }, headers);
  const stateOf = async (verifyId: string): Promise<VerificationBody> =>
    (await server.request<VerificationBody>("GET", `/v1/verify/${verifyId}`)).body;

  const textOnPhone = async (number: string, verifyId: string): Promise<string> => {
    const found = await eventually(
      async () => (await server.onPhone(number)).find(({ messageId }) => messageId.startsWith(verifyId)),
      (message) => message !== undefined,
    );
    return found?.text ?? "";
  };
  const codeOf = async (number: string, verifyId: string): Promise<string> =>
    /\b\d{6,10}\b/.exec(await textOnPhone(number, verifyId))?.[0] ?? "";

  /** A code on its phone. */
  async function sent(fields: Record<string, unknown> = {}): Promise<{ number: string; id: string; code: string }> {
    const number = freshNumber();
    const { body } = await generate({ to: number, ...fields });
    expect(body.error).toBeNull();
    const id = body.data ?? "";
    return { number, id, code: await codeOf(number, id) };
  }
  const wrong = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, "0");
  const config = async (name: string, fields: object): Promise<string> => {
    const { body, status } = await server.request<{ id: string }>("POST", "/api/verify-configs", { name, ...fields });
    expect([status, body]).toEqual([201, expect.anything()]);
    return body.id;
  };

  describe("generating", () => {
    test("POST /v1/verify returns the OTP envelope with a new verify id each time", async () => {
      const number = freshNumber();
      const first = await generate({ to: number });
      const second = await generate({ to: number });
      expect(first.status).toBe(200);
      expect(first.body).toEqual({
        data: expect.stringMatching(UUID),
        message: "OTP Generated Successfully!",
        error: null,
      });
      expect(second.body.data).not.toBe(first.body.data);
    });

    test("a code of six digits reaches the phone on the OTP route, with its validity", async () => {
      const number = freshNumber();
      const { body } = await generate({ to: `+${number.slice(0, 1)} ${number.slice(1, 4)}-${number.slice(4)}` });
      const text = await textOnPhone(number, body.data ?? "");
      expect(text).toMatch(/^\d{6} is your verification code. It is valid for 5 minutes.$/);
      const message = await server.message(`${body.data}:1`);
      expect(message).toMatchObject({ type: "OTP", sender: "HELIOG", recipient: number } as Partial<MessageBody>);
    });

    test("the configuration is accepted as configId and config-id, by name and by id", async () => {
      const id = await config("both-names", { text: "both-names {code}" });
      for (const fields of [
        { configId: "both-names" },
        { configId: undefined, "config-id": "both-names" },
        { configId: id },
        { configId: id, "config-id": id },
      ]) {
        const number = freshNumber();
        const { body } = await generate({ to: number, ...fields });
        expect(await textOnPhone(number, body.data ?? "")).toMatch(/^both-names \d{6}$/);
      }
    });

    test("two different configurations in one request are refused", async () => {
      const { status, body } = await generate({ to: freshNumber(), configId: "a", "config-id": "b" });
      expect([status, body.data, body.error?.code]).toEqual([400, null, "INVALID_REQUEST"]);
    });

    test("all missing fields are reported at once, in the OTP envelope", async () => {
      const { status, body } = await server.request<Otp>("POST", "/v1/verify", {});
      expect(status).toBe(400);
      expect(body.data).toBeNull();
      expect(body.message).toBe("Some fields are missing or invalid.");
      expect(body.error?.details.map(({ parameter }) => parameter)).toEqual(["configId", "to"]);
    });

    test("an invalid number is refused", async () => {
      const { status, body } = await generate({ to: "12" });
      expect([status, body.error?.code, body.error?.parameter]).toEqual([400, "INVALID_RECIPIENT", "to"]);
    });

    test("an unknown configuration is learned on the simulator, with the defaults", async () => {
      const { id, code } = await sent({ configId: "never-seen" });
      expect((await validate(id, code)).status).toBe(200);
      const { body } = await server.request<{ data: { origin: string; length: number }[] }>(
        "GET",
        "/api/verify-configs?name=never-seen",
      );
      expect(body.data).toMatchObject([{ origin: "learned", length: 6, lifeSeconds: 300, checks: 5 }]);
    });

    test("an unknown configuration is refused where records are strict", async () => {
      await server.request("PATCH", "/api/account", { records: "strict" });
      const { status, body } = await generate({ to: freshNumber(), configId: "strictly-unknown" });
      await server.request("PATCH", "/api/account", { records: "learn" });
      expect([status, body.error?.code, body.error?.parameter]).toEqual([404, "CONFIG_NOT_FOUND", "configId"]);
    });

    test("a country outside the configuration is refused", async () => {
      await config("only-india", { allowedCountries: ["IN"] });
      const { status, body } = await generate({ to: freshNumber(), configId: "only-india" });
      expect([status, body.error?.code]).toEqual([403, "COUNTRY_NOT_ALLOWED"]);
    });

    test("a rule blocks codes to a prefix or a country, and the rule of the longest prefix applies", async () => {
      const number = freshNumber();
      const rule = async (name: string, action: string) => {
        const made = await server.request<{ id: string }>("POST", "/api/verify-rules", { name, action });
        expect(made.status).toBe(201);
        return `/api/verify-rules/${made.body.id}`;
      };
      const blocked = await rule(number.slice(0, -1), "block");
      const { status, body } = await generate({ to: number });
      expect([status, body.error?.code, body.error?.parameter]).toEqual([403, "RECIPIENT_BLOCKED", "to"]);
      const allowed = await rule(number, "allow");
      expect((await generate({ to: number })).status).toBe(200);
      for (const path of [blocked, allowed]) expect((await server.request("DELETE", path)).status).toBe(200);

      const country = await rule("DE", "block");
      const berlin = await generate({ to: "4930123456" });
      expect([berlin.status, berlin.body.error?.code]).toEqual([403, "RECIPIENT_BLOCKED"]);
      await server.request("DELETE", country);
      expect((await generate({ to: "4930123456" })).status).toBe(200);

      for (const name of ["xx", "+91", "0", "XX", "1234567890123456"]) {
        const refused = await server.request<{ error: { parameter: string } }>("POST", "/api/verify-rules", {
          name,
          action: "block",
        });
        expect([refused.status, refused.body.error.parameter]).toEqual([400, "name"]);
      }
    });

    test("the funnel counts sent, delivered, tried and verified codes by country and channel", async () => {
      interface Funnel {
        totals: Record<string, number>;
        data: { country: string; channel: string; sent: number; delivered: number; tried: number; verified: number }[];
      }
      const begin = server.clock.now();
      const numbers = ["919810012301", "919810012302", "919810012303"];
      const ids: string[] = [];
      for (const to of numbers) ids.push((await generate({ to })).body.data ?? "");
      await server.settle();
      const [first = "", second = ""] = numbers;
      const code = async (to: string): Promise<string> =>
        (await server.request<{ otp: string }>("GET", `/api/simulator/otp/latest?to=${to}`)).body.otp;
      expect((await validate(ids[0], await code(first))).status).toBe(200);
      expect((await validate(ids[1], (await code(second)) === "000000" ? "111111" : "000000")).status).toBe(400);
      await server.travel(5000);
      const { body } = await server.request<Funnel>("GET", `/api/verify-funnel?from=${begin}`);
      const india = body.data.find(({ country }) => country === "IN");
      expect(india).toEqual({ country: "IN", channel: "sms", sent: 3, delivered: 3, tried: 2, verified: 1 });
      const none = await server.request<Funnel>("GET", `/api/verify-funnel?to=${begin - 86_400_000}`);
      expect(none.body.totals["sent"]).toBe(0);
    });

    test("the text ends with the app hash and the WebOTP line", async () => {
      await config("lines", { text: "{code} for you", appHash: "FA+9qCX9VSu", webOtpDomain: "example.com" });
      const number = freshNumber();
      const { body } = await generate({ to: number, configId: "lines" });
      const text = await textOnPhone(number, body.data ?? "");
      expect(text).toMatch(/^(\d{6}) for you\nFA\+9qCX9VSu\n@example\.com #\1$/);
    });

    test("a code has the length and the alphabet of its configuration", async () => {
      await config("letters", { text: "{code}", length: 10, alphabet: "letters and digits" });
      const number = freshNumber();
      const { body } = await generate({ to: number, configId: "letters" });
      const code = await textOnPhone(number, body.data ?? "");
      expect(code).toMatch(/^[2-9A-HJKMNP-Z]{10}$/);
      const typed = `${code.slice(0, 5).toLowerCase()} - ${code.slice(5)}`;
      expect((await validate(body.data, typed)).status).toBe(200);
    });

    test("a code fills an SMS template, with the minutes if it has a place for them", async () => {
      await server.request("POST", "/api/templates", {
        name: "otp-text",
        text: "Code {#var#}, good for {#var#} minutes",
      });
      await config("by-template", { channels: [{ channel: "sms", from: "HELIOG", template: "otp-text" }] });
      const number = freshNumber();
      const { body } = await generate({ to: number, configId: "by-template" });
      expect(await textOnPhone(number, body.data ?? "")).toMatch(/^Code \d{6}, good for 5 minutes$/);
    });

    test("a test number has a fixed code", async () => {
      const number = freshNumber();
      await config("with-test-number", { testNumbers: [{ number: `+${number}`, code: "424242" }] });
      const { body } = await generate({ to: number, configId: "with-test-number" });
      expect((await stateOf(body.data ?? "")).test).toBe(true);
      expect((await validate(body.data, "424242")).status).toBe(200);
    });

    test("a request with an idempotency key sends once and gets the same response again", async () => {
      const number = freshNumber();
      const headers = { "idempotency-key": `otp-${number}` };
      const first = await generate({ to: number }, headers);
      const again = await generate({ to: number }, headers);
      expect(again.body).toEqual(first.body);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      await server.settle();
      expect(await server.onPhone(number)).toHaveLength(1);
      const other = await generate({ to: freshNumber() }, headers);
      expect([other.status, other.body.error?.code]).toEqual([422, "IDEMPOTENCY_MISMATCH"]);
    });

    test("POST /v1/verify accepts no other method", async () => {
      const { status, headers } = await server.request("PUT", "/v1/verify", { configId: "default", to: freshNumber() });
      expect([status, headers.get("allow")]).toEqual([405, "POST"]);
    });

    test("POST /v1/verify needs a key with the scope verify", async () => {
      const { body } = await server.request<{ key: string }>("POST", "/api/keys", {
        name: "sms only",
        scopes: ["sms"],
      });
      const refused = await generate({ to: freshNumber() }, { apikey: body.key });
      expect([refused.status, refused.body.data, refused.body.error?.code]).toEqual([403, null, "INSUFFICIENT_SCOPE"]);
    });
  });

  describe("validating", () => {
    test("the right code is verified, and the response echoes the submitted id", async () => {
      const { id, code } = await sent();
      const { status, body } = await validate(id, code);
      expect(status).toBe(200);
      expect(body).toEqual({ data: id, message: "OTP Verified Successfully!", error: null });
      const upper = await sent();
      expect((await validate(upper.id.toUpperCase(), upper.code)).body.data).toBe(upper.id.toUpperCase());
    });

    test("a code is valid once", async () => {
      const { id, code } = await sent();
      await validate(id, code);
      const { status, body } = await validate(id, code);
      expect([status, body.error?.code, body.data]).toEqual([409, "OTP_ALREADY_VERIFIED", id]);
    });

    test("a wrong code returns the remaining checks, and the right one is valid until there are none", async () => {
      const { id, code } = await sent();
      for (const remaining of [4, 3, 2, 1]) {
        const { status, body } = await validate(id, wrong(code));
        expect([status, body.error?.code, body.error?.attemptsRemaining, body.data]).toEqual([
          400,
          "OTP_INCORRECT",
          remaining,
          id,
        ]);
      }
      expect((await validate(id, code)).status).toBe(200);
    });

    test("after five wrong codes the right one is refused too", async () => {
      const { id, code } = await sent();
      for (let tries = 0; tries < 5; tries += 1) expect((await validate(id, wrong(code))).status).toBe(400);
      const { status, body, headers } = await validate(id, code);
      expect([status, body.error?.code, body.data]).toEqual([429, "OTP_ATTEMPTS_EXHAUSTED", id]);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await stateOf(id)).toMatchObject({ state: "exhausted", attempts: 5, attemptsRemaining: 0 });
    });

    test("a new code ends the one before it, for the same number and configuration only", async () => {
      const first = await sent();
      await config("beside", { text: "{code}" });
      const beside = await generate({ to: first.number, configId: "beside" });
      const other = await sent();
      const next = await generate({ to: first.number });
      const old = await validate(first.id, first.code);
      expect([old.status, old.body.error?.code, old.body.data]).toEqual([410, "OTP_SUPERSEDED", first.id]);
      for (const [number, id] of [
        [first.number, next.body.data],
        [first.number, beside.body.data],
        [other.number, other.id],
      ] as const)
        expect((await validate(id, await codeOf(number, id ?? ""))).status).toBe(200);
    });

    test("a code of one verification is not valid for another", async () => {
      const [a, b] = [await sent({ configId: "long" }), await sent({ configId: "long" })];
      expect((await validate(a.id, b.code)).body.error?.code).toBe("OTP_INCORRECT");
      expect((await validate(a.id, a.code)).status).toBe(200);
    });

    test("an unknown id and one of another account get the same response", async () => {
      const { body } = await validate(newId(server.clock.now()), "123456");
      expect([body.error?.code, body.error?.type]).toEqual(["VERIFICATION_NOT_FOUND", "not_found"]);
    });

    test("missing and non-text fields are reported by name, with a well-formed id echoed", async () => {
      const { id } = await sent();
      const missing = await server.request<Otp>("POST", "/v1/verify/validate", { verifyId: id });
      expect([missing.status, missing.body.data]).toEqual([400, id]);
      expect(missing.body.error?.parameter).toBe("otp");
      const number = await server.request<Otp>("POST", "/v1/verify/validate", { verifyId: "4711", otp: 482913 });
      expect(number.body.data).toBeNull();
      expect(number.body.error?.details.map(({ parameter }) => parameter)).toEqual(["verifyId", "otp"]);
    });

    test("a code expires after the validity of its configuration", async () => {
      await config("short", { lifeSeconds: 60, text: "{code}" });
      const usual = await sent();
      const short = await sent({ configId: "short" });
      await server.travel(MINUTE_MS + 1000);
      const { status, body } = await validate(short.id, short.code);
      expect([status, body.error?.code, body.data]).toEqual([410, "OTP_EXPIRED", short.id]);
      expect((await stateOf(short.id)).state).toBe("expired");
      await server.travel(3 * MINUTE_MS);
      expect((await validate(usual.id, usual.code)).status).toBe(200);
    });

    test("a restart keeps codes and their number of checks", async () => {
      const { id, code } = await sent();
      expect((await validate(id, wrong(code))).status).toBe(400);
      const row = await server.app.store.findVerification(1, id);
      expect(row).toMatchObject({ state: "pending", checks: 1 });
    });
  });

  describe("reading", () => {
    test("a verification shows its state and never its code", async () => {
      const { id, number, code } = await sent();
      const answer = await server.request<VerificationBody>("GET", `/v1/verify/${id}`);
      expect(answer.body).toMatchObject({
        verifyId: id,
        configId: "default",
        to: number,
        state: "pending",
        attempts: 0,
      });
      expect(JSON.stringify(answer.body)).not.toContain(code);
      await validate(id, code);
      expect(await stateOf(id)).toMatchObject({ state: "verified", attemptsRemaining: 0 });
    });

    test("an unknown verification is not found", async () => {
      for (const id of [newId(1), "nonsense"]) {
        const { status, body } = await server.request<{ error: ErrorBody }>("GET", `/v1/verify/${id}`);
        expect([status, body.error.code]).toEqual([404, "VERIFICATION_NOT_FOUND"]);
      }
    });

    test("the message of a code never shows it, before or after it is sent", async () => {
      const { id, code } = await sent();
      await server.travel(1000);
      for (const path of [`/v1/messages/${id}:1`, `/api/messages/${id}:1`, "/v1/messages?limit=200"]) {
        const { body } = await server.request("GET", path);
        expect(JSON.stringify(body)).not.toContain(code);
      }
      expect(await server.message(`${id}:1`)).toMatchObject({ text: "", erased: true, status: "Delivered" });
    });
  });
});
