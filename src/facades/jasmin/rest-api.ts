import type { Credential } from "../../accounts/secret-index.ts";
import type { LoginFacade, FacadeCall, FacadeHead, FacadeReply, FacadeRoute } from "../../http/facade.ts";
import type { KeyRule, Services } from "../../http/route.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { Problem } from "../../model/problem.ts";
import { queryOf, readForm } from "../parameters.ts";
import { readBalance, readRate } from "./account.ts";
import { argumentsIn, readJsonBody, refused } from "./arguments.ts";
import { sendBatch } from "./batch.ts";
import { readSend, subjectOf } from "./read-send.ts";
import { failureOf } from "./refusal.ts";
import { acceptSend, READ_RULE, SEND_RULE } from "./send.ts";

const json = (status: number, value: object): FacadeReply => ({
  status,
  contentType: "application/json; charset=utf-8",
  text: JSON.stringify(value),
});

/** Authenticates by HTTP Basic, before the body is read. */
const admitWith =
  (rule: KeyRule) =>
  ({ requestHeaders, authenticate }: FacadeHead): Promise<Credential<StoredCredential>> => {
    const encoded = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(requestHeaders.authorization ?? "")?.[1] ?? "";
    const login = Buffer.from(encoded, "base64").toString("utf8");
    const at = login.indexOf(":");
    return authenticate({ username: login.slice(0, Math.max(at, 0)), password: login.slice(at + 1) }, rule);
  };

function callerOf({ credential }: FacadeCall): Credential<StoredCredential> {
  if (!credential) throw new Problem("UNAUTHORIZED");
  return credential;
}

async function send(services: Services, call: FacadeCall): Promise<FacadeReply> {
  const caller = callerOf(call);
  const given = argumentsIn(readJsonBody(call.body));
  if (given.has("username") || given.has("password"))
    throw refused("username and password are in the Authorization header.");
  const requestId = await acceptSend(services, call, caller, readSend(given, subjectOf(caller, services)));
  return json(200, { data: `Success "${requestId}"` });
}

async function batch(services: Services, call: FacadeCall): Promise<FacadeReply> {
  return json(200, { data: await sendBatch(services, call, callerOf(call), readJsonBody(call.body)) });
}

async function balance(services: Services, call: FacadeCall): Promise<FacadeReply> {
  return json(200, { data: await readBalance(services, callerOf(call)) });
}

async function rate(services: Services, call: FacadeCall): Promise<FacadeReply> {
  return json(200, { data: await readRate(services, callerOf(call), readForm(queryOf(call.url))) });
}

const route = (
  method: FacadeRoute["method"],
  path: string,
  rule: KeyRule,
  handle: FacadeRoute["handle"],
): FacadeRoute => ({
  method,
  path,
  admit: admitWith(rule),
  handle,
});

/** Jasmin's REST API, in JSON. */
export const jasminRest: LoginFacade = {
  kind: "jasmin",
  routes: [
    { ...route("POST", "/secure/send", SEND_RULE, send), isSend: true },
    { ...route("POST", "/secure/sendbatch", SEND_RULE, batch), isSend: true },
    route("GET", "/secure/balance", READ_RULE, balance),
    route("GET", "/secure/rate", READ_RULE, rate),
    { method: "GET", path: "/ping", handle: async () => json(200, { data: "Jasmin/PONG" }) },
  ],
  prefixes: ["/secure/"],
  fail(problem) {
    if (problem.code === "UNAUTHORIZED") {
      const title = "Authentication required";
      const description = "Please provide valid username and password as HTTP Basic authentication.";
      return { ...json(401, { title, description }), headers: { "www-authenticate": 'Basic realm="Jasmin REST API"' } };
    }
    const { status, message } = failureOf(problem);
    return json(status, { message: `Error "${message}"` });
  },
};
