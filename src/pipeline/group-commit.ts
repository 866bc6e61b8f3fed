import { createBatcher, type Batcher } from "../lib/batcher.ts";
import type { Clock } from "../lib/clock.ts";
import { retryUntil } from "../lib/async.ts";
import type { Log } from "../lib/log.ts";
import type { Callback, VerificationEvent } from "../model/callback.ts";
import type { InboundMessage } from "../model/inbound.ts";
import { tooLate } from "../model/problem.ts";
import type { Receipt } from "../model/receipt.ts";
import type { OptOutStore } from "../store/opt-outs.ts";
import type { SearchChanges } from "./search-changes.ts";
import type { Stop, StopQuestion, StopStore } from "../store/stops.ts";
import {
  isAway,
  type Acceptance,
  type AcceptResult,
  type MessageStore,
  type Part,
  type PartReport,
  type Respelled,
  type Store,
  type SubmittedMessage,
} from "../store/store.ts";
import type { CallbackPlan, ChangedMessage, Transition, TransitionResult } from "../store/transition.ts";
import type { CheckResult, CodeCheck } from "../store/verifications.ts";

const NO_LIMIT = Number.POSITIVE_INFINITY;
/** For this long after a password, other classes use one commit at a time, so that the next password finds the store idle. */
const PASSWORD_PRIORITY_MS = 250;

/** Test traffic has an opt-out list of its own. */
interface OptOutQuestion {
  accountId: number;
  numbers: readonly string[];
  test: boolean;
}

/**
 * Group commit: one batcher per kind of hot write or read. Callers await their own result; a batch is one commit. Webhooks of a
 * transition are planned and stored in the same commit. Next: src/lib/batcher.ts, Next: src/store/sqlite/thread.ts,
 * Next: src/store/postgres/accept.ts, Next: src/webhooks/plan.ts
 */
export interface GroupCommit {
  accept: Batcher<Acceptance, AcceptResult>;
  /** Separate for passwords, which do not wait behind a bulk of promotions. */
  urgentAccept: Batcher<Acceptance, AcceptResult>;
  move: Batcher<Transition, TransitionResult>;
  /** Separate for passwords, which do not wait behind a batch of promotions. */
  urgentMove: Batcher<Transition, TransitionResult>;
  find: Batcher<Receipt, SubmittedMessage | null>;
  /** Finds a submission by alternate formats of the message id. */
  findByAlternateId: Batcher<Receipt, Respelled | null>;
  storeUnmatched: Batcher<Receipt, SubmittedMessage | null>;
  /** Stores the receipt of one part; returns all parts of the message. */
  part: Batcher<PartReport, readonly Part[]>;
  /** Inbound messages. Unlike receipts they do not wait for an unavailable store: the carrier or the caller retries. */
  inbound: Batcher<InboundMessage, void>;
  /** Checks of one-time passwords. */
  check: Batcher<CodeCheck, CheckResult>;
  /** Reads which numbers have opted out of promotions. */
  optedOut: Batcher<OptOutQuestion, readonly boolean[]>;
  /** Reads opt-outs and campaign states that stop a message. */
  stops: Batcher<StopQuestion, Stop>;
  /** A write waits because the store is unavailable. */
  readonly isStoreUnavailable: boolean;
  /** Resolves once no write is waiting. */
  idle(): Promise<void>;
}

/** Plans webhook deliveries before a transition is written, and takes those of this node afterwards. */
export interface WebhookPlanner {
  planTransition(step: Transition): CallbackPlan | undefined;
  /** Webhooks of recipients that fail at acceptance, and callbacks that report the acceptance itself. */
  planAcceptance(request: Acceptance): readonly Callback[];
  /** True if the account has a webhook for verifications. */
  followsVerifications(accountId: number): boolean;
  /** Webhooks of a verification that began or ended. */
  planVerification(accountId: number, verification: VerificationEvent["verification"], at: number): readonly Callback[];
  /** Webhooks of an inbound message. */
  planInbound(inbound: InboundMessage): readonly Callback[];
  /** Called when unowned callbacks were stored. */
  onUnownedCallbacks(): void;
  /** Called with stored callbacks that this node delivers. */
  onOwnCallbacks(callbacks: readonly Callback[]): void;
}

/** Observes committed writes. It runs on the message path, so it must be quick. */
export interface Observer {
  onAccepted?(request: Acceptance): void;
  onMoved?(move: Transition, message: ChangedMessage): void;
  onInbound?(inbound: InboundMessage): void;
  onChecked?(check: CodeCheck, result: CheckResult): void;
}

interface GroupCommitDeps {
  /** Absent where messages are not indexed for the search. */
  searchChanges?: Pick<SearchChanges, "noteAccepted" | "noteTransitions">;
  observers?: readonly Observer[];
  /** Absent where no webhooks are sent. */
  webhookPlanner?: WebhookPlanner;
  store: MessageStore & Pick<OptOutStore, "areOptedOut"> & StopStore & Pick<Store, "storeInbound" | "checkCodes">;
  clock: Clock;
  log: Log;
}

