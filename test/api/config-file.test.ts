import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { applyConfigFile } from "../../src/records/apply-config.ts";
import type { ConfigPlan } from "../../src/records/plan-config.ts";
import { describePlan } from "../../src/cli/config-apply.ts";
import { openTerminal } from "../../src/cli/terminal.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import type { CatalogRecord } from "../../src/model/catalog.ts";
import { CALM } from "../../src/model/phone.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { KEYWORD_RULE } from "../support/keyword-rule.ts";
import { catalogRecord } from "../support/catalog-record.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";
import { COMMAND_LINE } from "../support/entries.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Answer, type ErrorBody, type TestServer } from "../support/test-server.ts";

type SetUp = Record<string, Record<string, unknown>[]> & { settings: Record<string, unknown> };
type PlanBody = ConfigPlan & { applied: boolean };

const PARTS = [
  "templates",
  "bots",
  "numbers",
  "senders",
  "carriers",
  "routes",
  "prices",
  "webhooks",
  "dlr-configs",
  "verify-configs",
  "verify-rules",
  "alert-rules",
  "segments",
  "canned-replies",
  "system-ids",
];
const NOTHING = Object.fromEntries(PARTS.map((part) => [part, []]));
const { chaos: _chaos, ...SETTINGS } = DEFAULT_SETTINGS;

/** Something of everything, with nothing left to a default. */
const RICH = {
  settings: {
    ...SETTINGS,
    records: "strict",
    allowedCountries: ["IN", "US"],
    sameText: null,
    keepTextsDays: 7,
    keywordRules: [KEYWORD_RULE],
  },
  templates: [
    { channel: "sms", name: "code", text: "{#var#} is your code.", dltContentId: "1107", dltEntityId: "1101" },
    {
      channel: "chatapp",
      name: "code",
      language: "pt_BR",
      category: "authentication",
      status: "draft",
      header: { type: "image", link: "https://shop.example/a.jpg" },
      body: "{{1}}",
      footer: "Bye",
      buttons: [{ type: "call", text: "Call", number: "+15550100199" }],
      offer: null,
      cards: [],
      languages: [
        {
          language: "fr",
          status: "approved",
          header: null,
          body: "{{1}}",
          variables: 1,
          footer: null,
          buttons: [],
          offer: null,
          cards: [],
          platform: null,
        },
      ],
    },
    {
      channel: "rcs",
      name: "code",
      kind: "carousel",
      text: null,
      suggestions: [],
      cards: [1, 2].map((card) => ({
        title: `Card ${card}`,
        description: "",
        fileUrl: "https://shop.example/a.jpg",
        suggestions: [{ type: "dial", text: "Call", data: "call", number: "+15550100199" }],
      })),
      status: "paused",
    },
  ],
  bots: [{ name: "my bot", title: "Shop", agentId: null }],
  numbers: [{ name: "+15550100111", title: null, phoneNumberId: null }],
  senders: [{ name: "MYSHOP", dltEntityId: "1101" }],
  carriers: [
    {
      name: "calm",
      adapter: "simulator",
      messagesPerSecond: 5,
      chaos: null,
      smpp: null,
      whatsapp: null,
      rbm: null,
      http: null,
      email: null,
    },
    {
      name: "wild",
      adapter: "simulator",
      messagesPerSecond: null,
      chaos: { ...CALM, deliveredPercent: 50 },
      smpp: null,
      whatsapp: null,
      rbm: null,
      http: null,
      email: null,
    },
  ],
  routes: [
    {
      name: "All of it",
      channel: "rcs",
      routeClasses: ["PROMO"],
      prefixes: ["91"],
      senders: ["my bot"],
      carrier: "wild",
      priority: 7,
      weight: 2,
      enabled: false,
      quietHours: { from: "21:00", to: "10:00" },
      failoverAfterSeconds: 30,
      repeatPromotionsInDoubt: true,
      simulateLive: true,
    },
  ],
  prices: [{ name: "Codes", routeClass: "OTP", prefix: "91", creditsPerSegment: 0 }],
  webhooks: [
    {
      name: "Answers",
      channel: "chatapp",
      channels: ["chatapp", "verify"],
      method: "POST",
      url: "https://shop.example/chat",
      events: ["user_message", "message_sent"],
      constantHeaders: [],
      enabled: false,
    },
  ],
  "dlr-configs": [
    {
      name: "Reports",
      provider: "simulator",
      method: "GET",
      url: "https://shop.example/reports?shop=1",
      headers: [{ key: "X-Id", value: "{{messageId}}" }],
      constantHeaders: [],
      fields: [{ name: "id", value: "{{messageId}}" }],
      enabled: true,
    },
  ],
  "verify-rules": [{ name: "99890", action: "block", note: "pumping" }],
  "alert-rules": [{ name: "slow", alert: "queue_age", threshold: 30, windowMinutes: 60, minimum: 100, enabled: false }],
  "canned-replies": [{ name: "thanks", text: "Thank you." }],
  segments: [{ name: "VIP", tags: ["vip"], attributes: { city: "Pune" }, consents: ["sms:PROMO"] }],
  "verify-configs": [
    {
      name: "Login",
      channels: [{ channel: "rcs", from: "my bot", template: "code", waitSeconds: 60 }],
      text: "{code} for you",
      texts: { "pt-BR": "{code} para você" },
      subject: "Your code",
      subjects: { "pt-BR": "Seu código" },
      length: 8,
      alphabet: "digits",
      lifeSeconds: 120,
      checks: 3,
      cooldownSeconds: 60,
      sendsPer10Minutes: 3,
      sendsPerDay: 6,
      failuresPerHour: 5,
      failuresPerDay: 15,
      allowedCountries: ["IN"],
      appHash: "FA+9qCX9VSu",
      webOtpDomain: "shop.example",
      testNumbers: [{ number: "15550100100", code: "12345678" }],
    },
  ],
  "system-ids": [],
};

