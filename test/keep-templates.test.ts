import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Carrier } from "../src/carriers/carrier.ts";
import { chatTemplate } from "../src/catalog/kinds/chat-template.ts";
import { completeRecord } from "../src/catalog/read-record.ts";
import { newId } from "../src/lib/ids.ts";
import { createLog } from "../src/lib/log.ts";
import { keepAllTemplates, keepStatus, keepTemplates } from "../src/messages/keep-templates.ts";
import type { CatalogRecord } from "../src/model/catalog.ts";
import type { ChatTemplate, PulledTemplate, PulledTemplates } from "../src/model/chatapp.ts";
import { WHATSAPP_DEFAULTS } from "../src/model/whatsapp-line.ts";
import { ENGINES } from "./support/engines.ts";
import { TEMPLATE } from "./support/whatsapp-trial.ts";
import { ScriptedCarrier, Workshop } from "./support/workshop.ts";

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
  /** What its platform waits for before it answers. */
  until: Promise<unknown> = Promise.resolve();

  async templates(): Promise<PulledTemplates> {
    this.asked += 1;
    await this.until;
    return this.list ? { kind: "pulled", templates: this.list, unread: [] } : FAILED;
  }
}

describe.each(ENGINES)("templates of platforms on %s", (engine) => {
  let shop: Workshop;
  let lines: Map<string, Listing>;
  let rank: number;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
    lines = new Map();
    rank = 0;
  });
  afterEach(() => shop.close());

  /** Adds a line of a business account. */
  async function line(name: string, businessAccountId: string, accountId = 1): Promise<Listing> {
    const carrier = new Listing(`${accountId}/${name}`);
    lines.set(carrier.name, carrier);
    const whatsapp = { ...WHATSAPP_DEFAULTS, businessAccountId, secrets: SECRETS };
    const content = { adapter: "whatsapp", messagesPerSecond: null, chaos: null, whatsapp } as const;
    const now = shop.clock.now();
    const times = { createdAt: now, updatedAt: now };
    const record = { accountId, kind: "carrier", id: newId(now), name, origin: "authored", content } as const;
    await shop.catalog.change((revision) => shop.store.insertCatalogRecord({ ...record, ...times }, revision));
    return carrier;
  }
  const needs = () => {
    const carriers = {
      find: (accountId: number, name: string): Carrier | null => lines.get(`${accountId}/${name}`) ?? null,
    };
    const { store, catalog, clock } = shop;
    return { store, catalog, clock, carriers, membership: { sends: true, rank }, log: createLog("silent") };
  };
  const keepAll = () => keepAllTemplates(needs());
  const found = (name: string): ChatTemplate | undefined => shop.catalog.of(1).named("chatTemplate").get(name)?.content;

  test("of two business accounts that use one name stay what the first of them says, however often they are brought", async () => {
    const [first, second] = [await line("first", "11"), await line("second", "22")];
    first.list = [pulled("hello", { body: "First" })];
    second.list = [pulled("hello", { body: "Second" }), pulled("other")];
    await keepAll();
    const before = shop.catalog.of(1).named("chatTemplate").get("hello");
    expect([before?.content.body, found("other")?.body]).toEqual(["First", TEMPLATE.body]);
    shop.clock.advance(900_000);
    await keepAll();
    expect(shop.catalog.of(1).named("chatTemplate").get("hello")).toEqual(before);
    expect(await keepTemplates(needs(), 1, second)).toEqual({ made: [], changed: [], unread: [] });
  });

  test("follow the platform that brought them, also while it changes them or is silent", async () => {
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

  test("have their status changed by calls of the platform that brought them, and of no other", async () => {
    const first = await line("first", "11");
    first.list = [pulled("hello")];
    await keepAll();
    const news = { name: "hello", language: "en_US", status: "paused" } as const;
    await keepStatus(needs(), 1, { ...news, businessAccountId: "22" });
    expect(found("hello")?.status).toBe("approved");
    await keepStatus(needs(), 1, { ...news, businessAccountId: "11" });
    expect(found("hello")?.status).toBe("paused");
  });

  test("stay their platform's when people change them", () => {
    const mint = { make: String, seal: String, open: String };
    const kept = completeRecord({ kind: chatTemplate, content: TEMPLATE }, broughtFrom("11"), mint);
    expect(kept).toEqual({ ...TEMPLATE, businessAccountId: "11" });
  });

  test("are brought by the first of the nodes alone", async () => {
    const only = await line("first", "11");
    rank = 1;
    await keepAll();
    expect(only.asked).toBe(0);
    rank = 0;
    await keepAll();
    expect(only.asked).toBe(1);
  });

  test("of other accounts are brought while a platform is slow, four lines at once and no more", async () => {
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
