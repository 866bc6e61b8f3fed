import type { Draft, SoleRecipient } from "../../channels/draft.ts";
import { htmlOf } from "../../email/html.ts";
import type { EmailContent } from "../../model/message.ts";
import { checkEachRecipient, type Prepared, type PrepareDeps, type Request } from "./prepare.ts";

/** An e-mail to the user of a phone number. */
export interface EmailDraft extends Draft {
  channel: "email";
  recipients: SoleRecipient;
  /** The address. */
  address: string;
  subject: string;
  text: string;
  /** Language tag; null if unknown. */
  language: string | null;
  /** A part of the text that is shown large; null for none. */
  emphasis: string | null;
}

/** Composes an e-mail and evaluates the policies, which are about the phone number. */
export async function prepareEmail(
  deps: PrepareDeps,
  request: Request<EmailDraft>,
): Promise<Prepared<EmailDraft, EmailContent>> {
  const sending = { ...request, catalog: deps.catalog.of(request.account.id) };
  const { address: to, subject, text, language, emphasis } = request.draft;
  const html = htmlOf({ subject, text, language, emphasis });
  const content = { to, subject, text, html, language };
  const composition = { shared: { content, segments: 1 }, each: [], warning: null };
  const verdicts = await checkEachRecipient(deps, sending, composition);
  return { ...composition, subject: sending, targets: [], verdicts };
}
