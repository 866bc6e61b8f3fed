import type { Receipt } from "../carriers/carrier.ts";
import { createBatcher, type Batcher } from "../lib/batcher.ts";
import type { Clock } from "../lib/clock.ts";
import { insist } from "../lib/insist.ts";
import type { Log } from "../lib/log.ts";
import type { InboundMessage } from "../model/inbound.ts";
import type { MessageRef } from "../model/message.ts";
import {
  StorageUnavailable,
  type Acceptance,
  type AcceptResult,
  type MessageStore,
  type Move,
  type MoveResult,
  type OptOutStore,
  type Store,
} from "../store/store.ts";

const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Every hot write, one batcher per kind. Callers await their own result; a batch is one commit. */
export interface GroupCommit {
  accept: Batcher<Acceptance, AcceptResult>;
  /** The same for passwords, which do not wait behind a bulk of promotions. */
  urgentAccept: Batcher<Acceptance, AcceptResult>;
  move: Batcher<Move, MoveResult>;
  /** The same for passwords, which do not wait behind a batch of promotions. */
  urgentMove: Batcher<Move, MoveResult>;
  find: Batcher<Receipt, MessageRef | null>;
  park: Batcher<Receipt, MessageRef | null>;
  /** What phones sent. Unlike a receipt it does not wait for a store that is away: its carrier, or its caller, tries again. */
  inbound: Batcher<InboundMessage, void>;
  /** A question, not a write: which of these numbers get no promotions. */
  optedOut: Batcher<{ accountId: number; numbers: readonly string[] }, readonly boolean[]>;
  /** Resolves once nothing is waiting to be written. */
  idle(): Promise<void>;
}

interface Needs {
  store: MessageStore & Pick<OptOutStore, "areOptedOut"> & Pick<Store, "storeInbound">;
  clock: Clock;
  log: Log;
}

export function createGroupCommit({ store, clock, log }: Needs, options: { acceptBacklog: number }): GroupCommit {
  /** What has already happened outside must be written: while the store is away, the batch waits and tries again. */
  const untilWritten = <T>(write: () => Promise<T>): Promise<T> =>
    insist(
      clock,
      (error) => {
        if (!(error instanceof StorageUnavailable)) return false;
        log.warn({ err: error }, "store is away, a write waits");
        return true;
      },
      write,
    );

  const accepting = {
    weigh: (item: Acceptance) => item.recipients.length,
    maxBatch: 1000,
    maxLoad: options.acceptBacklog,
    inFlight: 2,
  };
  const accept = createBatcher<Acceptance, AcceptResult>({ ...accepting, run: (batch) => store.accept(batch) });
  const urgentAccept = createBatcher<Acceptance, AcceptResult>({
    ...accepting,
    run: (batch) => store.accept(batch, true),
  });
  const moving = {
    // Whoever comes next waits for the batch before it, so a batch is no larger than what makes a commit cheap.
    maxBatch: 300,
    maxLoad: NO_LIMIT,
    inFlight: 2,
  };
  const move = createBatcher<Move, MoveResult>({ ...moving, run: (batch) => untilWritten(() => store.move(batch)) });
  const urgentMove = createBatcher<Move, MoveResult>({
    ...moving,
    run: (batch) => untilWritten(() => store.move(batch, true)),
  });
  const find = createBatcher<Receipt, MessageRef | null>({
    run: (batch) => untilWritten(() => store.findSubmissions(batch)),
    maxBatch: 500,
    maxLoad: NO_LIMIT,
    inFlight: 2,
  });
  const park = createBatcher<Receipt, MessageRef | null>({
    run: (batch) => untilWritten(() => store.park(batch, clock.now())),
    maxBatch: 500,
    maxLoad: NO_LIMIT,
    inFlight: 1,
  });
  const inbound = createBatcher<InboundMessage, void>({
    run: async (batch) => {
      await store.storeInbound(batch);
      return batch.map(() => undefined);
    },
    maxBatch: 500,
    maxLoad: options.acceptBacklog,
    inFlight: 2,
  });

  const optedOut = createBatcher<{ accountId: number; numbers: readonly string[] }, readonly boolean[]>({
    run: async (batch) => {
      const asked = batch.flatMap(({ accountId, numbers }) => numbers.map((number) => ({ accountId, number })));
      const answers = await store.areOptedOut(asked);
      let at = 0;
      return batch.map(({ numbers }) => answers.slice(at, (at += numbers.length)));
    },
    weigh: ({ numbers }) => numbers.length,
    maxBatch: 5000,
    maxLoad: NO_LIMIT,
    inFlight: 2,
  });

  return {
    accept,
    urgentAccept,
    move,
    urgentMove,
    find,
    park,
    inbound,
    optedOut,
    idle: async () => {
      const all = [accept, urgentAccept, move, urgentMove, find, park, inbound];
      await Promise.all(all.map((batcher) => batcher.idle()));
    },
  };
}
