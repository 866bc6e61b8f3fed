import { describe, expect, test } from "vitest";
import { readChat } from "../../src/channels/chatapp/read.ts";
import { readRcs } from "../../src/channels/rcs/read.ts";
import { readSms } from "../../src/channels/sms/read.ts";
import { readWays } from "../../src/channels/ways/read.ts";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import { Problem, type Fault } from "../../src/model/problem.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { readGenerate, readOutcome, readValidate } from "../../src/otp/read.ts";

const RULES = { recipientsMax: 1000, textMax: 1600, segmentsMax: 12 };
const NOW = 1_767_225_600_000;
const LIST_RULES = { recipientsMax: 1000, now: NOW };

type Body = Record<string, unknown>;

interface Operation {
  read(body: unknown): unknown;
  body: Body;
}

/** The operations of `/v1` that take a body, by their path. */
const OPERATIONS: Record<string, Operation> = {
  "/v1/sms": {
    read: (body) => readSms(body, RULES, DEFAULT_SETTINGS, NOW),
    body: { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" },
  },
  "/v1/rcs": {
    read: (body) => readRcs(body, LIST_RULES, DEFAULT_SETTINGS),
    body: { number: "+15550100100", templateName: "hello", botId: "bot", type: "TRANS" },
  },
  "/v1/chatapp": {
    read: (body) => readChat(body, LIST_RULES, DEFAULT_SETTINGS),
    body: { from: "+15550100200", to: "15550100100", templateName: "hello", type: "template" },
  },
  "/v1/messages": {
    read: (body) => readWays(body, RULES, DEFAULT_SETTINGS, NOW),
    body: { to: "15550100100", type: "TRANS", ways: [{ channel: "sms", sender: "HELIOG", text: "Hello" }] },
  },
  "/v1/verify": {
    read: (body) => readGenerate(body, DEFAULT_SETTINGS),
    body: { configId: "default", to: "15550100100" },
  },
  "/v1/verify/validate": {
    read: (body) => readValidate(body),
    body: { verifyId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47", otp: "123456" },
  },
  "/v1/verify/:verifyId/outcome": { read: (body) => readOutcome(body), body: { outcome: "used" } },
};

/** Resources apart from sends. Their bodies share field names with sends, but a client does not confuse them. */
const RESOURCES = ["/v1/audiences", "/v1/campaigns", "/v1/contact", "/v1/conversations", "/v1/erasures", "/v1/inbound"];
const isOfResource = (path: string): boolean => RESOURCES.some((resource) => path.startsWith(resource));

/** The fields of every published body of a send or a verification, by path. */
const PUBLISHED = new Map(
  ROUTES.filter(({ path, method }) => path.startsWith("/v1/") && method === "POST" && !isOfResource(path)).flatMap(
    (route) => ("body" in route && route.body ? [[route.path, Object.keys(route.body.properties ?? {})] as const] : []),
  ),
);
const FIELDS = [...new Set([...PUBLISHED.values()].flat())];

function problemFaults(read: () => unknown): readonly Fault[] {
  try {
    read();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "INVALID_REQUEST") throw error;
    return error.faults;
  }
  return [];
}

const faultsOf = (read: () => unknown): string[] => problemFaults(read).map(({ parameter }) => parameter);

test("every send and verification of /v1 is here, and so are all their fields", () => {
  const paths = [...PUBLISHED.keys()].filter((path) => !path.endsWith("/preview"));
  expect(new Set(paths)).toEqual(new Set(Object.keys(OPERATIONS)));
  for (const path of ["/v1/sms", "/v1/rcs", "/v1/chatapp"])
    expect(PUBLISHED.get(`${path}/preview`)).toEqual(PUBLISHED.get(path));
  const named = ["sendAt", "ways", "moveOnAfterSeconds", "code", "mode", "configId", "verifyId", "otp", "outcome", "number", "from", "to"]; // prettier-ignore
  expect(FIELDS).toEqual(expect.arrayContaining(named));
});

describe.each(Object.entries(OPERATIONS))("the body of %s", (path, { read, body }) => {
  const misplaced = FIELDS.filter((field) => !PUBLISHED.get(path)?.includes(field));

  test("a body with unknown fields, or null for unsupported ones, is accepted", () => {
    expect(faultsOf(() => read(body))).toEqual([]);
    expect(faultsOf(() => read({ ...body, colour: "blue", sendat: 1, constructor: 1 }))).toEqual([]);
    expect(faultsOf(() => read({ ...body, ...Object.fromEntries(misplaced.map((field) => [field, null])) }))).toEqual(
      [],
    );
  });

  test.each(misplaced)("is refused with %s, which another operation takes", (field) => {
    expect(faultsOf(() => read({ ...body, [field]: "x" }))).toEqual([field]);
  });
});

test("both names of a field are taken: number and from of RCS, configId and config-id", () => {
  const rcs = OPERATIONS["/v1/rcs"];
  expect(faultsOf(() => rcs?.read({ ...rcs.body, from: "+15550100100" }))).toEqual([]);
  expect(faultsOf(() => rcs?.read({ ...rcs.body, number: undefined, from: "+15550100100" }))).toEqual([]);
  const verify = OPERATIONS["/v1/verify"];
  expect(faultsOf(() => verify?.read({ to: "15550100100", "config-id": "default" }))).toEqual([]);
});

test.each([
  ["/v1/verify", "sendAt", "/v1/sms, /v1/rcs, /v1/chatapp or /v1/messages"],
  ["/v1/verify", "recipients", "/v1/sms, /v1/rcs or /v1/chatapp"],
  ["/v1/verify", "campaignName", "/v1/sms, /v1/rcs, /v1/chatapp or /v1/messages"],
  ["/v1/rcs", "sender", "/v1/sms or the sms way of /v1/messages"],
  ["/v1/sms", "channel", "the rcs way of /v1/messages, the chatapp way of /v1/messages or the sms way of /v1/messages"],
])("a refusal by %s of %s names where it belongs: %s", (path, field, owners) => {
  const operation = OPERATIONS[path];
  expect(problemFaults(() => operation?.read({ ...operation.body, [field]: "x" }))).toEqual([
    { parameter: field, message: `${field} belongs to ${owners} and does nothing here: leave it out.` },
  ]);
});

describe("values of a chat-app template", () => {
  const read = (params: readonly unknown[]): string[] =>
    faultsOf(() => readChat({ ...OPERATIONS["/v1/chatapp"]?.body, components: { body: { params } } }, LIST_RULES, DEFAULT_SETTINGS)); // prettier-ignore

  test.each([
    ["a line break", "a\nb"],
    ["a carriage return", "a\rb"],
    ["a tab", "a\tb"],
    ["five spaces in a row", "a     b"],
    ["nothing", ""],
    ["nothing but spaces", "  "],
  ])("are refused with %s, by their path", (_, value) => {
    expect(read(["fine", value])).toEqual(["components.body.params[1]"]);
  });

  test("are taken with anything else that the platform takes", () => {
    expect(read(["Asha", "a    b", "ORD-9271 / 7.50 €", "नमस्ते", " x "])).toEqual([]);
  });
});
