import { countOf } from "../lib/text.ts";
import { carrierNameOf, PAUSED_MS } from "../model/catalog.ts";
import type { LedgerEntry } from "../model/credits.ts";
import type { InboundMessage } from "../model/inbound.ts";
import type { Click } from "../model/link.ts";
import { customerStatus, isFinal, type Channel, type State } from "../model/message.ts";
import { decodeTimeline, type SkippedRoute, type TimelineEntry } from "../model/timeline.ts";
import type { StoredMessage } from "../store/store.ts";
import { describeAnswer } from "./inbound/describe-answer.ts";

/** The stored history of a message. */
interface History {
  message: StoredMessage;
  clicks: readonly (Pick<Click, "at" | "agent"> & { k: number })[];
  ledger: readonly LedgerEntry[];
  /** Inbound answers of the recipient. */
  answers: readonly Pick<InboundMessage, "at" | "content">[];
  /** Webhook deliveries, past and planned. */
  callbacks?: readonly TimelineCallback[];
}

/** One webhook event for one endpoint. */
export interface TimelineCallback {
  at: number;
  /** The endpoint's name. */
  endpoint: string;
  /** `message_status read` and its like. */
  event: string;
  /** Time of the next attempt; null unless it waits. */
  nextTryAt: number | null;
  attempts: readonly { at: number; status: number | null; reason: string | null; nextTryAt: number | null }[];
}

export const CUSTOMER_EVENTS = [
  "accepted", "held", "resumed", "postponed", "sent", "rerouted", "enroute",
  "delivered", "read", "failed", "unconfirmed", "cancelled", "clicked", "replied", "simulated",
] as const; // prettier-ignore

interface CustomerEvent {
  at: number;
  event: (typeof CUSTOMER_EVENTS)[number];
  detail: string;
}

interface OperatorStep {
  at: number;
  step: string;
  what: string;
  /** The exchange with the carrier, in the form of its protocol. */
  exchange: string | null;
  outcome: StepOutcome;
}

/** `failed`: the message or its callback ends here without success. `warning`: it is later, or sent another way. */
export const STEP_OUTCOMES = ["ok", "warning", "failed"] as const;
type StepOutcome = (typeof STEP_OUTCOMES)[number];

type Answer = Extract<TimelineEntry, { step: "answer" }>;
type Attempt = Extract<TimelineEntry, { step: "attempt" }>;
type Failover = Extract<TimelineEntry, { step: "failover" }>;
type ReceiptStep = Extract<TimelineEntry, { step: "receipt" }>;

/** The timeline for customers: events and next steps, without internals. */
export function renderCustomerTimeline({
  message,
  clicks,
  answers,
}: Omit<History, "ledger" | "callbacks">): CustomerEvent[] {
  const timeline = entriesOf(message);
  return inTime([
    { at: message.createdAt, event: "accepted", detail: sizeOf(message, timeline) },
    ...timeline.flatMap((entry) => eventOf(entry) ?? []),
    ...firstOnTheWay(timeline),
    ...failureBeforeDelivery(message, timeline),
    ...endFor(message, timeline),
    ...readingOf(message, timeline),
    ...clicks
      .filter(({ agent }) => agent === "person")
      .map((click): CustomerEvent => ({ at: click.at, event: "clicked", detail: `Link ${click.k}` })),
    ...answers.map(({ at, content }): CustomerEvent => ({ at, event: "replied", detail: describeAnswer(content) })),
  ]);
}

