import { randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Services } from "../route.ts";
import { readSessionToken } from "../session-cookie.ts";
import { readBuilt } from "./built-file.ts";

/** What the build leaves where the nonce of the page belongs. */
const NONCE_PLACE = /STYLE_NONCE/g;
/** Scripts cannot see the cookie: who comes without one is told so, and need not ask. */
const VISITOR_PLACE = '<meta name="visitor" content="known" />';
const BASE_PLACE = '<base href="/" />';

/**
 * Scripts come from files of ours only, styles from files or with the nonce that only this page knows. Elements are
 * styled by script, which needs no permission; a style attribute in markup would, and is not allowed.
 */
const policyWith = (nonce: string): string =>
  "default-src 'none'; script-src 'self'; " +
  `style-src 'self' 'nonce-${nonce}'; ` +
  "img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; " +
  "base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

/** Answers with the dashboard, whatever its address within it is; false where none has been built. */
export async function sendDashboard(
  { baseUrl }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const page = await readBuilt("", "index.html");
  if (!page) return false;
  const nonce = randomBytes(16).toString("base64");
  const { pathname } = new URL(`${baseUrl()}/`);
  const text = page
    .toString("utf8")
    .replace(NONCE_PLACE, nonce)
    .replace(BASE_PLACE, `<base href="${pathname}" />`)
    .replace(
      VISITOR_PLACE,
      readSessionToken(request.headers.cookie) ? VISITOR_PLACE : '<meta name="visitor" content="stranger" />',
    );
  await reply
    .type("text/html; charset=utf-8")
    // The nonce is good once, and a newer build is found at once.
    .header("cache-control", "no-store")
    .header("content-security-policy", policyWith(nonce))
    .header("cross-origin-opener-policy", "same-origin")
    .header("permissions-policy", "camera=(), geolocation=(), microphone=()")
    .header("referrer-policy", "no-referrer")
    .header("x-content-type-options", "nosniff")
    .send(text);
  return true;
}

/** Paths of programs: who asks for one that is not there is told so in JSON, in a browser too. */
const NOT_PAGES = /^\/(?:api|v1|docs|s|assets|healthz|readyz|metrics|openapi\.json)(?:[/?]|$)/;

/** Whether a browser asks for a page; the dashboard itself knows which pages there are. */
export const asksForPage = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === "GET" || method === "HEAD") && (headers.accept ?? "").includes("text/html") && !NOT_PAGES.test(url);
