import { randomBytes } from "node:crypto";
import type { Credential } from "../../accounts/secret-index.ts";
import type { Facade, FacadeCall, FacadeReply } from "../../http/facade.ts";
import type { Services } from "../../http/route.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { hookPath, hookSettingsOf, IDENTITY_PRODUCTS, type IdentityProduct } from "../../model/identity-hook.ts";
import type { Problem } from "../../model/problem.ts";
import { deliverForeign } from "./deliver-foreign.ts";
import { PRODUCTS } from "./products.ts";
import { readPayload } from "./read-payload.ts";

/** Identity products send a user's profile beside the code; nothing of it is larger. */
const BODY_BYTES_MAX = 65_536;

const RULE = { scope: "verify:custom", testKeys: "verify:custom" } as const;

/** Checked for a hook that does not exist, so that it is refused in the same time as a wrong secret. */
const NO_SECRET = `whsec_${randomBytes(24).toString("base64")}`;

/** The hooks of the identity products. Each exists only once an owner has created it, so they are always served. */
export const IDENTITY_FACADES: readonly Facade[] = IDENTITY_PRODUCTS.map((product) => ({
  kind: "identity",
  prefixes: [hookPath(product, "")],
  fail: (problem) => PRODUCTS[product].fail(problem, messageOf(problem)),
  routes: [
    {
      method: "POST",
      path: hookPath(product, ":hookId"),
      bodyBytesMax: BODY_BYTES_MAX,
      handle: (services, call) => handleCall(product, services, call),
    },
  ],
}));

async function handleCall(product: IdentityProduct, services: Services, call: FacadeCall): Promise<FacadeReply> {
  const form = PRODUCTS[product];
  const hook = await authenticateHook(product, services, call);
  const settings = hookSettingsOf(hook.key);
  const foreign = form.read(readPayload(call.body), settings);
  return form.succeed(await deliverForeign(services, call, hook, foreign));
}

/** An unknown hook, one of another product and a wrong secret are refused alike. */
async function authenticateHook(
  product: IdentityProduct,
  { keyring, clock, deliverDeps }: Services,
  call: FacadeCall,
): Promise<Credential<StoredCredential>> {
  const request = {
    headers: call.requestHeaders,
    body: call.body,
    nowSeconds: Math.floor(clock.now() / 1000),
  };
  const hook = await call.admitFound(() => {
    const named = keyring.findHook(call.params["hookId"] ?? "");
    const found = named && hookSettingsOf(named.key).product === product ? named : null;
    const secret = found?.key.sealed ? deliverDeps.encryption.decrypt(found.key.sealed) : NO_SECRET;
    return PRODUCTS[product].isGenuine(secret, request) ? found : null;
  }, RULE);
  keyring.noteUse(hook);
  return hook;
}

/** Messages for a user who waits for a code. All other problems are the operator's, and the request log has their code. */
const USER_MESSAGES: Partial<Readonly<Record<Problem["code"], string>>> = {
  COUNTRY_NOT_ALLOWED: "Codes are not sent to numbers of this country.",
  RECIPIENT_BLOCKED: "Codes are not sent to this number.",
  RECIPIENT_OPTED_OUT: "Codes are not sent to this number.",
  UNAUTHORIZED: "The hook does not exist, or its secret or signature is wrong.",
  INSUFFICIENT_CREDITS: "The code could not be sent. Try again later.",
  INTERNAL: "The code could not be sent. Try again later.",
};

const messageOf = ({ code, faults, message }: Problem): string =>
  USER_MESSAGES[code] ?? (faults.map((fault) => fault.message).join(" ") || message);
