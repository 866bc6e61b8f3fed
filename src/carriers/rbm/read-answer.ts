import { isObject } from "../../lib/plain-object.ts";
import type { Exchange } from "../exchange.ts";

type Answered = Extract<Exchange, { kind: "answered" }>;

/** What the platform says of an error. */
interface PlatformError {
  /** Its word for it, like `NOT_FOUND`; null where the answer is none of the platform's. */
  status: string | null;
  message: string;
}

const STATUS = /^[A-Z][A-Z_]{2,39}$/;
const MESSAGE_MAX = 200;

/** The JSON object in an answer; null where there is none. */
export function bodyOf({ text }: Pick<Answered, "text">): Readonly<Record<string, unknown>> | null {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : null;
  } catch {
    // Something else than the platform has answered, or it has hung up in between.
    return null;
  }
}

/** The error in an answer, without the number that it may repeat. */
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

/** How long the platform wants to be left alone; undefined where it does not say. */
export function retryAfterMs({ retryAfter }: Pick<Answered, "retryAfter">): number | undefined {
  const isSeconds = retryAfter !== null && /^\d{1,6}$/.test(retryAfter);
  return isSeconds ? Math.min(Number(retryAfter), RETRY_AFTER_MAX_SECONDS) * 1000 : undefined;
}

const RETRY_AFTER_MAX_SECONDS = 3600;
