import type { FacadeReply } from "../../http/facade.ts";
import type { Problem } from "../../model/problem.ts";

/** Kannel answers in plain words and calls them HTML. */
const TYPE = "text/html";

export const ACCEPTED = "0: Accepted for delivery";
/** The response to a message that is sent later. */
export const QUEUED = "3: Queued for later delivery";

const ESCAPED: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Cross-site scripting: a reason may repeat what the request said. */
export const replyOf = (status: number, text: string): FacadeReply => ({
  status,
  contentType: TYPE,
  text: text.replaceAll(/[&<>]/g, (character) => ESCAPED[character] ?? ""),
});

/** Kannel's words for a wrong parameter. Parameters that only `/v1` has are those that were made from Kannel's. */
const MALFORMED: Readonly<Record<string, string>> = {
  to: "Number(s) has/have been denied by white- and/or black-lists.",
  sender: "Sender missing and no global set, rejected",
  charset: "Charset or body misformed, rejected",
  text: "Charset or body misformed, rejected",
  udh: "UDH field misformed, rejected",
  mclass: "MClass field misformed, rejected",
  mwi: "MWI field misformed, rejected",
  coding: "Coding field misformed, rejected",
  compress: "Compress field misformed, rejected",
  pid: "PID field misformed, rejected",
  rpi: "RPI field misformed, rejected",
  "alt-dcs": "Alt-DCS field misformed, rejected",
  validity: "Validity field misformed, rejected",
  deferred: "Deferred field misformed, rejected",
  sendAt: "Deferred field misformed, rejected",
  priority: "Priority field misformed, rejected",
  account: "Account field misformed or too long, rejected",
  "dlr-mask": "DLR-Mask field misformed, rejected",
  "dlr-url": "DLR-URL field misformed, rejected",
};

/** Causes that a caller can act upon, and that have no words in Kannel. */
const OWN_WORDS = /^(?:Missing |Empty |UDH field is too long)/;

/** A refusal in Kannel's words, followed by the reason where Kannel's words do not have it. */
export function failureReply(problem: Problem): FacadeReply {
  const { code, status, faults, message } = problem;
  const [first] = faults;
  if (code === "UNAUTHORIZED") return replyOf(403, "Authorization failed for sendsms");
  if (code === "IP_NOT_ALLOWED" || code === "INSUFFICIENT_SCOPE" || code === "ACCOUNT_SUSPENDED")
    return replyOf(403, `Authorization failed for sendsms. ${message}`);
  if (code === "UNSUPPORTED_MEDIA_TYPE") return replyOf(400, "Invalid content-type");
  if (code === "ROUTE_NOT_FOUND") return replyOf(404, "Not found");
  if (code === "METHOD_NOT_ALLOWED") return replyOf(405, "Method not allowed");
  if (code === "INVALID_RECIPIENT") return replyOf(400, MALFORMED.to ?? "");
  if (first && OWN_WORDS.test(first.message)) return replyOf(400, `${first.message}, rejected`);
  if (first) {
    const words = MALFORMED[first.parameter.replace(/[[.].*$/, "")] ?? "Request misformed, rejected";
    return replyOf(
      400,
      first.message.endsWith(" is malformed.") ? words : `${words.replace(/\.$/, "")}. ${first.message}`,
    );
  }
  if (status === 429 || status === 503) return replyOf(503, "Temporal failure, try again later.");
  if (status >= 500) return replyOf(status, "Internal error.");
  if (status === 402 || status === 403) return replyOf(403, `Not routable. Do not try again. ${message}`);
  return replyOf(status, `${message.replace(/\.$/, "")}, rejected`);
}
