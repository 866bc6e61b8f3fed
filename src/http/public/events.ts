import { Type } from "../../lib/schema.ts";
import { messageIdIn } from "../../model/callback.ts";
import { SEND_CHANNELS } from "../../model/message.ts";
import { refuseFaults, type Fault } from "../../model/problem.ts";
import type { StoredEvent } from "../../store/callbacks.ts";
import { eventJson } from "../../webhooks/payloads/event-json.ts";
import { readLimit, readTime } from "../pagination.ts";
import { limitParameter, textParameter, timeParameter } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { eventsVisibleTo } from "../auth/test-mode.ts";
import { decodeCursor, encodeCursor, nextPage, rowsToRead, startAt, type EventPosition } from "./event-cursor.ts";

/** Cursor for events from now on. */
const NOW = "now";

async function getEvents({ store, clock, deliverDeps }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const now = clock.now();
  const position = readPosition(query, now, faults);
  refuseFaults(faults);
  const rows = await store.listEvents(caller.account.id, position.floor, rowsToRead(position, limit));
  const { page, next } = nextPage(position, rows, { limit, now });
  const visible = await eventsVisibleTo(store, caller, page);
  return {
    data: sortedWithinMessages(visible).flatMap((callback) => eventJson(deliverDeps, callback) ?? []),
    nextCursor: encodeCursor(next),
  };
}

/** Sorts the events of each message by commit. Ids alone do not, because they carry the clocks of different nodes. */
function sortedWithinMessages(page: readonly StoredEvent[]): StoredEvent[] {
  const byMessage = Map.groupBy(page, ({ happening, eventId }) => messageIdIn(happening) ?? eventId);
  for (const events of byMessage.values()) events.sort((a, b) => a.seq - b.seq);
  return page.flatMap(({ happening, eventId }) => byMessage.get(messageIdIn(happening) ?? eventId)?.shift() ?? []);
}

function readPosition(query: AuthenticCall["query"], now: number, faults: Fault[]): EventPosition {
  const { cursor } = query;
  const from = readTime(query, "from", faults);
  const begin = startAt(from ?? 0);
  if (cursor === undefined) return begin;
  const position = cursor === NOW ? startAt(now) : decodeCursor(cursor);
  // A reader that keeps `from` while paging is past it after the first page.
  if (position) return begin.floor > position.floor ? begin : position;
  faults.push({ parameter: "cursor", message: `cursor is the nextCursor of an earlier response, or ${NOW}.` });
  return startAt(now);
}

const EventView = Type.Object(
  {
    eventId: Type.String({ description: "ID of the event: the `webhook-id` of its webhook request." }),
    channel: Type.String({ description: `${SEND_CHANNELS.join(", ")}.` }),
    event: Type.String({
      description:
        "delivery_report, message_status, message_sent, user_message, link_click, verification_status or alert_status.",
    }),
    at: Type.Integer({ description: "Time of the event in epoch milliseconds." }),
    payload: Type.Object(
      {},
      {
        additionalProperties: true,
        description: "Body of the webhook for this event. A delivery report has all eleven fields.",
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
  testKeys: "read",
  group: "Events",
  summary: "Read events",
  description:
    "Safety net for callbacks: lists all events of the account's webhooks and delivery reports, oldest first, delivered or not. " +
    "Keep `nextCursor`, which is always given, and ask again with it for what is new: nothing is left out, and nothing comes twice. " +
    "Only subscribed events are listed: create a webhook or dlr-config for them. Events are kept for as long as texts are.",
  query: {
    cursor: textParameter(
      "The `nextCursor` of the previous response. `now` starts with future events; without a cursor, the oldest event comes first.",
      "now",
    ),
    from: timeParameter("Only events at this time or later: epoch milliseconds or ISO 8601."),
    limit: limitParameter,
  },
  response: Type.Object({
    data: Type.Array(EventView, { description: "New events. After a full page request the next one at once." }),
    nextCursor: Type.String({ description: "Cursor of the next page, also on an empty page. Store it unchanged." }),
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
