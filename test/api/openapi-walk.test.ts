import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { totpCode } from "../../src/accounts/totp.ts";
import { filledPath } from "../../src/http/openapi/curl.ts";
import type { OpenApi, ParameterObject } from "../../src/http/openapi/document.ts";
import {
  bodyOf,
  failuresOf,
  isForPeople,
  isOpen,
  listOperations,
  successOf,
  type Placed,
} from "../../src/http/openapi/operations.ts";
import { refTo, type JsonSchema } from "../../src/http/openapi/publish-schema.ts";
import { newId } from "../../src/lib/ids.ts";
import { DEFAULT_GUARD, prefixOf } from "../../src/model/pumping.ts";
import { checked, upload } from "../support/audiences.ts";
import { faultFinder } from "../support/api-document.ts";
import { codeAcceptance } from "../support/codes.ts";
import { eventually } from "../support/eventually.ts";
import { keyFile, RBM_CLIENT_TOKEN } from "../support/fake-rbm.ts";
import { callOf, FAKE_DEFAULTS, openFakeWhatsapp, signedCall, type FakeWhatsapp } from "../support/fake-whatsapp.ts";
import { agentAt } from "../support/mcp-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { newFile, uploadMedia } from "../support/media-files.ts";
import { insertLinks } from "../support/links.ts";
import { insertAlert } from "../support/stored-alert.ts";
import { insertBind } from "../support/stored-bind.ts";
import { logIn } from "../support/session-user.ts";
import { openSink } from "../support/sink.ts";

let server: TestServer;
let platform: FakeWhatsapp;
let document: OpenApi;
let faultsOf: (schema: object, value: unknown) => unknown[];
/** Keys that lack the scopes of most operations, by the one scope that they have. */
const narrowKeys: Record<string, string> = {};

beforeAll(async () => {
  server = await startTestServer("sqlite");
  // The examples create real carriers. With `simulateLive` later messages are still delivered.
  const { body: routes } = await server.request<{ data: { id: string }[] }>("GET", "/api/routes");
  await server.request("PATCH", `/api/routes/${routes.data[0]?.id}`, { simulateLive: true });
  platform = await openFakeWhatsapp();
  // Session messages need a user who has written.
  const hello = { channel: "chatapp", to: "+15550100199", text: "Hello" };
  await server.request("POST", "/api/simulator/phones/15550100100/reply", hello);
  await server.request("POST", "/api/segments", { name: "VIP in Pune" });
  document = (await server.request<OpenApi>("GET", "/openapi.json")).body;
  faultsOf = faultFinder(document);
  for (const scope of ["read", "sms"]) narrowKeys[scope] = await keyWith(scope);
});

afterAll(async () => {
  await platform.close();
  await server.close();
});

async function keyWith(scope: string): Promise<string> {
  const { status, body } = await server.request<{ key: string }>("POST", "/api/keys", { name: scope, scopes: [scope] });
  expect(status).toBe(201);
  return body.key;
}

const nameOf = ({ method, path }: Pick<Placed, "method" | "path">): string => `${method.toUpperCase()} ${path}`;

/** A request to one operation. */
interface Request {
  /** Label of the case, for failure reports. */
  about: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer | undefined;
}

interface WrongRequest extends Request {
  /** The field or the parameter that is wrong. */
  wrong?: string;
}

interface Answer {
  status: number;
  type: string;
  headers: Headers;
  /** Parsed where it is JSON, else the text. */
  body: unknown;
}

async function ask({ method }: Placed, { path, headers, body }: Request): Promise<Answer> {
  const leave = new AbortController();
  const response = await fetch(server.url + path, {
    method: method.toUpperCase(),
    headers,
    signal: leave.signal,
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : new Uint8Array(body) }),
  });
  const { status, headers: sent } = response;
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  if (type === "text/event-stream") {
    const first = await response.body?.getReader().read();
    leave.abort();
    return { status, type, headers: sent, body: Buffer.from(first?.value ?? []).toString() };
  }
  const text = await response.text();
  return { status, type, headers: sent, body: type === "application/json" ? JSON.parse(text) : text };
}

