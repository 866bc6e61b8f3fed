import { pino, type DestinationStream, type Logger } from "pino";

export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "fatal">;

/** Their values are never logged: a fact that the log has to show needs another name. */
export const SECRET_FIELDS = [
  "apikey", "apiKey", "authorization", "cookie", "set-cookie", "x-csrf-token", "csrfToken", "token", "totp", "recoveryCodes",
  "password", "secret", "text", "content", "body", "otp", "code",
  "to", "number", "recipient", "from", "email",
]; // prettier-ignore

/** Removes API keys and phone numbers from error messages, which redaction by field cannot reach. */
function scrub(text: string): string {
  return text.replaceAll(/hg_(?:live|test)_[\w-]+/g, "[key]").replaceAll(/\+?\d{7,}/g, "[number]");
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return scrub(String(error));
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    ...(typeof code === "string" ? { errorCode: code } : {}),
    message: scrub(error.message),
    stack: scrub(error.stack ?? ""),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

/** A log in JSON lines: constant text, facts as fields. Fields that may hold secrets or personal data are redacted. */
export function createLog(level: string, destination?: DestinationStream): Log {
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);
  const options = {
    level,
    base: null,
    redact: { paths, censor: "[redacted]" },
    serializers: { err: describeError },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return destination ? pino(options, destination) : pino(options, pino.destination({ dest: 2, sync: true }));
}
