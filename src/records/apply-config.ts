import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../lib/clock.ts";
import type { Account } from "../model/account.ts";
import { retryUntilCurrent } from "./catalog.ts";
import { planConfig, type ConfigPlan } from "./plan-config.ts";
import type { SystemIdChange } from "./plan-system-ids.ts";
import type { SecretFactory } from "./record-type.ts";
import { readCurrentConfig, type ConfigStore } from "./config-file.ts";

interface ApplyConfigDeps {
  store: ConfigStore;
  clock: Clock;
  secrets: SecretFactory;
  /** The stored digest of a username and password. */
  digestOf(secret: string): string;
}

/**
 * Applies a configuration file to an account in one transaction. `agree` confirms the plan, and is asked again if a
 * concurrent change leads to a different plan. Returns null if the account does not exist.
 */
export async function applyConfigFile(
  { store, clock, secrets, digestOf }: ApplyConfigDeps,
  isSelected: (account: Account) => boolean,
  file: unknown,
  agree: (plan: ConfigPlan, systemIds: readonly SystemIdChange[]) => boolean | Promise<boolean>,
): Promise<{ plan: ConfigPlan; applied: boolean } | null> {
  let agreed: ConfigPlan | null = null;
  return retryUntilCurrent(async () => {
    const current = await readCurrentConfig(store, isSelected);
    if (!current) return null;
    const { plan, change, systemIds } = planConfig(current, file, { now: clock.now(), secrets, digestOf });
    if (!isDeepStrictEqual(plan, agreed)) {
      if (!(await agree(plan, systemIds))) return { plan, applied: false };
      agreed = plan;
    }
    return (await store.changeSetUp(change)) ? { plan, applied: true } : "outdated";
  });
}
