import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { writeAuditEntry } from "../accounts/audit.ts";
import type { Caller } from "../accounts/caller.ts";
import { QueueFull } from "../lib/async.ts";
import { MinuteCounter } from "../lib/minute-counter.ts";
import { Problem } from "../model/problem.ts";
import { queryAs, type QueryCaller } from "../store/query-caller.ts";
import { ClientLeft } from "../store/reporting-queue.ts";
import { authenticateSession } from "./auth/admit-session.ts";
import { auditEntryOf } from "./auth/audit-entry.ts";
import { AGENT_HEADER, callerOfAgent } from "./agents/agent-calls.ts";
import {
  authenticate,
  authenticateAgain,
  isGuessing,
  refuseForbidden,
  type AuthenticateDeps,
} from "./auth/authenticate.ts";
import { bodyChecker } from "./check-body.ts";
import { forwardedAddress } from "./client-address.ts";
import { compressAnswers } from "./compress-answers.ts";
import {
  BODY_ENCODINGS,
  bodyTooLarge,
  checkCharset,
  decompress,
  encodingOf,
  unsupportedEncoding,
} from "./decode-body.ts";
import { addFacade, type Facade } from "./facade.ts";
import { isPageRequest, sendDashboard } from "./dashboard-assets/page.ts";
import { isRefusedEarly } from "./overload-refusal.ts";
import { measureRequests, routeFamilyOf } from "./measure-requests.ts";
import { logRequests, noteRefusal } from "./request-log/log-requests.ts";
import { JSON_TYPE } from "./envelope.ts";
import { installFastPath } from "./fast-path/fast-path.ts";
import { errorResponse, OVERLOADED } from "./errors.ts";
import { hideNumbers, openCursor, seesMasked } from "./hide-numbers.ts";
import { installConnectionThread } from "./fast-path/connection-thread/connection-thread.ts";
import { addHttp2, endSession, peerOf } from "./http2.ts";
import { installListener, type CertificateSource } from "./listener/install-listener.ts";
import { decodeUtf8, readJson } from "./read-json.ts";
import { leaseOf, openLease, receiveBody } from "./receive-body.ts";
import { clientAddressOf, callerOf, setClientAddress, setCaller, setIdentified } from "./auth/request-caller.ts";
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
import { readSessionToken } from "./auth/session-cookie.ts";
import { isShared } from "./shared-body.ts";

/** Limit of routes without authentication. */
const OPEN_BODY_BYTES_MAX = 1_048_576;
/** Content types of raw bodies: all. Fastify caches the parser of a named type, and parses any other type at every request. */
const RAW_TYPES = ["application/x-www-form-urlencoded", "application/json", "*"];
/** Limits of Node's HTTP server; the fast path applies the same ones. */
const HTTP_LIMITS = { maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 };

interface Options {
  trustProxy: boolean;
  /** Largest body of an authenticated request. */
  bodyBytesMax: number;
  /** A node without the role `api` serves its health and nothing else; a port of a facade serves that facade and its health. */
  serves: "everything" | "facades" | "health";
  /** Handle ordinary sends and short links without Node's HTTP parser and Fastify; see fast-path/README.md. */
  fastPath: boolean;
  /** Run the connection thread; only with the fast path. */
  connectionThread: boolean;
  /** Networks of proxies that begin each connection with a PROXY header; null if there are none. */
  proxies: readonly string[] | null;
  /** The certificate for TLS and HTTP/2; null for plain HTTP. */
  certificate: CertificateSource | null;
  /** Adds the endpoint of agents, which uses the other routes. */
  mcp?: (app: FastifyInstance, services: Services, admission: AuthenticateDeps) => void;
  /** APIs of other products. */
  facades?: readonly Facade[];
  /** Failed logins by address, which all ports of a node count together. */
  badKeys?: MinuteCounter;
  /** Called when the connection thread has crashed. */
  onBroken?: ((error: Error) => void) | undefined;
}

