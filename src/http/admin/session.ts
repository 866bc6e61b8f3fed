import { logIn } from "../../accounts/log-in.ts";
import type { OpenSession } from "../../accounts/sessions.ts";
import { Type } from "../../lib/schema.ts";
import type { Account } from "../../model/account.ts";
import { ROLES } from "../../model/user.ts";
import { rejectForeignOrigin } from "../auth/admit-session.ts";
import { clientAddressOf } from "../auth/request-caller.ts";
import { openRoute, type Call, type PersonalRoute, type Services, type WithBody } from "../route.ts";
import {
  browserCookie,
  clearedSessionCookie,
  readBrowserToken,
  readSessionToken,
  sessionCookie,
} from "../auth/session-cookie.ts";

/** Longest stored name of a browser. */
const AGENT_MAX = 300;

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

async function postSession(
  services: Services,
  { request, reply, body }: WithBody<Call, typeof LogInBody>,
): Promise<object> {
  const { loginDeps: people, keyring, baseUrl } = services;
  // Login CSRF: another site must not log a visitor in as its own user.
  rejectForeignOrigin(request.headers, baseUrl());
  void reply.header("cache-control", "no-store");
  const { email, password, totp, code } = body;
  const { token, session, browser } = await logIn(people, {
    email,
    password,
    totp: totp ?? code ?? null,
    address: clientAddressOf(request),
    agent: (request.headers["user-agent"] ?? "").slice(0, AGENT_MAX),
    browser: readBrowserToken(request.headers.cookie),
  });
  const before = readSessionToken(request.headers.cookie);
  if (before) await people.store.removeSession(people.secrets.sessionDigest(before));
  void reply.header("set-cookie", sessionCookie(token, baseUrl(), people.sessionLimits.lifeMs));
  void reply.header("set-cookie", browserCookie(browser, baseUrl()));
  return sessionView(keyring.account(session.user.accountId), session);
}

const SessionView = Type.Object(
  {
    user: Type.Object(
      {
        id: Type.String({ description: "User ID." }),
        email: Type.String({ description: "Email address used to log in." }),
        name: Type.String({ description: "Display name; may be empty." }),
        role: Type.Union(
          ROLES.map((role) => Type.Literal(role)),
          {
            description:
              "viewer: read-only. member: can send and edit. owner: can also manage users, keys and settings.",
          },
        ),
        totp: Type.Boolean({ description: "True if two-factor authentication is on." }),
        passwordDue: Type.Boolean({ description: "True if the password must be changed before any other operation." }),
      },
      { description: "Logged-in user." },
    ),
    account: Type.Object(
      {
        id: Type.Integer({ description: "Account number." }),
        name: Type.String({ description: "Account name." }),
      },
      { description: "Account of the user." },
    ),
    csrfToken: Type.String({
      description: "CSRF token. Send it as `x-csrf-token` with every request of this session except GET.",
    }),
    expiresAt: Type.Integer({ description: "Expiry of the session if it is not used, in epoch milliseconds." }),
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

const LogInBody = Type.Object({
  email: Type.String({ maxLength: 300, description: "Email address of the user." }),
  password: Type.String({ maxLength: 1000, description: "Password of the user." }),
  totp: Type.Optional(
    Type.String({ maxLength: 50, description: "Code of the authenticator app, or a recovery code." }),
  ),
  code: Type.Optional(Type.String({ maxLength: 50, description: "Alias of `totp`." })),
});

export const logInRoute = openRoute({
  ...common,
  method: "POST",
  summary: "Log in",
  description:
    "Creates a session and sets the cookie `heliograph_session` (HttpOnly, this host only). It ends after 12 hours of inactivity or after 7 days (server settings). After five failures from one network, logins are blocked for a minute, doubling with each further failure; after fifty failures from anywhere, unknown browsers may try once per ten seconds. The cookie `heliograph_browser` identifies known browsers.",
  problems: ["LOGIN_FAILED", "TOTP_REQUIRED", "LOGIN_LOCKED", "RATE_LIMITED", "CSRF_REFUSED", "STORAGE_UNAVAILABLE"],
  bodyBytesMax: 16_384,
  body: LogInBody,
  requestExamples: { "with a password": { email: "admin@localhost", password: "correct horse battery" } },
  response: SessionView,
  responseExample: example,
  bodyFaults: ({ right: { totp, code } }) =>
    totp === undefined || code === undefined || totp === code
      ? []
      : [{ parameter: "code", message: "code is an alias of totp: give only one of them." }],
  handle: postSession,
});

export const getSession: PersonalRoute = {
  ...common,
  personal: true,
  method: "GET",
  summary: "Get the current session",
  description: "Returns the user, the account and the CSRF token of the session.",
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
  description: "Ends the session on all nodes at once.",
  response: Type.Object({ ended: Type.Literal(true, { description: "Always true." }) }),
  responseExample: { ended: true },
  handle: async ({ loginDeps: people, baseUrl }, { caller, reply }) => {
    await people.store.removeSession(caller.session.digest);
    void reply.header("set-cookie", clearedSessionCookie(baseUrl()));
    return { ended: true };
  },
};
