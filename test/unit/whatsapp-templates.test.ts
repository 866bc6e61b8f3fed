import { afterAll, describe, expect, test } from "vitest";
import { planNews, planTemplates } from "../../src/records/plan-templates.ts";
import { pullTemplates, type PullTemplatesDeps } from "../../src/carriers/whatsapp/pull-templates.ts";
import { readTemplate } from "../../src/carriers/whatsapp/read-template.ts";
import { testWhatsappConnection } from "../../src/carriers/whatsapp/test-connection.ts";
import type { HttpSender } from "../../src/http-client/client.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { ChatButton, ChatTemplate, ChatVersion, PulledTemplate } from "../../src/model/chatapp.ts";
import { WHATSAPP_DEFAULTS, type WhatsappSettings } from "../../src/model/whatsapp-connection.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { FAKE_DEFAULTS, openFakeWhatsapp } from "../support/fake-whatsapp.ts";
import { openHttpClient } from "../support/http-client.ts";
import { SECRETS, TEMPLATE } from "../support/whatsapp-trial.ts";

const BODY = { type: "BODY", text: TEMPLATE.body, example: { body_text: [["Asha", "ORD-9271"]] } };
const listed = (changes: object = {}, ...more: object[]): object => ({
  id: "594425479261596",
  name: "order_update",
  language: "en_US",
  status: "APPROVED",
  category: "UTILITY",
  components: [BODY, ...more],
  ...changes,
});
const headed = (header: object): object => listed({}, { type: "HEADER", ...header });
const buttoned = (...buttons: object[]): object => listed({}, { type: "BUTTONS", buttons });

function pulledOf(given: unknown): PulledTemplate {
  const read = readTemplate(given);
  if (!("content" in read)) throw new Error(read.reason);
  return read;
}

