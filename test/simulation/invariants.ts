import { SIMULATOR } from "../../src/model/catalog.ts";
import { messageIdIn } from "../../src/model/callback.ts";
import type { LedgerEntry } from "../../src/model/credits.ts";
import { idFloor } from "../../src/lib/ids.ts";
import {
  customerStatus,
  isFinal,
  messageIdOf,
  parseMessageId,
  ROUTE_CLASSES,
  type MessageRef,
  type State,
} from "../../src/model/message.ts";
import type { CallbackPosition, StoredCallback } from "../../src/store/callbacks.ts";
import type { LedgerPosition } from "../../src/store/credits.ts";
import type { Position, Store, StoredMessage } from "../../src/store/store.ts";
import { ANSWER_TIMEOUT_MS, type CarrierNetwork, type Copy } from "./carrier-network.ts";
import { checkCampaigns, checkSearch } from "./campaign-rules.ts";
import { isRefusal } from "./clients.ts";
import type { Customer } from "./customer.ts";
import type { Findings } from "./findings.ts";
import type { Attempt, SimulatedNode } from "./node.ts";
import type { People } from "./people.ts";
import { isLegalMove, type Move } from "./record-moves.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** A message ends with a final state, or as one that no receipt came for. */
export const hasEnded = ({ state, errorCode }: Pick<StoredMessage, "state" | "errorCode">): boolean =>
  isFinal(state) || (state === "unknown" && (errorCode === "NOT_REPORTED" || errorCode === "SUBMIT_UNCONFIRMED"));

export interface CheckDeps {
  world: World;
  store: Store;
  network: CarrierNetwork;
  customer: Customer;
  people: People;
  /** Every node that there was. */
  nodes: readonly SimulatedNode[];
  /** Changes of state, in the order of their commits. */
  moves: readonly Move[];
  /** Credit settings of the account; null if its messages are free. */
  credits: CreditRules | null;
  /** Periods in which SMSCs answered unreliably. */
  rough: readonly { from: number; until: number }[];
  /** False if the world did not come to rest in time. */
  isQuiet: boolean;
}

export interface CreditRules {
  refundUndelivered: boolean;
}

/** Checks every promise of the service against what the outside world saw. */
export async function checkAtEnd(deps: CheckDeps, findings: Findings): Promise<void> {
  const { world, people, isQuiet } = deps;
  const expect = findings.expect.bind(findings);
  expect("no code throws without a handler", world.faults.length === 0, () => world.faults.join("\n"));
  for (const complaint of people.clients.complaints) expect("answers are true", false, () => complaint);
  expect("every accepted message ends", isQuiet, () => "the world did not come to rest within an hour");
  const messages = await allMessages(deps.store);
  checkKeys(deps, messages, findings);
  await checkStops(deps, findings);
  checkCopies(deps, messages, findings);
  checkCodes(deps, findings);
  checkMoves(deps, findings);
  const callbacks = await allCallbacks(deps.store);
  await checkCallbacks(deps, callbacks, findings);
  checkEvents(deps, callbacks, findings);
  checkMessages(deps, messages, findings);
  await checkCampaigns(deps, messages, findings);
  await checkSearch(deps.store, messages, findings);
  if (deps.credits) await checkLedgerAtEnd(deps, deps.credits, messages, findings);
}

export async function allMessages(store: Store): Promise<StoredMessage[]> {
  const all: StoredMessage[] = [];
  let after: Position | null = null;
  do {
    const page: Awaited<ReturnType<Store["listMessages"]>> = await store.listMessages(1, {}, after, 500);
    all.push(...page.rows);
    after = page.next;
  } while (after);
  return all;
}

async function allCallbacks(store: Store): Promise<StoredCallback[]> {
  const all: StoredCallback[] = [];
  let after: CallbackPosition | null = null;
  do {
    const page: Awaited<ReturnType<Store["listCallbacks"]>> = await store.listCallbacks(1, {}, after, 500);
    all.push(...page.rows);
    after = page.next;
  } while (after);
  return all;
}