/** Seals nothing. */
const PLAIN = { encrypt: (text: string) => text, decrypt: (sealed: string) => sealed };

const reversed = (setUp: object): object =>
  Object.fromEntries(
    Object.entries(setUp)
      .toReversed()
      .map(([part, value]: [string, unknown]) => [part, Array.isArray(value) ? value.toReversed() : value]),
  );

const refusal = ({ status, body }: Answer<unknown>): [number, string, ...string[]] => {
  const { code, details } = (body as { error: ErrorBody }).error;
  return [status, code, ...details.map(({ parameter }) => parameter)];
};
const refused = (...parameters: string[]): [number, string, ...string[]] => [400, "INVALID_REQUEST", ...parameters];

describe.each(ENGINES)("the configuration of an account on %s", (engine) => {
  let tenants: Tenants;
  let server: TestServer;
  beforeAll(async () => {
    tenants = await openTenants(engine);
    ({ server } = tenants);
  });
  afterAll(() => tenants.close());

  interface Tenant {
    accountId: number;
    exported(): Promise<SetUp>;
    put(setUp: unknown, query?: string): Promise<Answer<PlanBody>>;
    ask<T>(method: string, path: string, body?: unknown): Promise<Answer<T>>;
  }
  let tenantCount = 0;

  /** A new account that contains only the given configuration. */
  async function newTenant(setUp: object = {}): Promise<Tenant> {
    tenantCount += 1;
    const { accountId, minted } = await tenants.addAccount(`tenant-${tenantCount}`);
    const ask = <T>(method: string, path: string, body?: unknown): Promise<Answer<T>> =>
      server.request<T>(method, path, body, { apikey: minted.secret });
    const tenant: Tenant = {
      accountId,
      ask,
      exported: async () => (await ask<SetUp>("GET", "/api/config")).body,
      put: (body, query = "") => ask("PUT", `/api/config${query}`, body),
    };
    const { status, body } = await tenant.put({ ...NOTHING, ...setUp });
    expect([status, (body as unknown as { error?: ErrorBody }).error]).toEqual([200, undefined]);
    return tenant;
  }

  test("an exported configuration restores an empty account exactly, in any order", async () => {
    const first = await newTenant(RICH);
    const exported = await first.exported();
    expect(exported).toEqual(RICH);
    expect(Object.keys(exported)).toEqual(["settings", ...PARTS]);
    const second = await newTenant(reversed(exported));
    expect(JSON.stringify(await second.exported())).toBe(JSON.stringify(exported));
    const { applied, same, ...rest } = (await second.put(exported)).body;
    expect([applied, same.length]).toEqual([true, 17]);
    expect(rest).toEqual({ settings: [], made: [], changed: [], removed: [] });
  });

  test("a new account's configuration contains its samples, and can be moved to another account", async () => {
    const samples = (await server.request<SetUp>("GET", "/api/config")).body;
    expect(samples["templates"]?.map(({ channel, name }) => `${String(channel)} ${String(name)}`)).toEqual([
      "sms welcome",
      "chatapp autumn_sale",
      "chatapp how_to_assemble",
      "chatapp invoice",
      "chatapp order_shipped",
      "chatapp order_status",
      "chatapp store_opening",
      "rcs autumn-sale",
      "rcs new-arrivals",
      "rcs order-shipped",
      "rcs rate-us",
      "rcs store-opening",
    ]);
    const other = await newTenant(samples);
    expect(await other.exported()).toEqual(samples);
  });

  test("an exported configuration contains no learned records, campaigns, ids or times", async () => {
    const tenant = await newTenant({ routes: RICH.routes.map((route) => ({ ...route, carrier: "simulator" })) });
    const before = await tenant.exported();
    const sms = { sender: "UNHEARD", to: "15550100100", text: "Hi", type: "TRANS", campaignName: "secret" };
    expect((await tenant.ask("POST", "/v1/sms", sms)).status).toBe(200);
    await eventually(
      async () => (await server.app.store.listCatalog()).map(({ name }) => name),
      (names) => names.includes("UNHEARD") && names.includes("secret"),
    );
    expect(await tenant.exported()).toEqual(before);
    expect(JSON.stringify(before)).not.toMatch(/"(id|createdAt|updatedAt|origin|variables|chaos)":/);
  });

  describe("the plan of a configuration", () => {
    const NEW = {
      settings: { records: "learn", keepTextsDays: 8, keepMessagesDays: SETTINGS.keepMessagesDays },
      templates: [
        { ...RICH.templates[0], text: "Your code: {#var#}", dltContentId: null },
        RICH.templates[1],
        { channel: "rcs", name: "hello", kind: "text", text: "Hello" },
      ],
      senders: [...RICH.senders, { name: "OTHER" }],
      prices: [],
    };
    const PLAN = {
      settings: [
        { field: "records", from: "strict", to: "learn" },
        { field: "keepTextsDays", from: 7, to: 8 },
      ],
      made: [
        { part: "templates", channel: "rcs", name: "hello" },
        { part: "senders", name: "OTHER" },
      ],
      changed: [
        {
          part: "templates",
          channel: "sms",
          name: "code",
          fields: [
            { field: "text", from: "{#var#} is your code.", to: "Your code: {#var#}" },
            { field: "dltContentId", from: "1107", to: null },
          ],
        },
      ],
      removed: [
        { part: "templates", channel: "rcs", name: "code" },
        { part: "prices", name: "Codes" },
      ],
      same: [
        { part: "templates", channel: "chatapp", name: "code" },
        { part: "senders", name: "MYSHOP" },
      ],
    };

    test("a plan lists created, changed, removed and unchanged records, and a dry run changes nothing", async () => {
      const tenant = await newTenant(RICH);
      const dry = await tenant.put(NEW, "?dryRun=true");
      expect(dry).toMatchObject({ status: 200, body: { applied: false } });
      expect(dry.body).toEqual({ applied: false, ...PLAN });
      expect(await tenant.exported()).toEqual(RICH);

      expect((await tenant.put(NEW, "?dryRun=false")).body).toEqual({ applied: true, ...PLAN });
      expect(await tenant.exported()).toMatchObject({
        settings: { ...RICH.settings, ...NEW.settings },
        templates: [
          NEW.templates[0],
          NEW.templates[1],
          { ...NEW.templates[2], suggestions: [], cards: [], status: "approved" },
        ],
        // Parts that the file does not mention stay unchanged.
        bots: RICH.bots,
        routes: RICH.routes,
        carriers: RICH.carriers,
        senders: [RICH.senders[0], { name: "OTHER", dltEntityId: null }],
        prices: [],
      });
    });

    test("applying a plan keeps ids and creation times of changed records", async () => {
      const tenant = await newTenant(RICH);
      const read = async (): Promise<{ id: string; createdAt: number; updatedAt: number }[]> =>
        (await tenant.ask<{ data: never[] }>("GET", "/api/templates?name=code")).body.data;
      const before = await read();
      await tenant.put(NEW);
      const after = await read();
      expect(after.map(({ id }) => id)).toEqual([before[0]?.id, before[2]?.id]);
      expect(after.map(({ createdAt }) => createdAt)).toEqual([before[0]?.createdAt, before[2]?.createdAt]);
      // Untouched is untouched.
      expect(after[0]).toEqual(before[0]);
    });

    test("a plan is printed in plain text", () => {
      expect(describePlan(PLAN as ConfigPlan)).toBe(
        [
          '+ templates rcs "hello"',
          '+ senders "OTHER"',
          '~ templates sms "code"',
          '    text: "{#var#} is your code." -> "Your code: {#var#}"',
          '    dltContentId: "1107" -> null',
          '- templates rcs "code"',
          '- prices "Codes"',
          "~ settings",
          '    records: "strict" -> "learn"',
          "    keepTextsDays: 7 -> 8",
          "",
          "2 to create, 1 to change, 2 to remove, 2 settings to change; 2 unchanged.",
        ].join("\n"),
      );
    });
  });

  test("an applied configuration counts for the next request", async () => {
    const tenant = await newTenant();
    const sms = { sender: "MYSHOP", to: "15550100100", templateId: "hi", custom: ["Ada"], type: "TRANS" };
    await tenant.put({ settings: { records: "strict" } });
    expect(refusal(await tenant.ask("POST", "/v1/sms", sms))[1]).toBe("SENDER_NOT_REGISTERED");
    await tenant.put({ senders: [{ name: "MYSHOP" }], templates: [{ name: "hi", text: "Hi {#var#}" }] });
    expect((await tenant.ask("POST", "/v1/sms", sms)).status).toBe(200);
    await tenant.put({ templates: [{ name: "hi", text: "Hi {#var#}, {#var#}" }] });
    expect(refusal(await tenant.ask("POST", "/v1/sms", sms))).toEqual([422, "PARAMS_MISMATCH", "custom"]);
  });

  test("a faulty configuration is refused with every fault by its position, and nothing is changed", async () => {
    const tenant = await newTenant(RICH);
    const faulty = {
      tempaltes: [],
      settings: { defaultRegion: "in", stopWords: ["!"], keepTextsDays: 8 },
      templates: [
        { name: "fine", text: "Fine" },
        { name: "textless" },
        { channel: "chatapp", name: "not_one", body: "{#var#}" },
        { channel: "rcs", name: "card", kind: "card", cards: [{ fileUrl: "https://shop.example/a.jpg", suggestions: [{ type: "url", text: "Go" }] }] },
        { channel: "voice", name: "odd" },
        "template",
        { name: "fine", text: "Again" },
        { channel: "rcs", name: "fine", kind: "text", text: "Of another channel" },
        { name: "extra", text: "Hello", footr: "Bye" },
      ],
      bots: [{ name: "a", title: "" }],
      numbers: [{ name: "+15550100111" }, { name: "+1 555 010 0111" }],
      senders: {},
      carriers: [{ name: "simulator" }, { name: "new", chaos: { delayMs: -1 } }],
      routes: [{ name: "r", carrier: "nowhere" }, { name: "s", carrier: "simulator", prefixes: ["91", "+1"] }],
      prices: [
        { prefix: "91", creditsPerSegment: 1 },
        { name: "Twin", prefix: "91", creditsPerSegment: 2 },
      ],
    }; // prettier-ignore
    const expected = refused(
      "tempaltes",
      "settings.defaultRegion",
      "settings.stopWords[0]",
      "templates[1].text",
      "templates[2].body",
      "templates[3].cards[0].suggestions[0].url",
      "templates[4].channel",
      "templates[5]",
      "templates[6].name",
      "templates[8].footr",
      "bots[0].title",
      "numbers[1].name",
      "senders",
      "carriers[0].name",
      "carriers[1].chaos.delayMs",
      "routes[0].carrier",
      "routes[1].prefixes[1]",
      "prices[1].prefix",
    );
    expect(refusal(await tenant.put(faulty))).toEqual(expected);
    expect(refusal(await tenant.put(faulty, "?dryRun=true"))).toEqual(expected);
    expect(await tenant.exported()).toEqual(RICH);
  });

  test.each([null, [], "{}", 7])("%j is not a configuration", async (body) => {
    const tenant = await newTenant();
    expect(refusal(await tenant.put(JSON.stringify(body)))).toEqual(refused(""));
  });

  test("a misspelled dry-run parameter is refused", async () => {
    const tenant = await newTenant(RICH);
    for (const odd of ["1", "yes", "", "TRUE"]) {
      const { status, body } = await tenant.put(NOTHING, `?dryRun=${odd}`);
      expect([odd, status, (body as unknown as { error: ErrorBody }).error.message]).toEqual([
        odd,
        400,
        "dryRun must be true or false.",
      ]);
    }
    expect(await tenant.exported()).toEqual(RICH);
  });

  test("a configuration has at most 5,000 records of a kind, and that many are accepted", async () => {
    const tenant = await newTenant();
    const senders = Array.from({ length: 5001 }, (_, index) => ({ name: `S${index}` }));
    expect(refusal(await tenant.put({ senders }))).toEqual(refused("senders"));
    const { body } = await tenant.put({ senders: senders.slice(1) });
    expect([body.applied, body.made.length]).toEqual([true, 5000]);
    expect((await tenant.put({ senders: [] })).body.removed).toHaveLength(5000);
  });

  test("a configuration cannot remove a carrier that a route needs", async () => {
    const tenant = await newTenant(RICH);
    const kept = await tenant.put({ carriers: [], settings: { keepTextsDays: 9 } });
    expect(refusal(kept)).toEqual([409, "RECORD_IN_USE"]);
    expect((kept.body as unknown as { message: string }).message).toContain('"All of it"');
    expect(await tenant.exported()).toEqual(RICH);
    // With its route it may go, and a route may come with its carrier.
    expect((await tenant.put({ carriers: [], routes: [] })).body.removed).toHaveLength(3);
    expect((await tenant.put({ routes: RICH.routes, carriers: RICH.carriers })).body.made).toHaveLength(3);
    expect(refusal(await tenant.put({ routes: RICH.routes, carriers: [] }))).toEqual(refused("routes[0].carrier"));
  });

  test("prices are matched by their content, in any order", async () => {
    const tenant = await newTenant({ prices: [{ name: "A", prefix: "91", creditsPerSegment: 1 }] });
    const swapped = [
      { name: "B", prefix: "91", creditsPerSegment: 2 },
      { name: "A", prefix: "44", creditsPerSegment: 1 },
    ];
    const { body } = await tenant.put({ prices: swapped });
    expect([body.made.length, body.changed.length]).toEqual([1, 1]);
  });

  test("learned records stay, and become authored if the file names them", async () => {
    const tenant = await newTenant();
    const rcs = { number: "+15550100100", botId: "learned bot", type: "TRANS", templateName: "learned" };
    expect((await tenant.ask("POST", "/v1/rcs", rcs)).status).toBe(200);
    const origins = async (): Promise<string[]> => {
      const bots = await tenant.ask<{ data: { name: string; origin: string }[] }>("GET", "/api/bots");
      const templates = await tenant.ask<typeof bots.body>("GET", "/api/templates");
      return [...bots.body.data, ...templates.body.data].map(({ name, origin }) => `${name} ${origin}`);
    };
    expect(await origins()).toEqual(["learned bot learned", "learned learned"]);
    // A learned record can become authored before it is written to the store.
    expect((await tenant.put({ bots: [{ name: "learned bot" }], templates: [] })).body).toMatchObject({
      made: [{ part: "bots", name: "learned bot" }],
      removed: [],
    });
    expect(await origins()).toEqual(["learned bot authored", "learned learned"]);
    await eventually(
      async () => (await server.app.store.listCatalog()).map(({ name }) => name),
      (names) => names.includes("learned"),
    );
    await tenant.put({ ...NOTHING, templates: [{ channel: "rcs", name: "learned", kind: "text", text: "Hello" }] });
    expect(await origins()).toEqual(["learned authored"]);
    expect((await tenant.put(NOTHING)).body.removed).toEqual([{ part: "templates", channel: "rcs", name: "learned" }]);
  });

  test("one of two configurations applied at once wins, never a mixture", async () => {
    const tenant = await newTenant();
    const setUps = Array.from({ length: 8 }, (_, index) => ({
      senders: [{ name: `A${index}` }, { name: `B${index}` }],
      prices: [{ name: "P", prefix: "91", creditsPerSegment: index }],
      settings: { keepTextsDays: index + 1 },
    }));
    const answers = await Promise.all(setUps.map((setUp) => tenant.put(setUp)));
    expect(answers.map(({ status }) => status)).toEqual(setUps.map(() => 200));
    const { senders = [], prices = [], settings } = await tenant.exported();
    const winner = Number(prices[0]?.["creditsPerSegment"]);
    expect(senders.map(({ name }) => name)).toEqual([`A${winner}`, `B${winner}`]);
    expect(settings["keepTextsDays"]).toBe(winner + 1);
  });
});

