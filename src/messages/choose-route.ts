import type { Carrier, Carriers } from "../carriers/carrier.ts";
import type { AccountCatalog, Catalog } from "../catalog/catalog.ts";
import { SIMULATOR, type CatalogRecord, type RouteContent } from "../model/catalog.ts";
import type { Message } from "../model/message.ts";
import type { PassedOver } from "../model/trail.ts";

type Route = CatalogRecord<"route">;

/** What of a message decides about its route. */
export type Routable = Pick<Message, "channel" | "routeClass" | "sender" | "recipient">;

/** All routes that a message could take, those to be tried first in front. */
export const routesFor = ({ routes }: AccountCatalog, message: Routable): readonly Route[] =>
  // Most accounts have one route for everything, and asking it is all there is to do.
  routes.length === 1 && routes[0] && isOpen(routes[0].content, message.channel)
    ? routes
    : routes.filter(({ content }) => matches(content, message));

const isOpen = (route: RouteContent, channel: Message["channel"]): boolean =>
  (route.channel === null || route.channel === channel) &&
  route.routeClasses.length === 0 &&
  route.prefixes.length === 0 &&
  route.senders.length === 0;

function matches(route: RouteContent, message: Routable): boolean {
  if (route.channel !== null && route.channel !== message.channel) return false;
  if (route.routeClasses.length > 0 && !route.routeClasses.includes(message.routeClass)) return false;
  if (route.senders.length > 0 && !route.senders.includes(message.sender)) return false;
  return route.prefixes.length === 0 || route.prefixes.some((prefix) => message.recipient.startsWith(prefix));
}

/** Whether a carrier is a simulated one, where nobody is called and nothing costs money. */
export const isSimulated = (catalog: AccountCatalog, carrier: string): boolean =>
  carrier === SIMULATOR || catalog.named("carrier").get(carrier)?.content.adapter === "simulator";

/** The quiet hours of the routes that may be drawn first: with equal priorities, those of any of them. */
export const quietHoursOf = (routes: readonly Route[]): RouteContent["quietHours"] =>
  routes.find(({ content }) => content.priority === routes[0]?.content.priority && content.quietHours)?.content
    .quietHours ?? null;

export interface ChooseNeeds {
  catalog: Catalog;
  carriers: Carriers;
}

/** A way to the phone. Messages of a test key have no route of the account's. */
export interface Candidate {
  route: Route | null;
  carrier: Carrier;
}

/** The ways that a message could go now. */
export interface Choice {
  /** In the order they are to be tried. */
  usable: readonly Candidate[];
  passedOver: readonly PassedOver[];
  /** Whether the first choice is a line that other nodes have. */
  elsewhere: boolean;
  /** Whether a promotion in doubt may be sent again: its route says so, or the carrier that may have it knows a repeat. */
  repeats: boolean;
}

const ELSEWHERE = "Other nodes have the line";

/**
 * The carriers that could take a message now. Routes of a lower priority number come first; among equals the draw is by weight.
 * A test key's messages go to the simulator whatever else is configured.
 */
export function candidatesFor(
  { catalog, carriers }: ChooseNeeds,
  message: Message,
  admittedTo: string | null = null,
): Choice {
  if (message.test) {
    const carrier = carriers.find(message.accountId, SIMULATOR);
    return { usable: carrier ? [{ route: null, carrier }] : [], passedOver: [], elsewhere: false, repeats: false };
  }
  const usable: Candidate[] = [];
  let elsewhere = false;
  let knowsRepeat = false;
  const passedOver: PassedOver[] = [];
  const routes = routesFor(catalog.of(message.accountId), message);
  for (const route of routes.length > 1 ? drawn(routes) : routes) {
    const name = route.content.carrier;
    const carrier = carriers.find(message.accountId, name);
    const reason = message.tried.includes(route.id)
      ? "It brought no delivery before"
      : message.state === "submitting" && carrier?.name !== message.carrier
        ? "Another carrier may have the message"
        : !carrier
          ? "There is no such carrier"
          : carrier.isElsewhere?.()
            ? ELSEWHERE
            : carrier.isUp()
              ? null
              : "The carrier is down";
    if (message.state === "submitting" && carrier?.name === message.carrier && carrier.repeatsSafely)
      knowsRepeat = true;
    if (reason === ELSEWHERE && usable.length === 0) elsewhere = true;
    if (reason === null && carrier) usable.push({ route, carrier });
    else passedOver.push({ route: route.name, carrier: name, reason: reason ?? "" });
  }
  // Whoever has waited for a carrier's turn does not draw another one.
  const waitedFor = usable.findIndex(({ carrier }) => carrier.name === admittedTo);
  if (waitedFor > 0) usable.unshift(...usable.splice(waitedFor, 1));
  if (waitedFor >= 0) elsewhere = false;
  const repeats = knowsRepeat || (routes[0]?.content.repeatPromotionsInDoubt ?? false);
  return { usable, passedOver, elsewhere, repeats };
}

/** By priority; among equals at random, each as often as its weight says. */
function drawn(routes: readonly Route[]): readonly Route[] {
  const keyed = routes.map((route) => ({
    route,
    draw: -Math.log(1 - Math.random()) / Math.max(route.content.weight, 1e-9),
  }));
  return keyed
    .toSorted((a, b) => a.route.content.priority - b.route.content.priority || a.draw - b.draw)
    .map(({ route }) => route);
}
