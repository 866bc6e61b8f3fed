import type { Channel, State } from "./message.ts";

/**
 * An entry of a message's timeline, which explains its state. It is stored in the message's row, in the same write as the
 * change, so that the two cannot disagree.
 */
export type TimelineEntry = { at: number } & (
  | { step: "number"; written: string; read: string }
  | { step: "policy"; policy: PolicyName; verdict: Verdict; detail: string }
  | {
      step: "attempt";
      route: string;
      carrier: string;
      passedOver: readonly SkippedRoute[];
      /** A simulated carrier gets a live message although the account has a real one. */
      simulated?: true;
    }
  | {
      step: "answer";
      carrier: string;
      outcome: string;
      code?: string;
      description?: string;
      carrierMessageId?: string;
      /** The protocol exchange in the carrier's notation, without the message text. */
      exchange?: string;
      nextTryAt?: number;
      /** The answer came after the time-out. */
      late?: true;
    }
  | {
      step: "receipt";
      carrier: string;
      /** The message state that follows from it. */
      state: State;
      code: string | null;
      description: string | null;
      /** The part of a long message that the receipt is for, and the state of that part. */
      part?: { index: number; total: number; state: State };
      /** The operator of the phone, where the carrier reports it. */
      operator?: string;
      circle?: string;
      /** The time by the carrier's clock, where it differs much from the time of arrival. */
      carrierAt?: number;
    }
  | {
      step: "failover";
      carrier: string;
      reason: string;
      /** The next channel, where it differs. */
      becomes?: Channel;
    }
  | {
      /** The carrier accepted the message, and no receipt came in time. */
      step: "unreported";
      carrier: string;
    }
  /** The API it came by, where it is not the service's own, with the client. */
  | { step: "arrived"; by: string; from: string }
  | { step: "changed"; what: "paused" | "resumed" | "cancelled" | "revoked" | "dropped" }
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
  "send window",
] as const;
export type PolicyName = (typeof POLICIES)[number];

/** `noted`: a real carrier would have refused it, or the account asked for a warning only. */
export type Verdict = "passed" | "held" | "refused" | "noted";

/** A matching route that was not used, with the reason. */
export interface SkippedRoute {
  route: string;
  carrier: string;
  reason: string;
}

/** Encodes entries as JSON lines, to append to a row. */
export function encodeTimeline(...entries: readonly TimelineEntry[]): string {
  let lines = "";
  for (const entry of entries) lines += `${JSON.stringify(listOf(entry) ?? entry)}\n`;
  return lines;
}

export const decodeTimeline = (stored: string | null): TimelineEntry[] =>
  (stored ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const entry = JSON.parse(line) as TimelineEntry | List;
      return isList(entry) ? entryOf(entry) : entry;
    });

/**
 * The steps of nearly every message are stored as arrays: member names would take most of the row, and the cost of a
 * write grows with its length. Steps with further members stay objects.
 */
type List =
  | readonly ["policy", at: number, policy: PolicyName, verdict: Verdict, detail: string]
  | readonly ["attempt", at: number, route: string, carrier: string]
  | readonly ["taken", at: number, carrier: string, exchange: string]
  | readonly ["receipt", at: number, carrier: string, state: State, code: string | null, description: string | null];

const isList = (entry: TimelineEntry | List): entry is List => Array.isArray(entry);

function listOf(entry: TimelineEntry): List | null {
  const { at } = entry;
  switch (entry.step) {
    case "policy":
      return ["policy", at, entry.policy, entry.verdict, entry.detail];
    case "attempt":
      return entry.passedOver.length === 0 && !entry.simulated ? ["attempt", at, entry.route, entry.carrier] : null;
    case "answer":
      return isPlainlyTaken(entry) ? ["taken", at, entry.carrier, entry.exchange] : null;
    case "receipt":
      return isPlain(entry) ? ["receipt", at, entry.carrier, entry.state, entry.code, entry.description] : null;
    case "number":
    case "failover":
    case "unreported":
    case "arrived":
    case "changed":
    default:
      return null;
  }
}

function entryOf(list: List): TimelineEntry {
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

type Answer = Extract<TimelineEntry, { step: "answer" }>;

/** An exchange mostly ends with the carrier's message id, which is then not stored twice. */
const isPlainlyTaken = (answer: Answer): answer is Answer & { exchange: string } =>
  answer.outcome === "taken" &&
  answer.exchange !== undefined &&
  answer.carrierMessageId === lastWordOf(answer.exchange) &&
  answer.code === undefined &&
  answer.description === undefined &&
  answer.nextTryAt === undefined &&
  answer.late === undefined;

const lastWordOf = (exchange: string): string => exchange.slice(exchange.lastIndexOf(" ") + 1);

const isPlain = ({ part, operator, circle, carrierAt }: Extract<TimelineEntry, { step: "receipt" }>): boolean =>
  part === undefined && operator === undefined && circle === undefined && carrierAt === undefined;
