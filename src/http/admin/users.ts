import type { Caller } from "../../accounts/caller.ts";
import { inviteUser } from "../../accounts/invitations.ts";
import { addUser, resetUser, type AddedUser } from "../../accounts/users.ts";
import { isUuid } from "../../lib/ids.ts";
import { nullable, Type, type Infer } from "../../lib/schema.ts";
import { isPlainText } from "../../lib/text.ts";
import { SCOPES } from "../../model/api-key.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { passwordFault, readEmail, ROLES, type User } from "../../model/user.ts";
import type { CheckedFields } from "../check-body.ts";
import { readLimit } from "../pagination.ts";
import { pageParameters } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services, type WithBody } from "../route.ts";

const NAME_MAX = 100;
const OWN_PASSWORD = "Change your own password with `PATCH /api/session/password`, or ask another owner to reset it.";

const userView = (user: User): object => ({
  id: user.id,
  email: user.email,
  name: user.name,
  role: user.role,
  disabled: user.disabled,
  totp: user.totpSecret !== null,
  passwordDue: user.passwordDue,
  createdAt: user.createdAt,
  lastLoginAt: user.lastLoginAt,
});

/** The token is in the fragment, which browsers do not send: it appears in no log of a server or a proxy. */
const invitationView = ({ baseUrl }: Services, { token, expiresAt }: { token: string; expiresAt: number }): object => ({
  url: `${baseUrl()}/invitation#${token}`,
  expiresAt,
});

const welcomedView = ({ user, password }: AddedUser): object => ({ ...userView(user), password });

async function getList({ store }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  if (query.cursor !== undefined && !isUuid(query.cursor))
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  refuseFaults(faults);
  const { rows, next } = await store.listUsers(caller.account.id, query.cursor ?? null, limit);
  return { data: rows.map(userView), nextCursor: next };
}

async function find({ store }: Services, { params, caller }: AuthenticCall): Promise<User> {
  const { id = "" } = params;
  const user = isUuid(id) ? await store.findUserById({ accountId: caller.account.id, id }) : null;
  if (!user) throw new Problem("RECORD_NOT_FOUND");
  return user;
}

/**
 * Privilege escalation: a user can do more than most keys, so only a key with all scopes may create or change users.
 */
function refuseLesserKeys({ session, key }: Caller): void {
  if (session || (key.mode === "live" && SCOPES.every((scope) => key.scopes.includes(scope)))) return;
  throw new Problem("INSUFFICIENT_SCOPE", { message: "Only a live key with all scopes may manage users." });
}

/** A password must not be the email address, so the schema alone cannot check it. */
function passwordFaults({
  right: { email = "", password, inviteHours },
}: CheckedFields<Infer<typeof NewBody>>): Fault[] {
  if (password !== undefined && inviteHours !== undefined)
    return [
      { parameter: "inviteHours", message: "Give either a password or inviteHours: who is invited chooses one." },
    ];
  const message = password === undefined ? null : passwordFault(password, readEmail(email) ?? "");
  return message === null ? [] : [{ parameter: "password", message }];
}

async function post(
  services: Services,
  { body, caller, reply }: WithBody<AuthenticCall, typeof NewBody>,
): Promise<object> {
  refuseLesserKeys(caller);
  const { email, name, role, password, inviteHours } = body;
  const wishes = { email: readEmail(email) ?? "", name, role, password: password ?? null };
  const welcomed = await addUser(services.loginDeps, caller.account.id, wishes);
  reply.code(201);
  if (inviteHours === undefined) return { ...welcomedView(welcomed), invitation: null };
  const invitation = await inviteUser(services.loginDeps, welcomed.user, inviteHours);
  return { ...userView(welcomed.user), password: null, invitation: invitationView(services, invitation) };
}

async function patch(services: Services, call: WithBody<AuthenticCall, typeof ChangeBody>): Promise<object> {
  refuseLesserKeys(call.caller);
  const { name, role, disabled } = call.body;
  const user = await find(services, call);
  call.noteBefore?.(userView(user));
  const result = await services.store.changeUser(user, {
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    ...(disabled === undefined ? {} : { disabled }),
  });
  if (result === "last owner") throw new Problem("LAST_OWNER");
  return userView(await find(services, call));
}

async function remove(services: Services, call: AuthenticCall): Promise<object> {
  refuseLesserKeys(call.caller);
  const user = await find(services, call);
  const result = await services.store.removeUser(user);
  if (result === "last owner") throw new Problem("LAST_OWNER");
  return userView(user);
}

const fields = {
  name: Type.String({
    maxLength: NAME_MAX,
    description: "Display name.",
    check: (name) => (isPlainText(name) ? null : "A name must not contain control characters."),
  }),
  role: Type.Union(
    ROLES.map((role) => Type.Literal(role)),
    { description: "viewer: read-only. member: can send and edit. owner: can also manage users, keys and settings." },
  ),
  disabled: Type.Boolean({ description: "True if the user cannot log in. Disabling ends all their sessions at once." }),
};

const inviteHours = Type.Integer({
  minimum: 1,
  maximum: 336,
  description: "Hours for which a link is valid with which the user chooses a password.",
});

const NewBody = Type.Object({
  email: Type.String({
    maxLength: 300,
    description: "Email address used to log in; unique on the server.",
    check: (email) => (readEmail(email) === null ? "email must be an email address, such as ann@example.com." : null),
  }),
  name: Type.Default(fields.name, ""),
  role: fields.role,
  password: Type.Optional(
    Type.String({ maxLength: 1000, description: "10 to 200 characters, not the email address." }),
  ),
  inviteHours: Type.Optional(inviteHours),
});

const InviteBody = Type.Object({ hours: Type.Default(inviteHours, 72) });

const ChangeBody = Type.Partial(Type.Object(fields));

