import { nullable } from "../../lib/nullable.ts";
import { isPlainText } from "../../lib/plain-text.ts";
import { Type } from "../../lib/schema.ts";
import { SIMULATOR, type RouteContent } from "../../model/catalog.ts";
import { CHANNELS, ROUTE_CLASSES, type Channel } from "../../model/message.ts";
import type { Fault } from "../../model/problem.ts";
import type { AccountCatalog } from "../catalog.ts";
import { NAME_MAX, type RecordKind } from "../record-kind.ts";
import { EVERYTHING } from "../samples.ts";
import { lineKind } from "./lines.ts";
import { readBusinessNumber } from "./number.ts";
import { isPrefix } from "./prefix.ts";
import { SENDER_MAX } from "./sender.ts";

type QuietHours = RouteContent["quietHours"];
type RouteFields = Omit<RouteContent, "quietHours"> & { quietHours: QuietHours | "india" };

const LIST_MAX = 1000;
const TIME_OF_DAY = /^([01][0-9]|2[0-3]):[0-5][0-9]$/;
/** What Indian rules ask of promotions. */
const INDIA: QuietHours = { from: "21:00", to: "10:00" };

const quietHours = Type.Object({
  from: Type.String({ description: "When they begin, like 21:00." }),
  to: Type.String({ description: "When they end, like 10:00; over midnight too." }),
});
const QUIET = "When promotions wait, on the recipient's clock; null for never.";

/** Quiet hours as they are stored, whatever they were given as. */
export const storedQuietHours = nullable(quietHours, QUIET);

/** Which messages go to which carrier. */
export const route: RecordKind<"route", RouteFields> = {
  kind: "route",
  name: { meaning: "For people, and in the trail of messages." },
  fields: {
    channel: Type.Union([...CHANNELS.map((channel) => Type.Literal(channel)), Type.Null()], {
      description: "The channel of messages; null, which it is unless given, fits every channel.",
    }),
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
      description:
        "Who messages are from: senders, bots, or business numbers with their plus; empty fits every sender.",
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
  read: ({ fields, named, catalog, faults }) => {
    const { channel, routeClasses, prefixes, senders, carrier, priority, weight, enabled } = fields;
    const { failoverAfterSeconds, repeatPromotionsInDoubt } = fields;
    if (named.has("carrier")) checkCarrier(carrier, catalog, faults);
    if (named.has("carrier") || named.has("channel")) checkChannel(channel, carrier, catalog, faults);
    checkPrefixes(prefixes, faults);
    return {
      channel,
      routeClasses,
      prefixes,
      senders: readSenders(channel, senders, faults),
      carrier,
      priority,
      weight,
      enabled,
      quietHours: readQuietHours(fields.quietHours, faults),
      failoverAfterSeconds,
      repeatPromotionsInDoubt,
    };
  },
};

function checkCarrier(carrier: string, catalog: AccountCatalog, faults: Fault[]): void {
  if (carrier === SIMULATOR || catalog.named("carrier").has(carrier)) return;
  const message = `There is no carrier ${JSON.stringify(carrier)}: make it at /api/carriers first, or use ${SIMULATOR}.`;
  faults.push({ parameter: "carrier", message });
}

function checkChannel(channel: Channel | null, carrier: string, catalog: AccountCatalog, faults: Fault[]): void {
  const adapter = catalog.named("carrier").get(carrier)?.content.adapter ?? "simulator";
  if (adapter === "simulator") return;
  const { title, channels } = lineKind(adapter);
  if (channel !== null && channels.includes(channel)) return;
  const message = `The carrier ${JSON.stringify(carrier)} speaks ${title}, which carries ${channels.join(" and ")} only: give the channel "${channels[0] ?? ""}".`;
  faults.push({ parameter: "channel", message });
}

function checkPrefixes(prefixes: readonly string[], faults: Fault[]): void {
  prefixes.forEach((prefix, index) => {
    if (isPrefix(prefix)) return;
    const message = "A prefix is the first 1 to 15 digits of international numbers, without a plus, like 91.";
    faults.push({ parameter: `prefixes[${index}]`, message });
  });
}

/** Held to what requests of the channel can have, because a route for anybody else would never be taken. */
function readSenders(channel: Channel | null, senders: readonly string[], faults: Fault[]): readonly string[] {
  const max = channel === "sms" ? SENDER_MAX : NAME_MAX;
  return senders.map((written, index) => {
    const isPlain = isPlainText(written) && written.trim() !== "" && written.length <= max;
    const sender = channel === "chatapp" ? readBusinessNumber(written) : isPlain ? written : null;
    if (sender !== null) return sender;
    const message =
      channel === "chatapp"
        ? "On the chat app a sender is a business number with its plus, like +15550100199."
        : `A sender is plain text of 1 to ${max} characters, as requests have it.`;
    faults.push({ parameter: `senders[${index}]`, message });
    return written;
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
