import type { Carriers, Receipt } from "../carriers/carrier.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Clock } from "../lib/clock.ts";
import type { Account } from "../model/account.ts";
import { carrierNameOf } from "../model/catalog.ts";
import { customerStatus, isFinal, type Channel, type MessageRef } from "../model/message.ts";
import { writeTrail } from "../model/trail.ts";
import {
  NOBODY,
  type MessageStore,
  type Move,
  type ParkedReceipt,
  type Respelled,
  type Submission,
} from "../store/store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import type { Meters } from "../work/meters.ts";
import { asText, mayFallBack } from "./fall-back.ts";
import { judgeParts } from "./judge-parts.ts";
import type { Found, JustTaken } from "./just-taken.ts";

export interface ReportNeeds {
  commits: GroupCommit;
  store: Pick<MessageStore, "replanFailover" | "findMessage">;
  catalog: Catalog;
  carriers: Carriers;
  clock: Clock;
  meters: Meters;
  taken: JustTaken;
  accountOf(accountId: number): Account | null;
}

/**
 * Takes a carrier's receipt. Resolves once it is committed: as a change of state, as a repetition that changes nothing,
 * or parked until the carrier's answer to the submit tells which message it is about.
 */
export async function report(needs: ReportNeeds, receipt: Receipt): Promise<void> {
  const { commits, meters } = needs;
  const { ref } = receipt;
  // What a platform echoes is ours nearly always; a message that was only tried out is in no record.
  if (ref && ((await apply(needs, ref, receipt)) || (await needs.store.findMessage(ref)))) return;
  const known = (await needs.taken.find(receipt)) ?? (await commits.find.add(receipt));
  if (known) return void (await apply(needs, known, receipt));
  // Other spellings wait until its own submit has certainly been answered: one of them may be another message's id.
  const { respell, ...parked } = receipt;
  const late = await commits.park.add(respell ? { ...parked, otherIds: respell() } : parked);
  if (late) return void (await apply(needs, late, receipt));
  meters.receipts(receipt.carrier, "parked").inc();
}

/** Applies receipts that had come early; each is removed in the same commit that it takes effect in. */
export async function settleParked(
  needs: ReportNeeds,
  ref: Submission,
  parked: readonly ParkedReceipt[],
): Promise<void> {
  for (const { id, receipt } of parked) await apply(needs, ref, receipt, id);
}

/** Looks once more which messages parked receipts are about, and applies those of which that is known now. */
export function matchParked(
  needs: ReportNeeds,
  parked: readonly ParkedReceipt[],
): Promise<readonly (MessageRef | null)[]> {
  const { commits } = needs;
  const matches = parked.map(async ({ id, receipt }) => {
    const known = await commits.find.add(receipt);
    const respelled = known || !receipt.otherIds ? null : await commits.findRespelled.add(receipt);
    if (known) await apply(needs, known, receipt, id);
    if (respelled) await applyRespelled(needs, respelled, receipt, id);
    return known ?? respelled?.submission ?? null;
  });
  return Promise.all(matches);
}

/** Its carrier is told, so that the next receipt comes in the spelling that is known. */
function applyRespelled(
  needs: ReportNeeds,
  { submission, knownAs }: Respelled,
  receipt: Receipt,
  settles?: number,
): Promise<boolean> {
  const carrier = needs.carriers.find(submission.accountId, carrierNameOf(receipt.carrier));
  carrier?.learned?.(receipt, knownAs);
  return apply(needs, submission, { ...receipt, carrierMessageId: knownAs }, settles);
}

/** What a receipt is about. */
type Told = Submission & Partial<Found>;

