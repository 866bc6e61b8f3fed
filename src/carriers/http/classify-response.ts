import type { HttpErrorRule, HttpMeaning, HttpSettings } from "../../model/http-connection.ts";
import {
  compilePick,
  readJson,
  readPattern,
  followPath,
  type Picked,
  type ResponseParts,
} from "../../model/http-pick.ts";
import type { HttpExchange } from "../http-exchange.ts";
import type { HealthVerdict } from "../connection-health.ts";

/** With the ids of the accepted parts if others were refused, for support requests to the provider. */
export interface ClassifiedResponse extends HealthVerdict {
  partIds?: readonly string[];
}

type Classify = (exchange: HttpExchange, now: number, own: string) => ClassifiedResponse;

/** Covers the ids of all known providers, and fits a table cell. */
const ID = /^[\x21-\x7e]{1,200}$/;
const CODE = /^[\w .:/-]{1,40}$/;
const SECOND_MS = 1000;
const LONGEST_WAIT_MS = 3_600_000;

/** Compiles the response rules of a connection. `own` is the message id if the provider returns none. */
export function createClassifier({ success, id, errorCode, errors, errorTexts }: HttpSettings): Classify {
  const countParts = compileSuccess(success);
  const rules = errors.map(compileRule);
  const pickIds = id && compilePick(id);
  const pickCode = errorCode && compilePick(errorCode);
  const meanings = new Map(Object.entries(errorTexts));

  return (exchange, now, own) => {
    if (exchange.kind === "unreached")
      return { outcome: { kind: "down", description: exchange.reason }, code: "UNREACHED" };
    if (exchange.kind === "broken")
      return { outcome: { kind: "unknown", description: exchange.reason }, code: "BROKEN" };
    const { status, retryAfter } = exchange;
    const response = partsOf(exchange.text);
    const { accepted, refused } = countParts(status, response);
    if (accepted > 0 && refused.length === 0) return { outcome: acceptedAs(pickIds?.(response) ?? [], own) };

    const found = rules.find((matches) => matches(status, response))?.meaning ?? meaningOf(status);
    const codes = pickCode?.(response).filter((each) => CODE.test(each)) ?? [];
    // The codes of several parts include those of the accepted ones.
    const written =
      codes.find((each) => !success.equals?.includes(each)) ??
      (pickCode && accepted > 0 ? refused.find((each) => CODE.test(each)) : undefined) ??
      codes[0];
    const code = written ?? `HTTP ${status}`;
    const meaningText = (written === undefined ? undefined : meanings.get(written)) ?? DESCRIPTIONS[found];
    const verdict = verdictFor(found, code, meaningText, retryAfterMs(retryAfter, now));
    return accepted > 0 ? partlyAccepted(verdict, code, meaningText, validIds(pickIds?.(response) ?? [])) : verdict;
  };
}

/** A partly accepted message is not sent again, unless the account allows repeating messages in doubt. */
function partlyAccepted(
  { outcome, ...rest }: HealthVerdict,
  code: string,
  meaningText: string,
  partIds: readonly string[],
): ClassifiedResponse {
  const description = `The provider took some of its parts and not the others: ${meaningText}`;
  if (outcome.kind === "refused")
    return { ...rest, outcome: { kind: "refused", fault: "message", code, description }, partIds };
  const pause = outcome.kind === "busy" && rest.effect === "throttled" ? { pauseMs: outcome.retryAfterMs ?? 0 } : {};
  return { ...rest, ...pause, outcome: { kind: "unknown", description: `${description} (${code})` }, partIds };
}

/** Default meaning if no rule matches. */
function meaningOf(status: number): HttpMeaning {
  if (status === 425 || status === 429) return "throttle";
  if (status === 401 || status === 402 || status === 403) return "stop";
  // Redirects are not followed: a secret is sent only to the host it was configured for.
  if (status >= 300 && status < 400) return "stop";
  // Wrong URL or method: a fault of the connection, not of the message.
  if (status === 404 || status === 405 || status === 410) return "carrier";
  if (status === 503) return "retry";
  // A gateway may have accepted it; a success status without the expected body proves nothing.
  if (status === 408 || status >= 500 || status < 300) return "unknown";
  return "refuse";
}

