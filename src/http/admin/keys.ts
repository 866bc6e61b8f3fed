import {
  changeKey,
  createKey,
  findKey,
  revokeKey,
  rotateKey,
  type ApiKeyChoices,
  type NewKey,
} from "../../accounts/keys.ts";
import { refuseWiderKey } from "../../accounts/key-limits.ts";
import { Type, type Infer } from "../../lib/schema.ts";
import { pickFields } from "../../lib/shape.ts";
import { DEFAULT_AGENT_LIMITS } from "../../model/agent.ts";
import type { ApiKey, KeyMode } from "../../model/api-key.ts";
import { KEY_CHOICES, nullableTime } from "../../model/key-choices.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { keyedRoute, type KeyedRoute, type Services } from "../route.ts";
import { agentField } from "./agent-limits.ts";
import { expiryFaults, refuseBeyond } from "./key-choices.ts";

const HOUR_MS = 3_600_000;

type KeyBody = Partial<Infer<typeof CreateBody>>;

/** Rules that depend on the mode of the key, null if unknown, and on the time. */
function keyFaults({ scopes, expiresAt }: KeyBody, services: Services, mode: KeyMode | null): Fault[] {
  const faults: Fault[] = [];
  if (mode === "test" && scopes?.includes("manage"))
    faults.push({
      parameter: "scopes",
      message: "A test key cannot have the scope manage, because the configuration is live.",
    });
  return [...faults, ...expiryFaults(expiresAt, services)];
}

/** Properties of a key, without the key itself. */
function keyView(key: ApiKey): object {
  const { id, name, mode, hint, scopes, allowedIps, requestsPerSecond, agent } = key;
  const { createdAt, expiresAt, revokedAt, lastUsedAt } = key;
  return {
    id,
    name,
    mode,
    hint,
    scopes,
    allowedIps,
    requestsPerSecond,
    agent,
    createdAt,
    expiresAt,
    revokedAt,
    lastUsedAt,
  };
}

const mintedView = ({ key, secret }: NewKey): object => ({ ...keyView(key), key: secret });

const CreateBody = Type.Object({
  name: KEY_CHOICES.name,
  mode: Type.Optional(
    Type.Union([Type.Literal("live"), Type.Literal("test")], {
      description:
        "Defaults to live. Messages of a test key always go to the simulator; a test key cannot read or change live data.",
    }),
  ),
  scopes: KEY_CHOICES.scopes,
  allowedIps: Type.Default(KEY_CHOICES.allowedIps, []),
  requestsPerSecond: Type.Default(KEY_CHOICES.requestsPerSecond, null),
  expiresAt: Type.Default(KEY_CHOICES.expiresAt, null),
  agent: Type.Default(agentField, null),
});

const CHANGES = { ...KEY_CHOICES, agent: agentField };
const ChangeBody = Type.Partial(Type.Object(CHANGES));

const RotateBody = Type.Object({
  overlapHours: Type.Default(
    Type.Number({
      minimum: 0,
      maximum: 720,
      description: "Hours during which the old key stays valid. Defaults to 24.",
    }),
    24,
  ),
});

const KeyView = Type.Object(
  {
    id: Type.String({ description: "Key ID. It is not a secret." }),
    name: KEY_CHOICES.name,
    mode: Type.String({ description: "live or test." }),
    hint: Type.String({ description: "Last four characters of the key." }),
    scopes: KEY_CHOICES.scopes,
    allowedIps: KEY_CHOICES.allowedIps,
    requestsPerSecond: KEY_CHOICES.requestsPerSecond,
    agent: agentField,
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
    expiresAt: KEY_CHOICES.expiresAt,
    revokedAt: nullableTime("Time of revocation; null if not revoked."),
    lastUsedAt: nullableTime("Time of last use; null if never used."),
  },
  { title: "ApiKey" },
);

const MintedView = Type.Intersect(
  [KeyView, Type.Object({ key: Type.String({ description: "API key. Shown only once." }) })],
  { title: "NewApiKey" },
);

const example = {
  id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
  name: "Shop",
  mode: "live",
  hint: "x7Qe",
  scopes: ["sms", "read"],
  allowedIps: ["203.0.113.0/24"],
  requestsPerSecond: null,
  agent: null,
  createdAt: 1767225600000,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};
const mintedExample = { ...example, key: "hg_live_…" };

const common = { family: "plain", scope: "manage", testKeys: null, group: "API keys", readsKeyring: true } as const;
const ofOne = {
  params: { id: { meaning: "Key ID, not the key itself.", example: example.id } },
  problems: ["RECORD_NOT_FOUND"],
} as const;

export const listKeys: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/keys",
  summary: "List API keys",
  description:
    "Lists all keys of the account, including revoked and expired ones. The keys themselves are not returned.",
  response: Type.Object({
    data: Type.Array(KeyView, { description: "API keys." }),
    nextCursor: Type.Null({ description: "Always null: all keys are on one page." }),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: async ({ keyring }, { caller }) => ({
    data: keyring.keysOf(caller.account.id).map(keyView),
    nextCursor: null,
  }),
};

export const getKey: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "GET",
  path: "/api/keys/:id",
  summary: "Get an API key",
  description: "Returns the properties of a key, without the key itself.",
  response: KeyView,
  responseExample: example,
  handle: async (services, { params, caller }) => keyView(findKey(services, caller.account.id, params.id ?? "")),
};

