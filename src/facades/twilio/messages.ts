import { composedFor, type Draft } from "../../channels/draft.ts";
import type { FacadeCall, FacadeReply } from "../../http/facade.ts";
import { acceptThrough, onceByKey } from "../../http/public/send.ts";
import type { Services } from "../../http/route.ts";
import { timeOf } from "../../lib/ids.ts";
import { FAILURES, WAITING_STATES } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import { cancelMessage } from "../../pipeline/cancel.ts";
import type { Prepared } from "../../pipeline/accept/prepare.ts";
import type { StoredMessage } from "../../store/store.ts";
import { readForm } from "./form.ts";
import { writeAddress } from "./addresses.ts";
import { JSON_TYPE, TwilioProblem } from "./errors.ts";
import { callerOf, callerWith } from "./login.ts";
import { accountSidOf, inboundResource, messageResource, storedResource } from "./message-resource.ts";
import { ENDPOINTS, readMessage, type MessageRequest } from "./read-message.ts";
import { messageInSid, sidOf } from "../../model/twilio-sid.ts";

const reply = (status: number, resource: string): FacadeReply => ({
  status,
  contentType: JSON_TYPE,
  text: resource,
});

const IDEMPOTENCY_PATH = "/2010-04-01/Messages";

/** `POST …/Messages.json`: the send operation of the addresses' channel. Next: src/http/public/send.ts */
export async function createMessage(services: Services, call: FacadeCall): Promise<FacadeReply> {
  const { requestHeaders, setHeader, lease } = call;
  const fields = readForm(requestHeaders, call.body);
  const caller = callerOf(call);
  const request = readMessage(fields, caller.key, services.catalog.of(caller.account.id));
  callerWith(request.channel, call);
  const endpoint = ENDPOINTS[request.channel];
  const { callback, validForMs, body } = request;
  const send = onceByKey(IDEMPOTENCY_PATH, (_, sendCall, idempotency, arrivedAt) =>
    acceptThrough(
      endpoint,
      services,
      sendCall,
      { idempotency, arrivedAt, callback, validForMs },
      (requestId, draft, prepared) => createdResource(accountSidOf(caller), requestId, { request, draft, prepared }),
    ),
  );
  const key = requestHeaders["i-twilio-idempotency-token"] ?? requestHeaders["idempotency-key"];
  const { text } = await send(services, { headers: { "idempotency-key": key }, body, caller, lease, setHeader });
  return reply(201, text);
}

interface Created {
  request: MessageRequest;
  draft: Draft;
  prepared: Prepared;
}

/** The resource of a message that is about to be stored. */
function createdResource(accountSid: string, requestId: string, { request, draft, prepared }: Created): string {
  const { channel, sender, sendAt, recipients } = draft;
  const { content, segments } = composedFor(prepared, 0);
  const failure = prepared.verdicts[0]?.failure ?? null;
  const at = timeOf(requestId);
  return messageResource({
    accountSid,
    sid: sidOf("SM", requestId),
    channel,
    direction: "outbound-api",
    from: writeAddress(channel, sender),
    to: writeAddress(channel, recipients[0]?.number ?? ""),
    body: content.text,
    segments,
    status: failure ? "failed" : sendAt === null ? (request.messagingServiceSid ? "accepted" : "queued") : "scheduled",
    createdAt: at,
    updatedAt: at,
    sentAt: null,
    failure: failure && { code: failure, description: FAILURES[failure] },
    messagingServiceSid: request.messagingServiceSid,
  });
}

/** `GET …/Messages/{Sid}.json`: a sent or a received message. */
export async function fetchMessage(services: Services, call: FacadeCall): Promise<FacadeReply> {
  const caller = callerWith("read", call);
  const ref = messageInSid(call.params.sid ?? "");
  const { id: accountId } = caller.account;
  const isTest = caller.key.mode === "test";
  const sent = ref && (await services.store.findMessage({ accountId, ...ref }));
  if (sent?.test === isTest) return reply(200, storedResource(accountSidOf(caller), sent));
  const received = ref && (await services.store.findInbound(accountId, ref.requestId));
  if (received && (received.test ?? false) === isTest)
    return reply(200, inboundResource(accountSidOf(caller), received));
  throw notFound(call);
}

const notFound = ({ url }: FacadeCall): Problem =>
  new Problem("MESSAGE_NOT_FOUND", { message: `The requested resource ${url.split("?")[0]} was not found` });

/** `POST …/Messages/{Sid}.json`: `Status=canceled` cancels a message, an empty Body erases its text. */
export async function updateMessage(services: Services, call: FacadeCall): Promise<FacadeReply> {
  const fields = readForm(call.requestHeaders, call.body);
  const message = await findSent(services, call);
  const [status] = fields.get("Status") ?? [];
  const [body] = fields.get("Body") ?? [];
  if (status !== undefined && status !== "canceled")
    throw new TwilioProblem(20422, "Status: only 'canceled' can be set.");
  if (body !== undefined && body !== "")
    throw new TwilioProblem(20422, "Body: only an empty text can be set, which erases it.");
  if (status !== undefined) await cancel(services, message);
  const left = status === undefined ? message : ((await services.store.findMessage(message)) ?? message);
  if (body !== undefined) await erase(services, left);
  const changed = await services.store.findMessage(message);
  return reply(200, storedResource(accountSidOf(callerWith("read", call)), changed ?? message));
}

async function cancel({ store, acceptDeps, clock, metrics }: Services, message: StoredMessage): Promise<void> {
  const counts = await cancelMessage({ store, commits: acceptDeps.commits, clock, metrics }, message);
  if (counts?.cancelled !== 1) throw new TwilioProblem(30409, "This message cannot be canceled.", "NOT_CANCELLABLE");
}

/** `DELETE …/Messages/{Sid}.json` erases the text; the record of the send stays until its retention ends. */
export async function deleteMessage(services: Services, call: FacadeCall): Promise<FacadeReply> {
  await erase(services, await findSent(services, call));
  return { status: 204, contentType: JSON_TYPE, text: "" };
}

const WAITING: ReadonlySet<string> = new Set(WAITING_STATES);

async function erase({ store }: Services, message: StoredMessage): Promise<void> {
  if (WAITING.has(message.state) || !(await store.eraseText(message)))
    throw new TwilioProblem(20009, "Cannot delete this message because it is still in progress.", "NOT_CANCELLABLE");
}

/** The message of the path, which the credential may change. */
async function findSent({ store }: Services, call: FacadeCall): Promise<StoredMessage> {
  const ref = messageInSid(call.params.sid ?? "");
  const { account, key } = callerWith("read", call);
  const message = ref && (await store.findMessage({ accountId: account.id, ...ref }));
  if (message?.test !== (key.mode === "test")) throw notFound(call);
  callerWith(message.channel === "email" ? "verify" : message.channel, call);
  return message;
}
