import { composedFor, type Composition } from "../../channels/draft.ts";
import { composeChat, shapeOfChat, type RecipientLanguages } from "../../channels/chatapp/compose.ts";
import type { ChatDraft } from "../../channels/chatapp/read.ts";
import { LANGUAGE_ATTRIBUTE } from "../../model/contact.ts";
import type { MediaVerdict } from "../../egress/media.ts";
import type { CatalogRecord } from "../../model/catalog.ts";
import type { LinkedFile } from "../../model/chat-session.ts";
import { routeClassOf, SESSION_MS, type ChatContent } from "../../model/chatapp.ts";
import { FAILURES, mediaOf } from "../../model/message.ts";
import { mediaIdIn, type StoredMedia } from "../../model/media.ts";
import { Problem } from "../../model/problem.ts";
import type { OwnFacts, PolicySubject } from "../policy/check.ts";
import { mediaRefusal, sessionRefusal } from "../policy/policies.ts";
import { findReference } from "./find-reference.ts";
import { findStoredMedia, verdictOf, type NamedLink } from "./stored-media.ts";
import { checkEachRecipient, mayLearn, type Prepared, type PrepareDeps, type Request } from "./prepare.ts";

/** A request waits this long for the first look at a new file. */
const MEDIA_WAIT_MS = 1000;

/**
 * Looks up the records of a chat-app message, fills in its template, checks its file and evaluates the policies.
 * Next: src/channels/chatapp/compose.ts
 */
export async function prepareChat(
  deps: PrepareDeps,
  request: Request<ChatDraft>,
): Promise<Prepared<ChatDraft, ChatContent>> {
  const catalog = deps.catalog.of(request.account.id);
  const template = templateOf(request.draft, catalog);
  const routeClass = template ? routeClassOf(template.content) : request.draft.routeClass;
  const sending = { ...request, catalog, draft: { ...request.draft, routeClass } };
  const { composition, factsOf } = await composeNamedChat(deps, sending, template);
  return {
    ...composition,
    subject: sending,
    targets: [],
    verdicts: await checkEachRecipient(deps, sending, composition, factsOf),
  };
}

/** Composes the contents with the account's number and template, and finds the facts that policies decide by. */
export async function composeNamedChat(
  deps: PrepareDeps,
  sending: PolicySubject<ChatDraft>,
  template: CatalogRecord<"chatTemplate"> | null,
): Promise<{ composition: Composition<ChatContent>; factsOf: (place: number) => OwnFacts }> {
  const { account, draft, dryRun, catalog } = sending;
  const learning = mayLearn(sending);
  refuseUnknownNumber(sending, learning);
  if (draft.kind === "template" && !learning && template?.origin !== "authored")
    throw unknownTemplate(draft.templateName);
  const reference = draft.kind === "text" && draft.about ? await findReference(deps, sending, draft.about) : null;
  const composition = composeChat(draft, template, reference, await findLanguages(deps, sending, template));
  const factsOf = await findFacts(deps, sending, composition);
  if (learning && !dryRun) {
    if (!catalog.named("number").has(draft.sender))
      deps.catalog.learn(account.id, "number", draft.sender, { title: null, phoneNumberId: null });
    if (draft.kind === "template" && template?.origin !== "authored")
      deps.catalog.learn(account.id, "chatTemplate", draft.templateName, shapeOfChat(draft));
  }
  return { composition, factsOf };
}

/**
 * The languages of recipients for which the request names none: those of their contacts, otherwise the account's. Null
 * where there is nothing to choose.
 */
async function findLanguages(
  { store }: PrepareDeps,
  { account, draft, test }: PolicySubject<ChatDraft>,
  template: CatalogRecord<"chatTemplate"> | null,
): Promise<RecipientLanguages | null> {
  if (draft.kind !== "template" || template?.origin !== "authored" || !template.content.languages) return null;
  const { recipients } = draft;
  const unnamed = draft.language === undefined ? recipients.filter(({ language }) => language === undefined) : [];
  if (unnamed.length === 0) return null;
  const numbers = unnamed.filter(({ failure }) => failure === null).map(({ number }) => number);
  const contacts = await store.findContacts({ accountId: account.id, test }, numbers);
  return (place) =>
    contacts.get(recipients[place]?.number ?? "")?.attributes[LANGUAGE_ATTRIBUTE] ?? account.settings.defaultLanguage;
}

/** The stored template that a draft names. */
export const templateOf = (
  draft: ChatDraft,
  catalog: PolicySubject["catalog"],
): CatalogRecord<"chatTemplate"> | null =>
  draft.kind === "template" ? (catalog.named("chatTemplate").get(draft.templateName) ?? null) : null;

function refuseUnknownNumber({ catalog, draft }: PolicySubject, learning: boolean): void {
  if (learning || catalog.named("number").get(draft.sender)?.origin === "authored") return;
  const message = `${draft.sender} is not among the account's business numbers: add it at /api/numbers, or use one that is.`;
  throw new Problem("SENDER_NOT_REGISTERED", { faults: [{ parameter: "from", message }] });
}

