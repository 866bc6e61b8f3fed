import { ApiError, ConnectionError, HeliographError, TimeoutError } from "./errors.ts";
import type { ErrorCode, ErrorValue } from "./schema.ts";

/** Settings of a client. */
export interface HeliographOptions {
  /** Address of the server, such as `https://messages.example.com`. */
  baseUrl: string;
  /** A key such as `hg_live_…`. Keep it on your server: a browser would show it to its user. */
  apiKey: string;
  /** The wait for one answer, 30,000 ms unless given. */
  timeoutMs?: number;
  /** Repetitions of a request that failed for a passing reason, 3 unless given. */
  maxRetries?: number;
  /** Another implementation of `fetch`. */
  fetch?: typeof fetch;
}

/** Settings of one call. */
export interface CallOptions {
  /** Made by the client unless given. Give your own to repeat a call after a crash of your program. */
  idempotencyKey?: string;
  timeoutMs?: number;
  maxRetries?: number;
  /** Ends the call early. */
  signal?: AbortSignal;
}

export type Query = Readonly<Record<string, string | number | boolean | Date | null | undefined>>;

/**
 * When a request may be repeated. "safe": always, because a repetition changes nothing. "keyed": always, because an
 * idempotency key goes with it. "refused": only after an answer that says that nothing was executed.
 */
type Repeats = "safe" | "keyed" | "refused";

interface Call {
  method: "GET" | "POST";
  path: string;
  repeats: Repeats;
  query?: Query;
  body?: object;
  options?: CallOptions | undefined;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 3;
const FIRST_PAUSE_MS = 500;
const PAUSE_MAX_MS = 30_000;

/** Codes that say that the server executed nothing, and that a later attempt may succeed. */
const REFUSED = new Set<string>([
  "RATE_LIMITED",
  "OVERLOADED",
  "QUERY_QUEUE_FULL",
  "SERVICE_HELD",
  "STORAGE_FULL",
  "IDEMPOTENCY_IN_PROGRESS",
] satisfies ErrorCode[]);
/** The server or a proxy failed, perhaps after the request was executed. */
const FAILED = new Set([408, 429, 500, 502, 503, 504]);

/** Sends requests, and repeats those that failed for a passing reason. */
export class Transport {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #timeoutMs: number;
  readonly #maxRetries: number;
  readonly #fetch: typeof fetch;

  constructor({ baseUrl, apiKey, timeoutMs = TIMEOUT_MS, maxRetries = RETRIES, fetch: given }: HeliographOptions) {
    if (typeof baseUrl !== "string" || !/^https?:\/\//i.test(baseUrl))
      throw new HeliographError("baseUrl is the http or https address of the server.");
    // Checked here, because a runtime may print a header that it refuses.
    if (typeof apiKey !== "string" || !/^[\x21-\x7e]+$/.test(apiKey))
      throw new HeliographError("apiKey is a key such as hg_live_….");
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
    this.#apiKey = apiKey;
    this.#timeoutMs = timeoutMs;
    this.#maxRetries = maxRetries;
    // Called as a method of another object, some runtimes refuse their own fetch.
    this.#fetch = given ?? ((input, init) => fetch(input, init));
  }

  get<T>(path: string, query: Query = {}, options?: CallOptions): Promise<T> {
    return this.#call<T>({ method: "GET", path, query, repeats: "safe", options });
  }

  /** A send: one idempotency key for all repetitions of the call. */
  send<T>(path: string, body: object, options?: CallOptions): Promise<T> {
    const idempotencyKey = options?.idempotencyKey ?? crypto.randomUUID();
    return this.#call<T>({ method: "POST", path, body, repeats: "keyed", options: { ...options, idempotencyKey } });
  }

  post<T>(path: string, body: object | undefined, repeats: "safe" | "refused", options?: CallOptions): Promise<T> {
    return this.#call<T>({ method: "POST", path, ...(body && { body }), repeats, options });
  }

  async #call<T>(call: Call): Promise<T> {
    const retries = call.options?.maxRetries ?? this.#maxRetries;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#once<T>(call);
      } catch (error) {
        if (attempt >= retries || !mayRepeat(error, call.repeats)) throw error;
        await pause(pauseAfter(error, attempt), call.options?.signal);
      }
    }
  }

  async #once<T>({ method, path, query, body, options }: Call): Promise<T> {
    const timeoutMs = options?.timeoutMs ?? this.#timeoutMs;
    const abort = new AbortController();
    const signal = options?.signal;
    const giveUp = (): void => abort.abort(signal?.reason);
    if (signal?.aborted) throw signal.reason;
    signal?.addEventListener("abort", giveUp, { once: true });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      abort.abort();
    }, timeoutMs);
    try {
      const response = await this.#fetch(this.#baseUrl + path + queryString(query), {
        method,
        headers: {
          apikey: this.#apiKey,
          accept: "application/json",
          ...(body && { "content-type": "application/json" }),
          ...(options?.idempotencyKey !== undefined && { "idempotency-key": options.idempotencyKey }),
        },
        ...(body && { body: JSON.stringify(body) }),
        // The API never redirects; another host must not get the key.
        redirect: "manual",
        signal: abort.signal,
      });
      return await readAnswer<T>(response);
    } catch (error) {
      if (error instanceof HeliographError) throw error;
      if (signal?.aborted) throw signal.reason;
      if (isLate) throw new TimeoutError(`No answer came within ${timeoutMs} ms.`, { cause: error });
      throw new ConnectionError("The server could not be reached, or the connection broke.", { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
    }
  }
}

async function readAnswer<T>(response: Response): Promise<T> {
  const text = await response.text();
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy's own page: the status says what is known.
  }
  if (response.ok && typeof body === "object" && body !== null) return body as T;
  const error = (body as { error?: Partial<ErrorValue> } | null)?.error;
  throw new ApiError(response.status, typeof error === "object" ? error : null, retryAfterOf(response));
}

function retryAfterOf(response: Response): number | null {
  const written = response.headers.get("retry-after");
  if (written === null) return null;
  const ms = /^\d+$/.test(written) ? Number(written) * 1000 : Date.parse(written) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

function mayRepeat(error: unknown, repeats: Repeats): boolean {
  if (error instanceof ConnectionError) return repeats !== "refused";
  // A limit of codes is for the user to see: a code that is sent later replaces the one that is being typed.
  if (!(error instanceof ApiError) || error.code.startsWith("OTP_")) return false;
  return (REFUSED.has(error.code) || (FAILED.has(error.status) && repeats !== "refused")) && isWorthWaiting(error);
}

/** A limit that ends in an hour is the caller's to handle. */
const isWorthWaiting = ({ retryAfterMs }: ApiError): boolean => (retryAfterMs ?? 0) <= PAUSE_MAX_MS;

/** Doubles from attempt to attempt, with a jitter so that clients do not come back together. */
function pauseAfter(error: unknown, attempt: number): number {
  const backoff = Math.min(FIRST_PAUSE_MS * 2 ** attempt, PAUSE_MAX_MS) * (0.5 + Math.random() / 2);
  return Math.max(backoff, error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}

function queryString(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null)
      search.set(name, value instanceof Date ? String(value.getTime()) : String(value));
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}
