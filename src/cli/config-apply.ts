import { readFile } from "node:fs/promises";
import { checkMasterKey, loadMasterKey, sealEndpoints } from "../accounts/master-key.ts";
import { openStore } from "../app.ts";
import { changeSetUp } from "../catalog/change-set-up.ts";
import { changesNothing, type Plan } from "../catalog/plan-set-up.ts";
import { BadSetting, type Config } from "../config.ts";
import { systemClock } from "../lib/clock.ts";
import { createMint } from "../webhooks/mint.ts";
import { DEFAULT_ACCOUNT, noSuchAccount } from "./account-option.ts";
import { NotConfirmed } from "./not-confirmed.ts";
import { tellPlan } from "./tell-plan.ts";
import type { Terminal } from "./terminal.ts";

interface Wishes {
  account?: string | undefined;
  "dry-run"?: boolean | undefined;
  yes?: boolean | undefined;
}

/** Makes an account what a file says, once somebody has agreed to what that means. */
export async function applyConfig(
  config: Config,
  [path]: readonly string[],
  { account = DEFAULT_ACCOUNT, "dry-run": dryRun = false, yes = false }: Wishes,
  terminal: Terminal,
): Promise<string> {
  if (path === undefined) throw new BadSetting("name the file: config apply FILE");
  const file = await readSetUp(path);
  const store = await openStore(config, systemClock);
  try {
    const masterKey = loadMasterKey(config.masterKey, config.dataDir);
    await checkMasterKey(store, masterKey);
    const mint = createMint(sealEndpoints(masterKey));
    const agree = (plan: Plan): boolean | Promise<boolean> => {
      terminal.say(tellPlan(plan));
      return !dryRun && (yes || changesNothing(plan) || terminal.confirm("Apply this?"));
    };
    const isMeant = ({ name }: { name: string }): boolean => name === account;
    const changed = await changeSetUp({ store, clock: systemClock, mint }, isMeant, file, agree);
    if (!changed) throw noSuchAccount(account);
    if (changed.applied) return changesNothing(changed.plan) ? "" : "Applied.";
    if (dryRun) return "Nothing was changed: this was a dry run.";
    throw new NotConfirmed(
      terminal.canAsk ? "nothing was changed" : "nothing was changed: nobody could be asked, so give --yes to apply it",
    );
  } finally {
    await store.close();
  }
}

async function readSetUp(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new BadSetting(`${path} cannot be read: ${error.code ?? error.message}`, { cause: error });
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadSetting(`${path} is no JSON: ${(error as Error).message}`, { cause: error });
  }
}
