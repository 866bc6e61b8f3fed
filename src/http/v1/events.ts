import { Type } from "../../lib/schema.ts";
import { CHANNELS } from "../../model/message.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { eventJson } from "../../webhooks/event-json.ts";
import { readLimit, readTime, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { readCursor, readOn, rowsToRead, startAt, writeCursor, type Place } from "./event-cursor.ts";

/** The cursor of whoever wants to know only what happens from now on. */
const NOW = "now";

async function getEvents({ store, clock, telling }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const now = clock.now();
  const place = readPlace(query, now, faults);
  refuseFaults(faults);
  const rows = await store.listEvents(caller.account.id, place.floor, rowsToRead(place, limit));
  const { page, next } = readOn(place, rows, { limit, now });
  return { data: page.flatMap((callback) => eventJson(telling, callback) ?? []), nextCursor: writeCursor(next) };
}

function readPlace(query: AuthenticCall["query"], now: number, faults: Fault[]): Place {
  const { cursor } = query;
  const from = readTime(query, "from", faults);
  if (cursor !== undefined && from !== undefined)
    throw new Problem("INVALID_REQUEST", { message: "cursor and from both say where to begin: give one of them." });
  if (cursor === undefined) return startAt(from ?? 0);
  const place = cursor === NOW ? startAt(now) : readCursor(cursor);
  if (place) return place;
  faults.push({ parameter: "cursor", message: `cursor is the nextCursor of an earlier answer, or ${NOW}.` });
  return startAt(now);
}

const EventView = Type.Object(
  {
    eventId: Type.String({ description: "The `webhook-id` under which it is pushed." }),
    channel: Type.String({ description: `${CHANNELS.join(", ")}.` }),
    event: Type.String({
      description: "delivery_report, message_status, message_sent, user_message, link_click or verification_status.",
    }),
    at: Type.Integer({ description: "When it happened, in epoch milliseconds." }),
    payload: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          "What a webhook of its channel has as its body; of a delivery report, all eleven fields as a POST has them.",
      },
    ),
  },
  { title: "Event" },
);

export const listEvents: KeyedRoute = {
  method: "GET",
  path: "/v1/events",
  family: "plain",
  scope: "read",
  group: "Events",
  summary: "Read events",
  description:
    "The safety net under callbacks: everything that webhooks and delivery reports of the account were told or are to be told, oldest first, whether or not it arrived. " +
    "Keep `nextCursor`, which is always given, and ask again with it for what is new: nothing is left out, and nothing comes twice. " +
    "What nobody asks for has no events: there must be a webhook or a dlr-config for it. Events are kept as long as texts are.",
  query: {
    cursor:
      "The nextCursor of the answer before; `now` begins with what happens from now on. Without it, with the oldest.",
    from: "Begin with what happened at this time or later, instead of a cursor: epoch milliseconds or ISO 8601.",
    limit: { meaning: "1 to 200, 50 unless given.", example: "20" },
  },
  response: Type.Object({
    data: Type.Array(EventView, { description: "What is new. A full page may not be all: ask again at once." }),
    nextCursor: Type.String({ description: "Where to go on, also from an empty page. Keep it as it is." }),
  }),
  responseExample: {
    data: [
      {
        eventId: "0198f3a2-7c60-7a1e-8a51-3f0c8e2b6d47",
        channel: "rcs",
        event: "message_status",
        at: 1767225600250,
        payload: {
          botId: "heliograph",
          channel: "rcs",
          event: "message_status",
          messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
          statuses: { eventId: "0198f3a2-7c60-7a1e-8a51-3f0c8e2b6d47", status: "delivered", timestamp: 1767225600 },
        },
      },
    ],
    nextCursor: "0198f3a2-7c60-7a1e-8a51-3f0c8e2b6d47",
  },
  handle: getEvents,
};
