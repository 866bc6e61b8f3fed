import type { Clock } from "../lib/clock.ts";
import { newId, timeOf } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { PathMap } from "../lib/path-map.ts";
import type { CallbackState } from "../model/callback.ts";
import { carrierNameOf } from "../model/catalog.ts";
import type { InboundMessage } from "../model/inbound.ts";
import { describeFailure } from "../model/message.ts";
import {
  GRAINS,
  isCounted,
  latencyClass,
  LATENCY_BOUNDS_MS,
  OTHER_CODES,
  type CodeText,
  type Counted,
  type Dimension,
  type CampaignName,
  type StatsRow,
} from "../model/stats.ts";
import { countryOf } from "../pipeline/policy/country.ts";
import type { Acceptance, Store } from "../store/store.ts";
import { targetState, type ChangedMessage, type Transition } from "../store/transition.ts";
import type { CheckResult, CodeCheck } from "../store/verifications.ts";
import type { Observer } from "../pipeline/group-commit.ts";

const SPAN_MS = GRAINS.minute;
/** Carriers choose their error codes freely. Longer ones are truncated, to bound the size of the statistics. */
const CODE_MAX = 64;
/** Error codes counted separately per account and day: carriers have a few dozen, but may invent any number. */
const CODES_MAX = 100;
const CODE_TEXT_MAX = 160;
/** Runs of digits that may be a part of a phone number or of a code. */
const LONG_DIGITS = /\d{4,}/g;
const DAY_MS = GRAINS.day;
/** Latency classes as stored. */
const CLASSES = [...LATENCY_BOUNDS_MS, null].map((_, place) => String(place));
/** Counters kept in memory while the store is unavailable. */
const KEPT_MAX = 50_000;

interface StatsDeps {
  store: Pick<Store, "addStats">;
  clock: Clock;
  log: Log;
}

interface Batch {
  rows: readonly StatsRow[];
  codeTexts: readonly CodeText[];
}

/**
 * Counts events on this node in memory and writes the counts once a second, so a transition costs one map lookup. A crash
 * loses the counts of the last second, which no decision depends on. A write without a response is repeated under the same
 * sequence number, by which the store recognises it.
 */
