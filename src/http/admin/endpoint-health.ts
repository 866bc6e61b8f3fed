import { nullable, Type } from "../../lib/schema.ts";
import { refuseFaults, type Fault } from "../../model/problem.ts";
import { readMoment } from "../pagination.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services, type WithBody } from "../route.ts";
import { findEndpoint, refuseDisabled } from "./find-endpoint.ts";
import type { RecordDocs } from "./record-shapes.ts";

/** Limits of one request; the client repeats it to resend more. */
const RECOVER_STEPS_MAX = 100;
const RECOVER_AT_ONCE = 1000;

/** Operations for the health of an endpoint and for resending its undelivered callbacks. */
export function healthRoutes(
  docs: RecordDocs,
  item: Pick<KeyedRoute, "family" | "scope" | "testKeys" | "group" | "params" | "problems">,
): readonly KeyedRoute[] {
  const { singular, plural } = docs.type;
  return [
    {
      ...item,
      method: "GET",
      path: `/api/${plural}/:id/health`,
      summary: `Get ${singular} health`,
      description: "Returns recent delivery results and the state of its queue and circuit breaker on this node.",
      response: HealthView,
      responseExample: healthExample,
      handle: (services, call) => getHealth(docs, services, call),
    },
    keyedRoute({
      ...item,
      method: "POST",
      path: `/api/${plural}/:id/recover`,
      summary: `Resend undelivered ${singular} callbacks`,
      description: `Sends at once all callbacks of the ${singular} for events since the given time that have not been delivered: those that have failed permanently and those that wait for their next attempt. At most ${RECOVER_STEPS_MAX * RECOVER_AT_ONCE} per request: repeat it while \`more\` is true.`,
      problems: ["RECORD_NOT_FOUND", "NOT_RESENDABLE"],
      body: RecoverBody,
      requestExamples: { "since a time": { since: "2026-01-01T00:00:00Z" } },
      response: Recovered,
      responseExample: { resent: 213, more: false },
      handle: (services, call) => recover(docs, services, call),
    }),
  ];
}

const HealthView = Type.Object(
  {
    enabled: Type.Boolean({ description: "True if callbacks are sent." }),
    disabledReason: nullable(Type.String(), "Reason for automatic disabling."),
    failingSince: nullable(
      Type.Integer(),
      "Start of the current failures, in epoch milliseconds; null if deliveries succeed.",
    ),
    lastSuccessAt: nullable(Type.Integer(), "Time of the last success. Updated at most once a minute."),
    lastFailureAt: nullable(Type.Integer(), "Time of the last failure. Updated at most once a minute."),
    lastFailure: nullable(Type.String(), "Reason of the last failure."),
    waitingCallbacks: Type.Integer({
      description: "Callbacks waiting on all nodes. They are kept while the endpoint is disabled.",
    }),
    node: nullable(
      Type.Object({
        inFlight: Type.Integer({ description: "Requests in flight." }),
        allowed: Type.Integer({
          description: "Limit of concurrent requests. It grows while the endpoint responds fast.",
        }),
        waiting: Type.Integer({ description: "Callbacks in this node's memory." }),
        breaker: Type.Union(
          ["closed", "open", "probing"].map((state) => Type.Literal(state)),
          {
            description:
              "closed: requests are sent. open: nearly all requests failed, none is sent for 30 seconds. probing: a few requests decide.",
          },
        ),
        openForMs: Type.Integer({ description: "Time until an open breaker starts probing." }),
      }),
      "State on the node that responds; null if the node sends no callbacks.",
    ),
  },
  { title: "EndpointHealth" },
);

const healthExample = {
  enabled: true,
  disabledReason: null,
  failingSince: null,
  lastSuccessAt: 1767225600250,
  lastFailureAt: null,
  lastFailure: null,
  waitingCallbacks: 0,
  node: { inFlight: 0, allowed: 10, waiting: 0, breaker: "closed", openForMs: 0 },
};

async function getHealth(docs: RecordDocs, services: Services, call: AuthenticCall): Promise<object> {
  const { store, webhookDispatcher } = services;
  const { accountId, id, content } = await findEndpoint(docs, services, call);
  const health = await store.findHealth(accountId, id);
  const here = webhookDispatcher?.healthOf(accountId, id);
  return {
    enabled: content.enabled,
    disabledReason: content.disabledReason,
    failingSince: health?.failingSince ?? null,
    lastSuccessAt: health?.lastSuccessAt ?? null,
    lastFailureAt: health?.lastFailureAt ?? null,
    lastFailure: health?.lastFailure ?? null,
    waitingCallbacks: await store.countWaitingOf(accountId, id),
    node: here
      ? {
          inFlight: here.inFlight,
          allowed: here.allowed,
          waiting: here.waiting,
          breaker: here.breaker,
          openForMs: Math.ceil(here.openForMs),
        }
      : null,
  };
}

const RecoverBody = Type.Object({
  since: Type.Union([Type.Integer({ minimum: 0 }), Type.String()], {
    description: "Events at or after this time: epoch milliseconds or ISO 8601.",
  }),
});

const Recovered = Type.Object({
  resent: Type.Integer({ description: "Number of callbacks resent." }),
  more: Type.Boolean({ description: "True if more callbacks may remain: repeat the request." }),
});

async function recover(
  docs: RecordDocs,
  services: Services,
  call: WithBody<AuthenticCall, typeof RecoverBody>,
): Promise<object> {
  const { store, clock, webhookDispatcher } = services;
  const faults: Fault[] = [];
  const { since } = call.body;
  const from = readMoment(since, "since", faults);
  refuseFaults(faults);
  const endpoint = await findEndpoint(docs, services, call);
  refuseDisabled(endpoint);
  const { accountId, id } = endpoint;
  let resent = 0;
  for (let steps = 0; steps < RECOVER_STEPS_MAX; steps += 1) {
    const count = await store.resendUndelivered(accountId, id, from, clock.now(), RECOVER_AT_ONCE);
    resent += count;
    if (count === RECOVER_AT_ONCE) continue;
    webhookDispatcher?.claimSoon();
    return { resent, more: false };
  }
  webhookDispatcher?.claimSoon();
  return { resent, more: true };
}
