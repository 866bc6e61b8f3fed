import type { Channel, State } from "./message.ts";

/**
 * Why a message is where it is, step by step, as it lies in the message's own row: written with the change it explains,
 * so that the two can never disagree.
 */
export type TrailEntry = { at: number } & (
  | { step: "number"; written: string; read: string }
  | { step: "policy"; policy: PolicyName; verdict: Verdict; detail: string }
  | { step: "attempt"; route: string; carrier: string; passedOver: readonly PassedOver[] }
  | {
      step: "answer";
      carrier: string;
      outcome: string;
      code?: string;
      description?: string;
      carrierMessageId?: string;
      /** What went over the line, in the carrier's own form, without the text. */
      exchange?: string;
      nextTryAt?: number;
      /** It came when nobody waited for it any more. */
      late?: true;
    }
  | {
      step: "receipt";
      carrier: string;
      /** What the message is by it. */
      state: State;
      code: string | null;
      description: string | null;
      /** The part of a long message that it speaks of, and what that part is. */
      part?: { index: number; total: number; state: State };
      /** Whose network the phone is in, where the carrier says so. */
      operator?: string;
      circle?: string;
    }
  | {
      step: "failover";
      carrier: string;
      reason: string;
      /** The channel by which it goes on, where that is another. */
      becomes?: Channel;
    }
  | { step: "changed"; what: "paused" | "resumed" | "cancelled" }
);

const POLICIES = [
  "route",
  "number",
  "country",
  "opt-out",
  "quiet hours",
  "same text",
  "template",
  "sender",
  "schedule",
  "media",
  "session",
  "code",
] as const;
export type PolicyName = (typeof POLICIES)[number];

/** `noted`: it would have been refused on a real carrier, or the account only wants to be warned. */
export type Verdict = "passed" | "held" | "refused" | "noted";

/** A route that would have fitted and was not used, with the reason. */
export interface PassedOver {
  route: string;
  carrier: string;
  reason: string;
}

/** Entries as they are appended to a row: one line each. */
export function writeTrail(...entries: readonly TrailEntry[]): string {
  let lines = "";
  for (const entry of entries) lines += `${JSON.stringify(listOf(entry) ?? entry)}\n`;
  return lines;
}

export const readTrail = (trail: string | null): TrailEntry[] =>
  (trail ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const said = JSON.parse(line) as TrailEntry | List;
      return isList(said) ? entryOf(said) : said;
    });

/**
 * The steps of nearly every message, as lists: with their names they would be most of its row, and what a row costs to write
 * goes with its length. Whatever else is said of a step leaves it an object.
 */
type List =
  | readonly ["policy", at: number, policy: PolicyName, verdict: Verdict, detail: string]
  | readonly ["attempt", at: number, route: string, carrier: string]
  | readonly ["taken", at: number, carrier: string, exchange: string]
  | readonly ["receipt", at: number, carrier: string, state: State, code: string | null, description: string | null];

const isList = (said: TrailEntry | List): said is List => Array.isArray(said);

function listOf(entry: TrailEntry): List | null {
  const { at } = entry;
  switch (entry.step) {
    case "policy":
      return ["policy", at, entry.policy, entry.verdict, entry.detail];
    case "attempt":
      return entry.passedOver.length === 0 ? ["attempt", at, entry.route, entry.carrier] : null;
    case "answer":
      return isPlainlyTaken(entry) ? ["taken", at, entry.carrier, entry.exchange] : null;
    case "receipt":
      return isPlain(entry) ? ["receipt", at, entry.carrier, entry.state, entry.code, entry.description] : null;
    case "number":
    case "failover":
    case "changed":
    default:
      return null;
  }
}

function entryOf(list: List): TrailEntry {
  switch (list[0]) {
    case "policy": {
      const [step, at, policy, verdict, detail] = list;
      return { at, step, policy, verdict, detail };
    }
    case "attempt": {
      const [step, at, route, carrier] = list;
      return { at, step, route, carrier, passedOver: [] };
    }
    case "taken": {
      const [outcome, at, carrier, exchange] = list;
      return { at, step: "answer", carrier, outcome, carrierMessageId: lastWordOf(exchange), exchange };
    }
    case "receipt":
    default: {
      const [step, at, carrier, state, code, description] = list;
      return { at, step, carrier, state, code, description };
    }
  }
}

type Answer = Extract<TrailEntry, { step: "answer" }>;

/** An exchange mostly ends with the id under which the carrier has the message, which need not be said twice then. */
const isPlainlyTaken = (answer: Answer): answer is Answer & { exchange: string } =>
  answer.outcome === "taken" &&
  answer.exchange !== undefined &&
  answer.carrierMessageId === lastWordOf(answer.exchange) &&
  answer.code === undefined &&
  answer.description === undefined &&
  answer.nextTryAt === undefined &&
  answer.late === undefined;

const lastWordOf = (exchange: string): string => exchange.slice(exchange.lastIndexOf(" ") + 1);

const isPlain = ({ part, operator, circle }: Extract<TrailEntry, { step: "receipt" }>): boolean =>
  part === undefined && operator === undefined && circle === undefined;