/** The timeline for operators: every step with its reason and the exchange with the carrier. */
export function renderOperatorTimeline({ message, clicks, ledger, answers, callbacks = [] }: History): OperatorStep[] {
  const { createdAt: at, recipient, routeClass } = message;
  const timeline = entriesOf(message);
  const accepted = `Accepted for ${recipient} as ${routeClass}: ${sizeOf(message, timeline)}`;
  let shown: readonly SkippedRoute[] = [];
  const steps = reportedEntries(timeline).flatMap((entry) => {
    if (entry.step !== "attempt") {
      shown = [];
      return [stepOf(entry)];
    }
    // A second carrier in the same attempt repeats the routes that were skipped for the first.
    const before = shown;
    shown = entry.passedOver;
    const fresh = entry.passedOver.filter((each) => !before.some((same) => isSame(same, each)));
    return [
      ...fresh.map((each) => step(entry.at, "passed over", passedOverText(each))),
      ...(entry.simulated ? [step(entry.at, "simulated", simulatedText(entry), "warning")] : []),
      stepOf(entry),
    ];
  });
  // The end shows reasons that have no entry of their own, such as expiry.
  const end = endedAt(message, timeline);
  return inTime([
    step(at, "accepted", accepted),
    ...steps,
    ...ledger.map((entry) => step(entry.at, "credits", ledgerText(entry, message))),
    ...(end === null ? [] : [step(end, "end", endText(message, timeline), outcomeOf(message.state))]),
    ...clicks.map((click) => step(click.at, "click", `${AGENTS[click.agent]} link ${click.k}`)),
    ...answers.map((each) => step(each.at, "reply", `The recipient ${lowerFirst(describeAnswer(each.content))}`)),
    ...callbacks.flatMap(callbackSteps),
  ]);
}

function callbackSteps({ at, endpoint, event, nextTryAt, attempts }: TimelineCallback): OperatorStep[] {
  const who = `Endpoint ${JSON.stringify(endpoint)}`;
  if (attempts.length === 0 && nextTryAt !== null)
    return [step(at, "callback", `${who} is sent ${event} at ${moment(nextTryAt)}`)];
  return attempts.map((attempt) => {
    if (attempt.reason === null)
      return step(attempt.at, "callback", `${who} received ${event}: response ${attempt.status}`);
    const next = attempt.nextTryAt === null ? "; it is not tried again" : nextTry(attempt.nextTryAt);
    const outcome = attempt.nextTryAt === null ? "failed" : "warning";
    return step(attempt.at, "callback", `${who} did not receive ${event}: ${attempt.reason}${next}`, outcome);
  });
}

/** Steps of the same moment stay in the order they are given. */
const inTime = <T extends { at: number }>(steps: readonly T[]): T[] => steps.toSorted((a, b) => a.at - b.at);

/** Segments and credits. Only messages accepted as SMS have segments, not SMS fallbacks. */
function sizeOf({ channel, segments, credits }: StoredMessage, timeline: readonly TimelineEntry[]): string {
  const isBornText =
    channel === "sms" && !timeline.some((entry) => entry.step === "failover" && entry.becomes !== undefined);
  return `${isBornText ? `${countOf(segments, "segment")}, ` : ""}${countOf(credits, "credit")}`;
}

/** Entries are in the order of writing. Node clocks differ slightly, so no entry is shown earlier than the one before it. */
function inOrderOfArrival(entries: readonly TimelineEntry[], createdAt: number): TimelineEntry[] {
  let latest = createdAt;
  return entries.map((entry) => {
    latest = Math.max(latest, entry.at);
    return entry.at === latest ? entry : { ...entry, at: latest };
  });
}

/** The stored entries, and the pause of a campaign that was paused when the message was accepted. */
function entriesOf({ timeline, createdAt, dueAt, state }: StoredMessage): TimelineEntry[] {
  const entries = inOrderOfArrival(decodeTimeline(timeline), createdAt);
  const isPaused = state === "scheduled" && dueAt >= PAUSED_MS;
  if (!isPaused || entries.some((entry) => entry.step === "changed" && entry.what === "paused")) return entries;
  return [...entries, { at: createdAt, step: "changed", what: "paused" }];
}

function eventOf(entry: TimelineEntry): CustomerEvent | null {
  const { at } = entry;
  switch (entry.step) {
    case "policy":
      return entry.verdict === "held" ? { at, event: "held", detail: entry.detail } : null;
    case "attempt":
      if (entry.simulated) return { at, event: "simulated", detail: "Sent to the simulator: no phone gets it" };
      return entry.carrier === NONE && entry.passedOver.length > 0
        ? { at, event: "postponed", detail: "No network can be reached; it is tried again" }
        : null;
    case "answer":
      return answerFor(entry);
    case "failover":
      return turnFor(entry);
    case "changed":
      if (entry.what === "paused") return { at, event: "held", detail: "Its campaign is paused" };
      return entry.what === "resumed" ? { at, event: "resumed", detail: "Its campaign goes on" } : null;
    case "number":
    case "receipt":
    case "unreported":
    case "arrived":
    default:
      return null;
  }
}

