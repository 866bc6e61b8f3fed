import type { Credential } from "../../accounts/secret-index.ts";
import { refuseMissingScope } from "../../http/auth/authenticate.ts";
import type { FacadeCall, FacadeHead } from "../../http/facade.ts";
import type { Scope } from "../../model/api-key.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { Problem } from "../../model/problem.ts";
import { accountSidOf } from "./message-resource.ts";

const BASIC = /^Basic +([A-Za-z0-9+/=_-]+) *$/i;

/** Basic authentication with AccountSid and AuthToken, or with an API key's SID and secret. */
export async function admitTwilio(call: FacadeHead): Promise<Credential<StoredCredential>> {
  const [, encoded = ""] = BASIC.exec(call.requestHeaders.authorization ?? "") ?? [];
  const decoded = Buffer.from(encoded, "base64").toString("utf8");
  const colon = decoded.indexOf(":");
  const [username, password] = colon < 0 ? ["", ""] : [decoded.slice(0, colon), decoded.slice(colon + 1)];
  const credential = await call.authenticate({ username, password }, "any scope");
  const { accountSid } = call.params;
  if (accountSid !== undefined && accountSid !== accountSidOf(credential))
    throw new Problem("ROUTE_NOT_FOUND", {
      message: `The requested resource was not found: this credential belongs to the account ${accountSidOf(credential)}.`,
    });
  return credential;
}

/** The credential of an admitted request. */
export function callerOf({ credential }: Pick<FacadeCall, "credential">): Credential<StoredCredential> {
  if (!credential) throw new Problem("UNAUTHORIZED");
  return credential;
}

/** The same, if it has a scope. */
export function callerWith(scope: Scope, call: Pick<FacadeCall, "credential">): Credential<StoredCredential> {
  const caller = callerOf(call);
  refuseMissingScope(caller.key, scope);
  return caller;
}
