import { maskAddress } from "../../email/address.ts";
import type { SmtpRefusal, SmtpResult } from "../../email/smtp.ts";
import type { EmailContent } from "../../model/message.ts";
import type { HealthVerdict } from "../connection-health.ts";

type Verdict = HealthVerdict & { reply: string };

const REPLY_MAX = 300;

/** The result of an e-mail in the terms of all carriers. */
export function verdictOf(result: SmtpResult, content: Pick<EmailContent, "text">, messageId: string): Verdict {
  switch (result.kind) {
    case "accepted":
      return { outcome: { kind: "taken", carrierMessageId: messageId }, reply: withoutPerson(result.reply, content) };
    case "refused":
      return { ...refusalOf(result), reply: withoutPerson(result.reply, content) };
    case "rejected":
      return { ...rejectionOf(result), reply: withoutPerson(result.reply, content) };
    case "unreachable":
      return { outcome: { kind: "down", description: result.reason }, code: "UNREACHED", reply: "nothing" };
    case "unknown":
    default:
      return { outcome: { kind: "unknown", description: result.reason }, code: "BROKEN", reply: "nothing" };
  }
}

/** 4xx is a matter of time; 5xx is final for this e-mail. */
function refusalOf({ code, isPermanent }: SmtpRefusal): HealthVerdict {
  const written = String(code);
  if (!isPermanent) return { outcome: { kind: "busy" }, code: written };
  const description = "The mail server refused the e-mail";
  return { outcome: { kind: "refused", fault: "message", code: written, description }, code: written };
}

/** A login that is refused once will be refused for every e-mail, until an operator corrects it. */
function rejectionOf({ code, isPermanent }: SmtpRefusal): HealthVerdict {
  const written = String(code);
  const description = `The mail server refuses the connection or its login (${written})`;
  return { outcome: { kind: "down", description }, code: written, ...(isPermanent && { effect: "halted" }) };
}

const ADDRESSES = /[^\s<>()"',;:]+@[^\s<>()"',;:]+/g;
/** Digits of codes, which a server might quote from the subject. */
const DIGITS = /\d{4,}/g;

/** A reply for the timeline: one line, with addresses masked and no digits of the e-mail's text. */
function withoutPerson(reply: string, { text }: Pick<EmailContent, "text">): string {
  const digits = new Set(text.match(DIGITS) ?? []);
  return reply
    .slice(0, REPLY_MAX)
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(ADDRESSES, maskAddress)
    .replaceAll(DIGITS, (found) => (digits.has(found) ? "*".repeat(found.length) : found));
}