export class Stats implements Observer {
  readonly #deps: StatsDeps;
  readonly #writer: string;
  #sequence = 0;
  #counted: StatsRow[] = [];
  #places = new PathMap<StatsRow>();
  /** The last counter of each kind, which mostly is the next one too. */
  readonly #latest = new Map<Counted, StatsRow>();
  /** The same by the name of a group. */
  #latestOf = newLatestOf();
  /** The same of campaigns. */
  readonly #latestOfCampaign = new Map<Counted, StatsRow>();
  /** The batch that the store has not acknowledged yet. It stays unchanged, so that the store recognises a repeated write. */
  #unanswered: Batch | null = null;
  #codes = { day: 0, byAccount: new Map<number, Set<string>>(), described: new Set<string>() };
  #codeTexts: CodeText[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: StatsDeps) {
    this.#deps = deps;
    this.#writer = newId(deps.clock.now());
  }

  onAccepted({ message, recipients, verification }: Acceptance): void {
    const { accountId, channel, routeClass, campaignName, test } = message;
    const campaign = campaignName === null ? null : { name: campaignName, test };
    this.#count(accountId, channel, routeClass, "accepted", "", recipients.length);
    if (campaign) this.#countCampaign(campaign, accountId, "", "accepted", "", recipients.length);
    if (verification) this.#count(accountId, channel, routeClass, "otp sent", "");
    for (const [name, count] of countByCountry(recipients))
      this.#countGroup("country", name, accountId, channel, "accepted", "", count);
    for (const { number, failure } of recipients) {
      if (failure === null) continue;
      const code = this.#codeOf(accountId, failure);
      this.#count(accountId, channel, routeClass, "rejected", code);
      this.#countGroups(accountId, channel, number, "", "rejected", code);
      if (campaign) this.#countCampaign(campaign, accountId, "", "rejected", code);
    }
  }

  onInbound({ accountId, channel, test }: InboundMessage): void {
    if (!test) this.#count(accountId, channel, "", "received", "");
  }

  onMoved(transition: Transition, message: ChangedMessage): void {
    const { channel, routeClass, recipient, taken, campaign } = message;
    const { accountId, requestId } = transition;
    const to = targetState(transition);
    if (to === null) return;
    const carrier = carrierOf(transition);
    if (isSubmission(transition, taken)) this.#countGroup("carrier", carrier, accountId, channel, "submitted", "");
    if (!taken && !isCounted(to)) return;
    const tookMs = this.#deps.clock.now() - timeOf(requestId);
    if (taken) {
      this.#count(accountId, channel, routeClass, "submitted", "");
      if (campaign) this.#countCampaign(campaign, accountId, carrier, "submitted", "");
      this.#countGroup("country", countryNameOf(recipient), accountId, channel, "submitted", "");
      this.#count(accountId, channel, routeClass, "until submitted", CLASSES[latencyClass(tookMs)] ?? "");
    }
    if (!isCounted(to)) return;
    const code =
      to === "delivered" || to === "read"
        ? ""
        : this.#codeOf(accountId, "errorCode" in transition ? (transition.errorCode ?? "") : "");
    this.#count(accountId, channel, routeClass, to, code);
    this.#countGroups(accountId, channel, recipient, carrier, to, code);
    if (campaign) this.#countCampaign(campaign, accountId, carrier, to, code);
    if (code !== "" && "description" in transition)
      this.#noteCodeText({ accountId, carrier, code, text: transition.description ?? "" });
    if (to === "delivered")
      this.#count(accountId, channel, routeClass, "until delivered", CLASSES[latencyClass(tookMs)] ?? "");
  }

  onChecked({ accountId }: CodeCheck, { kind }: CheckResult): void {
    this.#count(accountId, "", "", kind === "verified" ? "otp verified" : "otp refused", "");
  }

  /** Counts a callback by its state. */
  onCallbackSettled(accountId: number, state: CallbackState): void {
    this.#count(accountId, "", "", `callback ${state}`, "");
  }

  #count(
    accountId: number,
    channel: StatsRow["channel"],
    routeClass: StatsRow["routeClass"],
    what: Counted,
    code: string,
    count = 1,
  ): void {
    const now = this.#deps.clock.now();
    const at = now - (now % SPAN_MS);
    const latest = this.#latest.get(what);
    const isNext =
      latest?.at === at &&
      latest.accountId === accountId &&
      latest.channel === channel &&
      latest.routeClass === routeClass &&
      latest.code === code;
    const counter = isNext ? latest : this.#counterOf({ accountId, at, channel, routeClass, what, code, count: 0 });
    if (!counter) return;
    counter.count += count;
    if (!isNext) this.#latest.set(what, counter);
  }

  /** Counts a message at its carrier and in its country. */
  #countGroups(
    accountId: number,
    channel: StatsRow["channel"],
    recipient: string,
    carrier: string,
    what: Counted,
    code: string,
  ): void {
    this.#countGroup("carrier", carrier, accountId, channel, what, code);
    this.#countGroup("country", countryNameOf(recipient), accountId, channel, what, code);
  }

  #countGroup(
    dimension: Dimension,
    name: string,
    accountId: number,
    channel: StatsRow["channel"],
    what: Counted,
    code: string,
    count = 1,
  ): void {
    const now = this.#deps.clock.now();
    const at = now - (now % SPAN_MS);
    let ofName = this.#latestOf[dimension].get(name);
    if (!ofName) this.#latestOf[dimension].set(name, (ofName = new Map()));
    const latest = ofName.get(what);
    const isNext =
      latest?.at === at && latest.accountId === accountId && latest.channel === channel && latest.code === code;
    const counter = isNext
      ? latest
      : this.#counterOf({ accountId, at, channel, routeClass: "", what, code, count: 0, group: { dimension, name } });
    if (!counter) return;
    counter.count += count;
    if (!isNext) ofName.set(what, counter);
  }

  /** The channel is that of the carrier, so it is not counted apart. */
  #countCampaign(
    { name, test }: CampaignName,
    accountId: number,
    carrier: string,
    what: Counted,
    code: string,
    count = 1,
  ): void {
    const now = this.#deps.clock.now();
    const at = now - (now % SPAN_MS);
    const latest = this.#latestOfCampaign.get(what);
    const of = latest?.campaign;
    const isNext =
      latest?.at === at &&
      latest.accountId === accountId &&
      of?.name === name &&
      of.test === test &&
      of.carrier === carrier &&
      latest.code === code;
    const campaign = { name, test, carrier };
    const counter = isNext
      ? latest
      : this.#counterOf({ accountId, at, channel: "", routeClass: "", what, code, count: 0, campaign });
    if (!counter) return;
    counter.count += count;
    if (!isNext) this.#latestOfCampaign.set(what, counter);
  }

  /** Null if there are too many counters. */
  #counterOf(counter: StatsRow): StatsRow | null {
    const { accountId, at, channel, routeClass, what, code, group, campaign } = counter;
    const [kind, name] = campaign
      ? [campaign.test ? "campaign of tests" : "campaign", campaign.name]
      : [group?.dimension ?? "", group?.name ?? ""];
    const path = [accountId, kind, name, campaign?.carrier ?? "", what, channel, routeClass, code, at];
    const known = this.#places.get(path);
    if (known) return known;
    if (this.#counted.length >= KEPT_MAX) return null;
    this.#counted.push(counter);
    this.#places.set(path, counter);
    return counter;
  }

  /** A storable and readable code. Codes beyond the daily limit share one. */
  #codeOf(accountId: number, given: string): string {
    if (given === "") return "";
    const now = this.#deps.clock.now();
    const day = now - (now % DAY_MS);
    if (this.#codes.day !== day) this.#codes = { day, byAccount: new Map(), described: new Set() };
    const { byAccount } = this.#codes;
    const known = byAccount.get(accountId) ?? new Set();
    byAccount.set(accountId, known);
    const code = readable(given);
    if (known.has(code)) return code;
    if (known.size >= CODES_MAX) return OTHER_CODES;
    known.add(code);
    return code;
  }

  /** Keeps what a carrier says about a code, once a day: a carrier may put the message into it. */
  #noteCodeText({ accountId, carrier, code, text: given }: CodeText): void {
    if (carrier === "" || given === "" || code === OTHER_CODES || describeFailure(code) !== null) return;
    const key = `${accountId} ${carrier} ${code}`;
    const { described } = this.#codes;
    if (described.has(key)) return;
    described.add(key);
    const text = readable(given, CODE_TEXT_MAX).replaceAll(LONG_DIGITS, "…");
    this.#codeTexts.push({ accountId, carrier, code, text });
  }

  /** Writes the counts since the last time. If the write fails, they are kept for the next. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#unanswered && !(await this.#send(this.#unanswered))) return;
    if (this.#counted.length === 0) return;
    this.#unanswered = { rows: this.#counted, codeTexts: this.#codeTexts };
    this.#counted = [];
    this.#codeTexts = [];
    this.#places = new PathMap();
    this.#latest.clear();
    this.#latestOfCampaign.clear();
    this.#latestOf = newLatestOf();
    this.#sequence += 1;
    await this.#send(this.#unanswered);
  }

  /** True if the store has the batch. */
  async #send({ rows, codeTexts }: Batch): Promise<boolean> {
    const { store, clock, log } = this.#deps;
    try {
      const writing = { writer: this.#writer, sequence: this.#sequence, at: clock.now() };
      await store.addStats(rows, writing, codeTexts);
      this.#unanswered = null;
      return true;
    } catch (error) {
      log.warn({ err: error, counters: rows.length }, "statistics write failed, retrying");
      return false;
    }
  }
}

const newLatestOf = (): Record<Dimension, Map<string, Map<Counted, StatsRow>>> => ({
  carrier: new Map(),
  country: new Map(),
});

const readable = (given: string, max = CODE_MAX): string => given.replaceAll(/[\p{C}]/gu, "?").slice(0, max);

const countryNameOf = (recipient: string): string => countryOf(recipient) ?? "unknown";

function countByCountry(recipients: Acceptance["recipients"]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { number } of recipients) {
    const country = countryNameOf(number);
    counts.set(country, (counts.get(country) ?? 0) + 1);
  }
  return counts;
}

/**
 * True if the transition proves that its carrier has the message. After a failover, each carrier counts it. A report that
 * the message is on its way may overtake the submit ack, which then counts instead.
 */
const isSubmission = (transition: Transition, taken: boolean): boolean =>
  transition.kind === "submitted" || (taken && transition.kind !== "reported");

/** The carrier that a transition is about; empty if it concerns none. */
function carrierOf(transition: Transition): string {
  const carrier = "carrier" in transition ? transition.carrier : undefined;
  return carrierNameOf(carrier ?? ("carriedBy" in transition ? transition.carriedBy : undefined) ?? "");
}
