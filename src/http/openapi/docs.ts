import type { Call, OpenRoute, Route } from "../route.ts";
import { readBuilt } from "../dashboard-assets/built-file.ts";
import { Problem } from "../../model/problem.ts";
import { negotiate, shareBody, type SharedBody } from "../shared-body.ts";
import { errorCodes, errorListPage, errorPage, unknownErrorPage } from "./errors-page.ts";
import { findGuide } from "./frame.ts";
import { groupPage } from "./group-page.ts";
import { guidePage, unknownPage } from "./guide-page.ts";
import { landingPage } from "./landing-page.ts";
import { referencePage } from "./reference-page.ts";
import { searchIndex } from "./search-index.ts";
import { readPageFile, readSite, type ServerFacts, type Site } from "./site.ts";

/**
 * No inline and no third-party resources, as defence in depth against XSS. Scripts may call this server only: they read
 * the index of the search and send the reader's requests.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML = "text/html; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";
const BRIEFLY = "public, max-age=60";
/** For addresses that contain a hash of the content. */
const FOREVER = "public, max-age=31536000, immutable";

const IMAGES: Readonly<Record<string, string>> = { svg: "image/svg+xml", png: "image/png" };

/** Routes of the documentation pages. */
export function docsRoutes(routes: readonly Route[]): readonly OpenRoute[] {
  const site = oncePerAddress((server) => readSite(routes, server));
  const shared = (render: (site: Site) => string): PerAddress<SharedBody> =>
    sharedPerAddress(async (server) => render(await site(server)));
  const errorPages = new Map(errorCodes().map((code) => [code, shared((here) => errorPage(here, code) ?? "")]));
  const guidePages = pagesByName(site, findGuide, guidePage);
  const groupPages = pagesByName(site, ({ groups }, id) => groups.find((group) => group.id === id), groupPage);
  return [
    pageRoute("/docs", HTML, shared(landingPage)),
    pageRoute("/docs/reference", HTML, shared(referencePage)),
    pageRoute("/docs/reference/:group", HTML, async (server, { params: { group = "" }, reply }) => {
      const known = await groupPages(server, group);
      if (known) return known;
      reply.code(404);
      return unknownPage(await site(server), "group of operations", group);
    }),
    pageRoute("/docs/guides/:name", HTML, async (server, { params: { name = "" }, reply }) => {
      const known = await guidePages(server, name);
      if (known) return known;
      reply.code(404);
      return unknownPage(await site(server), "guide", name);
    }),
    pageRoute("/docs/errors", HTML, shared(errorListPage)),
    pageRoute("/docs/errors/:code", HTML, async (server, { params: { code = "" }, reply }) => {
      const known = errorPages.get(code);
      if (known) return known(server);
      reply.code(404);
      return unknownErrorPage(await site(server), code);
    }),
    imageRoute,
    pageRoute(
      "/docs/search.json",
      JSON_TYPE,
      shared((here) => JSON.stringify(searchIndex(here))),
    ),
    pageRoute(
      "/docs/style.css",
      "text/css; charset=utf-8",
      sharedPerAddress(() => readPageFile("style.css")),
      FOREVER,
    ),
    pageRoute(
      "/docs/site.js",
      "text/javascript; charset=utf-8",
      sharedPerAddress(() => readPageFile("site.js")),
      FOREVER,
    ),
    pageRoute(
      "/openapi.json",
      JSON_TYPE,
      shared(({ document }) => JSON.stringify(document)),
    ),
  ];
}

const isSame = (one: ServerFacts, other: ServerFacts): boolean =>
  one.baseUrl === other.baseUrl && one.limits === other.limits;

type PerAddress<T> = (server: ServerFacts) => Promise<T>;

/** Memoizes per base URL, which is known only once the server listens. A failure is retried on the next request. */
function oncePerAddress<T>(make: PerAddress<T>): PerAddress<T> {
  let made: { server: ServerFacts; value: Promise<T> } | null = null;
  return (server) => {
    if (made && isSame(made.server, server)) return made.value;
    const value = make(server);
    made = { server, value };
    value.catch(() => (made = null));
    return value;
  };
}

/** Renders and compresses a page once. */
const sharedPerAddress = (render: PerAddress<string | Buffer>): PerAddress<SharedBody> =>
  oncePerAddress(async (server) => shareBody(Buffer.from(await render(server))));

/** Pages of things with a name; only pages of known names are kept. */
function pagesByName<T>(
  site: PerAddress<Site>,
  find: (site: Site, name: string) => T | undefined,
  render: (site: Site, thing: T) => string,
): (server: ServerFacts, name: string) => Promise<SharedBody | null> {
  const pages = new Map<string, PerAddress<SharedBody>>();
  return async (server, name) => {
    const thing = find(await site(server), name);
    if (!thing) return null;
    const known =
      pages.get(name) ??
      sharedPerAddress(async (at) => {
        const here = await site(at);
        return render(here, find(here, name) ?? thing);
      });
    pages.set(name, known);
    return known(server);
  };
}

const common = {
  method: "GET",
  family: "plain",
  scope: null,
  group: "Documentation",
  hidden: true,
  summary: "A page",
  description: "A page of the documentation.",
  response: null,
  responseExample: null,
} as const;

/** Images of the guides. Their names contain a hash. */
const imageRoute: OpenRoute = {
  ...common,
  path: "/docs/files/:name",
  contentType: "image/svg+xml",
  handle: async (_services, { params: { name = "" }, request, reply }) => {
    const type = IMAGES[name.split(".").at(-1) ?? ""];
    const body = type === undefined ? null : await readBuilt("docs/", name);
    if (!body || type === undefined) throw new Problem("ROUTE_NOT_FOUND");
    setHeaders(reply, type, FOREVER);
    return negotiate(request, reply, body);
  },
};

type Render = (server: ServerFacts, call: Call) => Promise<string | SharedBody>;

const pageRoute = (path: string, contentType: string, render: Render, cacheControl = BRIEFLY): OpenRoute => ({
  ...common,
  path,
  contentType,
  handle: async ({ baseUrl, smsRules }, call) => {
    const body = await render({ baseUrl: baseUrl(), limits: smsRules }, call);
    setHeaders(call.reply, contentType, cacheControl);
    return typeof body === "string" ? body : negotiate(call.request, call.reply, body);
  },
});

const setHeaders = (reply: Call["reply"], contentType: string, cacheControl: string): void =>
  void reply
    .type(contentType)
    .header("cache-control", cacheControl)
    .header("content-security-policy", CONTENT_SECURITY_POLICY)
    .header("x-content-type-options", "nosniff")
    .header("referrer-policy", "no-referrer");
