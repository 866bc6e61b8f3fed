import { randomUUID } from "node:crypto";
import type { HttpSender } from "../../http-client/client.ts";
import type { Clock } from "../../lib/clock.ts";
import { exchangeHttp, type HttpExchangeRequest, type HttpExchange } from "../http-exchange.ts";
import type { AccessToken, Closed } from "./access-token.ts";

interface ApiDeps {
  baseUrl: string;
  limitMs: number;
  access: AccessToken;
  egress: HttpSender;
  clock: Clock;
}

type AgentEvent = { eventType: "READ"; messageId: string } | { eventType: "IS_TYPING" };

/** Recipient and agent. */
interface Target {
  /** Digits of the phone number. */
  number: string;
  agentId: string;
}

/** Short, because the message waits for this answer. */
const CAPABILITY_LIMIT_MS = 5000;

/** Client of the RBM API. A rejected token is renewed once. */
export class RbmApi {
  readonly #deps: ApiDeps;

  constructor(deps: ApiDeps) {
    this.#deps = deps;
  }

  send(
    target: Target,
    messageId: string,
    body: string,
    maySend: HttpExchangeRequest["maySend"],
  ): Promise<HttpExchange | Closed> {
    const url = this.#url(target, "agentMessages", { messageId });
    return this.#request({ method: "POST", url, body, limitMs: this.#deps.limitMs, maySend });
  }

  revoke(target: Target, messageId: string): Promise<HttpExchange | Closed> {
    const url = this.#url(target, `agentMessages/${messageId}`, {});
    return this.#request({ method: "DELETE", url, body: null, limitMs: this.#deps.limitMs });
  }

  /** Shows the user an event of the agent: that it read a message, or that it is typing. */
  event(target: Target, event: AgentEvent): Promise<HttpExchange | Closed> {
    const url = this.#url(target, "agentEvents", { eventId: randomUUID() });
    return this.#request({ method: "POST", url, body: JSON.stringify(event), limitMs: this.#deps.limitMs });
  }

  capabilities(target: Target): Promise<HttpExchange | Closed> {
    const url = this.#url(target, "capabilities", { requestId: randomUUID() });
    const limitMs = Math.min(CAPABILITY_LIMIT_MS, this.#deps.limitMs);
    return this.#request({ method: "GET", url, body: null, limitMs });
  }

  /** The platform fetches the file and keeps it for 60 days under the name that it returns. */
  upload(agentId: string, file: { fileUrl: string; thumbnailUrl?: string }): Promise<HttpExchange | Closed> {
    const body = JSON.stringify({ ...file, agentId });
    return this.#request({ method: "POST", url: `${this.#base()}/v1/files`, body, limitMs: this.#deps.limitMs });
  }

  /** Asks about numbers of one region. */
  reach(agentId: string, numbers: readonly string[]): Promise<HttpExchange | Closed> {
    const url = `${this.#base()}/v1/users:batchGet`;
    const body = JSON.stringify({ users: numbers.map((number) => `+${number}`), agentId });
    return this.#request({ method: "POST", url, body, limitMs: this.#deps.limitMs });
  }

  #base(): string {
    return this.#deps.baseUrl.replace(/\/+$/, "");
  }

  #url({ number, agentId }: Target, resource: string, query: Record<string, string>): string {
    return `${this.#base()}/v1/phones/+${number}/${resource}?${new URLSearchParams({ ...query, agentId }).toString()}`;
  }

  async #request(request: Omit<HttpExchangeRequest, "headers">): Promise<HttpExchange | Closed> {
    const { access, egress, clock } = this.#deps;
    const first = await access.get();
    if (first.kind === "closed") return first;
    const response = await exchangeHttp(egress, clock, { ...request, headers: headersWith(first.token) });
    if (response.kind !== "answered" || response.status !== 401) return response;
    const second = await access.renew(first.token);
    if (second.kind === "closed") return second;
    return exchangeHttp(egress, clock, { ...request, headers: headersWith(second.token) });
  }
}

const headersWith = (token: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
  accept: "application/json",
  "user-agent": "heliograph",
});
