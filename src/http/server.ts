import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { writeDown } from "../accounts/audit.ts";
import type { Caller } from "../accounts/caller.ts";
import { MinuteCounter } from "../lib/minute-counter.ts";
import { Problem } from "../model/problem.ts";
import { admitPerson } from "./admit-person.ts";
import { auditEntryOf } from "./audit-entry.ts";
import { authenticate, authenticateAgain, type Admission } from "./authenticate.ts";
import { bodyChecker } from "./check-body.ts";
import { asksForPage, sendDashboard } from "./dashboard/page.ts";
import { JSON_TYPE } from "./envelope.ts";
import { putExpressDoorBefore } from "./express-door.ts";
import { failureOf } from "./failure.ts";
import { hideNumbers, openCursor, seesLess } from "./hide-numbers.ts";
import { putPorterBefore } from "./porter/porter.ts";
import { readJson } from "./read-json.ts";
import { callerOf, setCaller } from "./request-caller.ts";
import {
  isPersonal,
  type Family,
  type OpenRoute,
  type PersonalCall,
  type PersonalRoute,
  type ProtectedRoute,
  type Route,
  type Services,
} from "./route.ts";
import { ROUTES } from "./routes.ts";
import { readSessionToken } from "./session-cookie.ts";

const BODY_BYTES_MAX = 1_048_576;
/** How long a client may take, and how much it may say, before it has said anything we act on. */
const HTTP_LIMITS = { maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 };

interface Options {
  trustProxy: boolean;
  /** False on a node without the role `api`: it tells its health and nothing else. */
  answersRequests: boolean;
  /** Whether a thread of its own holds the connections. */
  porter: boolean;
  /** Told when that thread has ended without being asked to. */
  onBroken?: ((error: Error) => void) | undefined;
}

/**
 * Stands for every method that no route takes. The router builds a tree for each method it knows, and thirty that lead
 * nowhere took longer than all the rest of the start.
 */
const NOT_TAKEN = "TRACE";

/** Bodies are not the framework's to check, nor answers to write: what it would do it with takes longer to load than all routes. */
const NO_SCHEMAS = { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } };

function refuseSchema(): never {
  throw new Error("no route has a schema that the framework knows of");
}

/** Builds the doors from the table of routes. */
export function createServer(services: Services, options: Options): FastifyInstance {
  const routes = options.answersRequests ? ROUTES : ROUTES.filter((route) => route.group === "Health");
  const methods = new Set<string>(["HEAD", ...routes.map((route) => route.method)]);
  const nameMethod = (request: IncomingMessage): void => {
    if (!methods.has(request.method ?? "")) request.method = NOT_TAKEN;
  };
  const admission = { keyring: services.keyring, clock: services.clock, badKeys: new MinuteCounter() };
  const addressOf = options.trustProxy ? forwardedFor : peerOf;
  const { porter, onBroken = () => {} } = options;
  const app = fastify({
    bodyLimit: BODY_BYTES_MAX,
    // One proxy is trusted, the one that speaks to us: what stands before its own entry, anybody may have written.
    trustProxy: options.trustProxy ? (_address: string, hop: number) => hop === 0 : false,
    serverFactory: (ordinary) => {
      const server = putExpressDoorBefore(
        createHttpServer(HTTP_LIMITS, (request, response) => {
          nameMethod(request);
          ordinary(request, response);
        }),
        { services, admission, bodyBytesMax: BODY_BYTES_MAX, addressOf },
        routes,
      );
      return porter ? putPorterBefore(server, onBroken) : server;
    },
    schemaController: NO_SCHEMAS,
    // Only a failure needs an id of its own; it is made there.
    genReqId: () => "",
    routerOptions: { maxParamLength: 200 },
    forceCloseConnections: "idle",
    return503OnClosing: false,
    clientErrorHandler: answerUnreadable,
    // Addresses that the router cannot read do not pass the hooks below.
    frameworkErrors: (error, request, reply) => fail(request, reply, error, "plain"),
  });
  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown, family: Family): void => {
    const { complete, destroyed } = request.raw;
    // Who leaves in the middle of a body is nobody's fault here, and there is nobody to tell.
    if (destroyed && !complete) return void reply.hijack();
    const { status, headers, text } = failureOf(services, error, family);
    letGoOnStop(services, reply);
    void reply.code(status).headers(headers).type(JSON_TYPE).send(text);
  };

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, text, done) => {
    try {
      done(null, readJson(text as string));
    } catch (error) {
      // Told as an error it would end the connection, although all of the body has been read; the handler throws it.
      done(null, error);
    }
  });
  app.decorateRequest("caller", null);
  // What leads nowhere is refused before a byte of its body is read.
  app.addHook("onRequest", (request, reply, done) => {
    services.proxies.look(request.headers);
    if (!request.is404) return done();
    const nowhere = (): void => fail(request, reply, new Problem("ROUTE_NOT_FOUND"), "plain");
    if (!options.answersRequests || !asksForPage(request)) return nowhere();
    sendDashboard(services, request, reply).then((sent) => {
      if (!sent) nowhere();
    }, done);
  });

  const addRoutes = (to: FastifyInstance, those: readonly Route[]): void => {
    for (const route of those) addRoute(to, services, route, admission, fail);
    addOtherMethods(to, those, [...methods, NOT_TAKEN], fail);
  };
  addRoutes(
    app,
    routes.filter((route) => !isRaw(route)),
  );
  void app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser("*", { parseAs: "buffer" }, (_request, bytes, done) => done(null, bytes));
    addRoutes(raw, routes.filter(isRaw));
  });
  app.setNotFoundHandler((request, reply) => fail(request, reply, new Problem("ROUTE_NOT_FOUND"), "plain"));
  app.setErrorHandler((error, request, reply) => fail(request, reply, error, familyOf(request.url)));
  return app;
}

