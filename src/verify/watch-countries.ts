import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Account } from "../model/account.ts";
import { countryAlerts, watchedTime, type CountryAlert } from "../model/country-alert.ts";
import { DEFAULT_GUARD } from "../model/pumping.ts";
import { HOUR_MS } from "../model/verification.ts";
import type { RecordStore } from "../store/record-store.ts";
import type { VerifyStore } from "../store/verify-store.ts";
import type { Meters } from "../work/meters.ts";

/** Countries of an account in which fewer codes are used than should be. */
export async function alertsOf(
  { store, clock }: { store: Pick<VerifyStore, "countCountryHours">; clock: Clock },
  { id, settings }: Pick<Account, "id" | "settings">,
): Promise<CountryAlert[]> {
  const now = clock.now();
  const { from, until } = watchedTime(now);
  const hours = await store.countCountryHours(id, from, until);
  return countryAlerts(hours, (settings.otpGuard ?? DEFAULT_GUARD).conversionPercent, now);
}

export interface WatchNeeds {
  store: Pick<VerifyStore, "countCountryHours"> & Pick<RecordStore, "listAccounts">;
  clock: Clock;
  log: Log;
  meters: Meters;
}

/** Shows countries with alerts in the figures, and says so in the log, of each once an hour. */
export function watchCountries(needs: WatchNeeds): () => Promise<void> {
  const said = new Map<string, number>();
  return async () => {
    const { store, clock, log, meters } = needs;
    const counts = new Map<string, number>();
    for (const account of await store.listAccounts())
      for (const alert of await alertsOf(needs, account)) {
        const { country } = alert;
        counts.set(country, (counts.get(country) ?? 0) + 1);
        const key = `${account.id} ${country}`;
        if ((said.get(key) ?? 0) > clock.now() - HOUR_MS) continue;
        said.set(key, clock.now());
        log.warn({ accountId: account.id, ...alert }, "few codes were used in a country");
      }
    meters.countryAlerts.clear();
    for (const [country, count] of counts) meters.countryAlerts.set(country, count);
  };
}
