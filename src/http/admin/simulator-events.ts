import type { KeyedRoute } from "../route.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { createEventFormatter, lastEventId, RESUME_PARAMETERS } from "../event-stream.ts";
import { phoneMessageView } from "./simulator-message.ts";

const messageEvent = createEventFormatter("message", phoneMessageView);

export const simulatorEvents: KeyedRoute = {
  method: "GET",
  path: "/api/simulator/events",
  family: "plain",
  scope: "manage",
  testKeys: "read",
  group: "Simulator",
  summary: "Stream simulated phone messages",
  description:
    "Server-sent events: one `message` event per message that reaches a phone of the account. " +
    "A client that reconnects with `Last-Event-ID` receives the messages it missed.",
  ...RESUME_PARAMETERS,
  problems: ["TOO_MANY_STREAMS"],
  contentType: "text/event-stream",
  response: null,
  responseExample:
    'event: message\nid: 0198f3a2-7c50-7b1e-8a51-3f0c8e2b6d47\ndata: {"to":"15550100100","text":"Hello"}\n\n',
  handle: async ({ phoneFeeds, streams }, { request, reply, query, caller }) => {
    const after = lastEventId({ request, query });
    const stream = streams.open(reply);
    const stop = phoneFeeds.follow({ accountId: caller.account.id, testOnly: seesTestsOnly(caller) }, after, {
      onMessages: (messages) => {
        for (const message of messages) stream.send(messageEvent(message, caller));
      },
      // The client reconnects with its last event id.
      onFailure: () => stream.end(),
    });
    stream.onClose(stop);
    return reply;
  },
};
