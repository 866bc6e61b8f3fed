import type { MarkOutcome } from "../carrier.ts";
import { exchangeHttp } from "../http-exchange.ts";
import type { PlatformDeps } from "../http-platform.ts";
import type { WhatsappSecrets, WhatsappSettings } from "../../model/whatsapp-connection.ts";
import { appSecretProof, hide } from "./api-urls.ts";
import { meaningOf } from "./error-codes.ts";
import { fieldsOf, jsonOf, wholeOf } from "./read-json.ts";

type MarkReadDeps = Pick<PlatformDeps<WhatsappSettings, WhatsappSecrets>, "settings" | "secrets" | "egress" | "clock">;

const SECOND_MS = 1000;

/** The platform shows the typing indicator for 25 seconds, or until the next message. */
export const readMarkOf = (messageId: string, typing: boolean): object => ({
  messaging_product: "whatsapp",
  status: "read",
  message_id: messageId,
  ...(typing && { typing_indicator: { type: "text" } }),
});

/** Marks a message of a user as read. The mark covers the earlier messages of the conversation too. */
export async function markRead(deps: MarkReadDeps, url: string, mark: object): Promise<MarkOutcome> {
  const { settings, secrets, egress, clock } = deps;
  const response = await exchangeHttp(egress, clock, {
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...appSecretProof(settings, secrets) },
    body: JSON.stringify(mark),
    limitMs: settings.responseSeconds * SECOND_MS,
  });
  if (response.kind !== "answered")
    return { kind: "failed", description: `The platform did not answer: ${hide(response.reason, secrets)}` };
  const json = fieldsOf(jsonOf(response.text));
  if (response.status === 200 && json["success"] === true) return { kind: "marked" };
  const code = wholeOf(fieldsOf(json["error"])["code"]);
  const description = code === null ? `It answered with HTTP ${response.status}` : meaningOf(code).description;
  return { kind: "failed", description: `The platform refused the mark: ${description}` };
}
