import { countOf } from "../lib/words.ts";
import { carrierNameOf, PAUSED_MS } from "../model/catalog.ts";
import type { LedgerEntry } from "../model/credits.ts";
import type { InboundMessage } from "../model/inbound.ts";
import type { Click } from "../model/link.ts";
import { customerStatus, isFinal } from "../model/message.ts";
import { readTrail, type PassedOver, type TrailEntry } from "../model/trail.ts";
import type { StoredMessage } from "../store/store.ts";
import { answerInWords } from "./tell-answer.ts";

/** All that is known of a message's way. */
interface History {
  message: StoredMessage;
  clicks: readonly (Pick<Click, "at" | "agent"> & { k: number })[];
  ledger: readonly LedgerEntry[];
  /** What the recipient sent back. */
  answers: readonly Pick<InboundMessage, "at" | "content">[];
  /** What the customer was told of it, or is to be told. */
  callbacks?: readonly ToldCallback[];
}

/** One thing that an endpoint is told of a message. */
export interface ToldCallback {
  at: number;
  /** The endpoint's name. */
  endpoint: string;
  /** `message_status read` and its like. */
  event: string;
  /** When it is tried next; null unless it waits. */
  nextTryAt: number | null;
  attempts: readonly { at: number; status: number | null; reason: string | null; nextTryAt: number | null }[];
}

export const CUSTOMER_EVENTS = [
  "accepted", "held", "resumed", "postponed", "sent", "rerouted", "enroute",
  "delivered", "read", "failed", "unconfirmed", "cancelled", "clicked", "replied",
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
  /** What went over the line to the carrier, in the carrier's own form. */
  exchange: string | null;
}

type Answer = Extract<TrailEntry, { step: "answer" }>;
type Attempt = Extract<TrailEntry, { step: "attempt" }>;
type Failover = Extract<TrailEntry, { step: "failover" }>;
type ReceiptStep = Extract<TrailEntry, { step: "receipt" }>;

/** The way of a message in a customer's words: what happened and what comes next, and nothing of how it is done. */
export function tellCustomer({ message, clicks, answers }: Omit<History, "ledger" | "callbacks">): CustomerEvent[] {
  const trail = trailOf(message);
  return inTime([
    { at: message.createdAt, event: "accepted", detail: sizeOf(message, trail) },
    ...trail.flatMap((entry) => eventOf(entry) ?? []),
    ...firstOnTheWay(trail),
    ...failureBeforeDelivery(message, trail),
    ...endFor(message, trail),
    ...readingOf(message, trail),
    ...clicks
      .filter(({ agent }) => agent === "person")
      .map((click): CustomerEvent => ({ at: click.at, event: "clicked", detail: `Link ${click.k}` })),
    ...answers.map(({ at, content }): CustomerEvent => ({ at, event: "replied", detail: answerInWords(content) })),
  ]);
}

/** The way of a message in an operator's words: every step, who decided it and why, and what was said on the line. */
export function tellOperator({ message, clicks, ledger, answers, callbacks = [] }: History): OperatorStep[] {
  const { createdAt: at, recipient, routeClass } = message;
  const trail = trailOf(message);
  const accepted = `Accepted for ${recipient} as ${routeClass}: ${sizeOf(message, trail)}`;
  let told: readonly PassedOver[] = [];
  const steps = saidOn(trail).flatMap((entry) => {
    if (entry.step !== "attempt") {
      told = [];
      return [stepOf(entry)];
    }
    // A second carrier in the same try repeats what was passed over for the first.
    const before = told;
    told = entry.passedOver;
    const fresh = entry.passedOver.filter((each) => !before.some((same) => isSame(same, each)));
    return [...fresh.map((each) => step(entry.at, "passed over", passedOverWords(each))), stepOf(entry)];
  });
  // What no step says by itself, such as having waited for too long, is told here.
  const end = endedAt(message, trail);
  return inTime([
    step(at, "accepted", accepted),
    ...steps,
    ...ledger.map((entry) => step(entry.at, "credits", ledgerWords(entry, message))),
    ...(end === null ? [] : [step(end, "end", endWords(message, trail))]),
    ...clicks.map((click) => step(click.at, "click", `${AGENTS[click.agent]} link ${click.k}`)),
    ...answers.map((each) => step(each.at, "reply", `The recipient ${lowerFirst(answerInWords(each.content))}`)),
    ...callbacks.flatMap(callbackSteps),
  ]);
}

