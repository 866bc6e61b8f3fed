import type { Answer } from "./test-server.ts";

/** Response of /api/session. */
export interface SessionBody {
  user: { id: string; email: string; name: string; role: string; totp: boolean; passwordDue: boolean };
  account: { id: number; name: string };
  csrfToken: string;
  expiresAt: number;
}

/** A logged-in user: requests carry the session cookie, and the CSRF token for changes. */
export interface SessionUser {
  cookie: string;
  session: SessionBody;
  request<T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
}

interface Credentials {
  email: string;
  password: string;
  totp?: string;
}

/** A request without cookie, token or key. */
export async function requestAnonymously<T>(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
}

/** Logs in; throws if the credentials are refused. */
export async function logIn(
  url: string,
  credentials: Credentials,
  headers: Record<string, string> = {},
): Promise<SessionUser> {
  const answer = await requestAnonymously<SessionBody>(url, "POST", "/api/session", credentials, headers);
  if (answer.status !== 200) throw new Error(`login refused: ${JSON.stringify(answer.body)}`);
  const cookie = cookieOf(answer);
  const session = answer.body;
  return {
    cookie,
    session,
    request: (method, path, body, more = {}) =>
      requestAnonymously(url, method, path, body, {
        cookie,
        ...(method === "GET" ? {} : { "x-csrf-token": session.csrfToken }),
        ...headers,
        ...more,
      }),
  };
}

/** The cookie of a response, in the form that a client sends back. */
export const cookieOf = ({ headers }: Pick<Answer<unknown>, "headers">): string =>
  (headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
