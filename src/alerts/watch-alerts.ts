import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { Membership } from "../cluster/membership.ts";
import { forEachIsolated } from "../cluster/for-each-isolated.ts";
import type { Account } from "../model/account.ts";
import type { Alert, AlertRule } from "../model/alert.ts";
import type { Catalog } from "../records/catalog.ts";
import type { AlertNotice, AlertStore } from "../store/alerts.ts";
import type { CreditStore } from "../store/credits.ts";
import type { OldestWaitingStore } from "../store/oldest-waiting.ts";
import type { RecordStore } from "../store/records.ts";
import type { StatsStore } from "../store/stats.ts";
import { callbacksFor } from "../webhooks/fan-out.ts";
import { readAlerts, type Reading, type ServiceFacts } from "./read-alerts.ts";
import { alertRulesOf } from "./rules.ts";

/** Pause between two looks at an account. With many accounts it grows, so that a run looks at a few of them. */
const ACCOUNT_PAUSE_MS = 5000;
const ACCOUNTS_PER_RUN = 50;

export interface WatchAlertsDeps {
  store: AlertStore &
    Pick<CreditStore, "findBalance"> &
    Pick<StatsStore, "sumStats"> &
    Pick<OldestWaitingStore, "listOldestWaiting"> &
    Pick<RecordStore, "listAccounts">;
  catalog: Catalog;
  membership: Pick<Membership, "rank" | "alive" | "sends" | "count">;
  clock: Clock;
  log: Log;
  certificateExpiresAt(): number | null;
  /** New callbacks wait for a dispatcher. */
  onStored(): void;
}

/** Evaluates the alert rules of all accounts, on one node. All state is in the store, so another node can go on. */
export function watchAlerts(deps: WatchAlertsDeps): () => Promise<void> {
  const lookedAt = new Map<number, number>();
  return async () => {
    const { store, membership, clock } = deps;
    if (!membership.alive || membership.rank > 0 || (!membership.sends && membership.count > 0)) return;
    const accounts = await store.listAccounts();
    const first = accounts.reduce((least, { id }) => Math.min(least, id), Infinity);
    const time = clock.monotonic();
    const at = ({ id }: Account): number => lookedAt.get(id) ?? -Infinity;
    const due = accounts
      .filter((account) => at(account) <= time - ACCOUNT_PAUSE_MS)
      .toSorted((one, other) => at(one) - at(other))
      .slice(0, ACCOUNTS_PER_RUN);
    if (due.length === 0) return;
    const service = await readService(deps);
    await forEachIsolated(deps, "alerts", due, async (account) => {
      lookedAt.set(account.id, time);
      await evaluate(deps, account, service, alertRulesOf(deps.catalog.of(account.id), account.id === first));
    });
  };
}

async function readService({ store, clock, certificateExpiresAt }: WatchAlertsDeps): Promise<ServiceFacts> {
  const now = clock.now();
  const [carriers, oldestWaiting] = await Promise.all([store.listCarrierSightings(), store.listOldestWaiting(now)]);
  return { now, carriers, oldestWaiting, certificateExpiresAt: certificateExpiresAt() };
}

const keyOf = ({ rule, subject }: Pick<Alert, "rule" | "subject">): string => JSON.stringify([rule, subject]);

/** Opens and resolves the alerts of one account. Repeating it changes nothing. */
async function evaluate(
  deps: WatchAlertsDeps,
  account: Account,
  service: ServiceFacts,
  rules: readonly AlertRule[],
): Promise<void> {
  const { store } = deps;
  const catalog = deps.catalog.of(account.id);
  const resolvable = new Map((await store.listOpenAlerts(account.id)).map((alert) => [keyOf(alert), alert]));
  for (const rule of rules) {
    if (!rule.enabled) continue;
    for (const reading of await readAlerts({ store, catalog, account, service }, rule)) {
      const key = keyOf({ rule: rule.id, subject: reading.subject });
      const isOpen = resolvable.has(key);
      if (reading.judgement !== "good") resolvable.delete(key);
      if (reading.judgement === "bad" && !isOpen) await openAlert(deps, account, rule, reading, service.now);
    }
  }
  // An alert resolves when its reading is good again, or when its rule or subject is gone.
  for (const alert of resolvable.values()) await resolveAlert(deps, account, alert, service.now);
}

async function openAlert(
  deps: WatchAlertsDeps,
  account: Account,
  rule: AlertRule,
  { subject, subjectName, value }: Reading,
  now: number,
): Promise<void> {
  const { store, log } = deps;
  const alert: Alert = {
    accountId: account.id,
    id: newId(now),
    rule: rule.id,
    ruleName: rule.name,
    alert: rule.alert,
    subject,
    subjectName,
    state: "open",
    value,
    threshold: rule.threshold,
    openedAt: now,
    resolvedAt: null,
    acknowledgedAt: null,
    acknowledgedBy: null,
    mutedUntil: await store.findMute({ accountId: account.id, rule: rule.id, subject }, now),
  };
  if (!(await store.openAlert(alert, noticeOf(deps, account, alert, now)))) return;
  log.warn({ accountId: account.id, alert: rule.alert, alertId: alert.id, value }, "alert opened");
  deps.onStored();
}

async function resolveAlert(deps: WatchAlertsDeps, account: Account, open: Alert, now: number): Promise<void> {
  const alert: Alert = { ...open, state: "resolved", resolvedAt: now };
  await deps.store.resolveAlert(alert, noticeOf(deps, account, alert, now));
  deps.log.info({ accountId: account.id, alert: alert.alert, alertId: alert.id }, "alert resolved");
  deps.onStored();
}

/** The event and the e-mails of a change; none while the alert is muted. */
function noticeOf({ catalog }: WatchAlertsDeps, { id, settings }: Account, alert: Alert, now: number): AlertNotice {
  if (alert.mutedUntil !== null && alert.mutedUntil > now) return { callbacks: [], recipients: [], at: now };
  const { ruleName, alert: kind, subject, subjectName, state, value, threshold } = alert;
  const facts = { id: alert.id, ruleName, alert: kind, subject, subjectName, state, value, threshold };
  const happening = { kind: "alert", at: now, alert: facts } as const;
  return {
    callbacks: callbacksFor({ catalog }, id, newId(now), "system", happening),
    recipients: [...new Set(settings.alertEmail?.to)],
    at: now,
  };
}
