import type { Outcome } from "../carriers/carrier.ts";
import { ERASED, isSealed, type Message, type MessageRef } from "../model/message.ts";
import type { TrailEntry } from "../model/trail.ts";
import type { Move } from "../store/store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import { fallbackOf } from "./fall-back.ts";
import { settleParked, type ReportNeeds } from "./report.ts";

type Taken = Extract<Outcome, { kind: "taken" }>;

interface TakenStep extends Omit<Move, "to" | keyof MessageRef> {
  carrier: string;
  taken: Taken;
  /** How long its route may stay silent before the next one is tried. */
  failoverAfterSeconds?: number | null | undefined;
}

/** Writes down that a carrier has a message, and under which ids; receipts that had come for these take effect. */
export async function noteTaken(
  needs: ReportNeeds,
  message: Message,
  { taken: { carrierMessageId, partIds }, failoverAfterSeconds, ...step }: TakenStep,
): Promise<void> {
  const parted = isParted(partIds) ? { partIds } : {};
  const silentMs = (fallbackOf(message)?.afterSeconds ?? failoverAfterSeconds ?? 0) * 1000;
  const plan = silentMs > 0 ? { failoverAt: step.at + silentMs } : {};
  const write = movesFor(needs, message).add({
    ...step,
    ...refOf(message),
    to: "submitted",
    carrierMessageId,
    ...parted,
    trailAlways: true,
    ...plan,
    // The next route may need the words once more; then they go when there is none left to try, or with the message's end.
    ...(silentMs > 0 ? {} : erasing(message)),
  });
  if (!parted.partIds) needs.taken.note(step.carrier, carrierMessageId, message, write);
  const { parked } = await write;
  if (parked.length === 0) return;
  await settleParked(needs, parted.partIds ? { ...refOf(message), parts: parted.partIds.length } : message, parked);
}

interface InDoubtStep extends Omit<Move, "to" | keyof MessageRef> {
  unknown: Extract<Outcome, { kind: "unknown" }>;
}

/** Writes down that a carrier may have a message: where it would be under a known id, receipts for that take effect. */
export async function noteInDoubt(
  needs: ReportNeeds,
  message: Message,
  { unknown: { carrierMessageId }, ...step }: InDoubtStep,
): Promise<void> {
  const known = carrierMessageId === undefined ? {} : { carrierMessageId };
  const { parked } = await needs.commits.move.add({ ...step, ...refOf(message), to: "submitting", ...known });
  return settleParked(needs, message, parked);
}

/** A carrier that gives all parts the same id reports on the whole. */
const isParted = (ids: readonly string[] | undefined): ids is readonly string[] =>
  ids !== undefined && new Set(ids).size > 1;

/** What must not lie in the store is gone from it with the move that says that a carrier has it. */
export const erasing = ({ channel, sender, content, segments }: Message): Pick<Move, "becomes"> =>
  isSealed(content) ? { becomes: { channel, sender, content: ERASED, segments } } : {};

/** What a carrier answered, as it stands on the message's trail. */
export const answerOf = (
  carrier: string,
  outcome: Outcome,
  at: number,
): Extract<TrailEntry, { step: "answer" }> & { at: number } => ({
  at,
  step: "answer",
  carrier,
  outcome: outcome.kind,
  ...("code" in outcome ? { code: outcome.code } : {}),
  ...("description" in outcome ? { description: outcome.description } : {}),
  ...(outcome.kind === "taken" ? { carrierMessageId: (outcome.partIds ?? [outcome.carrierMessageId]).join(", ") } : {}),
  ...(outcome.exchange === undefined ? {} : { exchange: outcome.exchange }),
});

/** Passwords have their own way to the store. */
export const movesFor = (
  { commits }: { commits: GroupCommit },
  { routeClass }: Pick<Message, "routeClass">,
): GroupCommit["move"] => (routeClass === "OTP" ? commits.urgentMove : commits.move);

export const refOf = ({ accountId, requestId, n }: MessageRef): MessageRef => ({ accountId, requestId, n });
