import type { AlertRule } from "../model/alert.ts";
import type { Account } from "../model/account.ts";
import { carrierKey } from "../model/catalog.ts";
import { SEND_CHANNELS, type RouteClass } from "../model/message.ts";
import { FAILED_STATES, GRAINS } from "../model/stats.ts";
import type { AccountCatalog } from "../records/catalog.ts";
import { SIGHTING_GAP_MS, type AlertStore, type CarrierSighting } from "../store/alerts.ts";
import type { CreditStore } from "../store/credits.ts";
import type { StatsSpan, StatsStore } from "../store/stats.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A carrier that was down has to be up this long before its alert resolves. */
const STABLE_MS = MINUTE_MS;
/** Rates resolve this far above their threshold, in percentage points. */
const RATE_MARGIN = 2;
/** Credits resolve at this share of the threshold, a queue below its half. */
const CREDITS_MARGIN = 1.1;
/** A code counts only after its user has had the time to type it. */
const RIPE_MS = 5 * MINUTE_MS;
/** Buckets of a minute are read for shorter windows, of ten minutes for longer ones. */
const MINUTES_READ_MAX = 180;
/** Classes whose messages must not wait. A campaign may wait for its throttle and its carrier. */
const URGENT_CLASSES = ["OTP", "TRANS"] as const satisfies readonly RouteClass[];

/** The state of one subject. In between, an open alert stays open and no other opens (hysteresis). */
export interface Reading {
  subject: string;
  subjectName: string;
  value: number;
  judgement: "bad" | "between" | "good";
}

/** Facts of the service, read once for all accounts. */
export interface ServiceFacts {
  now: number;
  carriers: ReadonlyMap<string, CarrierSighting>;
  oldestWaiting: Partial<Record<RouteClass, number>>;
  /** Epoch milliseconds; null without a certificate of this server. */
  certificateExpiresAt: number | null;
}

interface ReadAlertsDeps {
  store: Pick<AlertStore, "listFailingEndpoints"> & Pick<CreditStore, "findBalance"> & Pick<StatsStore, "sumStats">;
  catalog: AccountCatalog;
  account: Account;
  service: ServiceFacts;
}

const judge = (isBad: boolean, isGood: boolean): Reading["judgement"] => (isBad ? "bad" : isGood ? "good" : "between");

/**
 * Reads what a rule watches, from figures that are kept already. A subject without a reading has no fault: an alert about it
 * resolves.
 */
export async function readAlerts(deps: ReadAlertsDeps, rule: AlertRule): Promise<Reading[]> {
  switch (rule.alert) {
    case "carrier_down":
      return carriersDown(deps, rule);
    case "delivery_rate":
      return deliveryRates(deps, rule);
    case "otp_conversion":
      return otpConversion(deps, rule);
    case "endpoint_disabled":
      return disabledEndpoints(deps);
    case "endpoint_failing":
      return failingEndpoints(deps, rule);
    case "credits_low":
      return creditsLow(deps, rule);
    case "queue_age":
      return queueAges(deps, rule);
    case "certificate_expiry":
    default:
      return certificateExpiry(deps, rule);
  }
}

function carriersDown({ catalog, account, service: { now, carriers } }: ReadAlertsDeps, rule: AlertRule): Reading[] {
  return [...catalog.named("carrier").keys()].flatMap((name): Reading[] => {
    const seen = carriers.get(carrierKey(account.id, name));
    if (!seen) return [];
    const downMs = now - seen.lastUpAt;
    const isSeen = seen.seenAt > now - SIGHTING_GAP_MS;
    const isBad = isSeen && downMs >= rule.threshold * MINUTE_MS;
    const isGood = isSeen && downMs < SIGHTING_GAP_MS && seen.upSince !== null && seen.upSince <= now - STABLE_MS;
    const value = Math.floor(downMs / MINUTE_MS);
    return [{ subject: name, subjectName: name, value, judgement: judge(isBad, isGood) }];
  });
}

function spanOf(from: number, to: number): StatsSpan {
  const grain = to - from > MINUTES_READ_MAX * MINUTE_MS ? "10m" : "minute";
  return { grain, from: from - (from % GRAINS[grain]), to };
}