/** A key has one answer and one request, and a request that was refused has none. */
function checkKeys({ people }: CheckDeps, messages: readonly StoredMessage[], findings: Findings): void {
  const requests = Map.groupBy(messages, ({ content }) => content.text);
  for (const { key, text, answers, recipients, isRefused, isTakenBack, attempts } of people.sent) {
    const ids = new Set(answers.map((each) => each.join()));
    findings.expect("an idempotency key has one answer", ids.size <= 1, () => `${key}: ${[...ids].join(" and ")}`);
    const stored = new Set((requests.get(text) ?? []).map(({ requestId }) => requestId));
    findings.expect("an idempotency key is one request", stored.size <= 1, () => `${key}: ${[...stored].join(", ")}`);
    const [first] = answers;
    const isAnswerLost = attempts.some((one) => attempts.some((other) => isReversal(one, other)));
    findings.expect("an answer is not taken back", !isTakenBack && !isAnswerLost, () => `${key} was refused later`);
    if (first) findings.expect("every recipient has a message", first.length === recipients.length, () => first.join());
    // An attempt that its client gave up may succeed after a later one was refused.
    const isCertain = attempts.every(({ status }) => status !== undefined && status !== null && isRefusal({ status }));
    if (isRefused && isCertain && !first)
      findings.expect("a refused request stores nothing", stored.size === 0, () => `${key}: ${[...stored].join()}`);
  }
  findings.expect("a key with another body stores nothing", !requests.has("Another text"), () => "a row has its text");
}

/** True if a request was refused that began after another one with its key had succeeded, whether or not its client knew. */
const isReversal = (earlier: Partial<Attempt>, { askedAt = 0, status = null }: Partial<Attempt>): boolean =>
  (earlier.status ?? 0) === 200 &&
  askedAt > (earlier.endedAt ?? Number.POSITIVE_INFINITY) &&
  status !== null &&
  isRefusal({ status }) &&
  status !== TOO_MANY_REQUESTS;

const TOO_MANY_REQUESTS = 429;

async function checkStops({ people, network, store, world }: CheckDeps, findings: Findings): Promise<void> {
  for (const stop of people.stops.all) {
    const broken = network.written.filter((submit) => stop.concerns(submit) && people.stops.isInForce(stop, submit.at));
    findings.expect("nothing is sent after an acknowledged stop", broken.length === 0, () =>
      broken
        .map(({ messageId, at, process }) => `${stop.what}: ${messageId} left ${process.name} ${at - stop.at} ms later`)
        .join("; "),
    );
    const [, number] = /^STOP of (\d+)$/.exec(stop.what) ?? [];
    if (number !== undefined && people.stops.isInForce(stop, world.now))
      findings.expect("a STOP is kept", (await store.findOptOut(1, number)) !== null, () => stop.what);
  }
}

/** A second copy needs a reason: the answer to the first was lost, or the process that had it could not store it. */
function checkCopies({ network }: CheckDeps, messages: readonly StoredMessage[], findings: Findings): void {
  const failedOver = new Set(messages.filter(({ tried }) => tried.length > 0).map(messageIdOf));
  for (const [messageId, copies] of Map.groupBy(network.copies, ({ messageId: id }) => id)) {
    // The next route is tried without a delivery in time, or after a failure.
    const mayFailOver = failedOver.has(messageId);
    if (copies[0]?.routeClass === "PROMO")
      findings.expect(
        "a promotion in doubt is never repeated",
        new Set(copies.map(({ carrier }) => carrier)).size === copies.length && (mayFailOver || copies.length === 1),
        () => `${messageId} was taken ${copies.length} times`,
      );
    for (const [index, copy] of copies.entries()) {
      const next = copies[index + 1];
      if (next && !(mayFailOver && copy.carrier !== next.carrier))
        findings.expect(
          "a copy is sent only after a doubt",
          isDoubtful(copy, next),
          () =>
            `${messageId} was taken at ${copy.takenAt}, acknowledged at ${copy.acknowledgedAt}, taken again at ${next.takenAt}`,
        );
    }
  }
}

/** A process stores a submit ack at once; within this time a trouble may keep it from that. */
const STORED_AT_ONCE_MS = 5000;

/** A process keeps an ack until it has stored it: only its end, or the loss of its membership, loses the ack. */
const LOSSES = ["death", "membership"] as const;

