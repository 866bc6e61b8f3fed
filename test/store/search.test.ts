import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { idFloor, newId } from "../../src/lib/ids.ts";
import {
  CHANNELS,
  CUSTOMER_STATUSES,
  customerStatus,
  mayTransition,
  messageIdOf,
  ROUTE_CLASSES,
  statesShownAs,
} from "../../src/model/message.ts";
import { SearchChanges } from "../../src/pipeline/search-changes.ts";
import type { MessageFilter, Position, Store, StoredMessage } from "../../src/store/store.ts";
import { START } from "../../src/store/key-range.ts";
import { recordStatements } from "../support/recorded-statements.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";
import { repetitions } from "../support/repetitions.ts";
import { transitionTo } from "../support/transitions.ts";

const STATES = CUSTOMER_STATUSES.flatMap(statesShownAs);
const MINUTE = 60_000;
const NUMBERS = ["33600000001", "33600000002", "33611110001", "4915550100001", "4915550100002", "15550100100"];
const ENDINGS = ["0001", "00001", "100", "0100100", "33600000001", "9999"].filter((ending) => ending.length >= 4);
const CAMPAIGNS = ["spring", "autumn", null];
const TEMPLATES = ["parcel", 'odd "name"', undefined];
const TEXTS = ['a "templateName":"parcel"', "ÜBER 50%_off\n🙂", "\\n Plain"];
const PARTS = ["PARCEL", '"', "über", "Über", "50%_OFF", "5%", "off\n", "\\n", "🙂", "plain", "text", "encoding"];
const ACCOUNT = 1;
const BLOCK_SIZE = 4;