/**
 * Replaces every method that no route has. The router builds a tree per method, and thirty empty trees took longer than the
 * rest of the start.
 */
const UNSUPPORTED_METHOD = "TRACE";

/** Disables Fastify's schema compilers (Ajv, fast-json-stringify): they take longer to load than all routes. */
const NO_SCHEMAS = { compilersFactory: { buildValidator: rejectSchema, buildSerializer: rejectSchema } };

function rejectSchema(): never {
  throw new Error("routes have no Fastify schemas");
}

/** Creates the HTTP server with all routes of the route table. */
export function createServer(services: Services, options: Options): FastifyInstance {
  const { serves } = options;
  const facades = serves === "health" ? [] : (options.facades ?? []);
  const routes = routesOf(serves);
  const methods = new Set<string>([
    "HEAD",
    ...routes.map(methodOf),
    ...facades.flatMap((each) => each.routes.map(methodOf)),
  ]);
  const normalizeMethod = (request: IncomingMessage): void => {
    if (!methods.has(request.method ?? "")) request.method = UNSUPPORTED_METHOD;
  };
  const { keyring, clock } = services;
  const readAgain = async (): Promise<void> => {
    await services.untilStarted();
    await keyring.refreshShared();
  };
  const admission: AuthenticateDeps = { keyring, clock, badKeys: options.badKeys ?? new MinuteCounter(), readAgain };
  const clientAddress = (peer: string, forwardedFor: string | string[] | undefined): string =>
    forwardedAddress(options.trustProxy ? forwardedFor : undefined, peer);
  const { connectionThread, certificate, proxies, onBroken = () => {} } = options;
  const app = fastify({
    bodyLimit: options.bodyBytesMax,
    serverFactory: (handleByFastify) => {
      const handle = (request: IncomingMessage, response: ServerResponse): void => {
        normalizeMethod(request);
        handleByFastify(request, response);
      };
      const nodeServer = services.connections.applyTo(createHttpServer(HTTP_LIMITS, handle));
      const server = options.fastPath
        ? installFastPath(
            nodeServer,
            {
              services,
              admission,
              bodyBytesMax: options.bodyBytesMax,
              addressOf: (socket, forwardedFor) => clientAddress(socket.remoteAddress ?? "", forwardedFor),
            },
            routes,
          )
        : nodeServer;
      if (!connectionThread && !certificate && !proxies) return server;
      const { connections } = services;
      const onHttp2 = certificate ? addHttp2(server, { connections, handle, limits: HTTP_LIMITS }) : () => {};
      const listener = { certificate: certificate?.current ?? null, proxies, source: certificate, onHttp2 };
      return connectionThread ? installConnectionThread(server, onBroken, listener) : installListener(server, listener);
    },
    schemaController: NO_SCHEMAS,
    // Only error responses have a request id; it is generated there.
    genReqId: () => "",
    routerOptions: { maxParamLength: 200 },
    forceCloseConnections: "idle",
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => {
      if (!socket.writable || error.code === "ECONNRESET") socket.destroy();
      else services.connections.afterResponses(socket, () => respondToParseError(error, socket));
    },
    // URLs that the router cannot parse skip the hooks below.
    frameworkErrors: (error, request, reply) => fail(request, reply, error, "plain"),
  });
  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown, family: Family): void => {
    const { complete, destroyed } = request.raw;
    // The client left, in the middle of its body or during a query: nothing to log, and no response.
    if ((destroyed && !complete) || error instanceof ClientLeft) return void reply.hijack();
    const { problem, requestId, status, headers, text } = errorResponse(services, error, family);
    noteRefusal(request, { code: problem.code, requestId });
    closeWhileDraining(services, reply);
    if (status === 415) reply.header("accept-encoding", BODY_ENCODINGS);
    void reply.code(status).headers(headers).type(JSON_TYPE).send(text);
  };

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", (request: FastifyRequest, payload: IncomingMessage) =>
    orRefusal(payload, receiveJson(services, request, payload)),
  );
  app.decorateRequest("caller", null);
  // Before the limit, which counts what is sent.
  compressAnswers(app);
  limitResponseMemory(app, services, fail);
  logRequests(app, services);
  measureRequests(app, services);
  // A path without a route is refused before its body is read.
  app.addHook("onRequest", (request, reply, done) => {
    services.proxyWarning.observe(request.headers);
    if (hasBody(request.headers)) openLease(services.bodies, request, reply);
    setClientAddress(request, clientAddress(peerOf(request.raw), request.headers["x-forwarded-for"]));
    if (!request.is404) return done();
    const notFound = (): void => fail(request, reply, new Problem("ROUTE_NOT_FOUND"), "plain");
    if (serves !== "everything" || !isPageRequest(request)) return notFound();
    sendDashboard(services, request, reply).then((sent) => {
      if (!sent) notFound();
    }, done);
  });

  const addRoutes = (to: FastifyInstance, some: readonly Route[]): void => {
    for (const route of some) addRoute(to, services, route, { admission, fail, bodyBytesMax: options.bodyBytesMax });
    const others = [...methods, UNSUPPORTED_METHOD];
    // A path may have an upload beside its other methods.
    const isAtPathOf = (route: Route): boolean => some.some(({ path }) => path === route.path);
    addOtherMethods(to, routes.filter(isAtPathOf), others, fail);
  };
  addRoutes(
    app,
    routes.filter((route) => !isRaw(route) && !isUpload(route)),
  );
  void app.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    for (const type of RAW_TYPES)
      uploads.addContentTypeParser(type, async (_request: FastifyRequest, payload: IncomingMessage) => payload);
    for (const route of routes.filter(isUpload))
      addRoute(uploads, services, route, { admission, fail, bodyBytesMax: options.bodyBytesMax });
  });
  void app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    for (const type of RAW_TYPES)
      raw.addContentTypeParser(type, (request: FastifyRequest, payload: IncomingMessage) =>
        orRefusal(payload, receiveBytes(services, request, payload)),
      );
    addRoutes(raw, routes.filter(isRaw));
    for (const facade of facades) addFacade(raw, services, admission, facade);
  });
  if (serves === "everything") {
    services.agentCalls.connect(app);
    options.mcp?.(app, services, admission);
  }
  app.setNotFoundHandler((request, reply) => fail(request, reply, new Problem("ROUTE_NOT_FOUND"), "plain"));
  app.setErrorHandler((error, request, reply) => fail(request, reply, error, familyOf(request)));
  return app;
}