/** A trouble after the ack was stored excuses nothing. */
function isDoubtful({ acknowledgedAt, writtenAt, process, takenAt }: Copy, next: Copy): boolean {
  if (acknowledgedAt === null || acknowledgedAt > next.writtenAt) return true;
  // The repeat was under way when the ack came at last.
  if (acknowledgedAt - writtenAt >= ANSWER_TIMEOUT_MS && next.writtenAt < acknowledgedAt + STORED_AT_ONCE_MS)
    return true;
  return process.wasTroubled(takenAt, Math.min(storedBy(process, acknowledgedAt), next.writtenAt), LOSSES);
}

/** The sender got the submit ack and stored it: at once, or after a trouble that it outlived. */
const isRecorded = ({ acknowledgedAt: at, process }: Copy): boolean =>
  at !== null && !process.wasTroubled(at, storedBy(process, at), LOSSES);

/** When a process that lives has stored what it learned: at once, or after the trouble that kept it from that. */
function storedBy({ troubles }: SimulatedProcess, at: number): number {
  let until = at + STORED_AT_ONCE_MS;
  for (const { kind, from, until: end } of troubles.toSorted((one, other) => one.from - other.from))
    if ((kind === "store" || kind === "pause") && from <= until && end >= at)
      until = Math.max(until, end + STORED_AT_ONCE_MS);
  return until;
}

function checkCodes({ people }: CheckDeps, findings: Findings): void {
  for (const { id, successes } of people.verifiers.all)
    findings.expect("a code is accepted once", successes <= 1, () => `${id} was accepted ${successes} times`);
}

/** The state machine, as the database saw it. */
function checkMoves({ moves }: CheckDeps, findings: Findings): void {
  for (const move of moves) {
    const { table, id, from, to } = move;
    findings.expect("every change of state is legal", isLegalMove(move), () => `${table} ${id}: ${from} to ${to}`);
    if (table !== "messages") continue;
    const [before, after] = [customerStatus(from as State), customerStatus(to as State)];
    const isForward = before === "Pending" || before === after || (from === "expired" && to === "delivered");
    findings.expect("a status never goes backwards", isForward, () => `${id}: ${from} to ${to}`);
  }
}

/** At rest every callback was delivered, and per message and endpoint an event only after the events before it. */
async function checkCallbacks(
  { customer, store }: CheckDeps,
  callbacks: readonly StoredCallback[],
  findings: Findings,
): Promise<void> {
  /** Place of the first request that an endpoint took, by event. Each event has one endpoint here. */
  const firsts = new Map<string, number>();
  for (const [place, { eventId, isTaken }] of customer.received.entries())
    if (isTaken && !firsts.has(eventId)) firsts.set(eventId, place);
  const requests = Map.groupBy(customer.received, ({ eventId }) => eventId);
  for (const { eventId, state, happening, attempts } of callbacks) {
    findings.expect(
      "a callback arrives at least once",
      state === "delivered" && firsts.has(eventId),
      () => `${eventId} (${happening.kind} of ${messageIdIn(happening)}) is ${state}`,
    );
    const seen = requests.get(eventId)?.length ?? 0;
    findings.expect(
      "an attempt of a callback is counted once",
      attempts <= seen,
      () => `${eventId} has ${attempts} attempts, and its endpoint got ${seen} requests`,
    );
  }
  const byMessage = Map.groupBy(callbacks, ({ happening }) => messageIdIn(happening));
  for (const [messageId, own] of byMessage) {
    const id = messageId !== null && own.length > 1 ? parseMessageId(messageId) : null;
    if (!id) continue;
    const inOrder = await store.listCallbacksOfMessage({ accountId: 1, ...id }, 100);
    for (const events of Map.groupBy(inOrder, ({ endpointId }) => endpointId).values()) {
      const places = events.flatMap(({ eventId }) => firsts.get(eventId) ?? []);
      findings.expect(
        "callbacks of a message arrive in order",
        places.every((place, index) => index === 0 || place > (places[index - 1] ?? 0)),
        () => `${messageId}: ${places.map((place) => customer.received[place]?.status).join(", ")} at ${places.join()}`,
      );
    }
  }
}