describe.each(ENGINES)("message search on %s", (engine) => {
  let opened: OpenStore;
  let store: Store;
  let now: number;
  let changes: SearchChanges;

  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
    now = NOON;
    changes = new SearchChanges({ store, clock: { now: () => now, monotonic: () => now, after: () => () => {} } });
  });
  afterEach(() => opened.discard());

  interface Wishes {
    at: number;
    numbers: readonly string[];
    campaignName?: string | null;
    templateName?: string | undefined;
    text?: string;
    channel?: (typeof CHANNELS)[number];
    routeClass?: (typeof ROUTE_CLASSES)[number];
    sender?: string;
    test?: boolean;
    accountId?: number;
  }

  async function send({ at, numbers, templateName, text, accountId = ACCOUNT, ...fields }: Wishes): Promise<void> {
    const content = { text: text ?? 'a "templateName":"parcel"', encoding: "gsm7", flash: false } as const;
    const request = acceptance({
      ...fields,
      accountId,
      requestId: newId(at),
      createdAt: at,
      to: numbers,
      content: templateName === undefined ? content : { ...content, templateName },
    });
    expect(await store.accept([request])).toEqual([{ kind: "stored" }]);
    await changes.noteAccepted([request]);
  }

  async function move(message: StoredMessage, to: StoredMessage["state"]): Promise<void> {
    const { accountId, requestId, n } = message;
    const step = transitionTo({ accountId, requestId, n, at: now, owner: 1, to });
    await changes.noteTransitions([step]);
    await store.transition([step]);
  }

  const everything = async (): Promise<StoredMessage[]> => (await store.listMessages(ACCOUNT, {}, null, 100_000)).rows;

  async function indexEverything(blockSize = BLOCK_SIZE): Promise<void> {
    while ((await indexChanges(100)) > 0);
    while ((await store.indexNextBlock(ACCOUNT, now, blockSize)) !== null);
    while ((await indexDueBlocks(100)) > 0);
  }

  async function indexChanges(limit: number, blockSize?: number): Promise<number> {
    const changed = await store.listSearchChanges(limit);
    const done = new Set<string>();
    for (const change of changed) await store.indexChange(change, now, done, blockSize);
    return changed.length;
  }

  async function indexDueBlocks(limit: number): Promise<number> {
    const due = await store.listDueBlocks(now, limit);
    for (const block of due) await store.indexDueBlock(block);
    return due.length;
  }

  async function forgetNumbers(before = now): Promise<void> {
    for (let segment: number | null = 0; segment !== null;)
      segment = await store.forgetSearchNumbers(ACCOUNT, before, segment);
  }

  /** Every page of a search; fails on a page that is not full and not the last. */
  async function search(filter: MessageFilter, limit: number): Promise<string[]> {
    const found: string[] = [];
    for (let after: Position | null = null; ;) {
      const page: Awaited<ReturnType<Store["listMessages"]>> = await store.listMessages(ACCOUNT, filter, after, limit);
      found.push(...page.rows.map(messageIdOf));
      if (!page.next) return found;
      expect(page.rows).toHaveLength(limit);
      after = page.next;
    }
  }

  const naively = (messages: readonly StoredMessage[], filter: MessageFilter): string[] => {
    const found = messages.filter((message) => isMatch(message, filter)).map(messageIdOf);
    return filter.order === "oldest" ? found.toReversed() : found;
  };

  const anyFilter = fc.record(
    {
      status: fc.constantFrom(...CUSTOMER_STATUSES),
      channel: fc.constantFrom(...CHANNELS),
      routeClass: fc.constantFrom(...ROUTE_CLASSES),
      recipient: fc.constantFrom(...NUMBERS, "33699999999"),
      senders: fc.constantFrom(["HELIO"], ["ACME", "+1"], ["none"]),
      recipientEnding: fc.constantFrom(...ENDINGS),
      campaignName: fc.constantFrom("spring", "autumn", "none"),
      templateName: fc.constantFrom("parcel", 'odd "name"', "none"),
      text: fc.constantFrom(...PARTS),
      test: fc.boolean(),
      from: fc.integer({ min: -60, max: 60 }).map((minute) => NOON + minute * MINUTE),
      to: fc.integer({ min: -60, max: 90 }).map((minute) => NOON + minute * MINUTE),
      order: fc.constantFrom("newest", "oldest"),
    },
    { requiredKeys: [] },
  );

  /** One field: the zone map then finds few messages in many blocks. */
  const oneField = fc.oneof(
    fc.record({ test: fc.boolean() }),
    fc.record({ status: fc.constantFrom(...CUSTOMER_STATUSES) }),
    fc.record({ status: fc.constantFrom(...CUSTOMER_STATUSES), order: fc.constant("oldest" as const) }),
    fc.record({ channel: fc.constantFrom(...CHANNELS) }),
    fc.record({ routeClass: fc.constantFrom(...ROUTE_CLASSES) }),
    fc.record({ templateName: fc.constantFrom("parcel", 'odd "name"') }),
    fc.record({ senders: fc.constantFrom(["HELIO"], ["ACME", "+1"], ["none"]) }),
    fc.record({ text: fc.constantFrom(...PARTS) }),
  );

  const request = fc.record({
    numbers: fc.array(fc.constantFrom(...NUMBERS), { minLength: 1, maxLength: 9 }),
    campaignName: fc.constantFrom(...CAMPAIGNS),
    templateName: fc.constantFrom(...TEMPLATES),
    text: fc.constantFrom(...TEXTS),
    channel: fc.constantFrom(...CHANNELS),
    routeClass: fc.constantFrom(...ROUTE_CLASSES),
    sender: fc.constantFrom("HELIO", "ACME"),
    test: fc.boolean(),
  });
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("send" as const), request }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("send late" as const),
        request,
        seconds: fc.integer({ min: 1, max: 3000 }),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("move" as const),
        place: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        to: fc.constantFrom(...STATES),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant("wait" as const), seconds: fc.integer({ min: 1, max: 1200 }) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constantFrom("cut" as const, "firm" as const, "process changes" as const) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("erase" as const, "remove" as const) }) },
  );

  it("finds what a full scan finds, with any combination of filters, and no page is short before the last", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 10, maxLength: 60 }),
        fc.array(fc.oneof(anyFilter, oneField), { minLength: 6, maxLength: 10 }),
        fc.integer({ min: 1, max: 7 }),
        async (steps, asked, limit) => {
          for (const table of [
            "messages",
            "search_blocks",
            "search_zones",
            "search_numbers",
            "search_changes",
            "retention",
            "kept_texts",
          ])
            await opened.execute(`delete from ${table}`);
          now = NOON;
          changes = new SearchChanges({
            store,
            clock: { now: () => now, monotonic: () => now, after: () => () => {} },
          });
          for (const [index, each] of steps.entries()) {
            now += 1000;
            if (each.kind === "send") await send({ at: now, ...each.request });
            if (each.kind === "send late") await send({ at: now - each.seconds * 1000, ...each.request });
            if (each.kind === "wait") now += each.seconds * 1000;
            if (each.kind === "move") {
              const messages = await everything();
              const message = messages[Math.floor(each.place * messages.length)];
              if (message && mayTransition(message.state, each.to)) await move(message, each.to);
            }
            if (each.kind === "cut") while ((await store.indexNextBlock(ACCOUNT, now, BLOCK_SIZE)) !== null);
            if (each.kind === "firm") await indexDueBlocks(3);
            if (each.kind === "process changes") await indexChanges(3, index % 2 === 0 ? BLOCK_SIZE : undefined);
            if (each.kind === "erase") {
              await store.eraseTexts(ACCOUNT, now - 30 * MINUTE, 20);
              await store.indexErasedTexts(ACCOUNT, 3);
            }
            if (each.kind === "remove") {
              await store.deleteExpired("messages", { accountId: ACCOUNT, before: now - 40 * MINUTE }, START, 20);
              await forgetNumbers();
              while (await store.forgetSearchBlock(ACCOUNT));
            }
            const filter = asked[index % asked.length] ?? {};
            expect(await search(filter, limit)).toEqual(naively(await everything(), filter));
          }
          const messages = await everything();
          for (const filter of asked) expect(await search(filter, limit)).toEqual(naively(messages, filter));
        },
      ),
      { numRuns: repetitions(8, 20) },
    );
  });

  const FREQUENT = "15550100100";

  /** Frequent and rare numbers, campaigns, templates and channels. */
  async function fill(messages: number): Promise<void> {
    for (let sent = 0; sent < messages; sent += 100) {
      now += 10_000;
      await send({
        at: now,
        numbers: Array.from({ length: 100 }, (_, index) =>
          index % 5 > 0 ? FREQUENT : `336${10_000_000 + (((sent + index) * 7919) % 5000)}`,
        ),
        campaignName: sent % 200 === 0 ? "spring" : null,
        templateName: sent % 700 === 0 ? "parcel" : undefined,
        channel: sent % 500 === 0 ? "rcs" : "sms",
        test: sent % 1000 === 0,
      });
    }
    const all = await everything();
    const ended = all.filter((_, index) => index % 10 === 0);
    const steps = ended.map(({ accountId, requestId, n }) =>
      transitionTo({ accountId, requestId, n, at: now, owner: 1, to: "cancelled" }),
    );
    await changes.noteTransitions(steps);
    await store.transition(steps);
  }

  it("finds by frequent and rare values across many blocks", async () => {
    // More messages of the frequent number than one statement reads.
    await fill(repetitions(1400, 2000));
    now += 2 * MINUTE;
    await indexEverything(16);
    now += 30 * MINUTE;
    await indexEverything(16);
    await fill(200);
    const messages = await everything();
    const others = messages.filter(({ recipient }) => recipient !== FREQUENT);
    const numbers = [others.at(-2), others[150]].map((message) => message?.recipient ?? "");
    const asked: MessageFilter[] = [
      ...numbers.flatMap((recipient) => [{ recipient }, { recipientEnding: recipient.slice(-4) }]),
      { recipient: FREQUENT },
      { recipient: FREQUENT, status: "Failed" },
      { recipient: FREQUENT, status: "Failed", channel: "rcs", test: true },
      { recipientEnding: "0100", campaignName: "spring" },
      { campaignName: "spring" },
      { campaignName: "spring", status: "Failed", templateName: "parcel" },
      { status: "Delivered" },
      { test: true, status: "Failed" },
      { channel: "rcs", from: NOON + MINUTE, to: NOON + 4 * MINUTE },
    ];
    for (const filter of asked) {
      const expected = naively(messages, filter);
      expect([filter, await search(filter, 200)]).toEqual([filter, expected]);
      expect([filter, (await search(filter, 37)).length]).toEqual([filter, expected.length]);
      expect([filter, await search({ ...filter, order: "oldest" }, 150)]).toEqual([filter, expected.toReversed()]);
    }
  });

  it.each([6, 100])("finds in blocks where fields combine freely, with %d campaigns and templates", async (names) => {
    const requests = Array.from({ length: 600 }, (_, index) => {
      const content = {
        text: "",
        encoding: "gsm7",
        flash: false,
        templateName: `template ${(index * 7) % names}`,
      } as const;
      return acceptance({
        requestId: newId((now += 100)),
        createdAt: now,
        channel: CHANNELS[index % 3] ?? "sms",
        routeClass: ROUTE_CLASSES[Math.floor(index / 3) % 3] ?? "OTP",
        test: index % 11 === 0,
        campaignName: index % 5 === 0 ? null : `campaign ${(index * 13) % names}`,
        content,
        to: [`336000${10_000 + index}`],
      });
    });
    await store.accept(requests);
    const ended = (await everything()).filter((_, index) => index % 4 === 0);
    const steps = ended.map(({ accountId, requestId, n }, index) =>
      transitionTo({ accountId, requestId, n, at: now, owner: 1, to: index % 2 === 0 ? "delivered" : "rejected" }),
    );
    await store.transition(steps);
    now += MINUTE;
    const asked: MessageFilter[] = [
      { templateName: "template 3" },
      { templateName: "template 3", status: "Failed" },
      { templateName: "template 5", campaignName: "campaign 5", routeClass: "TRANS" },
      { campaignName: "campaign 2", status: "Delivered", channel: "rcs", test: false },
      { templateName: "none" },
      { status: "Failed", routeClass: "OTP", test: true },
    ];
    for (const wait of [0, 30 * MINUTE, 30 * MINUTE]) {
      now += wait;
      await indexEverything(256);
      const messages = await everything();
      for (const filter of asked)
        expect([filter, await search(filter, 7)]).toEqual([filter, naively(messages, filter)]);
    }
    const kinds = (await opened.execute("select distinct named from search_zones order by named")) as {
      named: number;
    }[];
    expect(kinds.map(({ named }) => named)).toEqual([0, 2, 3]);
  });

  /** The statements of a search, each text once. */
  async function statementsOf(filter: MessageFilter): Promise<{ found: number; texts: string[] }> {
    const name = engine === "postgres" ? "select current_database() as name" : "select '' as name";
    const [database] = (await opened.execute(name)) as [{ name: string }];
    const recorder = recordStatements(engine, database.name);
    try {
      return { found: (await search(filter, 50)).length, texts: recorder.take().map(({ text }) => text) };
    } finally {
      recorder.stop();
    }
  }

  /** Reads all messages between two positions. */
  const READS_RANGE = /^select \* from "messages" .*order by "request_id" desc/;
  /** Reads the keys of the messages of a campaign by its index. */
  const READS_KEYS = /^select "request_id", "n" from "messages" where "account_id" = \S+ and "campaign_name"/;

  /** Blocks of 16 messages to one number. In every block, one request has a template and has failed. */
  async function fillWithRare(): Promise<void> {
    for (let index = 0; index < 160; index += 1) {
      const isRare = index % 8 === 3;
      const numbers = ["33600000001", "33600000001"];
      await send({ at: (now += 100), numbers, templateName: isRare ? "rare" : undefined });
    }
    const steps = (await everything())
      .filter(({ content }) => "templateName" in content)
      .map(({ accountId, requestId, n }) =>
        transitionTo({ accountId, requestId, n, at: now, owner: 1, to: "cancelled" }),
      );
    await store.transition(steps);
    for (let round = 0; round < 2; round += 1) {
      now += 30 * MINUTE;
      await indexEverything(16);
    }
  }

  it("reads the few messages of a rare value, and not the blocks around them", async () => {
    await fillWithRare();
    const rare: MessageFilter = { templateName: "rare", to: NOON + 12_000 };
    for (const filter of [
      rare,
      { ...rare, recipient: "33600000001" },
      { ...rare, recipient: "33600000001", status: "Failed" as const },
    ]) {
      const { found, texts } = await statementsOf(filter);
      expect([filter, found]).toEqual([filter, 30]);
      expect([filter, texts.filter((text) => READS_RANGE.test(text))]).toEqual([filter, []]);
    }
    const { texts } = await statementsOf({ test: false, to: NOON + 12_000 });
    expect(texts.filter((text) => READS_RANGE.test(text))).not.toEqual([]);
  });

  it("finds the few messages of a large campaign in one status by its index", async () => {
    const numbers = Array.from({ length: 600 }, (_, index) => `336000${10_000 + index}`);
    for (let index = 0; index < 2; index += 1) await send({ at: (now += 1000), numbers, campaignName: "spring" });
    const [first] = (await everything()) as [StoredMessage];
    await move(first, "cancelled");
    now += 30 * MINUTE;
    await indexEverything(256);
    const { found, texts } = await statementsOf({ campaignName: "spring", status: "Failed" });
    expect(found).toBe(1);
    expect(texts.filter((text) => text.includes("search_zones"))).toEqual([]);
    expect((await search({ campaignName: "spring", status: "Pending" }, 500)).length).toBe(1199);
  });

  it("learns from the kept counts that a campaign is large, and does not read its messages to see that", async () => {
    const numbers = Array.from({ length: 600 }, (_, index) => `336000${10_000 + index}`);
    await send({ at: (now += 1000), numbers, campaignName: "spring" });
    now += 30 * MINUTE;
    await indexEverything(256);
    const { found, texts } = await statementsOf({ campaignName: "spring", status: "Pending" });
    expect(found).toBe(600);
    expect(texts.filter((text) => text.includes("search_zones"))).not.toEqual([]);
    expect(texts.filter((text) => READS_KEYS.test(text))).toEqual([]);
    const [first] = (await everything()) as [StoredMessage];
    await move(first, "cancelled");
    const { texts: ofFew } = await statementsOf({ campaignName: "spring", status: "Failed" });
    expect(ofFew.filter((text) => READS_KEYS.test(text))).toHaveLength(1);
  });

  it("finds by message id and by carrier message id, together with other filters", async () => {
    await send({ at: now, numbers: ["33600000001", "33600000002"], test: true });
    await send({ at: now, numbers: ["33600000003"], accountId: 2 });
    const [second, first] = (await everything()) as [StoredMessage, StoredMessage];
    const { accountId, requestId, n } = first;
    const [other] = (await store.listMessages(2, {}, null, 1)).rows as [StoredMessage];
    await store.transition([
      transitionTo({ accountId, requestId, n, at: now, owner: 1, to: "submitting", carrier: "line" }),
      transitionTo({ accountId, requestId, n, at: now, owner: 1, to: "submitted", carrier: "line", carrierMessageId: "A1", partIds: ["A1", "A2"] }), // prettier-ignore
      transitionTo({ accountId: 2, requestId: other.requestId, n: 1, at: now, owner: 1, to: "submitted", carrier: "another", carrierMessageId: "A1" }), // prettier-ignore
    ]);
    for (const carrierMessageId of ["A1", "A2"]) {
      expect(await search({ carrierMessageId }, 10)).toEqual([messageIdOf(first)]);
      expect(await search({ carrierMessageId, test: true, status: "Pending" }, 10)).toEqual([messageIdOf(first)]);
      expect(await search({ carrierMessageId, status: "Delivered" }, 10)).toEqual([]);
    }
    expect(await search({ carrierMessageId: "A3" }, 10)).toEqual([]);
    expect(await search({ messageId: second }, 10)).toEqual([messageIdOf(second)]);
    expect(await search({ messageId: second, recipient: first.recipient }, 10)).toEqual([]);
    expect(await search({ messageId: other }, 10)).toEqual([]);
    expect(await search({ messageId: first, carrierMessageId: "A1" }, 10)).toEqual([messageIdOf(first)]);
    expect(await search({ messageId: second, carrierMessageId: "A1" }, 10)).toEqual([]);
  });

  it("finds a message at once that is committed long after the index has passed its id", async () => {
    for (let index = 0; index < 40; index += 1) await send({ at: (now += 1000), numbers: ["33600000001"] });
    now += MINUTE;
    await indexEverything();
    const late = NOON + 15_500;
    await send({ at: late, numbers: ["33699999999"], campaignName: "late", test: true });
    const filters: MessageFilter[] = [{ recipient: "33699999999" }, { recipientEnding: "9999" }, { test: true }];
    for (const filter of filters) expect([filter, await search(filter, 5)]).toEqual([filter, [expect.any(String)]]);
    await indexEverything();
    expect(await opened.execute("select * from search_changes")).toEqual([]);
    for (const filter of filters) expect([filter, await search(filter, 5)]).toEqual([filter, [expect.any(String)]]);
  });

  it("keeps the summary of a firm block exact when one of its messages ends late", async () => {
    for (let index = 0; index < 40; index += 1) await send({ at: (now += 1000), numbers: ["33600000001"] });
    now += 30 * MINUTE;
    await indexEverything();
    now += 30 * MINUTE;
    await indexEverything();
    expect(await opened.execute("select * from search_zones where status is null")).toEqual([]);
    const [message] = (await everything()).slice(20) as [StoredMessage];
    await move(message, "rejected");
    expect(await search({ status: "Failed" }, 5)).toEqual([messageIdOf(message)]);
    await indexEverything();
    expect(await search({ status: "Failed" }, 5)).toEqual([messageIdOf(message)]);
    now += 30 * MINUTE;
    await indexEverything();
    expect(await opened.execute("select status from search_zones where status is null or status = 'Failed'")).toEqual([{ status: "Failed" }]); // prettier-ignore
    expect(await search({ status: "Failed" }, 5)).toEqual([messageIdOf(message)]);
  });

  it.each(["search_blocks", "search_zones", "search_numbers"])(
    "an indexer that fails to write %s leaves the search complete, and the next run continues",
    async (table) => {
      for (let index = 0; index < 40; index += 1)
        await send({ at: (now += 1000), numbers: [NUMBERS[index % 6] ?? ""] });
      now += MINUTE;
      const filters: MessageFilter[] = [
        { recipient: NUMBERS[3] ?? "" },
        { status: "Pending" },
        { recipientEnding: "0001" },
      ];
      const check = async () => {
        const messages = await everything();
        for (const filter of filters) expect(await search(filter, 3)).toEqual(naively(messages, filter));
      };
      for (let round = 0; round < 5; round += 1) {
        const blocked = `${table}_away`;
        await opened.execute(`alter table ${table} rename to ${blocked}`);
        // The fourth block of a segment also writes numbers.
        const attempt = store.indexNextBlock(ACCOUNT, now, BLOCK_SIZE);
        await attempt.then(
          () => undefined,
          () => undefined,
        );
        await opened.execute(`alter table ${blocked} rename to ${table}`);
        await check();
        await store.indexNextBlock(ACCOUNT, now, BLOCK_SIZE);
        await check();
      }
    },
  );

  it("removes the numbers of removed messages also when an older message never ends", async () => {
    for (let index = 0; index < 40; index += 1) await send({ at: (now += 1000), numbers: [`3360000000${index % 10}`] });
    const oldestFirst = (await everything()).toReversed();
    // The first message and two others stay.
    for (const [index, message] of oldestFirst.entries()) if (index % 18 !== 0) await move(message, "cancelled");
    now += 30 * MINUTE;
    await indexEverything();
    await store.deleteExpired("messages", { accountId: ACCOUNT, before: now }, START, 100);
    while (await store.forgetSearchBlock(ACCOUNT));
    await forgetNumbers(NOON + 25_000);
    const left = (await opened.execute("select request_id from search_numbers order by request_id")) as {
      request_id: string;
    }[];
    const kept = oldestFirst.filter((_, index) => index % 18 === 0).map(({ requestId }) => requestId);
    expect(left.map(({ request_id }) => request_id).filter((id) => id < idFloor(NOON + 24_000))).toEqual(
      kept.slice(0, 2),
    );
    await forgetNumbers();
    const all = (await opened.execute("select request_id from search_numbers order by request_id")) as typeof left;
    // The last of them lies behind the last whole segment.
    expect(all.map(({ request_id }) => request_id)).toEqual(kept.slice(0, 2));
  });

  it("cuts a block again that a step of the clock into the future has made too large", async () => {
    for (let index = 0; index < 8; index += 1) await send({ at: (now += 1000), numbers: ["33600000001"] });
    const stepped = NOON + 100_000 * MINUTE;
    for (let index = 0; index < 12; index += 1) await send({ at: stepped + index, numbers: ["33600000002"] });
    now = stepped + MINUTE;
    await indexEverything();
    // The clock is right again: new messages lie among the indexed ones.
    now = NOON + MINUTE;
    changes.observe(stepped);
    for (let index = 0; index < 100; index += 1) await send({ at: (now += 1000), numbers: ["33600000003"] });
    for (let round = 0; round < 3; round += 1) {
      while ((await indexChanges(100, BLOCK_SIZE)) > 0);
      while ((await store.indexNextBlock(ACCOUNT, stepped + MINUTE, BLOCK_SIZE)) !== null);
      const messages = await everything();
      for (const filter of [{ recipient: "33600000003" }, { recipientEnding: "0002" }, { status: "Pending" as const }])
        expect([filter, await search(filter, 7)]).toEqual([filter, naively(messages, filter)]);
    }
    const blocks = (await opened.execute("select messages from search_blocks order by block")) as {
      messages: number;
    }[];
    expect(blocks.map(({ messages }) => messages)).toEqual(Array.from({ length: 30 }, () => BLOCK_SIZE));
  });

  it("removes the numbers of removed messages, and blocks without messages", async () => {
    for (let index = 0; index < 40; index += 1) await send({ at: (now += 1000), numbers: [`3360000000${index % 10}`] });
    for (const message of await everything()) await move(message, "cancelled");
    now += 30 * MINUTE;
    await indexEverything();
    expect(await opened.execute("select count(*) as count from search_numbers")).toEqual([
      { count: expect.anything() },
    ]);
    // 18 messages, which are four blocks and a half.
    await store.deleteExpired("messages", { accountId: ACCOUNT, before: NOON + 3_600_000 }, START, 18);
    while (await store.forgetSearchBlock(ACCOUNT));
    await forgetNumbers();
    const gone = `select count(*) as count from search_numbers where not exists (
      select 1 from messages where messages.request_id = search_numbers.request_id)`;
    expect((await opened.execute(gone)).map((row) => Number((row as { count: unknown }).count))).toEqual([0]);
    const blocks = (await opened.execute("select block from search_blocks order by block")) as { block: number }[];
    expect(blocks.map(({ block }) => block)).toEqual([4, 5, 6, 7, 8, 9]);
    const messages = await everything();
    expect(messages).toHaveLength(22);
    for (const filter of [{ recipientEnding: "0009" }, { status: "Failed" as const }])
      expect(await search(filter, 3)).toEqual(naively(messages, filter));
  });
});

const textOf = ({ content }: StoredMessage): string => ("text" in content ? content.text : "");
/** Only from a to z, as both engines compare. */
const inSmallLetters = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

function isMatch(message: StoredMessage, filter: MessageFilter): boolean {
  const template = "templateName" in message.content ? message.content.templateName : undefined;
  return (
    (filter.status === undefined || customerStatus(message.state) === filter.status) &&
    (filter.channel === undefined || message.channel === filter.channel) &&
    (filter.routeClass === undefined || message.routeClass === filter.routeClass) &&
    (filter.recipient === undefined || message.recipient === filter.recipient) &&
    (filter.senders === undefined || filter.senders.includes(message.sender)) &&
    (filter.recipientEnding === undefined || message.recipient.endsWith(filter.recipientEnding)) &&
    (filter.campaignName === undefined || message.campaignName === filter.campaignName) &&
    (filter.templateName === undefined || template === filter.templateName) &&
    (filter.text === undefined || inSmallLetters(textOf(message)).includes(inSmallLetters(filter.text))) &&
    (filter.test === undefined || message.test === filter.test) &&
    (filter.from === undefined || message.requestId >= idFloor(filter.from)) &&
    (filter.to === undefined || message.requestId < idFloor(filter.to))
  );
}