function callbackSteps({ at, endpoint, event, nextTryAt, attempts }: ToldCallback): OperatorStep[] {
  const of = `${JSON.stringify(endpoint)} of ${event}`;
  if (attempts.length === 0 && nextTryAt !== null)
    return [step(at, "callback", `To tell ${of} at ${moment(nextTryAt)}`)];
  return attempts.map((attempt) => {
    if (attempt.reason === null) return step(attempt.at, "callback", `Told ${of}: answered ${attempt.status}`);
    const next = attempt.nextTryAt === null ? "; it is not tried again" : nextTry(attempt.nextTryAt);
    return step(attempt.at, "callback", `Could not tell ${of}: ${attempt.reason}${next}`);
  });
}

/** Steps of the same moment stay in the order they are given. */
const inTime = <T extends { at: number }>(steps: readonly T[]): T[] => steps.toSorted((a, b) => a.at - b.at);

/** What it takes. Segments are a matter of texts, and what became one was none when it was accepted. */
function sizeOf({ channel, segments, credits }: StoredMessage, trail: readonly TrailEntry[]): string {
  const isBornText =
    channel === "sms" && !trail.some((entry) => entry.step === "failover" && entry.becomes !== undefined);
  return `${isBornText ? `${countOf(segments, "segment")}, ` : ""}${countOf(credits, "credit")}`;
}

/** What was written down, and the pause of a campaign that the message was born into. */
function trailOf({ trail, createdAt, dueAt, state }: StoredMessage): TrailEntry[] {
  const entries = readTrail(trail);
  const isPaused = state === "scheduled" && dueAt >= PAUSED_MS;
  if (!isPaused || entries.some((entry) => entry.step === "changed" && entry.what === "paused")) return entries;
  return [...entries, { at: createdAt, step: "changed", what: "paused" }];
}

function eventOf(entry: TrailEntry): CustomerEvent | null {
  const { at } = entry;
  switch (entry.step) {
    case "policy":
      return entry.verdict === "held" ? { at, event: "held", detail: entry.detail } : null;
    case "attempt":
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
    default:
      return null;
  }
}

/** What stands for a carrier in an attempt that found none. */
const NONE = "none";
const GIVEN_UP = "No delivery in time";

