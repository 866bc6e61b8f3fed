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
  for (const entry of entries) lines += `${JSON.stringify(entry)}\n`;
  return lines;
}

export const readTrail = (trail: string | null): TrailEntry[] =>
  (trail ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as TrailEntry);
