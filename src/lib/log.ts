import { pino, type DestinationStream, type Logger } from "pino";

export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "fatal">;

const SECRET_FIELDS = [
  "apikey", "apiKey", "authorization", "cookie", "set-cookie", "x-csrf-token", "csrfToken", "token", "totp", "recoveryCodes",
  "password", "secret", "text", "content", "body", "otp", "code",
  "to", "number", "recipient", "from", "email",
]; // prettier-ignore

/** What must not reach a log line even inside an error's own words: keys, and runs of digits long enough to be a number. */
function scrub(words: string): string {
  return words.replaceAll(/hg_(?:live|test)_[\w-]+/g, "[key]").replaceAll(/\+?\d{7,}/g, "[number]");
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

/** A log of events as JSON lines: constant text, facts as fields, and no field that could hold a person's data. */
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
