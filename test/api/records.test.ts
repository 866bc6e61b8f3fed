import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import { CALM } from "../../src/model/phone.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES, hasPostgres } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { KEYWORD_RULE } from "../support/keyword-rule.ts";
import { startTestServer, type Answer, type ErrorBody, type TestServer } from "../support/test-server.ts";

interface RecordBody {
  id: string;
  name: string;
  origin: string;
  createdAt: number;
  updatedAt: number;
  [field: string]: unknown;
}

interface Page<T = RecordBody> {
  data: T[];
  nextCursor: string | null;
}

interface Failure {
  message: string;
  error: ErrorBody;
}

const NO_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

/** One record of each kind: what makes it, what it shows beside that, and a change. */
const KINDS: [kind: string, body: object, shown: object, change: object][] = [
  [
    "templates",
    { text: "Hello {#var#}" },
    { channel: "sms", variables: 1, dltContentId: null, dltEntityId: null },
    { text: "Dear {{1}}", dltContentId: "1107" },
  ],
  ["bots", {}, { title: null, agentId: null }, { title: "Shop" }],
  ["numbers", { title: "Shop" }, { phoneNumberId: null }, { title: null }],
  ["senders", {}, { dltEntityId: null }, { dltEntityId: "1101" }],
  [
    "carriers",
    { messagesPerSecond: 5 },
    { adapter: "simulator", chaos: null, smpp: null, whatsapp: null, rbm: null, http: null, email: null },
    { messagesPerSecond: null },
  ],
  [
    "routes",
    { carrier: "simulator", prefixes: ["3598"] },
    {
      channel: null,
      routeClasses: [],
      senders: [],
      priority: 100,
      weight: 1,
      enabled: true,
      quietHours: null,
      failoverAfterSeconds: null,
      repeatPromotionsInDoubt: false,
      simulateLive: false,
    },
    { routeClasses: ["OTP"], failoverAfterSeconds: 30, channel: "rcs" },
  ],
  ["prices", { prefix: "3598", creditsPerSegment: 3 }, { routeClass: null }, { creditsPerSegment: 0 }],
];

/** Names that a kind can have: business numbers are all of one form. */
const NUMBERS = ["one-of-them", "taken", "free", "freed"];
const nameFor = (kind: string, name: string): string =>
  kind === "numbers" ? `+1555014200${NUMBERS.indexOf(name)}` : name;

/** The same for other numbers, where there may be only one for the same. */
const another = (body: object): object => ({ ...body, ...("prefix" in body && { prefix: "3597" }) });

