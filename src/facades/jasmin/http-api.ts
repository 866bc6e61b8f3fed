import type { Credential } from "../../accounts/secret-index.ts";
import type { LoginFacade, FacadeCall, FacadeReply, FacadeRoute } from "../../http/facade.ts";
import type { KeyRule, Services } from "../../http/route.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { Problem } from "../../model/problem.ts";
import { readBalance, readRate } from "./account.ts";
import { readArguments, refused, textOf, type Arguments } from "./arguments.ts";
import { readSend, subjectOf } from "./read-send.ts";
import { failureOf } from "./refusal.ts";
import { acceptSend, READ_RULE, SEND_RULE } from "./send.ts";

/** Authenticates by arguments. The refusal names the user, as Jasmin's does. */
async function logIn(call: FacadeCall, given: Arguments, rule: KeyRule): Promise<Credential<StoredCredential>> {
  const username = textOf(given, "username");
  const password = textOf(given, "password");
  if (username === null || password === null)
    throw refused("Mandatory arguments not found, please refer to the HTTPAPI specifications.");
  try {
    return await call.authenticate({ username, password }, rule);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "UNAUTHORIZED") throw error;
    throw new Problem("UNAUTHORIZED", {
      message: `Authentication failure for username:${username.slice(0, 30)}`,
      cause: error,
    });
  }
}

/** `/send`. Next: src/facades/jasmin/read-send.ts */
async function send(services: Services, call: FacadeCall): Promise<FacadeReply> {
  const given = readArguments(call);
  const caller = await logIn(call, given, SEND_RULE);
  const requestId = await acceptSend(services, call, caller, readSend(given, subjectOf(caller, services)));
  return { status: 200, contentType: "text/plain; charset=utf-8", text: `Success "${requestId}"` };
}

const json = (value: object): FacadeReply => ({
  status: 200,
  contentType: "application/json; charset=utf-8",
  text: JSON.stringify(value),
});

async function rate(services: Services, call: FacadeCall): Promise<FacadeReply> {
  const given = readArguments(call);
  return json(await readRate(services, await logIn(call, given, READ_RULE), given));
}

async function balance(services: Services, call: FacadeCall): Promise<FacadeReply> {
  return json(await readBalance(services, await logIn(call, readArguments(call), READ_RULE)));
}

const route = (method: FacadeRoute["method"], path: string, handle: FacadeRoute["handle"]): FacadeRoute => ({
  method,
  path,
  handle,
});

/** Jasmin's HTTP API, which is called with arguments and answers in words. */
export const jasminHttp: LoginFacade = {
  kind: "jasmin",
  routes: [
    { ...route("GET", "/send", send), isSend: true },
    { ...route("POST", "/send", send), isSend: true },
    route("GET", "/rate", rate),
    route("POST", "/rate", rate),
    route("GET", "/balance", balance),
    route("POST", "/balance", balance),
  ],
  prefixes: [],
  fail(problem) {
    const { status, message } = failureOf(problem);
    return { status, contentType: "text/plain; charset=utf-8", text: `Error "${message}"` };
  },
};
