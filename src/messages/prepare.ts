import type { Catalog } from "../catalog/catalog.ts";
import { compose, composedFor, type Composition } from "../channels/sms/compose.ts";
import type { SmsDraft, SmsRules } from "../channels/sms/read.ts";
import type { CatalogRecord, TemplateContent } from "../model/catalog.ts";
import { FAILURES } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import { isSimulated, routesFor } from "./choose-route.ts";
import { judge, type JudgeNeeds, type Judgement, type Sending } from "./judge.ts";
import { creditsFor } from "./price.ts";

export interface PrepareNeeds extends JudgeNeeds {
  catalog: Catalog;
  commits: Pick<GroupCommit, "optedOut">;
  smsRules: SmsRules;
  /** What stands before the code of a short link. */
  shortLinkBase(): string;
}

/** A request that is ready to be stored, or shown to whoever only asks. */
export interface Prepared extends Composition {
  sending: Sending;
  /** By the recipients' places. */
  verdicts: readonly RecipientVerdict[];
}

export interface RecipientVerdict {
  judgements: readonly Judgement[];
  failure: keyof typeof FAILURES | null;
  /** Until when it is held; null means it may go when the request says. */
  heldUntil: number | null;
  credits: number;
}

/**
 * Looks up what a draft names, makes its texts and asks every policy about every recipient.
 * Next: src/channels/sms/compose.ts
 */
export async function prepare(needs: PrepareNeeds, request: Omit<Sending, "catalog">): Promise<Prepared> {
  const { account, draft, dryRun } = request;
  const sending: Sending = { ...request, catalog: needs.catalog.of(account.id) };
  const learning = account.settings.records === "learn" && endsInSimulator(sending);
  refuseUnknownSender(sending, learning);
  refuseEndedCampaign(sending);
  const template = findTemplate(sending, learning);
  const composition = compose(draft, {
    template,
    textMismatch: account.settings.textMismatch,
    linkBase: needs.shortLinkBase(),
    rules: needs.smsRules,
  });
  if (!dryRun) {
    if (learning) learn(needs.catalog, sending);
    noteCampaign(needs.catalog, sending);
  }
  const optedOut = await askOptOuts(needs, sending);
  const verdicts = draft.recipients.map((recipient, place): RecipientVerdict => {
    const composed = composedFor(composition, place);
    const judgements = judge(needs, sending, recipient, composed, optedOut[place] ?? false);
    return {
      judgements,
      failure: judgements.at(-1)?.failure ?? null,
      heldUntil: judgements.findLast(({ until }) => until !== undefined)?.until ?? null,
      credits: creditsFor(sending.catalog, draft.routeClass, recipient.number, composed.segments),
    };
  });
  return { ...composition, sending, verdicts };
}

/** One recipient who may not be written to is the caller's to know at once; among several, each has its record. */
export function refuseSingle({ sending, verdicts }: Prepared): void {
  const [only] = verdicts;
  if (!only || sending.draft.recipients.length > 1) return;
  const { failure } = only;
  if (failure === "COUNTRY_NOT_ALLOWED" || failure === "RECIPIENT_OPTED_OUT")
    throw new Problem(failure, { faults: [{ parameter: "to", message: FAILURES[failure] }] });
}

/** The policies that would have refused or held somebody on a real carrier, with commas between them. */
export function notedPolicies({ verdicts }: Prepared): string {
  const noted = new Set<string>();
  for (const { judgements } of verdicts)
    for (const { policy, verdict } of judgements) if (verdict === "noted") noted.add(policy);
  return [...noted].join(", ");
}

/** Whether every way that any of its messages could take ends in the simulator. */
function endsInSimulator({ test, catalog, draft }: Sending): boolean {
  // Most accounts have simulated routes alone or real ones alone, and need not look at each recipient.
  if (test || catalog.routes.every(({ content }) => isSimulated(catalog, content.carrier))) return true;
  const { routeClass, sender, recipients } = draft;
  return recipients.every(({ number }) =>
    routesFor(catalog, { channel: "sms", routeClass, sender, recipient: number }).every(({ content }) =>
      isSimulated(catalog, content.carrier),
    ),
  );
}

function refuseUnknownSender({ catalog, draft }: Sending, learning: boolean): void {
  if (learning || catalog.named("sender").get(draft.sender)?.origin === "authored") return;
  const message = `${JSON.stringify(draft.sender)} is not among the account's senders: add it at /api/senders, or use one that is.`;
  throw new Problem("SENDER_NOT_REGISTERED", { faults: [{ parameter: "sender", message }] });
}

function refuseEndedCampaign({ catalog, draft: { campaignName } }: Sending): void {
  if (campaignName === null || catalog.named("campaign").get(campaignName)?.content.status !== "cancelled") return;
  const message = `The campaign ${JSON.stringify(campaignName)} was cancelled: use another name.`;
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "campaignName", message }] });
}

function findTemplate(
  { catalog, draft: { templateId } }: Sending,
  learning: boolean,
): CatalogRecord<"template"> | null {
  if (templateId === null) return null;
  const template = catalog.named("template").get(templateId);
  if (template?.content.channel === "sms" && (learning || template.origin === "authored")) return template;
  if (learning && !template) return null;
  const message = `There is no SMS template ${JSON.stringify(templateId)}: add it at /api/templates, or use one that is there.`;
  throw new Problem("TEMPLATE_NOT_FOUND", { faults: [{ parameter: "templateId", message }] });
}

function learn(catalog: Catalog, { account, draft }: Sending): void {
  const { sender, templateId } = draft;
  if (!catalog.of(account.id).named("sender").has(sender))
    catalog.learn(account.id, "sender", sender, { dltEntityId: null });
  if (templateId !== null) catalog.learn(account.id, "template", templateId, shapeOf(draft));
}

/** A campaign begins with its first message, on any carrier: there is no other way to make one. */
function noteCampaign(catalog: Catalog, { account, draft: { campaignName } }: Sending): void {
  if (campaignName === null || catalog.of(account.id).named("campaign").has(campaignName)) return;
  catalog.learn(account.id, "campaign", campaignName, { status: "running", pausedAt: null, pausedMs: 0 });
}

/** A template as a request shows it: how many values it takes. Its text is one recipient's, and is not kept. */
function shapeOf({ custom, recipients }: SmsDraft): TemplateContent {
  const values = custom ?? recipients.find((recipient) => recipient.custom !== null)?.custom ?? [];
  return { channel: "sms", text: null, variables: values.length, dltContentId: null, dltEntityId: null };
}

async function askOptOuts({ commits }: PrepareNeeds, { account, draft }: Sending): Promise<readonly boolean[]> {
  if (draft.routeClass !== "PROMO") return [];
  return commits.optedOut.add({ accountId: account.id, numbers: draft.recipients.map(({ number }) => number) });
}
