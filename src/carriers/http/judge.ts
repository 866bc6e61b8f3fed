import type { HttpErrorRule, HttpMeaning, HttpPick, HttpSettings } from "../../model/http-line.ts";
import { compilePick, readJson, walk, type Picked, type Said } from "../../model/http-pick.ts";
import type { AnswerHeaders, Exchange } from "../exchange.ts";
import type { Verdict } from "../standing.ts";

type Judge = (exchange: Exchange, now: number, own: string) => Verdict;

/** No longer than any provider's, and short enough for a line of a table. */
const ID = /^[\x21-\x7e]{1,200}$/;
const CODE = /^[\w .:/-]{1,40}$/;
const SECOND_MS = 1000;
const LONGEST_WAIT_MS = 3_600_000;

/** Makes of a line's rules what tells from an answer what became of the message. `own` is its id where the provider gives none. */
export function createJudge({ success, id, errorCode, errors, errorTexts }: HttpSettings): Judge {
  const isYes = compileSuccess(success);
  const rules = errors.map(compileRule);
  const pickIds = id && compilePick(id);
  const pickCode = errorCode && compilePick(errorCode);
  const meanings = new Map(Object.entries(errorTexts));

  return (exchange, now, own) => {
    if (exchange.kind === "unreached")
      return { outcome: { kind: "down", description: exchange.reason }, code: "UNREACHED" };
    if (exchange.kind === "broken")
      return { outcome: { kind: "unknown", description: exchange.reason }, code: "BROKEN" };
    const { status, headers } = exchange;
    const said = saidIn(exchange.text);
    if (isYes(status, said)) return { outcome: takenAs(pickIds?.(said) ?? [], own) };

    const found = rules.find((fits) => fits(status, said))?.meaning ?? meaningOf(status);
    const written = pickCode?.(said).find((each) => CODE.test(each));
    const code = written ?? `HTTP ${status}`;
    const words = written === undefined ? undefined : meanings.get(written);
    return verdictOf(found, code, words ?? WORDS[found], retryAfterMs(headers, now));
  };
}

/** What an answer is taken for that no rule of the line fits. */
function meaningOf(status: number): HttpMeaning {
  if (status === 425 || status === 429) return "throttle";
  if (status === 401 || status === 402 || status === 403) return "stop";
  // Somebody moved, and redirects are not followed: a secret goes only to the host that it was given for.
  if (status >= 300 && status < 400) return "stop";
  // Nothing is there, or nothing for this way of asking: that is about the line and not about the message.
  if (status === 404 || status === 405 || status === 410) return "carrier";
  if (status === 503) return "retry";
  // Behind a gateway somebody may have taken it; a yes that does not look like one says as little.
  if (status === 408 || status >= 500 || status < 300) return "unknown";
  return "refuse";
}

/** Our words, not the provider's: those may have numbers and texts in them. */
const WORDS: Readonly<Record<HttpMeaning, string>> = {
  retry: "The provider asks to come again later",
  throttle: "The provider says that it is too fast",
  refuse: "The provider does not take this message",
  carrier: "The provider cannot send this message",
  stop: "The provider takes nothing from us: see whether the account, its secrets and the address are right",
  unknown: "The provider's answer does not say whether it took the message",
};

function verdictOf(meaning: HttpMeaning, code: string, description: string, retryMs: number | null): Verdict {
  const later = retryMs === null ? {} : { retryAfterMs: retryMs };
  switch (meaning) {
    case "retry":
      return { outcome: { kind: "busy", ...later }, code };
    case "throttle":
      return { outcome: { kind: "busy", ...later }, code, line: "throttled" };
    case "refuse":
      return { outcome: { kind: "refused", fault: "message", code, description }, code };
    case "carrier":
      return { outcome: { kind: "refused", fault: "carrier", code, description }, code };
    case "stop":
      return { outcome: { kind: "down", description: `${description} (${code})` }, code, line: "halted" };
    case "unknown":
    default:
      return { outcome: { kind: "unknown", description: `${description} (${code})` }, code };
  }
}

function takenAs(given: readonly string[], own: string): Verdict["outcome"] {
  const ids = given.filter((each) => ID.test(each));
  const [first = own] = ids;
  return { kind: "taken", carrierMessageId: first, ...(ids.length > 1 && { partIds: ids }) };
}

/** What an answer says, read as JSON only when somebody asks for a field. */
function saidIn(text: string): Said {
  let json: { value: unknown } | null = null;
  return {
    text,
    at: (steps) => {
      json ??= { value: readJson(text) };
      return walk(json.value, steps);
    },
  };
}

type Fits = (status: number, said: Said) => boolean;

function compileSuccess({ statuses, equals, ...where }: HttpSettings["success"]): Fits {
  const isStatus = statuses.map(compileStatus);
  const holds = conditionOf(where, equals, "every");
  return (status, said) => isStatus.some((fits) => fits(status)) && holds(said);
}

function compileRule({ status, equals, meaning, ...where }: HttpErrorRule): Fits & { meaning: HttpMeaning } {
  const isStatus = status === null ? () => true : compileStatus(status);
  const holds = conditionOf(where, equals, "some");
  return Object.assign((answered: number, said: Said) => isStatus(answered) && holds(said), { meaning });
}

/** `2xx`, or one status. */
const compileStatus =
  (written: string): ((status: number) => boolean) =>
  (status) =>
    written.endsWith("xx") ? Math.floor(status / 100) === Number(written[0]) : status === Number(written);

function conditionOf(
  where: HttpPick,
  equals: readonly string[] | null,
  how: "every" | "some",
): (said: Said) => boolean {
  if (where.path === null && where.pattern === null && equals === null) return () => true;
  const all: Picked = compilePick({ path: where.path, pattern: null });
  const pick = compilePick(where);
  const isOne = (value: string): boolean => equals === null || equals.includes(value.trim());
  return (said) => {
    const found = pick(said);
    if (found.length === 0) return false;
    return how === "some" ? found.some(isOne) : found.length === all(said).length && found.every(isOne);
  };
}

/** How long the provider asks us to wait, in seconds or until a date; null when it does not say. */
function retryAfterMs(headers: AnswerHeaders, now: number): number | null {
  const written = headers["retry-after"];
  if (typeof written !== "string") return null;
  const ms = /^\d{1,9}$/.test(written) ? Number(written) * SECOND_MS : Date.parse(written) - now;
  return Number.isNaN(ms) ? null : Math.min(LONGEST_WAIT_MS, Math.max(0, ms));
}
