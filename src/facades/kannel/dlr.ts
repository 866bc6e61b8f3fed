import type { Callback, StateEvent, WebhookRequest } from "../../model/callback.ts";
import { FAILURES, parseMessageId, type State } from "../../model/message.ts";
import { withoutUserInfo } from "../request-url.ts";
import { fillEscapes, kannelTime } from "./escapes.ts";
import { DLR } from "./read-submit.ts";

/** The states of a delivery receipt, as SMPP abbreviates them. */
const STAT: Partial<Record<State, string>> = {
  enroute: "ENROUTE",
  delivered: "DELIVRD",
  undelivered: "UNDELIV",
  expired: "EXPIRED",
  rejected: "REJECTD",
  cancelled: "DELETED",
};

/** The request that reports a state; null if the message's mask does not ask for it. */
export function dlrRequest({ happening }: Callback): WebhookRequest | null {
  if (happening.kind !== "state") return null;
  const { callback } = happening.message;
  if (callback?.url === undefined) return null;
  const { mask = 0, username = "", account = "", binfo = "", meta = "" } = callback.options ?? {};
  const type = typeOf(happening);
  if (type === null || (Number(mask) & type) === 0) return null;
  const { at, gateway, message } = happening;
  const answer = answerOf(happening, type);
  const url = fillEscapes(callback.url, {
    encoded: {
      d: String(type),
      A: answer,
      a: answer,
      b: answer,
      F: message.messageId,
      I: parseMessageId(message.messageId)?.requestId ?? "",
      i: gateway,
      // A report comes from the phone: its sender is the recipient of the message.
      p: message.recipient,
      q: message.recipient,
      P: message.sender,
      Q: message.sender,
      n: String(username),
      o: String(account),
      B: String(binfo),
      C: "UTF-8",
      c: "-1",
      m: "-1",
      M: "-1",
      D: String(meta),
      R: callback.url,
      e: Buffer.from(answer).toString("hex").toUpperCase(),
      ...Object.fromEntries(["u", "U", "f", "v", "V"].map((code) => [code, ""])),
    },
    raw: { t: kannelTime(at), T: String(Math.floor(at / 1000)), O: "00" },
    words: answer.split(" "),
    meta: String(meta),
  });
  if (!URL.canParse(url)) return null;
  const target = withoutUserInfo(url);
  return { method: "GET", url: target.url, headers: target.headers, body: null };
}

/** The value of `%d`. A message that no carrier accepted was not delivered to an SMSC; a later failure is one of the phone. */
function typeOf({ state, gateway, errorCode }: StateEvent): number | null {
  switch (state) {
    case "delivered":
      return DLR.delivered;
    case "submitted":
      return DLR.submitted;
    case "enroute":
      return DLR.buffered;
    case "undelivered":
      return DLR.undelivered;
    case "cancelled":
    case "rejected":
      return DLR.rejected;
    case "expired":
      return gateway === "" || (errorCode !== null && Object.hasOwn(FAILURES, errorCode))
        ? DLR.rejected
        : DLR.undelivered;
    case "accepted":
    case "scheduled":
    case "submitting":
    case "read":
    case "unknown":
    default:
      return null;
  }
}

/** The answer of the SMSC: an acknowledgement, a refusal, or the text of a delivery receipt. */
function answerOf(event: StateEvent, type: number): string {
  const { state, at, errorCode, description, message } = event;
  if (type === DLR.submitted) return "ACK/";
  if (type === DLR.rejected) return `NACK/${errorCode ?? ""}/${description ?? ""}`;
  const day = (epochMs: number): string => new Date(epochMs).toISOString().replaceAll(/\D/g, "").slice(2, 12);
  const delivered = state === "delivered" ? "001" : "000";
  const times = `submit date:${day(message.createdAt)} done date:${day(at)}`;
  return `id:${message.messageId} sub:001 dlvrd:${delivered} ${times} stat:${STAT[state] ?? "UNKNOWN"} err:${errorCode ?? "000"} text:`;
}
