import { createEventFormatter, lastEventId, RESUME_PARAMETERS } from "../event-stream.ts";
import { newId } from "../../lib/ids.ts";
import type { LiveEvent, OmittedEvents } from "../../stats/live.ts";
import type { KeyedRoute } from "../route.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";

const movedEvent = createEventFormatter("moved", ({ messageId, channel, state, recipient, at }: LiveEvent) => ({
  messageId,
  channel,
  state,
  recipient,
  at,
}));
const receivedEvent = createEventFormatter("received", ({ at }: { id: string; at: number }) => ({ at }));
const moreEvent = createEventFormatter("more", ({ count }: OmittedEvents) => ({ count }));

export const liveRoute: KeyedRoute = {
  method: "GET",
  path: "/api/live",
  family: "plain",
  scope: "read",
  testKeys: "read",
  group: "Statistics",
  summary: "Stream message events",
  description:
    "Server-sent events: one `moved` event per message of the account that is accepted or changes its state, at most 20 per second, then a `more` event with the `count` of omitted ones; and a `received` event when users have sent something: read `/v1/conversations` then. A client that reconnects with `Last-Event-ID` receives the events it missed: all of the last minute, or the newest messages in their current state. Changes on other nodes arrive within two seconds. The stream ends within seconds after its key or session ends.",
  ...RESUME_PARAMETERS,
  problems: ["TOO_MANY_STREAMS"],
  contentType: "text/event-stream",
  response: null,
  responseExample:
    'event: moved\nid: 0198f3a2-7c50-7b1e-8a51-3f0c8e2b6d47\ndata: {"messageId":"0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1","channel":"sms","state":"delivered","recipient":"15550100100","at":1767225600016}\n\n',
  handle: async ({ live, streams, clock }, { request, reply, query, caller }) => {
    const after = lastEventId({ request, query });
    const stream = streams.open(reply);
    let gone = false;
    let leave = (): void => {
      gone = true;
    };
    stream.onClose(() => leave());
    try {
      const stop = await live.follow({ accountId: caller.account.id, testOnly: seesTestsOnly(caller) }, after, {
        onEvent: (event) => stream.send(movedEvent(event, caller)),
        onMore: (more) => stream.send(moreEvent(more, caller)),
        onReceived: () => {
          const now = clock.now();
          stream.send(receivedEvent({ id: newId(now), at: now }, caller));
        },
      });
      if (gone) stop();
      leave = stop;
    } catch {
      // The store is unavailable: the client reconnects with its last event id.
      stream.end();
    }
    return reply;
  },
};
