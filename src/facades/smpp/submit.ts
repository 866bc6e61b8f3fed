import { createHmac } from "node:crypto";
import { problemOf } from "../../http/errors.ts";
import type { Encryption } from "../../lib/encryption.ts";
import type { Account } from "../../model/account.ts";
import { newId } from "../../lib/ids.ts";
import type { Log } from "../../lib/log.ts";
import type { StateEvent } from "../../model/callback.ts";
import { messageIdOf } from "../../model/message.ts";
import { Problem, tooLate } from "../../model/problem.ts";
import type { Address, SubmitMultiResp } from "../../smpp/pdu.ts";
import { STATUS } from "../../smpp/status.ts";
import { isBinary } from "../../smpp-text/coding.ts";
import { assemble } from "../../smpp-text/reassemble.ts";
import type { SubmittedKey, SubmittedPart, SubmittedPartStore, SubmittedText } from "../../store/submitted-parts.ts";
import { acceptText, callbackOf, type AcceptTextDeps, type ReceiptWish, type SubmittedSms } from "./accept-text.ts";
import type { SmppClient } from "./client.ts";
import { writeMessageId } from "./message-id.ts";
import { readSubmit, recipientOf, SubmitRefused, type Submission, type SubmitPdu } from "./read-submit.ts";
import { statusOfProblem } from "./status-of-problem.ts";

export interface SubmitDeps extends AcceptTextDeps {
  store: SubmittedPartStore;
  log: Log;
  partSecrets: PartSecrets;
  /** Accepts a complete text; rejects with the problem if it is refused. */
  complete(account: Account, text: SubmittedText): Promise<void>;
}

/** Parts wait for each other encrypted, as a copy of the database would otherwise reveal texts. */
export interface PartSecrets {
  octets: Encryption;
  digestKey: Buffer;
}

/** Time after which missing parts are given up, and a part is no repetition of an earlier one. */
export const PARTS_WITHIN_MS = 3_600_000;

/** The status and message id of a submit response. */
export interface SubmitResult {
  status: number;
  messageId: string;
}

/** Accepts a submit_sm or data_sm. Resolves once it is on disk, or with the status of its refusal. */
export async function submit(
  deps: SubmitDeps,
  client: SmppClient,
  pdu: SubmitPdu,
  destination: Address,
): Promise<SubmitResult> {
  const arrivedAt = deps.acceptDeps.requestAge.arrival();
  return orRefusal(deps, async () => {
    const submission = readSubmit(pdu, client.access, deps.clock.now());
    const { body, registeredDelivery, ...fields } = submission;
    const addresses = { source: copyOf(pdu.source), destination: copyOf(destination) };
    if (body.kind === "part") return submitPart(deps, client, submission, addresses, arrivedAt);
    const receipts: ReceiptWish[] = [{ id: null, registeredDelivery }];
    const sms = { ...fields, ...addresses, text: body.text, recipients: [recipientOf(destination)], receipts };
    return acceptText(deps, client, sms, { arrivedAt });
  }).then(({ status, id }) => ({ status, messageId: id && writeMessageId(id, client.access.messageIdForm) }));
}

/** Accepts a submit_multi: one text for several numbers, under one id. */
export async function submitMulti(
  deps: SubmitDeps,
  client: SmppClient,
  pdu: SubmitPdu,
  destinations: readonly Address[],
): Promise<Pick<SubmitMultiResp, "status" | "messageId" | "failures">> {
  const arrivedAt = deps.acceptDeps.requestAge.arrival();
  const { status, id } = await orRefusal(deps, () => {
    const { body, registeredDelivery, ...fields } = readSubmit(pdu, client.access, deps.clock.now());
    // Each recipient would need the id of its own part.
    if (body.kind === "part") throw new SubmitRefused("ESME_RINVESMCLASS", "submit_multi takes whole texts");
    const receipts: ReceiptWish[] = [{ id: null, registeredDelivery }];
    const recipients = destinations.map(recipientOf);
    const sms = { ...fields, source: copyOf(pdu.source), destination: null, text: body.text, recipients, receipts };
    return acceptText(deps, client, sms, { arrivedAt });
  });
  return { status, messageId: id && writeMessageId(id, client.access.messageIdForm), failures: [] };
}

/** The id of an accepted submit, or the status of a refusal. Other errors are the server's. */
async function orRefusal(
  { log }: Pick<SubmitDeps, "log">,
  run: () => Promise<string>,
): Promise<{ status: number; id: string }> {
  try {
    return { status: STATUS.ESME_ROK, id: await run() };
  } catch (error) {
    if (error instanceof SubmitRefused) return { status: error.status, id: "" };
    const problem = problemOf(error);
    if (problem.code === "INTERNAL") log.error({ err: error }, "smpp submit failed unexpectedly");
    return { status: statusOfProblem(problem), id: "" };
  }
}

