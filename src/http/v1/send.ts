import type { Draft } from "../../channels/draft.ts";
import { Type } from "../../lib/schema.ts";
import { accept, earlierAnswer, type SendRequest } from "../../messages/accept.ts";
import { notedPolicies, refuseSingle, type Prepared, type Request } from "../../messages/prepare.ts";
import { BULK } from "../../model/message.ts";
import { Problem, type ProblemCode } from "../../model/problem.ts";
import { SENT_MESSAGE, sendEnvelope, type JsonText } from "../envelope.ts";
import type { SendCall, SendRoute, Services } from "../route.ts";

/** What one channel's door has of its own. */
export interface Door<D extends Draft = Draft> {
  path: string;
  /** Reads the body; what is wrong with it is refused here. */
  read(services: Services, call: SendCall): D;
  prepare(services: Services, request: Request<D>): Promise<Prepared<D>>;
  /** The recipients as the answer shows them, and the fields that it repeats. */
  echo(draft: D): { recipients: readonly string[]; unicode?: number; flash?: number };
}

/** The way of every send through its door: read, prepared, accepted, answered. With an idempotency key, once. */
export const sendThrough = <D extends Draft>(door: Door<D>): SendRoute["handle"] =>
  onceByKey(door.path, (services, call, idempotency) => send(door, services, call, idempotency));

type Handle = (services: Services, call: SendCall, idempotency: SendRequest["idempotency"]) => Promise<JsonText>;

/** Lets what an idempotency key names happen once: a repeated request is answered what the first one was. */
export const onceByKey =
  (path: string, handle: Handle): SendRoute["handle"] =>
  (services, call) => {
    const key = readIdempotencyKey(call.headers["idempotency-key"]);
    return key === null ? handle(services, call, null) : once(handle, services, call, { path, key, body: call.body });
  };

async function once(
  handle: Handle,
  services: Services,
  call: SendCall,
  idempotency: NonNullable<SendRequest["idempotency"]>,
): Promise<JsonText> {
  try {
    return await handle(services, call, idempotency);
  } catch (error) {
    // What has become wrong since the first request (a STOP, a template, the time) does not change what was answered to it.
    const isLasting = error instanceof Problem && error.status < 500 && error.code !== "IDEMPOTENCY_MISMATCH";
    const earlier = isLasting ? await earlierAnswer(services.accepting, call.caller.account.id, idempotency) : null;
    if (earlier === null) throw error;
    call.setHeader("idempotent-replayed", "true");
    return { text: earlier };
  }
}

async function send<D extends Draft>(
  door: Door<D>,
  services: Services,
  call: SendCall,
  idempotency: SendRequest["idempotency"],
): Promise<JsonText> {
  const { account, key } = call.caller;
  const draft = door.read(services, call);
  // It waits for a turn of its own: a password that comes meanwhile goes first.
  if (draft.recipients.length >= BULK) await services.bulkTurn();
  const prepared = await door.prepare(services, { account, test: key.mode === "test", draft, dryRun: false });
  refuseSingle(prepared);
  const noted = notedPolicies(prepared);
  if (noted !== "") call.setHeader("heliograph-would-refuse", noted);
  const { recipients, ...echo } = door.echo(draft);
  const { answer, replayed } = await accept(services.accepting, {
    prepared,
    idempotency,
    answer: (requestId) => sendEnvelope(requestId, recipients, echo),
  });
  if (replayed) call.setHeader("idempotent-replayed", "true");
  return { text: answer };
}

const IDEMPOTENCY_KEY_MAX = 255;

function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === "string" && header.length >= 1 && header.length <= IDEMPOTENCY_KEY_MAX) return header;
  throw new Problem("INVALID_REQUEST", {
    faults: [
      {
        parameter: "Idempotency-Key",
        message: `The header Idempotency-Key has 1 to ${IDEMPOTENCY_KEY_MAX} characters.`,
      },
    ],
  });
}

/** What every send says of itself in the reference. */
export const SEND_DESCRIPTION =
  "With an `Idempotency-Key` header, a repeated request within 24 hours answers what the first one did and sends nothing. " +
  "On the simulator, limits that guard money and people are not enforced; the header `heliograph-would-refuse` of the answer names those that would have been.";

export const SEND_HEADERS = {
  "Idempotency-Key": {
    meaning: "Any text of 1 to 255 characters that names this request, such as your order number.",
    example: "order-4711-shipped",
  },
};

/** What can be wrong with a send on every channel. */
export const SEND_PROBLEMS = [
  "INVALID_RECIPIENT",
  "MESSAGE_TOO_LONG",
  "INSUFFICIENT_CREDITS",
  "SENDER_NOT_REGISTERED",
  "COUNTRY_NOT_ALLOWED",
  "RECIPIENT_OPTED_OUT",
  "TEMPLATE_NOT_FOUND",
  "PARAMS_MISMATCH",
  "OVERLOADED",
] as const satisfies readonly ProblemCode[];

export const CampaignName = Type.Optional(
  Type.String({ minLength: 1, maxLength: 100, description: "Groups messages, to be counted, paused and cancelled." }),
);

const fields = {
  id: Type.String({ format: "uuid", description: "Identifier of the send request." }),
  data: Type.Array(
    Type.Object({
      recipient: Type.String({ description: "The recipient's number: with its plus on RCS, without on the others." }),
      messageId: Type.String({ description: "`<id>:<n>`, n counting from 1." }),
    }),
    { description: "One record per recipient, in the order of the request." },
  ),
  totalCount: Type.Integer({ description: "Number of records in data." }),
  message: Type.Literal(SENT_MESSAGE, { description: "The outcome in words." }),
  error: Type.Null({ description: "null on success." }),
};

export const SendResponse = Type.Object(fields, { title: "SendResponse" });

export const SmsSendResponse = Type.Object(
  {
    ...fields,
    unicode: Type.Optional(Type.Integer({ description: "Only when the request had it." })),
    flash: Type.Optional(Type.Integer({ description: "Only when the request had it." })),
  },
  { title: "SmsSendResponse" },
);

/** What a send answers, for the reference. */
export const sentExample = (recipient: string): object => ({
  id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
  data: [{ recipient, messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1" }],
  totalCount: 1,
  message: SENT_MESSAGE,
  error: null,
});