describe.each(ENGINES)("a configuration change in the store on %s", (engine) => {
  let open: OpenStore;
  beforeAll(async () => {
    open = await openStore(engine);
    const now = 1_767_225_600_000;
    const owner = { id: newId(now), email: "a@example.com", passwordHash: "", role: "owner", createdAt: now } as const;
    await open.store.createAccount({ name: "default", createdAt: now, owner, keys: [], phones: [], catalog: [] });
  });
  afterAll(() => open.discard());

  const revisions = async (): Promise<{ records: number; catalog: number }> => ({
    records: await open.store.revision("records"),
    catalog: await open.store.revision("catalog"),
  });
  const state = async (): Promise<unknown[]> => [
    (await open.store.listAccounts())[0]?.settings.keepTextsDays,
    ...(await open.store.listCatalog()).map(({ name, content }) => [name, content]),
  ];
  const change = (name: string, days: number) => ({
    accountId: 1,
    put: [catalogRecord("sender", name, { dltEntityId: null })],
    remove: [],
    settings: { keepTextsDays: days },
  });

  test("a configuration change increments the revisions that other nodes watch, and only those it touches", async () => {
    const from = await revisions();
    expect(await open.store.changeSetUp({ ...change("FIRST", 8), from })).toBe(true);
    const then = await revisions();
    expect(then).toEqual({ records: from.records + 1, catalog: from.catalog + 1 });
    expect(await open.store.changeSetUp({ ...change("SECOND", 0), settings: {}, from: then })).toBe(true);
    expect(await revisions()).toEqual({ ...then, catalog: then.catalog + 1 });
    const nothing = { accountId: 1, put: [], remove: [], settings: {} };
    expect(await open.store.changeSetUp({ ...nothing, from: { records: 0, catalog: 0 } })).toBe(true);
    expect(await revisions()).toEqual({ ...then, catalog: then.catalog + 1 });
  });

  test.each(["records", "catalog"] as const)(
    "a configuration change does nothing if %s have changed since",
    async (topic) => {
      const from = await revisions();
      const before = await state();
      for (const difference of [-2, -1, 1]) {
        const old = { ...from, [topic]: from[topic] + difference };
        expect(await open.store.changeSetUp({ ...change("LATE", 9), from: old })).toBe(false);
      }
      expect(await state()).toEqual(before);
      expect(await revisions()).toEqual(from);
    },
  );

  test("a configuration change is rolled back if one record cannot be written", async () => {
    const before = await state();
    const from = await revisions();
    const impossible = {
      ...catalogRecord("sender", "IMPOSSIBLE", { dltEntityId: null }),
      name: null as unknown as string,
    };
    const put = [catalogRecord("sender", "POSSIBLE", { dltEntityId: null }), impossible];
    const remove = [{ kind: "sender", name: "FIRST" }] as const;
    await expect(open.store.changeSetUp({ ...change("", 10), put, remove, from })).rejects.toThrow(/null/i);
    expect(await state()).toEqual(before);
    expect(await revisions()).toEqual(from);
  });

  test("a configuration change overwrites a record of the same name, keeps its id, and removes only authored ones", async () => {
    const learned: CatalogRecord = { ...catalogRecord("bot", "learned", { title: null }), origin: "learned" };
    await open.store.learnCatalogRecords([learned]);
    const remove = [{ kind: "bot", name: "learned" }] as const;
    await open.store.changeSetUp({ ...change("FIRST", 8), remove, from: await revisions() });
    const find = async (): Promise<CatalogRecord | undefined> =>
      (await open.store.listCatalog()).find(({ name }) => name === "learned");
    expect(await find()).toEqual(learned);
    const put = [catalogRecord("bot", "learned", { title: "Shop" })];
    await open.store.changeSetUp({ ...change("", 8), put, from: await revisions() });
    expect(await find()).toMatchObject({ id: learned.id, origin: "authored", content: { title: "Shop" } });
  });

  test("a configuration change is planned and confirmed again if a concurrent change affects it, and only then", async () => {
    const deps = {
      store: open.store,
      clock: systemClock,
      secrets: { ...PLAIN, generate: () => "sealed" },
      digestOf: String,
    };
    const isMeant = ({ name }: { name: string }): boolean => name === "default";
    const plans: ConfigPlan[] = [];
    const catalogNow = async (): Promise<number> => (await revisions()).catalog;
    const meanwhile = [
      async () =>
        open.store.insertCatalogRecord(catalogRecord("sender", "MEANWHILE", { dltEntityId: null }), await catalogNow()),
      async () =>
        open.store.insertCatalogRecord(catalogRecord("bot", "elsewhere", { title: null }), await catalogNow()),
    ];
    const outcome = await applyConfigFile(deps, isMeant, { senders: [{ name: "WANTED" }] }, async (plan) => {
      plans.push(plan);
      await meanwhile[plans.length - 1]?.();
      return true;
    });
    expect(outcome?.applied).toBe(true);
    // The third reading made the same plan as the second, which had been agreed to.
    expect(plans.map(({ removed }) => removed.map(({ name }) => name))).toEqual([
      ["FIRST", "SECOND"],
      ["FIRST", "MEANWHILE", "SECOND"],
    ]);
    const senders = (await open.store.listCatalog()).filter(({ kind }) => kind === "sender");
    expect(senders.map(({ name }) => name)).toEqual(["WANTED"]);
    expect(
      await applyConfigFile(
        deps,
        () => false,
        {},
        () => true,
      ),
    ).toBeNull();
  });
});

