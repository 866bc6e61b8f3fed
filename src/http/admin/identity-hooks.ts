import { changeHook, createHook, findHook } from "../../accounts/identity-hooks.ts";
import type { CredentialDeps } from "../../accounts/credentials.ts";
import { refuseWiderKey } from "../../accounts/key-limits.ts";
import { Type } from "../../lib/schema.ts";
import { pickFields } from "../../lib/shape.ts";
import { HOOK_SCOPES, type StoredCredential } from "../../model/credential.ts";
import {
  CODE_DIGITS_MAX,
  CODE_DIGITS_MIN,
  hookPath,
  hookSettingsOf,
  IDENTITY_PRODUCTS,
  type IdentityProduct,
} from "../../model/identity-hook.ts";
import { KEY_CHOICES, nullableTime } from "../../model/key-choices.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { isSecret, newSecret } from "../../webhooks/sign.ts";
import { keyedRoute, type KeyedRoute, type Services } from "../route.ts";
import { expiryFaults, refuseBeyond } from "./key-choices.ts";

const depsOf = ({ store, keyring, clock, deliverDeps }: Services): CredentialDeps => ({
  store,
  keyring,
  clock,
  encryption: deliverDeps.encryption,
});

const hookView = (services: Services, hook: StoredCredential): object => {
  const { id, name, mode, allowedIps, requestsPerSecond, createdAt, expiresAt, revokedAt, lastUsedAt } = hook;
  const { product, configId, codeDigits } = hookSettingsOf(hook);
  const config = services.catalog.find(hook.accountId, "verifyConfig", configId);
  const own = { id, product, configId: config?.name ?? configId, codeDigits, name, mode };
  const url = services.baseUrl() + hookPath(product, id);
  return { ...own, url, allowedIps, requestsPerSecond, createdAt, expiresAt, revokedAt, lastUsedAt };
};

const product = Type.Union(
  IDENTITY_PRODUCTS.map((each) => Type.Literal(each)),
  { description: "The product that calls the hook." },
);

const configId = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "Name or id of the verification configuration that delivers the codes.",
});

const codeDigits = Type.Union([Type.Integer({ minimum: CODE_DIGITS_MIN, maximum: CODE_DIGITS_MAX }), Type.Null()], {
  description:
    "For a product that sends a rendered text without the code in a field of its own: the length of its codes. Null takes the only number of 4 to 10 digits.",
});

const limits = {
  allowedIps: KEY_CHOICES.allowedIps,
  requestsPerSecond: KEY_CHOICES.requestsPerSecond,
  expiresAt: KEY_CHOICES.expiresAt,
};

const CreateBody = Type.Object({
  product,
  configId,
  name: Type.Optional(KEY_CHOICES.name),
  mode: Type.Optional(
    Type.Union([Type.Literal("live"), Type.Literal("test")], {
      description: "Defaults to the mode of the key. Codes of a test hook always go to the simulator.",
    }),
  ),
  codeDigits: Type.Default(codeDigits, null),
  allowedIps: Type.Default(limits.allowedIps, []),
  requestsPerSecond: Type.Default(limits.requestsPerSecond, null),
  expiresAt: Type.Default(limits.expiresAt, null),
});

const SECRET_MIN = 16;
const SECRET_MAX = 200;

const changes = { name: KEY_CHOICES.name, ...limits };

const ChangeBody = Type.Object({
  ...Type.Partial(Type.Object({ ...changes, configId, codeDigits })).properties,
  secret: Type.Optional(
    Type.String({
      minLength: SECRET_MIN,
      maxLength: SECRET_MAX,
      description: "A secret that the product issued, such as the signing key of Zitadel. It replaces the hook's own.",
    }),
  ),
});

