import { sign } from "node:crypto";
import type { HttpSender } from "../../http-client/client.ts";
import type { Clock } from "../../lib/clock.ts";
import { isObject } from "../../lib/json.ts";
import type { ServiceAccount } from "../../model/rbm-connection.ts";
import { exchangeHttp, type HttpExchange } from "../http-exchange.ts";

/** Result of authorisation. */
export type Access = { kind: "open"; token: string } | Closed;

/** No token is available, and no request was sent. */
export interface Closed {
  kind: "closed";
  code: string;
  description: string;
  /** True if an operator must replace the key. */
  isHalted: boolean;
}

interface AccessTokenDeps {
  account: ServiceAccount;
  /** Token endpoint; no other URL is used. */
  tokenUrl: string;
  limitMs: number;
  egress: HttpSender;
  clock: Clock;
}

const SCOPE = "https://www.googleapis.com/auth/rcsbusinessmessaging";
const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ASSERTION_SECONDS = 3600;
const EARLY_MS = 300_000;
/** After a failure the same result is returned for this time. */
const RETRY_AFTER_MS = 5000;

/**
 * OAuth access token of a service account. Concurrent callers share one request. It is renewed before it expires; if
 * renewal fails, the old token is used to its end.
 */
export class AccessToken {
  readonly #deps: AccessTokenDeps;
  /** Monotonic times. */
  #current: { token: string; renewAt: number; endsAt: number } | null = null;
  #pending: Promise<Access> | null = null;
  #failed: { access: Closed; until: number } | null = null;

  constructor(deps: AccessTokenDeps) {
    this.#deps = deps;
  }

  async get(): Promise<Access> {
    const now = this.#deps.clock.monotonic();
    const current = this.#current;
    if (!current || now >= current.endsAt) return this.#request();
    // Renews in the background while the current token is valid.
    if (now >= current.renewAt) void this.#request();
    return { kind: "open", token: current.token };
  }

  /** Replaces a token that the platform rejected. */
  renew(refused: string): Promise<Access> {
    if (this.#current?.token === refused) this.#current = null;
    return this.get();
  }

  #request(): Promise<Access> {
    const { clock } = this.#deps;
    if (this.#failed && clock.monotonic() < this.#failed.until) return Promise.resolve(this.#failed.access);
    this.#pending ??= this.#requestOnce().finally(() => (this.#pending = null));
    return this.#pending;
  }

  async #requestOnce(): Promise<Access> {
    const { tokenUrl, limitMs, egress, clock } = this.#deps;
    const response = await exchangeHttp(egress, clock, {
      method: "POST",
      url: tokenUrl,
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion: this.#assertion() }).toString(),
      limitMs,
    });
    const granted = readGrant(response);
    const now = clock.monotonic();
    if ("kind" in granted) {
      this.#failed = { access: granted, until: now + RETRY_AFTER_MS };
      return granted;
    }
    const { token, lifeMs } = granted;
    this.#failed = null;
    this.#current = { token, renewAt: now + lifeMs - Math.min(EARLY_MS, lifeMs / 2), endsAt: now + lifeMs };
    return { kind: "open", token };
  }

  /** The audience is the token endpoint, so that the assertion is useless elsewhere. */
  #assertion(): string {
    const { account, tokenUrl, clock } = this.#deps;
    const { clientEmail, key, keyId } = account;
    const iat = Math.floor(clock.now() / 1000);
    const header = { alg: "RS256", typ: "JWT", ...(keyId === null ? {} : { kid: keyId }) };
    const claims = { iss: clientEmail, scope: SCOPE, aud: tokenUrl, iat, exp: iat + ASSERTION_SECONDS };
    const signed = `${segment(header)}.${segment(claims)}`;
    return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), key).toString("base64url")}`;
  }
}

const segment = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

/** Only the error code is passed on: the rest of the response may quote the assertion. */
function readGrant(response: HttpExchange): { token: string; lifeMs: number } | Closed {
  if (response.kind !== "answered") {
    const description = `The platform's token address cannot be reached: ${response.reason}`;
    return { kind: "closed", code: "TOKEN_UNREACHABLE", description, isHalted: false };
  }
  const body = parsed(response.text);
  const token = body.access_token;
  const seconds = Number(body.expires_in);
  if (response.status === 200 && typeof token === "string" && /^[\x21-\x7e]+$/.test(token) && seconds > 0)
    return { token, lifeMs: seconds * 1000 };
  const code = typeof body.error === "string" && /^[a-z_]{1,40}$/.test(body.error) ? body.error : null;
  const isHalted =
    response.status >= 400 && response.status < 500 && response.status !== 408 && response.status !== 429;
  const description = isHalted
    ? `The platform does not take the service account's key (${code ?? response.status}): give a key that is valid as rbm.serviceAccount`
    : `The platform gives no token (status ${response.status})`;
  return { kind: "closed", code: code ?? `TOKEN_${response.status}`, description, isHalted };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : {};
  } catch {
    // Not JSON, so it contains no token.
    return {};
  }
}
