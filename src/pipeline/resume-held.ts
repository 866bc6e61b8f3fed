import type { Clock } from "../lib/clock.ts";
import type { Metrics } from "../metrics.ts";
import type { Account } from "../model/account.ts";
import type { DropOrSend, ResumePlan } from "../model/hold.ts";
import { FAILURES, isFinal, parseMessageId } from "../model/message.ts";
import { encodeTimeline } from "../model/timeline.ts";
import type { HoldStore, UnsentSet } from "../store/hold.ts";
import { UNOWNED, type MessageStore, type StoredMessage } from "../store/store.ts";
import { endByHeldReceipt } from "./dispatch/failover.ts";
import { eraseEncrypted, refOf } from "./dispatch/record-submitted.ts";
import type { GroupCommit } from "./group-commit.ts";

export interface ResumeHeldDeps {
  store: Pick<HoldStore, "listUnsent" | "dropPlans"> & Pick<MessageStore, "listFailovers" | "dropFailover">;
  commits: GroupCommit;
  clock: Clock;
  metrics: Metrics;
  accountOf(accountId: number): Account | null;
}

const AT_ONCE = 500;
const ERROR_CODE = "DROPPED_AFTER_RESTORE";

/**
 * Ends the messages that the operator drops after a restore, with credits and callbacks as for any end. Messages to send stay
 * as they are: the nodes treat them as after a crash. Stops early when `isCurrent` says that another node has ended the hold.
 */
export async function dropUnsent(
  deps: ResumeHeldDeps,
  plan: ResumePlan,
  isCurrent: () => Promise<boolean>,
): Promise<number> {
  const { waiting, inDoubt } = plan;
  const kinds = [
    ...(waiting === "drop" ? (["waiting"] as const) : []),
    ...(inDoubt === "drop" ? (["in doubt"] as const) : []),
  ];
  if (inDoubt === "drop") await dropPlans(deps);
  const [dropped, sent] = [chosen(plan, "drop"), chosen(plan, "send")];
  const both = ["waiting", "in doubt"] as const;
  const steps: Omit<Unsent, "now" | "createdBy">[] = [
    { kinds: both, among: { messages: dropped.messages, campaigns: [] } },
    {
      kinds: both,
      among: { messages: [], campaigns: dropped.campaigns },
      except: { messages: sent.messages, campaigns: [] },
    },
    { kinds, except: sent },
  ];
  let count = 0;
  for (const step of steps) count += await dropEach(deps, { ...step, now: plan.at, createdBy: plan.at }, isCurrent);
  return count;
}

type Unsent = Parameters<HoldStore["listUnsent"]>[0];

function chosen({ exceptions }: ResumePlan, choice: DropOrSend): UnsentSet {
  const { messages = [], campaigns = [] } = exceptions ?? {};
  return {
    messages: messages
      .filter((each) => each.choice === choice)
      .flatMap(({ messageId }) => parseMessageId(messageId) ?? []),
    campaigns: campaigns.filter((each) => each.choice === choice),
  };
}

async function dropEach(deps: ResumeHeldDeps, wanted: Unsent, isCurrent: () => Promise<boolean>): Promise<number> {
  for (let dropped = 0; ;) {
    const page = await deps.store.listUnsent(wanted, AT_ONCE);
    if (page.length === 0 || !(await isCurrent())) return dropped;
    const results = await Promise.all(page.map((message) => drop(deps, message)));
    const moved = results.filter(Boolean).length;
    if (moved === 0) throw new Error(`${page.length} messages of the backup could not be dropped`);
    dropped += moved;
  }
}

/** Without its failover, a message whose failure receipt was held back for it ends by that receipt. */
async function dropPlans(deps: ResumeHeldDeps): Promise<void> {
  const { store, clock } = deps;
  for (;;) {
    const planned = await store.listFailovers(Number.MAX_SAFE_INTEGER, AT_ONCE);
    if (planned.length === 0) break;
    for (const message of planned) {
      if (!isFinal(message.state)) await endByHeldReceipt(deps, message, clock.now(), "");
      await store.dropFailover(message);
    }
  }
  await store.dropPlans();
}

/**
 * A waiting message ends as `expired`, which a late delivery receipt still corrects: the message may have been sent since the
 * backup. One in doubt ends as `unknown`.
 */
async function drop({ commits, clock, metrics }: ResumeHeldDeps, message: StoredMessage): Promise<boolean> {
  const at = clock.now();
  const to = message.state === "submitting" ? "unknown" : "expired";
  const { moved } = await commits.move.add({
    ...refOf(message),
    kind: "ended",
    to,
    at,
    owner: UNOWNED,
    errorCode: ERROR_CODE,
    description: FAILURES[ERROR_CODE],
    failoverAt: null,
    timeline: encodeTimeline({ at, step: "changed", what: "dropped" }),
    ...eraseEncrypted(message),
  });
  if (moved) metrics.moves(to).inc();
  return moved;
}
