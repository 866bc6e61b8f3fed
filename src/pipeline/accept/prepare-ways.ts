import { composedFor, type Composed, type Composition } from "../../channels/draft.ts";
import { inWay, type WayDraft, type WaysDraft } from "../../channels/ways/read.ts";
import { routeClassOf } from "../../model/chatapp.ts";
import { validityWith, type Fallback } from "../../model/fallback.ts";
import type { MessageContent } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { PolicySubject } from "../policy/check.ts";
import { composeNamedChat, templateOf } from "./prepare-chat.ts";
import { checkCardFiles, composeNamedRcs } from "./prepare-rcs.ts";
import { composeNamed } from "./prepare-sms.ts";
import { checkEachRecipient, type Prepared, type PrepareDeps, type Request } from "./prepare.ts";

/**
 * Composes every way of a message, so that errors of later ways show before they are needed, and evaluates the policies.
 * Each way is the fallback of the one before it. Next: src/pipeline/dispatch/fallback.ts
 */
export async function prepareWays(deps: PrepareDeps, request: Request<WaysDraft>): Promise<Prepared<WaysDraft>> {
  const whole = { ...request, catalog: deps.catalog.of(request.account.id) };
  // First without learning anything, because a later way may be refused.
  const dry = await composeEach(deps, { ...whole, dryRun: true });
  const { ways, compositions, closed } = request.dryRun ? dry : await composeEach(deps, whole);
  const [first] = ways;
  if (!first) throw closed[0] ?? new Error("a message without a way");
  const { channel, sender } = first;
  const subject = { ...whole, draft: { ...whole.draft, channel, sender, ways } };
  const joinedFor = (place: number): Composed =>
    joined(
      deps,
      subject,
      compositions.map((each) => composedFor(each, place)),
    );
  const isShared = compositions.every(({ shared }) => shared !== null);
  const composition: Composition = {
    shared: isShared ? joinedFor(0) : null,
    each: isShared ? [] : subject.draft.recipients.map((_, place) => joinedFor(place)),
    warning: compositions.find(({ warning }) => warning !== null)?.warning ?? null,
  };
  const verdicts = await checkEachRecipient(deps, subject, composition);
  if (closed.length === 0) return { ...composition, subject, targets: [], verdicts };
  const leftOut = { policy: "session", verdict: "noted", detail: LEFT_OUT } as const;
  const noted = verdicts.map((verdict) => ({ ...verdict, decisions: [leftOut, ...verdict.decisions] }));
  return { ...composition, subject, targets: [], verdicts: noted };
}

const LEFT_OUT = "The chat app is left out: the recipient has not written within 24 hours";

interface ComposedWays {
  /** Ways that can be sent, each with its composition. */
  ways: readonly WayDraft[];
  compositions: readonly Composition[];
  /** Refusals of session messages whose session is closed. */
  closed: readonly Problem[];
}

async function composeEach(deps: PrepareDeps, subject: PolicySubject<WaysDraft>): Promise<ComposedWays> {
  const ways: WayDraft[] = [];
  const compositions: Composition[] = [];
  const closed: Problem[] = [];
  for (const [index, way] of subject.draft.ways.entries())
    try {
      compositions.push(await composeWay(deps, { ...subject, draft: way }));
      ways.push(way);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (problem.code !== "SESSION_CLOSED") throw inWay(problem, index);
      closed.push(inWay(problem, index));
    }
  return { ways, compositions, closed };
}

async function composeWay(deps: PrepareDeps, sending: PolicySubject<WayDraft>): Promise<Composition> {
  const { draft } = sending;
  if (draft.channel === "sms") return composeNamed(deps, { ...sending, draft });
  if (draft.channel === "rcs") {
    const composition = composeNamedRcs(deps, { ...sending, draft });
    await checkCardFiles(deps, { ...sending, draft }, composition);
    return composition;
  }
  const template = templateOf(draft, sending.catalog);
  // The opt-out list and quiet hours apply by the type of the request.
  if (template && routeClassOf(template.content) === "PROMO" && draft.routeClass !== "PROMO") {
    const message = `The template ${template.name} is for marketing: send the message with type PROMO.`;
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "templateName", message }] });
  }
  return (await composeNamedChat(deps, { ...sending, draft }, template)).composition;
}

/** The content of the first way with the others behind it. The message is paid for once, at the price of the dearest way. */
function joined(
  { validityMs }: PrepareDeps,
  { draft: { ways, routeClass, moveOnAfterSeconds: afterSeconds } }: PolicySubject<WaysDraft>,
  composed: readonly Composed[],
): Composed {
  let fallback: Fallback | null = null;
  for (const [index, { content, segments }] of [...composed.entries()].toReversed()) {
    const whole: MessageContent = fallback ? { ...content, fallback } : content;
    const way = ways[index];
    if (index === 0 || !way) return { content: whole, segments: Math.max(...composed.map((each) => each.segments)) };
    const { channel, sender } = way;
    const validity = validityWith(fallback, validityMs[routeClass]);
    fallback = { channel, sender, content: whole, segments, afterSeconds, validityMs: validity };
  }
  throw new Error("a message without a way");
}
