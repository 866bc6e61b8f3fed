import { GRAINS, MINUTES_KEPT_MS } from "../src/model/stats.ts";
import { idOf, type BareStore } from "./bare-store.ts";
import { fillSearch } from "./fill-search.ts";
import { LANE, messageFields, phonesOf, RARE, RECIPIENTS, SPAN_MS, TEMPLATE, type Chunk } from "./message-fields.ts";

/** Row counts of a store that has been in use for a long time. */
export interface Sizes {
  rows: number;
  queued: number;
  webhooks: number;
  templates: number;
  links: number;
  /** Default: 50. */
  campaigns?: number;
}

const ACCOUNTS = 100;
/** The first account is the large one; this many accounts share the rest. */
const LARGEST_SHARE = 0.8;
const OTHER_SENDERS = 10;
const CAMPAIGNS = 50;
/** Whole segments of the search index. */
const CHUNK = 61 * 4096;

/** Carriers and countries with statistics of their own. */
const GROUPS = [
  ...Array.from({ length: 5 }, (_, place) => ["carrier", `carrier-${place}`]),
  ...Array.from({ length: 30 }, (_, place) => ["country", `C${place}`]),
].map(([dimension, name]) => `select '${dimension}' as dimension, '${name}' as name`);

const TEXT = "Your order 4711 is on its way and will be with you tomorrow.";
const CONTENT = `'{"text":"${TEXT}","encoding":"gsm7","flash":false}'`;
const contentOf = (template: string): string =>
  `'{"text":"${TEXT}","encoding":"gsm7","flash":false,"templateName":"${template}"}'`;

const COLUMNS =
  "account_id, request_id, n, channel, lane, test, sender, recipient, content, segments, campaign_name, state, owner, attempts, carrier, error_code, description, created_at, due_at, expires_at, submitted_at, done_at, credits, trail";

interface Share {
  account: number;
  rows: number;
}

function shares(rows: number): Share[] {
  const first = Math.ceil(rows * LARGEST_SHARE);
  const each = Math.floor((rows - first) / OTHER_SENDERS);
  const others = Array.from({ length: OTHER_SENDERS }, (_, index) => ({ account: index + 2, rows: each }));
  return [{ account: 1, rows: first }, ...others].filter((share) => share.rows > 0);
}

/**
 * Fills 90 days of finished messages of several accounts, with submissions, callbacks, statistics and configuration
 * records. The database generates all rows itself, in key order. Returns the start of the 90 days.
 */
export async function fillHistory(
  store: BareStore,
  sizes: Omit<Sizes, "queued">,
  progress: (line: string) => void,
): Promise<number> {
  if (sizes.links > 0) {
    progress(`${sizes.links} links`);
    await store.fillLinks(sizes.links);
    await store.run(
      "insert into clicks (account_id, code, id, agent, at) select 1, code, links.request_id, 'person', created_at + 60000 from links join link_targets on link_targets.account_id = links.account_id and link_targets.request_id = links.request_id and link_targets.k = links.k where n % 20 = 0",
    );
    await store.run("update links set clicked = 1 where n % 20 = 0");
    await store.run(
      "update link_targets set clicks_person = counted.clicks, recipients_clicked = counted.clicks from (select request_id, k, count(*) as clicks from links where clicked = 1 group by request_id, k) as counted where link_targets.request_id = counted.request_id and link_targets.k = counted.k",
    );
  }
  await fillRecords(store, sizes);
  await fillStats(store, sizes.rows);

  // Sorting all keys once is faster than inserting each of them in the order of another index.
  const indexes: { name: string; definition: string }[] = [];
  for (const table of ["messages", "submissions", "callbacks"]) indexes.push(...(await store.indexesOf(table)));
  for (const { name } of indexes) await store.run(`drop index ${name}`);
  const firstAt = Date.now() - SPAN_MS;
  const { campaigns = CAMPAIGNS } = sizes;
  let filled = 0;
  await store.withFullPages(async () => {
    for (const { account, rows } of shares(sizes.rows)) {
      const requests = Math.ceil(rows / RECIPIENTS);
      for (let from = 0; from < rows; from += CHUNK) {
        const to = Math.min(rows, from + CHUNK);
        const chunk = { account, requests, firstAt, from, to, phones: phonesOf(sizes.rows), campaigns };
        await fillMessages(store, chunk);
        await fillSearch(store, chunk);
        const tenth = Math.floor((filled / sizes.rows) * 10);
        filled += to - from;
        if (Math.floor((filled / sizes.rows) * 10) > tenth) progress(`${filled} of ${sizes.rows} messages`);
      }
    }
  });
  progress("indexes");
  for (const { definition } of indexes) await store.run(definition);
  await store.run(`insert into campaign_counts (account_id, campaign_name, state, count)
    select account_id, campaign_name, state, count(*) from messages where campaign_name is not null
    group by account_id, campaign_name, state`);
  return firstAt;
}

