import { derivedId } from "../lib/ids.ts";
import type { MessageCallback } from "../model/callback.ts";
import type { StoredCredential } from "../model/credential.ts";

const URL_MAX = 2000;

/** A callback address as it is called and signed; null if it is no web address, or has user information or too many characters. */
export function readCallbackUrl(written: string): string | null {
  if (written.length > URL_MAX || !URL.canParse(written)) return null;
  const url = new URL(written);
  if ((url.protocol !== "http:" && url.protocol !== "https:") || url.username !== "" || url.password !== "")
    return null;
  url.hash = "";
  return url.href;
}

/** The callback by HTTP that a request asks for. All callbacks of an account to one origin share a queue. */
export function httpCallback(
  { accountId, id, kind }: Pick<StoredCredential, "accountId" | "id" | "kind">,
  { url, ...choices }: Required<Pick<MessageCallback, "url" | "states">> & Pick<MessageCallback, "method" | "options">,
): MessageCallback {
  const endpointId = derivedId(JSON.stringify(["facade callbacks", accountId, kind, new URL(url).origin]));
  return { endpointId, kind, credentialId: id, url, ...choices };
}
