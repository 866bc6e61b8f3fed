const NAME = "heliograph_session";
const BROWSER_NAME = "heliograph_browser";
const BROWSER_SECONDS = 180 * 86_400;

/**
 * The session token in a `Cookie` header; null if there is none. Another host of the same domain can set a cookie of this name
 * (cookie tossing), so two different values make the token invalid.
 */
export function readSessionToken(header: string | undefined): string | null {
  const values = cookiesOf(header, NAME);
  if (values.size === 0) return null;
  const [token = ""] = values;
  return values.size === 1 && /^[\w-]{43}$/.test(token) ? token : "";
}

/** `Set-Cookie` of a session: for this host, not readable by scripts, and not sent with cross-site changes (CSRF). */
export const sessionCookie = (token: string, baseUrl: string, lifeMs: number): string =>
  `${NAME}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${Math.floor(lifeMs / 1000)}${isSecure(baseUrl) ? "; Secure" : ""}`;

const cookiesOf = (header: string | undefined, name: string): ReadonlySet<string> =>
  new Set(
    (header ?? "")
      .split(";")
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${name}=`))
      .map((pair) => pair.slice(name.length + 1)),
  );

/** Token of a browser that has logged in before; null if there is none, or more than one. */
export function readBrowserToken(header: string | undefined): string | null {
  const [token, ...others] = cookiesOf(header, BROWSER_NAME);
  return token !== undefined && others.length === 0 ? token : null;
}

/** Recognises the browser at its next login. It grants no access, and only the login path receives it. */
export const browserCookie = (token: string, baseUrl: string): string =>
  `${BROWSER_NAME}=${token}; Path=/api/session; HttpOnly; SameSite=Strict; Max-Age=${BROWSER_SECONDS}${isSecure(baseUrl) ? "; Secure" : ""}`;

export const clearedSessionCookie = (baseUrl: string): string => sessionCookie("", baseUrl, 0);

const isSecure = (baseUrl: string): boolean => baseUrl.startsWith("https:");
