import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { twilio } from "../../src/facades/twilio/facade.ts";
import { createLogin, type Login } from "../support/credential.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const NAMES = [
  "To", "From", "Body", "MessagingServiceSid", "MediaUrl", "StatusCallback", "ValidityPeriod", "ScheduleType", "SendAt",
  "ContentSid", "ContentVariables", "Status", "Channel", "Code", "CustomCode", "VerificationSid", "PageSize", "PageToken",
  "DateSent", "DateSent>", "__proto__", "constructor",
]; // prettier-ignore
const VALUES = [
  "+15550100100", "whatsapp:+15550100100", "rcs:shop", "rcs:", "HELIOG", "", " ", "0", "-1", "1e9", "fixed", "canceled",
  "2030-01-01", "{}", '{"1":"x"}', "[]", "null", "sms", "call", "135790", `HX${"0".repeat(32)}`, "http://[::1", "\0",
  "x".repeat(2000), "😀", "__proto__", "toString",
]; // prettier-ignore

const isTwilioError = (
  { code, message, more_info: page, status, ...rest }: Record<string, unknown>,
  expected: number,
) =>
  typeof code === "number" &&
  typeof message === "string" &&
  page === `https://www.twilio.com/docs/errors/${code}` &&
  status === expected &&
  Object.keys(rest).length === 0;

describe("hostile requests to the Twilio API", () => {
  let server: TestServer;
  let login: Login;

  beforeAll(async () => {
    server = await startTestServer("sqlite");
    login = await createLogin(server, "twilio");
  });
  afterAll(() => server.close());

  test("get an answer in Twilio's form and never a fault of the server, whatever their fields and paths are", async () => {
    const value = fc.oneof(fc.constantFrom(...VALUES), fc.string({ unit: "binary", maxLength: 30 }));
    const fields = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 9 })), value), {
      maxLength: 9,
    });
    const sid = fc.oneof(
      fc.constantFrom(`SM${"0".repeat(32)}`, `VE${"0".repeat(32)}`, `VA${"0".repeat(32)}`, "+15550100100", "toString"),
      fc.stringMatching(/^[\w-]{1,40}$/),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...twilio.routes),
        sid,
        fields,
        fc.boolean(),
        async (route, id, form, hasUser) => {
          const path = route.path.replace(":accountSid", login.username).replaceAll(/:\w+/g, encodeURIComponent(id));
          const body = new URLSearchParams();
          for (const [name, given] of form) body.append(name.toWellFormed(), given.toWellFormed());
          const answer = await fetch(server.url + path + (route.method === "GET" ? `?${body.toString()}` : ""), {
            method: route.method,
            headers: { authorization: `Basic ${btoa(`${login.username}:${hasUser ? login.password : "wrong"}`)}` },
            ...(route.method === "POST" && { body }),
          });
          expect(answer.status, `${route.method} ${path} ${body.toString()}`).toBeLessThan(500);
          const told = answer.status === 204 ? {} : ((await answer.json()) as Record<string, unknown>);
          const isRefusal = answer.status >= 300;
          expect("more_info" in told).toBe(isRefusal);
          expect(isRefusal ? isTwilioError(told, answer.status) : true).toBe(true);
          expect(hasUser || [401, 429].includes(answer.status)).toBe(true);
        },
      ),
      { numRuns: 400 },
    );
  });
});
