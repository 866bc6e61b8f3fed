import MailComposer from "nodemailer/lib/mail-composer";
import { readAddress, type Mailbox } from "./address.ts";

export interface Email {
  /** Without angle brackets. The same id for a repetition lets mail programs show one. */
  messageId: string;
  from: Mailbox;
  /** One address. */
  to: string;
  subject: string;
  text: string;
  html: string | null;
  /** Language tag; null if unknown. */
  language: string | null;
  /** Epoch milliseconds. */
  at: number;
}

const MESSAGE_ID = /^[A-Za-z0-9.:_-]+@[A-Za-z0-9.-]+$/;
const LANGUAGE = /^[A-Za-z0-9-]{1,35}$/;
const CONTROL = /\p{Cc}/u;

/**
 * Composes the bytes of an e-mail (MIME): plain text, and HTML beside it. Signing (DKIM) is left to the relay. Header injection:
 * a header value with a control character is an error, whatever has read it before.
 */
export function composeEmail({ messageId, from, to, subject, text, html, language, at }: Email): Promise<Buffer> {
  if (!MESSAGE_ID.test(messageId)) throw new Error("the message id of an e-mail is malformed");
  if (CONTROL.test(subject) || CONTROL.test(from.name ?? ""))
    throw new Error("a header of an e-mail has a control character");
  if (readAddress(from.address) !== from.address || readAddress(to) !== to)
    throw new Error("an address of an e-mail is malformed");
  if (language !== null && !LANGUAGE.test(language)) throw new Error("the language of an e-mail is malformed");
  const composer = new MailComposer({
    from: { name: from.name ?? "", address: from.address },
    to: { name: "", address: to },
    subject,
    messageId: `<${messageId}>`,
    date: new Date(at),
    text,
    ...(html !== null && { html }),
    headers: {
      // Mailboxes with an absence notice do not reply to it (RFC 3834).
      "Auto-Submitted": "auto-generated",
      ...(language !== null && { "Content-Language": language }),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}
