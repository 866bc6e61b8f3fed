import { randomUUID } from "node:crypto";
import type { WayOut } from "../../egress/http-client.ts";
import type { Clock } from "../../lib/clock.ts";
import { exchange, type Asked, type Exchange } from "../exchange.ts";
import type { AccessToken, Closed } from "./access-token.ts";

interface Needs {
  baseUrl: string;
  limitMs: number;
  access: AccessToken;
  wayOut: WayOut;
  clock: Clock;
}

/** To whom, and as whom. */
interface Addressed {
  /** Digits of the phone's number. */
  number: string;
  agentId: string;
}

/** Nobody sends before this is known, so nobody waits long for it. */
const CAPABILITY_LIMIT_MS = 5000;

/** What can be asked of the platform. A token that it does not take is renewed once. */
export class RbmApi {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  send(addressed: Addressed, messageId: string, body: string): Promise<Exchange | Closed> {
    const url = this.#url(addressed, "agentMessages", { messageId });
    return this.#ask({ method: "POST", url, body, limitMs: this.#needs.limitMs });
  }

  revoke(addressed: Addressed, messageId: string): Promise<Exchange | Closed> {
    const url = this.#url(addressed, `agentMessages/${messageId}`, {});
    return this.#ask({ method: "DELETE", url, body: null, limitMs: this.#needs.limitMs });
  }

  capabilities(addressed: Addressed): Promise<Exchange | Closed> {
    const url = this.#url(addressed, "capabilities", { requestId: randomUUID() });
    const limitMs = Math.min(CAPABILITY_LIMIT_MS, this.#needs.limitMs);
    return this.#ask({ method: "GET", url, body: null, limitMs });
  }

  #url({ number, agentId }: Addressed, what: string, query: Record<string, string>): string {
    const base = this.#needs.baseUrl.replace(/\/+$/, "");
    return `${base}/v1/phones/+${number}/${what}?${new URLSearchParams({ ...query, agentId }).toString()}`;
  }

  async #ask(asked: Omit<Asked, "headers">): Promise<Exchange | Closed> {
    const { access, wayOut, clock } = this.#needs;
    const first = await access.get();
    if (first.kind === "closed") return first;
    const answer = await exchange(wayOut, clock, { ...asked, headers: headersWith(first.token) });
    if (answer.kind !== "answered" || answer.status !== 401) return answer;
    const second = await access.renew(first.token);
    if (second.kind === "closed") return second;
    return exchange(wayOut, clock, { ...asked, headers: headersWith(second.token) });
  }
}

const headersWith = (token: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
  accept: "application/json",
  "user-agent": "heliograph",
});