/** The carrier of an attempt that found none. */
const NONE = "none";
const GIVEN_UP = "No delivery in time";

const AS_MESSAGE: Record<Channel, string> = {
  sms: "a text message",
  rcs: "an RCS message",
  chatapp: "a chat-app message",
  email: "an e-mail",
};

function turnFor({ at, reason: why, becomes }: Failover): CustomerEvent | null {
  if (becomes) return { at, event: "rerouted", detail: `It is sent as ${AS_MESSAGE[becomes]} instead: ${why}` };
  if (why !== GIVEN_UP) return null;
  return { at, event: "rerouted", detail: "No delivery in time; it is sent another way" };
}

const POSTPONED: Readonly<Record<string, string>> = {
  busy: "The network is busy",
  down: "The network cannot be reached",
  unknown: "The network did not say whether it has the message",
};

function answerFor({ at, outcome, nextTryAt }: Answer): CustomerEvent | null {
  if (outcome === "taken") return { at, event: "sent", detail: "Handed to the network" };
  const why = POSTPONED[outcome];
  return why === undefined ? null : { at, event: "postponed", detail: why + nextTry(nextTryAt) };
}

const nextTry = (at: number | undefined): string => (at === undefined ? "" : `; the next look is at ${moment(at)}`);

/** Carriers repeat and reorder receipts: `enroute` is shown once, and only before the end. */
function firstOnTheWay(timeline: readonly TimelineEntry[]): CustomerEvent[] {
  const first = timeline.find((entry) => entry.step === "receipt");
  return first?.state === "enroute" ? [{ at: first.at, event: "enroute", detail: "On its way to the phone" }] : [];
}

/** An `expired` receipt before a late delivery is shown as a failure. */
function failureBeforeDelivery(message: StoredMessage, timeline: readonly TimelineEntry[]): CustomerEvent[] {
  if (customerStatus(message.state) !== "Delivered") return [];
  const deliveredAt = timeline.findIndex((entry) => entry.step === "receipt" && entry.state === "delivered");
  const givenUp = timeline.findLastIndex((entry) => entry.step === "failover");
  const end = timeline.find(
    (entry, place): entry is ReceiptStep =>
      entry.step === "receipt" &&
      entry.state === "expired" &&
      entry.carrier === message.carrier &&
      place > givenUp &&
      place < deliveredAt,
  );
  return end ? [{ at: end.at, event: "failed", detail: end.description ?? "The network gave up" }] : [];
}

function endFor(message: StoredMessage, timeline: readonly TimelineEntry[]): CustomerEvent[] {
  const { state, description, errorCode } = message;
  const at = endedAt(message, timeline);
  if (at === null) return [];
  if (state === "unknown")
    return [{ at, event: "unconfirmed", detail: description ?? "The carrier does not know whether it arrived" }];
  if (customerStatus(state) === "Delivered") {
    const words = state === "read" ? deliveryOf(timeline)?.description : description;
    return [{ at, event: "delivered", detail: words ?? "Delivered to the phone" }];
  }
  const event = state === "cancelled" ? "cancelled" : "failed";
  return [{ at, event, detail: description ?? errorCode ?? state }];
}

/** A read event comes after the delivery, whatever the carrier's clock says. */
function readingOf(message: StoredMessage, timeline: readonly TimelineEntry[]): CustomerEvent[] {
  if (message.state !== "read") return [];
  const first = timeline.find((entry) => entry.step === "receipt" && entry.state === "read");
  const at = Math.max(first?.at ?? 0, endedAt(message, timeline) ?? 0);
  return [{ at, event: "read", detail: message.description ?? "Read on the phone" }];
}

