import { createHash } from "node:crypto";
import { validateHeaderValue } from "node:http";
import { CODE_PATTERN, isCode } from "../links/code.ts";
import type { Follow } from "../links/follow.ts";
import { html, Html } from "./docs/html.ts";
import type { Call, OpenRoute, Services } from "./route.ts";

const STYLE =
  "body{font:18px/1.5 system-ui,sans-serif;max-width:30rem;margin:20vh auto;padding:0 1.5rem;text-align:center}";

const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

/** Nothing at all but the few lines of style above, which are named by their hash. */
const CONTENT_SECURITY_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A page for whoever opened a link on their phone: it does not say whose server this is. */
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

interface LinkAnswer {
  status: number;
  type: string;
  headers: readonly Header[];
  text: string;
}

/** What an answer says of itself, whatever it is: it is for one person and one moment, and tells nobody of the link. */
const DISCREET: readonly Header[] = [
  ["cache-control", "no-store"],
  ["referrer-policy", "no-referrer"],
];

const pageAnswer = (status: number, title: string, sentence: string): LinkAnswer => ({
  status,
  type: "text/html; charset=utf-8",
  headers: [...DISCREET, ["content-security-policy", CONTENT_SECURITY_POLICY], ["x-content-type-options", "nosniff"]],
  text: page(title, sentence),
});

const PAGES = {
  unknown: pageAnswer(404, "There is no such link", "Check that you have opened the whole link as it was sent to you."),
  gone: pageAnswer(410, "This link has expired", "Ask whoever sent it to you for a new one."),
};

/**
 * What whoever follows a link is told, through whichever door. Only what was stored as a target is ever an answer's
 * `Location`: nothing of the request goes into it.
 */
export function answerTo(followed: Awaited<ReturnType<Follow["follow"]>>): LinkAnswer {
  if (followed.kind !== "found") return PAGES[followed.kind];
  const { url } = followed;
  validateHeaderValue("location", url);
  return { status: 302, type: "text/plain; charset=utf-8", headers: [...DISCREET, ["location", url]], text: "" };
}

async function followLink({ links }: Services, { request, reply, params }: Call): Promise<string> {
  const { code = "" } = params;
  const { status, type, headers, text } = isCode(code)
    ? answerTo(await links.follow(code, request.headers["user-agent"], request.method))
    : PAGES.unknown;
  reply.code(status).type(type);
  for (const [name, value] of headers) reply.header(name, value);
  return text;
}

const door = (path: string): OpenRoute => ({
  method: "GET",
  path,
  family: "plain",
  scope: null,
  group: "Short links",
  hidden: true,
  summary: "Follow a short link",
  description: "Leads to the target of a short link.",
  response: null,
  responseExample: null,
  handle: followLink,
});

/** The same at the root, so that a short domain can point straight here; there only what is a code is ours. */
export const shortLinkRoutes: readonly OpenRoute[] = [door("/s/:code"), door(`/:code(^${CODE_PATTERN}$)`)];
