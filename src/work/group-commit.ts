import type { Receipt } from "../carriers/carrier.ts";
import { createBatcher, type Batcher } from "../lib/batcher.ts";
import type { Clock } from "../lib/clock.ts";
import { insist } from "../lib/insist.ts";
import type { Log } from "../lib/log.ts";
import type { Callback, VerificationHappening } from "../model/callback.ts";
import type { InboundMessage } from "../model/inbound.ts";
import type { OptOutStore } from "../store/opt-out-store.ts";
import {
  isAway,
  type Acceptance,
  type Announcement,
  type AcceptResult,
  type MessageStore,
  type Move,
  type MovedMessage,
  type MoveResult,
  type Part,
  type PartReport,
  type Respelled,
  type Store,
  type Submission,
} from "../store/store.ts";
import type { CheckResult, CodeCheck } from "../store/verify-store.ts";

const NO_LIMIT = Number.POSITIVE_INFINITY;
/** After a password, others keep to one commit at a time for so long: the next password has the store and the cores for itself. */
const PASSWORD_PASSES_MS = 250;

/** Every hot write, one batcher per kind. Callers await their own result; a batch is one commit. */
export interface GroupCommit {
  accept: Batcher<Acceptance, AcceptResult>;
  /** The same for passwords, which do not wait behind a bulk of promotions. */
  urgentAccept: Batcher<Acceptance, AcceptResult>;
  move: Batcher<Move, MoveResult>;
  /** The same for passwords, which do not wait behind a batch of promotions. */
  urgentMove: Batcher<Move, MoveResult>;
  find: Batcher<Receipt, Submission | null>;
  /** The same by the other spellings of its id. */
  findRespelled: Batcher<Receipt, Respelled | null>;
  park: Batcher<Receipt, Submission | null>;
  /** What a receipt says of one part; gives all parts as they are afterwards. */
  part: Batcher<PartReport, readonly Part[]>;
  /** What phones sent. Unlike a receipt it does not wait for a store that is away: its carrier, or its caller, tries again. */
  inbound: Batcher<InboundMessage, void>;
  /** Tries at one-time passwords. */
  check: Batcher<CodeCheck, CheckResult>;
  /** A question, not a write: which of these numbers get no promotions. */
  optedOut: Batcher<{ accountId: number; numbers: readonly string[] }, readonly boolean[]>;
  /** Whether something that has happened waits to be written because the store is away. */
  readonly isStoreAway: boolean;
  /** Resolves once nothing is waiting to be written. */
  idle(): Promise<void>;
}

/** Who is told of changes: asked before a move is written, and handed what this node is to tell afterwards. */
export interface Herald {
  announce(move: Move): Announcement | undefined;
  /** What is told of recipients that fail at the door. */
  failuresOf(request: Acceptance): readonly Callback[];
  /** Whether anybody wants to be told what becomes of an account's verifications. */
  followsVerifications(accountId: number): boolean;
  /** What is told of a verification that was begun or has ended. */
  verificationOf(
    accountId: number,
    verification: VerificationHappening["verification"],
    at: number,
  ): readonly Callback[];
  /** What is told of something that a phone sent. */
  answersOf(inbound: InboundMessage): readonly Callback[];
  /** Called when callbacks have been stored that are nobody's yet. */
  onStored(): void;
  onTold(callbacks: readonly Callback[]): void;
}

/** Who sees what has been written, and changes nothing of it: it is called on the way of every message, and must be quick. */
export interface Onlooker {
  onAccepted?(request: Acceptance): void;
  onMoved?(move: Move, message: MovedMessage): void;
  onChecked?(check: CodeCheck, result: CheckResult): void;
}

interface Needs {
  onlookers?: readonly Onlooker[];
  /** Absent where nobody is told anything. */
  herald?: Herald;
  store: MessageStore & Pick<OptOutStore, "areOptedOut"> & Pick<Store, "storeInbound" | "checkCodes">;
  clock: Clock;
  log: Log;
}

/** Every change of a message passes here, so nobody can forget to tell of one. */
function withAnnouncement(herald: Herald, step: Move): Move {
  const announce = herald.announce(step);
  return announce ? { ...step, announce } : step;
}

function withFailures(herald: Herald, request: Acceptance): Acceptance {
  if (request.recipients.every(({ failure }) => failure === null)) return request;
  const callbacks = herald.failuresOf(request);
  return callbacks.length === 0 ? request : { ...request, callbacks };
}

/** A verification that somebody follows is told of at once, and marked so that its end is told of too. */
function withFollowers(herald: Herald, request: Acceptance): Acceptance {
  const { message, recipients, verification, callbacks = [] } = request;
  const [recipient] = recipients;
  if (!verification || verification.continues || !recipient || !herald.followsVerifications(message.accountId))
    return request;
  const { accountId, requestId: id, test, createdAt } = message;
  const begun = {
    id,
    config: verification.config,
    number: recipient.number,
    state: "pending",
    checks: 0,
    test,
  } as const;
  const told = herald.verificationOf(accountId, begun, createdAt);
  return { ...request, callbacks: [...callbacks, ...told], verification: { ...verification, followed: true } };
}

