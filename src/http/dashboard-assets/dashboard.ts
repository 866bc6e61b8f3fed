import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../../model/problem.ts";
import type { OpenRoute } from "../route.ts";
import { negotiate } from "../shared-body.ts";
import { readBuilt } from "./built-file.ts";
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

/** The content of a hashed file name never changes. */
const FOREVER = "public, max-age=31536000, immutable";

/** Files without a hashed name, by path. Browsers request `/favicon.ico` for responses without an icon, such as JSON. */
const PLAIN_FILES = { "/theme.js": "theme.js", "/favicon.svg": "favicon.svg", "/favicon.ico": "favicon.svg" };

/** Routes of the dashboard. Its other URLs are handled where the router finds no route. */
export const dashboardRoutes: readonly OpenRoute[] = [
  {
    ...common,
    path: "/",
    handle: async (services, { request, reply }) => {
      if (!(await sendDashboard(services, request, reply))) reply.redirect(`${services.baseUrl()}/docs`);
      return reply;
    },
  },
  {
    ...common,
    path: "/assets/:name",
    handle: (_services, { params: { name = "" }, request, reply }) =>
      sendBuilt("assets/", name, FOREVER, request, reply),
  },
  ...Object.entries(PLAIN_FILES).map(([path, name]): OpenRoute => ({
    ...common,
    path,
    handle: (_services, { request, reply }) => sendBuilt("", name, "public, max-age=3600", request, reply),
  })),
];

async function sendBuilt(
  folder: "" | "assets/",
  name: string,
  cacheControl: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Buffer | string> {
  const body = await readBuilt(folder, name);
  if (!body) throw new Problem("ROUTE_NOT_FOUND");
  reply.type(typeOf(name)).header("cache-control", cacheControl).header("x-content-type-options", "nosniff");
  return negotiate(request, reply, body);
}
