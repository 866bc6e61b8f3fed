import { readRecord } from "../../records/read-record.ts";
import { newSchema } from "../../records/record-type.ts";
import { isUuid } from "../../lib/ids.ts";
import { isObject } from "../../lib/json.ts";
import { nullable, Type, type Fields } from "../../lib/schema.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { rotateSecret } from "../../webhooks/rotate-secret.ts";
import { isSecret, newSecret } from "../../webhooks/sign.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services, type WithBody } from "../route.ts";
import { healthRoutes } from "./endpoint-health.ts";
import { findEndpoint } from "./find-endpoint.ts";
import { recordViewSchema, type RecordDocs } from "./record-shapes.ts";
import { create, EXAMPLE_ID, exampleOf, recordRoutes, viewOf } from "./records.ts";
import { trialRoutes } from "./trials.ts";

const HOUR_MS = 3_600_000;
const OVERLAP_HOURS_MAX = 168;
const EXAMPLE_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** Fields of an endpoint that only responses have. */
export const endpointView: Fields = {
  disabledReason: nullable(Type.String(), "Reason for automatic disabling; null if enabled or disabled by a user."),
  oldSecretUntil: nullable(
    Type.Integer(),
    "Time until which previous secrets also sign, in epoch milliseconds; null if none does.",
  ),
};

/** All operations of an endpoint: records, secret rotation, test events, health and resending. */
export function endpointRoutes(docs: RecordDocs): readonly KeyedRoute[] {
  const [{ definition, title }] = docs.definitions;
  const View = recordViewSchema(docs);
  const example = exampleOf(docs.definitions[0]);
  const WithSecret = Type.Intersect(
    [View, Type.Object({ secret: Type.String({ description: "Signing secret. Shown only once." }) })],
    { title: `${title}WithSecret` },
  );
  const withSecret = { response: WithSecret, responseExample: { ...example, secret: EXAMPLE_SECRET } };
  const { type } = docs;
  const createRoute: Partial<KeyedRoute> = {
    ...withSecret,
    description:
      "Returns the signing secret, shown only once. Takes effect at once on this node and within five seconds on all others.",
    body: Type.Object(
      { ...newSchema(definition).properties, secret: Type.Optional(OwnSecret) },
      { title: `${title}ToMake` },
    ),
    checkBody: true,
    bodyFaults: (_fields, { catalog }, { body, caller }) =>
      faultsOf(() => readRecord(type, body, { known: null, catalog: catalog.of(caller.account.id) })),
    handle: (services, call) => createEndpoint(docs, services, call),
  };
  const WithWaiting = Type.Intersect([View, Type.Object({ waitingCallbacks: WaitingCallbacks })], {
    title: `${title}WithWaiting`,
  });
  const withWaiting = { response: WithWaiting, responseExample: { ...example, waitingCallbacks: 0 } };
  const updateRoute: Partial<KeyedRoute> = {
    ...withWaiting,
    description:
      "Changes only the fields in the request; the secret stays. `enabled: false` disables the endpoint: waiting callbacks are kept for as long as texts are, and sent after `enabled: true`, which also clears `disabledReason`. Takes effect at once on this node and within five seconds on all others.",
  };
  const deleteRoute: Partial<KeyedRoute> = {
    ...withWaiting,
    description: `Deletes the ${docs.type.singular}, drops its waiting callbacks, and returns the deleted record with their number. To keep the callbacks, disable it instead. Takes effect at once on this node and within five seconds on all others.`,
  };
  const records = recordRoutes(docs).map((route): KeyedRoute => {
    if (route.method === "POST") return { ...route, ...createRoute };
    if (route.method === "PATCH") return { ...route, ...updateRoute, handle: withCountAfter(route) };
    return route.method === "DELETE" ? { ...route, ...deleteRoute, handle: withCountBefore(route) } : route;
  });
  const item = itemRoute(docs);
  return [
    ...records,
    keyedRoute({
      ...item,
      ...withSecret,
      method: "POST",
      path: `/api/${type.plural}/:id/rotate-secret`,
      summary: `Rotate a ${type.singular} secret`,
      description:
        "Generates a new secret, shown only once. During the overlap every request is signed with the old secret too, so that the receiver can switch without downtime. At most four old secrets sign at a time.",
      body: RotateBody,
      requestExamples: { "one day": { overlapHours: 24 }, immediately: { overlapHours: 0 } },
      handle: (services, call) => rotateEndpointSecret(docs, services, call),
    }),
    ...trialRoutes(docs, item),
    ...healthRoutes(docs, item),
  ];
}