export function createGroupCommit(
  { store, clock, log, herald, onlookers = [] }: Needs,
  options: { acceptBacklog: number },
): GroupCommit {
  let writesHeldUp = 0;
  /** What has already happened outside must be written: while the store is away, the batch waits and tries again. */
  async function untilWritten<T>(write: () => Promise<T>): Promise<T> {
    let isHeldUp = false;
    const mayPass = (error: unknown): boolean => {
      if (!isAway(error)) return false;
      log.warn({ err: error }, "store is away, a write waits");
      if (!isHeldUp) writesHeldUp += 1;
      isHeldUp = true;
      return true;
    };
    try {
      return await insist(clock, mayPass, write);
    } finally {
      if (isHeldUp) writesHeldUp -= 1;
    }
  }

  const monotonic = (): number => clock.monotonic();
  let passwordAt = Number.NEGATIVE_INFINITY;
  async function notingPasswords<T>(urgent: boolean, write: () => Promise<T>): Promise<T> {
    if (!urgent) return write();
    passwordAt = monotonic();
    try {
      return await write();
    } finally {
      passwordAt = monotonic();
    }
  }
  const besidePasswords = (): number => (monotonic() - passwordAt < PASSWORD_PASSES_MS ? 1 : 2);
  const inFlightOf = (urgent: boolean): number | (() => number) => (urgent ? 2 : besidePasswords);
  async function writeRequests(
    batch: readonly Acceptance[],
    urgent: boolean,
  ): Promise<readonly (AcceptResult | Error)[]> {
    const told = herald ? batch.map((request) => withFollowers(herald, withFailures(herald, request))) : batch;
    const results = await notingPasswords(urgent, () => store.accept(told, urgent));
    if (told.some(({ callbacks }) => callbacks)) herald?.onStored();
    for (const [index, request] of batch.entries()) {
      const result = results[index];
      if (result && !(result instanceof Error) && result.kind === "stored")
        for (const onlooker of onlookers) onlooker.onAccepted?.(request);
    }
    return results;
  }
  const acceptBatcher = (urgent: boolean): Batcher<Acceptance, AcceptResult> =>
    createBatcher({
      monotonic,
      weigh: (item) => item.recipients.length,
      maxBatch: 1000,
      maxLoad: options.acceptBacklog,
      inFlight: inFlightOf(urgent),
      run: (batch) => writeRequests(batch, urgent),
    });
  const accept = acceptBatcher(false);
  const urgentAccept = acceptBatcher(true);
  async function writeMoves(batch: readonly Move[], urgent: boolean): Promise<readonly (MoveResult | Error)[]> {
    // Announced anew at each try: the ids of events are in the order in which they are written.
    const write = () => store.move(herald ? batch.map((step) => withAnnouncement(herald, step)) : batch, urgent);
    const results = await notingPasswords(urgent, () => untilWritten(write));
    for (const [index, step] of batch.entries()) {
      const result = results[index];
      if (!result || result instanceof Error) continue;
      if (result.told.length > 0) herald?.onTold(result.told);
      if (result.message) for (const onlooker of onlookers) onlooker.onMoved?.(step, result.message);
    }
    return results;
  }
  const moveBatcher = (urgent: boolean): Batcher<Move, MoveResult> =>
    createBatcher({
      monotonic,
      // Whoever comes next waits for the batch before it, so a batch is no larger than what makes a commit cheap.
      maxBatch: 300,
      maxLoad: NO_LIMIT,
      inFlight: inFlightOf(urgent),
      run: (batch) => writeMoves(batch, urgent),
    });
  const move = moveBatcher(false);
  const urgentMove = moveBatcher(true);
  const find = createBatcher<Receipt, Submission | null>({
    run: (batch) => untilWritten(() => store.findSubmissions(batch)),
    maxBatch: 500,
    maxLoad: NO_LIMIT,
    inFlight: 2,
  });
  const findRespelled = createBatcher<Receipt, Respelled | null>({
    run: (batch) => untilWritten(() => store.findRespelled(batch)),
    maxBatch: 100,
    maxLoad: NO_LIMIT,
    inFlight: 2,
  });
  const part = createBatcher<PartReport, readonly Part[]>({
    run: async (batch) => {
      await untilWritten(() => store.reportParts(batch));
      // A question of its own after the commit: of two nodes that hear of two parts at once, the later one sees both.
      return untilWritten(() => store.listParts(batch));
    },
    maxBatch: 300,
    maxLoad: NO_LIMIT,
    inFlight: 2,
  });
  const park = createBatcher<Receipt, Submission | null>({
    run: (batch) => untilWritten(() => store.park(batch, clock.now())),
    maxBatch: 500,
    maxLoad: NO_LIMIT,
    inFlight: 1,
  });
  const inbound = createBatcher<InboundMessage, void>({
    run: async (batch) => {
      const callbacks = herald ? batch.flatMap((message) => herald.answersOf(message)) : [];
      await store.storeInbound(batch, callbacks, clock.now());
      if (callbacks.length > 0) herald?.onStored();
      return batch.map(() => undefined);
    },
    maxBatch: 500,
    maxLoad: options.acceptBacklog,
    inFlight: 2,
  });

  const check = createBatcher<CodeCheck, CheckResult>({
    run: async (batch) => {
      const results = await store.checkCodes(batch);
      for (const [index, item] of batch.entries()) {
        const result = results[index];
        if (result && !(result instanceof Error)) for (const onlooker of onlookers) onlooker.onChecked?.(item, result);
      }
      return results;
    },
    maxBatch: 300,
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
    findRespelled,
    park,
    part,
    inbound,
    check,
    optedOut,
    get isStoreAway() {
      return writesHeldUp > 0;
    },
    idle: async () => {
      const all = [accept, urgentAccept, move, urgentMove, find, findRespelled, park, part, inbound, check];
      await Promise.all(all.map((batcher) => batcher.idle()));
    },
  };
}