const methodOf = ({ method }: { method: string }): string => method;

function routesOf(serves: Options["serves"]): readonly Route[] {
  if (serves === "everything") return ROUTES;
  // The port of a facade may be open to more clients than the metrics are.
  const isServed = (route: Route): boolean =>
    serves === "health" ? route.group === "Health" : HEALTH_PATHS.has(route.path);
  return ROUTES.filter(isServed);
}

/** Load shedding by the memory of unread responses: before the handler runs, and again when the size of its response is known. */
function limitResponseMemory(app: FastifyInstance, services: Services, fail: Fail): void {
  const { connections } = services;
  app.addHook("onRequest", (request, reply, done) => {
    if (!connections.isFull || HEALTH_PATHS.has(request.url)) return done();
    fail(request, reply, OVERLOADED, familyOf(request));
  });
  app.addHook("onSend", (request, reply, payload, done) => {
    // A stream is written as fast as its client reads it.
    if (payload === null || payload === undefined || isShared(payload) || payload instanceof Readable)
      return done(null, payload);
    const bytes = Buffer.byteLength(payload as string | Buffer);
    // Only reads are refused at this point. A change has been made, so its response is always sent.
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead || bytes <= SMALL_RESPONSE_BYTES || connections.hasRoomFor(bytes)) {
      connections.buffer(reply.raw, bytes);
      return done(null, payload);
    }
    const { requestId, status, headers, text } = errorResponse(services, OVERLOADED, familyOf(request));
    noteRefusal(request, { code: OVERLOADED.code, requestId });
    for (const name of ["content-length", "content-encoding", "etag"]) reply.removeHeader(name);
    reply.code(status).headers(headers).type(JSON_TYPE).header("cache-control", "no-store");
    connections.buffer(reply.raw, text.length);
    done(null, text);
  });
}

