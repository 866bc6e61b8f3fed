import Type from "typebox";
import type { AccountCatalog } from "../../catalog/catalog.ts";
import { EVERYTHING } from "../../catalog/samples.ts";
import { SIMULATOR, type RouteContent } from "../../model/catalog.ts";
import { ROUTE_CLASSES } from "../../model/message.ts";
import type { Fault } from "../../model/problem.ts";
import { isPlainText } from "../../lib/plain-text.ts";
import { nullable, recordRoutes } from "./records.ts";
import { SENDER_MAX } from "./senders.ts";

type QuietHours = RouteContent["quietHours"];
type RouteFields = Omit<RouteContent, "quietHours"> & { quietHours: QuietHours | "india" };

const LIST_MAX = 1000;
const PREFIX = /^[1-9][0-9]{0,14}$/;
const TIME_OF_DAY = /^([01][0-9]|2[0-3]):[0-5][0-9]$/;
/** What Indian rules ask of promotions. */
const INDIA: QuietHours = { from: "21:00", to: "10:00" };

export const isPrefix = (value: string): boolean => PREFIX.test(value);

function checkCarrier(carrier: string, catalog: AccountCatalog, faults: Fault[]): void {
  if (carrier === SIMULATOR || catalog.named("carrier").has(carrier)) return;
  const message = `There is no carrier ${JSON.stringify(carrier)}: make it at /api/carriers first, or use ${SIMULATOR}.`;
  faults.push({ parameter: "carrier", message });
}

function checkLists({ prefixes, senders }: RouteFields, faults: Fault[]): void {
  prefixes.forEach((prefix, index) => {
    if (isPrefix(prefix)) return;
    const message = "A prefix is the first 1 to 15 digits of international numbers, without a plus, like 91.";
    faults.push({ parameter: `prefixes[${index}]`, message });
  });
  senders.forEach((sender, index) => {
    if (isPlainText(sender) && sender.trim() !== "" && sender.length <= SENDER_MAX) return;
    const message = `A sender is plain text of 1 to ${SENDER_MAX} characters, as requests have it.`;
    faults.push({ parameter: `senders[${index}]`, message });
  });
}

function readQuietHours(given: RouteFields["quietHours"], faults: Fault[]): QuietHours {
  if (given === "india") return INDIA;
  if (given === null) return null;
  const { from, to } = given;
  for (const [field, time] of Object.entries({ from, to })) {
    if (TIME_OF_DAY.test(time)) continue;
    faults.push({
      parameter: `quietHours.${field}`,
      message: `${field} is a time of day from 00:00 to 23:59, like 21:00.`,
    });
  }
  if (from === to)
    faults.push({ parameter: "quietHours", message: "from and to are the same: give null for no quiet hours." });
  return { from, to };
}

const quietHours = Type.Object({
  from: Type.String({ description: "When they begin, like 21:00." }),
  to: Type.String({ description: "When they end, like 10:00; over midnight too." }),
});
const QUIET = "When promotions wait, on the recipient's clock; null for never.";

const contentExample: RouteContent = {
  ...EVERYTHING,
  carrier: "simulator",
  routeClasses: ["PROMO"],
  prefixes: ["91"],
  quietHours: INDIA,
};

/** Which messages go to which carrier. */
export const routeRoutes = recordRoutes<"route", RouteFields>({
  kind: "route",
  about:
    "Which messages go to which carrier. Of the routes that fit a message, the one with the lowest `priority` is tried first; among equals `weight` decides.",
  name: { meaning: "For people, and in the trail of messages.", example: "Promotions to India" },
  fields: {
    channel: Type.Literal("sms", { description: "sms, which it is unless given." }),
    routeClasses: Type.Array(Type.Union(ROUTE_CLASSES.map((routeClass) => Type.Literal(routeClass))), {
      maxItems: ROUTE_CLASSES.length,
      description: "The `type` of messages; empty fits every type.",
    }),
    prefixes: Type.Array(Type.String(), {
      maxItems: LIST_MAX,
      description: "First digits of the recipients' numbers, without a plus; empty fits every number.",
    }),
    senders: Type.Array(Type.String(), {
      maxItems: LIST_MAX,
      description: "The `sender` of messages; empty fits every sender.",
    }),
    carrier: Type.String({ description: "The name of a carrier." }),
    priority: Type.Integer({ minimum: 0, maximum: 1000, description: "Lower ones are tried first; 100 unless given." }),
    weight: Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: "Share among routes of the same priority; 1 unless given.",
    }),
    enabled: Type.Boolean({ description: "Whether it is used; true unless given." }),
    quietHours: Type.Union([quietHours, Type.Literal("india"), Type.Null()], {
      description: `${QUIET} \`india\` stands for 21:00 to 10:00.`,
    }),
    failoverAfterSeconds: nullable(
      Type.Integer({ minimum: 1, maximum: 86_400 }),
      "Without a delivery within so long, the next route is tried; null waits for ever.",
    ),
    repeatPromotionsInDoubt: Type.Boolean({
      description:
        "Whether a promotion is sent again when nobody knows if the carrier took it; false, which it is unless given, waits for the delivery report.",
    }),
  },
  defaults: EVERYTHING,
  shown: { quietHours: nullable(quietHours, QUIET) },
  contentExample,
  createExamples: {
    "promotions to India": {
      name: "Promotions to India",
      routeClasses: ["PROMO"],
      prefixes: ["91"],
      carrier: "simulator",
      priority: 50,
      quietHours: "india",
    },
    "second choice": { name: "Second choice", carrier: "simulator", priority: 200 },
  },
  changeExamples: { "off for now": { enabled: false }, "half a minute": { failoverAfterSeconds: 30 } },
  read: ({ fields, named, catalog, faults }) => {
    if (named.has("carrier")) checkCarrier(fields.carrier, catalog, faults);
    checkLists(fields, faults);
    const { channel, routeClasses, prefixes, senders, carrier, priority, weight, enabled } = fields;
    const { failoverAfterSeconds, repeatPromotionsInDoubt } = fields;
    return {
      channel,
      routeClasses,
      prefixes,
      senders,
      carrier,
      priority,
      weight,
      enabled,
      quietHours: readQuietHours(fields.quietHours, faults),
      failoverAfterSeconds,
      repeatPromotionsInDoubt,
    };
  },
});
