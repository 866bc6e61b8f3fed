import type { Caller } from "../../accounts/caller.ts";
import { addPerson, resetPerson, type Welcomed } from "../../accounts/people.ts";
import { isUuid } from "../../lib/ids.ts";
import { nullable } from "../../lib/nullable.ts";
import { isPlainText } from "../../lib/plain-text.ts";
import { Type } from "../../lib/schema.ts";
import type { Role } from "../../model/account.ts";
import { SCOPES } from "../../model/api-key.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { passwordFault, readEmail, ROLES, type User } from "../../model/user.ts";
import { readLimit, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

const NAME_MAX = 100;

interface NewBody {
  email: string;
  name?: string;
  role: Role;
  password?: string;
}

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

const welcomedView = ({ user, password }: Welcomed): object => ({ ...userView(user), password });

async function getList({ store }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  if (query.cursor !== undefined && !isUuid(query.cursor))
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier answer." });
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

/** A person can do more than most keys: one that cannot do everything itself must not make somebody who can. */
function refuseLesserKeys({ session, key }: Caller): void {
  if (session || (key.mode === "live" && SCOPES.every((scope) => key.scopes.includes(scope)))) return;
  throw new Problem("INSUFFICIENT_SCOPE", { message: "Only a live key with every scope makes and changes people." });
}

const checkName = (name: string | undefined, faults: Fault[]): void => {
  if (name !== undefined && !isPlainText(name))
    faults.push({ parameter: "name", message: "A name has no control characters." });
};

async function post(services: Services, { body, caller, reply }: AuthenticCall): Promise<object> {
  refuseLesserKeys(caller);
  const { name = "", role, password, ...given } = body as NewBody;
  const faults: Fault[] = [];
  const email = readEmail(given.email) ?? "";
  if (email === "") faults.push({ parameter: "email", message: "email is an e-mail address, like ann@example.com." });
  checkName(name, faults);
  const fault = password === undefined ? null : passwordFault(password, email);
  if (fault !== null) faults.push({ parameter: "password", message: fault });
  refuseFaults(faults);
  const wishes = { email, name, role, password: password ?? null };
  const welcomed = await addPerson(services.people, caller.account.id, wishes);
  reply.code(201);
  return welcomedView(welcomed);
}

async function patch(services: Services, call: AuthenticCall): Promise<object> {
  refuseLesserKeys(call.caller);
  const { name, role, disabled } = call.body as Partial<Pick<User, "name" | "role" | "disabled">>;
  const faults: Fault[] = [];
  checkName(name, faults);
  refuseFaults(faults);
  const user = await find(services, call);
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
  name: Type.String({ maxLength: NAME_MAX, description: "What they are called." }),
  role: Type.Union(
    ROLES.map((role) => Type.Literal(role)),
    { description: "viewer reads, member works, owner decides." },
  ),
  disabled: Type.Boolean({ description: "Whether they are kept out; their sessions end at once." }),
};

const UserView = Type.Object(
  {
    id: Type.String({ description: "Names the person in paths." }),
    email: Type.String({ description: "What they log in with." }),
    ...fields,
    totp: Type.Boolean({ description: "Whether their second factor is on." }),
    passwordDue: Type.Boolean({ description: "Whether they have to choose a password at their next login." }),
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
    lastLoginAt: nullable(Type.Integer(), "When they last logged in; null when they never did."),
  },
  { title: "User" },
);

const WelcomedView = Type.Intersect(
  [
    UserView,
    Type.Object({
      password: nullable(
        Type.String(),
        "The password that was made up, which is shown this once and good for one login; null where one was given.",
      ),
    }),
  ],
  { title: "NewUser" },
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

const common = { family: "plain", scope: "manage", role: "owner", group: "Users" } as const;
const ofOne = {
  path: "/api/users/:id",
  params: { id: { meaning: "The person's `id`.", example: example.id } },
  problems: ["RECORD_NOT_FOUND"],
  response: UserView,
  responseExample: example,
} as const;
const changing = "For owners, and for live keys with every scope.";

/** Who may log in. */
export const userRoutes: readonly KeyedRoute[] = [
  {
    ...common,
    method: "GET",
    path: "/api/users",
    summary: "List users",
    description: "Everybody who can log in to the account, or could.",
    query: { cursor: "The nextCursor of the page before.", limit: "1 to 200, 50 unless given." },
    response: Type.Object({
      data: Type.Array(UserView, { description: "One page of people." }),
      nextCursor: nullable(Type.String(), "The cursor of the next page; null on the last."),
    }),
    responseExample: { data: [example], nextCursor: null },
    handle: getList,
  },
  {
    ...common,
    ...ofOne,
    method: "GET",
    summary: "Read a user",
    description: "One person.",
    handle: async (services, call) => userView(await find(services, call)),
  },
  {
    ...common,
    method: "POST",
    path: "/api/users",
    summary: "Make a user",
    status: 201,
    description: `Without a password one is made up, shown once, and has to be changed at the first login. ${changing}`,
    problems: ["NAME_TAKEN"],
    body: Type.Object({
      email: Type.String({ maxLength: 300, description: "What they log in with; no two people share one." }),
      name: Type.Optional(fields.name),
      role: fields.role,
      password: Type.Optional(
        Type.String({ maxLength: 1000, description: "10 to 200 characters, and not the e-mail address." }),
      ),
    }),
    requestExamples: { "a member": { email: "ann@example.com", name: "Ann", role: "member" } },
    response: WelcomedView,
    responseExample: welcomedExample,
    handle: post,
  },
  {
    ...common,
    ...ofOne,
    method: "PATCH",
    summary: "Change a user",
    description: `Changes name or role, or keeps somebody out. The last owner who can log in stays one. ${changing}`,
    problems: ["RECORD_NOT_FOUND", "LAST_OWNER"],
    body: Type.Partial(Type.Object(fields)),
    requestExamples: { "another role": { role: "viewer" }, "kept out": { disabled: true } },
    handle: patch,
  },
  {
    ...common,
    ...ofOne,
    method: "POST",
    path: "/api/users/:id/reset-password",
    summary: "Reset a user's password",
    description: `For somebody who has lost the password or the second factor: makes up a new password, switches the second factor off and ends every session. ${changing}`,
    response: WelcomedView,
    responseExample: welcomedExample,
    handle: async (services, call) => {
      refuseLesserKeys(call.caller);
      const user = await find(services, call);
      // A browser left open must not be enough to take over whose it is.
      if (call.caller.session?.user.id === user.id)
        throw new Problem("INVALID_REQUEST", {
          message:
            "Your own password is changed with `PATCH /api/session/password`; another owner can reset it for you.",
        });
      return welcomedView(await resetPerson(services.people, user));
    },
  },
  {
    ...common,
    ...ofOne,
    method: "DELETE",
    summary: "Remove a user",
    description: `Ends every session of the person, and answers who it was. The last owner who can log in stays. ${changing}`,
    problems: ["RECORD_NOT_FOUND", "LAST_OWNER"],
    handle: remove,
  },
];