function turnFor({ at, reason: why, becomes }: Failover): CustomerEvent | null {
  if (becomes === "sms") return { at, event: "rerouted", detail: `It is sent as a text message instead: ${why}` };
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

/** Carriers repeat and reorder: being on the way is news once, and only before the end. */
function firstOnTheWay(trail: readonly TrailEntry[]): CustomerEvent[] {
  const first = trail.find((entry) => entry.step === "receipt");
  return first?.state === "enroute" ? [{ at: first.at, event: "enroute", detail: "On its way to the phone" }] : [];
}

/** A message that the network gave up had failed, although its phone got it in the end. */
function failureBeforeDelivery(message: StoredMessage, trail: readonly TrailEntry[]): CustomerEvent[] {
  if (customerStatus(message.state) !== "Delivered") return [];
  const deliveredAt = trail.findIndex((entry) => entry.step === "receipt" && entry.state === "delivered");
  const givenUp = trail.findLastIndex((entry) => entry.step === "failover");
  const end = trail.find(
    (entry, place): entry is ReceiptStep =>
      entry.step === "receipt" &&
      entry.state === "expired" &&
      entry.carrier === message.carrier &&
      place > givenUp &&
      place < deliveredAt,
  );
  return end ? [{ at: end.at, event: "failed", detail: end.description ?? "The network gave up" }] : [];
}

function endFor(message: StoredMessage, trail: readonly TrailEntry[]): CustomerEvent[] {
  const { state, description, errorCode } = message;
  const at = endedAt(message, trail);
  if (at === null) return [];
  if (state === "unknown")
    return [{ at, event: "unconfirmed", detail: description ?? "Nobody knows whether it arrived" }];
  if (customerStatus(state) === "Delivered") {
    const words = state === "read" ? deliveryOf(trail)?.description : description;
    return [{ at, event: "delivered", detail: words ?? "Delivered to the phone" }];
  }
  const event = state === "cancelled" ? "cancelled" : "failed";
  return [{ at, event, detail: description ?? errorCode ?? state }];
}

/** That it was read comes after its delivery, whatever the clocks of carriers say. */
function readingOf(message: StoredMessage, trail: readonly TrailEntry[]): CustomerEvent[] {
  if (message.state !== "read") return [];
  const first = trail.find((entry) => entry.step === "receipt" && entry.state === "read");
  const at = Math.max(first?.at ?? 0, endedAt(message, trail) ?? 0);
  return [{ at, event: "read", detail: message.description ?? "Read on the phone" }];
}

/** What the carrier said of the delivery of a message that has been read since; null when it only told of the reading. */
const deliveryOf = (trail: readonly TrailEntry[]): ReceiptStep | null =>
  saidOn(trail).find((entry): entry is ReceiptStep => entry.step === "receipt" && entry.state === "delivered") ?? null;

/** The trail without deliveries that nobody reported: each was taken from the news that the message has been read. */
const saidOn = (trail: readonly TrailEntry[]): readonly TrailEntry[] =>
  trail.filter((entry) => !(entry.step === "receipt" && entry.state === "delivered" && isImplied(entry, trail)));

const isImplied = ({ at, carrier, description }: ReceiptStep, trail: readonly TrailEntry[]): boolean =>
  trail.some(
    (entry) =>
      entry.step === "receipt" &&
      entry.state === "read" &&
      entry.at === at &&
      entry.carrier === carrier &&
      entry.description === description,
  );

/** When it came to where nothing more is done about it; null while something is. */
function endedAt({ state, doneAt, expiresAt }: StoredMessage, trail: readonly TrailEntry[]): number | null {
  if (state !== "unknown") return isFinal(state) ? (doneAt ?? expiresAt) : null;
  return trail.findLast((entry) => entry.step === "receipt" && entry.state === state)?.at ?? expiresAt;
}

/** Being read is no end of its own: the delivery was. */
function endWords({ state, description, errorCode }: StoredMessage, trail: readonly TrailEntry[]): string {
  if (state !== "read") return `Ended as ${state}${reason(description, errorCode)}`;
  const delivery = deliveryOf(trail);
  return `Ended as delivered${reason(delivery?.description ?? null, delivery?.code ?? null)}`;
}

const step = (at: number, name: string, what: string, exchange: string | null = null): OperatorStep => ({
  at,
  step: name,
  what,
  exchange,
});

const CHANGED = {
  paused: "Paused with its campaign",
  resumed: "Resumed with its campaign",
  cancelled: "Cancelled before it was sent",
};

const VERDICTS = { passed: "Passed", held: "Held by", refused: "Refused by", noted: "Noted by" };

const stepOf = (entry: TrailEntry): OperatorStep =>
  step(entry.at, entry.step, wordsOf(entry), entry.step === "answer" ? (entry.exchange ?? null) : null);

function wordsOf(entry: TrailEntry): string {
  switch (entry.step) {
    case "number":
      return `The number ${JSON.stringify(entry.written)} was read as ${entry.read}`;
    case "policy":
      return `${VERDICTS[entry.verdict]} "${entry.policy}": ${entry.detail}`;
    case "attempt":
      return attemptWords(entry);
    case "answer":
      return `Carrier ${nameOf(entry)} ${entry.late ? "says late that it " : ""}${answerWords(entry)}`;
    case "receipt":
      return `Carrier ${nameOf(entry)} reports ${partWords(entry)}${entry.state}${reason(entry.description, entry.code)}${networkWords(entry)}`;
    case "failover":
      return turnWords(entry);
    case "changed":
    default:
      return CHANGED[entry.what];
  }
}

const nameOf = ({ carrier }: { carrier: string }): string => `"${carrierNameOf(carrier)}"`;

const networkWords = ({ operator, circle }: ReceiptStep): string => {
  const network = [operator, circle].filter((word) => word !== undefined).join(", ");
  return network === "" ? "" : `, in the network of ${network}`;
};

const partWords = ({ part }: ReceiptStep): string =>
  part ? `part ${part.index} of ${part.total} as ${part.state}, which makes all of it ` : "";

function turnWords(entry: Failover): string {
  const why = lowerFirst(entry.reason);
  if (entry.becomes === undefined) return `Carrier ${nameOf(entry)} given up: ${why}`;
  // A message that no carrier has taken yet has none to give up.
  const before = entry.carrier === "" ? "Sent" : `Carrier ${nameOf(entry)} given up, and sent`;
  return `${before} as a text message instead: ${why}`;
}

function attemptWords(entry: Attempt): string {
  if (entry.carrier !== NONE) return `Handed to carrier ${nameOf(entry)} by route "${entry.route}"`;
  return entry.passedOver.length > 0 ? "No carrier can take it now; it is tried again" : "No route takes it";
}

function passedOverWords({ route, carrier, reason: why }: PassedOver): string {
  const who = route === "" ? `Carrier ${nameOf({ carrier })}` : `Route "${route}"`;
  return `${who} passed over: ${lowerFirst(why)}`;
}

const isSame = (a: PassedOver, b: PassedOver): boolean =>
  a.route === b.route && a.carrier === b.carrier && a.reason === b.reason;

function answerWords({ outcome, code, description, carrierMessageId, nextTryAt }: Answer): string {
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

function ledgerWords({ kind, amount, held }: LedgerEntry, { credits }: StoredMessage): string {
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
