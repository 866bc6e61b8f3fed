import type { ErrorCode, ErrorDetail, ErrorValue } from "./schema.ts";

/** Every error of this client. */
export class HeliographError extends Error {
  override name = "HeliographError";
}

/** The server refused the request: branch on `code`. */
export class ApiError extends HeliographError {
  override name = "ApiError";
  readonly status: number;
  /** Stable: codes may be added, but do not change their meaning. */
  readonly code: ErrorCode | (string & {});
  readonly type: string;
  /** The first invalid field, such as `to[1]`. */
  readonly parameter: string | null;
  /** Every invalid field with its requirement. */
  readonly details: readonly ErrorDetail[];
  /** The page about this code, with cause and fix. */
  readonly reference: string | null;
  /** Request ID for the operator, as in the request log. */
  readonly requestId: string | null;
  /** Remaining attempts after a wrong one-time password. */
  readonly attemptsRemaining: number | null;
  /** Time that the server asks to wait before the next attempt. */
  readonly retryAfterMs: number | null;

  constructor(status: number, error: Partial<ErrorValue> | null, retryAfterMs: number | null) {
    super(error?.message ?? `The server answered ${status} without a description.`);
    this.status = status;
    this.code = error?.code ?? "UNKNOWN";
    this.type = error?.type ?? "server";
    this.parameter = error?.parameter ?? null;
    this.details = error?.details ?? [];
    this.reference = error?.reference ?? null;
    this.requestId = error?.requestId ?? null;
    this.attemptsRemaining = error?.attemptsRemaining ?? null;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No response arrived, so the request may have been executed. Repeat it with the same idempotency key. */
export class ConnectionError extends HeliographError {
  override name = "ConnectionError";
}

/** No response arrived within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override name = "TimeoutError";
}

/** The signature, time or body of a webhook is invalid: respond with 400 and do nothing else. */
export class WebhookVerificationError extends HeliographError {
  override name = "WebhookVerificationError";
}
