import { openStore } from "../app/storage.ts";
import type { Config } from "../config.ts";
import { systemClock } from "../lib/clock.ts";
import { table } from "./remote/table.ts";

/** `account list`: the accounts of the database, also while the server runs. */
export async function listAccounts(
  config: Config,
  _words: readonly string[],
  { json }: { json?: boolean | undefined },
): Promise<string> {
  const store = await openStore(config, systemClock);
  try {
    const accounts = (await store.listAccounts()).map(({ id, name, suspended }) => ({ id, name, suspended }));
    const lines = accounts.map(({ name, suspended }) => [name, suspended ? "suspended" : "active"]);
    return json ? JSON.stringify(accounts, null, 2) : table(["NAME", "STATE"], lines);
  } finally {
    await store.close();
  }
}