describe.each(ENGINES)("heliograph config on %s", (engine) => {
  let server: TestServer;
  let folder: string;
  beforeAll(async () => {
    server = await startTestServer(engine);
    folder = await mkdtemp(join(tmpdir(), "heliograph-config-"));
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  interface Outcome {
    code: number;
    stdout: string;
    stderr: string;
  }
  const heliograph = (...args: string[]): Promise<Outcome> =>
    new Promise((resolve) => {
      execFile(process.execPath, [COMMAND_LINE, ...args], { env: server.env }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
    });
  const exported = async (): Promise<SetUp> => (await server.request<SetUp>("GET", "/api/config")).body;
  const write = async (name: string, content: unknown): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };

  test("config export and apply work on a running server", async () => {
    const { code, stdout } = await heliograph("config", "export");
    expect(code).toBe(0);
    const setUp = JSON.parse(stdout) as SetUp;
    expect(setUp).toEqual(await exported());
    expect(stdout).toMatch(/^\{\n {2}"settings": \{\n[^]*\}\n$/);

    const path = await write("new.json", {
      ...setUp,
      senders: [{ name: "MYSHOP" }],
      settings: { records: "strict" },
    });
    const plan = ['+ senders "MYSHOP"', '- senders "HELIOG"', "~ settings", '    records: "learn" -> "strict"'].join(
      "\n",
    );
    const dry = await heliograph("config", "apply", path, "--dry-run");
    expect([dry.code, dry.stdout.startsWith(plan), dry.stdout.trimEnd().split("\n").at(-1)]).toEqual([
      0,
      true,
      "Nothing was changed: this was a dry run.",
    ]);
    const unasked = await heliograph("config", "apply", path);
    expect([unasked.code, unasked.stdout.startsWith(plan), unasked.stderr]).toEqual([
      3,
      true,
      "heliograph: nothing was changed: there is no terminal to confirm it, so give --yes\n",
    ]);
    expect((await server.send({ sender: "HELIOG" })).status).toBe(200);

    const applied = await heliograph("config", "apply", path, "--yes");
    expect([applied.code, applied.stdout.trimEnd().split("\n").at(-1)]).toEqual([0, "Applied."]);
    await eventually(
      () => server.send({ sender: "HELIOG" }),
      ({ status }) => status === 403,
    );
    expect((await server.send({ sender: "MYSHOP" })).status).toBe(200);
    const again = await heliograph("config", "apply", path);
    expect([again.code, again.stdout]).toEqual([
      0,
      `Nothing to change: ${Object.values(setUp).flatMap((part) => (Array.isArray(part) ? part : [])).length} records as in the file.\n`,
    ]);
    await heliograph("config", "apply", await write("old.json", setUp), "--yes");
    expect((await heliograph("config", "export")).stdout).toBe(stdout);
  });

  test("config apply prints every fault of a file by its position, and changes nothing", async () => {
    const before = await exported();
    const path = await write("faulty.json", {
      senders: [],
      templates: [{ name: "a" }],
      routes: [{ name: "b", carrier: "c" }],
    });
    const { code, stdout, stderr } = await heliograph("config", "apply", path, "--yes");
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")).toEqual([
      "heliograph: the file has faults, and nothing was changed",
      "  templates[0].text: text is required.",
      '  routes[0].carrier: There is no carrier "c": create it at /api/carriers first, or use simulator.',
      "",
    ]);
    expect(await exported()).toEqual(before);
  });

  test("a wrong argument is named", async () => {
    const json = await write("broken.json", "{");
    const good = await write("good.json", {});
    const beforeTheStore = [
      [["apply", join(folder, "none.json")], "none.json cannot be read: ENOENT"],
      [["apply", json], "broken.json is not JSON"],
      [["apply"], "name the file"],
      [["export", "--sideways"], "--sideways"],
    ] as const;
    const wrong = [
      // Errors before the store opens are the same on both engines.
      ...(engine === "sqlite" ? beforeTheStore : []),
      [["apply", good, "--account", "nobody"], "there is no account nobody"],
      [["export", "--account", "nobody"], "there is no account nobody"],
    ] as const;
    const outcomes = await Promise.all(wrong.map(([args]) => heliograph("config", ...args)));
    for (const [index, [args, words]] of wrong.entries()) {
      const { code, stderr = "" } = outcomes[index] ?? {};
      expect([args, code, stderr.includes(words)]).toEqual([args, 2, true]);
    }
  });

  test("config applies to the named account", async () => {
    expect((await heliograph("account", "add", "acme")).code).toBe(0);
    const path = await write("acme.json", { ...NOTHING, senders: [{ name: "ACME" }] });
    expect((await heliograph("config", "apply", path, "--yes", "--account", "acme")).code).toBe(0);
    const acme = JSON.parse((await heliograph("config", "export", "--account", "acme")).stdout) as SetUp;
    expect([acme["senders"], acme["routes"]]).toEqual([[{ name: "ACME", dltEntityId: null }], []]);
    expect((await exported())["senders"]?.map(({ name }) => name)).toContain("HELIOG");
  });

  test("the documentation lists the exit codes", async () => {
    const { code, stdout } = await heliograph("--help");
    expect(code).toBe(0);
    for (const line of ["0   done", "1   failed", "2   invalid", "3   not confirmed"]) expect(stdout).toContain(line);
    const page = await readFile("docs/records.md", "utf8");
    for (const exit of [0, 1, 2, 3]) expect(page).toContain(`| ${exit} |`);
  });
});

describe("the confirmation prompt", () => {
  const typed = async (text: string, isTTY = true): Promise<[boolean, string]> => {
    const input = Object.assign(new PassThrough(), { isTTY });
    const output = new PassThrough();
    const terminal = openTerminal(input as unknown as NodeJS.ReadStream, output);
    input.end(text);
    return [await terminal.confirm("Apply this?"), String(output.read() ?? "")];
  };

  test.each([
    ["y\n", true],
    ["YES\n", true],
    [" y \n", true],
    ["n\n", false],
    ["yesterday\n", false],
    ["\n", false],
    ["", false],
  ])("the answer %j means %s", async (text, answer) => {
    const [confirmed, asked] = await typed(text);
    expect(confirmed).toBe(answer);
    expect(asked).toContain("Apply this? [y/N]");
  });

  test("without a terminal there is no prompt", async () => {
    expect(await typed("y\n", false)).toEqual([false, ""]);
  });
});
