import {
  changeCredential,
  createCredential,
  findCredential,
  revokeCredential,
  type CredentialDeps,
} from "../../accounts/credentials.ts";
import { refuseWiderKey } from "../../accounts/key-limits.ts";
import { Type } from "../../lib/schema.ts";
import { pickFields } from "../../lib/shape.ts";
import {
  CREDENTIAL_FORMS,
  CREDENTIAL_KINDS,
  CREDENTIAL_SCOPES,
  SCOPES_OF_KIND,
  type StoredCredential,
} from "../../model/credential.ts";
import { KEY_CHOICES, nullableTime } from "../../model/key-choices.ts";
import { keyedRoute, type KeyedRoute, type Services } from "../route.ts";
import { SMPP_FIELDS, smppFieldFaults, smppSettingsIn, smppView } from "./smpp-access-fields.ts";
import { expiryFaults, refuseBeyond } from "./key-choices.ts";

const depsOf = ({ store, keyring, clock, deliverDeps }: Services): CredentialDeps => ({
  store,
  keyring,
  clock,
  encryption: deliverDeps.encryption,
});

/** Properties of a credential, without its password. */
function credentialView(credential: StoredCredential): object {
  const { id, kind, username, name, mode, scopes, allowedIps, requestsPerSecond, settings } = credential;
  const { createdAt, expiresAt, revokedAt, lastUsedAt } = credential;
  const limits = { scopes, allowedIps, requestsPerSecond };
  const times = { createdAt, expiresAt, revokedAt, lastUsedAt };
  const ofKind = kind === "smpp" ? { settings: {}, ...smppView(credential) } : { settings };
  return { id, kind, username, name, mode, ...limits, ...times, ...ofKind };
}

const choices = {
  name: KEY_CHOICES.name,
  scopes: Type.Array(Type.Union(CREDENTIAL_SCOPES.map((scope) => Type.Literal(scope))), {
    minItems: 1,
    description: "Permissions of the credential. Defaults to those that its kind can use.",
  }),
  allowedIps: KEY_CHOICES.allowedIps,
  requestsPerSecond: KEY_CHOICES.requestsPerSecond,
  expiresAt: KEY_CHOICES.expiresAt,
};

const settings = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      "Settings of the kind, each of which can be left out; null removes one. The page of each product's API describes them.",
    error: "settings is an object with the settings of the kind.",
  },
);

const kind = Type.Union(
  CREDENTIAL_KINDS.map((each) => Type.Literal(each)),
  { description: "The product whose API the credential opens." },
);

const CreateBody = Type.Object({
  kind,
  name: choices.name,
  mode: Type.Optional(
    Type.Union([Type.Literal("live"), Type.Literal("test")], {
      description: "Defaults to live. Messages of a test credential always go to the simulator.",
    }),
  ),
  form: Type.Optional(
    Type.Union(
      CREDENTIAL_FORMS.map((each) => Type.Literal(each)),
      {
        description:
          "Only for twilio. `account`, the default, gives the AccountSid (AC…) and an AuthToken; `key` gives an API key SID (SK…) and its secret.",
      },
    ),
  ),
  scopes: Type.Optional(choices.scopes),
  allowedIps: Type.Default(choices.allowedIps, []),
  requestsPerSecond: Type.Default(choices.requestsPerSecond, null),
  expiresAt: Type.Default(choices.expiresAt, null),
  settings: Type.Optional(settings),
  ...SMPP_FIELDS,
});

const ChangeBody = Type.Object({
  ...Type.Partial(Type.Object({ ...choices, settings })).properties,
  ...SMPP_FIELDS,
});

const CredentialView = Type.Object(
  {
    id: Type.String({ description: "Credential ID." }),
    kind,
    username: Type.String({
      description: "For twilio the AccountSid or the API key SID, for smpp the system id. It is not a secret.",
    }),
    name: choices.name,
    mode: Type.String({ description: "live or test." }),
    scopes: choices.scopes,
    allowedIps: choices.allowedIps,
    requestsPerSecond: choices.requestsPerSecond,
    settings,
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
    expiresAt: choices.expiresAt,
    revokedAt: nullableTime("Time of revocation; null if not revoked."),
    lastUsedAt: nullableTime("Time of last use; null if never used."),
    ...SMPP_FIELDS,
  },
  { title: "Credential" },
);

const NewCredentialView = Type.Intersect(
  [
    CredentialView,
    Type.Object({
      password: Type.String({
        description: "For twilio the AuthToken or the secret of the API key. Shown only once.",
      }),
    }),
  ],
  { title: "NewCredential" },
);

const example = {
  id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
  kind: "kannel",
  username: "kannel7k2m9x4q",
  name: "Shop",
  mode: "live",
  scopes: ["sms", "read"],
  allowedIps: ["203.0.113.0/24"],
  requestsPerSecond: null,
  settings: {},
  createdAt: 1767225600000,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};

const common = { family: "plain", scope: "manage", testKeys: null, group: "Credentials", readsKeyring: true } as const;
const ofOne = {
  params: { id: { meaning: "Credential ID.", example: example.id } },
  problems: ["RECORD_NOT_FOUND"],
} as const;