/** The delivery receipt of a read message; null when the carrier reported only the read. */
const deliveryOf = (timeline: readonly TimelineEntry[]): ReceiptStep | null =>
  reportedEntries(timeline).find(
    (entry): entry is ReceiptStep => entry.step === "receipt" && entry.state === "delivered",
  ) ?? null;

/** The timeline without implied deliveries, which were derived from a read receipt. */
const reportedEntries = (timeline: readonly TimelineEntry[]): readonly TimelineEntry[] =>
  timeline.filter((entry) => !(entry.step === "receipt" && entry.state === "delivered" && isImplied(entry, timeline)));

const isImplied = ({ at, carrier, description }: ReceiptStep, timeline: readonly TimelineEntry[]): boolean =>
  timeline.some(
    (entry) =>
      entry.step === "receipt" &&
      entry.state === "read" &&
      entry.at === at &&
      entry.carrier === carrier &&
      entry.description === description,
  );

/** The time of the end; null before it. */
function endedAt({ state, doneAt, expiresAt }: StoredMessage, timeline: readonly TimelineEntry[]): number | null {
  if (state !== "unknown") return isFinal(state) ? (doneAt ?? expiresAt) : null;
  const last = timeline.findLast(
    (entry) =>
      entry.step === "unreported" ||
      (entry.step === "changed" && entry.what === "dropped") ||
      (entry.step === "receipt" && entry.state === state),
  );
  return last?.at ?? expiresAt;
}

/** A read message ended with its delivery. */
function endText({ state, description, errorCode }: StoredMessage, timeline: readonly TimelineEntry[]): string {
  if (state !== "read") return `Ended as ${state}${reason(description, errorCode)}`;
  const delivery = deliveryOf(timeline);
  return `Ended as delivered${reason(delivery?.description ?? null, delivery?.code ?? null)}`;
}

const step = (
  at: number,
  name: string,
  what: string,
  outcome: StepOutcome = "ok",
  exchange: string | null = null,
): OperatorStep => ({ at, step: name, what, exchange, outcome });

/** An unconfirmed message may have arrived, and a cancelled one was to end so. */
function outcomeOf(state: State): StepOutcome {
  if (state === "unknown") return "warning";
  return customerStatus(state) === "Failed" && state !== "cancelled" ? "failed" : "ok";
}

const POLICY_OUTCOMES = { passed: "ok", noted: "warning", held: "warning", refused: "failed" } as const;

function outcomeOfEntry(entry: TimelineEntry): StepOutcome {
  switch (entry.step) {
    case "policy":
      return POLICY_OUTCOMES[entry.verdict];
    case "attempt":
      if (entry.carrier !== NONE) return "ok";
      return entry.passedOver.length > 0 ? "warning" : "failed";
    case "answer":
      if (entry.outcome === "taken") return "ok";
      return entry.outcome === "refused" ? "failed" : "warning";
    case "receipt":
      return outcomeOf(entry.part?.state ?? entry.state);
    case "failover":
    case "unreported":
      return "warning";
    case "changed":
      return entry.what === "dropped" ? "warning" : "ok";
    case "number":
    case "arrived":
    default:
      return "ok";
  }
}

const CHANGED = {
  paused: "Paused with its campaign",
  resumed: "Resumed with its campaign",
  cancelled: "Cancelled before it was sent",
  revoked: "Called back from the carrier, which accepted that. A phone that has it by then keeps it",
  dropped: "Dropped after a restore: it may have been sent since the backup",
};

const VERDICTS = { passed: "Passed", held: "Held by", refused: "Refused by", noted: "Noted by" };

const stepOf = (entry: TimelineEntry): OperatorStep =>
  step(
    entry.at,
    entry.step,
    describeEntry(entry),
    outcomeOfEntry(entry),
    entry.step === "answer" ? (entry.exchange ?? null) : null,
  );

