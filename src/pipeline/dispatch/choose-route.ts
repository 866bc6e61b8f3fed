import type { Carrier, Carriers } from "../../carriers/carrier.ts";
import type { AccountCatalog, Catalog } from "../../records/catalog.ts";
import { carrierKey, SIMULATOR, type CatalogRecord, type RouteContent } from "../../model/catalog.ts";
import { isSimulatorOnly, type Message } from "../../model/message.ts";
import type { SkippedRoute } from "../../model/timeline.ts";

type Route = CatalogRecord<"route">;

/** The fields of a message that decide about its route. One that is accepted now has no time yet. */
export type Routable = Pick<Message, "channel" | "routeClass" | "sender" | "recipient"> &
  Partial<Pick<Message, "createdAt">>;

/** All routes that match a live message, in the order of their priority. */
export function routesFor(records: AccountCatalog, message: Routable): readonly Route[] {
  const routes = records.liveRoutes(message.channel, records.awaitsReal(message));
  // Fast path: most accounts have one route that takes everything.
  return routes.length === 1 && routes[0] && isOpen(routes[0].content)
    ? routes
    : routes.filter(({ content }) => matches(content, message));
}

/**
 * Simulator routes that match a live message but do not take it, because it waits for a real carrier of its channel, to
 * which no route leads now. Once a route to a real carrier exists, a message that it does not match has no route.
 */
export function withheldRoutes(records: AccountCatalog, message: Routable): readonly Route[] {
  if (!records.awaitsReal(message)) return [];
  if (records.liveRoutes(message.channel, true).some(({ content }) => !records.isSimulated(content.carrier))) return [];
  return records.routes.filter(({ content }) => matches(content, message));
}

/**
 * True if a route may take a message in the place of others that wait for their carriers. A simulated carrier does not replace
 * a real one that is down: it would report a delivery that never happened.
 */
export function mayReplace(
  records: AccountCatalog,
  message: Routable,
  waiting: readonly Pick<Message, "channel" | "createdAt">[],
): boolean {
  const routes = routesFor(records, message);
  if (!waiting.some((each) => records.awaitsReal(each))) return routes.length > 0;
  return routes.some(({ content }) => content.simulateLive === true || !records.isSimulated(content.carrier));
}

const isOpen = (route: RouteContent): boolean =>
  route.routeClasses.length === 0 && route.prefixes.length === 0 && route.senders.length === 0;

function matches(route: RouteContent, message: Routable): boolean {
  if (route.channel !== null && route.channel !== message.channel) return false;
  if (route.routeClasses.length > 0 && !route.routeClasses.includes(message.routeClass)) return false;
  if (route.senders.length > 0 && !route.senders.includes(message.sender)) return false;
  return route.prefixes.length === 0 || route.prefixes.some((prefix) => message.recipient.startsWith(prefix));
}

/** True if the route, or another one to its carrier, brought no delivery. */
export const wasTried = ({ accountId, tried }: Pick<Message, "accountId" | "tried">, { id, content }: Route): boolean =>
  tried.length > 0 && (tried.includes(id) || tried.includes(carrierKey(accountId, content.carrier)));

/** The quiet hours of the first routes; among routes of equal priority, those of any of them. */
export const quietHoursOf = (routes: readonly Route[]): RouteContent["quietHours"] =>
  routes.find(({ content }) => content.priority === routes[0]?.content.priority && content.quietHours)?.content
    .quietHours ?? null;

export interface ChooseRouteDeps {
  catalog: Catalog;
  carriers: Carriers;
}

/** A carrier to try, with the route that leads to it. Messages for the simulator alone have no route. */
export interface Candidate {
  route: Route | null;
  carrier: Carrier;
  /** A live message goes to a simulated carrier although the account has a real one, on this channel or another. */
  isLiveSimulated: boolean;
}

/** The carriers that could take a message now, and the routes that were skipped. */
export interface Choice {
  /** In the order they are to be tried. */
  usable: readonly Candidate[];
  passedOver: readonly SkippedRoute[];
  /** Only other nodes have a connection to the first choice. */
  isFirstElsewhere: boolean;
  /** A route that was not tried yet leads to a carrier that cannot be used now. */
  isAnyDown: boolean;
  /** An unconfirmed promotion may be sent again: its route allows it, or its carrier recognises a repeat. */
  allowsRepeat: boolean;
}

