import type { RouteClass } from "../model/message.ts";
import type { MessageStore } from "../store/store.ts";
import { claimDue } from "../work/claim.ts";
import { Lanes } from "../work/lanes.ts";
import type { Strain } from "../work/strain.ts";
import type { DispatchNeeds } from "./dispatch-needs.ts";
import { Dispatcher } from "./dispatcher.ts";
import { movesFor } from "./note-taken.ts";

export interface Sending {
  lanes: Lanes;
  dispatcher: Dispatcher;
  /** How the node keeps up with what it sends of a type. */
  strain(routeClass: RouteClass): Strain;
  /** Fills the lanes. */
  claim(): Promise<void>;
  /** The same, for whoever does not wait for it. */
  fetch(): void;
  stop(): Promise<void>;
}

/** The lanes with who fills and who empties them. */
export function openLanes(
  dispatching: DispatchNeeds,
  store: MessageStore,
  { laneCapacity, dispatchWindow }: { laneCapacity: number; dispatchWindow: number },
): Sending {
  const { membership, clock, log, gates, claimed, commits } = dispatching;
  const lanes = new Lanes(laneCapacity, (routeClass) => gates.sizeOf(routeClass));
  const dispatcher = new Dispatcher({ ...dispatching, lanes }, dispatchWindow);
  let claiming: Promise<void> | null = null;
  let more = false;

  async function fill(): Promise<void> {
    more = await claimDue({ store, lanes, membership, clock, claimed });
    dispatcher.wake();
  }
  const claim = (): Promise<void> => {
    claiming ??= fill().finally(() => {
      claiming = null;
    });
    return claiming;
  };
  const fetch = (): void => {
    claim().catch((error: unknown) => log.warn({ err: error }, "claiming failed"));
  };
  // Rows that did not fit wait in the store; when the lanes run empty they are fetched at once, not at the next turn of the job.
  dispatcher.onHungry(() => {
    if (more && !claiming) fetch();
  });
  membership.onLost(() => {
    lanes.clear();
    gates.clear();
    dispatcher.clear();
  });
  return {
    lanes,
    dispatcher,
    strain(routeClass) {
      const { load: movesUnwritten, waitingMs: movesLateMs } = movesFor({ commits }, { routeClass });
      return { inFlight: dispatcher.departed(routeClass), movesUnwritten, movesLateMs };
    },
    claim,
    fetch,
    async stop() {
      await dispatcher.stop();
      // Rows claimed after the node has left would be nobody's for ever. Whether it succeeds, `fetch` and the job have told.
      await claiming?.catch(() => undefined);
    },
  };
}
