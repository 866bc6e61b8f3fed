import type { KeyObject } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../lib/json.ts";
import { exchange, type AcmeResponse } from "./exchange.ts";
import { keyAuthorization, signRequest } from "./jws.ts";

/** The authority refused, or could not check a name. The message is for the operator. */
export class AcmeRefused extends Error {
  override name = "AcmeRefused";
  /** The last part of the problem's type, such as `rateLimited`. */
  readonly code: string;
  /** The authority asks to wait this long before the next attempt; null if it does not. */
  readonly retryAfterMs: number | null;

  constructor(message: string, code: string, retryAfterMs: number | null = null) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface AcmeOptions {
  directoryUrl: string;
  /** Address for messages of the authority; null for none. */
  email: string | null;
  /** CA certificates in PEM that the authority's own certificate is checked with; null for those of the system. */
  ca: string | null;
  accountKey: KeyObject;
  signal: AbortSignal;
}

interface Directory {
  newNonce: string;
  newAccount: string;
  newOrder: string;
}

interface AcmeProblem {
  type?: string;
  detail?: string;
  subproblems?: readonly { detail?: string; identifier?: { value?: string } }[];
}

interface Challenge {
  type: string;
  url: string;
  token: string;
  error?: AcmeProblem;
}

interface Authorization {
  status: string;
  identifier: { value: string };
  challenges: readonly Challenge[];
}

interface Order {
  status: string;
  authorizations: readonly string[];
  finalize: string;
  certificate?: string;
  error?: AcmeProblem;
}

const BAD_NONCE_TRIES = 5;
const POLL_FIRST_MS = 250;
const POLL_LAST_MS = 5000;
/** An authority that is busy takes minutes at most. */
const POLLS_MAX = 60;

/** A client of one ACME server (RFC 8555). */
export class AcmeClient {
  readonly #options: AcmeOptions;
  #directory: Directory | null = null;
  #account: string | null = null;
  #nonce: string | null = null;

  constructor(options: AcmeOptions) {
    this.#options = options;
  }

  /**
   * Obtains a certificate chain (PEM) for the names of a signing request. `publish` makes the answer to a challenge visible at
   * `http://<name>/.well-known/acme-challenge/<token>`.
   */
  async obtain(
    domains: readonly string[],
    signingRequest: Buffer,
    publish: (token: string, answer: string) => Promise<void>,
  ): Promise<string> {
    const directory = await this.#readDirectory();
    await this.#openAccount(directory);
    const identifiers = domains.map((value) => ({ type: "dns", value }));
    const created = await this.#post(directory.newOrder, { identifiers });
    const orderUrl = locationOf(created);
    const { authorizations, finalize } = readJson(created) as Order;
    for (const url of authorizations) await this.#authorize(url, publish);
    await this.#post(finalize, { csr: signingRequest.toString("base64url") });
    const order = await this.#poll<Order>(orderUrl, ({ status }) => status === "valid" || status === "invalid");
    if (order.status !== "valid" || order.certificate === undefined)
      throw new AcmeRefused(`the order is ${order.status}: ${describe(order.error)}`, codeOf(order.error));
    return (await this.#post(order.certificate, null)).text;
  }

  async #readDirectory(): Promise<Directory> {
    const { directoryUrl: url, ca, signal } = this.#options;
    const reply = await exchange({ method: "GET", url, ca, signal });
    const directory: unknown = reply.status === 200 ? parsed(reply.text) : null;
    if (!isObject(directory) || typeof directory["newOrder"] !== "string")
      throw new AcmeRefused(`${url} answered ${reply.status} and is no ACME directory`, "directory");
    return (this.#directory = directory as unknown as Directory);
  }

  /** The server returns the existing account of the key if there is one. */
  async #openAccount({ newAccount }: Directory): Promise<void> {
    const { email } = this.#options;
    const contact = email === null ? {} : { contact: [`mailto:${email}`] };
    this.#account = locationOf(await this.#post(newAccount, { termsOfServiceAgreed: true, ...contact }));
  }

