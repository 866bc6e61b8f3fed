import { readRecord } from "../../catalog/read-record.ts";
import { newShape } from "../../catalog/record-kind.ts";
import { nullable } from "../../lib/nullable.ts";
import { Type, type Fields } from "../../lib/schema.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { rotateSecret } from "../../webhooks/rotate-secret.ts";
import { isSecret, newSecret } from "../../webhooks/sign.ts";
import { refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { healthRoutes } from "./endpoint-health.ts";
import { findEndpoint } from "./find-endpoint.ts";
import { viewOfShelf, type Telling } from "./record-shapes.ts";
import { create, EXAMPLE_ID, exampleOf, recordRoutes, viewOf } from "./records.ts";
import { trialRoutes } from "./trials.ts";

const HOUR_MS = 3_600_000;
const OVERLAP_HOURS_DEFAULT = 24;
const OVERLAP_HOURS_MAX = 168;
const EXAMPLE_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** The fields that an answer shows of an endpoint beside those that are given. */
export const endpointShown: Fields = {
  disabledReason: nullable(
    Type.String(),
    "Why it was switched off by itself; null while it is on, and when somebody did it.",
  ),
  oldSecretUntil: nullable(
    Type.Integer(),
    "Until when secrets before the current one sign as well, in epoch milliseconds; null when there is none.",
  ),
};

/** Everything that can be done to addresses that are called: the doors of records, their secrets, trying them out, making up for failures. */
export function endpointRoutes(telling: Telling): readonly KeyedRoute[] {
  const [{ kind, title }] = telling.kinds;
  const View = viewOfShelf(telling);
  const shown = exampleOf(telling.kinds[0]);
  const WithSecret = Type.Intersect(
    [
      View,
      Type.Object({ secret: Type.String({ description: "What requests are signed with. It is shown this once." }) }),
    ],
    { title: `${title}WithSecret` },
  );
  const withSecret = { response: WithSecret, responseExample: { ...shown, secret: EXAMPLE_SECRET } };
  const { shelf } = telling;
  const making: Partial<KeyedRoute> = {
    ...withSecret,
    description:
      "The answer holds the secret that requests are signed with, this once. It takes effect at once here and within five seconds on every other node.",
    body: Type.Object({ ...newShape(kind).properties, secret: Type.Optional(OwnSecret) }, { title: `${title}ToMake` }),
    handle: (services, call) => make(telling, services, call),
  };
  const changing: Partial<KeyedRoute> = {
    description:
      "Changes the fields that are given; the secret stays. `enabled: true` switches it on again and clears `disabledReason`. It takes effect at once here and within five seconds on every other node.",
  };
  const records = recordRoutes(telling).map((route): KeyedRoute => {
    if (route.method === "POST") return { ...route, ...making };
    return route.method === "PATCH" ? { ...route, ...changing } : route;
  });
  const ofOne = ofOneIn(telling);
  return [
    ...records,
    {
      ...ofOne,
      ...withSecret,
      method: "POST",
      path: `/api/${shelf.many}/:id/rotate-secret`,
      summary: `Rotate the secret of a ${shelf.one}`,
      description:
        "Makes a new secret, shown this once. For the overlap every request is signed with the old one as well, so that the receiver can change over in its own time; at most four old ones sign at a time.",
      body: RotateBody,
      requestExamples: { "one day": { overlapHours: 24 }, "at once": { overlapHours: 0 } },
      handle: (services, call) => rotate(telling, services, call),
    },
    ...trialRoutes(telling, ofOne),
    ...healthRoutes(telling, ofOne),
  ];
}

const ofOneIn = ({ shelf: { one, many }, group = many }: Telling) =>
  ({
    family: "plain",
    scope: "manage",
    group,
    params: { id: { meaning: `The ${one}'s \`id\`.`, example: EXAMPLE_ID } },
    problems: ["RECORD_NOT_FOUND"],
  }) as const;

const OwnSecret = Type.String({
  description: "A secret of your own: `whsec_` and 24 to 64 bytes in base64. One is made unless given.",
});

const RotateBody = Type.Object({
  overlapHours: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: OVERLAP_HOURS_MAX,
      description: "How long the old secret goes on signing as well; 24 unless given.",
    }),
  ),
  secret: Type.Optional(OwnSecret),
});

/** A secret of somebody's own, or a new one; what is wrong with it goes to `faults`. */
function readSecret(body: unknown, faults: Fault[]): string {
  const { secret } = (body ?? {}) as { secret?: unknown };
  if (secret === undefined) return newSecret();
  if (typeof secret === "string" && isSecret(secret)) return secret;
  const message = "secret is whsec_ and then 24 to 64 random bytes in base64; leave it out to have one made.";
  faults.push({ parameter: "secret", message });
  return "";
}

async function make({ shelf }: Telling, services: Services, call: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const secret = readSecret(call.body, faults);
  if (faults.length > 0) {
    const catalog = services.catalog.of(call.caller.account.id);
    refuseFaults([...faultsOf(() => readRecord(shelf, call.body, { known: null, catalog })), ...faults]);
  }
  const { seal, open } = services.telling.seal;
  const record = await create(shelf, services, call, { make: () => seal(secret), seal, open });
  call.reply.code(201);
  return { ...viewOf(shelf, record), secret };
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

async function rotate(telling: Telling, services: Services, call: AuthenticCall): Promise<object> {
  const { store, catalog, clock, telling: needs } = services;
  const faults: Fault[] = [];
  const secret = readSecret(call.body, faults);
  refuseFaults(faults);
  const { overlapHours = OVERLAP_HOURS_DEFAULT } = call.body as { overlapHours?: number };
  const sealed = needs.seal.seal(secret);
  const rotated = await catalog.change(async (revision) => {
    const endpoint = await findEndpoint(telling, services, call);
    const times = { now: clock.now(), overlapMs: Math.round(overlapHours * HOUR_MS) };
    const record = rotateSecret(endpoint, sealed, times);
    const result = await store.changeCatalogRecord(record, revision);
    if (result === "outdated") return result;
    if (result !== "changed") throw new Problem("RECORD_NOT_FOUND");
    return record;
  });
  return { ...viewOf(telling.shelf, rotated), secret };
}