type Addresses = Pick<SubmittedSms, "source"> & { destination: Address };

/** The fields of a submit, stored with its parts. */
type StoredFields = Omit<SubmittedSms, "text" | "receipts"> & Addresses & { client: Omit<SmppClient, "account"> };

/** Stores a part; the last one, on whichever node it arrives, completes the text. Resolves with the id of the part. */
async function submitPart(
  deps: SubmitDeps,
  client: SmppClient,
  { body, registeredDelivery, ...fields }: Submission,
  addresses: Addresses,
  arrivedAt: number,
): Promise<string> {
  if (body.kind !== "part") throw new Error("not a part");
  const { store, clock, partSecrets, acceptDeps } = deps;
  const { bytes, dataCoding, index, total, reference } = body.part;
  // Overload protection: a part costs a commit of its own, like a message.
  if (acceptDeps.gate.refusal !== null) throw acceptDeps.gate.refusal;
  await acceptDeps.admission.admit(fields.routeClass, 1, client.credentialId, () => undefined);
  // The client has repeated the whole text: this part would wait for others that never come.
  if (acceptDeps.requestAge.isLate(arrivedAt)) throw tooLate();
  const at = clock.now();
  const { account, ...rest } = client;
  const recipients = [recipientOf(addresses.destination)];
  const stored: StoredFields = { ...fields, ...addresses, recipients, client: rest };
  const key: SubmittedKey = {
    accountId: account.id,
    credentialId: client.credentialId,
    source: addresses.source.address,
    destination: addresses.destination.address,
    reference: String(reference),
    total,
  };
  const octets = bytes.toString("base64");
  const digest = createHmac("sha256", partSecrets.digestKey)
    .update(JSON.stringify([key, index, dataCoding, octets]))
    .digest("base64url");
  const kept = await store.keepSubmittedPart(
    key,
    { id: newId(at), index, octets: partSecrets.octets.encrypt(octets), digest, dataCoding, registeredDelivery },
    { fields: JSON.stringify(stored), at, repeatsSince: at - PARTS_WITHIN_MS },
  );
  if (isComplete(kept.text)) await deps.complete(client.account, kept.text);
  return answeredId(kept.part);
}

/** The id in the submit response of a part. */
const answeredId = ({ id, repeats }: SubmittedPart): string => repeats ?? id;

export const isComplete = ({ parts, total }: SubmittedText): boolean => parts.length === total;

/** The end of a text that never became a message, for the receipts of its parts. */
export function rejectionOf(
  text: SubmittedText,
  { state, errorCode, at }: Pick<StateEvent, "state" | "errorCode" | "at">,
): StateEvent {
  const { client: _, ...fields } = JSON.parse(text.fields) as StoredFields;
  const callback = callbackOf(text.credentialId, { ...fields, receipts: receiptsOf(text) });
  const message = {
    messageId: messageIdOf({ requestId: text.parts[0]?.id ?? "", n: 1 }),
    channel: "sms" as const,
    recipient: text.destination.replace(/^\+/, ""),
    sender: text.source,
    credits: 0,
    createdAt: text.firstAt,
    session: false,
    callback,
  };
  return { kind: "state", state, at, message, gateway: "", errorCode, description: null };
}

const receiptsOf = ({ parts }: SubmittedText): ReceiptWish[] =>
  parts.map((part) => ({ id: answeredId(part), registeredDelivery: part.registeredDelivery }));

/** Accepts a text whose parts are all there. The idempotency key makes a second call harmless, on any node. */
export async function completeText(
  deps: SubmitDeps,
  account: SmppClient["account"],
  text: SubmittedText,
): Promise<void> {
  const { client, ...fields } = JSON.parse(text.fields) as StoredFields;
  const { total, parts } = text;
  const whole = assemble(
    parts.map(({ index, octets, dataCoding }) => {
      const bytes = Buffer.from(deps.partSecrets.octets.decrypt(octets), "base64");
      return { reference: 0, total, index, bytes, dataCoding };
    }),
    client.access.alphabet,
  );
  if (new Set(parts.map(({ dataCoding }) => isBinary(dataCoding))).size > 1)
    throw new Problem("INVALID_REQUEST", { message: "The parts are text and binary." });
  const sms: SubmittedSms = { ...fields, text: whole?.text ?? "", receipts: receiptsOf(text) };
  const requestId = await acceptText(deps, { ...client, account }, sms, { idempotencyKey: parts[0]?.id ?? "" });
  await deps.store.endSubmittedText(text, requestId, deps.clock.now());
}

/** Decoded strings may be views of a buffer that is read again. */
const copyOf = ({ ton, npi, address }: Address): Address => ({ ton, npi, address });
