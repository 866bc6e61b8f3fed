import { randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Services } from "../route.ts";
import { readSessionToken } from "../auth/session-cookie.ts";
import { readBuilt } from "./built-file.ts";

/** Placeholder that the build puts in place of the nonce. */
const NONCE_PLACEHOLDER = /STYLE_NONCE/g;
/** Scripts cannot read the cookie, so the page says whether there is one and saves a request. */
const VISITOR_META = '<meta name="visitor" content="known" />';
const BASE_ELEMENT = '<base href="/" />';

/**
 * Content security policy (XSS): scripts only from our files, styles from our files or with the nonce of this response.
 * Style attributes in markup are not allowed; scripts set styles through the DOM, which needs no permission.
 */
const contentSecurityPolicy = (nonce: string): string =>
  "default-src 'none'; script-src 'self'; " +
  `style-src 'self' 'nonce-${nonce}'; ` +
  "img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; " +
  "base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

/** Sends the dashboard for any of its URLs; false if it has not been built. */
export async function sendDashboard(
  { baseUrl, hstsSeconds }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const page = await readBuilt("", "index.html");
  if (!page) return false;
  const nonce = randomBytes(16).toString("base64");
  const { pathname } = new URL(`${baseUrl()}/`);
  const text = page.identity
    .toString("utf8")
    .replace(NONCE_PLACEHOLDER, nonce)
    .replace(BASE_ELEMENT, `<base href="${pathname}" />`)
    .replace(
      VISITOR_META,
      readSessionToken(request.headers.cookie) ? VISITOR_META : '<meta name="visitor" content="stranger" />',
    );
  if (hstsSeconds > 0 && baseUrl().startsWith("https:"))
    reply.header("strict-transport-security", `max-age=${hstsSeconds}`);
  await reply
    .type("text/html; charset=utf-8")
    // The nonce is for one response, and a new build must show at once.
    .header("cache-control", "no-store")
    .header("content-security-policy", contentSecurityPolicy(nonce))
    .header("cross-origin-opener-policy", "same-origin")
    .header("permissions-policy", "camera=(), geolocation=(), microphone=()")
    .header("referrer-policy", "no-referrer")
    .header("x-content-type-options", "nosniff")
    .send(text);
  return true;
}

/** Paths of the API: a missing one is a 404 in JSON, also for browsers. */
const NOT_PAGES = /^\/(?:api|v1|docs|s|assets|healthz|readyz|metrics|openapi\.json)(?:[/?]|$)/;

/** A page request of a browser. The dashboard itself handles unknown pages. */
export const isPageRequest = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === "GET" || method === "HEAD") && (headers.accept ?? "").includes("text/html") && !NOT_PAGES.test(url);
