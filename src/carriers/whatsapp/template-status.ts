import type { ChatTemplate } from "../../model/chatapp.ts";

/** Template states of the platform, in its list and in its webhooks. */
const STATUSES: Readonly<Record<string, ChatTemplate["status"]>> = {
  APPROVED: "approved",
  // May be sent, with a quality warning.
  FLAGGED: "approved",
  REINSTATED: "approved",
  UNPAUSED: "approved",
  QUALITY_PENDING: "approved",
  PENDING: "draft",
  IN_APPEAL: "draft",
  REJECTED: "draft",
  PAUSED: "paused",
  DISABLED: "paused",
  LIMIT_EXCEEDED: "paused",
  ARCHIVED: "paused",
  PENDING_DELETION: "paused",
  DELETED: "paused",
};

/** Reasons of the platform in words; others are shown as they are. */
const REASONS: Readonly<Record<string, string>> = {
  ABUSIVE_CONTENT: "its content violates the platform's policy",
  CATEGORY_NOT_AVAILABLE: "its category is not available to this business",
  INCORRECT_CATEGORY: "its content belongs to another category",
  INVALID_FORMAT: "its placeholders or its format are wrong",
  PROMOTIONAL: "it advertises in a category that may not",
  SCAM: "the platform takes it for a fraud",
  TAG_CONTENT_MISMATCH: "its content does not fit its category or language",
};

/** The platform's reason with our words for it; null if it gives none. */
export function describeReason(code: string | null, details: readonly (string | null)[] = []): string | null {
  const isNone = code === null || code === "NONE";
  const known = isNone ? undefined : Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
  const words = [isNone ? null : code, known ?? null, ...details].filter((each) => each !== null);
  return words.length === 0 ? null : words.join(": ").slice(0, REASON_MAX).toWellFormed();
}

const REASON_MAX = 1000;

const QUALITIES: ReadonlySet<string> = new Set(["GREEN", "YELLOW", "RED"]);

export const readQuality = (word: string | null): string | null => (word !== null && QUALITIES.has(word) ? word : null);

/** Null for an unknown state. */
export const readStatus = (word: string | null): ChatTemplate["status"] | null =>
  word !== null && Object.hasOwn(STATUSES, word) ? (STATUSES[word] ?? null) : null;
