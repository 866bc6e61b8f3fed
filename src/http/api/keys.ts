import {
  changeKey,
  createKey,
  findKey,
  revokeKey,
  rotateKey,
  type KeyChoices,
  type MintedKey,
} from "../../accounts/keys.ts";
import { readNetwork } from "../../lib/network.ts";
import { isPlainText } from "../../lib/plain-text.ts";
import { Type } from "../../lib/schema.ts";
import { SCOPES, type ApiKey, type KeyMode, type Scope } from "../../model/api-key.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

const OVERLAP_HOURS_DEFAULT = 24;
const HOUR_MS = 3_600_000;
/** The last moment that a date can hold. */
const TIME_MAX = 8_640_000_000_000_000;

interface KeyBody {
  name?: string;
  mode?: KeyMode;
  scopes?: Scope[];
  allowedIps?: string[];
  requestsPerSecond?: number | null;
  expiresAt?: number | null;
}

function readChoices({ clock }: Services, caller: AuthenticCall["caller"], body: KeyBody): Partial<KeyChoices> {
  const faults: Fault[] = [];
  body.allowedIps?.forEach((network, index) => {
    if (!readNetwork(network)) {
      faults.push({
        parameter: `allowedIps[${index}]`,
        message: "Write an address or a network, like 203.0.113.7 or 203.0.113.0/24.",
      });
    }
  });
  if (typeof body.expiresAt === "number" && body.expiresAt <= clock.now())
    faults.push({ parameter: "expiresAt", message: "expiresAt lies in the past." });
  if (body.name !== undefined && !isPlainText(body.name))
    faults.push({ parameter: "name", message: "A name has no control characters." });
  refuseFaults(faults);
  refuseBeyond(caller, body.scopes ?? []);
  const { name, scopes, allowedIps, requestsPerSecond, expiresAt } = body;
  return {
    ...(name === undefined ? {} : { name }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(allowedIps === undefined ? {} : { allowedIps }),
    ...(requestsPerSecond === undefined ? {} : { requestsPerSecond }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

function refuseBeyond(caller: AuthenticCall["caller"], scopes: readonly Scope[]): void {
  const beyond = scopes.find((scope) => !caller.key.scopes.includes(scope));
  if (beyond)
    throw new Problem("INSUFFICIENT_SCOPE", {
      message: `A key cannot give the scope "${beyond}" that it does not have itself.`,
    });
}

/** A test key lies about in more places than a live one, so it opens nothing that is live. */
function refuseLive(caller: AuthenticCall["caller"], mode: KeyMode): void {
  if (caller.key.mode === "test" && mode === "live")
    throw new Problem("INSUFFICIENT_SCOPE", { message: "A test key can make and change only test keys." });
}

/** The key of an id, if the caller may change it. */
function changeable(services: Services, { params, caller }: AuthenticCall): ApiKey {
  const key = findKey(services, caller.account.id, params.id ?? "");
  refuseLive(caller, key.mode);
  return key;
}

/** Everything about a key but the key. */
function keyView(key: ApiKey): object {
  const { id, name, mode, hint, scopes, allowedIps, requestsPerSecond, createdAt, expiresAt, revokedAt, lastUsedAt } =
    key;
  return { id, name, mode, hint, scopes, allowedIps, requestsPerSecond, createdAt, expiresAt, revokedAt, lastUsedAt };
}

const mintedView = ({ key, secret }: MintedKey): object => ({ ...keyView(key), key: secret });

const nullableTime = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0, maximum: TIME_MAX }), Type.Null()], { description });

const choices = {
  name: Type.String({ minLength: 1, maxLength: 100, description: "For people, to tell keys apart." }),
  scopes: Type.Array(Type.Union(SCOPES.map((scope) => Type.Literal(scope))), {
    minItems: 1,
    description: "What it may do.",
  }),
  allowedIps: Type.Array(Type.String(), {
    maxItems: 100,
    description: "Networks it may be used from; empty means anywhere.",
  }),
  requestsPerSecond: Type.Union([Type.Integer({ minimum: 1, maximum: 100_000 }), Type.Null()], {
    description: "Most requests in a second; null means no limit.",
  }),
  expiresAt: nullableTime("When it stops working, in epoch milliseconds; null means never."),
};

const CreateBody = Type.Object({
  name: choices.name,
  mode: Type.Optional(
    Type.Union([Type.Literal("live"), Type.Literal("test")], {
      description: "That of the key that asks, unless given. Messages of a test key never leave the simulator.",
    }),
  ),
  scopes: choices.scopes,
  allowedIps: Type.Optional(choices.allowedIps),
  requestsPerSecond: Type.Optional(choices.requestsPerSecond),
  expiresAt: Type.Optional(choices.expiresAt),
});

const ChangeBody = Type.Partial(Type.Object(choices));