/** Readers of `/v1/events` got every event. */
function checkEvents({ people }: CheckDeps, callbacks: readonly StoredCallback[], findings: Findings): void {
  for (const { name, seen, startsNow, startedAt } of people.readers.all) {
    if (startedAt === null) continue;
    // Event ids carry the clock of their node: events around the start of a reader that begins now are uncertain.
    const from = startsNow ? idFloor(startedAt + AROUND_MS) : "";
    const missing = [...new Set(callbacks.map(({ eventId }) => eventId))].filter((id) => id > from && !seen.has(id));
    findings.expect(
      "events are complete",
      missing.length === 0,
      () => `the ${name} reader missed ${missing.length} of ${callbacks.length}: ${missing.slice(0, 3).join(", ")}`,
    );
  }
}

const AROUND_MS = 60_000;

/** Checks that nodes hold nothing once every message has gone out. */
export function checkMemory(nodes: readonly SimulatedNode[], findings: Findings): void {
  for (const { process, pipeline, webhooks } of nodes) {
    if (!pipeline) continue;
    const { commits, queues, admission, acceptDeps, dispatchDeps } = pipeline;
    const sizes = {
      ...Object.fromEntries(
        Object.entries(commits).flatMap(([name, batcher]) =>
          typeof batcher === "object" && "load" in batcher ? [[`batcher ${name}`, batcher.load]] : [],
        ),
      ),
      "store away": Number(commits.isStoreUnavailable),
      queued: queues?.queues.size ?? 0,
      "in flight": queues?.dispatcher.inFlight ?? 0,
      "in flight with their intent": ROUTE_CLASSES.reduce(
        (sum, routeClass) => sum + (queues?.dispatcher.storedInFlight(routeClass) ?? 0),
        0,
      ),
      reserved: queues?.reserved.size ?? 0,
      "waiting for admission": admission.waiting,
      "keys in progress": acceptDeps.keysInProgress.size,
      "waiting for a carrier's rate": [...dispatchDeps.carrierLimiter.messages()].length,
      "held by the dispatcher": [...(queues?.dispatcher.messages() ?? [])].length,
      callbacks: webhooks?.dispatcher?.load ?? 0,
    };
    for (const [name, size] of Object.entries(sizes))
      findings.expect("memory is empty at rest", size === 0, () => `${process.name}: ${name} is ${size}`);
  }
}

/** A row that its owner does not hold is recovered within this time: 60 s, a run of the job, and some slack. */
const RECOVERED_WITHIN_MS = 120_000;

/** Callbacks that a node owned without holding them when it was looked at last, by node. */
const unheld = new WeakMap<SimulatedNode, ReadonlySet<string>>();

/** A callback that its node owns and was due this long ago is in the node's memory. */
const HELD_AFTER_MS = 5000;

/** Every callback that a living node owns is in its memory. One that is found without twice was not just being claimed. */
async function checkOwnedCallbacks(
  node: SimulatedNode,
  membership: { node: number },
  store: Store,
  findings: Findings,
): Promise<void> {
  const dueBy = node.process.clock.now() - HELD_AFTER_MS;
  const owned = await store.listOwnedCallbacks({ node: membership.node, dueBy, after: null, limit: 500 });
  const load = node.webhooks?.dispatcher?.load ?? 0;
  const before = unheld.get(node);
  const now = new Set(owned.length > load ? owned.map(({ eventId, endpointId }) => `${eventId} ${endpointId}`) : []);
  unheld.set(node, now);
  findings.expect(
    "an owner holds its callbacks",
    [...now].filter((key) => before?.has(key)).length <= load,
    () => `${node.process.name} owns ${owned.length} callbacks that are due, and holds ${load}`,
  );
}

