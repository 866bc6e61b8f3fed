import { messageIdOf, parseMessageId, type MessageRef } from "./message.ts";

/** A URL that a request shortens; `k` is its 1-based position in `targetUrl`. */
export interface LinkTarget {
  accountId: number;
  requestId: string;
  k: number;
  url: string;
  createdAt: number;
  /** The expiry of its short links. */
  expiresAt: number;
}

export type TargetRef = Pick<LinkTarget, "requestId" | "k">;

/** The short link of one recipient to one target. Codes are per recipient, so a click identifies its recipient. */
export interface Link extends MessageRef {
  code: string;
  k: number;
}

/** The clients that follow links: people, link-preview bots, and other programs. */
export type AgentClass = "person" | "preview" | "bot";

export type ClickCounts = Record<AgentClass, number>;

export const NO_CLICKS: ClickCounts = { person: 0, preview: 0, bot: 0 };

export interface Click {
  accountId: number;
  code: string;
  /** Time-ordered. Storing the same click twice has no effect. */
  id: string;
  agent: AgentClass;
  at: number;
}

/** The id of a target, in the form of a message id: `<id>:<k>`. */
export const targetIdOf = ({ requestId, k }: TargetRef): string => messageIdOf({ requestId, n: k });

/** Reads `<id>:<k>`; null for anything else. */
export function parseTargetId(value: string): TargetRef | null {
  const id = parseMessageId(value);
  return id && { requestId: id.requestId, k: id.n };
}
