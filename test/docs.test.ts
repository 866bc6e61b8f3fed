import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Compile } from "typebox/schema";
import { totpCode } from "../src/accounts/totp.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { curlOf } from "../src/http/docs/curl.ts";
import type { OpenApi, Operation } from "../src/http/docs/document.ts";
import { errorsTable, messageFailuresTable } from "../src/http/docs/errors-table.ts";
import { codes, WITHOUT_OPERATION } from "../src/http/docs/failures.ts";
import { fieldsOf } from "../src/http/docs/fields.ts";
import { describeApi } from "../src/http/docs/openapi.ts";
import { failureCodes } from "../src/http/docs/message-failures.ts";
import {
  bodyOf,
  failuresOf,
  isForPeople,
  listOperations,
  scopeOf,
  successOf,
  type Placed,
} from "../src/http/docs/operations.ts";
import type { JsonSchema } from "../src/http/docs/publish-schema.ts";
import { rolesTable } from "../src/http/docs/roles-table.ts";
import { isPersonal, roleOf } from "../src/http/route.ts";
import { ROUTES } from "../src/http/routes.ts";
import { newId } from "../src/lib/ids.ts";
import { CHANNEL_EVENTS } from "../src/model/callback.ts";
import { PROBLEMS, type ProblemCode } from "../src/model/problem.ts";
import { DEFAULT_GUARD, prefixOf } from "../src/model/pumping.ts";
import { codeAcceptance } from "./support/codes.ts";
import { eventually } from "./support/eventually.ts";
import { FAKE_DEFAULTS, openFakeWhatsapp, type FakeWhatsapp } from "./support/fake-whatsapp.ts";
import { openHouse, type House } from "./support/house.ts";
import { plantLinks } from "./support/links.ts";
import { logIn } from "./support/person.ts";
import { openSink } from "./support/sink.ts";

let house: House;
let document: OpenApi;

let platform: FakeWhatsapp;
beforeAll(async () => {
  house = await openHouse("sqlite");
  platform = await openFakeWhatsapp();
  document = (await house.ask<OpenApi>("GET", "/openapi.json")).body;
});

afterAll(async () => {
  await platform.close();
  await house.close();
});

const shownRoutes = ROUTES.filter((route) => !route.hidden);
const nameOf = ({ method, path }: Pick<Placed, "method" | "path">): string => `${method.toUpperCase()} ${path}`;
const published = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}");

/** What a schema of the document says against a value; nothing when it fits. */
function faultsOf(schema: object, value: unknown): unknown[] {
  const [, faults] = Compile({ ...schema, components: document.components }).Errors(value);
  return faults;
}

const everyOperation = (): Placed[] => [...listOperations(document.paths), ...listOperations(document.webhooks)];

