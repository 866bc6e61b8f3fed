import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Credential } from "../accounts/secret-index.ts";
import type { Agent } from "../http/agents/agent-calls.ts";
import { rejectForeignOrigin } from "../http/auth/admit-session.ts";
import { admitFound, type AuthenticateDeps } from "../http/auth/authenticate.ts";
import { clientAddressOf, setIdentified } from "../http/auth/request-caller.ts";
import { leaseOf } from "../http/receive-body.ts";
import type { Services } from "../http/route.ts";
import { isObject } from "../lib/json.ts";
import { MinuteCounter } from "../lib/minute-counter.ts";
import { Problem } from "../model/problem.ts";

const PATH = "/mcp";
/** A message for a thousand recipients has about 20 KB. */
const BODY_BYTES_MAX = 262_144;
/** JSON-RPC messages of one agent and minute, on this node. */
const REQUESTS_PER_MINUTE = 240;
/** The headers that the protocol reads. */
const PROTOCOL_HEADERS = ["accept", "content-type", "mcp-protocol-version"] as const;

/**
 * `POST /mcp`: the Model Context Protocol by streamable HTTP, for agents with an API key. The library is loaded by the first
 * request, because few servers have agents.
 */
export function addMcp(app: FastifyInstance, services: Services, admission: AuthenticateDeps): void {
  const agents = new WeakMap<FastifyRequest, Agent>();
  const perMinute = new MinuteCounter();
  app.route({
    method: "POST",
    url: PATH,
    bodyLimit: BODY_BYTES_MAX,
    config: { routeFamily: "api" },
    onRequest: async (request, reply) => {
      const agent = admitAgent(services, admission, request, reply);
      agents.set(request, agent);
      refuseFlood(perMinute, agent, services.clock.now());
    },
    handler: async (request, reply) => {
      const { body, headers } = request;
      if (body instanceof Error) throw body;
      const agent = agents.get(request);
      if (!agent || (!isObject(body) && !Array.isArray(body))) throw new Problem("INVALID_JSON");
      // A batch would count as one request.
      if (Array.isArray(body))
        throw new Problem("INVALID_REQUEST", { message: "Send one JSON-RPC message, no batch." });
      // The tools' own requests take room of the same budget.
      leaseOf(services.bodies, request).release();
      const { answerMcp } = await import("./protocol.ts");
      const protocolHeaders = PROTOCOL_HEADERS.flatMap((name) => {
        const value = headers[name];
        return typeof value === "string" ? [[name, value] as const] : [];
      });
      const answer = await answerMcp(services, agent, {
        url: services.baseUrl() + PATH,
        headers: Object.fromEntries(protocolHeaders),
        body,
      });
      reply.code(answer.status).header("cache-control", "no-store");
      if (services.draining.aborted) reply.header("connection", "close");
      const type = answer.headers.get("content-type");
      if (type !== null) reply.type(type);
      return reply.send(await answer.text());
    },
  });
  // There are no streams from the server and no sessions to end.
  for (const method of ["GET", "DELETE"] as const)
    app.route({
      method,
      url: PATH,
      exposeHeadRoute: false,
      config: { routeFamily: "api" },
      handler: async (_request, reply) => {
        reply.header("allow", "POST");
        throw new Problem("METHOD_NOT_ALLOWED");
      },
    });
}

/** Authenticates by `apikey` or `Authorization: Bearer`, before the body is read. */
function admitAgent(
  services: Services,
  admission: AuthenticateDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Agent {
  const setHeader = (name: string, value: string): void => void reply.header(name, value);
  setHeader("cache-control", "no-store");
  // DNS rebinding: a page of another site must not reach a server on this machine.
  rejectForeignOrigin(request.headers, services.baseUrl());
  const address = clientAddressOf(request);
  const found = services.keyring.find(secretIn(request));
  setIdentified(request, found && asAgent(found));
  if (!found) setHeader("www-authenticate", 'Bearer realm="heliograph"');
  const credential = admitFound(admission, found, address, "any scope", setHeader);
  return { credential, address };
}

const asAgent = (credential: Credential) => ({
  ...credential,
  actor: { ...credential.actor, kind: "agent" as const },
});

/** Two different secrets are as good as none. */
function secretIn({ headers: { apikey, authorization } }: FastifyRequest): string {
  const bearer = /^bearer +([^\s,]+)$/i.exec(authorization ?? "")?.[1];
  const given = new Set([...(authorization === undefined ? [] : [bearer ?? ""]), ...[apikey ?? []].flat()]);
  const [secret = ""] = given;
  return given.size === 1 ? secret : "";
}

function refuseFlood(perMinute: MinuteCounter, { credential }: Agent, now: number): void {
  if (perMinute.count(credential.key.id, now) <= REQUESTS_PER_MINUTE) return;
  throw new Problem("RATE_LIMITED", {
    message: `An agent may call ${REQUESTS_PER_MINUTE} times a minute.`,
    retryAfterSeconds: MinuteCounter.secondsLeft(now),
  });
}
