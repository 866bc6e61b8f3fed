import type { Clock } from "../../lib/clock.ts";
import type { PhoneMessage } from "../../model/phone.ts";
import type { PhoneStore } from "../../store/phones.ts";
import type { SimulatorCarrier } from "./carrier.ts";

/** Poll interval: messages received by another node are visible only in the store. */
const POLL_MS = 500;

export interface WaitDeps {
  store: PhoneStore;
  simulator: Pick<SimulatorCarrier, "arrivals">;
  clock: Clock;
}

interface PhoneFilter {
  accountId: number;
  number: string;
  /** Only messages newer than this id. */
  after: string | null;
  messageId: string | null;
  /** Only messages sent with test keys. */
  testOnly: boolean;
}

/** Newest matching message on a phone, now or within the time limit; null if none comes or the caller aborts. */
export async function waitForPhoneMessage(
  deps: WaitDeps,
  phoneFilter: PhoneFilter,
  waitMs: number,
  signal: AbortSignal,
): Promise<PhoneMessage | null> {
  const { store, clock } = deps;
  const deadline = clock.monotonic() + waitMs;
  for (;;) {
    const leftMs = deadline - clock.monotonic();
    const arrival = nextArrival(deps, phoneFilter.accountId, Math.max(0, Math.min(POLL_MS, leftMs)));
    signal.addEventListener("abort", arrival.cancel);
    const found = await newest(store, phoneFilter);
    if (found || signal.aborted || leftMs <= 0) arrival.cancel();
    await arrival.happened;
    signal.removeEventListener("abort", arrival.cancel);
    if (found || signal.aborted || leftMs <= 0) return found;
  }
}

async function newest(
  store: PhoneStore,
  { accountId, number, after, messageId, testOnly }: PhoneFilter,
): Promise<PhoneMessage | null> {
  const { rows } = await store.listPhoneMessages(accountId, number, null, messageId === null ? 1 : 50, { testOnly });
  return (
    rows.find((row) => (messageId === null || row.messageId === messageId) && (after === null || row.id > after)) ??
    null
  );
}

/** Resolves when a message reaches a phone of the account through this process, or after the poll interval. */
export function nextArrival(
  { simulator, clock }: WaitDeps,
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