describe("the OpenAPI document", () => {
  test("has every operation of the table and no page", () => {
    const inDocument = listOperations(document.paths).map(nameOf).toSorted();
    const inTable = shownRoutes.map(({ method, path }) => `${method} ${published(path)}`).toSorted();
    expect(inDocument).toEqual(inTable);
    const { paths } = describeApi(ROUTES, { baseUrl: house.url, version: "1" });
    expect(paths).toEqual(document.paths);
  });

  test("says which version it is of and where the server answers", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
    expect(document).toMatchObject({ openapi: "3.1.1", info: { version }, servers: [{ url: house.url }] });
  });

  test("names every operation once and puts it under a heading that exists", () => {
    const operations = everyOperation().map(({ operation }) => operation);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    const headings = new Set([...document.tags.map(({ name }) => name), "Callbacks"]);
    for (const { operationId, tags, summary, description } of operations) {
      expect(operationId).toMatch(/^[a-z][A-Za-z0-9]*$/);
      expect(headings).toContain(tags[0]);
      expect(summary).not.toBe("");
      expect(description).not.toBe("");
    }
  });

  test("asks for a key with a scope exactly where the server does", () => {
    const inDocument = listOperations(document.paths).map((placed) => [nameOf(placed), scopeOf(placed.operation)]);
    const inTable = shownRoutes.map(({ method, path, scope }) => [`${method} ${published(path)}`, scope]);
    expect(Object.fromEntries(inDocument)).toEqual(Object.fromEntries(inTable));
  });

  test("tells the role that a person needs, exactly as the server asks for it", () => {
    const inDocument = listOperations(document.paths).map((placed) => [nameOf(placed), placed.operation["x-role"]]);
    const inTable = shownRoutes.map((route) => [
      `${route.method} ${published(route.path)}`,
      route.scope === null ? undefined : roleOf(route),
    ]);
    expect(Object.fromEntries(inDocument)).toEqual(Object.fromEntries(inTable));
    const forPeople = listOperations(document.paths).filter(({ operation }) => isForPeople(operation));
    expect(forPeople.map(nameOf).toSorted()).toEqual(
      ROUTES.filter(isPersonal)
        .map(({ method, path }) => `${method} ${published(path)}`)
        .toSorted(),
    );
  });

  test("declares exactly the parameters that a path has, each with a value to show", () => {
    for (const { path, operation } of listOperations(document.paths)) {
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect(declared.map(({ name }) => name)).toEqual(path.match(/(?<=\{)\w+/g) ?? []);
      for (const { example, required } of declared) expect([typeof example, required]).toEqual(["string", true]);
    }
  });

  test("takes an Idempotency-Key where messages are sent", () => {
    const takers = listOperations(document.paths).filter(({ operation }) =>
      operation.parameters?.some((parameter) => parameter.in === "header" && parameter.name === "Idempotency-Key"),
    );
    expect(takers.map(nameOf)).toContain("POST /v1/sms");
    for (const { operation } of takers)
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["409", "422"]));
  });

  test("explains every field and every parameter", () => {
    const { schemas } = document.components;
    const silent = everyOperation().flatMap((placed) => {
      const { operation } = placed;
      const fields = [bodyOf(operation), successOf(operation)].flatMap((told) =>
        told ? fieldsOf(told.schema, schemas) : [],
      );
      return [...fields, ...(operation.parameters ?? [])]
        .filter(({ description }) => description === "")
        .map(({ name }) => `${nameOf(placed)}: ${name}`);
    });
    expect(silent).toEqual([]);
  });

  test("has no reference that leads nowhere", () => {
    const lost: string[] = [];
    walk(document, (value) => {
      const { $ref } = value as { $ref?: string };
      if ($ref !== undefined && follow($ref) === undefined) lost.push($ref);
    });
    expect(lost).toEqual([]);
  });

  test("has every code of the registry as the failure of some operation", () => {
    const shown = new Set(
      listOperations(document.paths).flatMap(({ operation }) => failuresOf(operation).map(({ code }) => code)),
    );
    expect([...shown, ...WITHOUT_OPERATION].toSorted()).toEqual(codes().toSorted());
  });

  test("shows every callback with its signature, and one for each event that a webhook can ask for", () => {
    expect(listOperations(document.webhooks).map(nameOf).toSorted()).toEqual([
      "GET smsDeliveryReport",
      "POST chatMessageSent",
      "POST chatMessageStatus",
      "POST chatUserMessage",
      "POST rcsMessageStatus",
      "POST rcsUserMessage",
      "POST smsDeliveryReport",
      "POST smsLinkClick",
      "POST smsUserMessage",
      "POST verifyVerificationStatus",
    ]);
    for (const { operation } of listOperations(document.webhooks)) {
      const headers = (operation.parameters ?? []).filter((parameter) => parameter.in === "header");
      expect(headers.map(({ name }) => name)).toEqual(["webhook-id", "webhook-timestamp", "webhook-signature"]);
      expect(operation.description).not.toContain("planned");
    }
    const shown = listOperations(document.webhooks).flatMap(({ operation }) =>
      (bodyOf(operation)?.examples ?? []).map(([, body]) => body as { channel?: string; event?: string }),
    );
    const events = new Set(shown.flatMap(({ channel, event }) => (event ? [`${channel} ${event}`] : [])));
    const known = Object.entries(CHANNEL_EVENTS).flatMap(([channel, all]) => all.map((event) => `${channel} ${event}`));
    expect([...events].toSorted()).toEqual(known.toSorted());
  });
});

