import type { Credential } from "../../accounts/secret-index.ts";
import type { FacadeCall } from "../../http/facade.ts";
import { acceptThrough } from "../../http/public/send.ts";
import type { Services } from "../../http/route.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { smsWith } from "../sms-with.ts";
import type { JasminSend } from "./read-send.ts";

export const SEND_RULE = { scope: "sms", testKeys: "sms" } as const;
export const READ_RULE = { scope: "read", testKeys: "read" } as const;

/** Accepts one send and returns the id of its request. Next: src/http/public/send.ts */
export async function acceptSend(
  services: Services,
  { lease, setHeader }: Pick<FacadeCall, "lease" | "setHeader">,
  caller: Credential<StoredCredential>,
  send: JasminSend,
): Promise<string> {
  const { body, validForMs, callback } = send;
  const arrivedAt = services.requestAge.arrival() - lease.waitedMs;
  const { text } = await acceptThrough(
    smsWith(send),
    services,
    { body, caller, lease, setHeader },
    { idempotency: null, arrivedAt, validForMs, callback },
    (requestId) => requestId,
  );
  return text;
}
