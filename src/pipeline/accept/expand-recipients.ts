import { composedFor, type Composed } from "../../channels/draft.ts";
import { withCodes } from "../../channels/sms/compose.ts";
import { newCode } from "../../links/code.ts";
import { isSms } from "../../model/message.ts";
import { encodeTimeline, type TimelineEntry } from "../../model/timeline.ts";
import type { Acceptance, NewLinks, NewRecipient } from "../../store/store.ts";
import { timelineOf, type PolicyDecision } from "../policy/policies.ts";
import type { Prepared, RecipientVerdict } from "./prepare.ts";

export interface ExpandRecipientsDeps {
  /** Life of a short link. */
  linkLifeMs: number;
  /** URL before the code of a short link. */
  shortLinkBase(): string;
}

export type ExpandedRequest = Pick<Acceptance, "recipients" | "links" | "timeline">;

/**
 * Creates one row per recipient with its decision, its price, and its text if it has values or links of its own. Timeline
 * entries that all recipients share are stored once.
 */
export function expandRecipients(
  deps: ExpandRecipientsDeps,
  prepared: Prepared,
  message: Acceptance["message"],
): ExpandedRequest {
  const { draft } = prepared.subject;
  const { createdAt: now } = message;
  const pausedMs = message.dueAt - (draft.sendAt ?? now);
  const { targets } = prepared;
  const shared = sharedDecisions(prepared.verdicts);
  const codes: NewLinks["codes"][number][] = [];
  const recipients = draft.recipients.map(({ number, written }, place): NewRecipient => {
    const { failure, credits, heldUntil, decisions: judgements } = prepared.verdicts[place] ?? NO_VERDICT;
    const own = targets.map(newCode);
    own.forEach((code, index) => codes.push({ code, n: place + 1, k: index + 1 }));
    const timeline = ownTimeline(judgements, shared, number, written, now);
    return {
      number,
      failure,
      credits: failure ? 0 : credits,
      ...ownText(deps, prepared, place, own),
      ...(heldUntil === null ? {} : { dueAt: heldUntil + pausedMs }),
      ...(timeline === "" ? {} : { timeline }),
    };
  });
  return {
    recipients,
    links: codes.length === 0 ? null : { targets, expiresAt: now + deps.linkLifeMs, codes },
    timeline: sharedTimeline(prepared, shared, now, pausedMs > 0),
  };
}

const NO_VERDICT: RecipientVerdict = { decisions: [], failure: null, heldUntil: null, credits: 0 };

function ownText(
  { shortLinkBase }: ExpandRecipientsDeps,
  prepared: Prepared,
  place: number,
  codes: readonly string[],
): Partial<Composed> {
  const { content, segments } = composedFor(prepared, place);
  if (codes.length > 0 && isSms(content)) return withCodes({ content, segments }, codes, shortLinkBase());
  return prepared.each[place] ?? {};
}

function sharedDecisions(verdicts: readonly RecipientVerdict[]): readonly PolicyDecision[] {
  const [first = NO_VERDICT, ...rest] = verdicts;
  return first.decisions.filter((wanted) =>
    rest.every(({ decisions: judgements }) => judgements.some((decision) => isSame(decision, wanted))),
  );
}

const isSame = (a: PolicyDecision, b: PolicyDecision): boolean =>
  a.policy === b.policy && a.verdict === b.verdict && a.detail === b.detail && a.until === b.until;

function sharedTimeline(
  { warning, subject: { draft } }: Prepared,
  shared: readonly PolicyDecision[],
  at: number,
  paused: boolean,
): string | null {
  const { arrived } = draft;
  if (shared.length === 0 && warning === null && draft.sendAt === null && !paused && !arrived) return null;
  const entries: TimelineEntry[] = shared.map((decision) => timelineOf(decision, at));
  if (arrived) entries.unshift({ at, step: "arrived", ...arrived });
  if (warning !== null) entries.push({ at, step: "policy", policy: "template", verdict: "noted", detail: warning });
  if (draft.sendAt !== null) {
    const detail = `To be sent at ${new Date(draft.sendAt).toISOString()}`;
    entries.push({ at, step: "policy", policy: "schedule", verdict: "held", detail });
  }
  if (paused) entries.push({ at, step: "changed", what: "paused" });
  return encodeTimeline(...entries);
}

function ownTimeline(
  judgements: readonly PolicyDecision[],
  shared: readonly PolicyDecision[],
  number: string,
  written: string | null,
  at: number,
): string {
  const own = judgements.filter((decision) => !shared.some((same) => isSame(same, decision)));
  const entries: TimelineEntry[] = own.map((decision) => timelineOf(decision, at));
  if (written !== null) entries.unshift({ at, step: "number", written, read: number });
  return encodeTimeline(...entries);
}
