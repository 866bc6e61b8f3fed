import type { HttpErrorRule, HttpMeaning, HttpSettings } from "../../model/http-line.ts";
import { compilePick, readJson, readPattern, walk, type Picked, type Said } from "../../model/http-pick.ts";
import type { Exchange } from "../exchange.ts";
import type { Verdict } from "../standing.ts";

/** A verdict, with the ids of the parts that were taken where others were not: whoever asks the provider about them needs these. */
export interface Judged extends Verdict {
  partIds?: readonly string[];
}

type Judge = (exchange: Exchange, now: number, own: string) => Judged;

/** No longer than any provider's, and short enough for a line of a table. */
const ID = /^[\x21-\x7e]{1,200}$/;
const CODE = /^[\w .:/-]{1,40}$/;
const SECOND_MS = 1000;
const LONGEST_WAIT_MS = 3_600_000;

/** Makes of a line's rules what tells from an answer what became of the message. `own` is its id where the provider gives none. */
export function createJudge({ success, id, errorCode, errors, errorTexts }: HttpSettings): Judge {
  const partsIn = compileSuccess(success);
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
    const said = saidIn(exchange.text);
    const { yes, no } = partsIn(status, said);
    if (yes > 0 && no.length === 0) return { outcome: takenAs(pickIds?.(said) ?? [], own) };

    const found = rules.find((fits) => fits(status, said))?.meaning ?? meaningOf(status);
    const codes = pickCode?.(said).filter((each) => CODE.test(each)) ?? [];
    // Among the codes of several parts are those that are a yes.
    const written =
      codes.find((each) => !success.equals?.includes(each)) ??
      (pickCode && yes > 0 ? no.find((each) => CODE.test(each)) : undefined) ??
      codes[0];
    const code = written ?? `HTTP ${status}`;
    const words = (written === undefined ? undefined : meanings.get(written)) ?? WORDS[found];
    const verdict = verdictOf(found, code, words, retryAfterMs(retryAfter, now));
    return yes > 0 ? partly(verdict, code, words, idsAmong(pickIds?.(said) ?? [])) : verdict;
  };
}

/** Nobody sends again what has arrived in part, but whoever may repeat what is in doubt. */
function partly({ outcome, ...line }: Verdict, code: string, words: string, partIds: readonly string[]): Judged {
  const description = `The provider took some of its parts and not the others: ${words}`;
  if (outcome.kind === "refused")
    return { ...line, outcome: { kind: "refused", fault: "message", code, description }, partIds };
  const pause = outcome.kind === "busy" && line.line === "throttled" ? { pauseMs: outcome.retryAfterMs ?? 0 } : {};
  return { ...line, ...pause, outcome: { kind: "unknown", description: `${description} (${code})` }, partIds };
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
  const ids = idsAmong(given);
  const [first = own] = ids;
  return { kind: "taken", carrierMessageId: first, ...(ids.length > 1 && { partIds: ids }) };
}

const idsAmong = (given: readonly string[]): readonly string[] => given.filter((each) => ID.test(each));

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

/** How many values say yes, and those that do not; one yes where nothing but the status is asked for. */
interface Parts {
  yes: number;
  no: readonly string[];
}

const NO_PARTS: Parts = { yes: 0, no: [] };

function compileSuccess({
  statuses,
  equals,
  ...where
}: HttpSettings["success"]): (status: number, said: Said) => Parts {
  const isStatus = statuses.map(compileStatus);
  const all: Picked = compilePick({ path: where.path, pattern: null });
  const match = where.pattern === null ? null : readPattern(where.pattern);
  const isYes = (value: string): boolean => {
    const found = where.pattern === null ? value : (match?.(value) ?? null);
    return found !== null && (equals === null || equals.includes(found.trim()));
  };
  const isConditional = where.path !== null || where.pattern !== null || equals !== null;
  return (status, said) => {
    if (!isStatus.some((fits) => fits(status))) return NO_PARTS;
    if (!isConditional) return { yes: 1, no: [] };
    const values = all(said);
    const no = values.filter((value) => !isYes(value));
    return { yes: values.length - no.length, no };
  };
}

function compileRule({ status, equals, meaning, ...where }: HttpErrorRule): Fits & { meaning: HttpMeaning } {
  const isStatus = status === null ? () => true : compileStatus(status);
  const isConditional = where.path !== null || where.pattern !== null || equals !== null;
  const pick: Picked = compilePick(where);
  const holds = (said: Said): boolean => pick(said).some((value) => equals === null || equals.includes(value.trim()));
  return Object.assign((answered: number, said: Said) => isStatus(answered) && (!isConditional || holds(said)), {
    meaning,
  });
}

/** `2xx`, or one status. */
const compileStatus =
  (written: string): ((status: number) => boolean) =>
  (status) =>
    written.endsWith("xx") ? Math.floor(status / 100) === Number(written[0]) : status === Number(written);

/** How long the provider asks us to wait, in seconds or until a date; null when it does not say. */
function retryAfterMs(written: string | null, now: number): number | null {
  if (written === null) return null;
  const ms = /^\d{1,9}$/.test(written) ? Number(written) * SECOND_MS : Date.parse(written) - now;
  return Number.isNaN(ms) ? null : Math.min(LONGEST_WAIT_MS, Math.max(0, ms));
}
