import { composedFor, type Composed, type Composition } from "../../channels/draft.ts";
import { composeRcs, fillingIn, shapeOfRcs } from "../../channels/rcs/compose.ts";
import type { RcsDraft } from "../../channels/rcs/read.ts";
import { Problem } from "../../model/problem.ts";
import type { Fallback } from "../../model/fallback.ts";
import type { RcsContent } from "../../model/rcs.ts";
import type { PolicySubject } from "../policy/check.ts";
import { composeNamed } from "./prepare-sms.ts";
import { findStoredMedia, type NamedLink } from "./stored-media.ts";
import { checkEachRecipient, mayLearn, type Prepared, type PrepareDeps, type Request } from "./prepare.ts";

/**
 * Looks up the records of an RCS message, fills in its template, composes its SMS fallback and evaluates the policies.
 * Next: src/channels/rcs/compose.ts
 */
export async function prepareRcs(
  deps: PrepareDeps,
  request: Request<RcsDraft>,
): Promise<Prepared<RcsDraft, RcsContent>> {
  const sending = { ...request, catalog: deps.catalog.of(request.account.id) };
  const composition = composeNamedRcs(deps, sending);
  await checkCardFiles(deps, sending, composition);
  const verdicts = await checkEachRecipient(deps, sending, composition);
  return { ...composition, subject: sending, targets: [], verdicts };
}

/** Composes the contents with the account's bot and template, and with the SMS fallback. */
export function composeNamedRcs(deps: PrepareDeps, sending: PolicySubject<RcsDraft>): Composition<RcsContent> {
  const { account, draft, dryRun, catalog } = sending;
  const { sender: botId, templateName } = draft;
  const learning = mayLearn(sending);
  if (!learning && catalog.named("bot").get(botId)?.origin !== "authored") throw unknownBot(botId);
  const template = catalog.named("rcsTemplate").get(templateName) ?? null;
  if (!learning && template?.origin !== "authored") throw unknownTemplate(templateName);
  const composed = composeRcs(draft, template);
  const fallback = composeFallback(deps, sending);
  if (learning && !dryRun) {
    if (!catalog.named("bot").has(botId)) deps.catalog.learn(account.id, "bot", botId, { title: null, agentId: null });
    // A request without content does not overwrite the shape learned from others.
    if (template === null || (template.origin === "learned" && fillingIn(draft) !== null))
      deps.catalog.learn(account.id, "rcsTemplate", templateName, shapeOfRcs(draft));
  }
  return fallback ? withFallback(composed, fallback) : composed;
}

/** Types that phones show on a card. */
const CARD_TYPES = new Set(["image/jpeg", "image/png", "image/gif", "video/mp4", "video/3gpp", "video/webm"]);

/** Refuses cards whose uploaded file is not there, or is of a type that no card shows. */
export async function checkCardFiles(
  { library }: PrepareDeps,
  sending: PolicySubject<RcsDraft>,
  { shared, each }: Composition<RcsContent>,
): Promise<void> {
  const named = (content: RcsContent, path: string): NamedLink[] =>
    content.cards.map(({ fileUrl }, index) => ({
      link: fileUrl ?? "",
      parameter: `${path}content[${index}].mediaId`,
    }));
  const isOwn = (place: number): boolean => sending.draft.recipients[place]?.content !== undefined;
  const links = [
    ...(shared ? named(shared.content, "") : []),
    ...each.flatMap(({ content }, place) => named(content, isOwn(place) ? `recipients[${place}].` : "")),
  ];
  const found = await findStoredMedia(library, sending, links);
  const faults = links.flatMap(({ link, parameter }) => {
    const media = found.get(link);
    if (!media || CARD_TYPES.has(media.type)) return [];
    return [{ parameter, message: `A card shows ${[...CARD_TYPES].join(", ")}, and the file is ${media.type}.` }];
  });
  if (faults.length > 0) throw new Problem("MEDIA_TYPE_UNSUPPORTED", { faults });
}

/** The message is paid for once, at the price of the more expensive channel. */
function withFallback({ shared, each, warning }: Composition<RcsContent>, fallback: Fallback): Composition<RcsContent> {
  const { segments } = fallback;
  const add = ({ content }: Composed<RcsContent>): Composed<RcsContent> => ({
    content: { ...content, fallback },
    segments,
  });
  return { shared: shared && add(shared), each: each.map(add), warning };
}

function unknownBot(botId: string): Problem {
  const message = `There is no bot ${JSON.stringify(botId)}: add it at /api/bots, or use one that is there.`;
  return new Problem("BOT_NOT_FOUND", { faults: [{ parameter: "botId", message }] });
}

function unknownTemplate(name: string): Problem {
  const message = `There is no RCS template ${JSON.stringify(name)}: add it at /api/templates, or use one that is there.`;
  return new Problem("TEMPLATE_NOT_FOUND", { faults: [{ parameter: "templateName", message }] });
}

/** The fallback is composed at acceptance, so that its errors show before it is needed. */
function composeFallback(deps: PrepareDeps, sending: PolicySubject<RcsDraft>): Fallback | null {
  const { fallback } = sending.draft;
  if (fallback === null) return null;
  const { sms, afterSeconds } = fallback;
  try {
    const { content, segments } = composedFor(composeNamed(deps, { ...sending, draft: sms }), 0);
    const validityMs = deps.validityMs[sms.routeClass];
    return { sender: sms.sender, content, segments, afterSeconds, validityMs };
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    const faults = problem.faults.map(({ parameter, message }) => ({ parameter: `fallback.${parameter}`, message }));
    throw new Problem(problem.code, { message: problem.message, faults, cause: problem });
  }
}
