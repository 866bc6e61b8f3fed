import { nullable } from "../../lib/nullable.ts";
import { Type } from "../../lib/schema.ts";
import type { Fault } from "../../model/problem.ts";
import { readMoment, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { findEndpoint, refuseDisabled } from "./find-endpoint.ts";
import type { Telling } from "./record-shapes.ts";

/** In one call; whoever has more to recover calls again. */
const RECOVER_STEPS_MAX = 100;
const RECOVER_AT_ONCE = 1000;

/** The doors by which one sees how an endpoint does, and makes up for what it missed. */
export function healthRoutes(
  telling: Telling,
  ofOne: Pick<KeyedRoute, "family" | "scope" | "group" | "params" | "problems">,
): readonly KeyedRoute[] {
  const { one, many } = telling.shelf;
  return [
    {
      ...ofOne,
      method: "GET",
      path: `/api/${many}/:id/health`,
      summary: `Tell how a ${one} does`,
      description: "Whether what it is told arrives, and what this node does about it.",
      response: HealthView,
      responseExample: healthExample,
      handle: (services, call) => tellHealth(telling, services, call),
    },
    {
      ...ofOne,
      method: "POST",
      path: `/api/${many}/:id/recover`,
      summary: `Send what a ${one} missed`,
      description: `Sends everything again that failed for good since a time, at most ${RECOVER_STEPS_MAX * RECOVER_AT_ONCE} callbacks in one call: while \`more\` is true, call again.`,
      problems: ["RECORD_NOT_FOUND", "NOT_RESENDABLE"],
      body: RecoverBody,
      requestExamples: { "since a moment": { since: "2026-01-01T00:00:00Z" } },
      response: Recovered,
      responseExample: { resent: 213, more: false },
      handle: (services, call) => recover(telling, services, call),
    },
  ];
}

const HealthView = Type.Object(
  {
    enabled: Type.Boolean({ description: "Whether it is told anything." }),
    disabledReason: nullable(Type.String(), "Why it was switched off by itself."),
    failingSince: nullable(
      Type.Integer(),
      "Since when nothing has arrived, in epoch milliseconds; null while it does.",
    ),
    lastSuccessAt: nullable(Type.Integer(), "When something last arrived. It is noted once a minute."),
    lastFailureAt: nullable(Type.Integer(), "When a try last failed. It is noted once a minute."),
    lastFailure: nullable(Type.String(), "Why that was."),
    node: nullable(
      Type.Object({
        inFlight: Type.Integer({ description: "Requests under way." }),
        allowed: Type.Integer({ description: "How many may be under way at once: more while it answers fast." }),
        waiting: Type.Integer({ description: "What this node has in memory for it." }),
        breaker: Type.Union(
          ["closed", "open", "probing"].map((state) => Type.Literal(state)),
          {
            description:
              "closed: it is called. open: it failed nearly always, and is left alone for half a minute. probing: a few tries decide.",
          },
        ),
        openForMs: Type.Integer({ description: "How much longer an open breaker stays so." }),
      }),
      "What the node that answers does about it; null where it calls nobody back.",
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
  node: { inFlight: 0, allowed: 10, waiting: 0, breaker: "closed", openForMs: 0 },
};

async function tellHealth(telling: Telling, services: Services, call: AuthenticCall): Promise<object> {
  const { store, teller } = services;
  const { accountId, id, content } = await findEndpoint(telling, services, call);
  const health = await store.findHealth(accountId, id);
  const here = teller?.healthOf(accountId, id);
  return {
    enabled: content.enabled,
    disabledReason: content.disabledReason,
    failingSince: health?.failingSince ?? null,
    lastSuccessAt: health?.lastSuccessAt ?? null,
    lastFailureAt: health?.lastFailureAt ?? null,
    lastFailure: health?.lastFailure ?? null,
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
    description: "What happened then or later: epoch milliseconds, or ISO 8601.",
  }),
});

const Recovered = Type.Object({
  resent: Type.Integer({ description: "How many are sent again." }),
  more: Type.Boolean({ description: "Whether there may be more: call again." }),
});

async function recover(telling: Telling, services: Services, call: AuthenticCall): Promise<object> {
  const { store, clock, teller } = services;
  const faults: Fault[] = [];
  const { since } = call.body as { since: number | string };
  const from = readMoment(since, "since", faults);
  refuseFaults(faults);
  const endpoint = await findEndpoint(telling, services, call);
  refuseDisabled(endpoint);
  const { accountId, id } = endpoint;
  let resent = 0;
  for (let steps = 0; steps < RECOVER_STEPS_MAX; steps += 1) {
    const count = await store.resendFailed(accountId, id, from, clock.now(), RECOVER_AT_ONCE);
    resent += count;
    if (count === RECOVER_AT_ONCE) continue;
    teller?.claimSoon();
    return { resent, more: false };
  }
  teller?.claimSoon();
  return { resent, more: true };
}