const HookView = Type.Object(
  {
    id: Type.String({ description: "Hook ID." }),
    product,
    configId,
    codeDigits,
    name: KEY_CHOICES.name,
    mode: Type.String({ description: "live or test." }),
    url: Type.String({ description: "The address that the product calls." }),
    allowedIps: limits.allowedIps,
    requestsPerSecond: limits.requestsPerSecond,
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
    expiresAt: limits.expiresAt,
    revokedAt: nullableTime("Time of revocation; null if not revoked."),
    lastUsedAt: nullableTime("Time of last use; null if never used."),
  },
  { title: "IdentityHook" },
);

const NewHookView = Type.Intersect(
  [
    HookView,
    Type.Object({
      secret: Type.String({
        description: "Signs the calls, or is sent with them. Supabase writes it with `v1,` before it. Shown only once.",
      }),
    }),
  ],
  { title: "NewIdentityHook" },
);

const example = {
  id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
  product: "supabase",
  configId: "default",
  codeDigits: null,
  name: "supabase",
  mode: "live",
  url: "https://sms.example.com/hooks/identity/supabase/0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
  allowedIps: [],
  requestsPerSecond: null,
  createdAt: 1767225600000,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};

const common = {
  family: "plain",
  scope: "manage",
  testKeys: null,
  group: "Identity products",
  readsKeyring: true,
} as const;
const ofOne = {
  params: { id: { meaning: "Hook ID.", example: example.id } },
  problems: ["RECORD_NOT_FOUND"],
} as const;

/** The id of the configuration, which stays when its name changes. */
function configIdOf({ catalog }: Services, accountId: number, named: string): string {
  const found =
    catalog.of(accountId).named("verifyConfig").get(named) ?? catalog.find(accountId, "verifyConfig", named);
  if (found) return found.id;
  const message = `There is no verification configuration ${JSON.stringify(named)}: add it at /api/verify-configs, or use one that is there.`;
  throw new Problem("CONFIG_NOT_FOUND", { faults: [{ parameter: "configId", message }] });
}

function secretFaults(of: IdentityProduct | undefined, secret: string | undefined): Fault[] {
  if (secret === undefined || of === undefined) return [];
  if (of === "supabase")
    return isSecret(withoutVersion(secret))
      ? []
      : [{ parameter: "secret", message: "A secret of Supabase is whsec_ and 24 to 64 bytes in Base64." }];
  return /^[\x21-\x7e]+$/.test(secret)
    ? []
    : [{ parameter: "secret", message: "A secret has printable ASCII characters without spaces." }];
}

/** Supabase shows its secrets with their version. */
const withoutVersion = (secret: string): string => secret.replace(/^v1,(?=whsec_)/, "");

const listHooks: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/identity-hooks",
  summary: "List identity hooks",
  description:
    "Lists the hooks by which identity products deliver their codes, including revoked and expired ones. Secrets are not returned.",
  response: Type.Object({
    data: Type.Array(HookView, { description: "Hooks." }),
    nextCursor: Type.Null({ description: "Always null: all hooks are on one page." }),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: async (services, { caller }) => ({
    data: services.keyring.hooksOf(caller.account.id).map((hook) => hookView(services, hook)),
    nextCursor: null,
  }),
};

const getHook: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "GET",
  path: "/api/identity-hooks/:id",
  summary: "Get an identity hook",
  description: "Returns the properties of a hook, without its secret.",
  response: HookView,
  responseExample: example,
  handle: async (services, { params, caller }) =>
    hookView(services, findHook(services, caller.account.id, params.id ?? "")),
};

