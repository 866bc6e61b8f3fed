import type { AccountCatalog, Catalog, EndpointRecord } from "../records/catalog.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import {
  channelsOf,
  EVERY_PROVIDER,
  eventOf,
  follows,
  isReportedState,
  type Callback,
  type CustomerEvent,
  type StatusWord,
  type EventChannel,
} from "../model/callback.ts";
import { carrierKey } from "../model/catalog.ts";
import type { InboundMessage } from "../model/inbound.ts";
import { SEND_CHANNELS, customerStatus, type Channel, type State } from "../model/message.ts";
import { targetState, type CallbackPlan, type CallbackTarget, type Transition } from "../store/transition.ts";

export interface FanOutDeps {
  catalog: Catalog;
  clock: Clock;
  /** The node that will own the callbacks: this one, or `UNOWNED` if it delivers none. */
  webhookDispatcher(): number;
  /** Ids of the credentials whose facades want an inbound message. Absent without facades. */
  inboundSubscribers?(inbound: InboundMessage): readonly string[];
}

/**
 * The callbacks to store if a transition takes place; undefined without subscribers. Without the expected row, a message may
 * have a callback of its own, which only its row says.
 */
export function planCallbacks(
  { catalog, clock, webhookDispatcher }: FanOutDeps,
  transition: Transition,
): CallbackPlan | undefined {
  const { accountId } = transition;
  const to = targetState(transition);
  const records = catalog.of(accountId);
  if (to === null) return undefined;
  const events = records.endpoints.length === 0 ? [] : eventsOf(records, accountId, to);
  const hasOwn = isReportedState(to) && mayHaveOwnCallback(transition, to);
  if (events.length === 0 && !hasOwn) return undefined;
  const now = clock.now();
  const targets = events.flatMap((subscribers) => targetsOf(subscribers, newId(now)));
  if (hasOwn) targets.push({ ...OWN_CALLBACK, status: to, eventId: newId(now) });
  return { owner: webhookDispatcher(), dueAt: now, targets };
}

/** False only for a known message that does not ask for this state: it keeps the faster statement. */
const mayHaveOwnCallback = (transition: Transition, to: State): boolean =>
  !("expected" in transition) ||
  transition.expected === undefined ||
  transition.expected.callback?.states.includes(to) === true;

/** The target of the callback that a message's own request asked for. */
const OWN_CALLBACK = { endpointId: null, kind: "state", channel: null, carrier: null, endOnly: false } as const;

/** Subscribers of one event; they share its id. */
type Subscribers = readonly Omit<CallbackTarget, "eventId">[];

const targetsOf = (subscribers: Subscribers, eventId: string): CallbackTarget[] =>
  subscribers.map((subscriber) => ({ ...subscriber, eventId }));

/** Cache per version of an account's endpoints: every transition asks, and most have no subscriber. */
const cachedEvents = new WeakMap<readonly EndpointRecord[], Map<State, readonly Subscribers[]>>();

function eventsOf(records: AccountCatalog, accountId: number, to: State): readonly Subscribers[] {
  const known = cachedEvents.get(records.endpoints) ?? new Map<State, readonly Subscribers[]>();
  cachedEvents.set(records.endpoints, known);
  const found = known.get(to) ?? findEvents(records, accountId, to);
  known.set(to, found);
  return found;
}

function findEvents(records: AccountCatalog, accountId: number, to: State): Subscribers[] {
  const found = SEND_CHANNELS.flatMap((channel): Subscribers[] => {
    const status = statusWord(channel, to);
    if (status === null) return [];
    const subscribers = (kind: CallbackTarget["kind"], word: StatusWord | null): Subscribers =>
      subscribersOf(records, channel, kind).map((endpoint) => ({
        endpointId: endpoint.id,
        channel,
        carrier: carrierOf(endpoint, accountId),
        kind,
        status: word,
        // SMS delivery reports are sent for final statuses only. A webhook of several channels may have had other events.
        endOnly: endpoint.kind === "dlrConfig" || (channel === "sms" && channelsOf(endpoint.content).length === 1),
      }));
    // On the chat app, `message_sent` comes before the status.
    const isSent = status === "sent" && channel === "chatapp";
    return [isSent ? subscribers("sent", null) : [], subscribers("status", status)];
  });
  return found.filter((subscribers) => subscribers.length > 0);
}

/** The customer-visible status of a state on a channel; null if customers are not notified. */
function statusWord(channel: Channel, to: State): StatusWord | null {
  if (customerStatus(to) === "Failed") return "failed";
  if (to === "delivered") return "delivered";
  if (channel === "sms") return to === "unknown" ? "unknown" : null;
  if (to === "submitted") return "sent";
  return to === "read" ? "read" : null;
}

/** True if an endpoint subscribes to this kind of event on a channel. */
function subscribes({ kind, content }: EndpointRecord, channel: EventChannel, what: CustomerEvent["kind"]): boolean {
  if (kind === "dlrConfig") return channel === "sms" && what === "status";
  return follows(content, eventOf(what, channel), channel);
}

/** Cache per version of an account's endpoints: every transition asks, and an account may have thousands. */
const cachedSubscribers = new WeakMap<readonly EndpointRecord[], Map<string, readonly EndpointRecord[]>>();

function subscribersOf(
  { endpoints }: Pick<AccountCatalog, "endpoints">,
  channel: EventChannel,
  what: CustomerEvent["kind"],
): readonly EndpointRecord[] {
  const known = cachedSubscribers.get(endpoints) ?? new Map<string, readonly EndpointRecord[]>();
  cachedSubscribers.set(endpoints, known);
  const key = `${channel} ${what}`;
  const found = known.get(key) ?? endpoints.filter((endpoint) => subscribes(endpoint, channel, what));
  known.set(key, found);
  return found;
}

function carrierOf({ kind, content }: EndpointRecord, accountId: number): string | null {
  const provider = kind === "dlrConfig" ? content.provider : EVERY_PROVIDER;
  return provider === EVERY_PROVIDER ? null : carrierKey(accountId, provider);
}

/** True if an account has a subscriber for this kind of event. */
export const isSubscribed = (
  catalog: Catalog,
  accountId: number,
  channel: EventChannel,
  what: CustomerEvent["kind"],
): boolean => subscribersOf(catalog.of(accountId), channel, what).length > 0;

/** Callbacks of events that are no transition of a message: an answer, a click, a verification. */
export function callbacksFor(
  { catalog }: Pick<FanOutDeps, "catalog">,
  accountId: number,
  eventId: string,
  channel: EventChannel,
  happening: CustomerEvent,
): Callback[] {
  return subscribersOf(catalog.of(accountId), channel, happening.kind)
    .filter((endpoint) => carrierOf(endpoint, accountId) === null)
    .map(({ id }) => ({ accountId, eventId, endpointId: id, happening, attempts: 0 }));
}