describe.each(ENGINES)("records on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  const make = (kind: string, body: object): Promise<Answer<RecordBody>> =>
    server.request<RecordBody>("POST", `/api/${kind}`, body);
  const change = (kind: string, id: string, body: object): Promise<Answer<RecordBody>> =>
    server.request<RecordBody>("PATCH", `/api/${kind}/${id}`, body);
  const remove = (kind: string, id: string): Promise<Answer<RecordBody>> =>
    server.request<RecordBody>("DELETE", `/api/${kind}/${id}`);
  const list = async (kind: string, query = "limit=200"): Promise<Page> =>
    (await server.request<Page>("GET", `/api/${kind}?${query}`)).body;
  const named = async (kind: string, name: string): Promise<RecordBody | undefined> =>
    (await list(kind, `name=${encodeURIComponent(name)}`)).data[0];
  const settings = async (body: object): Promise<void> => {
    expect((await server.asOwner("PATCH", "/api/account", body)).status).toBe(200);
  };
  /** Status, error code and rejected fields of a response. */
  const refusal = ({ status, body }: Answer<unknown>): [number, string, ...string[]] => {
    const { code, details } = (body as Failure).error;
    return [status, code, ...details.map(({ parameter }) => parameter)];
  };
  const refused = (...parameters: string[]): [number, string, ...string[]] => [400, "INVALID_REQUEST", ...parameters];

  test.each(KINDS)("%s are created, read, listed, changed and removed", async (kind, body, shown, changes) => {
    const name = nameFor(kind, "one-of-them");
    const made = await make(kind, { name, ...body });
    expect(made.status).toBe(201);
    const record = made.body;
    expect(record).toEqual({
      ...body,
      ...shown,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name,
      origin: "authored",
      createdAt: expect.any(Number),
      updatedAt: record.createdAt,
    });
    expect((await server.request("GET", `/api/${kind}/${record.id}`)).body).toEqual(record);
    expect((await list(kind)).data).toContainEqual(record);
    expect(await named(kind, name)).toEqual(record);

    const changed = await change(kind, record.id, changes);
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({
      ...record,
      ...changes,
      updatedAt: expect.any(Number),
    });
    expect((await server.request("GET", `/api/${kind}/${record.id}`)).body).toEqual(changed.body);

    const removed = await remove(kind, record.id);
    expect(removed).toMatchObject({ status: 200, body: changed.body });
    expect((await server.request("GET", `/api/${kind}/${record.id}`)).status).toBe(404);
    expect(await named(kind, name)).toBeUndefined();
  });

  test.each(KINDS)("%s with an invalid id are not found", async (kind) => {
    for (const id of [NO_ID, "simulator", "%20"]) {
      expect(refusal(await server.request("GET", `/api/${kind}/${id}`))).toEqual([404, "RECORD_NOT_FOUND"]);
      expect(refusal(await change(kind, id, {}))).toEqual([404, "RECORD_NOT_FOUND"]);
      expect(refusal(await remove(kind, id))).toEqual([404, "RECORD_NOT_FOUND"]);
    }
  });

  test.each(KINDS)("%s have unique names, which other kinds may use too", async (kind, body) => {
    const name = nameFor(kind, "taken");
    const first = (await make(kind, { ...body, name })).body;
    expect(refusal(await make(kind, { ...another(body), name }))).toEqual([409, "NAME_TAKEN", "name"]);
    await remove(kind, first.id);
    const again = await make(kind, { ...body, name });
    expect(again.status).toBe(201);
  });

  test.each(KINDS.filter(([kind]) => kind !== "carriers"))(
    "%s cannot be renamed to a used name",
    async (kind, body) => {
      const [taken, free, freed] = ["taken", "free", "freed"].map((name) => nameFor(kind, name));
      const { id } = (await make(kind, { ...another(body), name: free })).body;
      expect(refusal(await change(kind, id, { name: taken }))).toEqual([409, "NAME_TAKEN", "name"]);
      expect((await change(kind, id, { name: free })).status).toBe(200);
      expect((await change(kind, id, { name: freed })).body.name).toBe(freed);
      await remove(kind, id);
    },
  );

  test.each(KINDS)("%s have printable names", async (kind, body) => {
    const max = { senders: 20, carriers: 50 }[kind] ?? 100;
    for (const name of [
      "",
      " ",
      " a",
      "a\u0000b",
      "a\nb",
      "\ud800",
      "a".repeat(max + 1),
      "🎉".repeat(max / 2 + 1),
      7,
      null,
    ])
      expect([name, ...refusal(await make(kind, { ...body, name })).slice(0, 3)]).toEqual([name, ...refused("name")]);
  });

  test("a list is paged by name, and refuses an invalid limit", async () => {
    for (const name of ["page-c", "page-a", "page-b"]) await make("senders", { name });
    const names: string[] = [];
    let cursor: string | null = "page-";
    while (cursor !== null && names.length < 10) {
      const page: Page = await list("senders", `limit=1&cursor=${cursor}`);
      names.push(...page.data.map(({ name }) => name));
      cursor = page.nextCursor;
    }
    expect(names.slice(0, 3)).toEqual(["page-a", "page-b", "page-c"]);
    expect(refusal(await server.request("GET", "/api/senders?limit=0"))).toEqual(refused("limit"));
    expect(await list("senders", "name=nobody")).toEqual({ data: [], nextCursor: null });
  });

  test("unknown fields of a record are ignored, and read-only ones are not accepted", async () => {
    const { body } = await make("senders", { name: "sober", origin: "learned", accountId: 2, id: NO_ID, extra: 1 });
    expect(Object.keys(body)).toEqual(["id", "name", "dltEntityId", "origin", "createdAt", "updatedAt"]);
    expect(body).toMatchObject({ name: "sober", origin: "authored" });
    expect(body.id).not.toBe(NO_ID);
  });

  describe("templates", () => {
    test.each([
      ["both kinds of placeholders", "{#var#} and {{1}}"],
      ["a gap in its numbers", "{{1}} {{3}}"],
      ["too many variables", "{#var#}".repeat(51)],
      ["too many characters", "a".repeat(1601)],
      ["more characters than it looks", "🎉".repeat(801)],
      ["nothing but spaces", "  "],
      ["no text", ""],
      ["a NUL", "a\u0000b"],
      ["half a character", "a\ud83d"],
      ["a number for a text", 7],
    ])("templates with %s are refused", async (_, text) => {
      expect(refusal(await make("templates", { name: "bad", text }))).toEqual(refused("text"));
    });

    test("templates without a text and with invalid ids are refused with all faults at once", async () => {
      expect(refusal(await make("templates", { name: "bad", dltContentId: "a b" }))).toEqual(
        refused("text", "dltContentId"),
      );
    });

    test("a created template counts for the next request", async () => {
      const { body } = await make("templates", { name: "greeting", text: "Hello {#var#}, {#var#}!" });
      expect(body["variables"]).toBe(2);
      const wrong = await server.send({ text: undefined, templateId: "greeting", custom: ["Ann"] });
      expect(refusal(wrong)).toEqual([422, "PARAMS_MISMATCH", "custom"]);
      await change("templates", body.id, { text: "Bye {#var#}" });
      const to = "15550142001";
      expect((await server.send({ text: undefined, to, templateId: "greeting", custom: ["Ann"] })).status).toBe(200);
      const [message] = await eventually(
        () => server.onPhone(to),
        (messages) => messages.length > 0,
      );
      expect(message?.text).toBe("Bye Ann");
    });
  });

  describe("learned records", () => {
    test("a learned record is listed as learned, and enforced once a user changes it", async () => {
      const request = { text: undefined, sender: "UNHEARD", templateId: "unheard", custom: ["a", "b"] };
      expect((await server.send(request)).status).toBe(200);
      const isStored = (found: RecordBody | undefined): boolean => found !== undefined;
      const sender = await eventually(() => named("senders", "UNHEARD"), isStored);
      const template = await eventually(() => named("templates", "unheard"), isStored);
      expect(sender).toMatchObject({ origin: "learned", dltEntityId: null });
      expect(template).toMatchObject({ origin: "learned", text: null, variables: 2 });
      expect((await server.send({ ...request, custom: ["only one"] })).status).toBe(200);

      const adopted = await change("templates", template?.id ?? "", { text: "{#var#} and {#var#}" });
      expect(adopted.body).toMatchObject({ id: template?.id, origin: "authored", variables: 2 });
      expect(refusal(await server.send({ ...request, custom: ["only one"] }))).toEqual([
        422,
        "PARAMS_MISMATCH",
        "custom",
      ]);
      expect((await server.send(request)).status).toBe(200);
      expect((await change("senders", sender?.id ?? "", {})).body.origin).toBe("authored");
    });

    test("a learned template needs a text before it can be enforced", async () => {
      await server.send({ text: undefined, templateId: "textless", custom: ["a"] });
      const { id = "" } = (await named("templates", "textless")) ?? {};
      expect(refusal(await change("templates", id, { dltContentId: "1107" }))).toEqual(refused("text"));
      expect((await change("templates", id, { dltContentId: "1107", text: "{#var#}" })).status).toBe(200);
    });

    test("a learned record can be changed, renamed and removed before it is stored", async () => {
      for (const [sender, edit] of [
        ["EARLY-1", (id: string) => change("senders", id, { dltEntityId: "1101" })],
        ["EARLY-2", (id: string) => change("senders", id, { name: "LATE-2" })],
        ["EARLY-3", (id: string) => remove("senders", id)],
      ] as const) {
        await server.send({ sender });
        const { id = "" } = (await named("senders", sender)) ?? {};
        expect((await edit(id)).status).toBe(200);
      }
      await server.send({ sender: "EARLY-4" });
      await eventually(
        async () => (await server.app.store.listCatalog()).map(({ name }) => name),
        (written) => written.includes("EARLY-4"),
      );
      expect(await named("senders", "EARLY-1")).toMatchObject({ origin: "authored", dltEntityId: "1101" });
      expect(await named("senders", "EARLY-2")).toBeUndefined();
      expect(await named("senders", "LATE-2")).toMatchObject({ origin: "authored" });
      expect(await named("senders", "EARLY-3")).toBeUndefined();
    });

    test("a learned record gives way to a created one of its name, stored or not", async () => {
      await server.send({ text: undefined, sender: "TWICE", templateId: "twice", custom: ["a"] });
      const made = await make("senders", { name: "TWICE", dltEntityId: "1101" });
      expect([made.status, made.body.origin]).toEqual([201, "authored"]);
      await eventually(
        async () => (await server.app.store.listCatalog()).map(({ name }) => name),
        (written) => written.includes("twice"),
      );
      const learned = await named("templates", "twice");
      const template = await make("templates", { name: "twice", text: "Hi" });
      expect(template).toMatchObject({ status: 201, body: { id: learned?.id, origin: "authored", variables: 0 } });
      expect(await named("senders", "TWICE")).toEqual(made.body);
      expect(refusal(await make("senders", { name: "TWICE" }))).toEqual([409, "NAME_TAKEN", "name"]);
    });
  });

  test("in a strict account a sender is refused until it is stored, and again once it is removed", async () => {
    await settings({ records: "strict" });
    try {
      expect(refusal(await server.send({ sender: "STRICT" }))).toEqual([403, "SENDER_NOT_REGISTERED", "sender"]);
      const { id } = (await make("senders", { name: "STRICT" })).body;
      expect((await server.send({ sender: "STRICT" })).status).toBe(200);
      await remove("senders", id);
      expect((await server.send({ sender: "STRICT" })).status).toBe(403);
    } finally {
      await settings({ records: "learn" });
    }
  });

  describe("bots and numbers", () => {
    test("bots and numbers have a title that phones can show, or none", async () => {
      for (const [kind, name] of [
        ["bots", "titled"],
        ["numbers", "+15550142009"],
      ] as const) {
        for (const title of ["", " ", "a\nb", "\ud800", "a".repeat(101), 7])
          expect([title, ...refusal(await make(kind, { name, title })).slice(0, 3)]).toEqual([
            title,
            ...refused("title"),
          ]);
        expect((await make(kind, { name, title: "Ünïcode 🎉" })).body["title"]).toBe("Ünïcode 🎉");
      }
    });

    test("business numbers are accepted in any notation, with their plus", async () => {
      const { id, name } = (await make("numbers", { name: "+1 (555) 010-01.98" })).body;
      expect(name).toBe("+15550100198");
      expect(refusal(await make("numbers", { name: "+1 555 010 0198" }))).toEqual([409, "NAME_TAKEN", "name"]);
      expect((await named("numbers", "+1 555 010 0198"))?.id).toBe(id);
      expect((await change("numbers", id, { name: "+1 555 010 0197" })).body.name).toBe("+15550100197");
      for (const odd of [
        "15550100198",
        "+123456",
        "+0155501001",
        "+1555010019a",
        "shop",
        `+1${" ".repeat(200)}5550100`,
      ])
        expect([odd, ...refusal(await make("numbers", { name: odd }))]).toEqual([odd, ...refused("name")]);
    });

    test("bots and numbers count for the next request of a strict account", async () => {
      await settings({ records: "strict" });
      const chat = { to: "15550100100", type: "template", templateName: "store_opening" };
      const rcs = { number: "+15550100100", type: "TRANS", templateName: "store-opening" };
      const sendChat = (): Promise<Answer<unknown>> =>
        server.request("POST", "/v1/chatapp", { ...chat, from: "+15550142010" });
      const sendRcs = (): Promise<Answer<unknown>> =>
        server.request("POST", "/v1/rcs", { ...rcs, botId: "strict-bot" });
      try {
        expect(refusal(await sendChat())).toEqual([403, "SENDER_NOT_REGISTERED", "from"]);
        expect(refusal(await sendRcs())).toEqual([404, "BOT_NOT_FOUND", "botId"]);
        await make("numbers", { name: "+15550142010" });
        await make("bots", { name: "strict-bot" });
        expect([(await sendChat()).status, (await sendRcs()).status]).toEqual([200, 200]);
      } finally {
        await settings({ records: "learn" });
      }
    });
  });

  describe("carriers", () => {
    test("carriers include the simulator, which has no id and cannot be created, changed or removed", async () => {
      expect(await named("carriers", "simulator")).toEqual({
        id: null,
        name: "simulator",
        adapter: "simulator",
        messagesPerSecond: null,
        chaos: null,
        smpp: null,
        whatsapp: null,
        rbm: null,
        http: null,
        email: null,
        origin: "built-in",
        createdAt: null,
        updatedAt: null,
      });
      for (const name of ["simulator", "Simulator"])
        expect(refusal(await make("carriers", { name }))).toEqual(refused("name"));
    });

    test("carriers have plain names and keep them", async () => {
      for (const name of ["a b", "a/b", "ä", "a:b"])
        expect(refusal(await make("carriers", { name }))).toEqual(refused("name"));
      const { id } = (await make("carriers", { name: "Line_2.b-c" })).body;
      expect(refusal(await change("carriers", id, { name: "other" }))).toEqual(refused("name"));
      expect((await change("carriers", id, { name: "Line_2.b-c", messagesPerSecond: 9 })).body).toMatchObject({
        name: "Line_2.b-c",
        messagesPerSecond: 9,
      });
    });

    test.each([
      [{ adapter: "carrier pigeon" }, "adapter"],
      [{ messagesPerSecond: 0 }, "messagesPerSecond"],
      [{ messagesPerSecond: 100_001 }, "messagesPerSecond"],
      [{ messagesPerSecond: 1.5 }, "messagesPerSecond"],
      [{ chaos: { deliveredPercent: 101 } }, "chaos.deliveredPercent"],
      [{ chaos: "much" }, "chaos"],
    ])("carriers with %j are refused", async (fields, parameter) => {
      expect(refusal(await make("carriers", { name: "bad", ...fields })).slice(0, 3)).toEqual(refused(parameter));
    });

    test("a carrier has the given chaos settings, none by default, or those of the account", async () => {
      const { id, chaos } = (await make("carriers", { name: "wild", chaos: { delayMs: 7, secret: 1 } })).body;
      expect(chaos).toEqual({ ...CALM, delayMs: 7 });
      expect((await change("carriers", id, { chaos: { down: true } })).body["chaos"]).toEqual({
        ...CALM,
        delayMs: 7,
        down: true,
      });
      expect((await change("carriers", id, { chaos: null })).body["chaos"]).toBeNull();
    });

    test("a carrier stays while a route leads to it", async () => {
      const { id } = (await make("carriers", { name: "needed" })).body;
      const route = (await make("routes", { name: "Needs it", carrier: "needed", prefixes: ["3596"] })).body;
      const kept = await remove("carriers", id);
      expect(refusal(kept)).toEqual([409, "RECORD_IN_USE"]);
      expect((kept.body as unknown as Failure).message).toContain('"Needs it"');
      await change("routes", route.id, { carrier: "simulator" });
      expect((await remove("carriers", id)).status).toBe(200);
      await remove("routes", route.id);
    });
  });

  describe("routes", () => {
    test.each<[object, string]>([
      [{ carrier: "nowhere" }, "carrier"],
      [{ prefixes: ["+91"] }, "prefixes[0]"],
      [{ prefixes: ["91", "0"] }, "prefixes[1]"],
      [{ prefixes: ["1".repeat(16)] }, "prefixes[0]"],
      [{ senders: ["HELIOG", "x".repeat(101)] }, "senders[1]"],
      [{ channel: "sms", senders: ["HELIOG", "x".repeat(21)] }, "senders[1]"],
      [{ channel: "rcs", senders: [" "] }, "senders[0]"],
      [{ channel: "chatapp", senders: ["+15550100199", "15550100199"] }, "senders[1]"],
      [{ senders: ["a\u0000"] }, "senders[0]"],
      [{ routeClasses: ["VOICE"] }, "routeClasses[0]"],
      [{ priority: -1 }, "priority"],
      [{ priority: 1001 }, "priority"],
      [{ weight: 0 }, "weight"],
      [{ weight: 1001 }, "weight"],
      [{ quietHours: { from: "24:00", to: "10:00" } }, "quietHours.from"],
      [{ quietHours: { from: "21:00", to: "9:00" } }, "quietHours.to"],
      [{ quietHours: { from: "21:00", to: "21:00" } }, "quietHours"],
      [{ quietHours: "france" }, "quietHours"],
      [{ failoverAfterSeconds: 0 }, "failoverAfterSeconds"],
      [{ failoverAfterSeconds: 86_401 }, "failoverAfterSeconds"],
      [{ enabled: "yes" }, "enabled"],
      [{ channel: "voice" }, "channel"],
    ])("routes with %j are refused", async (fields, parameter) => {
      const answer = await make("routes", { name: "bad", carrier: "simulator", ...fields });
      expect(refusal(answer).slice(0, 3)).toEqual(refused(parameter));
    });

    test("a route without a carrier is refused by field", async () => {
      expect(refusal(await make("routes", { name: "bad" }))).toEqual(refused("carrier"));
      const { body } = await make("routes", { name: "bad", carrier: "nowhere" });
      expect((body as unknown as Failure).error.message).toContain('"nowhere"');
    });

    test("routes match senders, bots and business numbers, in any notation of a number", async () => {
      const senders = ["HELIOG", "a".repeat(100), "+15550100199"];
      const route = (await make("routes", { name: "Some", carrier: "simulator", prefixes: ["3595"], senders })).body;
      expect(route).toMatchObject({ channel: null, senders });
      const spaced = { channel: "chatapp", senders: ["+1 (555) 010-0199"] };
      expect((await change("routes", route.id, spaced)).body["senders"]).toEqual(["+15550100199"]);
      expect(refusal(await change("routes", route.id, { senders: ["HELIOG"] }))).toEqual(refused("senders[0]"));
      await remove("routes", route.id);
    });

    test("routes know the quiet hours of India by name", async () => {
      const route = (
        await make("routes", { name: "India", carrier: "simulator", prefixes: ["91"], quietHours: "india" })
      ).body;
      expect(route["quietHours"]).toEqual({ from: "21:00", to: "10:00" });
      expect((await change("routes", route.id, { quietHours: null })).body["quietHours"]).toBeNull();
      expect((await remove("routes", route.id)).status).toBe(200);
    });

    test("a created route counts for the next message", async () => {
      const sent = async (): Promise<string | null> => {
        const { body } = await server.send();
        return (await server.settled(body.data[0]?.messageId ?? "")).errCode;
      };
      const everything = await named("routes", "Everything to the simulator");
      expect(everything).toMatchObject({ origin: "authored", carrier: "simulator" });
      const id = everything?.id ?? "";
      await change("routes", id, { enabled: false });
      expect(await sent()).toBe("NO_ROUTE");
      await change("routes", id, { enabled: true });
      expect(await sent()).not.toBe("NO_ROUTE");
    });
  });

  describe("prices", () => {
    test.each<[object, string]>([
      [{ prefix: "+91" }, "prefix"],
      [{ prefix: "91x" }, "prefix"],
      [{ routeClass: "VOICE" }, "routeClass"],
      [{ creditsPerSegment: -1 }, "creditsPerSegment"],
      [{ creditsPerSegment: 1001 }, "creditsPerSegment"],
      [{ creditsPerSegment: 0.5 }, "creditsPerSegment"],
    ])("prices with %j are refused", async (fields, parameter) => {
      const answer = await make("prices", { prefix: "91", creditsPerSegment: 1, ...fields });
      expect(refusal(answer).slice(0, 3)).toEqual(refused(parameter));
    });

    test("a price is named after its scope unless it has a name", async () => {
      const body = { routeClass: "OTP", prefix: "42", creditsPerSegment: 1 };
      const price = (await make("prices", body)).body;
      expect(price.name).toBe("OTP 42");
      expect((await change("prices", price.id, { routeClass: null })).body.name).toBe("ALL 42");
      expect((await change("prices", price.id, { routeClass: "OTP", prefix: "" })).body.name).toBe("OTP");
      expect((await change("prices", price.id, { name: "Codes" })).body.name).toBe("Codes");
      expect((await change("prices", price.id, { prefix: "42" })).body.name).toBe("Codes");
      await remove("prices", price.id);
    });

    test("a second price for the same messages is refused", async () => {
      const one = (await make("prices", { prefix: "44", creditsPerSegment: 1 })).body;
      const twin = { name: "Twin", prefix: "44", creditsPerSegment: 2 };
      expect(refusal(await make("prices", twin))).toEqual(refused("prefix"));
      const other = (await make("prices", { ...twin, routeClass: "OTP" })).body;
      expect(refusal(await change("prices", other.id, { routeClass: null }))).toEqual(refused("routeClass"));
      expect((await change("prices", one.id, { creditsPerSegment: 3 })).status).toBe(200);
    });

    test("a created price counts for the next message", async () => {
      const { id } = (await make("prices", { routeClass: "TRANS", prefix: "1555", creditsPerSegment: 7 })).body;
      const { body } = await server.send();
      const message = await server.app.store.findMessage({ accountId: 1, requestId: body.id ?? "", n: 1 });
      expect(message?.credits).toBe(7);
      await remove("prices", id);
    });
  });

  describe("opt-outs", () => {
    interface OptOutBody {
      number: string;
      source: string;
      note: string | null;
      createdAt: number;
    }
    const add = (body: object): Promise<Answer<{ numbers: string[] }>> => server.request("POST", "/api/optouts", body);
    const read = (number: string): Promise<Answer<OptOutBody>> => server.request("GET", `/api/optouts/${number}`);

    test("opt-outs are added one by one or together, read, listed and removed", async () => {
      expect(await add({ number: "+1 555-0143-001", note: "Asked" })).toMatchObject({
        status: 200,
        body: { numbers: ["15550143001"] },
      });
      const several = await add({ numbers: ["15550143002", "+15550143001", "15550143002"] });
      expect(several.body).toEqual({ numbers: ["15550143002", "15550143001"] });
      const first = { number: "15550143001", source: "manual", note: "Asked", createdAt: expect.any(Number) };
      expect((await read("%2B15550143001")).body).toEqual(first);
      expect((await read("15550143002")).body).toMatchObject({ note: null });

      const page = await server.request<Page<OptOutBody>>("GET", "/api/optouts?limit=1");
      expect(page.body).toEqual({ data: [first], nextCursor: "15550143001" });
      const next = await server.request<Page<OptOutBody>>(
        "GET",
        `/api/optouts?limit=50&cursor=${page.body.nextCursor}`,
      );
      expect(next.body.data.map(({ number }) => number)).toEqual(["15550143002"]);

      const removed = await server.request("DELETE", "/api/optouts/15550143001");
      expect(removed).toMatchObject({ status: 200, body: first });
      expect(refusal(await read("15550143001"))).toEqual([404, "RECORD_NOT_FOUND"]);
      expect(refusal(await server.request("DELETE", "/api/optouts/15550143001"))).toEqual([404, "RECORD_NOT_FOUND"]);
    });

    test("opt-outs apply to the next promotion", async () => {
      await add({ number: "15550143003" });
      const promotion = { type: "PROMO", to: "15550143003" };
      expect(refusal(await server.send(promotion)).slice(0, 2)).toEqual([403, "RECIPIENT_OPTED_OUT"]);
      await server.request("DELETE", "/api/optouts/15550143003");
      expect((await server.send(promotion)).status).toBe(200);
    });

    test.each<[object, string]>([
      [{}, "number"],
      [{ number: "15550143001", numbers: ["15550143001"] }, "number"],
      [{ number: "none" }, "number"],
      [{ numbers: ["15550143001", "12"] }, "numbers[1]"],
      [{ numbers: [] }, "numbers"],
      [{ numbers: Array.from({ length: 1001 }, (_, index) => String(15_550_200_000 + index)) }, "numbers"],
      [{ number: "15550143001", note: "a\u0000" }, "note"],
      [{ number: "15550143001", note: "a".repeat(201) }, "note"],
    ])("opt-outs of a request like %j are refused", async (body, parameter) => {
      expect(refusal(await add(body)).slice(0, 3)).toEqual(refused(parameter));
    });

    test("a thousand opt-outs are added together", async () => {
      const numbers = Array.from({ length: 1000 }, (_, index) => String(15_550_300_000 + index));
      expect((await add({ numbers })).body.numbers).toHaveLength(1000);
      expect((await read("15550300999")).status).toBe(200);
    });

    test("opt-outs requested with an invalid number or page are refused", async () => {
      expect(refusal(await read("none"))).toEqual(refused("number"));
      expect(refusal(await server.request("GET", "/api/optouts?cursor=none"))).toEqual(refused("cursor"));
    });
  });

  describe("credits", () => {
    interface Balance {
      mode: string;
      balance: number;
      held: number;
    }
    const balance = async (): Promise<Balance> => (await server.request<Balance>("GET", "/api/credits")).body;
    const add = (body: object): Promise<Answer<Balance>> => server.asOwner("POST", "/api/credits", body);

    test("credits are added and removed, never below zero, and recorded in the ledger", async () => {
      const before = (await balance()).balance;
      expect((await add({ amount: 10, note: "Invoice 1" })).body).toEqual({
        mode: "unlimited",
        balance: before + 10,
        held: 0,
      });
      expect((await add({ amount: -4 })).body.balance).toBe(before + 6);
      expect(refusal(await add({ amount: -before - 7 }))).toEqual([402, "INSUFFICIENT_CREDITS", "amount"]);
      expect((await balance()).balance).toBe(before + 6);

      const ledger = await server.request<Page<{ amount: number }>>("GET", "/api/credits/ledger?limit=200");
      expect(ledger.body.data.reduce((sum, { amount }) => sum + amount, 0)).toBe(before + 6);
      expect(ledger.body.data).toContainEqual({
        id: expect.any(String),
        messageId: null,
        kind: "top-up",
        amount: 10,
        held: 0,
        note: "Invoice 1",
        at: expect.any(Number),
      });
    });

    test("credits are added once under the same id", async () => {
      const id = newId(Date.now());
      const first = await add({ amount: 5, id });
      expect(await add({ amount: 5, id })).toMatchObject({ status: 200, body: first.body });
    });

    test.each<[object, string]>([
      [{}, "amount"],
      [{ amount: 0 }, "amount"],
      [{ amount: 1.5 }, "amount"],
      [{ amount: "5" }, "amount"],
      [{ amount: 1_000_000_001 }, "amount"],
      [{ amount: 5, id: "mine" }, "id"],
      [{ amount: 5, note: "a\nb" }, "note"],
    ])("credits of a request like %j are refused", async (body, parameter) => {
      const before = await balance();
      expect(refusal(await add(body)).slice(0, 3)).toEqual(refused(parameter));
      expect(await balance()).toEqual(before);
    });

    test("credits of a metered account are spent, and the ledger shows on what, in pages", async () => {
      await add({ amount: 3 });
      await settings({ credits: "metered" });
      const { body: sent } = await server.send({ to: ["15550144001", "15550144002"] });
      const { mode } = await balance();
      await settings({ credits: "unlimited" });
      expect(mode).toBe("metered");
      for (const { messageId } of sent.data) await server.settled(messageId);

      const lines: { id: string; messageId: string | null; kind: string; amount: number; held: number }[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const page: Answer<Page<(typeof lines)[number]>> = await server.request(
          "GET",
          `/api/credits/ledger?limit=1${cursor && `&cursor=${cursor}`}`,
        );
        expect(page.status).toBe(200);
        lines.push(...page.body.data);
        cursor = page.body.nextCursor;
      }
      const whole = await server.request<Page<object>>("GET", "/api/credits/ledger?limit=200");
      expect(whole.body.data).toEqual(lines);
      const ours = lines.filter(({ id }) => id === sent.id);
      expect(ours.map(({ kind, messageId, amount, held }) => [kind, messageId, amount, held])).toEqual([
        ["spend", `${sent.id}:2`, 0, -1],
        ["spend", `${sent.id}:1`, 0, -1],
        ["hold", null, -2, 2],
      ]);
    });

    test("credits requested with an invalid cursor are refused", async () => {
      for (const cursor of ["x", NO_ID, `${NO_ID}:0:gift`, `${"-".repeat(36)}:0:hold`, `${NO_ID}:9999999:hold`])
        expect(refusal(await server.request("GET", `/api/credits/ledger?cursor=${cursor}`))).toEqual(refused("cursor"));
    });
  });

  test("a learned bot has all fields of its kind", async () => {
    const rcs = { number: "+15550100100", botId: "learned-bot", templateName: "any", type: "TRANS" };
    const bot = await server.request<{ error: unknown }>("POST", "/v1/rcs", rcs);
    expect([bot.status, bot.body.error]).toEqual([200, null]);
    const { body } = await server.request<Page>("GET", "/api/bots?name=learned-bot");
    expect(body.data[0]).toMatchObject({ origin: "learned", title: null, agentId: null });
  });

  describe("the account", () => {
    const { chaos: _, ...defaults } = DEFAULT_SETTINGS;
    const unchanged = { name: "default", suspended: false, warnings: [] };

    test("a keyword rule gets defaults for what it leaves out", async () => {
      const { status, body } = await server.request<{ keywordRules: object[] }>("PATCH", "/api/account", {
        keywordRules: [{ stopReply: "You are out." }],
      });
      expect([status, body.keywordRules]).toEqual([
        200,
        [
          {
            language: null,
            numbers: null,
            countries: null,
            stopWords: null,
            startWords: null,
            helpWords: ["HELP", "INFO"],
            confirmWords: ["YES"],
            stopReply: "You are out.",
            startReply: null,
            helpReply: null,
            confirmReply: null,
          },
        ],
      ]);
      await settings(defaults);
    });

    test("the account shows every setting but the simulator's chaos", async () => {
      expect((await server.request("GET", "/api/account")).body).toEqual({ ...unchanged, ...defaults });
    });

    test("the account changes the given settings and no others", async () => {
      const changes = {
        numbers: "strict",
        defaultRegion: "IN",
        records: "strict",
        textMismatch: "warn",
        allowedCountries: ["IN", "US"],
        sameText: { max: 3, windowSeconds: 600 },
        limits: "everywhere",
        stopWords: ["HALT", "रोकें"],
        startWords: ["GO ON"],
        keywordRules: [KEYWORD_RULE],
        credits: "metered",
        refundUndelivered: true,
        zone: "Asia/Kolkata",
        keepTextsDays: 7,
        keepMessagesDays: 7,
        keepContactsDays: 90,
      };
      for (const [name, value] of Object.entries(changes)) {
        const before = (await server.request<object>("GET", "/api/account")).body;
        const { status, body } = await server.request("PATCH", "/api/account", {
          [name]: value,
          name: "mine",
          chaos: {},
        });
        expect([name, status, body]).toEqual([name, 200, { ...before, [name]: value }]);
      }
      await settings(defaults);
      expect((await server.request("GET", "/api/account")).body).toEqual({ ...unchanged, ...defaults });
    });

    test.each<[object, string]>([
      [{ numbers: "none" }, "numbers"],
      [{ defaultRegion: "in" }, "defaultRegion"],
      [{ defaultRegion: "" }, "defaultRegion"],
      [{ allowedCountries: [] }, "allowedCountries"],
      [{ allowedCountries: ["IN", "XX"] }, "allowedCountries[1]"],
      [{ sameText: { max: 0, windowSeconds: 60 } }, "sameText.max"],
      [{ sameText: { max: 1001, windowSeconds: 60 } }, "sameText.max"],
      [{ sameText: { max: 1, windowSeconds: 86_401 } }, "sameText.windowSeconds"],
      [{ limits: "nowhere" }, "limits"],
      [{ stopWords: [] }, "stopWords"],
      [{ stopWords: ["STOP", "x".repeat(31)] }, "stopWords[1]"],
      [{ startWords: ["!!"] }, "startWords[0]"],
      [{ startWords: Array.from({ length: 31 }, (_each, index) => `GO${index}`) }, "startWords"],
      [{ keywordRules: {} }, "keywordRules"],
      [{ keywordRules: [{ stopReply: " " }] }, "keywordRules[0].stopReply"],
      [{ keywordRules: [{}, { helpReply: "x".repeat(481) }] }, "keywordRules[1].helpReply"],
      [{ keywordRules: [{ numbers: [] }] }, "keywordRules[0].numbers"],
      [{ keywordRules: [{ countries: ["XX"] }] }, "keywordRules[0].countries[0]"],
      [{ keywordRules: [{ confirmWords: ["!"] }] }, "keywordRules[0].confirmWords[0]"],
      [{ keywordRules: [{ language: "not a tag" }] }, "keywordRules[0].language"],
      [{ zone: "Mars/Olympus" }, "zone"],
      [{ zone: "" }, "zone"],
      [{ keepTextsDays: 0 }, "keepTextsDays"],
      [{ keepTextsDays: 401 }, "keepTextsDays"],
      [{ keepMessagesDays: 29 }, "keepMessagesDays"],
      [{ keepTextsDays: 10, keepMessagesDays: 9 }, "keepMessagesDays"],
      [{ keepMessagesDays: 3651 }, "keepMessagesDays"],
      [{ keepContactsDays: 0 }, "keepContactsDays"],
      [{ refundUndelivered: 1 }, "refundUndelivered"],
      [{ credits: "some" }, "credits"],
    ])("the account refuses %j and changes nothing", async (body, parameter) => {
      expect(refusal(await server.request("PATCH", "/api/account", body)).slice(0, 3)).toEqual(refused(parameter));
      expect((await server.request("GET", "/api/account")).body).toMatchObject(defaults);
    });
  });
});

