import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import { describeApi } from "../../src/http/openapi/openapi.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { DEFAULT_SMS_LIMITS } from "../../src/model/message.ts";

test("Redocly finds neither errors nor warnings in the OpenAPI document", async () => {
  const document = describeApi(ROUTES, {
    baseUrl: "https://messages.example.org",
    version: "0.1.0",
    limits: DEFAULT_SMS_LIMITS,
  });
  const found = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: "/openapi.json",
    config: await createConfig({ extends: ["recommended"] }),
  });
  expect(found.map(({ ruleId, message, location }) => ({ ruleId, message, at: location[0]?.pointer }))).toEqual([]);
});

test("The OpenAPI document shows limits as they are configured", () => {
  const limits = { recipientsMax: 25, textMax: 800, segmentsMax: 5 };
  const { components } = describeApi(ROUTES, { baseUrl: "https://messages.example.org", version: "0.1.0", limits });
  const { to, recipients, text } = components.schemas["SmsRequest"]?.properties ?? {};
  expect(to?.description).toContain("At most 25 in one request.");
  expect(to?.anyOf?.[1]?.maxItems).toBe(25);
  expect(recipients?.maxItems).toBe(25);
  expect(text?.description).toContain("At most 800 characters and 5 segments.");
});
