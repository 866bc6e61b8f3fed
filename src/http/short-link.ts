import { createHash } from "node:crypto";
import { validateHeaderValue } from "node:http";
import { CODE_PATTERN, isCode } from "../links/code.ts";
import type { Follow } from "../links/follow.ts";
import { html, Html } from "./openapi/html.ts";
import type { Call, OpenRoute, Services } from "./route.ts";

const STYLE =
  "body{font:18px/1.5 system-ui,sans-serif;max-width:30rem;margin:20vh auto;padding:0 1.5rem;text-align:center}";

const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

/** Allows only the inline style above, by its hash. */
const CONTENT_SECURITY_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A page for the recipient of a message. It does not reveal the operator of the server. */
const page = (title: string, sentence: string): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <h1>${title}</h1>
        <p>${sentence}</p>
      </body>
    </html> `.text;

type Header = readonly [name: string, value: string];

interface LinkResponse {
  status: number;
  contentType: string;
  headers: readonly Header[];
  text: string;
}

/** Keeps the link out of caches and of `Referer` headers. */
const PRIVACY_HEADERS: readonly Header[] = [
  ["cache-control", "no-store"],
  ["referrer-policy", "no-referrer"],
];

const pageResponse = (status: number, title: string, sentence: string): LinkResponse => ({
  status,
  contentType: "text/html; charset=utf-8",
  headers: [
    ...PRIVACY_HEADERS,
    ["content-security-policy", CONTENT_SECURITY_POLICY],
    ["x-content-type-options", "nosniff"],
  ],
  text: page(title, sentence),
});

const PAGES = {
  unknown: pageResponse(
    404,
    "There is no such link",
    "Check that you have opened the whole link as it was sent to you.",
  ),
  gone: pageResponse(410, "This link has expired", "Ask its sender for a new one."),
};

/**
 * Response to a short link, on both HTTP paths. `Location` is always the stored target and contains nothing of the request
 * (open redirect).
 */
export function linkResponse(followed: Awaited<ReturnType<Follow["follow"]>>): LinkResponse {
  if (followed.kind !== "found") return PAGES[followed.kind];
  const { url } = followed;
  validateHeaderValue("location", url);
  return {
    status: 302,
    contentType: "text/plain; charset=utf-8",
    headers: [...PRIVACY_HEADERS, ["location", url]],
    text: "",
  };
}

async function followLink({ links }: Services, { request, reply, params }: Call): Promise<string> {
  const { code = "" } = params;
  const { status, contentType, headers, text } = isCode(code)
    ? linkResponse(await links.follow(code, request.headers["user-agent"], request.method))
    : PAGES.unknown;
  reply.code(status).type(contentType);
  for (const [name, value] of headers) reply.header(name, value);
  return text;
}

const linkRoute = (path: string): OpenRoute => ({
  method: "GET",
  path,
  family: "plain",
  scope: null,
  group: "Short links",
  hidden: true,
  summary: "Follow a short link",
  description: "Redirects to the target of a short link.",
  response: null,
  responseExample: null,
  handle: followLink,
});

/** Also at the root, so that a short domain can point here. There only paths that have the form of a code match. */
export const shortLinkRoutes: readonly OpenRoute[] = [linkRoute("/s/:code"), linkRoute(`/:code(^${CODE_PATTERN}$)`)];