const peerOf = (socket: Socket): string => socket.remoteAddress ?? "";

/** As the ordinary door sees it behind a proxy: the last address that the header names, which is the proxy's own word. */
const forwardedFor = (socket: Socket, header: string): string => header.split(",").at(-1)?.trim() || peerOf(socket);

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
    // To ask a raw door is to tell it something, and what only looks must not.
    exposeHeadRoute: route.method === "GET" && route.contentType !== "text/event-stream" && !isRaw(route),
    errorHandler: (error, request, reply) => fail(request, reply, error, route.family),
    // The key or the session is looked at before a byte of the body is read.
    onRequest: isOpen(route)
      ? []
      : async (request, reply) => {
          await admit(services, admission, route, request, reply);
        },
    handler: async (request, reply) => {
      if (request.body instanceof Error) throw request.body;
      const caller = callerOf(request);
      const less = seesLess(caller);
      const { cursorSeal } = services.people.secrets;
      const query = singleValues(request.query as Record<string, string | string[]>, route);
      const call = {
        request,
        reply,
        caller: caller as PersonalCall["caller"],
        headers: { "idempotency-key": request.headers["idempotency-key"] },
        setHeader: (name: string, value: string) => void reply.header(name, value),
        body: request.body === undefined && route.body ? missingBody(route) : request.body,
        params: request.params as Record<string, string>,
        query: less ? { ...query, cursor: openCursor(query.cursor, cursorSeal) } : query,
      };
      check?.(call.body);
      const answer =
        "express" in route ? (await route.handle(services, call)).text : await route.handle(services, call);
      if (!isOpen(route) && caller) {
        const entry = auditEntryOf(route, caller, { ...call, answer, address: request.ip });
        if (entry) await writeDown(services.people, entry);
      }
      letGoOnStop(services, reply);
      if (!reply.hasHeader("content-type")) reply.type(JSON_TYPE);
      return less && answer !== reply ? hideNumbers(answer, cursorSeal) : answer;
    },
  });
}

/** Asks a request for its key, or for the session of whoever sent it. */
async function admit(
  services: Services,
  admission: Admission,
  route: ProtectedRoute | PersonalRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { method, headers, ip: address } = request;
  // A key counts, whatever cookie comes with it: only a program can have sent it.
  const token = headers.apikey === undefined ? readSessionToken(headers.cookie) : null;
  if (token === null && !isPersonal(route)) {
    const setHeader = (name: string, value: string): void => void reply.header(name, value);
    const program = authenticate(admission, { headers, address }, route.scope, setHeader);
    return setCaller(request, program, () => authenticateAgain(admission, { headers, address }, route.scope));
  }
  // What one person may see is not for a cache that others use.
  void reply.header("cache-control", "no-store");
  const ask = (): Promise<Caller> => admitPerson(services, route, { method, headers }, token ?? "");
  setCaller(request, await ask(), ask);
}

const isRaw = (route: Route): boolean => "raw" in route;

const isOpen = (route: Route): route is OpenRoute => route.scope === null && !isPersonal(route);

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
function addOtherMethods(app: FastifyInstance, routes: readonly Route[], methods: readonly string[], fail: Fail): void {
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
  // Who has kept us waiting would do so for the end of the line as well.
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") socket.destroySoon();
}
