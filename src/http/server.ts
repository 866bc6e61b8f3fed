import { METHODS } from "node:http";
import type { Socket } from "node:net";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Credential } from "../accounts/keyring.ts";
import { BatcherFull } from "../lib/batcher.ts";
import { newId } from "../lib/ids.ts";
import { Problem, type ProblemCode } from "../model/problem.ts";
import { StorageUnavailable } from "../store/store.ts";
import { authenticate, BadKeyCounter, type Admission } from "./authenticate.ts";
import { bodyChecker } from "./check-body.ts";
import { failureBody, JsonText } from "./envelope.ts";
import { readJson } from "./read-json.ts";
import type { Family, Route, Services } from "./route.ts";
import { ROUTES } from "./routes.ts";

const BODY_BYTES_MAX = 1_048_576;
const HEADER_BYTES_MAX = 16_384;
const RETRY_SECONDS = 2;
const JSON_TYPE = "application/json; charset=utf-8";

interface Options {
  trustProxy: boolean;
  /** False on a node without the role `api`: it tells its health and nothing else. */
  answersRequests: boolean;
}

/** Builds the doors from the table of routes. */
export function createServer(services: Services, options: Options): FastifyInstance {
  const app = fastify({
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: options.trustProxy,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    connectionTimeout: 0,
    http: { maxHeaderSize: HEADER_BYTES_MAX, headersTimeout: 10_000 },
    // Only a failure needs an id of its own; it is made there.
    genReqId: () => "",
    routerOptions: { maxParamLength: 200 },
    forceCloseConnections: "idle",
    return503OnClosing: false,
    clientErrorHandler: answerUnreadable,
    // Addresses that the router cannot read do not pass the hooks below.
    frameworkErrors: (error, request, reply) => fail(request, reply, error, "plain"),
  });
  const admission = { keyring: services.keyring, clock: services.clock, badKeys: new BadKeyCounter() };
  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown, family: Family): void => {
    const problem = problemOf(error);
    const { complete, destroyed } = request.raw;
    // Who leaves in the middle of a body is nobody's fault here, and there is nobody to tell.
    if (destroyed && !complete) return void reply.hijack();
    const requestId = newId(services.clock.now());
    services.meters.refused(problem.code).inc();
    if (problem.code === "INTERNAL") services.log.error({ err: error, requestId }, "request failed");
    if (problem.retryAfterSeconds !== undefined) reply.header("retry-after", String(problem.retryAfterSeconds));
    reply.headers({ "x-content-type-options": "nosniff", "request-id": requestId });
    letGoOnStop(services, reply);
    void reply.code(problem.status).send(failureBody(problem, family, services.baseUrl(), requestId));
  };

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, text, done) => {
    try {
      done(null, readJson(text as string));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
  app.decorateRequest("caller", null);
  // What leads nowhere is refused before a byte of its body is read.
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) return done();
    fail(request, reply, new Problem("ROUTE_NOT_FOUND"), "plain");
  });

  const routes = options.answersRequests ? ROUTES : ROUTES.filter((route) => route.group === "Health");
  for (const route of routes) addRoute(app, services, route, admission, fail);
  addOtherMethods(app, routes, fail);
  app.setNotFoundHandler((request, reply) => fail(request, reply, new Problem("ROUTE_NOT_FOUND"), "plain"));
  app.setErrorHandler((error, request, reply) => fail(request, reply, error, familyOf(request.url)));
  return app;
}

/** A connection that is kept would hold up the stop until its client lets go of it. */
function letGoOnStop({ stopping }: Services, reply: FastifyReply): void {
  if (stopping.aborted) reply.header("connection", "close");
}

type Fail = (request: FastifyRequest, reply: FastifyReply, error: unknown, family: Family) => void;

