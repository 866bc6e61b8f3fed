import { t } from "../../i18n/t.ts";

export const AGENT_SENDS = "/api/agent-sends";

/** A send that an AI agent has prepared. */
export interface AgentSend {
  id: string;
  keyName: string | null;
  operation: string;
  request: Readonly<Record<string, unknown>> | null;
  recipients: number;
  credits: number;
  state: string;
  reason: string | null;
  result: string | null;
  createdAt: number;
  expiresAt: number;
  decidedBy: string | null;
}

export const STATE_WORDS: Readonly<Record<string, string>> = {
  waiting: t("Waiting for approval"),
  sending: t("Being sent"),
  sent: t("Sent"),
  failed: t("Failed"),
  declined: t("Declined"),
  expired: t("Expired"),
};
