import type { Credential } from "../../accounts/secret-index.ts";
import { composedFor } from "../../channels/draft.ts";
import { smsEndpoint } from "../../http/public/sms.ts";
import type { Services } from "../../http/route.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { Problem } from "../../model/problem.ts";
import { smsWith } from "../sms-with.ts";
import { checkArguments, readSend, subjectOf } from "./read-send.ts";
import { textOf, type Arguments } from "./arguments.ts";

type Caller = Credential<StoredCredential>;

/** Jasmin's word for a value without a limit. */
const NOT_DEFINED = "ND";

/** The credits of the account; those of an account that needs none are not defined. */
export async function readBalance({ store }: Services, { account }: Caller): Promise<object> {
  if (account.settings.credits !== "metered") return { balance: NOT_DEFINED, sms_count: NOT_DEFINED };
  const { balance } = await store.findBalance(account.id);
  return { balance, sms_count: NOT_DEFINED };
}

const RATE_PATTERNS = {
  to: /^\+?\d+$/,
  from: /^/,
  coding: /^\d{1,2}$/,
  username: /^/,
  password: /^/,
  content: /^/,
  "hex-content": /^/,
};

/** The price of a message in credits, without sending it. */
export async function readRate(services: Services, caller: Caller, given: Arguments): Promise<object> {
  checkArguments(given, false, RATE_PATTERNS);
  const { account, key } = caller;
  const withText = given.has("content") || given.has("hex-content") ? given : new Map([...given, ["content", "x"]]);
  // The price does not depend on the sender, and a request need not name one.
  const senders = services.catalog.of(account.id).named("sender").values();
  const sender = textOf(given, "from") || [...senders].find(({ origin }) => origin === "authored")?.name || "rate";
  const send = readSend(new Map([...withText, ["from", sender]]), subjectOf(caller, services));
  const draft = smsWith(send).read(services, { body: send.body, caller });
  const test = key.mode === "test";
  const prepared = await smsEndpoint.prepare(services, { account, test, draft, dryRun: true });
  const [verdict] = prepared.verdicts;
  if (!verdict || verdict.failure !== null) throw new Problem("ROUTE_NOT_FOUND");
  const { segments } = composedFor(prepared, 0);
  return { unit_rate: verdict.credits / segments, submit_sm_count: segments };
}
