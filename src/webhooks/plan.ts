import { newId } from "../lib/ids.ts";
import type { Callback, MessageCallback, StatusEvent } from "../model/callback.ts";
import { describeFailure, messageIdOf, type State } from "../model/message.ts";
import type { Acceptance, NewRecipient } from "../store/store.ts";
import type { WebhookPlanner } from "../pipeline/group-commit.ts";
import { planCallbacks, callbacksFor, isSubscribed, type FanOutDeps } from "./fan-out.ts";
import type { WebhookDispatcher } from "./dispatcher.ts";

/** Plans the callbacks of a transition before its commit; after it, the dispatcher delivers them. Next: src/webhooks/dispatcher.ts */
export function createWebhookPlanner(
  deps: FanOutDeps,
  webhookDispatcher: Pick<WebhookDispatcher, "take" | "claimSoon"> | null,
): WebhookPlanner {
  return {
    planTransition: (step) => planCallbacks(deps, step),
    planAcceptance: (request) => planAcceptance(deps, request),
    followsVerifications: (accountId) => isSubscribed(deps.catalog, accountId, "verify", "verification"),
    planVerification: (accountId, verification, at) => {
      const happening = { kind: "verification", at, verification } as const;
      // Id of the storage time, not of the event: a verification that expired while no node ran lies behind the readers' cursors.
      const eventId = newId(deps.clock.now());
      return callbacksFor(deps, accountId, eventId, "verify", happening);
    },
    planInbound: (inbound) => {
      const { accountId, channel, at } = inbound;
      // Id of the arrival time: by the phone's own time, readers' cursors may have passed it.
      const eventId = newId(deps.clock.now());
      const happening = { kind: "inbound", at, inbound } as const;
      const subscribers = deps.inboundSubscribers?.(inbound) ?? [];
      const byFacade = subscribers.map((endpointId) => ({ accountId, eventId, endpointId, happening, attempts: 0 }));
      return [...callbacksFor(deps, accountId, eventId, channel, happening), ...byFacade];
    },
    onOwnCallbacks: (callbacks) => webhookDispatcher?.take(callbacks),
    onUnownedCallbacks: () => webhookDispatcher?.claimSoon(),
  };
}

/** Callbacks for recipients that fail at acceptance, and for those whose acceptance their own callback reports. */
function planAcceptance(deps: FanOutDeps, { message, recipients }: Acceptance): Callback[] {
  const { accountId, channel, callback } = message;
  if (deps.catalog.of(accountId).endpoints.length === 0 && !callback) return [];
  return recipients.flatMap((recipient, index) => {
    if (recipient.failure === null) {
      const { createdAt, dueAt } = message;
      // A scheduled message waits in another state.
      const isDue = (recipient.dueAt ?? dueAt) <= createdAt;
      if (!isDue || !callback?.states.includes("accepted")) return [];
      return [ownCallbackOf(deps, accountId, "accepted", acceptedOf(message, recipient, index + 1), callback)];
    }
    const happening = failureOf(message, recipient, index + 1);
    const planned = callbacksFor(deps, accountId, newId(deps.clock.now()), channel, happening);
    return callback?.states.includes("rejected")
      ? [...planned, ownCallbackOf(deps, accountId, "rejected", happening, callback)]
      : planned;
  });
}

/** The event as the message's own callback reports it. */
function ownCallbackOf(
  { clock }: FanOutDeps,
  accountId: number,
  state: State,
  { message, at, gateway, errorCode, description }: Omit<StatusEvent, "kind" | "status">,
  callback: MessageCallback,
): Callback {
  const facts = { at, gateway, errorCode, description, message: { ...message, callback } };
  const happening = { kind: "state", state, ...facts } as const;
  return { accountId, eventId: newId(clock.now()), endpointId: callback.endpointId, happening, attempts: 0 };
}

const failureOf = (message: Acceptance["message"], recipient: NewRecipient, n: number): StatusEvent => ({
  ...acceptedOf(message, { ...recipient, credits: 0 }, n),
  kind: "status",
  status: "failed",
  errorCode: recipient.failure,
  description: describeFailure(recipient.failure),
});

function acceptedOf(
  { requestId, channel, sender, createdAt }: Acceptance["message"],
  { number, credits }: NewRecipient,
  n: number,
): Omit<StatusEvent, "kind" | "status"> {
  return {
    at: createdAt,
    message: {
      messageId: messageIdOf({ requestId, n }),
      channel,
      recipient: number,
      sender,
      credits,
      createdAt,
      session: false,
    },
    gateway: "",
    errorCode: null,
    description: null,
  };
}
