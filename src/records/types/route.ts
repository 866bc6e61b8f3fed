import { nullable, Type, type Typed } from "../../lib/schema.ts";
import { isPlainText } from "../../lib/text.ts";
import { SIMULATOR, type RouteContent } from "../../model/catalog.ts";
import { CHANNELS, ROUTE_CLASSES, type Channel } from "../../model/message.ts";
import type { Fault } from "../../model/problem.ts";
import type { AccountCatalog } from "../catalog.ts";
import { defineRecord, NAME_MAX, plainName } from "../record-type.ts";
import { MATCH_ALL } from "../sample-data.ts";
import { connectionType } from "./connections.ts";
import { readBusinessNumber } from "./number.ts";
import { isPrefix } from "./shared-fields.ts";
import { SENDER_MAX } from "./sender.ts";

type QuietHours = RouteContent["quietHours"];

const LIST_MAX = 1000;
const TIME_OF_DAY = /^([01][0-9]|2[0-3]):[0-5][0-9]$/;
const PREFIX_RULE = "A prefix must be the first 1 to 15 digits of international numbers, without plus, such as 91.";
/** TRAI rules for promotional messages in India. */
const INDIA: QuietHours = { from: "21:00", to: "10:00" };

const timeOfDay = (field: string, description: string): Typed<string> =>
  Type.String({
    description,
    check: (time) =>
      TIME_OF_DAY.test(time) ? null : `${field} must be a time of day from 00:00 to 23:59, such as 21:00.`,
  });

const quietHours = Type.Object(
  {
    from: timeOfDay("from", "Start, such as 21:00."),
    to: timeOfDay("to", "End, such as 10:00. May be on the next day."),
  },
  { check: ({ from, to }) => (from === to ? "from and to must differ: use null for no quiet hours." : null) },
);
const QUIET = "Hours during which PROMO messages wait, in the recipient's time zone; null for none.";

/** Quiet hours as stored; requests may use a preset name. */
export const storedQuietHours = nullable(quietHours, QUIET);

export const route = defineRecord({
  kind: "route",
  name: plainName("Name for your reference, shown in message timelines."),
  fields: {
    channel: Type.Default(
      Type.Union([...CHANNELS.map((channel) => Type.Literal(channel)), Type.Null()], {
        description: "Channel of messages. Defaults to null, all channels.",
      }),
      MATCH_ALL.channel,
    ),
    routeClasses: Type.Default(
      Type.Array(Type.Union(ROUTE_CLASSES.map((routeClass) => Type.Literal(routeClass))), {
        maxItems: ROUTE_CLASSES.length,
        description: "`type` of messages; empty matches all types.",
      }),
      MATCH_ALL.routeClasses,
    ),
    prefixes: Type.Default(
      Type.Array(Type.String({ check: (prefix) => (isPrefix(prefix) ? null : PREFIX_RULE) }), {
        maxItems: LIST_MAX,
        description: "First digits of the recipient's number, without plus; empty matches all numbers.",
      }),
      MATCH_ALL.prefixes,
    ),
    senders: Type.Default(
      Type.Array(Type.String(), {
        maxItems: LIST_MAX,
        description: "Senders, bots, or business numbers with plus; empty matches all senders.",
      }),
      MATCH_ALL.senders,
    ),
    carrier: Type.String({ description: "Name of a carrier." }),
    priority: Type.Default(
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        description: `Lower values are tried first. Defaults to ${MATCH_ALL.priority}, before the initial route to the simulator.`,
      }),
      MATCH_ALL.priority,
    ),
    weight: Type.Default(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description: `Share among routes of the same priority. Defaults to ${MATCH_ALL.weight}.`,
      }),
      MATCH_ALL.weight,
    ),
    enabled: Type.Default(
      Type.Boolean({ description: "True if the route is used. Defaults to true." }),
      MATCH_ALL.enabled,
    ),
    quietHours: Type.Default(
      Type.Union([quietHours, Type.Literal("india"), Type.Null()], {
        description: `${QUIET} \`india\` means 21:00 to 10:00.`,
      }),
      MATCH_ALL.quietHours,
    ),
    failoverAfterSeconds: Type.Default(
      nullable(
        Type.Integer({ minimum: 1, maximum: 86_400 }),
        "Seconds without delivery after which the next route is tried; null never fails over.",
      ),
      MATCH_ALL.failoverAfterSeconds,
    ),
    repeatPromotionsInDoubt: Type.Default(
      Type.Boolean({
        description:
          "True resends a PROMO message if it is unknown whether the carrier took it. False (default) waits for the receipt.",
      }),
      MATCH_ALL.repeatPromotionsInDoubt,
    ),
    simulateLive: Type.Default(
      Type.Boolean({
        description:
          "True lets this route to a simulated carrier take live messages even if the account has a real carrier for their channel. False (default) keeps them waiting for the real one. Messages of test keys always use the simulator.",
      }),
      false,
    ),
  },
  dependsOn: { channel: ["carrier"], senders: ["channel"], simulateLive: ["carrier"] },
  read: ({ fields, named, catalog, faults }) => {
    const { channel, routeClasses, prefixes, senders, carrier, priority, weight, enabled } = fields;
    const { failoverAfterSeconds, repeatPromotionsInDoubt, simulateLive = false } = fields;
    if (named.has("carrier")) checkCarrier(carrier, catalog, faults);
    if (named.has("carrier") || named.has("channel")) checkChannel(channel, carrier, catalog, faults);
    if (simulateLive) checkSimulateLive(carrier, catalog, faults);
    return {
      channel,
      routeClasses,
      prefixes,
      senders: readSenders(channel, senders, faults),
      carrier,
      priority,
      weight,
      enabled,
      quietHours: readQuietHours(fields.quietHours),
      failoverAfterSeconds,
      repeatPromotionsInDoubt,
      simulateLive,
    };
  },
});