const RotateBody = Type.Object({
  overlapHours: Type.Optional(
    Type.Number({ minimum: 0, maximum: 720, description: "How long the old key goes on working; 24 unless given." }),
  ),
});

const KeyView = Type.Object(
  {
    id: Type.String({ description: "Names the key in paths; it opens nothing." }),
    name: choices.name,
    mode: Type.String({ description: "live or test." }),
    hint: Type.String({ description: "The last four characters." }),
    scopes: choices.scopes,
    allowedIps: choices.allowedIps,
    requestsPerSecond: choices.requestsPerSecond,
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
    expiresAt: choices.expiresAt,
    revokedAt: nullableTime("When it was revoked; null while it is not."),
    lastUsedAt: nullableTime("When it was last used; null while it never was."),
  },
  { title: "ApiKey" },
);

const MintedView = Type.Intersect(
  [KeyView, Type.Object({ key: Type.String({ description: "The key itself. It is shown this once." }) })],
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
  createdAt: 1767225600000,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};
const mintedExample = { ...example, key: "hg_live_…" };

const common = { family: "plain", scope: "manage", group: "API keys" } as const;
const ofOne = {
  params: { id: { meaning: "The key's `id`, not the key.", example: example.id } },
  problems: ["RECORD_NOT_FOUND"],
} as const;

export const listKeys: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/keys",
  summary: "List API keys",
  description: "All keys of the account, revoked and expired ones too. The keys themselves are never shown again.",
  response: Type.Object({
    data: Type.Array(KeyView, { description: "The keys." }),
    nextCursor: Type.Null({ description: "All keys are on one page." }),
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
  summary: "Read an API key",
  description: "Everything about a key but the key.",
  response: KeyView,
  responseExample: example,
  handle: async (services, { params, caller }) => keyView(findKey(services, caller.account.id, params.id ?? "")),
};

export const postKey: KeyedRoute = {
  ...common,
  method: "POST",
  role: "owner",
  path: "/api/keys",
  summary: "Make an API key",
  status: 201,
  description:
    "The answer holds the key, this once: only a digest of it is stored. A key can give only scopes that it has itself, and a test key makes only test keys.",
  body: CreateBody,
  requestExamples: { shop: { name: "Shop", scopes: ["sms", "read"], allowedIps: ["203.0.113.0/24"] } },
  response: MintedView,
  responseExample: mintedExample,
  handle: async (services, { body, caller, reply }) => {
    const wishes = body as KeyBody & { name: string; scopes: Scope[] };
    const mode = wishes.mode ?? caller.key.mode;
    refuseLive(caller, mode);
    const minted = await createKey(services, caller.account.id, mode, {
      allowedIps: [],
      requestsPerSecond: null,
      expiresAt: null,
      name: wishes.name,
      scopes: wishes.scopes,
      ...readChoices(services, caller, wishes),
    });
    reply.code(201);
    return mintedView(minted);
  },
};

export const patchKey: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "PATCH",
  role: "owner",
  path: "/api/keys/:id",
  summary: "Change an API key",
  description:
    "Changes the fields that are given. It takes effect at once here and within five seconds on every other node.",
  body: ChangeBody,
  requestExamples: { "slow it down": { requestsPerSecond: 10 } },
  response: KeyView,
  responseExample: { ...example, requestsPerSecond: 10 },
  handle: async (services, call) => {
    const { id } = changeable(services, call);
    const { body, caller } = call;
    return keyView(await changeKey(services, caller.account.id, id, readChoices(services, caller, body as KeyBody)));
  },
};

export const rotateKeyRoute: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "POST",
  role: "owner",
  path: "/api/keys/:id/rotate",
  summary: "Rotate an API key",
  status: 201,
  description: "Makes a new key with the same rights. The old one goes on working for the overlap, then no more.",
  body: RotateBody,
  requestExamples: { "one day": { overlapHours: 24 } },
  response: MintedView,
  responseExample: mintedExample,
  handle: async (services, call) => {
    const { body, caller, reply } = call;
    const { overlapHours = OVERLAP_HOURS_DEFAULT } = body as { overlapHours?: number };
    const { scopes, id } = changeable(services, call);
    refuseBeyond(caller, scopes);
    const minted = await rotateKey(services, caller.account.id, id, Math.round(overlapHours * HOUR_MS));
    reply.code(201);
    return mintedView(minted);
  },
};

export const deleteKey: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "DELETE",
  role: "owner",
  path: "/api/keys/:id",
  summary: "Revoke an API key",
  description: "Ends a key: at once here, within five seconds on every other node. It stays listed as revoked.",
  response: KeyView,
  responseExample: { ...example, revokedAt: 1767225600000 },
  handle: async (services, call) =>
    keyView(await revokeKey(services, call.caller.account.id, changeable(services, call).id)),
};