describe("a platform template", () => {
  test.each<[object, object]>([
    [{}, { status: "APPROVED", reason: null, quality: null }],
    [
      { status: "REJECTED", rejected_reason: "TAG_CONTENT_MISMATCH" },
      {
        status: "REJECTED",
        reason: "TAG_CONTENT_MISMATCH: its content does not fit its category or language",
        quality: null,
      },
    ],
    [
      { rejected_reason: "NONE", quality_score: { score: "YELLOW", date: 1 } },
      { status: "APPROVED", reason: null, quality: "YELLOW" },
    ],
    [{ quality_score: { score: "UNKNOWN" } }, { status: "APPROVED", reason: null, quality: null }],
  ])("listed with %j keeps the platform's words", (changes, platform) => {
    expect(pulledOf(listed(changes)).content.platform).toEqual({ id: "594425479261596", ...platform });
  });

  test.each<[string, object, Partial<ChatTemplate>]>([
    ["with a body alone", listed(), {}],
    ["that is paused", listed({ status: "PAUSED" }), { status: "paused" }],
    ["that was rejected", listed({ status: "REJECTED" }), { status: "draft" }],
    ["that waits for approval", listed({ status: "PENDING" }), { status: "draft" }],
    ["of marketing", listed({ category: "MARKETING" }), { category: "marketing" }],
    [
      "with a text above",
      headed({ format: "TEXT", text: "Order {{1}}" }),
      { header: { type: "text", text: "Order {{1}}" } },
    ],
    [
      "with an image",
      headed({ format: "IMAGE", example: { header_handle: ["…"] } }),
      { header: { type: "image", link: null } },
    ],
    [
      "with names for its variables",
      listed({
        parameter_format: "NAMED",
        components: [{ type: "BODY", text: "Hello {{first_name}}, order {{order}} is here, {{first_name}}." }],
      }),
      {
        body: "Hello {{first_name}}, order {{order}} is here, {{first_name}}.",
        variables: 2,
        names: ["first_name", "order"],
      },
    ],
    [
      "with a name in the text above",
      headed({ format: "TEXT", text: "Hello {{first_name}}" }),
      { header: { type: "text", text: "Hello {{first_name}}" } },
    ],
    ["with a video", headed({ format: "VIDEO" }), { header: { type: "video", link: null } }],
    ["with a document", headed({ format: "DOCUMENT" }), { header: { type: "document", link: null } }],
    ["with a footer", listed({}, { type: "FOOTER", text: "Reply STOP" }), { footer: "Reply STOP" }],
    [
      "with buttons",
      buttoned(
        { type: "QUICK_REPLY", text: "Yes" },
        { type: "URL", text: "Track", url: "https://shop.example/track" },
        { type: "PHONE_NUMBER", text: "Call", phone_number: "+15550100199" },
      ),
      {
        buttons: [
          { type: "reply", text: "Yes" },
          { type: "url", text: "Track", url: "https://shop.example/track" },
          { type: "call", text: "Call", number: "+15550100199" },
        ],
      },
    ],
    [
      "that brings codes",
      listed({
        category: "AUTHENTICATION",
        components: [
          { type: "BODY", text: "*{{1}}* is your verification code.", add_security_recommendation: false },
          {
            type: "BUTTONS",
            buttons: [{ type: "URL", text: "Copy code", url: "https://www.whatsapp.com/otp/code/?code=otp{{1}}" }],
          },
        ],
      }),
      { category: "authentication", body: "*{{1}}* is your verification code.", variables: 1 },
    ],
  ])("%s is parsed", (_, given, changes) => {
    const { name, content } = pulledOf(given);
    const { platform, ...words } = content;
    expect({ name, words }).toEqual({ name: "order_update", words: { ...TEMPLATE, ...changes } });
    expect(platform).toMatchObject({ status: expect.stringMatching(/^[A-Z]+$/) });
  });

  test.each<[string, object, ChatButton]>([
    [
      "a link with a variable",
      { type: "URL", text: "Track", url: "https://shop.example/{{1}}", example: ["https://shop.example/4711"] },
      { type: "url", text: "Track", url: "https://shop.example/{{1}}" },
    ],
    [
      "a code",
      { type: "COPY_CODE", text: "Copy offer code", example: ["250FF"] },
      { type: "copyCode", text: "Copy offer code" },
    ],
    ["a code without a label", { type: "COPY_CODE", example: "250FF" }, { type: "copyCode", text: "Copy offer code" }],
    [
      "a form",
      { type: "FLOW", text: "Book", flow_id: "1", flow_action: "navigate", navigate_screen: "A" },
      { type: "flow", text: "Book" },
    ],
    ["a catalogue", { type: "CATALOG", text: "View catalog" }, { type: "catalog", text: "View catalog" }],
  ])("a button with %s is parsed", (_, given, button) => {
    expect(readTemplate(buttoned(given))).toMatchObject({ content: { buttons: [button] } });
  });

  test.each<[string, object]>([
    ["variables with names and numbers", listed({ components: [{ type: "BODY", text: "{{1}} {{first_name}}" }] })],
    ["variables with a gap", listed({ components: [{ type: "BODY", text: "Hello {{2}}" }] })],
    ["no body", listed({ components: [] })],
    ["a product above", headed({ format: "PRODUCT" })],
    ["two variables above", headed({ format: "TEXT", text: "{{1}} {{2}}" })],
    [
      "a variable within a button's address",
      buttoned({ type: "URL", text: "Track", url: "https://a.example/{{1}}/b" }),
    ],
    ["a button that calls in the app", buttoned({ type: "VOICE_CALL", text: "Call" })],
    ["no cards in its carousel", listed({}, { type: "CAROUSEL", cards: [] })],
    ["a category that is new", listed({ category: "POETRY" })],
    ["a status that is new", listed({ status: "DREAMT" })],
    ["a language that requests cannot have", listed({ language: "english" })],
    ["a name that requests cannot have", listed({ name: "Order Update" })],
  ])("with %s it is reported as unusable with a reason", (_, given) => {
    expect(readTemplate(given)).toEqual({
      name: expect.any(String),
      language: expect.any(String),
      reason: expect.stringMatching(/\w{3}/),
    });
  });

  test.each([null, 7, [], "x", { components: 7 }])("a template that is %j is reported too", (given) => {
    expect(readTemplate(given)).toHaveProperty("reason");
  });
});

