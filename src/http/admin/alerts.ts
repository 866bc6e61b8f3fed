import { alertRulesOf } from "../../alerts/rules.ts";
import { isUuid } from "../../lib/ids.ts";
import { nullable, Type } from "../../lib/schema.ts";
import { ALERT_KINDS, ALERT_STATES, describeAlert, type Alert } from "../../model/alert.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { readLimit } from "../pagination.ts";
import { choiceParameter, pageParameters } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services } from "../route.ts";

const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const MINUTE_MS = 60_000;
const WEEK_MINUTES = 10_080;

const view = (alert: Alert): object => ({
  id: alert.id,
  alert: alert.alert,
  rule: alert.ruleName,
  subject: alert.subject,
  subjectName: alert.subjectName,
  state: alert.state,
  description: describeAlert(alert),
  value: alert.value,
  threshold: alert.threshold,
  openedAt: alert.openedAt,
  resolvedAt: alert.resolvedAt,
  acknowledgedAt: alert.acknowledgedAt,
  acknowledgedBy: alert.acknowledgedBy,
  mutedUntil: alert.mutedUntil,
});

const time = (description: string) => nullable(Type.Integer(), description);
const kind = Type.Union(
  ALERT_KINDS.map((each) => Type.Literal(each)),
  { description: "The fault." },
);

const AlertView = Type.Object(
  {
    id: Type.String({ description: "Alert ID." }),
    alert: kind,
    rule: Type.String({ description: "Name of its rule when it opened." }),
    subject: Type.String({
      description: "Carrier, endpoint ID, channel or message type; empty for the account or the service.",
    }),
    subjectName: Type.String({ description: "Name of the subject." }),
    state: Type.Union(
      ALERT_STATES.map((state) => Type.Literal(state)),
      { description: "open: the fault lasts. resolved: it ended, or its rule was switched off." },
    ),
    description: Type.String({ description: "The alert as a sentence." }),
    value: Type.Integer({ description: "Value when it opened, in the unit of the threshold." }),
    threshold: Type.Integer({ description: "Threshold of the rule when it opened; 0 without one." }),
    openedAt: Type.Integer({ description: "Epoch milliseconds." }),
    resolvedAt: time("Time of its end; null while it is open."),
    acknowledgedAt: time("Time of its acknowledgement; null before."),
    acknowledgedBy: nullable(Type.String(), "User or API key that acknowledged it; null before."),
    mutedUntil: time(
      "Until then neither its end nor a new alert of the same rule and subject is sent; null if not muted.",
    ),
  },
  { title: "Alert" },
);

const example = {
  id: EXAMPLE_ID,
  alert: "carrier_down",
  rule: "Carrier down",
  subject: "operator",
  subjectName: "operator",
  state: "open",
  description: "Carrier operator is down for 2 minutes or longer.",
  value: 2,
  threshold: 2,
  openedAt: 1767225600000,
  resolvedAt: null,
  acknowledgedAt: null,
  acknowledgedBy: null,
  mutedUntil: null,
};

const AppliedRule = Type.Object(
  {
    id: nullable(Type.String(), "ID of the record at `/api/alert-rules`; null for a usual rule."),
    name: Type.String({ description: "Name." }),
    alert: kind,
    threshold: Type.Integer({ description: "Threshold that applies; 0 without one." }),
    windowMinutes: Type.Integer({ description: "Minutes that rates count." }),
    minimum: Type.Integer({ description: "Smallest number in the window." }),
    enabled: Type.Boolean({ description: "False if it is switched off." }),
    usual: Type.Boolean({ description: "True for a rule that applies until the account has its own." }),
  },
  { title: "AppliedAlertRule" },
);

const common = { family: "plain", scope: "manage", testKeys: null, group: "Alerts" } as const;
const ofOne = {
  ...common,
  params: { id: { meaning: "Alert ID.", example: EXAMPLE_ID } },
  problems: ["RECORD_NOT_FOUND"],
  response: AlertView,
} as const;

async function find({ store }: Services, { caller, params }: AuthenticCall): Promise<Alert> {
  const { id = "" } = params;
  const alert = isUuid(id) ? await store.findAlert({ accountId: caller.account.id, id }) : null;
  if (!alert) throw new Problem("RECORD_NOT_FOUND");
  return alert;
}

