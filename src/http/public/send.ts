import type { Draft } from "../../channels/draft.ts";
import { Type } from "../../lib/schema.ts";
import { accept, earlierAnswer, type SendRequest } from "../../pipeline/accept/accept.ts";
import { notedPolicies, refuseSingle, type Prepared, type Request } from "../../pipeline/accept/prepare.ts";
import { prepareCurrent } from "../../pipeline/accept/prepare-current.ts";
import { BULK } from "../../model/message.ts";
import { Problem, type ProblemCode } from "../../model/problem.ts";
import { OVERLOADED } from "../errors.ts";
import { SENT_MESSAGE, sendEnvelope, type JsonText } from "../envelope.ts";
import type { SendCall, SendRoute, Services } from "../route.ts";

/** The parts of a send that differ between channels. */
export interface ChannelEndpoint<D extends Draft = Draft> {
  path: string;
  /** Parses the body; throws a `Problem` with all its faults. */
  read(services: Services, call: Pick<SendCall, "body" | "caller">): D;
  prepare(services: Services, request: Request<D>): Promise<Prepared<D>>;
  /** Recipients as the response shows them, and the request fields that it repeats. */
  echo(draft: D): { recipients: readonly string[]; unicode?: number; flash?: number };
}

/**
 * Handler of a send on one channel: parse, prepare, accept, respond.
 *
 * Next: src/http/public/sms.ts, Next: src/http/public/chatapp.ts, Next: src/http/public/rcs.ts
 */
export const sendThrough = <D extends Draft>(endpoint: ChannelEndpoint<D>): SendRoute["handle"] =>
  onceByKey(endpoint.path, (services, call, idempotency, arrivedAt) =>
    send(endpoint, services, call, idempotency, arrivedAt),
  );

type Handle = (
  services: Services,
  call: SendCall,
  idempotency: SendRequest["idempotency"],
  arrivedAt: number,
) => Promise<JsonText>;

/** Idempotency: a repeated request with the same `Idempotency-Key` gets the response of the first one. */
export const onceByKey =
  (path: string, handle: Handle): SendRoute["handle"] =>
  (services, call) => {
    const arrivedAt = services.requestAge.arrival() - call.lease.waitedMs;
    const key = readIdempotencyKey(call.headers["idempotency-key"]);
    if (key === null) return handle(services, call, null, arrivedAt);
    // A live send must not get the response of an earlier test send.
    const scopedPath = call.caller.key.mode === "test" ? `${path} test` : path;
    return once(handle, services, call, { path: scopedPath, key, body: call.body }, arrivedAt);
  };

async function once(
  handle: Handle,
  services: Services,
  call: SendCall,
  idempotency: NonNullable<SendRequest["idempotency"]>,
  arrivedAt: number,
): Promise<JsonText> {
  try {
    return await handle(services, call, idempotency, arrivedAt);
  } catch (error) {
    // A reason that arose since the first request (an opt-out, a changed template, quiet hours) does not change its response.
    const isPermanent = error instanceof Problem && error.status < 500 && error.code !== "IDEMPOTENCY_MISMATCH";
    const earlier = isPermanent ? await earlierAnswer(services.acceptDeps, call.caller.account.id, idempotency) : null;
    if (earlier === null) throw error;
    call.setHeader("idempotent-replayed", "true");
    return { text: earlier };
  }
}

async function send<D extends Draft>(
  endpoint: ChannelEndpoint<D>,
  services: Services,
  call: SendCall,
  idempotency: SendRequest["idempotency"],
  arrivedAt: number,
): Promise<JsonText> {
  return acceptThrough(endpoint, services, call, { idempotency, arrivedAt }, (requestId, draft) => {
    const { recipients, ...echo } = endpoint.echo(draft);
    return sendEnvelope(requestId, recipients, echo);
  });
}

/** The choices of a send that its body does not have. */
export type Circumstances = Pick<SendRequest, "idempotency" | "arrivedAt" | "validForMs" | "callback">;

/**
 * Parses, prepares and accepts a send of one channel. Facades call it with a body in the form of `/v1` and render their own
 * answer, which is stored with an idempotency key.
 */
export async function acceptThrough<D extends Draft>(
  endpoint: ChannelEndpoint<D>,
  services: Services,
  call: Omit<SendCall, "headers">,
  circumstances: Circumstances,
  answerOf: (requestId: string, draft: D, prepared: Prepared<D>) => string,
): Promise<JsonText> {
  const { account, key } = call.caller;
  const draft = endpoint.read(services, call);
  const hasRoom = call.lease.holdMessages(draft.recipients.length);
  if (hasRoom === false) throw OVERLOADED;
  if (hasRoom !== true) await hasRoom;
  // Yields to the event loop, so that a one-time password that arrived meanwhile goes first.
  if (draft.recipients.length >= BULK) await services.yieldBulk();
  const request = { account, test: key.mode === "test", draft, dryRun: false };
  const prepared = await prepareCurrent(services, () => endpoint.prepare(services, request));
  refuseSingle(prepared);
  const noted = notedPolicies(prepared);
  if (noted !== "") call.setHeader("heliograph-would-refuse", noted);
  const { answer, replayed } = await accept(services.acceptDeps, {
    ...circumstances,
    prepared,
    answer: (requestId) => answerOf(requestId, draft, prepared),
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

/** Part of the description of every send. */
export const SEND_DESCRIPTION =
  "With an `Idempotency-Key` header, a repeated request within 24 hours gets the response of the first one and sends nothing; live and test keys have separate idempotency keys. " +
  "On the simulator, limits that protect credits and recipients are not enforced; the response header `heliograph-would-refuse` names those that a real carrier would enforce.";

export const SEND_HEADERS = {
  "Idempotency-Key": {
    meaning: `Any text of 1 to ${IDEMPOTENCY_KEY_MAX} characters that names this request, such as your order number.`,
    schema: Type.String({ minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX }),
    example: "order-4711-shipped",
  },
};

/** Problems of a send on every channel. */
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
  "SERVICE_HELD",
  "STORAGE_FULL",
] as const satisfies readonly ProblemCode[];

const fields = {
  id: Type.String({ format: "uuid", description: "Identifier of the send request." }),
  data: Type.Array(
    Type.Object({
      recipient: Type.String({
        description: "The recipient's number: with a plus on RCS, without on the other channels.",
      }),
      messageId: Type.String({ description: "`<id>:<n>`, n counting from 1." }),
    }),
    { description: "One record per recipient, in the order of the request." },
  ),
  totalCount: Type.Integer({ description: "Number of records in data." }),
  message: Type.Literal(SENT_MESSAGE, { description: "The outcome as text." }),
  error: Type.Null({ description: "null on success." }),
};

export const SendResponse = Type.Object(fields, { title: "SendResponse" });

export const SmsSendResponse = Type.Object(
  {
    ...fields,
    unicode: Type.Optional(Type.Integer({ description: "Only if the request has it." })),
    flash: Type.Optional(Type.Integer({ description: "Only if the request has it." })),
  },
  { title: "SmsSendResponse" },
);

/** Example response of a send. */
export const sentExample = (recipient: string): object => ({
  id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
  data: [{ recipient, messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1" }],
  totalCount: 1,
  message: SENT_MESSAGE,
  error: null,
});