describe("the examples of the document", () => {
  test("every operation has an example of what it takes and of what it answers", () => {
    const unasked = everyOperation().filter(
      ({ operation }) => operation.requestBody && bodyOf(operation)?.examples.length === 0,
    );
    const unanswered = listOperations(document.paths).filter(
      ({ operation }) => successOf(operation)?.example === undefined,
    );
    expect([...unasked, ...unanswered].map(nameOf)).toEqual([]);
  });

  test("every example of a body and of a success fits its schema", () => {
    const unfit = everyOperation().flatMap((placed) => {
      const body = bodyOf(placed.operation);
      const success = successOf(placed.operation);
      const examples = [
        ...(body?.examples ?? []).map(([name, value]) => ({ name, value, schema: body?.schema ?? {} })),
        ...(success ? [{ name: "answer", value: success.example, schema: success.schema }] : []),
      ];
      return examples
        .map(({ name, value, schema }) => ({ example: `${nameOf(placed)}: ${name}`, faults: faultsOf(schema, value) }))
        .filter(({ faults }) => faults.length > 0);
    });
    expect(unfit).toEqual([]);
  });

  test("every example of a failure fits its schema and leads to its page on this server", () => {
    const answers = listOperations(document.paths).flatMap(({ operation }) =>
      Object.entries(operation.responses).flatMap(([status, { content }]) => {
        const { schema = {}, examples = {} } = content?.["application/json"] ?? {};
        return Object.entries(examples).map(([code, example]) => ({ status, code, schema, example }));
      }),
    );
    expect(answers.length).toBeGreaterThan(codes().length);
    for (const { status, code, schema, example } of answers) {
      const { value } = follow((example as { $ref: string }).$ref) as { value: { error: object } };
      expect(faultsOf(schema, value)).toEqual([]);
      expect(value.error).toMatchObject({ code, reference: `${house.url}/docs/errors/${code}` });
      expect(status).toBe(String(PROBLEMS[code as ProblemCode].status));
    }
  });

  test("no schema of a body takes just anything", () => {
    const bodies = listOperations(document.paths).flatMap(({ operation }) => bodyOf(operation) ?? []);
    expect(bodies.length).toBeGreaterThan(0);
    for (const { schema } of bodies) expect(faultsOf(schema, "a text")).not.toEqual([]);
  });
});

describe("the server, asked as the reference says", () => {
  test(
    "answers every example with the status and the shape that the reference tells",
    { timeout: 120_000 },
    async () => {
      const unlike: object[] = [];
      let asked = 0;
      for (const placed of listOperations(document.paths)) {
        const success = successOf(placed.operation);
        if (!success || success.type !== "application/json") continue;
        for (const [name, body] of bodyOf(placed.operation)?.examples ?? [["no body", undefined]]) {
          const { status, body: answer } = isForPeople(placed.operation)
            ? await askAsPerson(placed, body)
            : await house.ask(placed.method.toUpperCase(), await realPath(placed), await realBody(placed, body));
          const faults = faultsOf(success.schema, answer);
          if (status !== Number(success.status) || faults.length > 0) {
            unlike.push({ asked: `${nameOf(placed)}: ${name}`, status, answer, faults });
          }
          asked += 1;
        }
      }
      expect(unlike).toEqual([]);
      expect(asked).toBeGreaterThan(15);
    },
  );

  test("fails in the shape that the reference tells", async () => {
    const send = document.paths["/v1/sms"]?.post as Operation;
    const read = document.paths["/v1/messages/{messageId}"]?.get as Operation;
    const refused = await house.ask("POST", "/v1/sms", {});
    expect(refused.status).toBe(400);
    expect(faultsOf(failureSchema(send, "400"), refused.body)).toEqual([]);
    const missing = await house.ask("GET", "/v1/messages/none");
    expect(missing.status).toBe(404);
    expect(faultsOf(failureSchema(read, "404"), missing.body)).toEqual([]);
    expect(faultsOf(failureSchema(send, "400"), missing.body)).not.toEqual([]);
  });

  test("repeats an answer for the Idempotency-Key of the reference", async () => {
    const send = document.paths["/v1/sms"]?.post as Operation;
    const key = send.parameters?.find(({ name }) => name === "Idempotency-Key")?.example ?? "";
    const body = bodyOf(send)?.examples[0]?.[1];
    const first = await house.ask("POST", "/v1/sms", body, { "Idempotency-Key": key });
    const second = await house.ask("POST", "/v1/sms", body, { "Idempotency-Key": key });
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.body).toEqual(first.body);
  });
});

