import { followPhones } from "../../carriers/simulator/wait.ts";
import { isUuid } from "../../lib/ids.ts";
import type { KeyedRoute } from "../route.ts";
import { openStream } from "../event-stream.ts";
import { phoneMessageView } from "./simulator-message.ts";

export const simulatorEvents: KeyedRoute = {
  method: "GET",
  path: "/api/simulator/events",
  family: "plain",
  scope: "manage",
  group: "Simulator",
  summary: "Follow the simulated phones",
  description:
    "Server-sent events: a `message` for each message that reaches a phone of the account. " +
    "A client that comes back with `Last-Event-ID` gets what it missed.",
  headers: { "Last-Event-ID": "The `id` of the last event seen." },
  query: { after: "The same, where headers cannot be set; the header goes first." },
  contentType: "text/event-stream",
  response: null,
  responseExample:
    'event: message\nid: 0198f3a2-7c50-7b1e-8a51-3f0c8e2b6d47\ndata: {"to":"15550100100","text":"Hello"}\n\n',
  handle: async ({ store, simulator, clock, stopping }, { request, reply, query, caller }) => {
    const last = request.headers["last-event-id"] ?? query.after;
    const after = typeof last === "string" && isUuid(last) ? last : null;
    const stream = openStream(reply, clock, stopping);
    const stop = followPhones(
      { store, simulator, clock },
      caller.account.id,
      after,
      (messages) => {
        for (const message of messages) stream.send("message", message.id, phoneMessageView(message));
      },
      // The client comes back with the id it saw last.
      () => stream.end(),
    );
    stream.onClose(stop);
    return reply;
  },
};