/** Our own texts: the provider's may contain numbers and message text. */
const DESCRIPTIONS: Readonly<Record<HttpMeaning, string>> = {
  retry: "The provider asks to come again later",
  throttle: "The provider says that it is too fast",
  refuse: "The provider does not take this message",
  carrier: "The provider cannot send this message",
  stop: "The provider takes nothing from us: see whether the account, its secrets and the address are right",
  unknown: "The provider's answer does not say whether it took the message",
};

function verdictFor(meaning: HttpMeaning, code: string, description: string, retryMs: number | null): HealthVerdict {
  const later = retryMs === null ? {} : { retryAfterMs: retryMs };
  switch (meaning) {
    case "retry":
      return { outcome: { kind: "busy", ...later }, code };
    case "throttle":
      return { outcome: { kind: "busy", ...later }, code, effect: "throttled" };
    case "refuse":
      return { outcome: { kind: "refused", fault: "message", code, description }, code };
    case "carrier":
      return { outcome: { kind: "refused", fault: "carrier", code, description }, code };
    case "stop":
      return { outcome: { kind: "down", description: `${description} (${code})` }, code, effect: "halted" };
    case "unknown":
    default:
      return { outcome: { kind: "unknown", description: `${description} (${code})` }, code };
  }
}

function acceptedAs(given: readonly string[], own: string): HealthVerdict["outcome"] {
  const ids = validIds(given);
  const [first = own] = ids;
  return { kind: "taken", carrierMessageId: first, ...(ids.length > 1 && { partIds: ids }) };
}

const validIds = (ids: readonly string[]): readonly string[] => ids.filter((each) => ID.test(each));

/** Parses JSON only when a field is read. */
function partsOf(text: string): ResponseParts {
  let json: { value: unknown } | null = null;
  return {
    text,
    at: (steps) => {
      json ??= { value: readJson(text) };
      return followPath(json.value, steps);
    },
  };
}

type Matches = (status: number, response: ResponseParts) => boolean;

/** Number of values that mean success, and the others. Without a condition the status counts as one success. */
interface Parts {
  accepted: number;
  refused: readonly string[];
}

const NO_PARTS: Parts = { accepted: 0, refused: [] };

function compileSuccess({
  statuses,
  equals,
  ...where
}: HttpSettings["success"]): (status: number, response: ResponseParts) => Parts {
  const isStatus = statuses.map(compileStatus);
  const all: Picked = compilePick({ path: where.path, pattern: null });
  const match = where.pattern === null ? null : readPattern(where.pattern);
  const isSuccess = (value: string): boolean => {
    const found = where.pattern === null ? value : (match?.(value) ?? null);
    return found !== null && (equals === null || equals.includes(found.trim()));
  };
  const isConditional = where.path !== null || where.pattern !== null || equals !== null;
  return (status, response) => {
    if (!isStatus.some((matches) => matches(status))) return NO_PARTS;
    if (!isConditional) return { accepted: 1, refused: [] };
    const values = all(response);
    const refused = values.filter((value) => !isSuccess(value));
    return { accepted: values.length - refused.length, refused };
  };
}

function compileRule({ status, equals, meaning, ...where }: HttpErrorRule): Matches & { meaning: HttpMeaning } {
  const isStatus = status === null ? () => true : compileStatus(status);
  const isConditional = where.path !== null || where.pattern !== null || equals !== null;
  const pick: Picked = compilePick(where);
  const isTrue = (response: ResponseParts): boolean =>
    pick(response).some((value) => equals === null || equals.includes(value.trim()));
  return Object.assign(
    (actualStatus: number, response: ResponseParts) => isStatus(actualStatus) && (!isConditional || isTrue(response)),
    {
      meaning,
    },
  );
}

/** `2xx`, or one status. */
const compileStatus =
  (written: string): ((status: number) => boolean) =>
  (status) =>
    written.endsWith("xx") ? Math.floor(status / 100) === Number(written[0]) : status === Number(written);

/** Retry-After in seconds or as a date; null if absent. */
function retryAfterMs(written: string | null, now: number): number | null {
  if (written === null) return null;
  const ms = /^\d{1,9}$/.test(written) ? Number(written) * SECOND_MS : Date.parse(written) - now;
  return Number.isNaN(ms) ? null : Math.min(LONGEST_WAIT_MS, Math.max(0, ms));
}