describe("the sync plan of an account", () => {
  const record = (name: string, changes: Partial<ChatTemplate> = {}, origin: "authored" | "learned" = "authored") => ({
    id: `id of ${name}`,
    name,
    origin,
    content: { ...TEMPLATE, ...changes },
  });
  const pulled = (name: string, changes: Partial<ChatTemplate> = {}) => ({
    name,
    content: { ...TEMPLATE, ...changes },
  });
  const versionOf = (changes: Partial<ChatVersion>): ChatVersion => {
    const { category: _, ...version } = { ...TEMPLATE, ...changes };
    return version;
  };
  const OURS = "102290129340398";
  const THEIRS = "202290129340398";
  const owned = (changes: Partial<ChatTemplate> = {}, businessAccountId = OURS) => ({ ...changes, businessAccountId });
  const changed = (name: string, changes: Partial<ChatTemplate>) => ({ id: `id of ${name}`, ...pulled(name, changes) });
  const listOf = (templates: PulledTemplate[] | null, businessAccountId = OURS) => ({ businessAccountId, templates });
  const theirs = (templates: PulledTemplate[] | null) => [listOf(templates, THEIRS)];
  const NOTHING = { make: [], change: [] };

  test("missing templates are created, in the first language that can be sent", () => {
    const versions = [
      pulled("a", { language: "de", status: "draft" }),
      pulled("a", { language: "fr" }),
      pulled("b", { status: "paused" }),
    ];
    expect(planTemplates([], listOf(versions))).toEqual({
      make: [
        pulled("a", owned({ language: "fr", languages: [versionOf({ language: "de", status: "draft" })] })),
        pulled("b", owned({ status: "paused" })),
      ],
      change: [],
    });
  });

  test("equal templates and those outside the list are not changed", () => {
    expect(planTemplates([record("a", owned()), record("mine")], listOf([pulled("a")]))).toEqual(NOTHING);
  });

  test("status and content follow the platform, in the record's own language", () => {
    const list = [pulled("a", { language: "fr" }), pulled("a", { status: "paused", footer: "Bye" })];
    const change = [
      changed("a", owned({ status: "paused", footer: "Bye", languages: [versionOf({ language: "fr" })] })),
    ];
    expect(planTemplates([record("a")], listOf(list))).toEqual({ make: [], change });
  });

  test("further languages follow the platform, each with its sample files, and others stay", () => {
    const image = { type: "image", link: "https://cdn.example/a.png" } as const;
    const known = ["de", "fr"].map((language) => versionOf({ language, header: image }));
    const list = [
      pulled("a"),
      pulled("a", { language: "fr", header: { type: "image", link: null }, footer: "Au revoir" }),
      pulled("a", { language: "es" }),
    ];
    const languages = [
      known[0] ?? versionOf({}),
      versionOf({ language: "es" }),
      versionOf({ language: "fr", header: image, footer: "Au revoir" }),
    ];
    expect(planTemplates([record("a", owned({ languages: known }))], listOf(list)).change).toEqual([
      changed("a", owned({ languages })),
    ]);
    expect(planTemplates([record("a", owned({ languages }))], listOf(list))).toEqual(NOTHING);
  });

  test("another language is used if the record's own is gone", () => {
    const list = [pulled("a", { language: "de", status: "draft" }), pulled("a", { language: "fr" })];
    expect(planTemplates([record("a")], listOf(list)).change).toEqual([
      changed("a", owned({ language: "fr", languages: [versionOf({ language: "de", status: "draft" })] })),
    ]);
  });

  test("a configured sample file is kept", () => {
    const header = { type: "image", link: "https://cdn.example/a.png" } as const;
    const list = [pulled("a", { header: { type: "image", link: null } })];
    expect(planTemplates([record("a", owned({ header }))], listOf(list))).toEqual(NOTHING);
  });

  test("a learned record becomes an authored one", () => {
    expect(planTemplates([record("a", {}, "learned")], listOf([pulled("a")])).change).toEqual([changed("a", owned())]);
  });

  test("a record that matches another connection's list is left alone", () => {
    const mine = listOf([pulled("a", { body: "Mine" })]);
    const others = theirs([pulled("a", { body: "Theirs" })]);
    expect(planTemplates([record("a", { body: "Theirs" })], mine, others)).toEqual(NOTHING);
    expect(planTemplates([record("a", { body: "Old" })], mine, others).change).toEqual([
      changed("a", owned({ body: "Mine" })),
    ]);
  });

  test("a template of another connection's list is left to that list, also if it has changed or failed", () => {
    const mine = listOf([pulled("a", { body: "Mine" })]);
    const records = [record("a", owned({ body: "Theirs" }, THEIRS))];
    expect(planTemplates(records, mine, theirs([pulled("a", { body: "Theirs", status: "paused" })]))).toEqual(NOTHING);
    expect(planTemplates(records, mine, theirs(null))).toEqual(NOTHING);
  });

  test("templates dropped from their list, or left by a removed connection, are taken over", () => {
    const mine = listOf([pulled("a", { body: "Mine" })]);
    const records = [record("a", owned({ body: "Theirs" }, THEIRS))];
    const change = [changed("a", owned({ body: "Mine" }))];
    expect(planTemplates(records, mine, theirs([pulled("b")])).change).toEqual(change);
    expect(planTemplates(records, mine, []).change).toEqual(change);
  });

  test("a status webhook changes the status, if the language matches", () => {
    const records = [record("a"), record("b", {}, "learned")];
    const planned = (name: string, language: string, status: ChatTemplate["status"]) =>
      planNews(records, { name, language, status, businessAccountId: OURS });
    expect(planned("a", "en_US", "paused")).toEqual(changed("a", { status: "paused" }));
    expect(planned("a", "en_US", "approved")).toBeNull();
    expect(planned("a", "fr", "paused")).toBeNull();
    const french = [versionOf({ language: "fr" })];
    const news = { name: "a", language: "fr", status: "paused", businessAccountId: OURS } as const;
    expect(planNews([record("a", { languages: french })], news)).toEqual(
      changed("a", { languages: [versionOf({ language: "fr", status: "paused" })] }),
    );
    expect(planned("b", "en_US", "paused")).toBeNull();
    expect(planned("c", "en_US", "paused")).toBeNull();
  });

  test("a status webhook of another business account changes nothing", () => {
    const news = { name: "a", language: "en_US", status: "paused" } as const;
    const records = [record("a", owned())];
    expect(planNews(records, { ...news, businessAccountId: THEIRS })).toBeNull();
    const paused = changed("a", owned({ status: "paused" }));
    const known = { status: "APPROVED", reason: null, quality: "GREEN" };
    const told = [record("a", owned({ platform: known }))];
    const aboutIt = { name: "a", language: "en_US", businessAccountId: OURS };
    expect(planNews(told, { ...aboutIt, platform: { quality: "RED" }, category: "marketing" })).toEqual(
      changed("a", owned({ category: "marketing", platform: { ...known, quality: "RED" } })),
    );
    expect(planNews(told, { ...aboutIt, platform: { quality: "GREEN" } })).toBeNull();
    expect(planNews(records, { ...news, businessAccountId: OURS })).toEqual(paused);
    expect(planNews(records, { ...news, businessAccountId: null })).toEqual(paused);
  });
});