describe("a command of the reference", () => {
  /** What a shell hands to curl. */
  const argumentsOf = (command: string): string[] => {
    const script = `curl() { for argument in "$@"; do printf '%s\\0' "$argument"; done; }\nHELIOGRAPH_KEY=secret\n${command}`;
    return execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
  };

  test("survives the shell with its body whole, whatever the body holds", () => {
    const placed = listOperations(document.paths).find((found) => nameOf(found) === "POST /v1/sms") as Placed;
    const body = { text: `it's $HOME, "quoted" \\ and \`ticked\`\nin two lines` };
    const told = argumentsOf(curlOf({ ...placed, baseUrl: house.url, body }));
    expect(told.slice(0, 5)).toEqual([
      `${house.url}/v1/sms`,
      "-H",
      "apikey: secret",
      "-H",
      "Content-Type: application/json",
    ]);
    expect(JSON.parse(told.at(-1) ?? "")).toEqual(body);
  });

  test("names the method where curl would choose another, and the query where there is one", () => {
    const command = (name: string, body?: unknown): string[] => {
      const placed = listOperations(document.paths).find((found) => nameOf(found) === name) as Placed;
      return argumentsOf(curlOf({ ...placed, baseUrl: house.url, body }));
    };
    expect(command("DELETE /api/keys/{id}").slice(0, 2)).toEqual(["-X", "DELETE"]);
    expect(command("PATCH /api/account", {}).slice(0, 2)).toEqual(["-X", "PATCH"]);
    expect(command("GET /api/simulator/messages/wait")[0]).toBe(
      `${house.url}/api/simulator/messages/wait?to=15550100100`,
    );
    expect(command("GET /api/simulator/events")[0]).toBe("-N");
    expect(command("GET /healthz")).toEqual([`${house.url}/healthz`]);
  });
});

describe("the pages", () => {
  const open = async (path: string): Promise<{ status: number; headers: Headers; text: string }> => {
    const response = await fetch(house.url + path);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  test.for(["/docs/start", "/docs", "/docs/errors", "/docs/errors/UNAUTHORIZED", "/docs/errors/nothing"])(
    "%s is HTML that may run nothing but our own script",
    async (path) => {
      const { headers, text } = await open(path);
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
      expect(text.match(/<script[^>]*>/g)).toEqual(['<script src="/docs/copy.js" defer>']);
    },
  );

  test("have no link that leads nowhere", async () => {
    const seen = new Map<string, string>();
    const waiting = ["/docs/start"];
    const lost: string[] = [];
    for (let link = waiting.pop(); link !== undefined; link = waiting.pop()) {
      const [path = "", anchor] = link.split("#");
      if (!seen.has(path)) {
        const { status, headers, text } = await open(path);
        if (status !== 200) lost.push(link);
        const isPage = headers.get("content-type")?.startsWith("text/html") === true;
        seen.set(path, isPage ? text : "");
        for (const [, href = ""] of isPage ? text.matchAll(/<a\b[^>]*?href="([^"]*)"/g) : []) {
          waiting.push(href.startsWith("#") ? path + href : href);
        }
      }
      if (anchor !== undefined && !seen.get(path)?.includes(`id="${anchor}"`)) lost.push(link);
    }
    expect(lost).toEqual([]);
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining(["/docs", "/docs/errors", "/openapi.json", "/readyz", "/metrics"]),
    );
    for (const code of [...codes(), ...failureCodes()]) expect(seen.keys()).toContain(`/docs/errors/${code}`);
  });

  test("the reference shows every operation with its path, scope and every example as a command", async () => {
    const { text } = await open("/docs");
    for (const placed of listOperations(document.paths)) {
      const { operation, path } = placed;
      const start = text.indexOf(`<article class="operation" id="${operation.operationId}"`);
      const article = text.slice(start, text.indexOf("</article>", start));
      expect(article).toContain(`<code>${path}</code>`);
      expect(article).toContain(accessOf(operation));
      for (const [, body] of bodyOf(operation)?.examples ?? [["", undefined]]) {
        expect(plain(article)).toContain(curlOf({ ...placed, baseUrl: house.url, body }));
      }
    }
  });

  test("the reference tells the fate of every scripted number", async () => {
    const { text } = await open("/docs");
    for (let ending = 9001; ending <= 9009; ending += 1) expect(text).toContain(`<code>${ending}</code>`);
  });

  test("an error's reference leads to a page with its cause and its fix", async () => {
    const { body } = await house.ask<{ error: { reference: string } }>("GET", "/no-where");
    const response = await fetch(body.error.reference);
    expect(response.status).toBe(200);
    const text = await response.text();
    for (const part of ["ROUTE_NOT_FOUND", "Cause", "Fix", "HTTP 404 Not Found"]) expect(text).toContain(part);
  });

  test("a code that is also the failure of a message tells both", async () => {
    const { text } = await open("/docs/errors/INVALID_RECIPIENT");
    expect(text).toContain("HTTP 400 Bad Request");
    expect(text).toContain("As the failure of one message");
  });

  test("an unknown code is 404, written as text and not as markup", async () => {
    const { status, text } = await open(`/docs/errors/${encodeURIComponent(`"><script>alert('1')</script>&`)}`);
    expect(status).toBe(404);
    expect(text).toContain("&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;");
    expect(text).toContain('href="/docs/errors"');
  });

  test("the first page shows the first command and no key", async () => {
    const { text } = await open("/docs/start");
    const placed = listOperations(document.paths).find((found) => nameOf(found) === "POST /v1/sms") as Placed;
    expect(plain(text)).toContain(
      curlOf({ ...placed, baseUrl: house.url, body: bodyOf(placed.operation)?.examples[0]?.[1] }),
    );
    expect(text).not.toContain(house.key);
    expect(text).not.toContain(house.testKey);
  });

  test("below a path of a proxy, links and addresses start with it", async () => {
    const below = await openHouse("sqlite", { env: { HELIOGRAPH_BASE_URL: "https://example.test/relay" } });
    try {
      const text = await (await fetch(`${below.url}/docs`)).text();
      expect(text).toContain('href="/relay/docs/style.css"');
      expect(text).not.toContain('href="/docs');
      expect(text).toContain("curl https://example.test/relay/v1/sms");
      const { body } = await below.ask<OpenApi>("GET", "/openapi.json");
      expect(body.servers).toEqual([{ url: "https://example.test/relay" }]);
    } finally {
      await below.close();
    }
  });
});