async function fillMessages(store: BareStore, chunk: Chunk): Promise<void> {
  const { account, from, to } = chunk;
  const { at, isDelivered, id, n, recipient, campaign, state } = messageFields(store, chunk);
  const carrier = `${account}/bench`;
  const carrierId = `'b' || ${store.hex("i", 15)}`;
  const step = (name: string, after: number, rest: string): string =>
    `'["${name}",' || (${at} + ${after}) || ',${rest}]\n'`;
  const trail = [
    step("policy", 0, `"opt-out","passed","Not on the list"`),
    step("attempt", 9, `"bench","${carrier}"`),
    step(
      "taken",
      40,
      `"${carrier}","submit_sm to=********0001 from=HELIOG data_coding=0 parts=1 -> taken ' || ${carrierId} || '"`,
    ),
    step("receipt", 2000, `"${carrier}","delivered","000","Delivered"`),
  ].join(" || ");
  const places = `(select i from ${store.numbers(from, to)}) as places`;
  await store.run(`insert into messages (${COLUMNS}) select ${account}, ${id}, ${n}, 'sms', ${LANE}, 0,
      'HELIOG', ${recipient},
      case when i < ${RARE.templated} then ${contentOf(RARE.template)} when i % 50 = 3 then ${contentOf(TEMPLATE)} else ${CONTENT} end, 1,
      ${campaign}, ${state}, 0, 1, '${carrier}',
      case when ${isDelivered} then '000' else '1' end, case when ${isDelivered} then 'Delivered' else 'Not delivered' end,
      ${at}, ${at}, ${at} + 14400000, ${at} + 40, ${at} + 2000, 1, ${trail}
    from ${places}`);
  await store.run(`insert into submissions (carrier, carrier_message_id, account_id, request_id, n)
    select '${carrier}', ${carrierId}, ${account}, ${id}, ${n} from ${places}`);
  // One message in ten has a webhook delivery.
  await store.run(`insert into callbacks (account_id, event_id, endpoint_id, kind, status, request_id, n, at, error_code, description,
      carrier, facts, state, owner, attempts, due_at, done_at, log)
    select ${account}, ${idOf(store, `(${at} + 2000)`, "i")}, ${store.uuid("'00000000-0000-7000-8000-000000000001'")}, 'status', 'delivered',
      ${id}, 1, ${at} + 2000, '000', 'Delivered', '${carrier}',
      '{"messageId":"none:1","channel":"sms","recipient":"15560000001","sender":"HELIOG","credits":1,"createdAt":' || ${at} || ',"session":false}',
      'delivered', 0, 1, ${at} + 2000, ${at} + 2100, '[' || (${at} + 2100) || ',38,200,null,"",null]\n'
    from ${places} where i % ${RECIPIENTS} = 0`);
}