function describeEntry(entry: TimelineEntry): string {
  switch (entry.step) {
    case "number":
      return `The number ${JSON.stringify(entry.written)} was read as ${entry.read}`;
    case "policy":
      return `${VERDICTS[entry.verdict]} "${entry.policy}": ${entry.detail}`;
    case "attempt":
      return attemptText(entry);
    case "answer":
      return `Carrier ${nameOf(entry)} ${entry.late ? "says late that it " : ""}${answerText(entry)}`;
    case "receipt":
      return `Carrier ${nameOf(entry)} reports ${partText(entry)}${entry.state}${reason(entry.description, entry.code)}${networkText(entry)}${carrierTimeText(entry)}`;
    case "failover":
      return turnText(entry);
    case "unreported":
      return `No receipt of ${nameOf(entry)} came in time`;
    case "arrived":
      return `Arrived by ${entry.by} from ${entry.from}`;
    case "changed":
    default:
      return CHANGED[entry.what];
  }
}

const nameOf = ({ carrier }: { carrier: string }): string => `"${carrierNameOf(carrier)}"`;

const carrierTimeText = ({ carrierAt }: ReceiptStep): string =>
  carrierAt === undefined ? "" : `; by the carrier's clock at ${moment(carrierAt)}`;

const networkText = ({ operator, circle }: ReceiptStep): string => {
  const network = [operator, circle].filter((word) => word !== undefined).join(", ");
  return network === "" ? "" : `, in the network of ${network}`;
};

const partText = ({ part }: ReceiptStep): string =>
  part ? `part ${part.index} of ${part.total} as ${part.state}, which makes all of it ` : "";

function turnText(entry: Failover): string {
  const why = lowerFirst(entry.reason);
  if (entry.becomes === undefined) return `Carrier ${nameOf(entry)} given up: ${why}`;
  // A message that no carrier has taken has no carrier to name.
  const before = entry.carrier === "" ? "Sent" : `Carrier ${nameOf(entry)} given up, and sent`;
  return `${before} as ${AS_MESSAGE[entry.becomes]} instead: ${why}`;
}

function attemptText(entry: Attempt): string {
  if (entry.carrier !== NONE) return `Handed to carrier ${nameOf(entry)} by route "${entry.route}"`;
  return entry.passedOver.length > 0 ? "No carrier can take it now; it is tried again" : "No route takes it";
}

const simulatedText = ({ route }: Attempt): string =>
  `Route "${route}" sends live messages to the simulator although the account has a real carrier: no phone gets it`;

function passedOverText({ route, carrier, reason: why }: SkippedRoute): string {
  const who = route === "" ? `Carrier ${nameOf({ carrier })}` : `Route "${route}"`;
  return `${who} passed over: ${lowerFirst(why)}`;
}

const isSame = (a: SkippedRoute, b: SkippedRoute): boolean =>
  a.route === b.route && a.carrier === b.carrier && a.reason === b.reason;

function answerText({ outcome, code, description, carrierMessageId, nextTryAt }: Answer): string {
  const why = reason(description ?? null, code ?? null);
  switch (outcome) {
    case "taken":
      return `took it as ${carrierMessageId ?? "nothing"}`;
    case "refused":
      return `refused it${why}`;
    case "busy":
      return `is busy${nextTry(nextTryAt)}`;
    case "down":
      return `cannot be reached${why}${nextTry(nextTryAt)}`;
    default:
      return `did not say whether it took it${why}${nextTry(nextTryAt)}`;
  }
}

function reason(description: string | null, code: string | null): string {
  if (description === null) return code === null ? "" : ` (${code})`;
  return `: ${description}${code === null ? "" : ` (${code})`}`;
}

function ledgerText({ kind, amount, held }: LedgerEntry, { credits }: StoredMessage): string {
  switch (kind) {
    case "hold":
      return `${countOf(credits, "credit")} held, of ${held} for the whole request`;
    case "spend":
      return `${countOf(-held, "credit")} spent`;
    case "release":
      return `${countOf(amount, "credit")} given back, as no carrier took it`;
    case "refund":
    case "top-up":
    default:
      return `${countOf(amount, "credit")} paid back`;
  }
}

const AGENTS = {
  person: "A person followed",
  preview: "A program that shows previews fetched",
  bot: "A program followed",
};

const moment = (at: number): string => new Date(at).toISOString();

const lowerFirst = (words: string): string => words.charAt(0).toLowerCase() + words.slice(1);