function addRoute(app: FastifyInstance, services: Services, route: Route, admission: Admission, fail: Fail): void {
  const check = route.body && route.checkBody !== false ? bodyChecker(route.body) : null;
  app.route({
    method: route.method,
    url: route.path,
    // An answer without a body and without an end would hold up whatever is asked next on the line.
    exposeHeadRoute: route.method === "GET" && route.contentType !== "text/event-stream",
    errorHandler: (error, request, reply) => fail(request, reply, error, route.family),
    // The key is looked at before a byte of the body is read.
    onRequest: (request, reply, done) => {
      if (route.scope === null) return done();
      try {
        (request as Authentic).caller = authenticate(admission, request, reply, route.scope);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
    handler: async (request, reply) => {
      const call = {
        request,
        reply,
        caller: (request as Authentic).caller,
        body: request.body === undefined && route.body ? missingBody(route) : request.body,
        params: request.params as Record<string, string>,
        query: singleValues(request.query as Record<string, string | string[]>, route),
      };
      check?.(call.body);
      const answer = await route.handle(services, call);
      letGoOnStop(services, reply);
      if (answer instanceof JsonText) return sendText(reply, answer);
      if (!reply.hasHeader("content-type")) reply.type(JSON_TYPE);
      return answer;
    },
  });
}

/** Puts finished text on the wire. Fastify's own way would look at it again; that is a tenth of the whole cost of a send. */
function sendText(reply: FastifyReply, { text }: JsonText): FastifyReply {
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200, { "content-type": JSON_TYPE, "content-length": Buffer.byteLength(text) }).end(text);
  return reply;
}

type Authentic = FastifyRequest & { caller: Credential };

/** A body may be left out where every field of it may be. */
function missingBody(route: Route): unknown {
  if (route.checkBody === false) return undefined;
  return {};
}

/** A parameter that comes several times counts once, as its first. */
function singleValues(
  query: Record<string, string | string[]>,
  route: Pick<Route, "query">,
): Record<string, string | undefined> {
  if (route.query === undefined) return {};
  const values = Object.entries(query).map(([name, value]) => [name, [value].flat()[0]] as const);
  const faults = values
    .filter(([name, value]) => Object.hasOwn(route.query ?? {}, name) && value?.includes("\0"))
    .map(([name]) => ({ parameter: name, message: `${name} holds a NUL, which no record has.` }));
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
  return Object.fromEntries(values);
}

/** Known paths answer every other method with 405 and the methods they take. */
function addOtherMethods(app: FastifyInstance, routes: readonly Route[], fail: Fail): void {
  // CONNECT never gets this far: Node closes its line.
  const methods = METHODS.filter((method) => method !== "CONNECT");
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  for (const path of new Set(routes.map((route) => route.path))) {
    const taken = routes.filter((route) => route.path === path).map((route) => route.method);
    const family = routes.find((route) => route.path === path)?.family ?? "plain";
    app.route({
      method: methods.filter((method) => !app.hasRoute({ method, url: path })),
      url: path,
      onRequest: (request, reply) => {
        reply.header("allow", taken.join(", "));
        fail(request, reply, new Problem("METHOD_NOT_ALLOWED"), family);
      },
      handler: async () => undefined,
    });
  }
}

const familyOf = (url: string): Family =>
  ROUTES.find((route) => route.path === url.split("?", 1)[0])?.family ?? "plain";

const FASTIFY_PROBLEMS: Record<string, ProblemCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  FST_ERR_CTP_BODY_TOO_LARGE: "BODY_TOO_LARGE",
  FST_ERR_CTP_EMPTY_JSON_BODY: "INVALID_JSON",
  FST_ERR_CTP_INVALID_JSON_BODY: "INVALID_JSON",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "INVALID_REQUEST",
  FST_ERR_BAD_URL: "ROUTE_NOT_FOUND",
  FST_ERR_MAX_PARAM_LENGTH: "ROUTE_NOT_FOUND",
};

/** What the caller is told of an error: its own problem if it is one, and nothing of the inside if it is not. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StorageUnavailable)
    return new Problem("STORAGE_UNAVAILABLE", { retryAfterSeconds: RETRY_SECONDS, cause: error });
  if (error instanceof BatcherFull)
    return new Problem("OVERLOADED", { retryAfterSeconds: RETRY_SECONDS, cause: error });
  const known = FASTIFY_PROBLEMS[(error as { code?: string }).code ?? ""];
  return new Problem(known ?? "INTERNAL", { cause: error });
}

/** What cannot be parsed as HTTP gets a bare answer and a closed line: nothing after it on the connection can be trusted. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const status =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "431 Request Header Fields Too Large"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "408 Request Timeout"
        : "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