/** Every transition passes here, so no webhook is forgotten. */
function withWebhooks(webhookPlanner: WebhookPlanner, step: Transition): Transition {
  const callbacks = webhookPlanner.planTransition(step);
  return callbacks && step.kind !== "timeline" ? { ...step, callbacks } : step;
}

function withAcceptance(webhookPlanner: WebhookPlanner, request: Acceptance): Acceptance {
  const { message, recipients } = request;
  const isReported = message.callback?.states.includes("accepted") === true;
  if (!isReported && recipients.every(({ failure }) => failure === null)) return request;
  const callbacks = webhookPlanner.planAcceptance(request);
  return callbacks.length === 0 ? request : { ...request, callbacks };
}

/** Plans the webhooks of a new verification, and marks it so that its end is reported too. */
function withFollowers(webhookPlanner: WebhookPlanner, request: Acceptance): Acceptance {
  const { message, recipients, verification, callbacks = [] } = request;
  const [recipient] = recipients;
  if (!verification || verification.continues || !recipient || !webhookPlanner.followsVerifications(message.accountId))
    return request;
  const { accountId, requestId: id, test, createdAt } = message;
  const begun = {
    id,
    config: verification.config,
    number: recipient.number,
    state: "pending",
    checks: 0,
    test: test || verification.fixed,
  } as const;
  const planned = webhookPlanner.planVerification(accountId, begun, createdAt);
  return { ...request, callbacks: [...callbacks, ...planned], verification: { ...verification, followed: true } };
}

