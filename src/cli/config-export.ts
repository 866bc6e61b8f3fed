import { openStore } from "../app/storage.ts";
import { readCurrentConfig, configFileOf } from "../records/config-file.ts";
import type { Config } from "../config.ts";
import { systemClock } from "../lib/clock.ts";
import { DEFAULT_ACCOUNT, noSuchAccount } from "./account-option.ts";

/** Exports the configuration of an account as a file. */
export async function exportConfig(
  config: Config,
  _args: readonly string[],
  { account = DEFAULT_ACCOUNT }: { account?: string | undefined },
): Promise<string> {
  const store = await openStore(config, systemClock);
  try {
    const current = await readCurrentConfig(store, ({ name }) => name === account);
    if (!current) throw noSuchAccount(account);
    return JSON.stringify(configFileOf(current), null, 2);
  } finally {
    await store.close();
  }
}