/** Copies the records named `bench`, which the server created through its API, to all accounts. */
async function fillRecords(
  store: BareStore,
  { webhooks, templates, campaigns = CAMPAIGNS }: Pick<Sizes, "webhooks" | "templates" | "campaigns">,
): Promise<void> {
  const now = Date.now();
  await store.run(`insert into accounts (name, suspended, settings, created_at)
    select 'customer ' || i, 0, '{"keepTextsDays":400}', ${now} from ${store.numbers(2, ACCOUNTS + 1)}`);
  await store.run("insert into balances (account_id, balance, held) select id, 0, 0 from accounts where id > 1");
  const columns = "account_id, kind, id, name, origin, content, created_at, updated_at";
  const copies = async (kind: string, count: number, account: string, place: number): Promise<void> => {
    if (count > 0)
      await store.run(`insert into catalog (${columns}) select ${account}, kind, ${idOf(store, `${now - SPAN_MS}`, "i", `700${place}`)},
        'bench ' || i, origin, content, created_at, updated_at from catalog, (select i from ${store.numbers(0, count)}) as places
        where account_id = 1 and kind = '${kind}' and name = 'bench'`);
  };
  // The first account gets no webhooks: its messages cause no deliveries, so only the size of the store differs from
  // the empty one.
  await copies("webhook", Math.ceil(webhooks / 2), `2 + i % ${ACCOUNTS - 1}`, 1);
  await copies("dlrConfig", Math.floor(webhooks / 2), `2 + i % ${ACCOUNTS - 1}`, 2);
  await copies("template", templates, `1 + i % ${ACCOUNTS}`, 3);
  await store.run(`insert into catalog (${columns}) select 1, 'campaign', ${idOf(store, `${now - SPAN_MS}`, "i", "7004")}, 'campaign-' || i,
    'learned', '{"status":"running","pausedAt":null,"pausedMs":0}', ${now}, ${now} from ${store.numbers(0, campaigns)}`);
}

async function fillStats(store: BareStore, rows: number): Promise<void> {
  // A small store is filled for a test.
  const groups = GROUPS.slice(0, rows < 1_000_000 ? 2 : undefined);
  const counted = [
    ["accepted", ""],
    ["submitted", ""],
    ["delivered", ""],
    ["undelivered", "1"],
    ["expired", "1"],
    ["callback delivered", ""],
    ...["3", "5", "7"].flatMap((code) => [
      ["until submitted", code],
      ["until delivered", code],
    ]),
  ].map(([what, code]) => `select '${what}' as what, '${code}' as code`);
  for (const grain of Object.values(GRAINS)) {
    const last = Math.floor(Date.now() / grain) * grain;
    const steps = Math.floor((grain === GRAINS.minute ? MINUTES_KEPT_MS : SPAN_MS) / grain);
    await store.run(`insert into figure_groups (account_id, dimension, grain, at, name, what, channel, code, count)
      select 1, dimension, ${grain}, ${last} - i * ${grain}, name, what, 'sms', '', 100
      from (select i from ${store.numbers(1, steps)}) as stretches, (${groups.join(" union all ")}) as groups,
        (${["accepted", "submitted", "delivered"].map((what) => `select '${what}' as what`).join(" union all ")}) as kinds`);
    await store.run(`insert into figures (account_id, grain, at, what, channel, route_class, code, count)
      select 1, ${grain}, ${last} - i * ${grain}, what, 'sms', 'PROMO', code, 100
      from (select i from ${store.numbers(1, steps)}) as stretches, (${counted.join(" union all ")}) as kinds`);
  }
}

/** Fills accepted messages that are not yet sent. */
export async function fillQueue(store: BareStore, queued: number, progress: (line: string) => void): Promise<void> {
  const firstAt = Date.now() - 600_000;
  const request = `(i / ${RECIPIENTS})`;
  const requests = Math.ceil(queued / RECIPIENTS);
  const at = `(${firstAt} + ${request} * 600000 / ${requests})`;
  for (let from = 0; from < queued; from += CHUNK) {
    const to = Math.min(queued, from + CHUNK);
    await store.run(`insert into messages (${COLUMNS}) select 1, ${idOf(store, at, request, "7001")}, i % ${RECIPIENTS} + 1, 'sms', 2, 0, 'HELIOG',
        '1556' || (1000000 + i % 9000000), ${CONTENT}, 1, null, 'accepted', 0, 0, null, null, null, ${at}, ${at}, ${at} + 172800000,
        null, null, 1, null
      from (select i from ${store.numbers(from, to)}) as places`);
    progress(`${to} of ${queued} waiting messages`);
  }
}