export const postKey = keyedRoute({
  ...common,
  method: "POST",
  role: "owner",
  path: "/api/keys",
  summary: "Create an API key",
  status: 201,
  description:
    "Returns the new key, shown only once: only its digest is stored. A key can grant only scopes that it has itself, and cannot create a key that expires later or is allowed from more addresses. A test key cannot have the scope `manage`.",
  body: CreateBody,
  requestExamples: {
    pipeline: { name: "Shop", scopes: ["sms", "read"], allowedIps: ["203.0.113.0/24"] },
    agent: {
      name: "Assistant",
      scopes: ["sms", "read"],
      agent: { recipients: ["1555*"], messagesPerHour: 20, creditsPerDay: 100, needsApproval: true },
    },
  },
  response: MintedView,
  responseExample: mintedExample,
  bodyFaults: ({ right, wrong }, services, { caller }) =>
    keyFaults(right, services, wrong.has("mode") ? null : (right.mode ?? caller.key.mode)),
  handle: async (services, { body, caller, reply }) => {
    const { mode = caller.key.mode, name, scopes, allowedIps, requestsPerSecond, expiresAt, agent } = body;
    const limits = agent && { ...DEFAULT_AGENT_LIMITS, ...agent };
    const chosen: ApiKeyChoices = { name, scopes, allowedIps, requestsPerSecond, expiresAt, agent: limits };
    refuseBeyond(caller, scopes);
    refuseWiderKey(caller, null, chosen);
    const minted = await createKey(services, caller.account.id, mode, chosen);
    reply.code(201);
    return mintedView(minted);
  },
});

export const patchKey = keyedRoute({
  ...common,
  ...ofOne,
  method: "PATCH",
  role: "owner",
  path: "/api/keys/:id",
  summary: "Update an API key",
  description:
    "Changes only the fields in the request. A request made with a key can only narrow expiry and addresses and cannot change `agent`; a logged-in owner can. Takes effect at once on this node and within five seconds on all others.",
  body: ChangeBody,
  requestExamples: { "lower rate limit": { requestsPerSecond: 10 } },
  response: KeyView,
  responseExample: { ...example, requestsPerSecond: 10 },
  bodyFaults: ({ right }, services, { caller, params: { id = "" } }) =>
    keyFaults(right, services, findKey(services, caller.account.id, id).mode),
  handle: async (services, call) => {
    const { body, caller, params } = call;
    const before = findKey(services, caller.account.id, params.id ?? "");
    call.noteBefore?.(keyView(before));
    const { id } = before;
    const { agent, ...others } = pickFields(CHANGES, body);
    const limits = agent && { ...DEFAULT_AGENT_LIMITS, ...before.agent, ...agent };
    const change: Partial<ApiKeyChoices> = { ...others, ...(limits === undefined ? {} : { agent: limits }) };
    if (change.agent !== undefined && !caller.session)
      throw new Problem("INSUFFICIENT_SCOPE", { message: "Only an owner who is logged in can change agent." });
    refuseBeyond(caller, change.scopes ?? []);
    // Changing name or rate limit grants nothing, so it is allowed even for a key with more scopes than the caller.
    if (change.expiresAt !== undefined || change.allowedIps !== undefined)
      refuseWiderKey(caller, before, { ...before, ...change });
    return keyView(await changeKey(services, caller.account.id, id, change));
  },
});

export const rotateKeyRoute = keyedRoute({
  ...common,
  ...ofOne,
  method: "POST",
  role: "owner",
  path: "/api/keys/:id/rotate",
  summary: "Rotate an API key",
  status: 201,
  description: "Creates a new key with the same permissions. The old key stays valid during the overlap.",
  body: RotateBody,
  requestExamples: { "one day": { overlapHours: 24 } },
  response: MintedView,
  responseExample: mintedExample,
  handle: async (services, call) => {
    const { body, caller, params, reply } = call;
    const { overlapHours } = body;
    const old = findKey(services, caller.account.id, params.id ?? "");
    const { scopes, id } = old;
    refuseBeyond(caller, scopes);
    refuseWiderKey(caller, null, old);
    const minted = await rotateKey(services, caller.account.id, id, Math.round(overlapHours * HOUR_MS));
    reply.code(201);
    return mintedView(minted);
  },
});

export const deleteKey: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "DELETE",
  role: "owner",
  path: "/api/keys/:id",
  summary: "Revoke an API key",
  description:
    "Revokes a key: at once on this node, within five seconds on all others. It stays in the list as revoked.",
  response: KeyView,
  responseExample: { ...example, revokedAt: 1767225600000 },
  handle: async (services, { params, caller }) =>
    keyView(await revokeKey(services, caller.account.id, params.id ?? "")),
};
