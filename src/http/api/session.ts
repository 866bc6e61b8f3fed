import { logIn } from "../../accounts/log-in.ts";
import type { OpenSession } from "../../accounts/sessions.ts";
import { Type } from "../../lib/schema.ts";
import type { Account } from "../../model/account.ts";
import { ROLES } from "../../model/user.ts";
import { refuseForeignOrigin } from "../admit-person.ts";
import type { Call, OpenRoute, PersonalRoute, Services } from "../route.ts";
import { endedCookie, readSessionToken, sessionCookie } from "../session-cookie.ts";

interface LogInBody {
  email: string;
  password: string;
  totp?: string;
}

const sessionView = (account: Account | null, { user, csrfToken, expiresAt }: OpenSession): object => ({
  user: {
    id: user.id,
    email: user.email,
    name: user.name,
    role: user.role,
    totp: user.totpSecret !== null,
    passwordDue: user.passwordDue,
  },
  account: { id: user.accountId, name: account?.name ?? "" },
  csrfToken,
  expiresAt,
});

async function postSession(services: Services, { request, reply, body }: Call): Promise<object> {
  const { people, keyring, baseUrl } = services;
  // A page of another site must not log somebody in as its own user either.
  refuseForeignOrigin(request.headers, baseUrl());
  void reply.header("cache-control", "no-store");
  const { email, password, totp } = body as LogInBody;
  const { token, session } = await logIn(people, { email, password, totp: totp ?? null, address: request.ip });
  const before = readSessionToken(request.headers.cookie);
  if (before) await people.store.removeSession(people.secrets.sessionDigest(before));
  void reply.header("set-cookie", sessionCookie(token, baseUrl(), people.sessionLimits.lifeMs));
  return sessionView(keyring.account(session.user.accountId), session);
}

const SessionView = Type.Object(
  {
    user: Type.Object(
      {
        id: Type.String({ description: "Names the person in paths." }),
        email: Type.String({ description: "What they log in with." }),
        name: Type.String({ description: "What they are called; may be empty." }),
        role: Type.Union(
          ROLES.map((role) => Type.Literal(role)),
          { description: "viewer reads, member works, owner decides." },
        ),
        totp: Type.Boolean({ description: "Whether the second factor is on." }),
        passwordDue: Type.Boolean({ description: "Whether the password has to be changed before anything else." }),
      },
      { description: "Who is logged in." },
    ),
    account: Type.Object(
      {
        id: Type.Integer({ description: "The account's number." }),
        name: Type.String({ description: "The account's name." }),
      },
      { description: "The account that they belong to." },
    ),
    csrfToken: Type.String({
      description: "To be sent as `x-csrf-token` with every request of this session that is not a GET.",
    }),
    expiresAt: Type.Integer({ description: "When the session ends unless it is used, in epoch milliseconds." }),
  },
  { title: "Session" },
);

const example = {
  user: {
    id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
    email: "admin@localhost",
    name: "",
    role: "owner",
    totp: false,
    passwordDue: false,
  },
  account: { id: 1, name: "default" },
  csrfToken: "qZ0o…",
  expiresAt: 1767268800000,
};

const common = { path: "/api/session", family: "plain", scope: null, group: "Login" } as const;

export const logInRoute: OpenRoute = {
  ...common,
  method: "POST",
  summary: "Log in",
  description:
    "Opens a session, which comes back as the cookie `heliograph_session`: for this host alone, and out of reach of scripts. It ends after 12 hours without use and after 7 days at the latest (settings of the server). Five wrong tries close the login for a minute, each further one for twice as long.",
  problems: ["LOGIN_FAILED", "TOTP_REQUIRED", "LOGIN_LOCKED", "RATE_LIMITED", "CSRF_REFUSED", "STORAGE_UNAVAILABLE"],
  body: Type.Object({
    email: Type.String({ maxLength: 300, description: "The person's address." }),
    password: Type.String({ maxLength: 1000, description: "The person's password." }),
    totp: Type.Optional(
      Type.String({ maxLength: 50, description: "The code of the authenticator app, or a recovery code." }),
    ),
  }),
  requestExamples: { "with a password": { email: "admin@localhost", password: "correct horse battery" } },
  response: SessionView,
  responseExample: example,
  handle: postSession,
};

export const getSession: PersonalRoute = {
  ...common,
  personal: true,
  method: "GET",
  summary: "Read who is logged in",
  description: "The person, the account and the token of the session that the cookie belongs to.",
  response: SessionView,
  responseExample: example,
  handle: async (_services, { caller }) => sessionView(caller.account, caller.session),
};

export const logOutRoute: PersonalRoute = {
  ...common,
  personal: true,
  method: "DELETE",
  audit: "logout",
  summary: "Log out",
  description: "Ends the session, on every node at once.",
  response: Type.Object({ ended: Type.Literal(true, { description: "Always true." }) }),
  responseExample: { ended: true },
  handle: async ({ people, baseUrl }, { caller, reply }) => {
    await people.store.removeSession(caller.session.digest);
    void reply.header("set-cookie", endedCookie(baseUrl()));
    return { ended: true };
  },
};
