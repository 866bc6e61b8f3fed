import type { LoginFacade, FacadeCall, FacadeReply } from "../../http/facade.ts";
import { failTwilio, JSON_TYPE } from "./errors.ts";
import { listMessages } from "./list-messages.ts";
import { admitTwilio, callerOf } from "./login.ts";
import { accountSidOf, API_VERSION } from "./message-resource.ts";
import { createMessage, deleteMessage, fetchMessage, updateMessage } from "./messages.ts";
import { checkVerification, fetchVerification, startVerification, updateVerification } from "./verify.ts";

const ACCOUNT = `/${API_VERSION}/Accounts/:accountSid`;
const MESSAGES = `${ACCOUNT}/Messages`;
const SERVICE = "/v2/Services/:serviceSid";

/** The Twilio API: Messages of version 2010-04-01, and Verify v2. */
export const twilio: LoginFacade = {
  kind: "twilio",
  prefixes: [`/${API_VERSION}/`, "/v2/Services/"],
  fail: failTwilio,
  routes: [
    { method: "POST", path: `${MESSAGES}.json`, isSend: true, admit: admitTwilio, handle: createMessage },
    { method: "GET", path: `${MESSAGES}.json`, admit: admitTwilio, handle: listMessages },
    { method: "GET", path: `${MESSAGES}/:sid.json`, admit: admitTwilio, handle: fetchMessage },
    { method: "POST", path: `${MESSAGES}/:sid.json`, admit: admitTwilio, handle: updateMessage },
    { method: "DELETE", path: `${MESSAGES}/:sid.json`, admit: admitTwilio, handle: deleteMessage },
    { method: "GET", path: `${ACCOUNT}.json`, admit: admitTwilio, handle: fetchAccount },
    { method: "POST", path: `${SERVICE}/Verifications`, isSend: true, admit: admitTwilio, handle: startVerification },
    { method: "GET", path: `${SERVICE}/Verifications/:sid`, admit: admitTwilio, handle: fetchVerification },
    { method: "POST", path: `${SERVICE}/Verifications/:sid`, admit: admitTwilio, handle: updateVerification },
    { method: "POST", path: `${SERVICE}/VerificationCheck`, admit: admitTwilio, handle: checkVerification },
  ],
};

/** `GET …/Accounts/{Sid}.json`, by which programs test their credentials. */
async function fetchAccount(_services: unknown, call: FacadeCall): Promise<FacadeReply> {
  const caller = callerOf(call);
  const sid = accountSidOf(caller);
  const uri = `/${API_VERSION}/Accounts/${sid}`;
  const resource = {
    friendly_name: caller.account.name,
    sid,
    status: caller.account.suspended ? "suspended" : "active",
    subresource_uris: { messages: `${uri}/Messages.json` },
    type: caller.key.mode === "test" ? "Trial" : "Full",
    uri: `${uri}.json`,
  };
  return { status: 200, contentType: JSON_TYPE, text: JSON.stringify(resource) };
}
