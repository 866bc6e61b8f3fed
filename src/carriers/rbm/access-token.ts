import { sign } from "node:crypto";
import type { WayOut } from "../../egress/http-client.ts";
import type { Clock } from "../../lib/clock.ts";
import { isObject } from "../../lib/plain-object.ts";
import type { ServiceAccount } from "../../model/rbm-line.ts";
import { exchange, type Exchange } from "../exchange.ts";

/** Whether the platform lets us in. */
export type Access = { kind: "open"; token: string } | Closed;

/** Nothing can be asked of the platform; no request has been made. */
export interface Closed {
  kind: "closed";
  code: string;
  description: string;
  /** Whether it stays so until somebody has done something about the key. */
  isHalted: boolean;
}

interface Needs {
  account: ServiceAccount;
  /** The only address that is ever asked. */
  tokenUrl: string;
  limitMs: number;
  wayOut: WayOut;
  clock: Clock;
}

const SCOPE = "https://www.googleapis.com/auth/rcsbusinessmessaging";
const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ASSERTION_SECONDS = 3600;
const EARLY_MS = 300_000;
/** After a failure the same question has the same answer for a while. */
const ASK_AGAIN_MS = 5000;

/**
 * The token that opens the platform, from the key of a service account. It is asked for once however many need it, and
 * again before it ends; while a new one cannot be had, the old one is used up.
 */
export class AccessToken {
  readonly #needs: Needs;
  /** Times are of the clock that only goes forward. */
  #current: { token: string; renewAt: number; endsAt: number } | null = null;
  #asking: Promise<Access> | null = null;
  #failed: { access: Closed; until: number } | null = null;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async get(): Promise<Access> {
    const now = this.#needs.clock.monotonic();
    const current = this.#current;
    if (!current || now >= current.endsAt) return this.#ask();
    // Nobody has to wait for the next one while this one is good.
    if (now >= current.renewAt) void this.#ask();
    return { kind: "open", token: current.token };
  }

  /** Another one than this, which the platform did not take. */
  renew(refused: string): Promise<Access> {
    if (this.#current?.token === refused) this.#current = null;
    return this.get();
  }

  #ask(): Promise<Access> {
    const { clock } = this.#needs;
    if (this.#failed && clock.monotonic() < this.#failed.until) return Promise.resolve(this.#failed.access);
    this.#asking ??= this.#askOnce().finally(() => (this.#asking = null));
    return this.#asking;
  }

  async #askOnce(): Promise<Access> {
    const { tokenUrl, limitMs, wayOut, clock } = this.#needs;
    const answer = await exchange(wayOut, clock, {
      method: "POST",
      url: tokenUrl,
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion: this.#assertion() }).toString(),
      limitMs,
    });
    const granted = grantedIn(answer);
    const now = clock.monotonic();
    if ("kind" in granted) {
      this.#failed = { access: granted, until: now + ASK_AGAIN_MS };
      return granted;
    }
    const { token, lifeMs } = granted;
    this.#failed = null;
    this.#current = { token, renewAt: now + lifeMs - Math.min(EARLY_MS, lifeMs / 2), endsAt: now + lifeMs };
    return { kind: "open", token };
  }

  /** Made out to the address that it goes to, so that it is worth nothing anywhere else. */
  #assertion(): string {
    const { account, tokenUrl, clock } = this.#needs;
    const { clientEmail, key, keyId } = account;
    const iat = Math.floor(clock.now() / 1000);
    const header = { alg: "RS256", typ: "JWT", ...(keyId === null ? {} : { kid: keyId }) };
    const claims = { iss: clientEmail, scope: SCOPE, aud: tokenUrl, iat, exp: iat + ASSERTION_SECONDS };
    const signed = `${segment(header)}.${segment(claims)}`;
    return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), key).toString("base64url")}`;
  }
}

const segment = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

/** What the answer says goes no further than its code: the rest may quote what was asked with. */
function grantedIn(answer: Exchange): { token: string; lifeMs: number } | Closed {
  if (answer.kind !== "answered") {
    const description = `The platform's token address cannot be reached: ${answer.reason}`;
    return { kind: "closed", code: "TOKEN_UNREACHABLE", description, isHalted: false };
  }
  const body = parsed(answer.text);
  const token = body.access_token;
  const seconds = Number(body.expires_in);
  if (answer.status === 200 && typeof token === "string" && /^[\x21-\x7e]+$/.test(token) && seconds > 0)
    return { token, lifeMs: seconds * 1000 };
  const code = typeof body.error === "string" && /^[a-z_]{1,40}$/.test(body.error) ? body.error : null;
  const isHalted = answer.status >= 400 && answer.status < 500 && answer.status !== 408 && answer.status !== 429;
  const description = isHalted
    ? `The platform does not take the service account's key (${code ?? answer.status}): give a key that is valid as rbm.serviceAccount`
    : `The platform gives no token (status ${answer.status})`;
  return { kind: "closed", code: code ?? `TOKEN_${answer.status}`, description, isHalted };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : {};
  } catch {
    // Whatever it is, it is no token.
    return {};
  }
}
