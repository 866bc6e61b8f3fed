import { randomBytes } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Caller } from "../../accounts/caller.ts";
import type { Credential } from "../../accounts/secret-index.ts";
import { isObject } from "../../lib/json.ts";
import { Problem, PROBLEMS, type Fault, type ProblemCode } from "../../model/problem.ts";

/** An agent that has been authenticated by its key. */
export interface Agent {
  credential: Credential;
  address: string;
}

/** A request to this server on an agent's behalf. */
export interface AgentRequest {
  method: "GET" | "POST";
  /** Path with its query. */
  path: string;
  body?: object;
  idempotencyKey?: string;
  /** True if phone numbers in the response are masked, as for a viewer. */
  masked: boolean;
}

type Admitted = Agent & Pick<AgentRequest, "masked">;

/** The header by which a request of an agent is recognised. Its value is random and valid for one request. */
export const AGENT_HEADER = "heliograph-agent";

/**
 * Requests of agents to the ordinary routes of this server: the same authentication rules, body checks, policies, request log
 * and metrics as for requests from outside. So no tool of an agent can do what its key may not.
 */
export class AgentCalls {
  readonly #admitted = new Map<string, Admitted>();
  #app: Pick<FastifyInstance, "inject"> | null = null;

  connect(app: Pick<FastifyInstance, "inject">): void {
    this.#app = app;
  }

  /** The agent whose request has this header; null for a request from outside. */
  find(header: string | string[] | undefined): Admitted | null {
    return typeof header === "string" ? (this.#admitted.get(header) ?? null) : null;
  }

  /** The body of a successful response. Throws the problem of any other. */
  async request(agent: Agent, { method, path, body, idempotencyKey, masked }: AgentRequest): Promise<object> {
    const pass = randomBytes(24).toString("base64url");
    this.#admitted.set(pass, { ...agent, masked });
    try {
      const response = await this.#app?.inject({
        method,
        url: path,
        remoteAddress: agent.address,
        headers: {
          [AGENT_HEADER]: pass,
          ...(body && { "content-type": "application/json" }),
          ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
        },
        ...(body && { payload: JSON.stringify(body) }),
      });
      const answer: unknown = response ? JSON.parse(response.payload) : null;
      if (response && response.statusCode < 400 && isObject(answer)) return answer;
      throw problemIn(answer, response?.headers["retry-after"]);
    } finally {
      this.#admitted.delete(pass);
    }
  }
}

/** An agent as the caller of a route. A masked response is that of a viewer; scopes limit what it may do. */
export const callerOfAgent = ({ credential, masked }: Admitted): Caller => ({
  ...credential,
  role: masked ? "viewer" : "owner",
  actor: { ...credential.actor, kind: "agent" },
});

/** The problem that an error body describes. */
function problemIn(answer: unknown, retryAfter: unknown): Problem {
  const error = isObject(answer) && isObject(answer["error"]) ? answer["error"] : {};
  const code = Object.hasOwn(PROBLEMS, String(error["code"])) ? (error["code"] as ProblemCode) : "INTERNAL";
  const facts = typeof error["attemptsRemaining"] === "number" ? { attemptsRemaining: error["attemptsRemaining"] } : {};
  return new Problem(code, {
    ...(isObject(answer) && typeof answer["message"] === "string" && { message: answer["message"] }),
    faults: Array.isArray(error["details"]) ? (error["details"] as Fault[]) : [],
    facts,
    ...(retryAfter !== undefined && { retryAfterSeconds: Number(retryAfter) }),
  });
}