/** Never refused: a load balancer must not take a busy node for a dead one. */
const HEALTH_PATHS = new Set(["/healthz", "/readyz"]);

/** Small responses, such as errors, are always sent: a connection has at most 32 of them. */
const SMALL_RESPONSE_BYTES = 2048;

/** A kept-alive connection would delay the shutdown until its client closes it. */
function closeWhileDraining({ draining }: Services, reply: FastifyReply): void {
  if (draining.aborted && !endSession(reply.raw)) reply.header("connection", "close");
}

type Fail = (request: FastifyRequest, reply: FastifyReply, error: unknown, family: Family) => void;

/** A body of zero bytes. */
const EMPTY = Symbol("empty body");

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;

const bodyLimitOf = ({ routeOptions }: FastifyRequest): number => routeOptions.bodyLimit ?? OPEN_BODY_BYTES_MAX;

const isSendRequest = ({ routeOptions }: FastifyRequest): boolean =>
  (routeOptions.config as { isSend?: boolean }).isSend === true;

/** No room for the body, as opposed to a body that is too large or cut off. */
const isRefusedBody = (error: unknown): error is Error => error === OVERLOADED || error instanceof QueueFull;

/**
 * Returns the refusal of a body in its place, for the handler to throw. The body passes by, so that its client reads the
 * response and not a reset connection. Any other error closes the connection.
 */
async function orRefusal(payload: IncomingMessage, received: Promise<unknown>): Promise<unknown> {
  try {
    return await received;
  } catch (error) {
    if (!isRefusedBody(error)) throw error;
    payload.resume();
    return error;
  }
}

/** A body as it was received: signatures cover these bytes. */
async function receiveBytes(services: Services, request: FastifyRequest, payload: IncomingMessage): Promise<unknown> {
  const lease = leaseOf(services.bodies, request);
  const bytes = await receiveBody(lease, payload, bodyLimitOf(request));
  const isTaken = await lease.handle(bytes.length, isSendRequest(request));
  if (isTaken === false) return OVERLOADED;
  return encodingOf(request.headers) === null ? bytes : unsupportedEncoding();
}

/** Guess of how much a compressed body grows. If it is wrong, the body takes the room of the largest one. */
const COMPRESSION_RATIO = 20;

/** The parsed body, or an error that the handler throws. */
async function receiveJson(services: Services, request: FastifyRequest, payload: IncomingMessage): Promise<unknown> {
  const lease = leaseOf(services.bodies, request);
  const bytesMax = bodyLimitOf(request);
  const received = await receiveBody(lease, payload, bytesMax);
  try {
    checkCharset(request.headers);
    const encoding = encodingOf(request.headers);
    const guess = encoding === null ? received.length : Math.min(bytesMax, received.length * COMPRESSION_RATIO);
    if ((await lease.handle(guess, isSendRequest(request))) === false) return OVERLOADED;
    if (encoding === null) return readBody(services, request, received);
    const decoded = await decompress(received, encoding, guess);
    if (decoded) return readBody(services, request, decoded);
    if (guess === bytesMax) return bodyTooLarge(bytesMax, null, " once it is decompressed");
    if ((await lease.handleAgain(bytesMax, isSendRequest(request))) === false) return OVERLOADED;
    const larger = await decompress(received, encoding, bytesMax);
    return larger ? readBody(services, request, larger) : bodyTooLarge(bytesMax, null, " once it is decompressed");
  } catch (error) {
    return error;
  } finally {
    lease.releaseBody();
  }
}

