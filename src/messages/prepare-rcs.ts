import { composedFor } from "../channels/draft.ts";
import { composeRcs, shapeOfRcs } from "../channels/rcs/compose.ts";
import type { RcsDraft } from "../channels/rcs/read.ts";
import { Problem } from "../model/problem.ts";
import type { RcsContent, RcsFallback } from "../model/rcs.ts";
import type { Sending } from "./judge.ts";
import { composeNamed } from "./prepare-sms.ts";
import { judgeEach, mayLearn, type Prepared, type PrepareNeeds, type Request } from "./prepare.ts";

/**
 * Looks up what an RCS message names, fills its template in, composes the text that may take its place, and asks every
 * policy. Next: src/channels/rcs/compose.ts
 */
export async function prepareRcs(
  needs: PrepareNeeds,
  request: Request<RcsDraft>,
): Promise<Prepared<RcsDraft, RcsContent>> {
  const catalog = needs.catalog.of(request.account.id);
  const sending = { ...request, catalog };
  const { account, draft, dryRun } = sending;
  const { sender: botId, templateName } = draft;
  const learning = mayLearn(sending);
  if (!learning && catalog.named("bot").get(botId)?.origin !== "authored") throw unknownBot(botId);
  const template = catalog.named("rcsTemplate").get(templateName) ?? null;
  if (!learning && template?.origin !== "authored") throw unknownTemplate(templateName);
  const message = composeRcs(draft, template);
  const fallback = composeFallback(needs, sending);
  if (learning && !dryRun) {
    if (!catalog.named("bot").has(botId)) needs.catalog.learn(account.id, "bot", botId, { title: null });
    // A request without content tells nothing of a template that others have shown.
    if (template === null || (template.origin === "learned" && draft.content !== null))
      needs.catalog.learn(account.id, "rcsTemplate", templateName, shapeOfRcs(draft));
  }
  // Whichever way it arrives it is paid for once, so the dearer way is.
  const segments = fallback?.segments ?? 1;
  const content = fallback ? { ...message, fallback } : message;
  const composition = { shared: { content, segments }, each: [], warning: null };
  return { ...composition, sending, targets: [], verdicts: await judgeEach(needs, sending, composition) };
}

function unknownBot(botId: string): Problem {
  const message = `There is no bot ${JSON.stringify(botId)}: add it at /api/bots, or use one that is there.`;
  return new Problem("BOT_NOT_FOUND", { faults: [{ parameter: "botId", message }] });
}

function unknownTemplate(name: string): Problem {
  const message = `There is no RCS template ${JSON.stringify(name)}: add it at /api/templates, or use one that is there.`;
  return new Problem("TEMPLATE_NOT_FOUND", { faults: [{ parameter: "templateName", message }] });
}

/** The fallback is composed at the door, so that it cannot turn out wrong when it is needed. */
function composeFallback(needs: PrepareNeeds, sending: Sending<RcsDraft>): RcsFallback | null {
  const { fallback } = sending.draft;
  if (fallback === null) return null;
  const { sms, afterSeconds } = fallback;
  try {
    const { content, segments } = composedFor(composeNamed(needs, { ...sending, draft: sms }), 0);
    const validityMs = needs.validityMs[sms.routeClass];
    return { sender: sms.sender, content, segments, afterSeconds, validityMs };
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    const faults = problem.faults.map(({ parameter, message }) => ({ parameter: `fallback.${parameter}`, message }));
    throw new Problem(problem.code, { message: problem.message, faults, cause: problem });
  }
}
