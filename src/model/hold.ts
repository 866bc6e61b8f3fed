import { Problem } from "./problem.ts";

/** The choice for messages that may have been sent since a backup. */
export const DROP_OR_SEND = ["send", "drop"] as const;
export type DropOrSend = (typeof DROP_OR_SEND)[number];

/** Choices for single messages and campaigns, which come before those for the groups. A message comes before its campaign. */
export interface ResumeExceptions {
  messages: readonly { messageId: string; choice: DropOrSend }[];
  campaigns: readonly { accountId: number; name: string; choice: DropOrSend }[];
}

export interface ResumePlan {
  /** When the operator decided, in epoch milliseconds: later messages are not concerned. */
  at: number;
  /** For messages that no carrier had at the time of the backup. */
  waiting: DropOrSend;
  /** For messages that were being submitted, and for planned failovers and next channels. */
  inDoubt: DropOrSend;
  exceptions?: ResumeExceptions;
}

/** While the service is held, no node accepts or sends. It is stored in the database, so a copy of the database is held too. */
export interface Hold {
  /** Epoch milliseconds. */
  since: number;
  /** `moved`: the data were copied to another database, which sends from then on. */
  reason: "restore" | "operator" | "moved";
  /** The moment of the backup; null if it is unknown. */
  snapshotAt: number | null;
  /** Set by the operator: a node carries it out and then ends the hold. */
  resume: ResumePlan | null;
  /** Identifies the copy of a database that was moved. */
  copyId?: string;
}

/** The name of the service value. */
export const HOLD = "held";

export const readHold = (stored: string | null): Hold | null => (stored === null ? null : (JSON.parse(stored) as Hold));

const RETRY_SECONDS = 60;

export const heldProblem = (): Problem => new Problem("SERVICE_HELD", { retryAfterSeconds: RETRY_SECONDS });
