import { closeSync, fsyncSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { GRAINS } from "../src/model/figure.ts";
import { fillPostgres, fillSqlite } from "./fill-links.ts";

/** How much a store that has been used for long holds. */
export interface Sizes {
  rows: number;
  queued: number;
  webhooks: number;
  templates: number;
  links: number;
}

/** A store that nobody else has open, and how its engine spells what the two spell differently. */
export interface BareStore {
  run(statement: string): Promise<void>;
  /** Whole numbers from one to before another, as a table with a column `i`. */
  numbers(from: number, to: number): string;
  hex(value: string, digits: number): string;
  uuid(text: string): string;
  fillLinks(links: number): Promise<void>;
  /** The statement that makes an index. */
  definitionOf(index: string): Promise<string>;
  /** Fills tables with rows as they are at their end, on pages that these have grown to fill. */
  withFullPages(fill: () => Promise<void>): Promise<void>;
  /** Leaves it as a running server would have it. */
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const DAYS = 90;
const SPAN_MS = DAYS * DAY_MS;
const RECIPIENTS = 10;
const ACCOUNTS = 100;
/** The first account has half of all messages, so many others share the rest. */
const OTHERS_THAT_SEND = 10;
const CAMPAIGNS = 50;
const CHUNK = 250_000;

const TEXT = "Your order 4711 is on its way and will be with you tomorrow.";
const CONTENT = `'{"text":"${TEXT}","encoding":"gsm7","flash":false}'`;
const COLUMNS =
  "account_id, request_id, n, channel, lane, test, sender, recipient, content, segments, campaign_name, state, owner, attempts, carrier, error_code, description, created_at, due_at, expires_at, submitted_at, done_at, credits, trail";

/** SQLite with everything off that makes writing safe, because a store that was filled by half is thrown away. */
export function openBareSqlite(path: string): BareStore {
  const open = (): DatabaseSync => {
    const opened = new DatabaseSync(path);
    opened.exec("pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -1000000");
    return opened;
  };
  let db = open();
  return {
    run: async (statement) => db.exec(statement),
    numbers: (from, to) =>
      `(with recursive counted (i) as (values (${from}) union all select i + 1 from counted where i < ${to - 1}) select i from counted)`,
    hex: (value, digits) => `printf('%0${digits}x', ${value})`,
    uuid: (text) => text,
    definitionOf: async (index) =>
      String(db.prepare("select sql from sqlite_master where type = 'index' and name = ?").get(index)?.sql),
    withFullPages: (fill) => fill(),
    async fillLinks(links) {
      db.close();
      fillSqlite(path, links);
      db = open();
      // A server gathers no statistics, and without them SQLite plans otherwise.
      db.exec("drop table if exists sqlite_stat1; drop table if exists sqlite_stat4");
    },
    async close() {
      db.exec("pragma journal_mode = wal");
      db.close();
      // What the kernel still has to write would be paid by the first commits that are measured.
      const file = openSync(path, "r+");
      fsyncSync(file);
      closeSync(file);
    },
  };
}

/** PostgreSQL, whose statistics are as the database itself would have gathered them in time. */
export async function openBarePostgres(url: string): Promise<BareStore> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("set synchronous_commit = off; set maintenance_work_mem = '512MB'");
  return {
    run: async (statement) => void (await client.query(statement)),
    numbers: (from, to) => `generate_series(${from}::bigint, ${to - 1}::bigint) as counted (i)`,
    hex: (value, digits) => `lpad(to_hex((${value})::bigint), ${digits}, '0')`,
    uuid: (text) => `(${text})::uuid`,
    definitionOf: async (index) => {
      const { rows } = await client.query("select indexdef from pg_indexes where indexname = $1", [index]);
      return String(rows[0]?.indexdef);
    },
    async withFullPages(fill) {
      const { rows } = await client.query<{ name: string; settings: string }>(
        "select relname as name, array_to_string(reloptions, ', ') as settings from pg_class where relkind = 'r' and reloptions is not null",
      );
      for (const { name } of rows) await client.query(`alter table ${name} reset (fillfactor)`);
      await fill();
      for (const { name, settings } of rows) await client.query(`alter table ${name} set (${settings})`);
    },
    fillLinks: (links) => fillPostgres(url, links),
    async close() {
      await client.query("vacuum analyze");
      await client.query("checkpoint");
      await client.end();
    },
  };
}

/** An id as the server makes them, for a moment and a number that tells it from others of that moment. */
const idOf = ({ hex, uuid }: BareStore, at: string, number: string, kind = "7000"): string =>
  uuid(`substr(${hex(at, 12)}, 1, 8) || '-' || substr(${hex(at, 12)}, 9) || '-${kind}-8000-' || ${hex(number, 12)}`);

interface Share {
  account: number;
  rows: number;
}

function shares(rows: number): Share[] {
  const first = Math.ceil(rows / 2);
  const each = Math.floor((rows - first) / OTHERS_THAT_SEND);
  const others = Array.from({ length: OTHERS_THAT_SEND }, (_, index) => ({ account: index + 2, rows: each }));
  return [{ account: 1, rows: first }, ...others].filter((share) => share.rows > 0);
}

/**
 * Ninety days of messages that have come to their end, with what belongs to them, of several accounts, and what so many
 * customers have configured. Everything is made inside the database, in the order of its keys.
 */
export async function fillHistory(
  store: BareStore,
  sizes: Omit<Sizes, "queued">,
  progress: (line: string) => void,
): Promise<void> {
  if (sizes.links > 0) {
    progress(`${sizes.links} links`);
    await store.fillLinks(sizes.links);
    await store.run(
      "insert into clicks (account_id, code, id, agent, at) select 1, code, links.request_id, 'person', created_at + 60000 from links join link_targets on link_targets.account_id = links.account_id and link_targets.request_id = links.request_id and link_targets.k = links.k where n % 20 = 0",
    );
  }
  await fillRecords(store, sizes);
  await fillFigures(store);

  const indexes = ["messages_of_campaign", "submissions_by_message", "callbacks_of_message"];
  const definitions: string[] = [];
  for (const index of indexes) definitions.push(await store.definitionOf(index));
  for (const index of indexes) await store.run(`drop index ${index}`);
  const firstAt = Date.now() - SPAN_MS;
  let filled = 0;
  await store.withFullPages(async () => {
    for (const { account, rows } of shares(sizes.rows)) {
      const requests = Math.ceil(rows / RECIPIENTS);
      for (let from = 0; from < rows; from += CHUNK) {
        const to = Math.min(rows, from + CHUNK);
        await fillMessages(store, { account, requests, firstAt, from, to });
        const tenth = Math.floor((filled / sizes.rows) * 10);
        filled += to - from;
        if (Math.floor((filled / sizes.rows) * 10) > tenth) progress(`${filled} of ${sizes.rows} messages`);
      }
    }
  });
  progress("indexes");
  for (const definition of definitions) await store.run(definition);
}

interface Chunk {
  account: number;
  requests: number;
  firstAt: number;
  from: number;
  to: number;
}

async function fillMessages(store: BareStore, { account, requests, firstAt, from, to }: Chunk): Promise<void> {
  const request = `(i / ${RECIPIENTS})`;
  const at = `(${firstAt} + ${request} * ${Math.max(1, Math.floor(SPAN_MS / requests))})`;
  const carrier = `${account}/bench`;
  const carrierId = `'b' || ${store.hex("i", 15)}`;
  const isDelivered = "i % 20 > 1";
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
  await store.run(`insert into messages (${COLUMNS}) select ${account}, ${idOf(store, at, request)}, i % ${RECIPIENTS} + 1, 'sms', 2, 0,
      'HELIOG', '1556' || (1000000 + i % 9000000), ${CONTENT}, 1,
      case when ${request} % 5 = 0 then 'campaign-' || (${request} * ${CAMPAIGNS} / ${requests}) end,
      case when ${isDelivered} then 'delivered' when i % 20 = 1 then 'expired' else 'undelivered' end, 0, 1, '${carrier}',
      case when ${isDelivered} then '000' else '1' end, case when ${isDelivered} then 'Delivered' else 'Not delivered' end,
      ${at}, ${at}, ${at} + 14400000, ${at} + 40, ${at} + 2000, 1, ${trail}
    from ${places}`);
  await store.run(`insert into submissions (carrier, carrier_message_id, account_id, request_id, n)
    select '${carrier}', ${carrierId}, ${account}, ${idOf(store, at, request)}, i % ${RECIPIENTS} + 1 from ${places}`);
  // One of ten messages had somebody who wanted to know.
  await store.run(`insert into callbacks (account_id, event_id, endpoint_id, kind, status, request_id, n, at, error_code, description,
      carrier, facts, state, owner, attempts, due_at, done_at, log)
    select ${account}, ${idOf(store, `(${at} + 2000)`, "i")}, ${store.uuid("'00000000-0000-7000-8000-000000000001'")}, 'status', 'delivered',
      ${idOf(store, at, request)}, 1, ${at} + 2000, '000', 'Delivered', '${carrier}',
      '{"messageId":"none:1","channel":"sms","recipient":"15560000001","sender":"HELIOG","credits":1,"createdAt":' || ${at} || ',"session":false}',
      'delivered', 0, 1, ${at} + 2000, ${at} + 2100, '[' || (${at} + 2100) || ',38,200,null,"",null]\n'
    from ${places} where i % ${RECIPIENTS} = 0`);
}

/** Copies of the records that the server itself made under the name `bench`, spread over all accounts. */
async function fillRecords(
  store: BareStore,
  { webhooks, templates }: Pick<Sizes, "webhooks" | "templates">,
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
  // Not the first account's: what it sends is told to nobody, so that only the store differs from the empty one.
  await copies("webhook", Math.ceil(webhooks / 2), `2 + i % ${ACCOUNTS - 1}`, 1);
  await copies("dlrConfig", Math.floor(webhooks / 2), `2 + i % ${ACCOUNTS - 1}`, 2);
  await copies("template", templates, `1 + i % ${ACCOUNTS}`, 3);
  await store.run(`insert into catalog (${columns}) select 1, 'campaign', ${idOf(store, `${now - SPAN_MS}`, "i", "7004")}, 'campaign-' || i,
    'learned', '{"status":"running","pausedAt":null,"pausedMs":0}', ${now}, ${now} from ${store.numbers(0, CAMPAIGNS)}`);
}

async function fillFigures(store: BareStore): Promise<void> {
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
    await store.run(`insert into figures (account_id, grain, at, what, channel, route_class, code, count)
      select 1, ${grain}, ${last} - i * ${grain}, what, 'sms', 'PROMO', code, 100
      from (select i from ${store.numbers(1, Math.floor(SPAN_MS / grain))}) as stretches, (${counted.join(" union all ")}) as kinds`);
  }
}

/** Messages that were accepted, and that nobody has sent yet. */
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