function readBody(services: Services, request: FastifyRequest, bytes: Buffer): unknown {
  const { headers } = request;
  if (bytes.length === 0) return EMPTY;
  const text = decodeUtf8(bytes);
  const caller = isSendRequest(request) ? callerOf(request) : null;
  if (caller && text !== null && isRefusedEarly(services, headers["idempotency-key"], text, caller.account.id))
    return OVERLOADED;
  return readJson(text);
}

interface AddRouteDeps {
  admission: AuthenticateDeps;
  fail: Fail;
  bodyBytesMax: number;
}

function addRoute(app: FastifyInstance, services: Services, route: Route, deps: AddRouteDeps): void {
  const { admission, fail } = deps;
  const check = route.body && route.checkBody !== false ? bodyChecker(route.body) : null;
  // Some platforms report by GET, which the pipeline handles.
  const isRead = route.method === "GET" && !isRaw(route);
  app.route({
    method: route.method,
    url: route.path,
    bodyLimit: route.bodyBytesMax ?? (isOpen(route) ? OPEN_BODY_BYTES_MAX : deps.bodyBytesMax),
    config: { isSend: "fastPath" in route, routeFamily: routeFamilyOf(route) },
    // No HEAD for streams: a response without body and end would block the next request of the connection.
    // No HEAD for carrier callbacks: some platforms report by GET, and HEAD must not change anything.
    exposeHeadRoute: isRead && route.contentType !== "text/event-stream",
    errorHandler: (error, request, reply) => fail(request, reply, error, route.family),
    // Authentication comes before the body is read.
    onRequest: isOpen(route)
      ? async (request) => route.before?.(services, request.params as Record<string, string>)
      : async (request, reply) => {
          if ("readsKeyring" in route && !isGuessing(admission, clientAddressOf(request)))
            await services.keyring.refreshShared();
          await authenticateRequest(services, admission, route, request, reply);
        },
    handler: async (request, reply) => {
      if (request.body instanceof Error) throw request.body;
      const caller = callerOf(request);
      const isMasked = seesMasked(caller);
      const { cursorSeal } = services.loginDeps.secrets;
      const query = singleValues(request.query as Record<string, string | string[]>, route);
      let before: object | undefined;
      const call = {
        request,
        reply,
        noteBefore: (view: object) => void (before = view),
        caller: caller as PersonalCall["caller"],
        headers: { "idempotency-key": request.headers["idempotency-key"] },
        setHeader: (name: string, value: string) => void reply.header(name, value),
        lease: leaseOf(services.bodies, request),
        body: bodyOf(request, route, check),
        params: request.params as Record<string, string>,
        query: isMasked ? { ...query, cursor: openCursor(query.cursor, cursorSeal) } : query,
      };
      const bodyFaults = "bodyFaults" in route ? route.bodyFaults : undefined;
      const body = !check
        ? call.body
        : bodyFaults
          ? await check.checkAll(call.body, (fields) => bodyFaults.call(route, fields, services, call))
          : check.checkShape(call.body);
      let result: unknown;
      if ("fastPath" in route) result = (await route.handle(services, call)).text;
      else if (isRead)
        result = await queryAs(queryCallerOf(caller, reply), () => route.handle(services, { ...call, body }));
      else result = await route.handle(services, { ...call, body });
      if (!isOpen(route) && caller) {
        const entry = auditEntryOf(route, caller, { ...call, before, result, address: clientAddressOf(request) });
        if (entry) await writeAuditEntry(services.loginDeps, entry);
      }
      closeWhileDraining(services, reply);
      if (!reply.hasHeader("content-type")) reply.type(JSON_TYPE);
      return isMasked && result !== reply ? hideNumbers(result, cursorSeal) : result;
    },
  });
}

