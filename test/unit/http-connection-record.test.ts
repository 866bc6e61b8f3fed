import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  completeHttpConnection,
  parseHttpConnection,
  showHttpConnection,
} from "../../src/records/types/http-connection.ts";
import { httpRequestSchema, type HttpFields } from "../../src/records/types/http-connection-schema.ts";
import { createEncryption } from "../../src/lib/encryption.ts";
import { shapeChecker } from "../../src/lib/shape.ts";
import {
  HTTP_DEFAULTS,
  HTTP_MEANINGS,
  HTTP_PRESETS,
  decryptedHttpConnection,
  type HttpConnectionSettings,
} from "../../src/model/http-connection.ts";
import { sampleFields } from "../../src/model/http-template.ts";
import { Problem, type Fault } from "../../src/model/problem.ts";
import { createSecretFactory } from "../../src/webhooks/secrets.ts";

const secretFactory = createSecretFactory(createEncryption(Buffer.alloc(32, 7)));
const shapeFaults = shapeChecker(httpRequestSchema);

const faultsOf = (fields: HttpFields, known: HttpConnectionSettings | null = null): Fault[] => {
  const faults: Fault[] = shapeFaults(fields).map(({ parameter, message }) => ({
    parameter: `http.${parameter}`,
    message,
  }));
  if (faults.length === 0) parseHttpConnection(fields, known, faults);
  return faults;
};

/** Stores a connection like the catalog; throws on faults. */
function saved(fields: HttpFields, known: HttpConnectionSettings | null = null): HttpConnectionSettings {
  expect(shapeFaults(fields)).toEqual([]);
  const faults: Fault[] = [];
  const read = parseHttpConnection(fields, known, faults);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  return completeHttpConnection(read, known, secretFactory);
}

const opened = (line: HttpConnectionSettings): Readonly<Record<string, string>> =>
  decryptedHttpConnection(line, secretFactory.decrypt).secrets;

const KANNEL: HttpFields = {
  preset: "kannel",
  baseUrl: "http://kannel.internal:13013/",
  values: { username: "u" },
  secrets: { password: "p4ss" },
};
const PLAIN: HttpFields = { baseUrl: "https://api.example", path: "/send?to={{recipient}}&text={{text}}" };

/** Fields that an operator must supply for each preset. */
const ACCOUNTS: Readonly<Record<string, HttpFields>> = {
  kannel: KANNEL,
  twilio: { values: { accountSid: "AC1" }, secrets: { authToken: "t" } },
  sinch: { values: { servicePlanId: "p" }, secrets: { apiToken: "t" } },
  vonage: { values: { apiKey: "k" }, secrets: { apiSecret: "s" } },
  infobip: { baseUrl: "https://abc12.api.infobip.com", secrets: { apiKey: "k" } },
  exotel: { values: { accountSid: "shop", apiKey: "k" }, secrets: { apiToken: "t" } },
  msg91: { secrets: { authKey: "k" } },
  gupshup: { values: { userId: "2000" }, secrets: { password: "p" } },
  kaleyra: { values: { sid: "HX1", callbackProfileId: "IN_1" }, secrets: { apiKey: "k" } },
  routemobile: { values: { username: "u" }, secrets: { password: "p" } },
  smsgate: { values: { username: "u" }, secrets: { password: "p" } },
  textbee: { values: { deviceId: "d" }, secrets: { apiKey: "k" } },
  httpsms: { secrets: { apiKey: "k" } },
};

describe("a preset", () => {
  test.each(HTTP_PRESETS)("%s needs only account names and secrets", (preset) => {
    const line = saved({ ...ACCOUNTS[preset], preset });
    expect(showHttpConnection(line)).toMatchObject({ preset, receipts: expect.anything() });
    // Their inbound messages have no documented form.
    const isOneWay = ["msg91", "gupshup", "kaleyra", "routemobile"].includes(preset);
    expect(showHttpConnection(line).inbound === null).toBe(isOneWay);
  });

  test.each(HTTP_PRESETS)("%s without them lists the missing ones", (preset) => {
    const faults = faultsOf({ preset, baseUrl: "https://api.example" });
    const names = Object.keys({ ...ACCOUNTS[preset]?.values, ...ACCOUNTS[preset]?.secrets });
    for (const name of names) expect(faults.map(({ message }) => message).join("\n")).toContain(name);
  });

  test("given fields override it", () => {
    expect(saved({ ...KANNEL, answer: "thanks", timeoutSeconds: 5 })).toMatchObject({
      answer: "thanks",
      timeoutSeconds: 5,
      method: "GET",
      baseUrl: "http://kannel.internal:13013",
    });
  });

  test("replacing it resets its defaults", () => {
    const line = saved(KANNEL);
    const next = saved({ ...ACCOUNTS["twilio"], preset: "twilio" }, line);
    expect(next).toMatchObject({ preset: "twilio", method: "POST", baseUrl: "https://api.twilio.com" });
  });

  test("a preset stays when another field changes", () => {
    const line = saved({ ...KANNEL, answer: "thanks" });
    expect(saved({ timeoutSeconds: 9 }, line)).toEqual({ ...line, timeoutSeconds: 9 });
  });
});