/** Differences between a response and the document; empty if the document describes it. */
function contradictions({ operation }: Placed, { status, type, headers, body }: Answer): unknown[] {
  const response = operation.responses[String(status)];
  if (!response) return [`the status ${status} is not documented`];
  const schema = (response.content?.[type] ?? response.content?.["*/*"])?.schema;
  if (!schema) return type === "" && !response.content ? [] : [`the type "${type}" is not documented`];
  const { code } = (body as { error?: { code?: string } | null } | null)?.error ?? {};
  const isKnown = code === undefined || failuresOf(operation).some((failure) => failure.code === code);
  const documented = Object.keys(response.headers ?? {});
  const strange = Object.keys(document.components.headers).filter(
    (name) => headers.has(name) && !documented.includes(name),
  );
  return [
    ...(isKnown ? [] : [`the code ${code} is not documented`]),
    ...strange.map((name) => `the header ${name} is not documented`),
    ...(documented.includes("request-id") && !headers.has("request-id") ? ["there is no request-id"] : []),
    ...faultsOf(schema, body),
  ];
}

/** A failure that is about one field and does not name it. */
function unnamed({ wrong }: WrongRequest, { body }: Answer): unknown[] {
  if (wrong === undefined) return [];
  const { error } = body as { error?: { details: { parameter: string }[] } | null };
  const isNamed = error?.details.some(({ parameter }) => parameter.split(/[.[]/)[0] === wrong);
  return isNamed === true ? [] : [`the failure does not name ${wrong}`];
}

describe("every operation of the OpenAPI document, on a running server", { timeout: 600_000 }, () => {
  test("every example of the OpenAPI document gets a success that the document describes", async () => {
    const unlike: object[] = [];
    const covered = new Set<string>();
    for (const placed of listOperations(document.paths)) {
      for (const request of await validRequests(placed)) {
        const answer = await ask(placed, request);
        const found = contradictions(placed, answer);
        const isSuccess = String(answer.status) === successOf(placed.operation)?.status;
        if (isSuccess && found.length === 0) covered.add(nameOf(placed));
        else unlike.push({ asked: `${nameOf(placed)}: ${request.about}`, ...answer, found });
      }
    }
    expect(unlike).toEqual([]);
    expect([...covered].toSorted()).toEqual(listOperations(document.paths).map(nameOf).toSorted());
  });

  test("wrong requests get failures that the OpenAPI document describes", async () => {
    const unlike: object[] = [];
    const covered = new Set<string>();
    for (const placed of listOperations(document.paths)) {
      for (const request of await wrongRequests(placed)) {
        const answer = await ask(placed, request);
        const found = [...contradictions(placed, answer), ...unnamed(request, answer)];
        if (answer.status >= 400 && answer.status < 500 && found.length === 0) covered.add(nameOf(placed));
        else unlike.push({ asked: `${nameOf(placed)}: ${request.about}`, ...answer, found });
      }
    }
    expect(unlike).toEqual([]);
    expect([...covered].toSorted()).toEqual(listOperations(document.paths).map(nameOf).toSorted());
  });
});

const JSON_TYPE = { "content-type": "application/json" };

/** A request for each example of an operation, with ids, codes and passwords that exist. */
async function validRequests(placed: Placed): Promise<Request[]> {
  const { operation } = placed;
  if (isPlatformCall(placed)) return [await platformCall(placed)];
  if (isUpload(placed)) return [uploadOf("/v1/media"), uploadOf("/v1/media?name=autumn.jpg")];
  const examples = bodyOf(operation)?.examples ?? [["no body", undefined]];
  const requests: Request[] = [];
  for (const [about, example] of examples) {
    const person = isForPeople(operation) ? await somebody(placed) : null;
    const body = person ? { ...(example as object), ...person.secrets } : await realBody(placed, example);
    requests.push({
      about,
      path: person && placed.path === "/api/sessions/{id}" ? await ownSession(person.headers) : await realPath(placed),
      headers: {
        ...(!isOpen(operation) && (person?.headers ?? { apikey: server.key })),
        ...(example !== undefined && JSON_TYPE),
      },
      body: example === undefined ? undefined : JSON.stringify(body),
    });
  }
  return [...requests, ...requests.slice(0, 1).flatMap((request) => withEveryParameter(placed, request))];
}

/** The same request with all parameters of the query, as tools such as Postman send them. */
function withEveryParameter({ operation }: Placed, request: Request): Request[] {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
  const url = new URL(request.path, server.url);
  for (const { name, example, schema } of parameters) {
    const value = example ?? schema.examples?.[0] ?? schema.enum?.[0];
    expect(value, `${operation.operationId} has no value to show for ${name}`).toBeDefined();
    expect(faultsOf(schema, value)).toEqual([]);
    url.searchParams.set(name, String(value));
  }
  const path = url.pathname + url.search;
  return path === request.path ? [] : [{ ...request, about: "every parameter", path }];
}

/** Requests with one thing wrong each. */
async function wrongRequests(placed: Placed): Promise<WrongRequest[]> {
  const { path, operation } = placed;
  const [valid] = await validRequests(placed);
  if (!valid) return [];
  const { headers, body = "{}" } = valid;
  const unknown = { ...valid, about: "an unknown id", path: filledPath(path, operation.parameters ?? []) };
  const withBody = (about: string, text: string, type = "application/json"): Request => ({
    ...valid,
    about,
    headers: { ...headers, "content-type": type },
    body: text,
  });
  const isJson = headers["content-type"] === JSON_TYPE["content-type"];
  const whole = JSON.parse(isJson ? body.toString() : "{}") as object;
  return [
    ...(isUpload(placed) ? [{ ...withBody("no picture", "{", "image/jpeg"), wrong: "Content-Type" }] : []),
    { ...valid, about: "headers of more than 16 KiB", headers: { ...headers, "x-long": "x".repeat(17_000) } },
    ...(!isOpen(operation) ? [{ ...valid, about: "no permission", headers: strangers(placed, headers) }] : []),
    ...(path.includes("{id}") || path.includes("Id}") ? [unknown] : []),
    ...(isPlatformCall(placed)
      ? [{ ...valid, about: "no proof", path: valid.path.split("?")[0] ?? "", headers: {} }]
      : []),
    ...(bodyOf(operation)
      ? [withBody("a list", "[]"), withBody("no JSON", "{"), withBody("another type", body.toString(), "text/plain")]
      : []),
    ...fieldsOf(placed).map((field) => ({
      ...withBody(`${field} of another type`, JSON.stringify({ ...whole, [field]: [[[]]] })),
      wrong: field,
    })),
    ...(operation.parameters ?? []).filter(isTyped).map((parameter) => ({
      ...valid,
      about: `a wrong ${parameter.name}`,
      wrong: parameter.name,
      path: withWrong(placed, valid, parameter),
    })),
  ];
}

/** Fields that an operation does not read in its first example: a chat-app template has no free text. */
const UNREAD: Readonly<Record<string, readonly string[]>> = {
  "POST /v1/chatapp": ["text"],
  "POST /v1/chatapp/preview": ["text"],
};

/** The fields of a body that its first example is read with. */
function fieldsOf(placed: Placed): string[] {
  const { operation } = placed;
  const { $ref = "", properties = {} } = (bodyOf(operation)?.schema ?? {}) as JsonSchema;
  const whole = document.components.schemas[$ref.replace(refTo(""), "")]?.properties ?? properties;
  return Object.keys(whole).filter((field) => !UNREAD[nameOf(placed)]?.includes(field));
}

/** True if a parameter has invalid values. */
const isTyped = ({ in: place, schema }: ParameterObject): boolean =>
  place !== "header" && (schema.type !== "string" || schema.enum !== undefined || schema.pattern !== undefined);

const WRONG = "not-one";

function withWrong({ path }: Placed, valid: Request, { in: place, name, example }: ParameterObject): string {
  if (place === "path") return path.replace(`{${name}}`, WRONG);
  const url = new URL(valid.path, server.url);
  url.searchParams.set(name, WRONG);
  expect(String(example)).not.toBe(WRONG);
  return url.pathname + url.search;
}

/** Credentials that are valid and not enough: a key of another scope, or no session. */
function strangers({ operation }: Placed, headers: Request["headers"]): Request["headers"] {
  if (isForPeople(operation)) return { ...headers, cookie: "" };
  return { ...headers, apikey: narrowKeys[operation["x-scope"] === "read" ? "sms" : "read"] ?? "" };
}

/** The body is a file. */
const isUpload = ({ operation }: Placed): boolean => operation.requestBody !== undefined && !bodyOf(operation);

const uploadOf = (path: string): Request => ({
  about: "a file",
  path,
  headers: { apikey: server.key, "content-type": "image/jpeg" },
  body: newFile("image/jpeg"),
});

const isPlatformCall = ({ path }: Placed): boolean => path === "/hooks/{carrierId}";

const VERIFY_TOKEN = "a word of our own";

/** The handshake or a signed call of the platform behind a carrier. */
async function platformCall({ method, path }: Placed): Promise<Request> {
  const at = path.replace("{carrierId}", await whatsappLine());
  const query = { "hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": VERIFY_TOKEN };
  if (method === "get")
    return { about: "handshake", path: `${at}?${new URLSearchParams(query).toString()}`, headers: {} };
  const { body, headers } = signedCall(FAKE_DEFAULTS.appSecret, callOf({ statuses: [] }));
  return { about: "signed", path: at, headers: { ...JSON_TYPE, ...headers }, body };
}

/** The password of the examples. */
const PASSWORD = "correct horse battery";

/** A person who has logged in and set up the second factor as far as the operation needs, with what proves it. */
async function somebody({
  method,
  path,
  operation,
}: Placed): Promise<{ headers: Request["headers"]; secrets: object }> {
  made += 1;
  const email = `person-${made}@example.com`;
  const role = operation["x-role"] ?? "viewer";
  const { status } = await server.request("POST", "/api/users", { email, role, password: PASSWORD });
  expect(status).toBe(201);
  const person = await logIn(server.url, { email, password: PASSWORD });
  const headers = { cookie: person.cookie, ...(method !== "get" && { "x-csrf-token": person.session.csrfToken }) };
  if (path !== "/api/session/totp" || method === "post") return { headers, secrets: {} };
  const begun = await person.request<{ secret: string }>("POST", path, { password: PASSWORD });
  const code = totpNow(begun.body.secret);
  if (method === "put") return { headers, secrets: { code } };
  const on = await person.request<{ recoveryCodes: string[] }>("PUT", path, { code });
  expect((await server.app.store.findUser(email))?.totpSecret).not.toBeNull();
  return { headers, secrets: { code: on.body.recoveryCodes[0] } };
}

/** The path of the session that a person has. */
async function ownSession(headers: Request["headers"]): Promise<string> {
  const response = await fetch(`${server.url}/api/sessions`, { headers });
  const { data } = (await response.json()) as { data: { id: string }[] };
  return `/api/sessions/${data[0]?.id}`;
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
  if (path === "/api/session") return { ...(body as object), password: server.app.firstStart?.password };
  if (path === "/api/invitations/accept") return { ...(body as object), token: await realInvitation() };
  if (path === "/v1/campaigns") return { ...(body as object), audienceId: await readyAudience() };
  if (path === "/v1/conversations/{id}/replies") return { text: "Thank you." };
  if (path === "/v1/conversations/{id}") return { read: true };
  if (path === "/v1/contacts") return { ...(body as object), number: String(15_550_900_000 + (made += 1)) };
  if (path === "/v1/contact-imports") return { audienceId: await readyAudience() };
  if (path === "/v1/campaigns/{id}/schedule") return { scheduledAt: Date.now() + 3_600_000 };
  if (path === "/api/templates/{id}/submit") return { ...(body as object), carrier: await whatsappName() };
  if (path !== "/v1/verify/validate") return body;
  const { id: verifyId, otp } = await realCode();
  return { ...(body as object), verifyId, otp };
}

/** The token of an unused link. */
async function realInvitation(): Promise<string> {
  made += 1;
  const user = { email: `invited-${made}@example.com`, role: "viewer", inviteHours: 1 };
  const { body } = await server.request<{ invitation: { url: string } }>("POST", "/api/users", user);
  return new URL(body.invitation.url).hash.slice(1);
}

/** A code that was sent, as a test would read it from the phone. */
async function realCode(): Promise<{ id: string; otp: string }> {
  const to = "15550100100";
  const id = await startVerification(to);
  await server.settled(`${id}:1`);
  const latest = await server.request<{ otp: string }>("GET", `/api/simulator/otp/latest?to=${to}`);
  return { id, otp: latest.body.otp };
}

async function startVerification(to: string): Promise<string> {
  const { body } = await server.request<{ data: string }>("POST", "/v1/verify", { configId: "default", to });
  return body.data;
}

/** A prefix that is blocked, because the only code that was sent to it a while ago has not been used. */
async function realBlock(number: string): Promise<string> {
  const guard = { ...DEFAULT_GUARD, prefixUnused: 1 };
  const now = Date.now();
  const sent = (createdAt: number) => codeAcceptance({ to: [number], createdAt }, { guard, bound: true });
  await server.app.store.accept([sent(now - 1_200_000)]);
  await server.app.store.accept([sent(now)]);
  return prefixOf(number);
}

/** The path with ids that exist: of a message just sent, of a record just made. */
async function realPath({ path, operation }: Placed): Promise<string> {
  const ids: Record<string, string> = { number: "15550100100" };
  // Only a waiting message can be cancelled.
  const fields = path.endsWith("/cancel") ? { sendAt: Date.now() + 3_600_000 } : {};
  if (path.includes("{messageId}")) ids.messageId = (await server.send(fields)).body.data[0]?.messageId ?? "";
  if (path.startsWith("/api/simulator/phones/{number}/")) await somethingToAnswer(ids.number ?? "");
  // A number of its own: one of the operations erases it.
  if (path.startsWith("/v1/contacts/{number}")) ids.number = "15550199998";
  if (path.startsWith("/v1/contacts/{number}")) await server.request("PUT", `/v1/contacts/${ids.number}`, {});
  if (path.startsWith("/api/optouts/")) await server.request("POST", "/api/optouts", { number: ids.number });
  // A number for each: a later code would supersede this one.
  if (path.includes("{verifyId}")) ids.verifyId = await startVerification(String(15_550_800_000 + (made += 1)));
  if (path.includes("{prefix}")) ids.prefix = await realBlock("15550600000");
  if (path.includes("/otp/latest")) await realCode();
  if (path.includes("{id}"))
    ids.id = path.startsWith("/v1/campaigns/")
      ? await campaignOfAudience(path)
      : path.startsWith("/v1/erasures/")
        ? await erasureId()
        : path.startsWith("/v1/conversations/")
          ? await conversationId()
          : path.startsWith("/v1/contact-imports/")
            ? await contactImportId()
            : await realId(path.split("/")[2] ?? "");
  if (path === "/api/carriers/{id}/test" || path === "/api/carriers/{id}/send") ids.id = await smppLine();
  if (path === "/api/carriers/{id}/reach") ids.id = await rbmLine();
  if (path === "/api/carriers/{id}/templates") ids.id = await whatsappLine();
  if (path === "/api/templates/{id}/submit") ids.id = await platformTemplate();
  if (path.includes("{carrierId}")) ids.carrierId = await whatsappLine();
  const parameters = (operation.parameters ?? []).map((parameter) =>
    parameter.in === "path" ? { ...parameter, example: ids[parameter.name] ?? "" } : parameter,
  );
  return filledPath(path, parameters);
}

/** Fields that create a record of each type, besides its name. */
const RECORDS: Record<string, object> = {
  keys: { scopes: ["read"] },
  credentials: { kind: "kannel" },
  "identity-hooks": { product: "okta", configId: "default" },
  templates: { text: "Hello {#var#}" },
  bots: {},
  numbers: {},
  senders: {},
  carriers: {},
  routes: { carrier: "simulator", enabled: false },
  prices: { creditsPerSegment: 1 },
  "verify-rules": { action: "block" },
  "alert-rules": { alert: "queue_age" },
  segments: {},
  "canned-replies": { text: "Thank you." },
  // No server listens there, and none is needed.
  webhooks: { channel: "rcs", url: "http://127.0.0.1:9/", events: ["message_status"] },
  "dlr-configs": { url: "http://127.0.0.1:9/" },
};
let made = 0;

/** A template with the variables and the button of the example. */
async function platformTemplate(): Promise<string> {
  made += 1;
  const buttons = [{ type: "url", text: "Track", url: "https://shop.example/{{1}}" }];
  const template = { channel: "chatapp", name: `submitted_${made}`, body: "Hello {{1}}, {{2}} is here.", buttons };
  return (await server.request<{ id: string }>("POST", "/api/templates", template)).body.id;
}

async function whatsappName(): Promise<string> {
  const { body } = await server.request<{ name: string }>("GET", `/api/carriers/${await whatsappLine()}`);
  return body.name;
}

/** A send of an agent that waits for approval. */
async function waitingSend(name: string): Promise<string> {
  const key = { name, scopes: ["sms"], agent: { needsApproval: true } };
  const agent = await agentAt(server.url, (await server.request<{ key: string }>("POST", "/api/keys", key)).body.key);
  const { token } = await agent.call("preview", { sender: "HELIOG", to: "15550100100", text: name });
  await agent.call("send", { token });
  const { body } = await server.request<{ data: { id: string }[] }>("GET", "/api/agent-sends?state=waiting");
  return body.data[0]?.id ?? "";
}

/** A campaign in the state that the operation needs. */
async function campaignOfAudience(path: string): Promise<string> {
  made += 1;
  const fields = { name: `campaign-${made}`, type: "TRANS", sender: "HELIOG", text: "Hello", throttle: 1 };
  const audienceId = await readyAudience();
  const { body } = await server.request<{ id: string }>("POST", "/v1/campaigns", { ...fields, audienceId });
  const actions = path.endsWith("/resume") ? ["start", "pause"] : path.endsWith("/pause") ? ["start"] : [];
  for (const action of actions) await server.request("POST", `/v1/campaigns/${body.id}/${action}`);
  return body.id;
}

async function erasureId(): Promise<string> {
  const path = "/v1/contacts/15550199999?erase=true";
  return (await server.request<{ erasure: { id: string } }>("DELETE", path)).body.erasure.id;
}

/** A conversation of a phone that has written by SMS. */
async function conversationId(): Promise<string> {
  await realId("inbound");
  const { body } = await server.request<{ data: { id: string }[] }>("GET", "/v1/conversations?channel=sms");
  return body.data[0]?.id ?? "";
}

async function contactImportId(): Promise<string> {
  const body = { audienceId: await readyAudience() };
  return (await server.request<{ id: string }>("POST", "/v1/contact-imports", body)).body.id;
}

async function readyAudience(): Promise<string> {
  const request = <T>(method: string, path: string, body?: unknown) => server.request<T>(method, path, body);
  const id = await upload(request, "phone,first name,city\n15550100100,Ada,Pune\n15550100101,Bob,Delhi\n");
  await checked(request, id);
  return id;
}

/** The id of something that is there and that no other call has touched. */
async function realId(kind: string): Promise<string> {
  made += 1;
  const name = `example-${made}`;
  if (kind === "links") return linkId();
  if (kind === "callbacks") return callbackId(name);
  if (kind === "receipts") return receiptId(name);
  if (kind === "inbound") {
    const { body } = await server.request<{ id: string }>("POST", `/api/simulator/phones/15550100100/reply`, {
      to: "HELIOG",
      text: "Thank you",
    });
    return body.id;
  }
  if (kind === "media") return uploadMedia(server);
  if (kind === "alerts") return insertAlert(server, 1);
  if (kind === "agent-sends") return waitingSend(name);
  if (kind === "smpp-binds") return (await insertBind(server, newId(Date.now()))).id;
  if (kind === "campaigns") {
    await server.send({ campaignName: name });
    const { body } = await server.request<{ data: { id: string; name: string }[] }>("GET", "/api/campaigns");
    return body.data.find((campaign) => campaign.name === name)?.id ?? "";
  }
  if (kind === "audiences") {
    const audience = { name, size: 4_194_304 };
    return (await server.request<{ id: string }>("POST", "/v1/audiences", audience)).body.id;
  }
  if (kind === "users") {
    const { body } = await server.request<{ id: string }>("POST", "/api/users", {
      email: `${name}@a.example`,
      role: "member",
    });
    return body.id;
  }
  const { body } = await server.request<{ id: string }>("POST", `/api/${kind}`, {
    name: kind === "numbers" ? `+${15_550_170_000 + made}` : kind === "verify-rules" ? String(99_000 + made) : name,
    ...RECORDS[kind],
    ...(kind === "prices" && { prefix: String(100 + made) }),
  });
  return body.id;
}

/** An SMPP carrier on a port without a listener: its failed connection test is documented too. */
async function smppLine(): Promise<string> {
  made += 1;
  const smpp = { host: "127.0.0.1", port: 9, systemId: "shop", password: "secret" };
  const line = { name: `example-${made}`, adapter: "smpp", smpp };
  return (await server.request<{ id: string }>("POST", "/api/carriers", line)).body.id;
}

/** An RCS carrier on a port without a listener: a check that the platform does not answer is documented too. */
async function rbmLine(): Promise<string> {
  made += 1;
  const serviceAccount = keyFile("http://127.0.0.1:9/token");
  const rbm = { serviceAccount, clientToken: RBM_CLIENT_TOKEN, baseUrl: "http://127.0.0.1:9" };
  const line = { name: `example-${made}`, adapter: "rbm", rbm };
  return (await server.request<{ id: string }>("POST", "/api/carriers", line)).body.id;
}

/** A line to a platform that keeps templates. */
async function whatsappLine(): Promise<string> {
  made += 1;
  const { token, phoneNumberIds, businessAccountId } = FAKE_DEFAULTS;
  const { appSecret } = FAKE_DEFAULTS;
  const settings = { baseUrl: platform.url, phoneNumberId: phoneNumberIds[0], businessAccountId };
  const whatsapp = { ...settings, token, appSecret, verifyToken: VERIFY_TOKEN };
  const line = { name: `example-${made}`, adapter: "whatsapp", whatsapp };
  return (await server.request<{ id: string }>("POST", "/api/carriers", line)).body.id;
}

/** A callback that has been delivered. */
async function callbackId(name: string): Promise<string> {
  const sink = await openSink();
  const { body } = await server.request<{ id: string }>("POST", "/api/dlr-configs", { name, url: sink.url });
  await server.send();
  const { body: page } = await eventually(
    () => server.request<{ data: { id: string }[] }>("GET", `/api/callbacks?endpointId=${body.id}&state=delivered`),
    (answer) => answer.body.data.length > 0,
  );
  await sink.close();
  return page.data[0]?.id ?? "";
}

/** An unmatched receipt with the given id. */
async function receiptId(carrierMessageId: string): Promise<string> {
  const receipt = { state: "delivered", errorCode: null, description: null, at: Date.now() } as const;
  await server.app.store.storeUnmatched([{ ...receipt, carrier: "1/north", carrierMessageId }], Date.now());
  const { body } = await server.request<{ data: { id: string }[] }>("GET", "/api/receipts?limit=1");
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
  await server.app.store.receiveOnPhones([
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
      test: false,
    },
  ]);
}

async function linkId(): Promise<string> {
  const db = new DatabaseSync(join(server.env["HELIOGRAPH_DATA_DIR"] ?? "", "heliograph.db"), { timeout: 10_000 });
  const { requestId } = await insertLinks(async (sql) => db.exec(sql));
  db.close();
  return `${requestId}:1`;
}
