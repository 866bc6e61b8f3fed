import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Carrier } from "../../src/carriers/carrier.ts";
import { chatTemplate } from "../../src/records/types/chat-template.ts";
import { completeRecord } from "../../src/records/read-record.ts";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import { syncAllTemplates, syncStatus, syncTemplates } from "../../src/pipeline/sync-templates.ts";
import type { CatalogRecord } from "../../src/model/catalog.ts";
import type { ChatTemplate, PulledTemplate, PulledTemplates } from "../../src/model/chatapp.ts";
import { WHATSAPP_DEFAULTS } from "../../src/model/whatsapp-connection.ts";
import { ENGINES } from "../support/engines.ts";
import { TEMPLATE } from "../support/whatsapp-trial.ts";
import { ScriptedCarrier, TestPipeline } from "../support/test-pipeline.ts";

const FAILED: PulledTemplates = { kind: "failed", code: null, description: "The platform did not answer" };
const SECRETS = { token: "sealed", appSecret: null, verifyToken: null };
const pulled = (name: string, changes: Partial<ChatTemplate> = {}): PulledTemplate => ({
  name,
  content: { ...TEMPLATE, ...changes },
});

const broughtFrom = (businessAccountId: string): CatalogRecord<"chatTemplate"> => ({
  accountId: 1,
  kind: "chatTemplate",
  id: newId(0),
  name: "hello",
  origin: "authored",
  content: { ...TEMPLATE, body: "Old", businessAccountId },
  createdAt: 0,
  updatedAt: 0,
});

/** A line whose platform lists what the test says. */
class Listing extends ScriptedCarrier {
  asked = 0;
  list: readonly PulledTemplate[] | null = [];
  /** The platform answers once this promise resolves. */
  until: Promise<unknown> = Promise.resolve();

  async templates(): Promise<PulledTemplates> {
    this.asked += 1;
    await this.until;
    return this.list ? { kind: "pulled", templates: this.list, unread: [] } : FAILED;
  }
}

describe.each(ENGINES)("platform templates on %s", (engine) => {
  let pipeline: TestPipeline;
  let lines: Map<string, Listing>;
  let rank: number;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    lines = new Map();
    rank = 0;
  });
  afterEach(() => pipeline.close());

  /** Adds a line of a business account. */
  async function line(name: string, businessAccountId: string, accountId = 1): Promise<Listing> {
    const carrier = new Listing(`${accountId}/${name}`);
    lines.set(carrier.name, carrier);
    const whatsapp = { ...WHATSAPP_DEFAULTS, businessAccountId, secrets: SECRETS };
    const content = { adapter: "whatsapp", messagesPerSecond: null, chaos: null, whatsapp } as const;
    const now = pipeline.clock.now();
    const times = { createdAt: now, updatedAt: now };
    const record = { accountId, kind: "carrier", id: newId(now), name, origin: "authored", content } as const;
    await pipeline.catalog.change((revision) => pipeline.store.insertCatalogRecord({ ...record, ...times }, revision));
    return carrier;
  }
  const deps = () => {
    const carriers = {
      find: (accountId: number, name: string): Carrier | null => lines.get(`${accountId}/${name}`) ?? null,
    };
    const { store, catalog, clock } = pipeline;
    return { store, catalog, clock, carriers, membership: { sends: true, rank }, log: createLog("silent") };
  };
  const keepAll = () => syncAllTemplates(deps());
  const found = (name: string): ChatTemplate | undefined =>
    pipeline.catalog.of(1).named("chatTemplate").get(name)?.content;

  test("a name used by two business accounts keeps the template of the first, however often both are synchronised", async () => {
    const [first, second] = [await line("first", "11"), await line("second", "22")];
    first.list = [pulled("hello", { body: "First" })];
    second.list = [pulled("hello", { body: "Second" }), pulled("other")];
    await keepAll();
    const before = pipeline.catalog.of(1).named("chatTemplate").get("hello");
    expect([before?.content.body, found("other")?.body]).toEqual(["First", TEMPLATE.body]);
    pipeline.clock.advance(900_000);
    await keepAll();
    expect(pipeline.catalog.of(1).named("chatTemplate").get("hello")).toEqual(before);
    expect(await syncTemplates(deps(), 1, second)).toEqual({ made: [], changed: [], unread: [] });
  });

  test("a template follows the platform that it came from, even while that changes it or is silent", async () => {
    const [first, second] = [await line("first", "11"), await line("second", "22")];
    second.list = [pulled("hello", { body: "Second" })];
    await keepAll();
    first.list = [pulled("hello", { body: "First" })];
    second.list = null;
    await keepAll();
    expect(found("hello")?.body).toBe("Second");
    second.list = [pulled("hello", { body: "Second, better" })];
    await keepAll();
    expect(found("hello")?.body).toBe("Second, better");
  });

  test("the status of a template is changed by webhooks of its own platform only", async () => {
    const first = await line("first", "11");
    first.list = [pulled("hello")];
    await keepAll();
    const news = { name: "hello", language: "en_US", status: "paused" } as const;
    await syncStatus(deps(), 1, { ...news, businessAccountId: "22" });
    expect(found("hello")?.status).toBe("approved");
    await syncStatus(deps(), 1, { ...news, businessAccountId: "11" });
    expect(found("hello")?.status).toBe("paused");
  });

  test("a template stays its platform's after a user changes it", () => {
    const secrets = { generate: String, encrypt: String, decrypt: String };
    const kept = completeRecord({ definition: chatTemplate, content: TEMPLATE }, broughtFrom("11"), secrets);
    expect(kept).toEqual({ ...TEMPLATE, businessAccountId: "11" });
  });

  test("only the first node synchronises templates", async () => {
    const only = await line("first", "11");
    rank = 1;
    await keepAll();
    expect(only.asked).toBe(0);
    rank = 0;
    await keepAll();
    expect(only.asked).toBe(1);
  });

  test("templates of other accounts are synchronised while a platform is slow, four connections at once", async () => {
    const slow = Promise.withResolvers<void>();
    const all: Listing[] = [];
    for (const accountId of [1, 2, 3, 4, 5]) all.push(await line("wa", `${accountId}`, accountId));
    for (const each of all.slice(0, 4)) each.until = slow.promise;
    const keeping = keepAll();
    await Promise.resolve();
    expect(all.map(({ asked }) => asked)).toEqual([1, 1, 1, 1, 0]);
    slow.resolve();
    await keeping;
    expect(all.map(({ asked }) => asked)).toEqual([1, 1, 1, 1, 1]);
  });
});