describe.runIf(hasPostgres)("two nodes on one database", () => {
  test("two nodes see each other's changes of records and settings, and lose no concurrent change", async () => {
    const database = await migratedDatabase(inject("postgresUrl"));
    const one = await startTestServer("postgres", { env: { HELIOGRAPH_DATABASE_URL: database.url } });
    const two = await startTestServer("postgres", { env: { ...one.env, HELIOGRAPH_PORT: "0" } });
    const as = { apikey: one.key };
    const sendAt = async (server: TestServer, sender: string): Promise<number> =>
      (await server.send({ sender }, as)).status;
    try {
      expect((await one.request("PATCH", "/api/account", { records: "strict" })).status).toBe(200);
      await eventually(
        () => sendAt(two, "NODES"),
        (status) => status === 403,
      );
      const { status: made, body } = await one.request<RecordBody>("POST", "/api/senders", { name: "NODES" });
      expect(made).toBe(201);
      expect(await sendAt(one, "NODES")).toBe(200);
      await eventually(
        () => sendAt(two, "NODES"),
        (status) => status === 200,
      );
      // Reading a single record shows a change at once, on any node.
      const changed = await two.request<RecordBody>("PATCH", `/api/senders/${body.id}`, { dltEntityId: "1101" }, as);
      expect((await one.request<RecordBody>("GET", `/api/senders/${body.id}`)).body).toEqual(changed.body);
      await two.request("DELETE", `/api/senders/${body.id}`, undefined, as);
      await eventually(
        () => sendAt(one, "NODES"),
        (status) => status === 403,
      );
      await carrierAndRoute(one, two, as);
      await changesAtOnce(one, two, as);
    } finally {
      await two.close();
      await one.close();
      await database.drop();
    }
  });

  /** A carrier is removed on one node while a route to it is made on the other: one of the two is refused. */
  async function carrierAndRoute(one: TestServer, two: TestServer, as: Record<string, string>): Promise<void> {
    for (let round = 0; round < 12; round += 1) {
      const carrier = `race-${round}`;
      const made = await one.request<RecordBody>("POST", "/api/carriers", { name: carrier });
      const [route, removal] = await Promise.all([
        two.request("POST", "/api/routes", { name: carrier, carrier }, as),
        one.request("DELETE", `/api/carriers/${made.body.id}`),
      ]);
      expect([
        [201, 409],
        [400, 200],
      ]).toContainEqual([route.status, removal.status]);
    }
  }

  /** Changes of different fields at once are both there afterwards. */
  async function changesAtOnce(one: TestServer, two: TestServer, as: Record<string, string>): Promise<void> {
    const { body } = await one.request<RecordBody>("POST", "/api/templates", { name: "both", text: "Hello" });
    const path = `/api/templates/${body.id}`;
    for (let round = 0; round < 6; round += 1) {
      const [text, dltContentId] = [`Hello ${round}`, String(1100 + round)];
      await Promise.all([one.request("PATCH", path, { text }), two.request("PATCH", path, { dltContentId }, as)]);
      expect((await one.request("GET", path)).body).toMatchObject({ text, dltContentId });
    }
  }
});
