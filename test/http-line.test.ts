import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  completeHttpLine,
  httpGiven,
  readHttpLine,
  showHttpLine,
  type HttpFields,
} from "../src/catalog/kinds/http-line.ts";
import { createSeal } from "../src/lib/seal.ts";
import { shapeChecker } from "../src/lib/shape.ts";
import { HTTP_DEFAULTS, HTTP_MEANINGS, HTTP_PRESETS, openedHttpLine, type HttpLine } from "../src/model/http-line.ts";
import { sampleFields } from "../src/model/http-template.ts";
import { Problem, type Fault } from "../src/model/problem.ts";
import { createMint } from "../src/webhooks/mint.ts";

const mint = createMint(createSeal(Buffer.alloc(32, 7)));
const shapeFaults = shapeChecker(httpGiven);

const faultsOf = (fields: HttpFields, known: HttpLine | null = null): Fault[] => {
  const faults: Fault[] = [];
  readHttpLine(fields, known, faults);
  return faults;
};

/** Stores a line as the catalog does; what is wrong is thrown. */
function saved(fields: HttpFields, known: HttpLine | null = null): HttpLine {
  expect(shapeFaults(fields)).toEqual([]);
  const faults: Fault[] = [];
  const read = readHttpLine(fields, known, faults);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  return completeHttpLine(read, known, mint);
}

const opened = (line: HttpLine): Readonly<Record<string, string>> => openedHttpLine(line, mint.open).secrets;

const KANNEL: HttpFields = {
  preset: "kannel",
  baseUrl: "http://kannel.internal:13013/",
  values: { username: "u" },
  secrets: { password: "p4ss" },
};
const PLAIN: HttpFields = { baseUrl: "https://api.example", path: "/send?to={{recipient}}&text={{text}}" };

/** What of each preset an operator has to give. */
const ACCOUNTS: Readonly<Record<string, HttpFields>> = {
  kannel: KANNEL,
  twilio: { values: { accountSid: "AC1" }, secrets: { authToken: "t" } },
  sinch: { values: { servicePlanId: "p" }, secrets: { apiToken: "t" } },
  vonage: { values: { apiKey: "k" }, secrets: { apiSecret: "s" } },
};

describe("a preset", () => {
  test.each(HTTP_PRESETS)("%s needs only account names and secrets", (preset) => {
    const line = saved({ ...ACCOUNTS[preset], preset });
    expect(showHttpLine(line)).toMatchObject({ preset, receipts: expect.anything(), inbound: expect.anything() });
  });

  test.each(HTTP_PRESETS)("%s without them says which are missing", (preset) => {
    const faults = faultsOf({ preset, baseUrl: "https://api.example" });
    const names = Object.keys({ ...ACCOUNTS[preset]?.values, ...ACCOUNTS[preset]?.secrets });
    for (const name of names) expect(faults.map(({ message }) => message).join("\n")).toContain(name);
  });

  test("is overruled by what is given", () => {
    expect(saved({ ...KANNEL, answer: "thanks", timeoutSeconds: 5 })).toMatchObject({
      answer: "thanks",
      timeoutSeconds: 5,
      method: "GET",
      baseUrl: "http://kannel.internal:13013",
    });
  });

  test("in place of another begins anew", () => {
    const line = saved(KANNEL);
    const next = saved({ ...ACCOUNTS["twilio"], preset: "twilio" }, line);
    expect(next).toMatchObject({ preset: "twilio", method: "POST", baseUrl: "https://api.twilio.com" });
  });

  test("stays what it is where something else is changed", () => {
    const line = saved({ ...KANNEL, answer: "thanks" });
    expect(saved({ timeoutSeconds: 9 }, line)).toEqual({ ...line, timeoutSeconds: 9 });
  });
});

