import type { ChatTemplate } from "../../model/chatapp.ts";

/** The platform's words for how far a template is, in its list and in its calls. */
const STATUSES: Readonly<Record<string, ChatTemplate["status"]>> = {
  APPROVED: "approved",
  // It may be sent, and is watched.
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

/** How far a template is, in our words; null for a word that is new. */
export const readStatus = (word: string | null): ChatTemplate["status"] | null =>
  word !== null && Object.hasOwn(STATUSES, word) ? (STATUSES[word] ?? null) : null;