const postHook = keyedRoute({
  ...common,
  method: "POST",
  role: "owner",
  path: "/api/identity-hooks",
  summary: "Create an identity hook",
  status: 201,
  description:
    "Returns the address and the secret to enter in the settings of an identity product, which then delivers its codes by a verification configuration. The secret is shown only once. A key needs the scopes `verify` and `verify:custom` itself, and cannot create a hook that expires later or is allowed from more addresses.",
  problems: ["CONFIG_NOT_FOUND"],
  body: CreateBody,
  requestExamples: {
    supabase: { product: "supabase", configId: "default" },
    "a text without a field for the code": { product: "fusionauth", configId: "default", codeDigits: 6 },
  },
  response: NewHookView,
  responseExample: { ...example, secret: "whsec_…" },
  bodyFaults: ({ right }, services) => expiryFaults(right.expiresAt, services),
  handle: async (services, { body, caller, reply }) => {
    const { mode = caller.key.mode, name = body.product, allowedIps, requestsPerSecond, expiresAt } = body;
    refuseBeyond(caller, HOOK_SCOPES);
    refuseWiderKey(caller, null, { expiresAt, allowedIps });
    const config = configIdOf(services, caller.account.id, body.configId);
    const secret = newSecret();
    const hook = await createHook(depsOf(services), caller.account.id, {
      settings: { product: body.product, configId: config, codeDigits: body.codeDigits },
      name,
      mode,
      allowedIps,
      requestsPerSecond,
      expiresAt,
      secret,
    });
    reply.code(201);
    return { ...hookView(services, hook), secret };
  },
});

const patchHook = keyedRoute({
  ...common,
  ...ofOne,
  problems: ["RECORD_NOT_FOUND", "CONFIG_NOT_FOUND"],
  method: "PATCH",
  role: "owner",
  path: "/api/identity-hooks/:id",
  summary: "Update an identity hook",
  description:
    "Changes only the fields in the request. `secret` replaces the hook's secret by one that the product issued; the old one is refused at once. A request made with a key can only narrow expiry and addresses. Takes effect at once on this node and within five seconds on all others.",
  body: ChangeBody,
  requestExamples: { "signing key of Zitadel": { secret: "kqvNmXaMtAnl7JKJaVYaRyIR1sTPl1Ao" } },
  response: HookView,
  responseExample: example,
  bodyFaults: ({ right }, services, { caller, params }) => {
    const hook = services.keyring.hooksOf(caller.account.id).find(({ id }) => id === params.id);
    return [
      ...expiryFaults(right.expiresAt, services),
      ...secretFaults(hook && hookSettingsOf(hook).product, right.secret),
    ];
  },
  handle: async (services, { body, caller, params }) => {
    const before = findHook(services, caller.account.id, params.id ?? "");
    refuseBeyond(caller, HOOK_SCOPES);
    const change = pickFields(changes, body);
    if (change.expiresAt !== undefined || change.allowedIps !== undefined)
      refuseWiderKey(caller, before, { ...before, ...change });
    // A key that sets the secret can use the hook, so it needs the hook's reach.
    if (body.secret !== undefined) refuseWiderKey(caller, null, { ...before, ...change });
    const settings = {
      ...before.settings,
      ...(body.configId !== undefined && { configId: configIdOf(services, caller.account.id, body.configId) }),
      ...(body.codeDigits !== undefined && { codeDigits: body.codeDigits }),
    };
    const secret = body.secret === undefined ? undefined : withoutVersion(body.secret);
    const all = { ...change, settings, secret };
    return hookView(services, await changeHook(depsOf(services), caller.account.id, before.id, all));
  },
});

const deleteHook: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "DELETE",
  role: "owner",
  path: "/api/identity-hooks/:id",
  summary: "Revoke an identity hook",
  description:
    "Revokes a hook: at once on this node, within five seconds on all others. It stays in the list as revoked.",
  response: HookView,
  responseExample: { ...example, revokedAt: 1767225600000 },
  handle: async (services, { params, caller }) => {
    const { id, revokedAt } = findHook(services, caller.account.id, params.id ?? "");
    const at = revokedAt ?? services.clock.now();
    return hookView(services, await changeHook(depsOf(services), caller.account.id, id, { revokedAt: at }));
  },
};

export const identityHookRoutes = [listHooks, getHook, postHook, patchHook, deleteHook];