export function createGroupCommit(
  { store, clock, log, webhookPlanner, searchChanges, observers = [] }: GroupCommitDeps,
  options: { acceptBacklog: number },
): GroupCommit {
  let delayedWrites = 0;
  /** Facts that have happened outside must be written: while the store is unavailable, the batch waits and retries. */
  async function untilWritten<T>(write: () => Promise<T>): Promise<T> {
    let isDelayed = false;
    const isTransient = (error: unknown): boolean => {
      if (!isAway(error)) return false;
      log.warn({ err: error }, "database unavailable, retrying write");
      if (!isDelayed) delayedWrites += 1;
      isDelayed = true;
      return true;
    };
    try {
      return await retryUntil(clock, isTransient, write);
    } finally {
      if (isDelayed) delayedWrites -= 1;
    }
  }

  const monotonic = (): number => clock.monotonic();
  let passwordAt = Number.NEGATIVE_INFINITY;
  async function notePasswordTime<T>(urgent: boolean, write: () => Promise<T>): Promise<T> {
    if (!urgent) return write();
    passwordAt = monotonic();
    try {
      return await write();
    } finally {
      passwordAt = monotonic();
    }
  }
  const concurrentCommits = (): number => (monotonic() - passwordAt < PASSWORD_PRIORITY_MS ? 1 : 2);
  const inFlightOf = (urgent: boolean): number | (() => number) => (urgent ? 2 : concurrentCommits);
  /** After a stall of the process, requests whose callers have timed out are not written any more. */
  async function writeInTime(
    batch: readonly Acceptance[],
    urgent: boolean,
  ): Promise<readonly (AcceptResult | Error)[]> {
    if (!batch.some((request) => request.isLate?.())) return writeRequests(batch, urgent);
    const late = new Set(batch.filter((request) => request.isLate?.()));
    const inTime = batch.filter((request) => !late.has(request));
    const results = inTime.length === 0 ? [] : [...(await writeRequests(inTime, urgent))];
    return batch.map((request) => (late.has(request) ? tooLate() : (results.shift() ?? tooLate())));
  }
  async function writeRequests(
    batch: readonly Acceptance[],
    urgent: boolean,
  ): Promise<readonly (AcceptResult | Error)[]> {
    const planned = webhookPlanner
      ? batch.map((request) => withFollowers(webhookPlanner, withAcceptance(webhookPlanner, request)))
      : batch;
    const results = await notePasswordTime(urgent, () => store.accept(planned, urgent));
    // Before the callers are answered: a search after the answer finds the message.
    const noted = searchChanges?.noteAccepted(planned);
    if (noted)
      await noted.catch((error: unknown) => log.warn({ err: error }, "search index not notified of late message"));
    if (planned.some(({ callbacks }) => callbacks)) webhookPlanner?.onUnownedCallbacks();
    for (const [index, request] of batch.entries()) {
      const result = results[index];
      if (result && !(result instanceof Error) && result.kind === "stored")
        for (const observer of observers) observer.onAccepted?.(request);
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
      run: (batch) => writeInTime(batch, urgent),
    });
  const accept = acceptBatcher(false);
  const urgentAccept = acceptBatcher(true);
  async function writeTransitions(
    batch: readonly Transition[],
    urgent: boolean,
  ): Promise<readonly (TransitionResult | Error)[]> {
    let isRepeat = false;
    const write = async () => {
      // First, so that no change is without its note. A note without a change costs a search a little.
      const noted = searchChanges?.noteTransitions(batch);
      // Search must not keep facts about sends from being written. While the store is away, both wait.
      await noted?.catch((error: unknown) => {
        if (isAway(error)) throw error;
        log.warn({ err: error }, "search index not notified of late change");
      });
      const steps = isRepeat ? batch.map((step): Transition => ({ ...step, repeated: true })) : batch;
      isRepeat = true;
      // Planned again at each retry: event ids are in the order of writing.
      return store.transition(webhookPlanner ? steps.map((step) => withWebhooks(webhookPlanner, step)) : steps, urgent);
    };
    const results = await notePasswordTime(urgent, () => untilWritten(write));
    for (const [index, step] of batch.entries()) {
      const result = results[index];
      if (!result || result instanceof Error) continue;
      if (result.callbacks.length > 0) webhookPlanner?.onOwnCallbacks(result.callbacks);
      if (result.message) for (const observer of observers) observer.onMoved?.(step, result.message);
    }
    return results;
  }
  const moveBatcher = (urgent: boolean): Batcher<Transition, TransitionResult> =>
    createBatcher({
      monotonic,
      // The next batch waits for this one, so a batch is only as large as a cheap commit.
      maxBatch: 300,
      maxLoad: NO_LIMIT,
      inFlight: inFlightOf(urgent),
      run: (batch) => writeTransitions(batch, urgent),
    });
  const move = moveBatcher(false);
  const urgentMove = moveBatcher(true);
  const find = createBatcher<Receipt, SubmittedMessage | null>({
    run: (batch) => untilWritten(() => store.findSubmissions(batch)),
    maxBatch: 500,
    maxLoad: NO_LIMIT,
    inFlight: 2,
  });
  const findByAlternateId = createBatcher<Receipt, Respelled | null>({
    run: (batch) => untilWritten(() => store.findRespelled(batch)),
    maxBatch: 100,
    maxLoad: NO_LIMIT,
    inFlight: 2,
  });
  const part = createBatcher<PartReport, readonly Part[]>({
    run: async (batch) => {
      await untilWritten(() => store.reportParts(batch));
      // Read after the commit: of two nodes that receive two parts at once, the later one sees both.
      return untilWritten(() => store.listParts(batch));
    },
    maxBatch: 300,
    maxLoad: NO_LIMIT,
    inFlight: 2,
  });
  const storeUnmatched = createBatcher<Receipt, SubmittedMessage | null>({
    run: (batch) => untilWritten(() => store.storeUnmatched(batch, clock.now())),
    maxBatch: 500,
    maxLoad: NO_LIMIT,
    inFlight: 1,
  });
  const inbound = createBatcher<InboundMessage, void>({
    run: async (batch) => {
      const callbacks = webhookPlanner ? batch.flatMap((message) => webhookPlanner.planInbound(message)) : [];
      await store.storeInbound(batch, callbacks, clock.now());
      if (callbacks.length > 0) webhookPlanner?.onUnownedCallbacks();
      for (const message of batch) for (const observer of observers) observer.onInbound?.(message);
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
        if (result && !(result instanceof Error)) for (const observer of observers) observer.onChecked?.(item, result);
      }
      return results;
    },
    maxBatch: 300,
    maxLoad: options.acceptBacklog,
    inFlight: 2,
  });

  const optedOut = createBatcher<OptOutQuestion, readonly boolean[]>({
    run: async (batch) => {
      const asked = batch.flatMap(({ accountId, numbers, test }) =>
        numbers.map((number) => ({ accountId, number, test })),
      );
      const answers = await store.areOptedOut(asked);
      let at = 0;
      return batch.map(({ numbers }) => answers.slice(at, (at += numbers.length)));
    },
    weigh: ({ numbers }) => numbers.length,
    maxBatch: 5000,
    maxLoad: NO_LIMIT,
    inFlight: 2,
  });

  const stops = createBatcher<StopQuestion, Stop>({
    run: (batch) => store.findStops(batch),
    maxBatch: 1000,
    maxLoad: NO_LIMIT,
    inFlight: 2,
  });

  const writing = {
    accept,
    urgentAccept,
    move,
    urgentMove,
    find,
    findByAlternateId,
    storeUnmatched,
    part,
    inbound,
    check,
  };
  return {
    ...writing,
    optedOut,
    stops,
    get isStoreUnavailable() {
      return delayedWrites > 0;
    },
    idle: async () => {
      await Promise.all(Object.values(writing).map((batcher) => batcher.idle()));
    },
  };
}
