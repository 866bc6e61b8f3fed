import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Credential } from "../accounts/secret-index.ts";
import type { CredentialKind, StoredCredential, StoredKind } from "../model/credential.ts";
import { Problem } from "../model/problem.ts";
import { queryAs } from "../store/query-caller.ts";
import {
  admitFound,
  authenticateLogin,
  findFresh,
  type AuthenticateDeps,
  type LoginRequest,
  type LoginRule,
} from "./auth/authenticate.ts";
import { clientAddressOf, setIdentified } from "./auth/request-caller.ts";
import { reportProblem } from "./errors.ts";
import { leaseOf, openLeaseOnce } from "./receive-body.ts";
import { noteRefusal } from "./request-log/log-requests.ts";
import type { SendCall, Services } from "./route.ts";

/**
 * An API of another product on this service's pipeline: it reads requests and writes responses in that API's form, and calls
 * the same endpoint functions as `/v1`.
 */
export interface Facade {
  kind: StoredKind;
  routes: readonly FacadeRoute[];
  /** Paths that belong to the facade, ending in a slash: it also responds where none of its routes matches. */
  prefixes: readonly string[];
  /** Renders a refusal in the API's form. */
  fail(problem: Problem): FacadeReply;
}

/** A facade whose clients have a username and a password. */
export type LoginFacade = Facade & { kind: CredentialKind };

export interface FacadeRoute {
  method: "GET" | "POST" | "DELETE";
  /** Fastify's form: parameters as `:name`. */
  path: string;
  /** Accepts messages: its body counts as a send in the memory budget. */
  isSend?: true;
  /** The largest body; BODY_BYTES_MAX unless given. */
  bodyBytesMax?: number;
  /** Authenticates by headers, before the body is read. A route without it calls `call.authenticate` itself. */
  admit?(call: FacadeHead): Promise<Credential<StoredCredential>>;
  handle(services: Services, call: FacadeCall): Promise<FacadeReply>;
}

/** A request without its body. */
export interface FacadeHead extends Pick<SendCall, "setHeader"> {
  method: string;
  /** Path and query as they were requested. */
  url: string;
  params: Readonly<Record<string, string>>;
  requestHeaders: IncomingHttpHeaders;
  authenticate(
    login: Pick<LoginRequest, "username" | "password">,
    rule: LoginRule,
  ): Promise<Credential<StoredCredential>>;
  /**
   * Admits a credential that the route finds and verifies; null is refused like a wrong password. `find` runs again once the
   * store is read.
   */
  admitFound(find: () => Credential<StoredCredential> | null, rule: LoginRule): Promise<Credential<StoredCredential>>;
}

export interface FacadeCall extends FacadeHead, Pick<SendCall, "lease"> {
  /** Empty without a body. */
  body: Buffer;
  /** The result of `admit`; null on a route without it. */
  credential: Credential<StoredCredential> | null;
}

export interface FacadeReply {
  status: number;
  contentType: string;
  text: string;
  headers?: Readonly<Record<string, string>>;
}

/** Bodies of facades are small: one message, or a batch of some. */
const BODY_BYTES_MAX = 1_048_576;

/** A request with the credential that `admit` returned. A property costs less per request than an entry of a WeakMap. */
type AdmittedRequest = FastifyRequest & { admitted?: Credential<StoredCredential> };

/** Adds a facade's routes to a server whose parser gives bodies as bytes. */
export function addFacade(app: FastifyInstance, services: Services, admission: AuthenticateDeps, facade: Facade): void {
  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown): void => {
    const { complete, destroyed } = request.raw;
    // The client left in the middle of its body: there is nothing to log, and no response.
    if (destroyed && !complete) return void reply.hijack();
    const { problem, requestId, headers } = reportProblem(services, error);
    noteRefusal(request, { code: problem.code, requestId });
    reply.headers(headers);
    send(services, reply, facade.fail(problem));
  };
  for (const route of facade.routes)
    app.route({
      method: route.method,
      url: route.path,
      bodyLimit: route.bodyBytesMax ?? BODY_BYTES_MAX,
      config: { isSend: route.isSend === true, routeFamily: "facade" },
      exposeHeadRoute: false,
      errorHandler: (error, request, reply) => fail(request, reply, error),
      onRequest: async (request, reply) => {
        const admitted = await route.admit?.(headOf(admission, facade, request, reply));
        if (admitted) Object.assign(request, { admitted });
        if (route.isSend) openLeaseOnce(services.bodies, request, reply);
      },
      handler: async (request, reply) => {
        if (request.body instanceof Error) throw request.body;
        const credential = (request as AdmittedRequest).admitted ?? null;
        const call: FacadeCall = {
          ...headOf(admission, facade, request, reply),
          credential,
          body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
          lease: leaseOf(services.bodies, request),
        };
        const handle = (): Promise<FacadeReply> => route.handle(services, call);
        const isRead = route.method === "GET" && credential !== null;
        send(services, reply, await (isRead ? queryAs(queryCallerOf(credential, reply), handle) : handle()));
        return reply;
      },
    });
  for (const prefix of facade.prefixes)
    app.all(`${prefix}*`, {
      bodyLimit: BODY_BYTES_MAX,
      config: { routeFamily: "facade" },
      onRequest: async (request, reply) => {
        fail(request, reply, new Problem("ROUTE_NOT_FOUND"));
        return reply;
      },
      handler: async () => undefined,
    });
}

const headOf = (
  admission: AuthenticateDeps,
  { kind }: Facade,
  request: FastifyRequest,
  reply: FastifyReply,
): FacadeHead => {
  const setHeader = (name: string, value: string): void => void reply.header(name, value);
  const address = clientAddressOf(request);
  const onIdentified: LoginRequest["onIdentified"] = (credential) => setIdentified(request, credential);
  return {
    method: request.method,
    url: request.url,
    params: request.params as Record<string, string>,
    requestHeaders: request.headers,
    setHeader,
    authenticate: (login, rule) =>
      authenticateLogin(admission, { kind, address, onIdentified, ...login }, rule, setHeader),
    admitFound: async (find, rule) => {
      const credential = await findFresh(admission, address, true, find);
      onIdentified(credential);
      return admitFound(admission, credential, address, rule, setHeader);
    },
  };
};

function queryCallerOf({ account }: Credential<StoredCredential>, { raw }: FastifyReply) {
  const left = new AbortController();
  if (raw.closed) left.abort();
  else raw.once("close", () => left.abort());
  return { accountId: account.id, signal: left.signal };
}

function send(
  { draining }: Services,
  reply: FastifyReply,
  { status, contentType, text, headers = {} }: FacadeReply,
): void {
  if (draining.aborted) reply.header("connection", "close");
  reply.headers(headers).header("x-content-type-options", "nosniff").header("cache-control", "no-store");
  void reply.code(status).type(contentType).send(text);
}
