import type { Draft } from "../../channels/draft.ts";
import { nullable, Type, type Infer } from "../../lib/schema.ts";
import { isShowable } from "../../lib/text.ts";
import type { StoredConversation } from "../../model/conversation.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { refuseMissingScope } from "../auth/authenticate.ts";
import { sendEnvelope, type JsonText } from "../envelope.ts";
import {
  keyedRoute,
  type AuthenticCall,
  type KeyedRoute,
  type SendCall,
  type Services,
  type WithBody,
} from "../route.ts";
import { chatEndpoint } from "./chatapp.ts";
import { EXAMPLE_CONVERSATION, findConversation } from "./conversations.ts";
import { rcsEndpoint } from "./rcs.ts";
import {
  acceptThrough,
  onceByKey,
  SEND_HEADERS,
  SEND_PROBLEMS,
  SendResponse,
  sentExample,
  type ChannelEndpoint,
  type Circumstances,
} from "./send.ts";
import { smsEndpoint } from "./sms.ts";

const TEXT_MAX = 4096;
const PARAMS_MAX = 50;

type ReplyFields = Infer<typeof Reply>;

type Accept = (services: Services, call: Omit<SendCall, "headers">, circumstances: Circumstances) => Promise<JsonText>;

const through =
  <D extends Draft>(endpoint: ChannelEndpoint<D>, body: object): Accept =>
  (services, call, circumstances) =>
    acceptThrough(endpoint, services, { ...call, body }, circumstances, (requestId, draft) =>
      sendEnvelope(requestId, endpoint.echo(draft).recipients, {}),
    );

/** The send that a reply is, on the endpoint of its channel. */
function sendOf({ channel, number, sender }: StoredConversation, { text, templateName, params }: ReplyFields): Accept {
  if (channel === "sms") return through(smsEndpoint, { sender, to: number, text, type: "TRANS" });
  if (channel === "rcs") {
    const body = { number: `+${number}`, botId: sender, type: "TRANS", templateName };
    return through(rcsEndpoint, { ...body, ...(params && { content: [{ params }] }) });
  }
  const template = { type: "template", templateName, ...(params && { components: { body: { params } } }) };
  const content = text === undefined ? template : { type: "text", text: { body: text } };
  return through(chatEndpoint, { from: sender, to: number, ...content });
}

/** Fields of the send that a reply has under another name, or that say whether it may be text. */
const FIELDS: Readonly<Record<string, string>> = {
  type: "text",
  "text.body": "text",
  "content[0].params": "params",
  "components.body.params": "params",
};

function inFieldsOfReply(error: unknown): unknown {
  if (!(error instanceof Problem) || error.faults.length === 0) return error;
  const faults = error.faults.map(({ parameter, message }) => ({ parameter: FIELDS[parameter] ?? parameter, message }));
  return new Problem(error.code, { faults });
}

async function reply(services: Services, call: WithBody<AuthenticCall, typeof Reply>): Promise<object> {
  const { caller, request, reply: response, body } = call;
  const conversation = await findConversation(services, call);
  // A key must not reach a channel by a reply that it may not send on directly.
  if (conversation.channel !== "email") refuseMissingScope(caller.key, conversation.channel);
  refuseForm(conversation, body);
  const send = sendOf(conversation, body);
  const sendCall: SendCall = {
    headers: { "idempotency-key": request.headers["idempotency-key"] },
    body,
    caller,
    // One message, whose body the request itself holds.
    lease: { holdMessages: () => true, waitedMs: 0 },
    setHeader: (name, value) => void response.header(name, value),
  };
  const accept = onceByKey(`/v1/conversations/${conversation.id}/replies`, (_services, _call, idempotency, arrivedAt) =>
    send(services, sendCall, { idempotency, arrivedAt }),
  );
  try {
    const { text } = await accept(services, sendCall);
    // The user who answers has read the conversation.
    await services.store.changeConversation(conversation, { read: conversation.unread });
    return JSON.parse(text) as object;
  } catch (error) {
    throw inFieldsOfReply(error);
  }
}

/** Each channel has its forms: texts cannot be sent on RCS, templates cannot be sent as SMS. */
function refuseForm({ channel }: StoredConversation, { text, templateName }: ReplyFields): void {
  const refuse = (parameter: string, message: string): never => {
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter, message }] });
  };
  if (channel === "rcs" && text !== undefined)
    refuse("text", "RCS messages are templates: give templateName, and params for its variables.");
  if (channel === "sms" && templateName !== undefined) refuse("templateName", "A reply by SMS is a text.");
}

const Reply = Type.Object({
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: TEXT_MAX,
      description: "Text of the reply: by SMS, and on the chat app until `textUntil`.",
      check: (text) => (isShowable(text) ? null : "text has no lone surrogates and no NUL."),
    }),
  ),
  templateName: Type.Optional(
    Type.String({ minLength: 1, description: "Stored template, instead of a text: on RCS and the chat app." }),
  ),
  params: Type.Optional(
    nullable(
      Type.Array(Type.String({ description: "Value of a variable." }), { maxItems: PARAMS_MAX }),
      "Values of the template's variables, in order.",
    ),
  ),
});

/** Exactly one of the two forms. */
const replyFaults = ({ right, wrong }: { right: Partial<ReplyFields>; wrong: ReadonlySet<string> }): Fault[] => {
  const has = (field: "text" | "templateName"): boolean => right[field] !== undefined || wrong.has(field);
  return has("text") === has("templateName")
    ? [{ parameter: "text", message: "Give either text or templateName." }]
    : [];
};

export const replyRoute: KeyedRoute = keyedRoute({
  method: "POST",
  path: "/v1/conversations/:id/replies",
  family: "plain",
  scope: "sms",
  testKeys: "sms",
  group: "Conversations",
  summary: "Reply to a conversation",
  description:
    "Sends a message from the conversation's sender to its number, by the rules of a send on its channel: policies, credits, timeline and callbacks. On the chat app, free text is possible within 24 hours after the user's last message, and a template at any time. The key needs the scope of the channel. The reply marks the conversation as read. With an `Idempotency-Key` header, a repeated request within 24 hours gets the response of the first one and sends nothing.",
  headers: SEND_HEADERS,
  params: { id: { meaning: "ID of the conversation.", example: EXAMPLE_CONVERSATION } },
  problems: [...SEND_PROBLEMS, "RECORD_NOT_FOUND", "SESSION_CLOSED", "BOT_NOT_FOUND", "TEMPLATE_KIND_MISMATCH"],
  body: Reply,
  bodyFaults: replyFaults,
  requestExamples: {
    text: { text: "We have sent it again." },
    template: { templateName: "order_shipped", params: ["Ada", "4711"] },
  },
  response: SendResponse,
  responseExample: sentExample("15550100100"),
  handle: reply,
});
