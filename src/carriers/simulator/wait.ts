import type { Clock } from "../../lib/clock.ts";
import { idFloor } from "../../lib/ids.ts";
import type { PhoneMessage } from "../../model/phone.ts";
import type { PhoneStore } from "../../store/phone-store.ts";
import type { SimulatorCarrier } from "./simulator-carrier.ts";

/** Messages that came through another node show only in the store. */
const LOOK_AGAIN_MS = 500;
/** Ids are ordered by time but not by commit, so a follower looks back over those that may have been committed late. */
const LOOK_BACK_MS = 5000;
const FOLLOW_AT_ONCE = 500;

interface Needs {
  store: PhoneStore;
  simulator: Pick<SimulatorCarrier, "arrivals">;
  clock: Clock;
}

interface Wanted {
  accountId: number;
  number: string;
  /** Only messages newer than this one. */
  after: string | null;
  messageId: string | null;
}

/** The newest message on a phone that is wanted, now or within the time; null when none comes, or when nobody waits any more. */
export async function waitForPhoneMessage(
  needs: Needs,
  wanted: Wanted,
  waitMs: number,
  gone: AbortSignal,
): Promise<PhoneMessage | null> {
  const { store, clock } = needs;
  const deadline = clock.monotonic() + waitMs;
  for (;;) {
    const leftMs = deadline - clock.monotonic();
    const arrival = nextArrival(needs, wanted.accountId, Math.max(0, Math.min(LOOK_AGAIN_MS, leftMs)));
    gone.addEventListener("abort", arrival.cancel);
    const found = await newest(store, wanted);
    if (found || gone.aborted || leftMs <= 0) arrival.cancel();
    await arrival.happened;
    gone.removeEventListener("abort", arrival.cancel);
    if (found || gone.aborted || leftMs <= 0) return found;
  }
}

async function newest(
  store: PhoneStore,
  { accountId, number, after, messageId }: Wanted,
): Promise<PhoneMessage | null> {
  const { rows } = await store.listPhoneMessages(accountId, number, null, messageId === null ? 1 : 50);
  return (
    rows.find((row) => (messageId === null || row.messageId === messageId) && (after === null || row.id > after)) ??
    null
  );
}

/**
 * Calls back with every message that reaches a phone of the account, through whichever node, each once.
 * Begins with what came after `after`, if given. The returned function ends it; a store that cannot be read ends it too, and says so.
 */
export function followPhones(
  needs: Needs,
  accountId: number,
  after: string | null,
  onMessages: (messages: PhoneMessage[]) => void,
  onFailure: () => void,
): () => void {
  const { store, clock } = needs;
  const seen = new Set<string>();
  const firstId = after ?? idFloor(clock.now());
  let stopped = false;
  let fromId = firstId;
  let arrival = nextArrival(needs, accountId, 0);

  async function run(): Promise<void> {
    while (!stopped) {
      await arrival.happened;
      arrival = nextArrival(needs, accountId, LOOK_AGAIN_MS);
      if (stopped) break;
      const floor = idFloor(clock.now() - LOOK_BACK_MS);
      const messages = await store.phoneMessagesSince(accountId, fromId, FOLLOW_AT_ONCE);
      const fresh = messages.filter((message) => message.id !== after && !seen.has(message.id));
      for (const { id } of fresh) seen.add(id);
      if (fresh.length > 0) onMessages(fresh);
      const last = messages.at(-1);
      if (last && messages.length === FOLLOW_AT_ONCE) {
        // There is more: it goes on at once from where this page ended.
        fromId = last.id;
        arrival.cancel();
      } else if (floor > fromId) fromId = floor;
      for (const id of seen) if (id < fromId) seen.delete(id);
    }
  }
  run().catch(onFailure);
  return () => {
    stopped = true;
    arrival.cancel();
  };
}

/** Resolves when a message reaches a phone of the account through this process, or after the pause. */
function nextArrival(
  { simulator, clock }: Needs,
  accountId: number,
  pauseMs: number,
): { happened: Promise<void>; cancel(): void } {
  let cancel = (): void => {};
  const happened = new Promise<void>((resolve) => {
    const onMessage = (message: PhoneMessage): void => {
      if (message.accountId === accountId) cancel();
    };
    const cancelTimer = clock.after(pauseMs, () => cancel());
    cancel = () => {
      cancelTimer();
      simulator.arrivals.off("message", onMessage);
      resolve();
    };
    simulator.arrivals.on("message", onMessage);
  });
  return { happened, cancel: () => cancel() };
}
