import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RECORD_TYPES } from "../../src/records/record-types.ts";
import type { Schema } from "../../src/lib/schema.ts";
import { smallestOf } from "../../src/lib/shape.ts";
import { startTestServer, type Answer, type ErrorBody, type TestServer } from "../support/test-server.ts";

const ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

/** A simulated phone that has received nothing. */
const PHONE = "/api/simulator/phones/15550109876";
const FILE = { fileName: "a.jpg", mimeType: "image/jpeg", fileUri: "https://a.example/a.jpg", fileSizeBytes: 1 };

describe("a body with several faults", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer("sqlite");
  });
  afterAll(() => server.close());

  const parametersOf = ({ status, body }: Answer<unknown>): [number, ...string[]] => {
    const { details } = (body as { error: ErrorBody }).error;
    return [status, ...details.map(({ parameter }) => parameter)];
  };

  test.each([
    ["templates", { name: " x", text: 5 }, ["text", "name"]],
    ["templates", { name: "x", text: "{{2}}", dltContentId: 7 }, ["dltContentId", "text"]],
    ["templates", { channel: "chatapp", name: "x", body: "{#var#}", footer: 1 }, ["footer", "body"]],
    [
      "templates",
      { channel: "rcs", name: " x", kind: "other", text: "Hi", cards: [{ fileUrl: null }] },
      ["kind", "name", "cards[0].fileUrl"],
    ],
    ["bots", { name: "b", title: 1, agentId: "a@b" }, ["title", "agentId"]],
    ["numbers", { name: "+15550100199", title: 1, phoneNumberId: "+1 555" }, ["title", "phoneNumberId"]],
    ["senders", { name: " S", dltEntityId: 1 }, ["dltEntityId", "name"]],
    ["carriers", { name: "simulator", messagesPerSecond: "fast" }, ["messagesPerSecond", "name"]],
    ["carriers", { name: "c", adapter: "other", smpp: { host: "h" } }, ["adapter"]],
    [
      "carriers",
      { name: "c", adapter: "smpp", messagesPerSecond: 0, chaos: { down: true }, smpp: 5 },
      ["messagesPerSecond", "smpp", "chaos"],
    ],
    [
      "routes",
      { name: "r", prefixes: ["x"], quietHours: { from: "25:00", to: "1" } },
      ["carrier", "prefixes[0]", "quietHours.from", "quietHours.to"],
    ],
    ["routes", { name: "r", channel: "fax", carrier: "none", senders: [" "] }, ["channel", "carrier"]],
    ["prices", { prefix: "x", creditsPerSegment: -1 }, ["creditsPerSegment", "prefix"]],
    ["webhooks", { name: "w", channel: "fax", url: "ftp://x", events: ["link_click"] }, ["channel", "url"]],
    ["webhooks", { name: "w", channel: "sms", url: 1, events: ["message_status"] }, ["url", "events[0]"]],
    ["dlr-configs", { name: "d", url: 1, provider: "none" }, ["url", "provider"]],
    [
      "verify-configs",
      { name: "v", length: 1, text: "no code", failuresPerHour: 40, failuresPerDay: "x" },
      ["length", "failuresPerDay", "text"],
    ],
  ])("a body is refused with all its faults, each once: /api/%s %j", async (path, body, expected) => {
    const [status, ...parameters] = parametersOf(await server.request("POST", `/api/${path}`, body));
    expect([status, ...parameters.toSorted()]).toEqual([400, ...expected.toSorted()]);
  });

  test("a change is refused with all its faults", async () => {
    const made = await server.request<{ id: string }>("POST", "/api/routes", { name: "changed", carrier: "simulator" });
    expect(made.status).toBe(201);
    const answer = await server.request("PATCH", `/api/routes/${made.body.id}`, { priority: "high", prefixes: ["x"] });
    expect(parametersOf(answer)).toEqual([400, "prefixes[0]", "priority"]);
  });

  test.each([
    [
      "POST",
      "/api/users",
      { email: "nobody", name: 1, role: "king", password: "short" },
      ["name", "role", "email", "password"],
    ],
    ["POST", "/api/users", { email: 1, role: "owner", password: "short" }, ["email", "password"]],
    [
      "POST",
      "/api/keys",
      { name: "\n", scopes: ["everything"], allowedIps: ["x"], expiresAt: 1 },
      ["scopes", "allowedIps[0]", "expiresAt", "name"],
    ],
    ["POST", "/api/keys", { name: 1, mode: "test", scopes: ["manage"] }, ["name", "scopes"]],
    ["POST", "/api/credits", { amount: "1", note: "\n", id: "x" }, ["amount", "id", "note"]],
    ["POST", "/api/optouts", { number: "x", note: 1 }, ["note", "number"]],
    ["POST", "/api/optouts", { numbers: 1, note: "\n" }, ["numbers", "note"]],
    [
      "PATCH",
      "/api/account",
      { records: "maybe", zone: "Mars", keepTextsDays: 0, keepMessagesDays: 1 },
      ["records", "keepTextsDays", "zone"],
    ],
    ["POST", `/api/webhooks/${ID}/rotate-secret`, { overlapHours: -1, secret: "x" }, ["overlapHours", "secret"]],
    ["POST", "/api/session", { email: 1, password: "x", totp: "123456", code: "654321" }, ["email", "code"]],
    ["PATCH", "/api/session/password", { current: 1, next: "short" }, ["current", "next"]],
    ["POST", "/api/receipts/replay", { carrier: 1, cursor: "x" }, ["carrier", "cursor"]],
    ["POST", `${PHONE}/reply`, { to: "a\nb", channel: "fax", text: "\u0000" }, ["channel", "text", "to"]],
    ["POST", `${PHONE}/reply`, { text: 1 }, ["text", "to"]],
    ["POST", "/api/simulator/phones/x/reply", { to: "a\nb", text: "\u0000" }, ["text", "to", "number"]],
    [
      "POST",
      `${PHONE}/file`,
      { ...FILE, to: 1, category: "\n", fileUri: "ftp://x", fileSizeBytes: -1, thumbnail: { ...FILE, fileName: "\n" } },
      ["to", "fileSizeBytes", "fileUri", "category", "thumbnail.fileName", "channel"],
    ],
    ["POST", `${PHONE}/file`, { ...FILE, fileName: "\n", to: "a", channel: "chatapp" }, ["fileName", "to"]],
    ["POST", `${PHONE}/location`, { latitude: 91, longitude: 0, to: "a\nb" }, ["latitude", "to", "channel"]],
    [
      "PUT",
      "/api/config",
      {
        settings: { records: "maybe", zone: "Mars", zones: 1 },
        routes: [{ name: "r", carrier: 1, prefixes: ["x"], prefix: "1" }],
        other: [],
      },
      [
        "other",
        "settings.records",
        "settings.zones",
        "settings.zone",
        "routes[0].carrier",
        "routes[0].prefix",
        "routes[0].prefixes[0]",
      ],
    ],
  ])("a body is refused with all its faults, each once: %s %s %j", async (method, path, body, expected) => {
    const [status, ...parameters] = parametersOf(await server.asOwner(method, path, body));
    expect(status).toBe(400);
    const found = parameters.map((each) => each.replace(/^scopes\[0\]$/, "scopes"));
    expect(found.toSorted()).toEqual(expected.toSorted());
  });
});

test("the substitute of a missing required field has the field's shape", () => {
  // JSON Schema without our own checks: rules skip a field that is already wrong.
  const validator = new Ajv({ strict: false });
  const required = RECORD_TYPES.flatMap((shelf) => shelf.definitions).flatMap(({ kind, fields, defaults }) =>
    Object.entries<Schema>(fields)
      .filter(([field]) => !Object.hasOwn(defaults, field))
      .map(([field, schema]) => ({ field: `${kind}.${field}`, fits: validator.validate(schema, smallestOf(schema)) })),
  );
  expect(required.length).toBeGreaterThan(5);
  expect(required.filter(({ fits }) => !fits)).toEqual([]);
});
