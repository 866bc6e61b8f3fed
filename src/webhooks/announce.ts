import type { AccountCatalog, Catalog, EndpointRecord } from "../catalog/catalog.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import {
  EVERY_PROVIDER,
  eventOf,
  type Callback,
  type Happening,
  type StatusWord,
  type WebhookChannel,
} from "../model/callback.ts";
import { carrierKey } from "../model/catalog.ts";
import { CHANNELS, customerStatus, type Channel, type State } from "../model/message.ts";
import type { Announcement, AnnouncementTarget, Move } from "../store/store.ts";

export interface AnnounceNeeds {
  catalog: Catalog;
  clock: Clock;
  /** The node that tells what it announces, or nobody's number where this node calls no one. */
  teller(): number;
}

/** Who is to be told if a move takes place; undefined when nobody wants to know. */
export function announcementOf(
  { catalog, clock, teller }: AnnounceNeeds,
  { accountId, to }: Move,
): Announcement | undefined {
  const records = catalog.of(accountId);
  if (records.endpoints.length === 0) return undefined;
  const events = eventsOf(records, accountId, to);
  if (events.length === 0) return undefined;
  const now = clock.now();
  return { owner: teller(), dueAt: now, targets: events.flatMap((askers) => targetsOf(askers, newId(now))) };
}

/** All who are told of one event, which is one for all of them. */
type Askers = readonly Omit<AnnouncementTarget, "eventId">[];

const targetsOf = (askers: Askers, eventId: string): AnnouncementTarget[] =>
  askers.map((asker) => ({ ...asker, eventId }));

/** Found once for each change of an account's endpoints: every move of a message asks, and most are no news to anybody. */
const knownEvents = new WeakMap<readonly EndpointRecord[], Map<State, readonly Askers[]>>();

function eventsOf(records: AccountCatalog, accountId: number, to: State): readonly Askers[] {
  const known = knownEvents.get(records.endpoints) ?? new Map<State, readonly Askers[]>();
  knownEvents.set(records.endpoints, known);
  const found = known.get(to) ?? findEvents(records, accountId, to);
  known.set(to, found);
  return found;
}

function findEvents(records: AccountCatalog, accountId: number, to: State): Askers[] {
  const found = CHANNELS.flatMap((channel): Askers[] => {
    const status = statusWord(channel, to);
    if (status === null) return [];
    const askers = (kind: AnnouncementTarget["kind"], word: StatusWord | null): Askers =>
      askersOf(records, channel, kind).map((endpoint) => ({
        endpointId: endpoint.id,
        channel,
        carrier: carrierOf(endpoint, accountId),
        kind,
        status: word,
        // Of texts it is told statuses alone, and of these only what ends the wait.
        endOnly: endpoint.kind === "dlrConfig",
      }));
    // On the chat app it comes after the one that says the message was sent.
    const isSent = status === "sent" && channel === "chatapp";
    return [isSent ? askers("sent", null) : [], askers("status", status)];
  });
  return found.filter((askers) => askers.length > 0);
}

/** What coming to a state is to the customers of a channel; null when it is no news to them. */
function statusWord(channel: Channel, to: State): StatusWord | null {
  if (customerStatus(to) === "Failed") return "failed";
  if (to === "delivered") return "delivered";
  if (channel === "sms") return to === "unknown" ? "unknown" : null;
  if (to === "submitted") return "sent";
  return to === "read" ? "read" : null;
}

/** Whether an endpoint wants to be told of such a thing on a channel. */
function asksFor({ kind, content }: EndpointRecord, channel: WebhookChannel, what: Happening["kind"]): boolean {
  if (kind === "dlrConfig") return channel === "sms" && what === "status";
  return content.channel === channel && content.events.includes(eventOf({ kind: what }));
}

/** Found once for each change of an account's endpoints: every move of a message asks, and an account may have thousands. */
const knownAskers = new WeakMap<readonly EndpointRecord[], Map<string, readonly EndpointRecord[]>>();

function askersOf(
  { endpoints }: Pick<AccountCatalog, "endpoints">,
  channel: WebhookChannel,
  what: Happening["kind"],
): readonly EndpointRecord[] {
  const known = knownAskers.get(endpoints) ?? new Map<string, readonly EndpointRecord[]>();
  knownAskers.set(endpoints, known);
  const key = `${channel} ${what}`;
  const found = known.get(key) ?? endpoints.filter((endpoint) => asksFor(endpoint, channel, what));
  known.set(key, found);
  return found;
}

function carrierOf({ kind, content }: EndpointRecord, accountId: number): string | null {
  const provider = kind === "dlrConfig" ? content.provider : EVERY_PROVIDER;
  return provider === EVERY_PROVIDER ? null : carrierKey(accountId, provider);
}

/** Whether anybody in an account wants to be told of such a thing. */
export const isAskedFor = (
  catalog: Catalog,
  accountId: number,
  channel: WebhookChannel,
  what: Happening["kind"],
): boolean => askersOf(catalog.of(accountId), channel, what).length > 0;

/** What is to be told to whom of something that no move of a message brings about: an answer, a click, a verification. */
export function callbacksFor(
  { catalog }: Pick<AnnounceNeeds, "catalog">,
  accountId: number,
  eventId: string,
  channel: WebhookChannel,
  happening: Happening,
): Callback[] {
  return askersOf(catalog.of(accountId), channel, happening.kind)
    .filter((endpoint) => carrierOf(endpoint, accountId) === null)
    .map(({ id }) => ({ accountId, eventId, endpointId: id, happening, attempts: 0 }));
}
