import {
  ALERT_KINDS,
  ALERTS,
  USUAL_MINIMUM,
  USUAL_WINDOW_MINUTES,
  type AlertKind,
  type AlertRule,
} from "../model/alert.ts";
import type { AccountCatalog } from "../records/catalog.ts";

const usualRule = (alert: AlertKind): AlertRule => ({
  id: `usual:${alert}`,
  name: ALERTS[alert].name,
  alert,
  threshold: ALERTS[alert].threshold?.usual ?? 0,
  windowMinutes: USUAL_WINDOW_MINUTES,
  minimum: USUAL_MINIMUM,
  enabled: true,
  isUsual: true,
});

/** The rules of an account. A record of a kind replaces the usual rule of this kind. */
export function alertRulesOf(catalog: Pick<AccountCatalog, "named">, isFirstAccount: boolean): AlertRule[] {
  const own = [...catalog.named("alertRule").values()];
  return ALERT_KINDS.flatMap((alert): AlertRule[] => {
    const records = own.filter(({ content }) => content.alert === alert);
    if (records.length === 0) return ALERTS[alert].isOfService && !isFirstAccount ? [] : [usualRule(alert)];
    return records.map(({ id, name, content }) => ({
      id,
      name,
      ...content,
      threshold: content.threshold ?? ALERTS[alert].threshold?.usual ?? 0,
      isUsual: false,
    }));
  });
}
