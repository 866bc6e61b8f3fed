import { isObject } from "../../lib/json.ts";
import type { HttpExchange } from "../http-exchange.ts";

type Answered = Extract<HttpExchange, { kind: "answered" }>;

/** Error object of the platform. */
interface PlatformError {
  /** For example `NOT_FOUND`; null if the response is not from the platform. */
  status: string | null;
  message: string;
}

const STATUS = /^[A-Z][A-Z_]{2,39}$/;
const MESSAGE_MAX = 200;

/** JSON object of a response; null if there is none. */
export function bodyOf({ text }: Pick<Answered, "text">): Readonly<Record<string, unknown>> | null {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : null;
  } catch {
    // The response is from another server, or truncated.
    return null;
  }
}

/** Parses the error, without phone numbers. */
export function errorOf(answer: Pick<Answered, "text">): PlatformError {
  const error = bodyOf(answer)?.error;
  const { status, message } = isObject(error) ? error : {};
  return {
    status: typeof status === "string" && STATUS.test(status) ? status : null,
    message:
      typeof message === "string"
        ? message
            .replaceAll(/\+?\d{5,}/g, "…")
            .replaceAll(/\s+/g, " ")
            .slice(0, MESSAGE_MAX)
            .toWellFormed()
        : "",
  };
}

/** Retry-After; undefined if absent. */
export function retryAfterMs({ retryAfter }: Pick<Answered, "retryAfter">): number | undefined {
  const isSeconds = retryAfter !== null && /^\d{1,6}$/.test(retryAfter);
  return isSeconds ? Math.min(Number(retryAfter), RETRY_AFTER_MAX_SECONDS) * 1000 : undefined;
}

const RETRY_AFTER_MAX_SECONDS = 3600;
