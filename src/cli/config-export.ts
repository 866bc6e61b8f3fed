import { openStore } from "../app.ts";
import { readStanding, writtenSetUp } from "../catalog/set-up.ts";
import type { Config } from "../config.ts";
import { systemClock } from "../lib/clock.ts";
import { DEFAULT_ACCOUNT, noSuchAccount } from "./account-option.ts";

/** The set-up of an account as a file to keep. */
export async function exportConfig(
  config: Config,
  _args: readonly string[],
  { account = DEFAULT_ACCOUNT }: { account?: string | undefined },
): Promise<string> {
  const store = await openStore(config, systemClock);
  try {
    const standing = await readStanding(store, ({ name }) => name === account);
    if (!standing) throw noSuchAccount(account);
    return JSON.stringify(writtenSetUp(standing), null, 2);
  } finally {
    await store.close();
  }
}
