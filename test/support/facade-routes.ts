import { createFacades } from "../../src/app/facades.ts";
import type { FacadeRoute } from "../../src/http/facade.ts";
import { CREDENTIAL_KINDS, type CredentialKind } from "../../src/model/credential.ts";
import type { Login } from "./credential.ts";

/** A route of an API of another product. */
export interface NamedFacadeRoute extends FacadeRoute {
  kind: CredentialKind;
  /** `METHOD path`. */
  name: string;
}

export const FACADE_ROUTES: readonly NamedFacadeRoute[] = createFacades(CREDENTIAL_KINDS).flatMap(({ kind, routes }) =>
  routes.map((route) => ({ ...route, kind, name: `${route.method} ${route.path}` })),
);

/** A request to a route, without its login. */
export interface FacadeAttempt {
  /** Parts of the path, by the name of the parameter. */
  params?: Readonly<Record<string, string>>;
  /** Parameters of the query, or of the form where the method is POST. */
  fields?: Readonly<Record<string, string>>;
  /** A JSON body in place of a form. */
  json?: unknown;
}

/** Paths whose login is in the parameters; the others have HTTP Basic. */
const BY_PARAMETERS = /^\/(?:cgi-bin\/|status|send|rate|balance)/;

/** The request in the form of its API. */
export function facadeRequest(
  { method, path, name }: Pick<NamedFacadeRoute, "method" | "path" | "name">,
  { params = {}, fields = {}, json }: FacadeAttempt,
  login: Pick<Login, "username" | "password"> | null,
): { method: string; path: string; headers: Record<string, string>; body: string | null } {
  const isOpen = name === "GET /ping";
  const byParameters = BY_PARAMETERS.test(path);
  const all = new URLSearchParams({
    ...fields,
    ...(byParameters && login ? { username: login.username, password: login.password } : {}),
  });
  const filled = path.replaceAll(/:(\w+)/g, (_, part: string) => encodeURIComponent(params[part] ?? ""));
  const headers: Record<string, string> =
    byParameters || isOpen || !login ? {} : { authorization: `Basic ${btoa(`${login.username}:${login.password}`)}` };
  if (method !== "POST") {
    const query = all.toString();
    return { method, path: query === "" ? filled : `${filled}?${query}`, headers, body: null };
  }
  if (json !== undefined)
    return {
      method,
      path: filled,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(json),
    };
  const form = { ...headers, "content-type": "application/x-www-form-urlencoded" };
  return { method, path: filled, headers: form, body: all.toString() };
}