/** Says whether it changed anything. */
async function apply(needs: ReportNeeds, ref: Told, said: Receipt, settles?: number): Promise<boolean> {
  const { commits, meters } = needs;
  const { accountId, requestId, n } = ref;
  // What is said of one part is judged with the others; it may be judged again, so a crash between the two steps costs nothing.
  const judged = ref.parts === undefined ? null : judgeParts(await commits.part.add(said), said);
  const receipt = judged ? { ...said, ...judged.whole } : said;
  const { carrier, state, errorCode: code, description } = receipt;
  const isBad = customerStatus(state) === "Failed";
  const part = judged ? { part: judged.part } : {};
  const network = networkOf(receipt);
  const trail = writeTrail({ at: receipt.at, step: "receipt", carrier, state, code, description, ...part, ...network });
  const note = { accountId, requestId, n, at: receipt.at, owner: NOBODY, trail, trailAlways: true, ...network };
  const settled = settles === undefined ? {} : { settles };
  if (isBad && (await turnsToText(needs, ref, receipt, trail, settles))) {
    meters.receipts(carrier, "failover").inc();
    return true;
  }
  if (isBad && (await turnsToNextRoute(needs, ref, receipt))) {
    // It is no end: the next route has its turn. The step is noted by a move that is never legal.
    await commits.move.add({ ...note, to: state, carriedBy: NEVER, ...settled });
    meters.receipts(carrier, "failover").inc();
    return true;
  }
  const change: Move = {
    ...note,
    to: state,
    // Bad news of a carrier that has been given up is no news; good news is good from wherever it comes, and is that one's.
    ...(customerStatus(state) === "Delivered" ? { carrier } : {}),
    ...(isBad
      ? {
          carriedBy: carrier,
          ...channelFence(receipt),
          refund: needs.accountOf(accountId)?.settings.refundUndelivered ?? false,
        }
      : {}),
    ...(isFinal(state) ? { failoverAt: null } : {}),
    errorCode: code,
    description,
    ...settled,
    ...(state === "delivered" ? ref.asKnown : {}),
  };
  const moved = state === "read" ? await read(needs, change) : (await commits.move.add(change)).moved;
  meters.receipts(carrier, moved ? "moved" : "repeated").inc();
  if (moved && isFinal(state)) meters.moves(state).inc();
  return moved;
}

/** Whose network the phone is in, as far as a receipt says so: it stays with the message, for what is told of it later. */
const networkOf = ({ operator, circle }: Receipt): Pick<Receipt, "operator" | "circle"> => ({
  ...(operator === undefined ? {} : { operator }),
  ...(circle === undefined ? {} : { circle }),
});

/** What is read has been delivered, also where the carrier says so later or never; mostly it has said so. */
async function read({ commits, meters }: ReportNeeds, change: Move): Promise<boolean> {
  const { trailAlways: _, ...quietly } = change;
  if ((await commits.move.add(quietly)).moved) return true;
  const delivery = { ...quietly, to: "delivered", description: "Delivered to the phone", trail: "" } as const;
  if ((await commits.move.add(delivery)).moved) meters.moves("delivered").inc();
  return (await commits.move.add(change)).moved;
}

/** One carrier may speak of a message that has gone on by another channel since. */
const channelFence = ({ channel }: Receipt): { channelIs?: Channel } =>
  channel === undefined ? {} : { channelIs: channel };

/** Neither a carrier nor a message that waits for one is ever called so. */
export const NEVER = "?";

/** An RCS message that brought its own text for this case goes on as that text, whatever was known of its submit. */
async function turnsToText(
  needs: ReportNeeds,
  ref: MessageRef,
  receipt: Receipt,
  trail: string,
  settles: number | undefined,
): Promise<boolean> {
  const { store, commits, clock } = needs;
  const { carrier, channel = "rcs" } = receipt;
  if (channel !== "rcs") return false;
  const message = await store.findMessage(ref);
  const isTheirs = message?.channel === "rcs" && message.carrier === carrier && !isFinal(message.state);
  if (!isTheirs || clock.now() >= message.expiresAt || !(await mayFallBack(needs, message))) return false;
  const step = asText(message, clock.now(), receipt.description ?? "It was not delivered");
  const { moved } = await commits.move.add({
    ...step,
    carriedBy: carrier,
    trail: trail + step.trail,
    ...(settles === undefined ? {} : { settles }),
  });
  return moved;
}

/** Whether another route is to be tried after this receipt; then it is tried at once. */
async function turnsToNextRoute(
  { store, catalog, clock }: ReportNeeds,
  ref: MessageRef,
  { carrier, channel }: Receipt,
): Promise<boolean> {
  const { routes } = catalog.of(ref.accountId);
  if (!routes.some(({ content }) => content.failoverAfterSeconds !== null)) return false;
  return store.replanFailover(ref, carrier, clock.now(), channel);
}
