import { readFile } from "node:fs/promises";
import about from "../../../package.json" with { type: "json" };
import type { Call, OpenRoute, Route } from "../route.ts";
import { errorListPage, errorPage, unknownErrorPage } from "./errors-page.ts";
import type { Site } from "./frame.ts";
import { landingPage } from "./landing-page.ts";
import { describeApi } from "./openapi.ts";
import { referencePage } from "./reference-page.ts";

/** Nothing from elsewhere and nothing inline: even a page with a hole in it could not run a stranger's script. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML = "text/html; charset=utf-8";
const STYLE = new URL("./style.css", import.meta.url);
const SCRIPT = new URL("./copy.js", import.meta.url);

/** The doors to the documentation of all other doors. */
export function docsRoutes(routes: readonly Route[]): readonly OpenRoute[] {
  const site = oncePerAddress((baseUrl) => siteOf(routes, baseUrl));
  const reference = oncePerAddress((baseUrl) => referencePage(site(baseUrl)));
  const document = oncePerAddress((baseUrl) => JSON.stringify(site(baseUrl).document));
  return [
    door("/docs/start", HTML, (baseUrl) => landingPage(site(baseUrl))),
    door("/docs", HTML, reference),
    door("/docs/errors", HTML, (baseUrl) => errorListPage(site(baseUrl))),
    door("/docs/errors/:code", HTML, (baseUrl, { params, reply }) => {
      const { code = "" } = params;
      const found = errorPage(site(baseUrl), code);
      if (found === null) reply.code(404);
      return found ?? unknownErrorPage(site(baseUrl), code);
    }),
    door("/docs/style.css", "text/css; charset=utf-8", () => readFile(STYLE, "utf8")),
    door("/docs/copy.js", "text/javascript; charset=utf-8", () => readFile(SCRIPT, "utf8")),
    door("/openapi.json", "application/json; charset=utf-8", document),
  ];
}

function siteOf(routes: readonly Route[], baseUrl: string): Site {
  const below = new URL(baseUrl).pathname.replace(/\/$/, "");
  return { document: describeApi(routes, { baseUrl, version: about.version }), baseUrl, href: (path) => below + path };
}

/** Everything here depends on the routes, which stay, and on the server's address, which is known once it listens. */
function oncePerAddress<T>(make: (baseUrl: string) => T): (baseUrl: string) => T {
  let made: { baseUrl: string; value: T } | null = null;
  return (baseUrl) => {
    if (made?.baseUrl !== baseUrl) made = { baseUrl, value: make(baseUrl) };
    return made.value;
  };
}

const door = (
  path: string,
  contentType: string,
  render: (baseUrl: string, call: Call) => string | Promise<string>,
): OpenRoute => ({
  method: "GET",
  path,
  family: "plain",
  scope: null,
  group: "Documentation",
  hidden: true,
  summary: "A page",
  description: "A page of the documentation.",
  contentType,
  response: null,
  responseExample: null,
  handle: async ({ baseUrl }, call) => {
    const text = await render(baseUrl(), call);
    call.reply
      .type(contentType)
      .header("cache-control", "public, max-age=60")
      .header("content-security-policy", CONTENT_SECURITY_POLICY)
      .header("x-content-type-options", "nosniff")
      .header("referrer-policy", "no-referrer");
    return text;
  },
});