const listCredentials: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/credentials",
  summary: "List credentials",
  description:
    "Lists the usernames with which programs use the APIs of other products, including revoked and expired ones. Passwords are not returned.",
  response: Type.Object({
    data: Type.Array(CredentialView, { description: "Credentials." }),
    nextCursor: Type.Null({ description: "Always null: all credentials are on one page." }),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: async ({ keyring }, { caller }) => ({
    data: keyring.credentialsOf(caller.account.id).map(credentialView),
    nextCursor: null,
  }),
};

const getCredential: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "GET",
  path: "/api/credentials/:id",
  summary: "Get a credential",
  description: "Returns the properties of a credential, without its password.",
  response: CredentialView,
  responseExample: example,
  handle: async (services, { params, caller }) =>
    credentialView(findCredential(services, caller.account.id, params.id ?? "")),
};

const postCredential = keyedRoute({
  ...common,
  method: "POST",
  role: "owner",
  path: "/api/credentials",
  summary: "Create a credential",
  status: 201,
  description:
    "Returns a username and a password for the API of another product (Twilio, Kannel or Jasmin), or a system id and a password for the SMPP server. The password is shown only once. A key can grant only scopes that it has itself, and cannot create a credential that expires later or is allowed from more addresses.",
  body: CreateBody,
  requestExamples: {
    kannel: { kind: "kannel", name: "Shop" },
    "twilio test": { kind: "twilio", name: "CI", mode: "test" },
    "smpp client": { kind: "smpp", name: "Reseller", window: 100, maxBinds: 4 },
  },
  response: NewCredentialView,
  responseExample: { ...example, password: "…" },
  bodyFaults: ({ right }, services) => [
    ...(right.form === "key" && right.kind !== undefined && right.kind !== "twilio"
      ? [{ parameter: "form", message: "Only a credential of the kind twilio has the form key." }]
      : []),
    ...smppFieldFaults(right.kind, right),
    ...expiryFaults(right.expiresAt, services),
    ...(right.kind && right.settings ? services.credentialSettings.faults(right.kind, right.settings) : []),
  ],
  handle: async (services, { body, caller, reply }) => {
    const { mode = caller.key.mode, form = "account", kind: of, name, allowedIps, requestsPerSecond, expiresAt } = body;
    const scopes = body.scopes ?? SCOPES_OF_KIND[of];
    const given = services.credentialSettings.change({}, body.settings ?? {});
    const chosen = { name, scopes, allowedIps, requestsPerSecond, expiresAt };
    refuseBeyond(caller, scopes);
    refuseWiderKey(caller, null, chosen);
    const { credential, password } = await createCredential(depsOf(services), caller.account.id, {
      kind: of,
      form,
      mode,
      settings: of === "smpp" ? smppSettingsIn(body) : given,
      ...chosen,
    });
    reply.code(201);
    return { ...credentialView(credential), password };
  },
});

const patchCredential = keyedRoute({
  ...common,
  ...ofOne,
  method: "PATCH",
  role: "owner",
  path: "/api/credentials/:id",
  summary: "Update a credential",
  description:
    "Changes only the fields in the request. A request made with a key can only narrow expiry and addresses; a logged-in owner can also widen them. Takes effect at once on this node and within five seconds on all others.",
  body: ChangeBody,
  requestExamples: { "lower rate limit": { requestsPerSecond: 10 } },
  response: CredentialView,
  responseExample: { ...example, requestsPerSecond: 10 },
  bodyFaults: ({ right }, services, { caller, params }) => {
    const kindOf = services.keyring.credentialsOf(caller.account.id).find(({ id }) => id === params.id)?.kind;
    return [
      ...smppFieldFaults(kindOf, right),
      ...expiryFaults(right.expiresAt, services),
      ...(kindOf && right.settings ? services.credentialSettings.faults(kindOf, right.settings) : []),
    ];
  },
  handle: async (services, { body, caller, params }) => {
    const before = findCredential(services, caller.account.id, params.id ?? "");
    const ofSmpp = smppSettingsIn(body);
    const changed =
      before.kind === "smpp"
        ? { ...before.settings, ...ofSmpp }
        : services.credentialSettings.change(before.settings, body.settings ?? {});
    const hasSettings = body.settings !== undefined || Object.keys(ofSmpp).length > 0;
    const change = {
      ...pickFields(choices, body),
      ...(hasSettings && { settings: changed }),
    };
    refuseBeyond(caller, change.scopes ?? []);
    if (change.expiresAt !== undefined || change.allowedIps !== undefined)
      refuseWiderKey(caller, before, { ...before, ...change });
    return credentialView(await changeCredential(services, caller.account.id, before.id, change));
  },
});

const deleteCredential: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "DELETE",
  role: "owner",
  path: "/api/credentials/:id",
  summary: "Revoke a credential",
  description:
    "Revokes a credential: at once on this node, within five seconds on all others. It stays in the list as revoked.",
  response: CredentialView,
  responseExample: { ...example, revokedAt: 1767225600000 },
  handle: async (services, { params, caller }) =>
    credentialView(await revokeCredential(services, caller.account.id, params.id ?? "")),
};

export const credentialRoutes = [listCredentials, getCredential, postCredential, patchCredential, deleteCredential];
