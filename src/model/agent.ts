import { readNumber } from "./number.ts";

/** The limits of a key that an agent (an AI assistant) uses. A key with limits is valid at `/mcp` only. */
export interface AgentLimits {
  /** Allowed recipients: numbers, or beginnings of numbers that end with `*`. Empty allows all. */
  recipients: readonly string[];
  /** Messages and codes within any hour. */
  messagesPerHour: number;
  /** Credits within any 24 hours. */
  creditsPerDay: number;
  /** False if phone numbers are masked in everything that the agent reads. */
  showsNumbers: boolean;
  /** True if a person must approve each send in the dashboard. */
  needsApproval: boolean;
}

/** The limits of an ordinary key that is used at `/mcp`. */
export const DEFAULT_AGENT_LIMITS: AgentLimits = {
  recipients: [],
  messagesPerHour: 100,
  creditsPerDay: 1000,
  showsNumbers: false,
  needsApproval: false,
};

/** Operations of an agent that cost credits and reach people. */
export const AGENT_OPERATIONS = ["sms", "rcs", "chatapp", "verify"] as const;
export type AgentOperation = (typeof AGENT_OPERATIONS)[number];

export const AGENT_SEND_STATES = ["previewed", "waiting", "sending", "sent", "failed", "declined", "expired"] as const;
export type AgentSendState = (typeof AGENT_SEND_STATES)[number];

/** A send that an agent has prepared, from its preview to its end. */
export interface AgentSend {
  accountId: number;
  id: string;
  keyId: string;
  /** Digest of the token that the preview returned; the token is not stored. */
  digest: string;
  operation: AgentOperation;
  /** The encrypted request body; null once the send has ended. */
  body: string | null;
  recipients: number;
  credits: number;
  state: AgentSendState;
  /** Why it failed; null otherwise. */
  reason: string | null;
  /** Id of the send request or of the verification. */
  result: string | null;
  /** The agent's address. */
  address: string;
  createdAt: number;
  expiresAt: number;
  /** The person who approved or declined it, by their email address. */
  decidedBy: string | null;
  decidedAt: number | null;
}

/** Preview tokens are for a conversation, not for later. */
export const AGENT_TOKEN_MS = 10 * 60_000;
/** Time in which a person can approve a send. */
export const APPROVAL_MS = 24 * 3_600_000;

const PATTERN = /^\+?[\d\s().-]{1,30}\*?$/;

/** Digits of an entry of the allow-list, with its `*`; null if it is malformed. */
export function readRecipientPattern(written: string): string | null {
  if (!PATTERN.test(written)) return null;
  if (!written.endsWith("*")) return readNumber(written);
  const digits = written.replaceAll(/\D/g, "");
  return /^[1-9]\d{0,14}$/.test(digits) ? `${digits}*` : null;
}

/** True if the allow-list contains the number, which is written in digits. */
export const isAllowedRecipient = ({ recipients }: Pick<AgentLimits, "recipients">, number: string): boolean =>
  recipients.length === 0 ||
  recipients.some((entry) => {
    const pattern = readRecipientPattern(entry) ?? "";
    return pattern.endsWith("*") ? number.startsWith(pattern.slice(0, -1)) : number === pattern;
  });
