import type { FacadeCall, FacadeReply, FacadeRoute } from "../../http/facade.ts";
import { acceptThrough } from "../../http/public/send.ts";
import type { Services } from "../../http/route.ts";
import { smsWith } from "../sms-with.ts";
import { readRequest } from "./read-request.ts";
import { readSubmit } from "./read-submit.ts";
import { settingsOf } from "./settings.ts";
import { ACCEPTED, QUEUED, replyOf } from "./reply.ts";

const RULE = { scope: "sms", testKeys: "sms" } as const;

/** `GET` and `POST /cgi-bin/sendsms`. Next: src/facades/kannel/read-submit.ts */
async function sendSms(services: Services, call: FacadeCall): Promise<FacadeReply> {
  const arrivedAt = services.requestAge.arrival() - call.lease.waitedMs;
  const parameters = readRequest(call);
  const word = (name: string): string => parameters.get(name)?.toString("utf8") ?? "";
  const caller = await call.authenticate({ username: word("username"), password: word("password") }, RULE);
  const { type: routeClass, tlvs: definitions } = settingsOf(caller.key);
  const submit = readSubmit(parameters, {
    accountId: caller.account.id,
    credentialId: caller.key.id,
    username: caller.key.username,
    routeClass,
    definitions,
    now: services.clock.now(),
  });
  const { body, validForMs, callback } = submit;
  const { text } = await acceptThrough(
    smsWith(submit),
    services,
    { body, caller, lease: call.lease, setHeader: call.setHeader },
    { idempotency: null, arrivedAt, validForMs, callback },
    (_requestId, draft) => (draft.sendAt === null ? ACCEPTED : QUEUED),
  );
  return replyOf(202, text);
}

export const sendSmsRoutes: readonly FacadeRoute[] = (["GET", "POST"] as const).map((method) => ({
  method,
  path: "/cgi-bin/sendsms",
  isSend: true,
  handle: sendSms,
}));
