import type { Credential } from "../../accounts/secret-index.ts";
import { reportProblem } from "../../http/errors.ts";
import type { FacadeCall } from "../../http/facade.ts";
import { smsEndpoint } from "../../http/public/sms.ts";
import type { Services } from "../../http/route.ts";
import { newId } from "../../lib/ids.ts";
import { isObject } from "../../lib/json.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { argumentsIn, refused } from "./arguments.ts";
import { batchCallbacks, readBatchUrl, type BatchAddresses, type EntryOutcome } from "./batch-callbacks.ts";
import { readSend, subjectOf, type JasminSend } from "./read-send.ts";
import { failureOf } from "./refusal.ts";
import { readScheduleAt } from "./scheduled-time.ts";
import { acceptSend } from "./send.ts";

const ENTRIES_MAX = 1000;
/** Recipients of all entries together: `to` in the globals counts for each of them. */
const RECIPIENTS_MAX = 10_000;

type Fields = Readonly<Record<string, unknown>>;

interface BatchResult {
  batchId: string;
  messageCount: number;
  /** Entries that a policy, the balance, overload or a fault of the store refused, by their place. Absent without any. */
  errors?: readonly { index: number; message: string }[];
}

/**
 * Accepts the entries of a batch in order. All are checked before the first is accepted, so that a malformed batch sends
 * nothing. An entry that is refused afterwards is named in the result.
 */
export async function sendBatch(
  services: Services,
  call: FacadeCall,
  caller: Credential<StoredCredential>,
  batch: Fields,
): Promise<BatchResult> {
  const { entries, addresses } = readBatch(services, caller, batch);
  const batchId = newId(services.clock.now());
  const outcomes: EntryOutcome[] = [];
  const errors: { index: number; message: string }[] = [];
  let messageCount = 0;
  let firstError: unknown = null;
  for (const [index, { request, to, sender }] of entries.entries()) {
    try {
      const requestId = await acceptSend(services, call, caller, request);
      outcomes.push({ to, sender, requestId, reason: "" });
      messageCount += to.length;
    } catch (error) {
      firstError ??= error;
      // Any other answer would have the entries before this one sent again.
      const { problem } = reportProblem(services, error);
      const { message } = failureOf(problem);
      errors.push({ index, message });
      outcomes.push({ to, sender, requestId: null, reason: `Error "${message}"` });
    }
  }
  if (messageCount === 0) throw firstError;
  // The messages are accepted: an error response would have the client send all of them again.
  await storeCalls(services, caller, addresses, { batchId, outcomes }).catch((error: unknown) =>
    reportProblem(services, error),
  );
  return { batchId, messageCount, ...(errors.length > 0 && { errors }) };
}

const CALLS_AT_ONCE = 500;

/** Stores the calls before the response: a caller without a response sends the batch again. */
async function storeCalls(
  { store, clock }: Services,
  { key }: Credential<StoredCredential>,
  addresses: BatchAddresses,
  done: { batchId: string; outcomes: readonly EntryOutcome[] },
): Promise<void> {
  const at = clock.now();
  const calls = batchCallbacks(key, addresses, { ...done, at });
  for (let from = 0; from < calls.length; from += CALLS_AT_ONCE)
    await store.storeCallbacks(calls.slice(from, from + CALLS_AT_ONCE), at);
}

interface Entry {
  request: JasminSend;
  /** Without duplicates. */
  to: readonly string[];
  sender: string;
}

interface Batch {
  entries: readonly Entry[];
  addresses: BatchAddresses;
}

function readBatch(services: Services, caller: Credential<StoredCredential>, batch: Fields): Batch {
  const { messages, globals = {}, batch_config: config = {} } = batch;
  if (!Array.isArray(messages) || messages.length === 0) throw refused("Mandatory argument [messages] is not found.");
  if (messages.length > ENTRIES_MAX) throw refused(`Argument [messages] has more than ${ENTRIES_MAX} entries.`);
  if (!isObject(globals)) throw refused("Argument [globals] has an invalid value: it must be an object.");
  if (!isObject(config)) throw refused("Argument [batch_config] has an invalid value: it must be an object.");
  const now = services.clock.now();
  const sendAt = readScheduled(config, now);
  const addresses = {
    callbackUrl: readBatchUrl(config, "callback_url"),
    errbackUrl: readBatchUrl(config, "errback_url"),
  };
  let named = 0;
  const entries = messages.map((message: unknown): Entry => {
    if (!isObject(message)) throw refused("Argument [messages] has an invalid value: an entry must be an object.");
    const fields = { ...globals, ...message };
    const list: readonly unknown[] = [fields["to"]].flat().filter((each) => each !== undefined);
    named += list.length;
    if (named > RECIPIENTS_MAX) throw refused(`Argument [messages] has more than ${RECIPIENTS_MAX} recipients.`, "to");
    const to = list.map(String);
    if (to.length === 0) throw refused("Mandatory argument [to] is not found.", "to");
    const wrong = to.find((number) => !/^\+?\d+$/.test(number));
    if (wrong !== undefined) throw refused(`Argument [to] has an invalid value: [${wrong.slice(0, 100)}].`, "to");
    const subject = { ...subjectOf(caller, services), to };
    const request = readSend(argumentsIn(fields), subject);
    const timed = sendAt === null ? request : { ...request, body: { ...request.body, sendAt } };
    const draft = smsEndpoint.read(services, { body: timed.body, caller });
    return { request: timed, to: draft.recipients.map((recipient) => recipient.number), sender: draft.sender };
  });
  return { entries, addresses };
}

/** The time of a scheduled batch; null for now. */
function readScheduled(config: Fields, now: number): number | null {
  const { schedule_at: written } = config;
  if (written === undefined || written === null) return null;
  const time = typeof written === "string" ? readScheduleAt(written, now) : null;
  if (time === null) throw refused("Argument [schedule_at] has an invalid value: use 2026-01-31 18:00:00 or 3600s.");
  return time;
}