describe("secrets", () => {
  test("are sealed, and only their names are shown", () => {
    const line = saved(KANNEL);
    expect(JSON.stringify(line)).not.toContain("p4ss");
    const shown = showHttpLine(line);
    expect(shown.secretNames).toEqual(["callback", "password"]);
    expect(shown).not.toHaveProperty("secrets");
    expect(opened(line)).toMatchObject({ password: "p4ss", callback: expect.stringMatching(/^[\w-]{32}$/) });
  });

  test("what is shown can be given again, as an exported file does", () => {
    const line = saved(KANNEL);
    expect(saved(showHttpLine(line) as HttpFields, line)).toEqual(line);
  });

  test("the same one given again changes nothing", () => {
    const line = saved(KANNEL);
    expect(saved({ secrets: { password: "p4ss" } }, line)).toEqual(line);
  });

  test("are changed one by one, and taken away with null", () => {
    const line = saved({ ...KANNEL, secrets: { password: "p4ss", old: "x" } });
    const next = saved({ secrets: { password: "new", old: null } }, line);
    expect(opened(next)).toEqual({ password: "new", callback: opened(line)["callback"] });
  });

  test("a changed callback secret leaves the last one good, until that is taken away", () => {
    const line = saved({ ...KANNEL, secrets: { password: "p", callback: "first-0123456789abc" } });
    const next = saved({ secrets: { callback: "second-0123456789abc" } }, line);
    expect(opened(next)).toMatchObject({ callback: "second-0123456789abc", callbackBefore: "first-0123456789abc" });
    expect(opened(saved({ secrets: { callbackBefore: null } }, next))).not.toHaveProperty("callbackBefore");
  });

  test.each(["https://kannel.internal:13013", "http://kannel.internal:13014", "http://other.internal:13013"])(
    "are to be given again for %s, because they only go where they were given for",
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

  test("a record that was changed meanwhile is not given another host's secret", () => {
    const line = saved(KANNEL);
    const read = readHttpLine({ timeoutSeconds: 9 }, line, []);
    const moved = saved({ baseUrl: "http://other:1", secrets: { password: "x" } }, line);
    expect(() => completeHttpLine(read, moved, mint)).toThrow(Problem);
  });

  test("a name that every object has by birth is a name like any other", () => {
    const line = saved({
      ...PLAIN,
      headers: { "x-key": "{{secret:constructor}}" },
      secrets: { constructor: "c" },
    });
    expect(opened(line)).toEqual({ constructor: "c" });
    expect(faultsOf({ ...PLAIN, headers: { "x-key": "{{secret:toString}}" } })).toHaveLength(1);
  });

  test("where a header shows who calls, its secret has to be given", () => {
    const fields: HttpFields = { ...KANNEL, proof: { kind: "header", header: "x-key" } };
    expect(() => saved(fields)).toThrow(Problem);
    expect(saved({ ...fields, secrets: { password: "p", callback: "any text" } }).proof).toEqual({
      kind: "header",
      header: "x-key",
      prefix: "",
    });
  });
});

describe("what is wrong is told by field", () => {
  test.each<[HttpFields, string, RegExp]>([
    [{ baseUrl: "" }, "http.baseUrl", /address like/],
    [{ baseUrl: "ftp://a.example" }, "http.baseUrl", /address like/],
    [{ baseUrl: "https://user:pw@a.example" }, "http.baseUrl", /without placeholders, user/],
    [{ baseUrl: "https://a.example?x=1" }, "http.baseUrl", /query/],
    [{ baseUrl: "https://{{value:host}}" }, "http.baseUrl", /placeholders/],
    [{ path: "send" }, "http.path", /slash/],
    [{ path: "/send?to={{phone}}" }, "http.path", /\{\{phone\}\} is nothing that a message has/],
    [{ headers: { "x-a": "{{nothing}}" } }, "http.headers.x-a", /nothing that a message has/],
    [{ headers: { host: "a" } }, "http.headers.host", /no header/],
    [{ headers: { "Transfer-Encoding": "a" } }, "http.headers.Transfer-Encoding", /no header/],
    [{ headers: { "a b": "a" } }, "http.headers.a b", /no header/],
    [{ basicAuth: { user: "{{sender}}", password: "x" } }, "http.basicAuth.user", /differs/],
    [{ basicAuth: { user: "a:b", password: "x" } }, "http.basicAuth.user", /colon/],
    [{ basicAuth: { user: "a", password: "x" }, headers: { Authorization: "b" } }, "http.basicAuth", /already/],
    [{ body: "a={{text}}" }, "http.body", /bodyType/],
    [{ method: "GET", bodyType: "form", body: "a=1" }, "http.bodyType", /GET has no body/],
    [
      { bodyType: "json", body: '{"a":"{{text}}"{{?flash}},{{/flash}}}' },
      "http.body",
      /no JSON for a message that is .*flash/,
    ],
    [{ bodyType: "json", body: '{"a":{{text}}}' }, "http.body", /between quotes/],
    [{ bodyType: "raw", body: "a {{text}}" }, "http.body", /one placeholder/],
    [{ values: { "a b": "x" } }, "http.values", /letters and digits/],
    [{ values: { a: "x\ny" } }, "http.values.a", /plain text/],
    [{ secrets: { callback: "short" } }, "http.secrets.callback", /16 to 128/],
    [{ success: { statuses: ["20x"] } }, "http.success.statuses[0]", /202/],
    [{ success: { statuses: [] } }, "http.success.statuses", /has to be a yes/],
    [{ success: { path: "a..b" } }, "http.success.path", /A path is written/],
    [{ id: "" }, "http.id.path", /A path is written/],
    [{ id: {} }, "http.id", /Say where/],
    [{ id: { pattern: "(*)(*)" } }, "http.id.pattern", /at most one/],
    [{ errors: [{ meaning: "retry" }] }, "http.errors[0]", /every answer/],
    [{ errors: [{ status: "abc", meaning: "retry" }] }, "http.errors[0].status", /202/],
    [{ callbackQuery: "t={{text}}" }, "http.callbackQuery", /our own address/],
    [{ proof: { kind: "header" } }, "http.proof.header", /which header/],
    [{ id: "id", receipts: { status: "s", states: { a: "delivered" } } }, "http.receipts", /give id, or ref/],
    [{ id: "id", receipts: { id: "id", status: "s" } }, "http.receipts.states", /words mean/],
    [{ id: "id", receipts: { id: "id", states: { a: "delivered" } } }, "http.receipts.status", /Say where/],
    [{ receipts: { id: "id", status: "s", states: { a: "delivered" } } }, "http.id", /\{\{messageId\}\}/],
    [{ inbound: { from: "f", to: "t" } }, "http.inbound.text", /Say where/],
    [{ bdoy: "x" } as HttpFields, "http.bdoy", /no such field/],
  ])("%j", (fields, parameter, message) => {
    const found = faultsOf({ ...PLAIN, ...fields }).find((fault) => fault.parameter === parameter);
    expect(found?.message).toMatch(message);
  });

  test("a whole line of one's own has no faults", () => {
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

describe("the page about it", () => {
  const page = readFileSync(join(import.meta.dirname, "../docs/carriers-http.md"), "utf8");

  test("has examples that make a line together", () => {
    const examples = [...page.matchAll(/ {3}```json\n([^`]*)```/g)].map(
      ([, text = ""]) => JSON.parse(text) as HttpFields,
    );
    expect(examples).toHaveLength(3);
    expect(saved({ ...Object.assign({}, ...examples), secrets: { token: "t" } })).toMatchObject({
      id: { path: "message.id" },
    });
  });

  test("names every field, every placeholder and every meaning", () => {
    const [sample = {}] = sampleFields();
    const names = [...Object.keys(HTTP_DEFAULTS), ...Object.keys(sample), ...HTTP_MEANINGS, ...HTTP_PRESETS, "secrets"];
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
  });
});
