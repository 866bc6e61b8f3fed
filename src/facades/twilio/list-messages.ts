import type { Credential } from "../../accounts/secret-index.ts";
import type { FacadeCall, FacadeReply } from "../../http/facade.ts";
import type { Services } from "../../http/route.ts";
import { parseIsoTime } from "../../lib/iso-time.ts";
import type { StoredCredential } from "../../model/credential.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import { readNumber } from "../../model/number.ts";
import type { Position, StoredMessage } from "../../store/store.ts";
import { queryOf } from "../parameters.ts";
import { spellingsOf } from "../sender-name.ts";
import { readQuery, type FormFields } from "./form.ts";
import { readAddress, type Address } from "./addresses.ts";
import { JSON_TYPE, TwilioProblem } from "./errors.ts";
import { callerWith } from "./login.ts";
import { accountSidOf, API_VERSION, inboundResource, storedResource } from "./message-resource.ts";
import { readPageTokens, tokenOf, writePageTokens, type PageStart } from "./page-token.ts";

const PAGE_SIZE = 50;
const PAGE_SIZE_MAX = 1000;
const DAY_MS = 86_400_000;
/** A search in a large store may return its rows in several portions. */
const READS_MAX = 10;

type Store = Services["store"];

/** `GET …/Messages.json`: sent and received messages, newest first, in Twilio's pages. */
export async function listMessages({ store }: Services, call: FacadeCall): Promise<FacadeReply> {
  const caller = callerWith("read", call);
  const fields = readQuery(queryOf(call.url));
  const size = readPageSize(fields);
  const starts = readPageTokens(fields.get("PageToken")?.[0]);
  if (starts === null) throw new TwilioProblem(20422, "PageToken is taken from the next_page_uri of an earlier page.");
  const { messages, next } = await readPage(store, caller, readFilter(fields), starts.at(-1) ?? null, size);
  const page = readPageNumber(fields, starts);
  const path = `/${API_VERSION}/Accounts/${accountSidOf(caller)}/Messages.json`;
  const uri = (number: number, list: readonly PageStart[]): string => path + pageQuery(fields, size, number, list);
  const isFirst = starts.length === 0;
  // Each token lists the starts of the pages before its own, up to a limit.
  const hasPrevious = starts.length > 1 || page === 1;
  const { stringify } = JSON;
  const text =
    `{"end":${page * size + Math.max(0, messages.length - 1)},"first_page_uri":${stringify(uri(0, []))},` +
    `"messages":[${messages.join(",")}],` +
    `"next_page_uri":${stringify(next && uri(page + 1, [...starts, next]))},"page":${page},"page_size":${size},` +
    `"previous_page_uri":${stringify(isFirst || !hasPrevious ? null : uri(page - 1, starts.slice(0, -1)))},` +
    `"start":${page * size},"uri":${stringify(call.url)}}`;
  return { status: 200, contentType: JSON_TYPE, text };
}

function readPageSize(fields: FormFields): number {
  const written = fields.get("PageSize")?.[0];
  if (written === undefined) return PAGE_SIZE;
  const size = Number(written);
  if (Number.isInteger(size) && size >= 1) return Math.min(size, PAGE_SIZE_MAX);
  throw new TwilioProblem(20422, `PageSize is a whole number from 1 to ${PAGE_SIZE_MAX}.`);
}

/** The number only counts pages: the token decides where a page starts. */
function readPageNumber(fields: FormFields, starts: readonly PageStart[]): number {
  const page = Number(fields.get("Page")?.[0] ?? 0);
  if (starts.length === 0) return 0;
  return Number.isSafeInteger(page) && page >= starts.length ? page : starts.length;
}

interface ListFilter {
  from: Address | null;
  to: Address | null;
  /** Epoch ms, inclusive. */
  since?: number;
  /** Epoch ms, exclusive. */
  until?: number;
}

function readFilter(fields: FormFields): ListFilter {
  const addressOf = (name: string): Address | null => {
    const written = fields.get(name)?.[0];
    if (written === undefined) return null;
    const address = readAddress(written);
    if (address.name === "") throw new TwilioProblem(21211, `${name} is empty: give an address, or leave it out.`);
    return address;
  };
  return { from: addressOf("From"), to: addressOf("To"), ...readTimes(fields) };
}

/** `DateSent` is a day in UTC; with a sign behind its name, the first or last day or moment. */
function readTimes(fields: FormFields): Pick<ListFilter, "since" | "until"> {
  const day = readTime(fields, "DateSent");
  if (day) return { since: startOfDay(day.at), until: startOfDay(day.at) + DAY_MS };
  const since = readTime(fields, "DateSent>");
  const until = readTime(fields, "DateSent<");
  return {
    ...(since && { since: since.at }),
    ...(until && { until: until.at + (until.isDay ? DAY_MS : 1) }),
  };
}

