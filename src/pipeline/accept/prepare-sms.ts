import type { Catalog } from "../../records/catalog.ts";
import type { Composition } from "../../channels/draft.ts";
import { composeSms } from "../../channels/sms/compose.ts";
import type { SmsDraft } from "../../channels/sms/read.ts";
import type { CatalogRecord, TemplateContent } from "../../model/catalog.ts";
import type { SmsContent } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { PolicySubject } from "../policy/check.ts";
import { checkEachRecipient, mayLearn, type Prepared, type PrepareDeps, type Request } from "./prepare.ts";

/**
 * Looks up the records of an SMS, composes its texts and evaluates the policies.
 * Next: src/channels/sms/compose.ts
 */
export async function prepareSms(
  deps: PrepareDeps,
  request: Request<SmsDraft>,
): Promise<Prepared<SmsDraft, SmsContent>> {
  const sending = { ...request, catalog: deps.catalog.of(request.account.id) };
  const composition = composeNamed(deps, sending);
  const verdicts = await checkEachRecipient(deps, sending, composition);
  return { ...composition, subject: sending, targets: request.draft.targets ?? [], verdicts };
}

/** Composes the texts with the account's sender and template. */
export function composeNamed(
  { catalog, shortLinkBase, smsRules }: PrepareDeps,
  sending: PolicySubject<SmsDraft>,
): Composition<SmsContent> {
  const { account, draft, dryRun } = sending;
  const learning = mayLearn(sending);
  refuseUnknownSender(sending, learning);
  const composition = composeSms(draft, {
    template: findTemplate(sending, learning),
    textMismatch: account.settings.textMismatch,
    linkBase: shortLinkBase(),
    rules: smsRules,
  });
  if (learning && !dryRun) learn(catalog, sending);
  return composition;
}

function refuseUnknownSender({ catalog, draft }: PolicySubject, learning: boolean): void {
  if (learning || catalog.named("sender").get(draft.sender)?.origin === "authored") return;
  const message = `${JSON.stringify(draft.sender)} is not among the account's senders: add it at /api/senders, or use one that is.`;
  throw new Problem("SENDER_NOT_REGISTERED", { faults: [{ parameter: "sender", message }] });
}

function findTemplate(
  { catalog, draft: { templateId } }: PolicySubject<SmsDraft>,
  learning: boolean,
): CatalogRecord<"template"> | null {
  if (templateId === null) return null;
  const template = catalog.named("template").get(templateId);
  if (template && (learning || template.origin === "authored")) return template;
  if (learning) return null;
  const message = `There is no SMS template ${JSON.stringify(templateId)}: add it at /api/templates, or use one that is there.`;
  throw new Problem("TEMPLATE_NOT_FOUND", { faults: [{ parameter: "templateId", message }] });
}

function learn(catalog: Catalog, { account, draft }: PolicySubject<SmsDraft>): void {
  const { sender, templateId } = draft;
  if (!catalog.of(account.id).named("sender").has(sender))
    catalog.learn(account.id, "sender", sender, { dltEntityId: null });
  if (templateId !== null) catalog.learn(account.id, "template", templateId, shapeOf(draft));
}

/** The shape of a learned template: its number of values. The text belongs to one recipient and is not kept. */
function shapeOf({ custom, recipients }: SmsDraft): TemplateContent {
  const values = custom ?? recipients.find((recipient) => recipient.custom !== null)?.custom ?? [];
  return { channel: "sms", text: null, variables: values.length, dltContentId: null, dltEntityId: null };
}