const WaitingCallbacks = Type.Integer({ description: "Callbacks waiting on all nodes." });

const countWaiting = ({ store }: Services, { caller, params: { id = "" } }: AuthenticCall): Promise<number> =>
  store.countWaitingOf(caller.account.id, id);

const withCountAfter =
  ({ handle }: KeyedRoute): KeyedRoute["handle"] =>
  async (services, call) => {
    const view = await handle(services, call);
    return { ...(view as object), waitingCallbacks: await countWaiting(services, call) };
  };

/** Counts before the deletion: the waiting callbacks of a deleted endpoint are dropped within a second. */
const withCountBefore =
  ({ handle }: KeyedRoute): KeyedRoute["handle"] =>
  async (services, call) => {
    const waitingCallbacks = isUuid(call.params.id ?? "") ? await countWaiting(services, call) : 0;
    return { ...((await handle(services, call)) as object), waitingCallbacks };
  };

const itemRoute = ({ type: { singular, plural }, group = plural }: RecordDocs) =>
  ({
    family: "plain",
    scope: "manage",
    testKeys: null,
    group,
    params: { id: { meaning: `ID of the ${singular}.`, example: EXAMPLE_ID } },
    problems: ["RECORD_NOT_FOUND"],
  }) as const;

const BAD_SECRET = "secret must be whsec_ followed by 24 to 64 random bytes in base64; omit it to generate one.";

const OwnSecret = Type.String({
  description: "Your own secret: `whsec_` and 24 to 64 bytes in base64. Generated if omitted.",
  error: BAD_SECRET,
  check: (secret) => (isSecret(secret) ? null : BAD_SECRET),
});

const RotateBody = Type.Object({
  overlapHours: Type.Default(
    Type.Number({
      minimum: 0,
      maximum: OVERLAP_HOURS_MAX,
      description: "Hours during which the old secret also signs. Defaults to 24.",
    }),
    24,
  ),
  secret: Type.Optional(OwnSecret),
});

async function createEndpoint({ type }: RecordDocs, services: Services, call: AuthenticCall): Promise<object> {
  const given = isObject(call.body) ? call.body["secret"] : undefined;
  const secret = typeof given === "string" ? given : newSecret();
  const { encrypt, decrypt } = services.deliverDeps.encryption;
  const record = await create(type, services, call, { generate: () => encrypt(secret), encrypt, decrypt });
  call.reply.code(201);
  return { ...viewOf(type, record), secret };
}

function faultsOf(read: () => unknown): readonly Fault[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof Problem) return error.faults;
    throw error;
  }
}

async function rotateEndpointSecret(
  docs: RecordDocs,
  services: Services,
  call: WithBody<AuthenticCall, typeof RotateBody>,
): Promise<object> {
  const { store, catalog, clock, deliverDeps: deps } = services;
  const { overlapHours, secret = newSecret() } = call.body;
  const encrypted = deps.encryption.encrypt(secret);
  const rotated = await catalog.change(async (revision) => {
    const endpoint = await findEndpoint(docs, services, call);
    const times = { now: clock.now(), overlapMs: Math.round(overlapHours * HOUR_MS) };
    const record = rotateSecret(endpoint, encrypted, times);
    const result = await store.changeCatalogRecord(record, revision);
    if (result === "outdated") return result;
    if (result !== "changed") throw new Problem("RECORD_NOT_FOUND");
    return record;
  });
  return { ...viewOf(docs.type, rotated), secret };
}
