import type { FastifyInstance, FastifyRequest } from "fastify";
import { isUuid } from "../../lib/ids.ts";
import { logIdentityOf } from "../auth/request-caller.ts";
import type { Services } from "../route.ts";
import { bodyShape, shownName } from "./body-shape.ts";

interface Refusal {
  code: string;
  requestId: string;
}

const refusals = new WeakMap<FastifyRequest, Refusal>();

/** Notes the refusal of a request for its log entry. */
export const noteRefusal = (request: FastifyRequest, refusal: Refusal): void => void refusals.set(request, refusal);

/** Logs the requests that Fastify handles: all of keys and credentials, and the changes and refusals of users. */
export function logRequests(app: FastifyInstance, { requestLog }: Pick<Services, "requestLog">): void {
  app.addHook("onResponse", (request, reply, done) => {
    done();
    const caller = logIdentityOf(request);
    if (!caller) return;
    const refusal = refusals.get(request) ?? null;
    const { method } = request;
    const isRead = method === "GET" || method === "HEAD";
    // The dashboard reads all the time, which would push out the rest.
    if (caller.session && isRead && !refusal) return;
    if (!requestLog.admits(caller, refusal ? "refusal" : "success")) return;
    requestLog.add(caller, {
      method,
      path: pathOf(request),
      query: Object.keys((request.query as object | undefined) ?? {})
        .map(shownName)
        .slice(0, QUERY_NAMES_MAX),
      status: reply.statusCode,
      code: refusal?.code ?? null,
      requestId: refusal?.requestId ?? null,
      durationMs: Math.round(reply.elapsedTime * 10) / 10,
      body: bodyShape(request.body, request.url.startsWith("/v1/")),
    });
  });
}

const QUERY_NAMES_MAX = 20;

/** The path with its ids. Other parameters, such as phone numbers, keep their names. */
function pathOf({ routeOptions, params }: FastifyRequest): string {
  const given = (params ?? {}) as Record<string, string>;
  return (routeOptions.url ?? "").replaceAll(/:(\w+)/g, (whole: string, name: string) => {
    const [id = "", ...rest] = (given[name] ?? "").split(":");
    return isUuid(id) && rest.every((part) => /^\d{1,6}$/.test(part)) ? [id, ...rest].join(":") : whole;
  });
}