/** Every row that a living node owns is in its memory, or a job recovers it in time. */
export async function checkOwners(nodes: readonly SimulatedNode[], store: Store, findings: Findings): Promise<void> {
  for (const node of nodes) {
    const { process, pipeline } = node;
    if (!pipeline?.queues) continue;
    const { membership } = pipeline.dispatchDeps;
    const { now } = process.world;
    if (
      !membership.alive ||
      process.wasTroubled(now - RECOVERED_WITHIN_MS, now, ["store", "pause", "clock", "membership"])
    )
      continue;
    await checkOwnedCallbacks(node, membership, store, findings);
    const held = new Set([...pipeline.queues.dispatcher.messages()].map(messageIdOf));
    const dueBy = process.clock.now() - RECOVERED_WITHIN_MS;
    const wanted = { node: membership.node, dueBy, after: null, limit: 500 };
    for (const routeClass of ROUTE_CLASSES)
      for (const row of await store.listOwned({ ...wanted, routeClass }))
        findings.expect(
          "an owner holds its rows",
          held.has(messageIdOf(row)) || pipeline.queues.reserved.has(row.requestId),
          () => `${process.name} owns ${messageIdOf(row)} and does not hold it`,
        );
    const callbacks = await store.listOwnedCallbacks(wanted);
    findings.expect(
      "an owner delivers its callbacks",
      callbacks.length === 0,
      () => `${process.name} owns ${callbacks.length} callbacks that were due ${RECOVERED_WITHIN_MS} ms ago`,
    );
  }
}

const FINAL_RECEIPTS = new Set(["delivered", "undelivered", "rejected"]);
const NOT_SENT = new Set(["EXPIRED_IN_QUEUE", "CANCELLED", "NO_ROUTE", "RECIPIENT_OPTED_OUT"]);
/** A message is sent again this often at most while it is in doubt. */
const REPEATS_MAX = 5;

function checkMessages(deps: CheckDeps, messages: readonly StoredMessage[], findings: Findings): void {
  const { people, network, customer } = deps;
  const stored = new Set(messages.map(messageIdOf));
  for (const { answers } of people.sent)
    for (const messageId of answers[0] ?? [])
      findings.expect("no accepted message is lost", stored.has(messageId), () => messageId);
  const copies = Map.groupBy(network.copies, ({ messageId }) => messageId);
  const written = Map.groupBy(network.written, ({ messageId }) => messageId);
  const heard = Map.groupBy(
    customer.received.filter(({ isTaken }) => isTaken),
    ({ messageId }) => messageId,
  );
  for (const message of messages) {
    const id = messageIdOf(message);
    findings.expect("every accepted message ends", hasEnded(message), () => `${id} is ${message.state}`);
    if (message.channel === "sms") {
      const told = heard.get(id)?.at(-1)?.status;
      const due = message.state === "delivered" || message.state === "read" ? "Delivered" : "Failed";
      if (isFinal(message.state))
        findings.expect(
          "the customer hears the end of every message",
          told === due,
          () => `${id} is ${message.state}, last heard: ${told}`,
        );
      checkFacts(deps, message, copies.get(id) ?? [], written.get(id) ?? [], findings);
    }
  }
}

/** The stored state of a message agrees with the events at its carriers. */
function checkFacts(
  { people, ...deps }: CheckDeps,
  message: StoredMessage,
  own: readonly Copy[],
  written: CarrierNetwork["written"],
  findings: Findings,
): void {
  const id = messageIdOf(message);
  const { state, errorCode, repeats } = message;
  const code = errorCode ?? "";
  const expect = findings.expect.bind(findings);
  const reported = new Set(own.flatMap((copy) => copy.reported));
  const fates = written.map(({ fate }) => fate);
  const story = (): string =>
    `${id} is ${state} (${code}) after ${message.attempts} attempts, ${repeats} repeats; submits: ${fates.join(", ")}; ` +
    `receipts: ${own.map((copy) => `${copy.heard.join("+")}${isRecorded(copy) ? "" : " (ack lost)"}`).join(", ")}`;
  // Carriers that were given up; the list has their routes as well.
  const { length: failovers } = message.tried.filter((each) => each.includes("/"));
  expect("every copy is counted", own.length <= repeats + 1 + failovers && repeats <= REPEATS_MAX, story);
  expect("every submit has its intent", written.length <= message.attempts, story);
  expect("no live message goes to the simulator", message.carrier !== SIMULATOR, story);
  if (state === "delivered" || state === "read")
    expect("delivered means that a receipt says so", reported.has("delivered"), story);
  if (state === "undelivered") expect("undelivered means that a receipt says so", reported.has("undelivered"), story);
  if (state === "rejected" && code === "69")
    expect(
      "rejected means that a carrier refused it",
      fates.includes("refusedMessage") || fates.includes("refusedCarrier"),
      story,
    );
  if (state === "rejected" && code === "12")
    expect("rejected means that a receipt says so", reported.has("rejected"), story);
  if ((NOT_SENT.has(code) && failovers === 0) || state === "cancelled")
    expect("a message that was not sent is not at a carrier", own.length === 0, story);
  if (people.cancelled.has(id)) expect("a cancelled message stays cancelled", state === "cancelled", story);
  if (code === "NOT_REPORTED")
    expect(
      "not reported means that a carrier has it",
      own.some(({ acknowledgedAt }) => acknowledgedAt !== null),
      story,
    );
  if (code === "SUBMIT_UNCONFIRMED")
    expect("unconfirmed means that an answer is missing", written.length > 0 || wasAnyTroubled(deps, message), story);
  if (code === "EXPIRED_IN_QUEUE" && failovers === 0)
    expect("an expiry has a reason", hasExpiryReason({ people, ...deps }, message), story);
  checkReceipts(message, own, fates, story, findings);
}

