import { isUuid } from "../../lib/ids.ts";
import { openStream } from "../event-stream.ts";
import type { KeyedRoute } from "../route.ts";

/** What happens to the account's messages, as it happens. */
export const liveRoute: KeyedRoute = {
  method: "GET",
  path: "/api/live",
  family: "plain",
  scope: "read",
  group: "Statistics",
  summary: "Follow messages as they move",
  description:
    "Server-sent events: a `moved` for each message of the account that is accepted or comes into another state, at most 20 in a second; after these a `more` with the `count` of those that were left out. A client that comes back with `Last-Event-ID` gets what it missed: every event of the last minute, or the newest messages as they are now. What other nodes did comes within a second or two. The stream ends within seconds when its key or session does.",
  headers: { "Last-Event-ID": "The `id` of the last event seen." },
  query: { after: "The same, where headers cannot be set; the header goes first." },
  contentType: "text/event-stream",
  response: null,
  responseExample:
    'event: moved\nid: 0198f3a2-7c50-7b1e-8a51-3f0c8e2b6d47\ndata: {"messageId":"0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1","channel":"sms","state":"delivered","recipient":"15550100100","at":1767225600016}\n\n',
  handle: async ({ live, clock, stopping }, { request, reply, query, caller }) => {
    const last = request.headers["last-event-id"] ?? query.after;
    const after = typeof last === "string" && isUuid(last) ? last : null;
    const stream = openStream(reply, clock, stopping);
    let gone = false;
    let leave = (): void => {
      gone = true;
    };
    stream.onClose(() => leave());
    try {
      const stop = await live.follow(caller.account.id, after, {
        onEvent: ({ id, messageId, channel, state, recipient, at }) =>
          stream.send("moved", id, { messageId, channel, state, recipient, at }),
        onMore: (id, count) => stream.send("more", id, { count }),
      });
      if (gone) stop();
      leave = stop;
    } catch {
      // The store cannot be read: the client comes back with the id it saw last.
      stream.end();
    }
    return reply;
  },
};
