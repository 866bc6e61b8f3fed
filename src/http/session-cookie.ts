const NAME = "heliograph_session";

/**
 * The token in a `Cookie` header; null where there is none. Cookies of one name may come from a neighbouring host or port:
 * two that differ are nobody's, because one of them would be somebody else's choice.
 */
export function readSessionToken(header: string | undefined): string | null {
  const values = new Set(
    (header ?? "")
      .split(";")
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${NAME}=`))
      .map((pair) => pair.slice(NAME.length + 1)),
  );
  if (values.size === 0) return null;
  const [token = ""] = values;
  return values.size === 1 && /^[\w-]{43}$/.test(token) ? token : "";
}

/** Sets the cookie of a session: for this host alone, for no script, and not sent along by other sites' requests that change something. */
export const sessionCookie = (token: string, baseUrl: string, lifeMs: number): string =>
  `${NAME}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${Math.floor(lifeMs / 1000)}${isSecure(baseUrl) ? "; Secure" : ""}`;

/** Takes the cookie away. */
export const endedCookie = (baseUrl: string): string => sessionCookie("", baseUrl, 0);

const isSecure = (baseUrl: string): boolean => baseUrl.startsWith("https:");
