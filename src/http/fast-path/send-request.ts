import { validateHeaderValue } from "node:http";
import type { Credential } from "../../accounts/secret-index.ts";
import { admitFound, findCaller, type AuthenticateDeps } from "../auth/authenticate.ts";
import { isRefusedEarly } from "../overload-refusal.ts";
import { JSON_TYPE } from "../envelope.ts";
import { errorResponse, OVERLOADED } from "../errors.ts";
import { decodeUtf8, readJson } from "../read-json.ts";
import type { SendRoute, Services } from "../route.ts";
import type { BodyLease } from "../body-budget.ts";
import type { SendHead } from "./parse-head.ts";
import { bodyShape } from "../request-log/body-shape.ts";
import { statusClassOf } from "../measure-requests.ts";
import type { FastPathResponse } from "./format-response.ts";

export interface SendRequestDeps {
  services: Services;
  admission: AuthenticateDeps;
}

/** One send, from its parsed head to its response. Next: src/http/public/send.ts */
export class SendRequestHandler implements FastPathResponse {
  status = 0;
  readonly contentType = JSON_TYPE;
  headers: Map<string, string> | null = null;
  text = "";
  readonly #deps: SendRequestDeps;
  readonly #route: SendRoute;
  readonly #head: SendHead;
  #caller: Credential | null = null;
  /** The parsed body, for the request log. */
  #body: unknown = null;
  readonly #startedAt: number;
  readonly lease: BodyLease;

  constructor(deps: SendRequestDeps, route: SendRoute, head: SendHead) {
    this.#deps = deps;
    this.#route = route;
    this.#head = head;
    this.lease = deps.services.bodies.lease();
    this.#startedAt = deps.services.clock.monotonic();
  }

  /** Finds the caller in memory. False for a key that the other path looks up in the store, or refuses as an agent's. */
  identify(): boolean {
    this.#caller = findCaller(this.#deps.admission, this.#head.headers);
    return this.#caller !== null && this.#caller.key.agent === null;
  }

  /** Authenticates before the body is read. False if the request is refused, with the response ready. */
  admit(address: string): boolean {
    try {
      admitFound(this.#deps.admission, this.#caller, address, this.#route, this.#setHeader);
      return true;
    } catch (error) {
      this.refuse(error);
      return false;
    }
  }

  /** Handles a complete body: at once if there is room for it, otherwise it waits. Resolves when the response is ready. */
  async handle(bytes: Buffer, from = 0, to = bytes.length): Promise<void> {
    const { services } = this.#deps;
    const { headers } = this.#head;
    const { lease } = this;
    let body: string | null;
    try {
      if (!this.#caller) throw new Error("handle() before identify()");
      const hasRoom = lease.handle(to - from, true);
      if (hasRoom === false) return this.refuse(OVERLOADED);
      if (hasRoom === true) body = decodeUtf8(bytes, from, to);
      else body = decodeUtf8(await copyUntil(hasRoom, bytes.subarray(from, to)));
      const { account } = this.#caller;
      if (body !== null && isRefusedEarly(services, headers["idempotency-key"], body, account.id))
        return this.refuse(OVERLOADED);
      this.#body = readJson(body);
      const call = { headers, body: this.#body, caller: this.#caller, lease, setHeader: this.#setHeader };
      lease.releaseBody();
      this.text = (await this.#route.handle(services, call)).text;
      this.status = 200;
      this.#finish(null);
    } catch (error) {
      this.refuse(error);
    } finally {
      lease.release();
    }
  }

  refuse(error: unknown): void {
    const { problem, requestId, status, headers, text } = errorResponse(this.#deps.services, error, this.#route.family);
    for (const [name, value] of Object.entries(headers)) this.#setHeader(name, value);
    this.text = text;
    this.status = status;
    this.#finish({ code: problem.code, requestId });
  }

  /** Measures and logs the request. */
  #finish(refusal: { code: string; requestId: string } | null): void {
    const { requestLog, metrics, clock } = this.#deps.services;
    const durationMs = clock.monotonic() - this.#startedAt;
    metrics
      .requestSeconds(this.#route.family === "otp" ? "verify" : "send", statusClassOf(this.status))
      .observe(durationMs / 1000);
    if (!this.#caller || !requestLog.admits(this.#caller, refusal ? "refusal" : "success")) return;
    const { method, path } = this.#route;
    requestLog.add(this.#caller, {
      method,
      path,
      query: [],
      status: this.status,
      code: refusal?.code ?? null,
      requestId: refusal?.requestId ?? null,
      durationMs: Math.round(durationMs * 10) / 10,
      body: bodyShape(this.#body, true),
    });
  }

  readonly #setHeader = (name: string, value: string): void => {
    validateHeaderValue(name, value);
    this.headers ??= new Map();
    this.headers.set(name, value);
  };
}

/** Keeps a copy while it waits: a view would keep the bytes of other clients in memory. */
async function copyUntil(ready: Promise<void>, bytes: Buffer): Promise<Buffer> {
  const own = bytes.length < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes;
  await ready;
  return own;
}