const startOfDay = (at: number): number => at - (at % DAY_MS);

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function readTime(fields: FormFields, name: string): { at: number; isDay: boolean } | null {
  const written = fields.get(name)?.[0];
  if (written === undefined) return null;
  const at = parseIsoTime(written);
  if (!Number.isNaN(at)) return { at, isDay: DAY.test(written) };
  throw new TwilioProblem(20422, `${name} is a day such as 2026-01-31, or an ISO 8601 time.`);
}

interface MessagePage {
  /** As JSON. */
  messages: string[];
  next: PageStart | null;
}

/** One page of sent and received messages, by the time in their ids. */
async function readPage(
  store: Store,
  caller: Credential<StoredCredential>,
  filter: ListFilter,
  start: PageStart | null,
  size: number,
): Promise<MessagePage> {
  const [sent, received] = await Promise.all([
    readSent(store, caller, filter, start?.sent ?? null, size),
    readReceived(store, caller, filter, start?.received ?? null, size),
  ]);
  const accountSid = accountSidOf(caller);
  const messages: string[] = [];
  let [ofSent, ofReceived] = [0, 0];
  while (messages.length < size) {
    const [one, other] = [sent.rows[ofSent], received.rows[ofReceived]];
    // A portion that ended early hides what comes next, so the page ends with it.
    if ((!one && sent.hasMore) || (!other && received.hasMore) || (!one && !other)) break;
    if (one && (!other || one.requestId > other.id)) {
      messages.push(storedResource(accountSid, one));
      ofSent += 1;
    } else if (other) {
      messages.push(inboundResource(accountSid, other));
      ofReceived += 1;
    }
  }
  const isEnd =
    !sent.hasMore && !received.hasMore && ofSent === sent.rows.length && ofReceived === received.rows.length;
  const next = {
    sent: sent.rows[ofSent - 1] ?? start?.sent ?? null,
    received: received.rows[ofReceived - 1]?.id ?? start?.received ?? null,
  };
  return { messages, next: isEnd ? null : tokenOf(next) };
}

interface Portion<T> {
  rows: readonly T[];
  hasMore: boolean;
}

const NONE: Portion<never> = { rows: [], hasMore: false };

async function readSent(
  store: Store,
  { account, key }: Credential<StoredCredential>,
  { from, to, since, until }: ListFilter,
  after: Position | null,
  size: number,
): Promise<Portion<StoredMessage>> {
  const recipient = to && readNumber(to.name);
  if ((to && recipient === null) || areOfDifferentChannels(from, to)) return NONE;
  const channel = (from ?? to)?.channel;
  const filter = {
    test: key.mode === "test",
    ...(channel && { channel }),
    ...(recipient && { recipient }),
    ...(from && { senders: spellingsOf(from.name) }),
    ...(since !== undefined && { from: since }),
    ...(until !== undefined && { to: until }),
  };
  return readFull(after, size, (position, limit) => store.listMessages(account.id, filter, position, limit));
}

async function readReceived(
  store: Store,
  { account, key }: Credential<StoredCredential>,
  { from, to, since, until }: ListFilter,
  after: string | null,
  size: number,
): Promise<Portion<InboundMessage>> {
  const number = from && readNumber(from.name);
  if ((from && number === null) || areOfDifferentChannels(from, to)) return NONE;
  const channel = (from ?? to)?.channel;
  const filter = {
    test: key.mode === "test",
    ...(channel && { channel }),
    ...(number && { from: number }),
    ...(to && { to: spellingsOf(to.name) }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
  return readFull(after, size, (position, limit) => store.listInbound(account.id, filter, position, limit));
}

const areOfDifferentChannels = (from: Address | null, to: Address | null): boolean =>
  from !== null && to !== null && from.channel !== to.channel;

/** Reads until a page is full or the list ends; after many portions, the page may be short. */
async function readFull<Row, Place>(
  after: Place | null,
  size: number,
  read: (after: Place | null, limit: number) => Promise<{ rows: Row[]; next: Place | null }>,
): Promise<Portion<Row>> {
  const rows: Row[] = [];
  let place = after;
  for (let reads = 0; reads < READS_MAX && rows.length < size; reads += 1) {
    const portion = await read(place, size - rows.length);
    rows.push(...portion.rows);
    place = portion.next;
    if (place === null) return { rows, hasMore: false };
  }
  return { rows, hasMore: true };
}

const FILTERS = ["To", "From", "DateSent", "DateSent>", "DateSent<"];

function pageQuery(fields: FormFields, size: number, page: number, starts: readonly PageStart[]): string {
  const query = new URLSearchParams();
  for (const name of FILTERS) {
    const value = fields.get(name)?.[0];
    if (value !== undefined) query.set(name, value);
  }
  query.set("PageSize", String(size));
  query.set("Page", String(page));
  if (starts.length > 0) query.set("PageToken", writePageTokens(starts));
  return `?${query.toString()}`;
}