/** The service's own alerts belong to the first account. */
async function isFirst({ store }: Services, { caller }: AuthenticCall): Promise<boolean> {
  const accounts = await store.listAccounts();
  return accounts.every(({ id }) => id >= caller.account.id);
}

const MuteBody = Type.Object({
  minutes: nullable(
    Type.Integer({ minimum: 1, maximum: WEEK_MINUTES }),
    "Minutes from now, at most a week (10,080); null ends the mute.",
  ),
});

export const alertRoutes: readonly KeyedRoute[] = [
  {
    ...common,
    method: "GET",
    path: "/api/alerts",
    summary: "List alerts",
    description:
      "Lists alerts, newest first. An alert opens once and resolves once; of one rule and subject, one is open at a time. They are kept for as long as messages are.",
    query: {
      state: { ...choiceParameter(ALERT_STATES, "Only alerts in this state."), example: "open" },
      ...pageParameters(EXAMPLE_ID),
    },
    response: Type.Object({
      data: Type.Array(AlertView, { description: "Alerts on this page." }),
      nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
    }),
    responseExample: { data: [example], nextCursor: null },
    handle: async ({ store }, { caller, query }) => {
      const faults: Fault[] = [];
      const limit = readLimit(query, faults);
      const state = ALERT_STATES.find((known) => known === query.state);
      if (query.state !== undefined && !state)
        faults.push({ parameter: "state", message: `state is one of ${ALERT_STATES.join(", ")}.` });
      if (query.cursor !== undefined && !isUuid(query.cursor))
        faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
      refuseFaults(faults);
      const { rows, next } = await store.listAlerts(
        caller.account.id,
        { ...(state && { state }) },
        query.cursor ?? null,
        limit,
      );
      return { data: rows.map(view), nextCursor: next };
    },
  },
  {
    ...common,
    method: "GET",
    path: "/api/alerts/rules",
    summary: "List the alert rules that apply",
    description:
      "Lists the account's own rules, and the usual rules of all faults for which it has none. The usual rules about the service, `queue_age` and `certificate_expiry`, apply in the first account only.",
    response: Type.Object({ data: Type.Array(AppliedRule, { description: "Rules." }) }),
    responseExample: {
      data: [
        {
          id: null,
          name: "Carrier down",
          alert: "carrier_down",
          threshold: 2,
          windowMinutes: 60,
          minimum: 100,
          enabled: true,
          usual: true,
        },
      ],
    },
    handle: async (services, call) => {
      const catalog = services.catalog.of(call.caller.account.id);
      const rules = alertRulesOf(catalog, await isFirst(services, call));
      return {
        data: rules.map(({ id, isUsual, ...rule }) => ({ id: isUsual ? null : id, ...rule, usual: isUsual })),
      };
    },
  },
  {
    ...ofOne,
    method: "GET",
    path: "/api/alerts/:id",
    summary: "Get an alert",
    description: "Returns an alert.",
    responseExample: example,
    handle: async (services, call) => view(await find(services, call)),
  },
  {
    ...ofOne,
    method: "POST",
    path: "/api/alerts/:id/acknowledge",
    summary: "Acknowledge an alert",
    description: "Notes that a person takes care of it. The header of the dashboard no longer counts it.",
    responseExample: { ...example, acknowledgedAt: 1767225660000, acknowledgedBy: "ann@example.com" },
    handle: async (services, call) => {
      const alert = await find(services, call);
      await services.store.acknowledgeAlert(alert, call.caller.actor.name ?? "", services.clock.now());
      return view(await find(services, call));
    },
  },
  keyedRoute({
    ...ofOne,
    method: "POST",
    path: "/api/alerts/:id/mute",
    summary: "Mute an alert",
    description:
      "Sends neither webhook events nor e-mails about the rule and subject of this alert until a time: neither its end nor a new alert. The list still shows them.",
    body: MuteBody,
    requestExamples: { "an hour": { minutes: 60 }, "end the mute": { minutes: null } },
    responseExample: { ...example, mutedUntil: 1767229200000 },
    handle: async (services, call) => {
      const alert = await find(services, call);
      const { minutes } = call.body;
      await services.store.muteAlert(alert, minutes === null ? null : services.clock.now() + minutes * MINUTE_MS);
      return view(await find(services, call));
    },
  }),
];
