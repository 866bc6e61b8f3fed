import type { Answer } from "./house.ts";

/** What a session answers of itself. */
export interface SessionBody {
  user: { id: string; email: string; name: string; role: string; totp: boolean; passwordDue: boolean };
  account: { id: number; name: string };
  csrfToken: string;
  expiresAt: number;
}

/** A person with a browser: requests carry the cookie, and the token where something is changed. */
export interface Person {
  cookie: string;
  session: SessionBody;
  ask<T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
}

interface Credentials {
  email: string;
  password: string;
  totp?: string;
}

/** Any request, with nothing but what is given. */
export async function askBare<T>(
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

/** Logs somebody in; fails unless they get in. */
export async function logIn(
  url: string,
  credentials: Credentials,
  headers: Record<string, string> = {},
): Promise<Person> {
  const answer = await askBare<SessionBody>(url, "POST", "/api/session", credentials, headers);
  if (answer.status !== 200) throw new Error(`nobody was let in: ${JSON.stringify(answer.body)}`);
  const cookie = cookieOf(answer);
  const session = answer.body;
  return {
    cookie,
    session,
    ask: (method, path, body, more = {}) =>
      askBare(url, method, path, body, {
        cookie,
        ...(method === "GET" ? {} : { "x-csrf-token": session.csrfToken }),
        ...headers,
        ...more,
      }),
  };
}

/** The cookie that an answer sets, as it is sent back. */
export const cookieOf = ({ headers }: Pick<Answer<unknown>, "headers">): string =>
  (headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