/** Authenticates a request by its API key or by its session cookie. */
async function authenticateRequest(
  services: Services,
  admission: AuthenticateDeps,
  route: ProtectedRoute | PersonalRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { method, headers } = request;
  const address = clientAddressOf(request);
  const agent = services.agentCalls.find(headers[AGENT_HEADER]);
  if (agent && !isPersonal(route)) {
    const caller = callerOfAgent(agent);
    setIdentified(request, caller);
    refuseForbidden(agent.credential, address, route);
    return setCaller(request, caller, () => caller);
  }
  // An API key takes precedence over a cookie: only a program can have sent it.
  const token = headers.apikey === undefined ? readSessionToken(headers.cookie) : null;
  if (token === null && !isPersonal(route)) {
    const setHeader = (name: string, value: string): void => void reply.header(name, value);
    const onIdentified = (known: Caller | null): void => setIdentified(request, known);
    const credential = await authenticate(admission, { headers, address, onIdentified }, route, setHeader);
    return setCaller(request, credential, () => authenticateAgain(admission, { headers, address }, route));
  }
  // Responses to a person must not be stored by shared caches.
  void reply.header("cache-control", "no-store");
  const authenticatePerson = (): Promise<Caller> =>
    authenticateSession(services, route, { method, headers }, token ?? "");
  setCaller(request, await authenticatePerson(), authenticatePerson);
}

function queryCallerOf(caller: Caller | null, { raw }: FastifyReply): QueryCaller {
  const left = new AbortController();
  if (raw.closed) left.abort();
  else raw.once("close", () => left.abort());
  return { accountId: caller?.account.id ?? 0, signal: left.signal };
}

const isRaw = (route: Route): boolean => "raw" in route;

const isUpload = (route: Route): boolean => "upload" in route;

const isOpen = (route: Route): route is OpenRoute => route.scope === null && !isPersonal(route);

type Check = ReturnType<typeof bodyChecker>;

/** A body may be omitted if all its fields may. A content type without a body counts as no body. */
function bodyOf({ body }: FastifyRequest, route: Route, check: Check | null): unknown {
  if (body === undefined) return route.body && route.checkBody !== false ? {} : undefined;
  if (body !== EMPTY) return body;
  if (!route.body) return undefined;
  try {
    check?.checkShape({});
  } catch (error) {
    throw new Problem("INVALID_JSON", { cause: error });
  }
  if (!check) throw new Problem("INVALID_JSON");
  return {};
}

/** The first value of a repeated query parameter counts. */
function singleValues(
  query: Record<string, string | string[]>,
  route: Pick<Route, "query">,
): Record<string, string | undefined> {
  if (route.query === undefined) return {};
  const values = Object.entries(query).map(([name, value]) => [name, [value].flat()[0]] as const);
  const faults = values
    .filter(([name, value]) => Object.hasOwn(route.query ?? {}, name) && value?.includes("\0"))
    .map(([name]) => ({ parameter: name, message: `${name} contains a NUL character, which no record has.` }));
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
  return Object.fromEntries(values);
}

/** Known paths respond to other methods with 405 and an `Allow` header. */
function addOtherMethods(app: FastifyInstance, routes: readonly Route[], methods: readonly string[], fail: Fail): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const allowed: string[] = routes.filter((route) => route.path === path).map(methodOf);
    const known = routes.find((route) => route.path === path);
    const family = known?.family ?? "plain";
    const routeFamily = known && routeFamilyOf(known);
    app.route({
      method: methods.filter((method) => !allowed.includes(method) && !app.hasRoute({ method, url: path })),
      url: path,
      config: { routeFamily },
      onRequest: (request, reply) => {
        reply.header("allow", allowed.join(", "));
        fail(request, reply, new Problem("METHOD_NOT_ALLOWED"), family);
      },
      handler: async () => undefined,
    });
  }
}

function familyOf({ method, url }: FastifyRequest): Family {
  const routes = ROUTES.filter((route) => route.path === url.split("?", 1)[0]);
  return (routes.find((route) => route.method === method) ?? routes[0])?.family ?? "plain";
}

/** Responds to bytes that are not HTTP, and closes: the rest of the connection cannot be parsed (request smuggling). */
function respondToParseError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) return void socket.destroy();
  const status =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "431 Request Header Fields Too Large"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "408 Request Timeout"
        : "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  // A slow client would also delay the end of the connection.
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") socket.destroySoon();
}
