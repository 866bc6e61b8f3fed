import { Problem } from "../../model/problem.ts";
import type { OpenRoute } from "../route.ts";
import { readBuilt, readEncoded } from "./built-file.ts";
import { sendDashboard } from "./page.ts";

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  woff2: "font/woff2",
};

const typeOf = (name: string): string => TYPES[name.split(".").at(-1) ?? ""] ?? "application/octet-stream";

const common = {
  method: "GET",
  family: "plain",
  scope: null,
  group: "Documentation",
  hidden: true,
  response: null,
  responseExample: null,
  contentType: "text/html",
  summary: "A page",
  description: "The dashboard, or a file of it.",
} as const;

/** Hashed names never change what they stand for. */
const FOREVER = "public, max-age=31536000, immutable";

/** Files of no hashed name, by where they are asked for. Browsers ask for the icon of pages that name none, as answers in JSON are. */
const PLAIN_FILES = { "/theme.js": "theme.js", "/favicon.svg": "favicon.svg", "/favicon.ico": "favicon.svg" };

/** The doors to the dashboard; every other address within it is answered where the router finds nothing. */
export const dashboardRoutes: readonly OpenRoute[] = [
  {
    ...common,
    path: "/",
    handle: async (services, { request, reply }) => {
      if (!(await sendDashboard(services, request, reply))) reply.redirect(`${services.baseUrl()}/docs/start`);
      return reply;
    },
  },
  {
    ...common,
    path: "/assets/:name",
    handle: async (_services, { params: { name = "" }, request, reply }) => {
      const found = await readEncoded(name, request.headers["accept-encoding"] ?? "");
      if (!found) throw new Problem("ROUTE_NOT_FOUND");
      if (found.encoding) reply.header("content-encoding", found.encoding);
      reply
        .type(typeOf(name))
        .header("cache-control", FOREVER)
        .header("vary", "accept-encoding")
        .header("x-content-type-options", "nosniff");
      return found.content;
    },
  },
  ...Object.entries(PLAIN_FILES).map(([path, name]): OpenRoute => ({
    ...common,
    path,
    handle: async (_services, { reply }) => {
      const content = await readBuilt("", name);
      if (!content) throw new Problem("ROUTE_NOT_FOUND");
      reply
        .type(typeOf(name))
        .header("cache-control", "public, max-age=3600")
        .header("x-content-type-options", "nosniff");
      return content;
    },
  })),
];