/** An acknowledged receipt counts, whichever node heard it. */
function checkReceipts(
  { state, tried }: StoredMessage,
  own: readonly Copy[],
  fates: readonly (string | null)[],
  story: () => string,
  findings: Findings,
): void {
  const finals = (copies: readonly Copy[]): State[] =>
    copies.flatMap(({ heard }) => heard.filter((each): each is State & typeof each => FINAL_RECEIPTS.has(each)));
  // Without the submit ack, nothing connects the receipt with the message. A refused repeat ends a message before its receipt.
  const heard = finals(own.filter(isRecorded));
  if (heard.length === 0 || fates.includes("refusedMessage")) return;
  const all = new Set(finals(own));
  const isDelivered = state === "delivered" || state === "read";
  const holds = heard.includes("delivered")
    ? isDelivered || (all.size > 1 && all.has(state))
    : // After a failover the first carrier's failure counts no longer.
      tried.length > 0 || all.has(state);
  findings.expect("an acknowledged receipt counts", holds, story);
}

const wasAnyTroubled = ({ nodes }: Pick<CheckDeps, "nodes">, { createdAt, expiresAt }: StoredMessage): boolean =>
  nodes.some(({ process }) =>
    process.wasTroubled(createdAt - AROUND_MS, expiresAt + AROUND_MS, ["store", "pause", "death", "membership"]),
  );

/** A message waits this long at most for a node and a carrier that both work. */
const SENT_WITHIN_MS = 10_000;

/** A message may expire unsent if no working node had a carrier for a while, SMSCs were busy, or its campaign was stopped. */
function hasExpiryReason(
  deps: Pick<CheckDeps, "nodes" | "network" | "people" | "rough">,
  { createdAt, expiresAt, routeClass, campaignName }: StoredMessage,
): boolean {
  const { nodes, network, people, rough } = deps;
  const from = Math.max(createdAt, expiresAt - VALIDITY_MS[routeClass]);
  const { routeOff } = people.operators;
  if (rough.some((period) => period.from <= expiresAt && period.until >= from)) return true;
  if (campaignName !== null && people.stops.all.some(({ what }) => what.endsWith(` of ${campaignName}`))) return true;
  if (isBacklogged(deps, from, expiresAt)) return true;
  let useless = 0;
  for (let at = from; at < expiresAt; at += 1000) {
    const isOff = routeOff.some((period) => period.from <= at && at < period.until);
    const isUsable =
      !isOff &&
      nodes.some(
        ({ readyAt, process }) =>
          readyAt <= at &&
          !process.wasTroubled(at, at, ["store", "pause", "death", "membership", "clock"]) &&
          network.carrierNames().some((carrier) => network.wasUp(process, carrier, at)),
      );
    if (!isUsable) useless += 1000;
  }
  return useless >= SENT_WITHIN_MS;
}

/** The slowest rate of a carrier here, of which a node may have the fifth part. */
const SLOWEST_PER_MS = 5 / 1000 / 5;