/** Why a route is skipped, by kind: the text is for the timeline. */
const SKIP_REASONS = {
  tried: "It brought no delivery before",
  "unconfirmed elsewhere": "Another carrier may have the message",
  "no carrier": "There is no such carrier",
  "on other nodes": "Other nodes have the line",
  down: "The carrier is down",
  withheld: "Live messages wait for a route to a real carrier",
} as const;

type SkipKind = keyof typeof SKIP_REASONS;

/** Why a route cannot be used now; null if it can. */
function skipKindOf(message: Message, route: Route, carrier: Carrier | null): SkipKind | null {
  if (wasTried(message, route)) return "tried";
  if (message.state === "submitting" && carrier?.name !== message.carrier) return "unconfirmed elsewhere";
  if (!carrier) return "no carrier";
  if (carrier.isElsewhere?.()) return "on other nodes";
  return carrier.isUp() || carrier.isConnecting?.() ? null : "down";
}

const skipped = (route: Route, kind: SkipKind): SkippedRoute => ({
  route: route.name,
  carrier: route.content.carrier,
  reason: SKIP_REASONS[kind],
});

/**
 * The carriers that could take a message now. Routes with a lower priority number come first; equal ones are drawn by weight.
 * Messages of test keys and to test numbers go to the simulator whatever else is configured.
 */
export function candidatesFor(
  { catalog, carriers }: ChooseRouteDeps,
  message: Message,
  admittedTo: string | null = null,
): Choice {
  if (isSimulatorOnly(message)) return simulatorChoice(carriers.find(message.accountId, SIMULATOR));
  const usable: Candidate[] = [];
  const passedOver: SkippedRoute[] = [];
  let isFirstElsewhere = false;
  let isAnyDown = false;
  let recognisesRepeat = false;
  const records = catalog.of(message.accountId);
  const routes = routesFor(records, message);
  const hasReal = records.realChannels.size > 0;
  for (const route of routes.length > 1 ? drawn(routes) : routes) {
    const name = route.content.carrier;
    const carrier = carriers.find(message.accountId, name);
    const isUnconfirmedHere = message.state === "submitting" && carrier?.name === message.carrier;
    if (isUnconfirmedHere && carrier?.repeatsSafely) recognisesRepeat = true;
    const skip = skipKindOf(message, route, carrier);
    if (skip === null && carrier) {
      usable.push({ route, carrier, isLiveSimulated: hasReal && records.isSimulated(name) });
      continue;
    }
    const kind = skip ?? "no carrier";
    if (kind !== "tried") isAnyDown = true;
    if (kind === "on other nodes" && usable.length === 0) isFirstElsewhere = true;
    passedOver.push(skipped(route, kind));
  }
  if (routes.length === 0)
    passedOver.push(...withheldRoutes(records, message).map((route) => skipped(route, "withheld")));
  // A message that has waited for the rate of a carrier stays with it, whatever the draw says now.
  const waitedFor = usable.findIndex(({ carrier }) => carrier.name === admittedTo);
  if (waitedFor > 0) usable.unshift(...usable.splice(waitedFor, 1));
  if (waitedFor >= 0) isFirstElsewhere = false;
  const allowsRepeat = recognisesRepeat || (routes[0]?.content.repeatPromotionsInDoubt ?? false);
  return { usable, passedOver, isFirstElsewhere, isAnyDown, allowsRepeat };
}

const simulatorChoice = (carrier: Carrier | null): Choice => ({
  usable: carrier ? [{ route: null, carrier, isLiveSimulated: false }] : [],
  passedOver: [],
  isFirstElsewhere: false,
  isAnyDown: false,
  allowsRepeat: false,
});

/** By priority; routes of equal priority in random order, weighted (exponential draw). */
function drawn(routes: readonly Route[]): readonly Route[] {
  const keyed = routes.map((route) => ({
    route,
    draw: -Math.log(1 - Math.random()) / Math.max(route.content.weight, 1e-9),
  }));
  return keyed
    .toSorted((a, b) => a.route.content.priority - b.route.content.priority || a.draw - b.draw)
    .map(({ route }) => route);
}