const between = (text: string, name: string): string | undefined =>
  text.split(`<!-- ${name}:begin -->`)[1]?.split(`<!-- ${name}:end -->`)[0]?.trim();

describe("docs/users.md", () => {
  test("has exactly the roles that the routes ask for", async () => {
    expect(between(await readFile("docs/users.md", "utf8"), "roles")).toBe(rolesTable(ROUTES));
  });
});

describe("docs/errors.md", () => {
  test("has exactly the codes of the registry", async () => {
    expect(between(await readFile("docs/errors.md", "utf8"), "errors")).toBe(errorsTable());
  });

  test("has exactly the failures of messages", async () => {
    expect(between(await readFile("docs/errors.md", "utf8"), "failures")).toBe(messageFailuresTable());
  });
});

/** Who may ask, as the page says it. */
function accessOf(operation: Operation): string {
  if (isForPeople(operation)) return "For people who are logged in";
  return scopeOf(operation) === null ? "No key needed" : `Scope <code>${scopeOf(operation)}</code>`;
}

/** The password of the examples. */
const PASSWORD = "correct horse battery";

/** Asks as somebody new who has logged in, and who has come as far with the second factor as the operation needs. */
async function askAsPerson({ method, path }: Placed, body: unknown): Promise<{ status: number; body: unknown }> {
  made += 1;
  const email = `person-${made}@example.com`;
  await house.ask("POST", "/api/users", { email, role: "viewer", password: PASSWORD });
  const person = await logIn(house.url, { email, password: PASSWORD });
  const { store } = house.app;
  const code = async (): Promise<string> => {
    const begun = await person.ask<{ secret: string }>("POST", "/api/session/totp", { password: PASSWORD });
    return totpNow(begun.body.secret);
  };
  if (path !== "/api/session/totp" || method === "post") return person.ask(method.toUpperCase(), path, body);
  if (method === "put") return person.ask("PUT", path, { code: await code() });
  const on = await person.ask<{ recoveryCodes: string[] }>("PUT", path, { code: await code() });
  expect((await store.findUser(email))?.totpSecret).not.toBeNull();
  return person.ask("DELETE", path, { ...(body as object), code: on.body.recoveryCodes[0] });
}

/** The code that an app shows now. */
function totpNow(secret: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = Array.from(secret, (sign) => alphabet.indexOf(sign).toString(2).padStart(5, "0")).join("");
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return totpCode(Buffer.from(bytes), Math.floor(Date.now() / 30_000));
}