describe("secrets", () => {
  test("secrets are encrypted, and only their names are shown", () => {
    const line = saved(KANNEL);
    expect(JSON.stringify(line)).not.toContain("p4ss");
    const shown = showHttpConnection(line);
    expect(shown.secretNames).toEqual(["callback", "password"]);
    expect(shown).not.toHaveProperty("secrets");
    expect(opened(line)).toMatchObject({ password: "p4ss", callback: expect.stringMatching(/^[\w-]{32}$/) });
  });

  test.each(HTTP_PRESETS)("a shown record of %s can be imported again, as an exported file does", (preset) => {
    const line = saved({ ...ACCOUNTS[preset], preset });
    expect(saved(showHttpConnection(line) as HttpFields, line)).toEqual(line);
  });

  test("the same secret given again changes nothing", () => {
    const line = saved(KANNEL);
    expect(saved({ secrets: { password: "p4ss" } }, line)).toEqual(line);
  });

  test("secrets are changed one by one, and removed with null", () => {
    const line = saved({ ...KANNEL, secrets: { password: "p4ss", old: "x" } });
    const next = saved({ secrets: { password: "new", old: null } }, line);
    expect(opened(next)).toEqual({ password: "new", callback: opened(line)["callback"] });
  });

  test("after a change the previous callback secret stays valid until it is removed", () => {
    const line = saved({ ...KANNEL, secrets: { password: "p", callback: "first-0123456789abc" } });
    const next = saved({ secrets: { callback: "second-0123456789abc" } }, line);
    expect(opened(next)).toMatchObject({ callback: "second-0123456789abc", callbackBefore: "first-0123456789abc" });
    expect(opened(saved({ secrets: { callbackBefore: null } }, next))).not.toHaveProperty("callbackBefore");
  });

  test.each(["https://kannel.internal:13013", "http://kannel.internal:13014", "http://other.internal:13013"])(
    "secrets must be given again for %s, because they are bound to their host",
    (baseUrl) => {
      const line = saved(KANNEL);
      expect(faultsOf({ baseUrl }, line)).toMatchObject([
        { parameter: "http.path", message: expect.stringContaining("password") },
      ]);
      const next = saved({ baseUrl, secrets: { password: "again" } }, line);
      expect(opened(next)["password"]).toBe("again");
      expect(opened(next)["callback"]).not.toBe(opened(line)["callback"]);
    },
  );

  test("another path of the same host keeps them", () => {
    const line = saved(KANNEL);
    expect(opened(saved({ baseUrl: "http://kannel.internal:13013/gateway" }, line))).toEqual(opened(line));
  });

  test("a record changed concurrently does not get another host's secret", () => {
    const line = saved(KANNEL);
    const read = parseHttpConnection({ timeoutSeconds: 9 }, line, []);
    const moved = saved({ baseUrl: "http://other:1", secrets: { password: "x" } }, line);
    expect(() => completeHttpConnection(read, moved, secretFactory)).toThrow(Problem);
  });

  test("an inherited property name is an ordinary secret name", () => {
    const line = saved({
      ...PLAIN,
      headers: { "x-key": "{{secret:constructor}}" },
      secrets: { constructor: "c" },
    });
    expect(opened(line)).toEqual({ constructor: "c" });
    expect(faultsOf({ ...PLAIN, headers: { "x-key": "{{secret:toString}}" } })).toHaveLength(1);
  });

  test("header authentication requires its secret", () => {
    const fields: HttpFields = { ...KANNEL, proof: { kind: "header", header: "x-key" } };
    expect(() => saved(fields)).toThrow(Problem);
    expect(saved({ ...fields, secrets: { password: "p", callback: "any text" } }).proof).toEqual({
      kind: "header",
      header: "x-key",
      prefix: "",
    });
  });
});

