import type { WhatsappSecrets, WhatsappSettings } from "../../model/whatsapp-line.ts";

/** An address of the API. */
export const apiUrl = ({ baseUrl, version }: WhatsappSettings, path: string): string =>
  [baseUrl, ...(version === null ? [] : [version]), path].join("/");

/** Where messages of a business number are posted to; null while the platform's id of it is missing. */
export function messagesUrl(settings: WhatsappSettings, phoneNumberId: string | null): string | null {
  if (!settings.phoneNumberInPath) return apiUrl(settings, "messages");
  return phoneNumberId === null ? null : apiUrl(settings, `${encodeURIComponent(phoneNumberId)}/messages`);
}

/** What proves who we are. */
export function proofOf(
  { authentication: { header, scheme } }: WhatsappSettings,
  { token }: Pick<WhatsappSecrets, "token">,
): Record<string, string> {
  return { [header]: scheme === "" ? token : `${scheme} ${token}` };
}

const NUMBER = /\+?\d{7,}/g;

/** Words of the platform, or of the way to it, without what must not be shown: the token, and anybody's number. */
export const hide = (words: string, { token }: Pick<WhatsappSecrets, "token">): string =>
  words.replaceAll(token, "…").replaceAll(NUMBER, "…");
