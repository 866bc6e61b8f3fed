import type { Outcome } from "../carriers/carrier.ts";
import { ERASED, isSealed, type Message, type MessageRef } from "../model/message.ts";
import type { TrailEntry } from "../model/trail.ts";
import type { Move } from "../store/store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import { fallbackOf } from "./fall-back.ts";
import { settleParked, type ReportNeeds } from "./report.ts";

type Taken = Extract<Outcome, { kind: "taken" }>;

/** A move without where it leads, which is for whoever writes it to say. */
export type Step = Omit<Move, "to">;

/** What is to be expected of the carrier that has taken a message. */
interface Expected {
  /** Its route may stay silent for so long before the next one is tried. */
  failoverAfterSeconds: number | null | undefined;
  /** No receipt will ask which message it is about. */
  reportsNothing?: boolean | undefined;
}

/** Writes down that a carrier has a message, and under which ids; receipts that had come for these take effect. */
export async function noteTaken(
  needs: ReportNeeds,
  message: Message,
  step: Step & { carrier: string },
  { carrierMessageId, partIds }: Taken,
  { failoverAfterSeconds, reportsNothing = false }: Expected,
): Promise<void> {
  const move: Move = { ...step, to: "submitted", carrierMessageId, trailAlways: true };
  const parted = isParted(partIds) ? partIds : null;
  if (parted) move.partIds = parted;
  const silentMs = (fallbackOf(message)?.afterSeconds ?? failoverAfterSeconds ?? 0) * 1000;
  // The next route may need the words once more; then they go when there is none left to try, or with the message's end.
  if (silentMs > 0) move.failoverAt = step.at + silentMs;
  else Object.assign(move, erasing(message));
  const write = movesFor(needs, message).add(move);
  if (!parted && !reportsNothing) needs.taken.note(step.carrier, carrierMessageId, message, write, step.known);
  const { parked } = await write;
  if (parked.length === 0) return;
  await settleParked(needs, parted ? { ...refOf(message), parts: parted.length } : message, parked);
}

/** Writes down that a carrier may have a message: where it would be under a known id, receipts for that take effect. */
export async function noteInDoubt(
  needs: ReportNeeds,
  message: Message,
  step: Step,
  { carrierMessageId }: Extract<Outcome, { kind: "unknown" }>,
): Promise<void> {
  const known = carrierMessageId === undefined ? {} : { carrierMessageId };
  const { parked } = await needs.commits.move.add({ ...step, to: "submitting", ...known });
  return settleParked(needs, message, parked);
}

/** A carrier that gives all parts the same id reports on the whole. */
const isParted = (ids: readonly string[] | undefined): ids is readonly string[] =>
  ids !== undefined && new Set(ids).size > 1;

/** What must not lie in the store is gone from it with the move that says that a carrier has it. */
export const erasing = ({ channel, sender, content, segments }: Message): Pick<Move, "becomes"> =>
  isSealed(content) ? { becomes: { channel, sender, content: ERASED, segments } } : {};

type AnswerEntry = Extract<TrailEntry, { step: "answer" }>;

/** What a carrier answered, as it stands on the message's trail. */
export function answerOf(carrier: string, outcome: Outcome, at: number): AnswerEntry {
  const entry: AnswerEntry = { at, step: "answer", carrier, outcome: outcome.kind };
  if ("code" in outcome) entry.code = outcome.code;
  if ("description" in outcome) entry.description = outcome.description;
  if (outcome.kind === "taken") entry.carrierMessageId = outcome.partIds?.join(", ") ?? outcome.carrierMessageId;
  if (outcome.exchange !== undefined) entry.exchange = outcome.exchange;
  return entry;
}

/** Passwords have their own way to the store. */
export const movesFor = (
  { commits }: { commits: GroupCommit },
  { routeClass }: Pick<Message, "routeClass">,
): GroupCommit["move"] => (routeClass === "OTP" ? commits.urgentMove : commits.move);

/** What a store need not look up of a message in hand. */
export const knownOf = ({ channel, routeClass, recipient }: Message): NonNullable<Move["known"]> => ({
  channel,
  routeClass,
  recipient,
});

export const refOf = ({ accountId, requestId, n }: MessageRef): MessageRef => ({ accountId, requestId, n });
