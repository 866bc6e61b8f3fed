import type { Catalog } from "../catalog/catalog.ts";
import type { Composition } from "../channels/draft.ts";
import { composeSms } from "../channels/sms/compose.ts";
import type { SmsDraft } from "../channels/sms/read.ts";
import type { CatalogRecord, TemplateContent } from "../model/catalog.ts";
import type { SmsContent } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Sending } from "./judge.ts";
import { judgeEach, mayLearn, type Prepared, type PrepareNeeds, type Request } from "./prepare.ts";

/**
 * Looks up what an SMS names, makes its texts and asks every policy about every recipient.
 * Next: src/channels/sms/compose.ts
 */
export async function prepareSms(
  needs: PrepareNeeds,
  request: Request<SmsDraft>,
): Promise<Prepared<SmsDraft, SmsContent>> {
  const sending = { ...request, catalog: needs.catalog.of(request.account.id) };
  const composition = composeNamed(needs, sending);
  const verdicts = await judgeEach(needs, sending, composition);
  return { ...composition, sending, targets: request.draft.targets ?? [], verdicts };
}

/** The texts, by what the account has stored under the names that the draft uses. */
export function composeNamed(
  { catalog, shortLinkBase, smsRules }: PrepareNeeds,
  sending: Sending<SmsDraft>,
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

function refuseUnknownSender({ catalog, draft }: Sending, learning: boolean): void {
  if (learning || catalog.named("sender").get(draft.sender)?.origin === "authored") return;
  const message = `${JSON.stringify(draft.sender)} is not among the account's senders: add it at /api/senders, or use one that is.`;
  throw new Problem("SENDER_NOT_REGISTERED", { faults: [{ parameter: "sender", message }] });
}

function findTemplate(
  { catalog, draft: { templateId } }: Sending<SmsDraft>,
  learning: boolean,
): CatalogRecord<"template"> | null {
  if (templateId === null) return null;
  const template = catalog.named("template").get(templateId);
  if (template && (learning || template.origin === "authored")) return template;
  if (learning) return null;
  const message = `There is no SMS template ${JSON.stringify(templateId)}: add it at /api/templates, or use one that is there.`;
  throw new Problem("TEMPLATE_NOT_FOUND", { faults: [{ parameter: "templateId", message }] });
}

function learn(catalog: Catalog, { account, draft }: Sending<SmsDraft>): void {
  const { sender, templateId } = draft;
  if (!catalog.of(account.id).named("sender").has(sender))
    catalog.learn(account.id, "sender", sender, { dltEntityId: null });
  if (templateId !== null) catalog.learn(account.id, "template", templateId, shapeOf(draft));
}

/** A template as a request shows it: how many values it takes. Its text is one recipient's, and is not kept. */
function shapeOf({ custom, recipients }: SmsDraft): TemplateContent {
  const values = custom ?? recipients.find((recipient) => recipient.custom !== null)?.custom ?? [];
  return { channel: "sms", text: null, variables: values.length, dltContentId: null, dltEntityId: null };
}
