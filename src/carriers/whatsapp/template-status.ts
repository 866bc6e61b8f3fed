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

/** Null for an unknown state. */
export const readStatus = (word: string | null): ChatTemplate["status"] | null =>
  word !== null && Object.hasOwn(STATUSES, word) ? (STATUSES[word] ?? null) : null;