describe("the template list", () => {
  const egress = openHttpClient();
  afterAll(() => egress.destroy());
  const needsFor = (baseUrl: string, changes: Partial<WhatsappSettings> = {}): PullTemplatesDeps => ({
    settings: { ...WHATSAPP_DEFAULTS, baseUrl, businessAccountId: FAKE_DEFAULTS.businessAccountId, ...changes },
    secrets: SECRETS,
    egress,
    clock: systemClock,
  });
  const withFake = async (
    templates: object[],
    run: (deps: PullTemplatesDeps, asked: () => number) => Promise<void>,
  ): Promise<void> => {
    const fake = await openFakeWhatsapp({ templates });
    try {
      await run(needsFor(fake.url), () => fake.requests);
    } finally {
      await fake.close();
    }
  };
  const many = (count: number, more: object[] = []): object[] =>
    Array.from({ length: count }, (_, index) => listed({ name: `t_${index}` }, ...more));

  test("the template list is read page by page, complete and in order, with unusable templates reported", () =>
    withFake([...many(123), listed({ name: "Bad Name" })], async (deps, asked) => {
      const answer = await pullTemplates(deps);
      if (answer.kind !== "pulled") throw new Error(answer.description);
      expect(answer.templates.map(({ name }) => name)).toEqual(many(123).map((_, index) => `t_${index}`));
      expect(answer.unread).toEqual([{ name: "Bad Name", language: "en_US", reason: expect.any(String) }]);
      expect(asked()).toBe(3);
    }));

  test("an oversized page is read one template at a time", () => {
    const heavy = { type: "FOOTER", text: "Bye", example: "x".repeat(10_000) };
    return withFake(many(13, [heavy]), async (deps) => {
      const answer = await pullTemplates(deps);
      expect(answer.kind === "pulled" && answer.templates.length).toBe(13);
    });
  });

  test("a list that takes more than a minute is given up", () =>
    withFake(many(500), async (deps, asked) => {
      const clock = new MovedClock();
      // Each page takes twenty seconds.
      const slow: HttpSender = {
        send(...request) {
          clock.advance(20_000);
          egress.send(...request);
        },
      };
      expect(await pullTemplates({ ...deps, clock, egress: slow })).toEqual({
        kind: "failed",
        code: null,
        description: "The platform did not list its templates within 60 s",
      });
      expect(asked()).toBe(2);
    }));

  test("an empty list is valid", () =>
    withFake([], async (deps) => {
      expect(await pullTemplates(deps)).toEqual({ kind: "pulled", templates: [], unread: [] });
    }));

  test("a failed request yields no list, with the reason", () =>
    withFake([], async (deps) => {
      const { settings } = deps;
      const wrongToken = { ...deps, secrets: { ...SECRETS, token: "another" } };
      expect(await pullTemplates(wrongToken)).toMatchObject({ kind: "failed", code: "190" });
      const wrongAccount = { ...deps, settings: { ...settings, businessAccountId: "1" } };
      expect(await pullTemplates(wrongAccount)).toMatchObject({ kind: "failed", code: "100" });
      const nowhere = { ...deps, settings: { ...settings, baseUrl: "http://127.0.0.1:1" } };
      expect(await pullTemplates(nowhere)).toMatchObject({ kind: "failed", code: null });
      const without = { ...deps, settings: { ...settings, businessAccountId: null } };
      expect(await pullTemplates(without)).toMatchObject({
        kind: "failed",
        description: expect.stringContaining("businessAccountId"),
      });
    }));

  test("the template list is not needed to test the connection", () =>
    withFake([], async (deps) => {
      expect(await testWhatsappConnection(deps)).toMatchObject({
        outcome: "bound",
        code: null,
        systemId: "Fake Shop",
      });
      const wrongToken = { ...deps, secrets: { ...SECRETS, token: "another" } };
      expect(await testWhatsappConnection(wrongToken)).toMatchObject({ outcome: "refused", code: "190" });
      const nowhere = { ...deps, settings: { ...deps.settings, baseUrl: "http://127.0.0.1:1" } };
      expect(await testWhatsappConnection(nowhere)).toMatchObject({ outcome: "unreachable" });
      const nobody = { ...deps, settings: { ...deps.settings, businessAccountId: null } };
      expect(await testWhatsappConnection(nobody)).toMatchObject({ outcome: "refused" });
    }));
});