/** True if so many submits left meanwhile that a carrier with a limited rate may have been the reason. */
const isBacklogged = (
  { network, people }: Pick<CheckDeps, "network" | "people">,
  from: number,
  until: number,
): boolean =>
  people.operators.hasLimitedRates &&
  network.written.filter(({ at }) => from <= at && at < until).length >= (until - from) * SLOWEST_PER_MS;

export const VALIDITY_MS = { OTP: 30_000, TRANS: 60_000, PROMO: 90_000 } as const;

async function allEntries(store: Store): Promise<LedgerEntry[]> {
  const all: LedgerEntry[] = [];
  let after: LedgerPosition | null = null;
  do {
    const page: Awaited<ReturnType<Store["listLedger"]>> = await store.listLedger(1, after, 500);
    all.push(...page.rows);
    after = page.next;
  } while (after);
  return all;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** The balance is the sum of the ledger at every moment. */
export async function checkLedger(store: Store, findings: Findings): Promise<readonly LedgerEntry[]> {
  const { balance, held } = await store.findBalance(1);
  const entries = await allEntries(store);
  const amounts = sum(entries.map(({ amount }) => amount));
  const holds = sum(entries.map((entry) => entry.held));
  findings.expect(
    "the ledger balances",
    balance === amounts && held === holds && balance >= 0 && held >= 0,
    () => `balance ${balance}, entries ${amounts}; held ${held}, entries ${holds}`,
  );
  return entries;
}

async function checkLedgerAtEnd(
  { store, people, isQuiet }: CheckDeps,
  { refundUndelivered }: CreditRules,
  messages: readonly StoredMessage[],
  findings: Findings,
): Promise<void> {
  const entries = await checkLedger(store, findings);
  const { held } = await store.findBalance(1);
  if (isQuiet) findings.expect("nothing is held at rest", held === 0, () => `${held} credits are held`);
  for (const [id, { amount, isAnswered }] of people.operators.topUps) {
    const own = entries.filter((entry) => entry.requestId === id);
    const isRight = own.length === 1 ? own[0]?.amount === amount : own.length === 0 && !isAnswered;
    findings.expect("a top-up counts once", isRight, () => `${id} has ${own.length} entries`);
  }
  const byMessage = Map.groupBy(entries, ({ requestId, n }) => `${requestId}:${n}`);
  for (const [requestId, own] of Map.groupBy(messages, (message) => message.requestId)) {
    const hold = byMessage.get(`${requestId}:0`) ?? [];
    const credits = sum(own.map((message) => message.credits));
    findings.expect(
      "a request holds its price once",
      credits === 0 || (hold.length === 1 && hold[0]?.amount === -credits && hold[0].held === credits),
      () => `${requestId} costs ${credits}, held ${hold.map(({ amount }) => amount).join()}`,
    );
  }
  for (const message of messages) {
    if (message.credits === 0 || !hasEnded(message)) continue;
    const kinds = (byMessage.get(messageIdOf(message)) ?? []).map(({ kind }) => kind);
    const isUnsent = kinds.includes("release");
    const isBack = isUnsent || kinds.includes("refund");
    const { state } = message;
    const isOnce = kinds.filter((kind) => kind === "spend" || kind === "release").length === 1;
    const isRefundRight = !kinds.includes("refund") || (kinds.includes("spend") && refundUndelivered);
    // A late delivery of an expired message is not charged again.
    const isDue = (state === "cancelled") <= isUnsent && (state === "unknown" ? !isBack : true);
    findings.expect(
      "a message is charged once",
      isOnce && isRefundRight && isDue && message.cost === (isBack ? 0 : message.credits),
      () => `${messageIdOf(message)} is ${state}: ${kinds.join(", ")}; it costs ${message.cost} of ${message.credits}`,
    );
  }
}

/** Messages that were sent after the faults: delivered, or failed by their carrier, and reported. */
export async function checkStrict(
  { people, store }: Pick<CheckDeps, "people" | "store">,
  findings: Findings,
): Promise<void> {
  for (const messageId of people.strict) {
    const id = parseMessageId(messageId);
    const message = id && (await store.findMessage({ accountId: 1, ...id } satisfies MessageRef));
    findings.expect(
      "everything works after the faults",
      message !== null && hasEnded(message) && message.repeats === 0,
      () => `${messageId} is ${message?.state}`,
    );
  }
}
