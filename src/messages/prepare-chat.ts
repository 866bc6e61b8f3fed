import { composeChat, shapeOfChat } from "../channels/chatapp/compose.ts";
import type { ChatDraft } from "../channels/chatapp/read.ts";
import type { CatalogRecord } from "../model/catalog.ts";
import { isSessionOpen, routeClassOf, type ChatContent } from "../model/chatapp.ts";
import { FAILURES, mediaOf } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Sending } from "./judge.ts";
import { mediaFailure } from "./judge-media.ts";
import { judgeEach, mayLearn, type Prepared, type PrepareNeeds, type Request } from "./prepare.ts";

/** How long a request is kept for a first look at a file that nobody has looked at yet. */
const MEDIA_WAIT_MS = 1000;

/**
 * Looks up what a chat-app message names, fills its template in, has a look at its file and asks every policy.
 * Next: src/channels/chatapp/compose.ts
 */
export async function prepareChat(
  needs: PrepareNeeds,
  request: Request<ChatDraft>,
): Promise<Prepared<ChatDraft, ChatContent>> {
  const catalog = needs.catalog.of(request.account.id);
  const template = templateOf(request.draft, catalog);
  const routeClass = template ? routeClassOf(template.content) : request.draft.routeClass;
  const sending = { ...request, catalog, draft: { ...request.draft, routeClass } };
  const { account, draft, dryRun } = sending;
  const learning = mayLearn(sending);
  refuseUnknownNumber(sending, learning);
  if (draft.kind === "template" && !learning && template?.origin !== "authored")
    throw unknownTemplate(draft.templateName);
  const content = composeChat(draft, template);
  if (content.kind === "text") await refuseClosedSession(needs, sending);
  await refuseUnfitMedia(needs, content);
  if (learning && !dryRun) {
    if (!catalog.named("number").has(draft.sender))
      needs.catalog.learn(account.id, "number", draft.sender, { title: null });
    if (draft.kind === "template" && template?.origin !== "authored")
      needs.catalog.learn(account.id, "chatTemplate", draft.templateName, shapeOfChat(draft));
  }
  const composition = { shared: { content, segments: 1 }, each: [], warning: null };
  return { ...composition, sending, targets: [], verdicts: await judgeEach(needs, sending, composition) };
}

const templateOf = (draft: ChatDraft, catalog: Sending["catalog"]): CatalogRecord<"chatTemplate"> | null =>
  draft.kind === "template" ? (catalog.named("chatTemplate").get(draft.templateName) ?? null) : null;

function refuseUnknownNumber({ catalog, draft }: Sending, learning: boolean): void {
  if (learning || catalog.named("number").get(draft.sender)?.origin === "authored") return;
  const message = `${draft.sender} is not among the account's business numbers: add it at /api/numbers, or use one that is.`;
  throw new Problem("SENDER_NOT_REGISTERED", { faults: [{ parameter: "from", message }] });
}

function unknownTemplate(name: string): Problem {
  const message = `There is no chat-app template ${name}: add it at /api/templates, or use one that is there.`;
  return new Problem("TEMPLATE_NOT_FOUND", { faults: [{ parameter: "templateName", message }] });
}

async function refuseClosedSession(
  { store, clock }: PrepareNeeds,
  { account, draft }: Sending<ChatDraft>,
): Promise<void> {
  const [{ number }] = draft.recipients;
  const writtenAt = await store.lastInboundAt(account.id, "chatapp", number, draft.sender);
  if (isSessionOpen(writtenAt, clock.now())) return;
  const message = "The recipient has not written to this number within 24 hours: send a template instead.";
  throw new Problem("SESSION_CLOSED", { faults: [{ parameter: "type", message }] });
}

/** Only a violation that is known by now; what turns out later fails the message before it is sent. */
async function refuseUnfitMedia({ media }: PrepareNeeds, content: ChatContent): Promise<void> {
  const file = mediaOf(content);
  if (!file) return;
  const failure = mediaFailure(await media.settle(file.link, file.type, MEDIA_WAIT_MS));
  if (!failure) return;
  const message = `${FAILURES[failure.code]} ${failure.detail}`;
  throw new Problem(failure.code, { faults: [{ parameter: `components.header.${file.type}.link`, message }] });
}