/** The body with what exists in it: a code that was sent, a password that is right. */
async function realBody({ path }: Placed, body: unknown): Promise<unknown> {
  if (path === "/api/session") return { ...(body as object), password: house.app.firstStart?.password };
  if (path !== "/v1/verify/validate") return body;
  const { id: verifyId, otp } = await realCode();
  return { ...(body as object), verifyId, otp };
}

/** A code that was sent, as a test would read it from the phone. */
async function realCode(): Promise<{ id: string; otp: string }> {
  const to = "15550100100";
  const { body } = await house.ask<{ data: string }>("POST", "/v1/verify", { configId: "default", to });
  await house.settled(`${body.data}:1`);
  const latest = await house.ask<{ otp: string }>("GET", `/api/simulator/otp/latest?to=${to}`);
  return { id: body.data, otp: latest.body.otp };
}

/** A prefix that is blocked, because the only code that was sent to it a while ago has not been used. */
async function realBlock(number: string): Promise<string> {
  const guard = { ...DEFAULT_GUARD, prefixUnused: 1 };
  const now = Date.now();
  const sent = (createdAt: number) => codeAcceptance({ to: [number], createdAt }, { guard, bound: true });
  await house.app.store.accept([sent(now - 1_200_000)]);
  await house.app.store.accept([sent(now)]);
  return prefixOf(number);
}

/** The path with ids that exist: of a message just sent, of a record just made. */
async function realPath({ path, operation }: Placed): Promise<string> {
  const ids: Record<string, string> = { number: "15550100100" };
  // Only what is still waiting can be cancelled.
  const fields = path.endsWith("/cancel") ? { sendAt: Date.now() + 3_600_000 } : {};
  if (path.includes("{messageId}")) ids.messageId = (await house.send(fields)).body.data[0]?.messageId ?? "";
  if (path.startsWith("/api/simulator/phones/{number}/")) await somethingToAnswer(ids.number ?? "");
  if (path.startsWith("/api/optouts/")) await house.ask("POST", "/api/optouts", { number: ids.number });
  if (path.includes("{verifyId}")) ids.verifyId = (await realCode()).id;
  if (path.includes("{prefix}")) ids.prefix = await realBlock("15550600000");
  if (path.includes("/otp/latest")) await realCode();
  if (path.includes("{id}")) ids.id = await realId(path.split("/")[2] ?? "");
  if (path === "/api/carriers/{id}/test" || path === "/api/carriers/{id}/send") ids.id = await smppLine();
  if (path === "/api/carriers/{id}/templates") ids.id = await whatsappLine();
  const query = (operation.parameters ?? []).filter(
    (parameter) => parameter.in === "query" && parameter.example !== undefined,
  );
  const search = new URLSearchParams();
  for (const { name, example = "" } of query) search.append(name, example);
  return `${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "")}?${search.toString()}`;
}

/** What makes a record of each kind, beside its name. */
const RECORDS: Record<string, object> = {
  keys: { scopes: ["read"] },
  templates: { text: "Hello {#var#}" },
  bots: {},
  numbers: {},
  senders: {},
  carriers: {},
  routes: { carrier: "simulator", enabled: false },
  prices: { creditsPerSegment: 1 },
  // Nobody answers there, and nobody has to.
  webhooks: { channel: "rcs", url: "http://127.0.0.1:9/", events: ["message_status"] },
  "dlr-configs": { url: "http://127.0.0.1:9/" },
};
let made = 0;

/** The id of something that is there and that no other call has touched. */
async function realId(kind: string): Promise<string> {
  made += 1;
  const name = `number-${made}`;
  if (kind === "links") return linkId();
  if (kind === "callbacks") return callbackId(name);
  if (kind === "receipts") return receiptId(name);
  if (kind === "inbound") {
    const { body } = await house.ask<{ id: string }>("POST", `/api/simulator/phones/15550100100/reply`, {
      to: "HELIOG",
      text: "Thank you",
    });
    return body.id;
  }
  if (kind === "campaigns") {
    await house.send({ campaignName: name });
    const { body } = await house.ask<{ data: { id: string; name: string }[] }>("GET", "/api/campaigns");
    return body.data.find((campaign) => campaign.name === name)?.id ?? "";
  }
  if (kind === "users") {
    const { body } = await house.ask<{ id: string }>("POST", "/api/users", {
      email: `${name}@a.example`,
      role: "member",
    });
    return body.id;
  }
  const { body } = await house.ask<{ id: string }>("POST", `/api/${kind}`, {
    name: kind === "numbers" ? `+${15_550_170_000 + made}` : name,
    ...RECORDS[kind],
    ...(kind === "prices" && { prefix: String(100 + made) }),
  });
  return body.id;
}

