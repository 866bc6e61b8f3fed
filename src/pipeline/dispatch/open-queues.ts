import type { RouteClass } from "../../model/message.ts";
import type { MessageStore } from "../../store/store.ts";
import { claimDue, claimUrgent } from "./claim.ts";
import { PriorityQueues } from "./priority-queues.ts";
import type { Backpressure } from "../accept/backpressure.ts";
import type { DispatchDeps } from "./dispatch-deps.ts";
import { Dispatcher } from "./dispatcher.ts";
import { transitionBatcherFor } from "./record-submitted.ts";
import { createRecovery } from "./recover.ts";

export interface OpenedQueues {
  queues: PriorityQueues;
  dispatcher: Dispatcher;
  /** Requests whose commit, with this node as the owner, is in progress. */
  reserved: Set<string>;
  backpressure(routeClass: RouteClass): Backpressure;
  /** Fills the queues with due rows. */
  claim(): Promise<void>;
  /** The same in the background. */
  fetch(): void;
  /** Fills the queue of one-time passwords, at the same time as a claim of other classes. */
  claimUrgent(): Promise<void>;
  fetchUrgent(): void;
  /** Releases rows that the store assigns to this node and that the process does not hold. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates the priority queues with the claim that fills them and the dispatcher that drains them. */
export function openQueues(
  dispatching: DispatchDeps,
  store: MessageStore,
  { laneCapacity, dispatchWindow }: { laneCapacity: number; dispatchWindow: number },
): OpenedQueues {
  const { membership, clock, log, carrierLimiter, claimYield, commits } = dispatching;
  const queues = new PriorityQueues(laneCapacity, (routeClass) => carrierLimiter.waitingCount(routeClass));
  const dispatcher = new Dispatcher({ ...dispatching, queues }, dispatchWindow);
  const reserved = new Set<string>();
  const recoverOwned = createRecovery({ ...dispatching, store, dispatcher, reserved });
  let claiming: Promise<void> | null = null;
  let more = false;
  let claimingUrgent: Promise<void> | null = null;
  /** Rows came due while a claim was running, which may have missed them. */
  let isUrgentAgain = false;
  let recovering: Promise<void> | null = null;
  let isStopped = false;

  async function fill(): Promise<void> {
    more = await claimDue({ store, queues, membership, clock, claimYield });
    dispatcher.wake();
  }
  function begin(run: () => Promise<void>): Promise<void> {
    claiming = run().finally(() => {
      claiming = null;
    });
    return claiming;
  }
  const claim = (): Promise<void> => claiming ?? begin(fill);
  async function fillUrgent(): Promise<void> {
    do {
      isUrgentAgain = false;
      await recovering?.catch(() => undefined);
      if (isStopped) return;
      await claimUrgent({ store, queues, membership, clock, claimYield });
      dispatcher.wake();
    } while (isUrgentAgain);
  }
  async function claimPasswords(): Promise<void> {
    // The last writes of a stop release rows, which this node would claim and not send.
    if (isStopped) return;
    isUrgentAgain = true;
    claimingUrgent ??= fillUrgent().finally(() => {
      claimingUrgent = null;
    });
    return claimingUrgent;
  }
  /** Never concurrent with a claim: the process does not hold claimed rows until the claim returns. */
  async function recover(): Promise<void> {
    while (claiming ?? claimingUrgent) await Promise.allSettled([claiming, claimingUrgent]);
    recovering = begin(recoverOwned).finally(() => {
      recovering = null;
    });
    await recovering;
  }
  const inBackground = (run: () => Promise<void>) => (): void => {
    run().catch((error: unknown) => log.warn({ err: error }, "claim failed"));
  };
  const fetch = inBackground(claim);
  // Rows that did not fit wait in the store. Drained queues fetch them at once and do not wait for the next run of the job.
  dispatcher.onDrained(() => {
    if (more && !claiming) fetch();
  });
  membership.onLost(() => {
    queues.clear();
    carrierLimiter.clear();
    dispatcher.clear();
  });
  return {
    queues,
    dispatcher,
    reserved,
    backpressure(routeClass) {
      const { load: movesUnwritten, waitingMs: movesLateMs } = transitionBatcherFor({ commits }, { routeClass });
      return { inFlight: dispatcher.storedInFlight(routeClass), movesUnwritten, movesLateMs };
    },
    claim,
    fetch,
    claimUrgent: claimPasswords,
    fetchUrgent: inBackground(claimPasswords),
    recover,
    async stop() {
      isStopped = true;
      await dispatcher.stop();
      // A claim that commits after the node has left the cluster would strand its rows. `fetch` and the job log its errors.
      await Promise.allSettled([claiming, claimingUrgent]);
    },
  };
}
