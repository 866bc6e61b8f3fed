import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Account } from "../model/account.ts";
import { countryAlerts, watchedTime, type CountryAlert } from "../model/country-alert.ts";
import { DEFAULT_GUARD } from "../model/pumping.ts";
import { HOUR_MS } from "../model/verification.ts";
import type { RecordStore } from "../store/records.ts";
import type { VerifyStore } from "../store/verifications.ts";
import type { Metrics } from "../metrics.ts";

/** Countries of an account with a low conversion of codes. */
export async function alertsOf(
  { store, clock }: { store: Pick<VerifyStore, "countCountryHours">; clock: Clock },
  { id, settings }: Pick<Account, "id" | "settings">,
): Promise<CountryAlert[]> {
  const now = clock.now();
  const { from, until } = watchedTime(now);
  const hours = await store.countCountryHours(id, from, until);
  return countryAlerts(hours, (settings.otpGuard ?? DEFAULT_GUARD).conversionPercent, now);
}

export interface WatchCountriesDeps {
  store: Pick<VerifyStore, "countCountryHours"> & Pick<RecordStore, "listAccounts">;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** Exports countries with alerts as a metric, and logs each once an hour. */
export function watchCountries(deps: WatchCountriesDeps): () => Promise<void> {
  const loggedAt = new Map<string, number>();
  return async () => {
    const { store, clock, log, metrics } = deps;
    const counts = new Map<string, number>();
    for (const account of await store.listAccounts())
      for (const alert of await alertsOf(deps, account)) {
        const { country } = alert;
        counts.set(country, (counts.get(country) ?? 0) + 1);
        const key = `${account.id} ${country}`;
        if ((loggedAt.get(key) ?? 0) > clock.now() - HOUR_MS) continue;
        loggedAt.set(key, clock.now());
        log.warn({ accountId: account.id, ...alert }, "otp conversion low in country");
      }
    metrics.countryAlerts.clear();
    for (const [country, count] of counts) metrics.countryAlerts.set(country, count);
  };
}