function checkCarrier(carrier: string, catalog: AccountCatalog, faults: Fault[]): void {
  if (carrier === SIMULATOR || catalog.named("carrier").has(carrier)) return;
  const message = `There is no carrier ${JSON.stringify(carrier)}: create it at /api/carriers first, or use ${SIMULATOR}.`;
  faults.push({ parameter: "carrier", message });
}

function checkChannel(channel: Channel | null, carrier: string, catalog: AccountCatalog, faults: Fault[]): void {
  const adapter = catalog.named("carrier").get(carrier)?.content.adapter ?? "simulator";
  if (adapter === "simulator") return;
  const { title, channels } = connectionType(adapter);
  if (channel !== null && channels.includes(channel)) return;
  const message = `The carrier ${JSON.stringify(carrier)} uses ${title}, which supports ${channels.join(" and ")} only: set channel to "${channels[0] ?? ""}".`;
  faults.push({ parameter: "channel", message });
}

function checkSimulateLive(carrier: string, catalog: AccountCatalog, faults: Fault[]): void {
  if (carrier === SIMULATOR || catalog.isSimulated(carrier) || !catalog.named("carrier").has(carrier)) return;
  const message = `The carrier ${JSON.stringify(carrier)} is real, and simulateLive is only for routes to simulated carriers: set it to false.`;
  faults.push({ parameter: "simulateLive", message });
}

/** Senders must be valid in requests of the channel; otherwise the route would never match. */
function readSenders(channel: Channel | null, senders: readonly string[], faults: Fault[]): readonly string[] {
  const max = channel === "sms" ? SENDER_MAX : NAME_MAX;
  return senders.map((written, index) => {
    const isPlain = isPlainText(written) && written.trim() !== "" && written.length <= max;
    const sender = channel === "chatapp" ? readBusinessNumber(written) : isPlain ? written : null;
    if (sender !== null) return sender;
    const message =
      channel === "chatapp"
        ? "On the chat app a sender must be a business number with plus, such as +15550100199."
        : `A sender must be plain text of 1 to ${max} characters, as in requests.`;
    faults.push({ parameter: `senders[${index}]`, message });
    return written;
  });
}

/** Drops unknown members. */
function readQuietHours(given: QuietHours | "india"): QuietHours {
  if (given === "india") return INDIA;
  return given && { from: given.from, to: given.to };
}