describe("faults are reported by field", () => {
  test.each<[HttpFields, string, RegExp]>([
    [{ baseUrl: "" }, "http.baseUrl", /URL such as/],
    [{ baseUrl: "ftp://a.example" }, "http.baseUrl", /URL such as/],
    [{ baseUrl: "https://user:pw@a.example" }, "http.baseUrl", /without placeholders, user name/],
    [{ baseUrl: "https://a.example?x=1" }, "http.baseUrl", /query/],
    [{ baseUrl: "https://{{value:host}}" }, "http.baseUrl", /placeholders/],
    [{ path: "send" }, "http.path", /slash/],
    [{ path: "/send?to={{phone}}" }, "http.path", /\{\{phone\}\} is nothing that a message has/],
    [{ headers: { "x-a": "{{nothing}}" } }, "http.headers.x-a", /nothing that a message has/],
    [{ headers: { host: "a" } }, "http.headers.host", /may not set this header/],
    [{ headers: { "Transfer-Encoding": "a" } }, "http.headers.Transfer-Encoding", /may not set this header/],
    [{ headers: { "a b": "a" } }, "http.headers.a b", /may not set this header/],
    [{ basicAuth: { user: "{{sender}}", password: "x" } }, "http.basicAuth.user", /differs/],
    [{ basicAuth: { user: "a:b", password: "x" } }, "http.basicAuth.user", /colon/],
    [{ basicAuth: { user: "a", password: "x" }, headers: { Authorization: "b" } }, "http.basicAuth", /already/],
    [{ body: "a={{text}}" }, "http.body", /bodyType/],
    [{ method: "GET", bodyType: "form", body: "a=1" }, "http.bodyType", /GET has no body/],
    [
      { bodyType: "json", body: '{"a":"{{text}}"{{?flash}},{{/flash}}}' },
      "http.body",
      /not valid JSON for a message that is .*flash/,
    ],
    [{ bodyType: "json", body: '{"a":{{text}}}' }, "http.body", /between quotes/],
    [{ bodyType: "raw", body: "a {{text}}" }, "http.body", /one placeholder/],
    [{ values: { "a b": "x" } }, "http.values", /letters and digits/],
    [{ values: { a: "x\ny" } }, "http.values.a", /plain text/],
    [{ secrets: { callback: "short" } }, "http.secrets.callback", /16 to 128/],
    [{ success: { statuses: ["20x"] } }, "http.success.statuses[0]", /202/],
    [{ success: { statuses: [] } }, "http.success.statuses", /At least one success status/],
    [{ success: { path: "a..b" } }, "http.success.path", /A path is written/],
    [{ id: "" }, "http.id.path", /A path is written/],
    [{ id: {} }, "http.id", /Specify a path/],
    [{ id: { pattern: "(*)(*)" } }, "http.id.pattern", /at most one/],
    [{ errors: [{ meaning: "retry" }] }, "http.errors[0]", /every response/],
    [{ errors: [{ status: "abc", meaning: "retry" }] }, "http.errors[0].status", /202/],
    [{ callbackQuery: "t={{text}}" }, "http.callbackQuery", /our own address/],
    [{ proof: { kind: "header" } }, "http.proof.header", /Specify the header/],
    [{ id: "id", receipts: { status: "s", states: { a: "delivered" } } }, "http.receipts", /specify id or ref/],
    [{ id: "id", receipts: { id: "id", status: "s" } }, "http.receipts.states", /meaning of 1 to/],
    [{ id: "id", receipts: { id: "id", states: { a: "delivered" } } }, "http.receipts.status", /Specify a path/],
    [{ receipts: { id: "id", status: "s", states: { a: "delivered" } } }, "http.id", /\{\{messageId\}\}/],
    [
      {
        id: "messages[*].id",
        callbackQuery: "ref={{messageId}}",
        receipts: { ref: "ref", status: "s", states: { a: "delivered" } },
      },
      "http.receipts.ref",
      /receipt of one part to all/,
    ],
    [{ inbound: { from: "f", to: "t" } }, "http.inbound.text", /Specify a path/],
    [{ bdoy: "x" } as HttpFields, "http.bdoy", /no such field/],
  ])("%j", (fields, parameter, message) => {
    const found = faultsOf({ ...PLAIN, ...fields }).find((fault) => fault.parameter === parameter);
    expect(found?.message).toMatch(message);
  });

  test("a complete custom connection has no faults", () => {
    const line = saved({
      ...PLAIN,
      bodyType: "json",
      body: '{"t":"{{text}}"{{?flash}},"flash":true{{/flash}},"ref":"{{messageId}}"}',
      headers: { "X-Api-Key": "{{secret:key}}" },
      secrets: { key: "k" },
      success: { path: "ok", equals: ["true"] },
      id: { path: "data", pattern: "id:(*)" },
      errors: [{ status: "5xx", meaning: "retry" }],
      receipts: { id: "id", status: "state", states: { ok: "delivered" } },
    });
    expect(line).toMatchObject({
      id: { path: "data", pattern: "id:(*)" },
      success: { statuses: ["2xx"], path: "ok", pattern: null, equals: ["true"] },
      receipts: { id: { path: "id", pattern: null }, ref: null, each: null, time: null },
    });
  });
});

describe("the documentation page", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/carriers-http.md"), "utf8");

  test("the documentation page's examples form a valid connection", () => {
    const examples = [...page.matchAll(/ {3}```json\n([^`]*)```/g)].map(
      ([, text = ""]) => JSON.parse(text) as HttpFields,
    );
    expect(examples).toHaveLength(3);
    expect(saved({ ...Object.assign({}, ...examples), secrets: { token: "t" } })).toMatchObject({
      id: { path: "message.id" },
    });
  });

  test("the documentation page names every field, placeholder and meaning", () => {
    const [sample = {}] = sampleFields();
    const names = [...Object.keys(HTTP_DEFAULTS), ...Object.keys(sample), ...HTTP_MEANINGS, ...HTTP_PRESETS, "secrets"];
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
  });
});
