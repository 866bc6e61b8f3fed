import { readAddress, readMailbox } from "../../email/address.ts";
import { htmlOf } from "../../email/html.ts";
import { Type } from "../../lib/schema.ts";
import { isPlainText, isShowable } from "../../lib/text.ts";
import type { EmailContent } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import { bodyChecker, hasNoFaults } from "../check-body.ts";

const MAILBOX_MAX = 400;
const SUBJECT_MAX = 200;
const TEXT_MAX = 1600;
const FROM_RULE = "from is an e-mail address such as login@example.com or Example <login@example.com>.";
const TO_RULE = "to is one e-mail address without a name, such as ada@example.com.";
const SUBJECT_RULE = `subject is one line of 1 to ${SUBJECT_MAX} characters.`;
const TEXT_RULE = `text is a string of 1 to ${TEXT_MAX} characters.`;

/** The body of a test e-mail: codes are the only e-mails that requests of `/v1` send. */
export const testEmailBody = Type.Object(
  {
    from: Type.String({
      maxLength: MAILBOX_MAX,
      description: "The sender's address, with or without a name.",
      error: FROM_RULE,
      check: (value) => (readMailbox(value) === null ? FROM_RULE : null),
    }),
    to: Type.String({
      format: "email",
      description: "One address.",
      error: TO_RULE,
      check: (value) => (readAddress(value.trim()) === null ? TO_RULE : null),
    }),
    subject: Type.String({
      minLength: 1,
      maxLength: SUBJECT_MAX,
      description: "One line.",
      error: SUBJECT_RULE,
      check: (value) => (isPlainText(value) ? null : SUBJECT_RULE),
    }),
    text: Type.String({
      minLength: 1,
      maxLength: TEXT_MAX,
      description: "The text.",
      error: TEXT_RULE,
      check: (value) => (isShowable(value) ? null : TEXT_RULE),
    }),
  },
  { title: "TestEmail" },
);

const check = bodyChecker(testEmailBody);

/** Reads a test e-mail and reports all faults at once. */
export function readTestEmail(given: unknown): { sender: string; content: EmailContent } {
  const body = check(given);
  if (!hasNoFaults(body)) throw new Problem("INVALID_REQUEST", { faults: body.faults });
  const { from: sender, to: written, subject, text } = body.fields;
  const to = readAddress(written.trim()) ?? written;
  const html = htmlOf({ subject, text, language: null, emphasis: null });
  return { sender, content: { to, subject, text, html, language: null } };
}
