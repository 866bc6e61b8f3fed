import { messageIdOf, parseMessageId, type MessageRef } from "./message.ts";

/** An address that a request shortens; `k` is its 1-based place in `targetUrl`. */
export interface LinkTarget {
  accountId: number;
  requestId: string;
  k: number;
  url: string;
  createdAt: number;
  /** From then on its links lead nowhere. */
  expiresAt: number;
}

export type TargetRef = Pick<LinkTarget, "requestId" | "k">;

/** The short link of one recipient to one target: each recipient has codes of its own, so a click tells whose it was. */
export interface Link extends MessageRef {
  code: string;
  k: number;
}

/** Who follows links: people, programs that fetch a link to show what is behind it, and every other program. */
export type AgentClass = "person" | "preview" | "bot";

export type ClickCounts = Record<AgentClass, number>;

export const NO_CLICKS: ClickCounts = { person: 0, preview: 0, bot: 0 };

export interface Click {
  accountId: number;
  code: string;
  /** Of the moment of the click; the same click written twice counts once. */
  id: string;
  agent: AgentClass;
  at: number;
}

/** A target has an id in the form of a message's: `<id>:<k>`. */
export const targetIdOf = ({ requestId, k }: TargetRef): string => messageIdOf({ requestId, n: k });

/** Reads `<id>:<k>`; null for anything else. */
export function parseTargetId(value: string): TargetRef | null {
  const id = parseMessageId(value);
  return id && { requestId: id.requestId, k: id.n };
}