const UserView = Type.Object(
  {
    id: Type.String({ description: "User ID." }),
    email: Type.String({ description: "Email address used to log in." }),
    ...fields,
    totp: Type.Boolean({ description: "True if two-factor authentication is on." }),
    passwordDue: Type.Boolean({ description: "True if the user must choose a new password at the next login." }),
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
    lastLoginAt: nullable(Type.Integer(), "Time of the last login; null if they never logged in."),
  },
  { title: "User" },
);

const InvitationView = Type.Object(
  {
    url: Type.String({ description: "Link to send to the user, shown only once and valid once." }),
    expiresAt: Type.Integer({ description: "End of its validity, in epoch milliseconds." }),
  },
  { title: "Invitation" },
);

const WelcomedView = Type.Intersect(
  [
    UserView,
    Type.Object({
      password: nullable(
        Type.String(),
        "Temporary password, shown only once and valid for one login; null if a password was given.",
      ),
    }),
  ],
  { title: "NewUser" },
);

const CreatedView = Type.Intersect(
  [WelcomedView, Type.Object({ invitation: nullable(InvitationView, "With `inviteHours`; otherwise null.") })],
  { title: "CreatedUser" },
);

const example = {
  id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
  email: "ann@example.com",
  name: "Ann",
  role: "member",
  disabled: false,
  totp: false,
  passwordDue: false,
  createdAt: 1767225600000,
  lastLoginAt: null,
};
const welcomedExample = { ...example, passwordDue: true, password: "5f0c8-e2b6d-47a1b-9c3e0" };

const common = { family: "plain", scope: "manage", testKeys: null, role: "owner", group: "Users" } as const;
const ofOne = {
  path: "/api/users/:id",
  params: { id: { meaning: "User ID.", example: example.id } },
  problems: ["RECORD_NOT_FOUND"],
  response: UserView,
  responseExample: example,
} as const;
const changing = "Requires an owner, or a live key with all scopes.";

export const userRoutes: readonly KeyedRoute[] = [
  {
    ...common,
    method: "GET",
    path: "/api/users",
    summary: "List users",
    description: "Lists all users of the account, including disabled ones.",
    query: pageParameters(example.id),
    response: Type.Object({
      data: Type.Array(UserView, { description: "Users on this page." }),
      nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
    }),
    responseExample: { data: [example], nextCursor: null },
    handle: getList,
  },
  {
    ...common,
    ...ofOne,
    method: "GET",
    summary: "Get a user",
    description: "Returns one user.",
    handle: async (services, call) => userView(await find(services, call)),
  },
  keyedRoute({
    ...common,
    method: "POST",
    path: "/api/users",
    summary: "Create a user",
    status: 201,
    description: `Without a password, a temporary one is generated and shown once; the user must change it at the first login. With \`inviteHours\`, the user gets a link instead. ${changing}`,
    problems: ["NAME_TAKEN"],
    body: NewBody,
    requestExamples: {
      "a member": { email: "ann@example.com", name: "Ann", role: "member" },
      "invited by a link": { email: "ben@example.com", role: "member", inviteHours: 72 },
    },
    response: CreatedView,
    responseExample: { ...welcomedExample, invitation: null },
    bodyFaults: passwordFaults,
    handle: post,
  }),
  keyedRoute({
    ...common,
    ...ofOne,
    method: "PATCH",
    summary: "Update a user",
    description: `Changes name or role, or disables the user. The last active owner cannot be demoted or disabled. ${changing}`,
    problems: ["RECORD_NOT_FOUND", "LAST_OWNER"],
    body: ChangeBody,
    requestExamples: { "another role": { role: "viewer" }, disable: { disabled: true } },
    handle: patch,
  }),
  {
    ...common,
    ...ofOne,
    method: "POST",
    path: "/api/users/:id/reset-password",
    summary: "Reset a user's password",
    description: `Generates a temporary password, disables two-factor authentication and ends all sessions of the user. Use it if the password or the authenticator was lost. ${changing}`,
    response: WelcomedView,
    responseExample: welcomedExample,
    handle: async (services, call) => {
      refuseLesserKeys(call.caller);
      const user = await find(services, call);
      // An unattended session must not be enough to take over its user.
      if (call.caller.session?.user.id === user.id) throw new Problem("INVALID_REQUEST", { message: OWN_PASSWORD });
      return welcomedView(await resetUser(services.loginDeps, user));
    },
  },
  keyedRoute({
    ...common,
    ...ofOne,
    method: "POST",
    path: "/api/users/:id/invite",
    summary: "Invite a user by link",
    description: `Creates a link with which the user chooses a new password. It works once, replaces earlier links, and ends all sessions of the user when it is used; the second factor stays. ${changing}`,
    problems: ["RECORD_NOT_FOUND"],
    body: InviteBody,
    requestExamples: { "for three days": { hours: 72 } },
    response: InvitationView,
    responseExample: {
      url: "https://messages.example.com/invitation#mO5q7c1aB0y2sN4kPpVd8wQ6tR3uE9zXjHgLfKiYxTs",
      expiresAt: 1767484800000,
    },
    handle: async (services, call) => {
      refuseLesserKeys(call.caller);
      const user = await find(services, call);
      if (call.caller.session?.user.id === user.id) throw new Problem("INVALID_REQUEST", { message: OWN_PASSWORD });
      return invitationView(services, await inviteUser(services.loginDeps, user, call.body.hours));
    },
  }),
  {
    ...common,
    ...ofOne,
    method: "DELETE",
    summary: "Delete a user",
    description: `Ends all sessions of the user, deletes the user and returns it. The last active owner cannot be deleted. ${changing}`,
    problems: ["RECORD_NOT_FOUND", "LAST_OWNER"],
    handle: remove,
  },
];