function unknownTemplate(name: string): Problem {
  const message = `There is no chat-app template ${name}: add it at /api/templates, or use one that is there.`;
  return new Problem("TEMPLATE_NOT_FOUND", { faults: [{ parameter: "templateName", message }] });
}

type Composed = Composition<ChatContent>;

/**
 * Facts about sessions and files that policies decide by. A closed session or an unfit file of the only recipient refuses
 * the request, and so does an unfit file that all recipients share; otherwise only the recipient's message fails.
 */
async function findFacts(
  deps: PrepareDeps,
  sending: PolicySubject<ChatDraft>,
  composition: Composed,
): Promise<(place: number) => OwnFacts> {
  const { draft } = sending;
  const sole = draft.recipients.length === 1 ? composedFor(composition, 0).content : null;
  const common = sole ?? composition.shared?.content ?? null;
  const stored = await findStoredMedia(deps.library, sending, linksIn(draft, composition));
  const verdicts = await probeMedia(deps, composition, stored);
  const file = common && mediaOf(common);
  if (file)
    refuseUnfitMedia(verdicts.get(keyOf(file)), linkPath(file, draft, sole !== null && composition.each.length > 0));
  if (draft.kind === "text") {
    const writtenAt = await findSessions(deps, sending);
    if (draft.recipients.length === 1) refuseClosedSession(writtenAt(0), sendTimeOf(deps, draft));
    return (place) => ({ lastWrittenAt: writtenAt(place) });
  }
  if (verdicts.size === 0) return () => ({});
  return (place) => {
    const own = mediaOf(composedFor(composition, place).content);
    const media = own && verdicts.get(keyOf(own));
    return media ? { media } : {};
  };
}

/** The path of a file's link in the request. */
function linkPath({ type, link }: LinkedFile, draft: ChatDraft, isOwn: boolean): string {
  const field = mediaIdIn(link) === null ? "link" : "mediaId";
  if (draft.kind === "template") return `${isOwn ? "recipients[0]." : ""}components.header.${type}.${field}`;
  return draft.part?.type === "interactive" ? `interactive.header.${type}.${field}` : `${type}.${field}`;
}

const sendTimeOf = ({ clock }: PrepareDeps, { sendAt }: ChatDraft): number => sendAt ?? clock.now();

/** Times of the recipients' last messages to the sender. */
async function findSessions(
  { store, ...deps }: PrepareDeps,
  { account, draft, test }: PolicySubject<ChatDraft>,
): Promise<(place: number) => number | null> {
  const { recipients, sender } = draft;
  const numbers = recipients.filter(({ failure }) => failure === null).map(({ number }) => number);
  const since = sendTimeOf({ store, ...deps }, draft) - SESSION_MS;
  const writtenAt = await store.lastInboundOfEach(account.id, "chatapp", numbers, sender, since, { test });
  return (place) => writtenAt.get(recipients[place]?.number ?? "") ?? null;
}

function refuseClosedSession(lastWrittenAt: number | null, at: number): void {
  const refused = sessionRefusal(lastWrittenAt, at);
  if (!refused) return;
  const message = `${refused.detail}: send a template instead.`;
  throw new Problem("SESSION_CLOSED", { faults: [{ parameter: "type", message }] });
}

const keyOf = ({ type, link }: LinkedFile): string => `${type} ${link}`;

/** Links of all contents, each with its path in the request. */
function linksIn(draft: ChatDraft, { shared, each }: Composed): readonly NamedLink[] {
  const named = (content: ChatContent, path: string): NamedLink[] => {
    const file = mediaOf(content);
    return file ? [{ link: file.link, parameter: path + linkPath(file, draft, false) }] : [];
  };
  const isOwn = (place: number): boolean => draft.kind === "template" && draft.recipients[place]?.own !== undefined;
  return [
    ...(shared ? named(shared.content, "") : []),
    ...each.flatMap(({ content }, place) => named(content, isOwn(place) ? `recipients[${place}].` : "")),
  ];
}

/** Looks at every file once, all at the same time. */
async function probeMedia(
  { media }: PrepareDeps,
  { shared, each }: Composed,
  stored: ReadonlyMap<string, StoredMedia>,
): Promise<ReadonlyMap<string, MediaVerdict>> {
  const files = new Map<string, LinkedFile>();
  for (const { content } of shared ? [shared, ...each] : each) {
    const file = mediaOf(content);
    if (file) files.set(keyOf(file), file);
  }
  const look = async ([key, { link, type }]: [string, LinkedFile]): Promise<[string, MediaVerdict]> => {
    const own = stored.get(link);
    return [key, own ? verdictOf(type, own) : await media.probeWithin(link, type, MEDIA_WAIT_MS)];
  };
  return new Map(await Promise.all([...files].map(look)));
}

/** Refuses only known violations. The check before sending sees answers that come later. */
function refuseUnfitMedia(verdict: MediaVerdict | undefined, parameter: string): void {
  const refused = verdict && mediaRefusal(verdict);
  if (!refused) return;
  const message = `${FAILURES[refused.failure]} ${refused.detail}`;
  throw new Problem(refused.failure, { faults: [{ parameter, message }] });
}