async function deliveryRates(deps: ReadAlertsDeps, rule: AlertRule): Promise<Reading[]> {
  const { store, account, service } = deps;
  const totals = await store.sumStats(account.id, spanOf(service.now - rule.windowMinutes * MINUTE_MS, service.now));
  return SEND_CHANNELS.flatMap((channel): Reading[] => {
    const sumOf = (states: readonly string[]): number =>
      totals
        .filter((each) => each.channel === channel && states.includes(each.what))
        .reduce((sum, { count }) => sum + count, 0);
    const delivered = sumOf(["delivered"]);
    const all = delivered + sumOf(FAILED_STATES.filter((state) => state !== "cancelled"));
    return rateOf(rule, { subject: channel, all, reached: delivered });
  });
}

async function otpConversion(
  { store, account, service: { now } }: ReadAlertsDeps,
  rule: AlertRule,
): Promise<Reading[]> {
  const from = now - RIPE_MS - rule.windowMinutes * MINUTE_MS;
  const [sent, used] = await Promise.all([
    store.sumStats(account.id, spanOf(from, now - RIPE_MS)),
    store.sumStats(account.id, spanOf(from, now)),
  ]);
  const sumOf = (totals: typeof sent, what: string): number =>
    totals.filter((each) => each.what === what).reduce((sum, { count }) => sum + count, 0);
  return rateOf(rule, { subject: "", all: sumOf(sent, "otp sent"), reached: sumOf(used, "otp verified") });
}

/** Half of the minimum ends an alert: else it would stay open after the traffic has stopped. */
function rateOf(
  { threshold, minimum }: AlertRule,
  { subject, all, reached }: { subject: string; all: number; reached: number },
): Reading[] {
  if (all < minimum / 2) return [];
  const value = Math.min(100, Math.floor((100 * reached) / all));
  const isBad = all >= minimum && value < threshold;
  const isGood = value >= Math.min(100, threshold + RATE_MARGIN);
  return [{ subject, subjectName: subject, value, judgement: judge(isBad, isGood) }];
}

const endpointsOf = (catalog: AccountCatalog) => [
  ...catalog.named("webhook").values(),
  ...catalog.named("dlrConfig").values(),
];

const disabledEndpoints = ({ catalog }: ReadAlertsDeps): Reading[] =>
  endpointsOf(catalog)
    .filter(({ content }) => !content.enabled && content.disabledReason !== null)
    .map(({ id, name }) => ({ subject: id, subjectName: name, value: 1, judgement: "bad" }));

async function failingEndpoints({ store, catalog, account, service }: ReadAlertsDeps, rule: AlertRule) {
  const enabled = endpointsOf(catalog).filter(({ content }) => content.enabled);
  if (enabled.length === 0) return [];
  const failing = await store.listFailingEndpoints(account.id);
  return enabled.flatMap(({ id, name }): Reading[] => {
    const since = failing.get(id);
    if (since === undefined) return [];
    const value = Math.floor((service.now - since) / MINUTE_MS);
    return [{ subject: id, subjectName: name, value, judgement: judge(value >= rule.threshold, false) }];
  });
}

async function creditsLow({ store, account }: ReadAlertsDeps, { threshold }: AlertRule): Promise<Reading[]> {
  if (account.settings.credits !== "metered") return [];
  const { balance } = await store.findBalance(account.id);
  const judgement = judge(balance < threshold, balance >= threshold * CREDITS_MARGIN);
  return [{ subject: "", subjectName: "", value: balance, judgement }];
}

function queueAges({ service: { now, oldestWaiting } }: ReadAlertsDeps, { threshold }: AlertRule): Reading[] {
  return URGENT_CLASSES.flatMap((type): Reading[] => {
    const since = oldestWaiting[type];
    if (since === undefined) return [];
    const value = Math.max(0, Math.floor((now - since) / SECOND_MS));
    return [{ subject: type, subjectName: type, value, judgement: judge(value >= threshold, value < threshold / 2) }];
  });
}

function certificateExpiry({ service }: ReadAlertsDeps, { threshold }: AlertRule): Reading[] {
  if (service.certificateExpiresAt === null) return [];
  const value = Math.floor((service.certificateExpiresAt - service.now) / DAY_MS);
  return [{ subject: "", subjectName: "", value, judgement: judge(value < threshold, value > threshold) }];
}