/** A line to where nobody answers, which is an answer too. */
async function smppLine(): Promise<string> {
  made += 1;
  const smpp = { host: "127.0.0.1", port: 9, systemId: "shop", password: "secret" };
  const line = { name: `number-${made}`, adapter: "smpp", smpp };
  return (await house.ask<{ id: string }>("POST", "/api/carriers", line)).body.id;
}

/** A line to a platform that keeps templates. */
async function whatsappLine(): Promise<string> {
  made += 1;
  const { token, phoneNumberIds, businessAccountId } = FAKE_DEFAULTS;
  const whatsapp = { baseUrl: platform.url, token, phoneNumberId: phoneNumberIds[0], businessAccountId };
  const line = { name: `number-${made}`, adapter: "whatsapp", whatsapp };
  return (await house.ask<{ id: string }>("POST", "/api/carriers", line)).body.id;
}

/** A callback that has come to its end: its endpoint said that it is gone, and was switched on again. */
async function callbackId(name: string): Promise<string> {
  const sink = await openSink();
  sink.answer((_heard, response) => response.writeHead(410).end());
  const { body } = await house.ask<{ id: string }>("POST", "/api/dlr-configs", { name, url: sink.url });
  await house.send();
  const path = `/api/dlr-configs/${body.id}`;
  await eventually(
    async () => (await house.ask<{ enabled: boolean }>("GET", path)).body.enabled,
    (enabled) => !enabled,
  );
  await house.ask("PATCH", path, { enabled: true });
  await sink.close();
  const { body: page } = await eventually(
    () => house.ask<{ data: { id: string }[] }>("GET", `/api/callbacks?endpointId=${body.id}&state=exhausted`),
    (answer) => answer.body.data.length > 0,
  );
  return page.data[0]?.id ?? "";
}

/** A receipt of an id that nobody knows. */
async function receiptId(carrierMessageId: string): Promise<string> {
  const receipt = { state: "delivered", errorCode: null, description: null, at: Date.now() } as const;
  await house.app.store.park([{ ...receipt, carrier: "1/north", carrierMessageId }], Date.now());
  const { body } = await house.ask<{ data: { id: string }[] }>("GET", "/api/receipts?limit=1");
  return body.data[0]?.id ?? "";
}

/** Puts a message on a phone that can be answered in every way. */
async function somethingToAnswer(number: string): Promise<void> {
  const now = Date.now();
  const content = {
    botId: "heliograph",
    templateName: "rate-us",
    kind: "rich",
    text: "Shall we come tomorrow?",
    suggestions: [{ type: "reply", text: "Yes, please", data: "confirm-4711" }],
    cards: [],
    params: [],
  } as const;
  await house.app.store.receiveOnPhones([
    {
      accountId: 1,
      id: newId(now),
      number,
      sender: content.botId,
      channel: "rcs",
      content,
      messageId: `${newId(now)}:1`,
      receivedAt: now,
      carrier: "simulator",
      reportsDueAt: null,
    },
  ]);
}

async function linkId(): Promise<string> {
  const db = new DatabaseSync(join(house.env["HELIOGRAPH_DATA_DIR"] ?? "", "heliograph.db"), { timeout: 10_000 });
  const { requestId } = await plantLinks(async (sql) => db.exec(sql));
  db.close();
  return `${requestId}:1`;
}

const failureSchema = ({ responses }: Operation, status: string): JsonSchema =>
  responses[status]?.content?.["application/json"]?.schema ?? {};

function walk(value: unknown, see: (object: object) => void): void {
  if (typeof value !== "object" || value === null) return;
  see(value);
  for (const part of Object.values(value)) walk(part, see);
}

/** What stands at `#/…` in the document. */
const follow = (reference: string): unknown =>
  reference
    .split("/")
    .slice(1)
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document);

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** The text of a page as a reader sees it. */
const plain = (text: string): string =>
  text.replaceAll(/<[^>]*>/g, "").replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
