import { composedFor, type Composed } from "../channels/draft.ts";
import { withCodes } from "../channels/sms/compose.ts";
import { newCode } from "../links/code.ts";
import { isSms } from "../model/message.ts";
import { writeTrail, type TrailEntry } from "../model/trail.ts";
import type { Acceptance, NewLinks, NewRecipient } from "../store/store.ts";
import { trailOf, type Judgement } from "./judge.ts";
import type { Prepared, RecipientVerdict } from "./prepare.ts";

export interface AddressNeeds {
  /** How long a short link leads on. */
  linkLifeMs: number;
  /** What stands before the code of a short link. */
  shortLinkBase(): string;
}

/** What a request becomes for each of its recipients. */
export type Addressed = Pick<Acceptance, "recipients" | "links" | "trail">;

/**
 * The recipients, each with what is its own: its verdict, its price, and its text where it has values or links of its own.
 * A step that all of them have behind them is written once, for all.
 */
export function addressEach(needs: AddressNeeds, prepared: Prepared, message: Acceptance["message"]): Addressed {
  const { draft } = prepared.sending;
  const { createdAt: now } = message;
  const pausedMs = message.dueAt - (draft.sendAt ?? now);
  const { targets } = prepared;
  const shared = sharedJudgements(prepared.verdicts);
  const codes: NewLinks["codes"][number][] = [];
  const recipients = draft.recipients.map(({ number, written }, place): NewRecipient => {
    const { failure, credits, heldUntil, judgements } = prepared.verdicts[place] ?? NO_VERDICT;
    const own = targets.map(newCode);
    own.forEach((code, index) => codes.push({ code, n: place + 1, k: index + 1 }));
    const trail = ownTrail(judgements, shared, number, written, now);
    return {
      number,
      failure,
      credits: failure ? 0 : credits,
      ...ownText(needs, prepared, place, own),
      ...(heldUntil === null ? {} : { dueAt: heldUntil + pausedMs }),
      ...(trail === "" ? {} : { trail }),
    };
  });
  return {
    recipients,
    links: codes.length === 0 ? null : { targets, expiresAt: now + needs.linkLifeMs, codes },
    trail: sharedTrail(prepared, shared, now, pausedMs > 0),
  };
}

const NO_VERDICT: RecipientVerdict = { judgements: [], failure: null, heldUntil: null, credits: 0 };

function ownText(
  { shortLinkBase }: AddressNeeds,
  prepared: Prepared,
  place: number,
  codes: readonly string[],
): Partial<Composed> {
  const { content, segments } = composedFor(prepared, place);
  if (codes.length > 0 && isSms(content)) return withCodes({ content, segments }, codes, shortLinkBase());
  return prepared.each[place] ?? {};
}

function sharedJudgements(verdicts: readonly RecipientVerdict[]): readonly Judgement[] {
  const [first = NO_VERDICT, ...rest] = verdicts;
  return first.judgements.filter((wanted) =>
    rest.every(({ judgements }) => judgements.some((judgement) => isSame(judgement, wanted))),
  );
}

const isSame = (a: Judgement, b: Judgement): boolean =>
  a.policy === b.policy && a.verdict === b.verdict && a.detail === b.detail && a.until === b.until;

function sharedTrail(
  { warning, sending: { draft } }: Prepared,
  shared: readonly Judgement[],
  at: number,
  paused: boolean,
): string | null {
  if (shared.length === 0 && warning === null && draft.sendAt === null && !paused) return null;
  const entries: TrailEntry[] = shared.map((judgement) => trailOf(judgement, at));
  if (warning !== null) entries.push({ at, step: "policy", policy: "template", verdict: "noted", detail: warning });
  if (draft.sendAt !== null) {
    const detail = `To be sent at ${new Date(draft.sendAt).toISOString()}`;
    entries.push({ at, step: "policy", policy: "schedule", verdict: "held", detail });
  }
  if (paused) entries.push({ at, step: "changed", what: "paused" });
  return writeTrail(...entries);
}

function ownTrail(
  judgements: readonly Judgement[],
  shared: readonly Judgement[],
  number: string,
  written: string | null,
  at: number,
): string {
  const own = judgements.filter((judgement) => !shared.some((same) => isSame(same, judgement)));
  const entries: TrailEntry[] = own.map((judgement) => trailOf(judgement, at));
  if (written !== null) entries.unshift({ at, step: "number", written, read: number });
  return writeTrail(...entries);
}