  async #authorize(url: string, publish: (token: string, answer: string) => Promise<void>): Promise<void> {
    const { status, identifier, challenges } = readJson(await this.#post(url, null)) as Authorization;
    if (status === "valid") return;
    const challenge = challenges.find(({ type }) => type === "http-01");
    if (!challenge)
      throw new AcmeRefused(`${identifier.value}: the authority offers no HTTP-01 challenge`, "challenge");
    await publish(challenge.token, keyAuthorization(this.#options.accountKey, challenge.token));
    await this.#post(challenge.url, {});
    const ended = await this.#poll<Authorization>(url, (authorization) => authorization.status !== "pending");
    if (ended.status === "valid") return;
    const fault = ended.challenges.find(({ error }) => error)?.error;
    throw new AcmeRefused(`${identifier.value}: ${describe(fault)}`, codeOf(fault));
  }

  async #poll<T extends { status: string }>(url: string, isOver: (resource: T) => boolean): Promise<T> {
    let pauseMs = POLL_FIRST_MS;
    for (let poll = 0; poll < POLLS_MAX; poll += 1) {
      const reply = await this.#post(url, null);
      const resource = readJson(reply) as T;
      if (isOver(resource)) return resource;
      await sleep(Math.min(retryAfterOf(reply) ?? pauseMs, POLL_LAST_MS), undefined, { signal: this.#options.signal });
      pauseMs *= 2;
    }
    throw new AcmeRefused(`${url} was not decided in time`, "timeout");
  }

  /** Sends a signed request. A nonce that the server no longer knows is replaced (RFC 8555, 6.5). */
  async #post(url: string, payload: object | null): Promise<AcmeResponse> {
    const { accountKey, ca, signal } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const nonce = this.#nonce ?? (await this.#fetchNonce());
      this.#nonce = null;
      const body = signRequest(accountKey, { url, nonce, account: this.#account }, payload);
      const reply = await exchange({ method: "POST", url, body, ca, signal });
      this.#keepNonce(reply);
      if (reply.status < 400) return reply;
      const fault = parsed(reply.text);
      const problem: AcmeProblem = isObject(fault) ? fault : { detail: `${url} answered ${reply.status}` };
      if (codeOf(problem) === "badNonce" && tries < BAD_NONCE_TRIES) continue;
      throw new AcmeRefused(describe(problem), codeOf(problem), retryAfterOf(reply));
    }
  }

  async #fetchNonce(): Promise<string> {
    const { ca, signal } = this.#options;
    const url = this.#directory?.newNonce ?? "";
    this.#keepNonce(await exchange({ method: "HEAD", url, ca, signal }));
    if (this.#nonce === null) throw new AcmeRefused(`${url} returned no nonce`, "nonce");
    return this.#nonce;
  }

  #keepNonce({ headers }: AcmeResponse): void {
    const nonce = headers["replay-nonce"];
    if (typeof nonce === "string") this.#nonce = nonce;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports the status.
    return null;
  }
}

function readJson({ text }: AcmeResponse): object {
  const value = parsed(text);
  if (!isObject(value)) throw new AcmeRefused("the authority answered with something else than JSON", "malformed");
  return value;
}

function locationOf({ headers }: AcmeResponse): string {
  if (headers.location === undefined) throw new AcmeRefused("the authority named no location", "malformed");
  return headers.location;
}

const codeOf = (problem: AcmeProblem | undefined): string => problem?.type?.split(":").at(-1) ?? "unknown";

function describe(problem: AcmeProblem | undefined): string {
  const details = (problem?.subproblems ?? []).map(
    ({ identifier, detail }) => `${identifier?.value ?? "?"}: ${detail ?? "?"}`,
  );
  return [problem?.detail ?? "no reason given", ...details].join("; ") + ` (${codeOf(problem)})`;
}

/** In milliseconds; null without the header. */
function retryAfterOf({ headers }: AcmeResponse): number | null {
  const value = headers["retry-after"];
  if (value === undefined) return null;
  const ms = /^\d{1,7}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
