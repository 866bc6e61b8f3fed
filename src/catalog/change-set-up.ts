import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../lib/clock.ts";
import type { Account } from "../model/account.ts";
import { tryUntilFresh } from "./catalog.ts";
import { planSetUp, type Plan } from "./plan-set-up.ts";
import type { Mint } from "./record-kind.ts";
import { readStanding, type SetUpStore } from "./set-up.ts";

interface Needs {
  store: SetUpStore;
  clock: Clock;
  mint: Mint;
}

/**
 * Makes an account what a file says, all of it or nothing. `agree` is asked about the plan; it is asked again when
 * somebody else changed something meanwhile that makes it another plan. Null when the account is not there.
 */
export async function changeSetUp(
  { store, clock, mint }: Needs,
  isMeant: (account: Account) => boolean,
  file: unknown,
  agree: (plan: Plan) => boolean | Promise<boolean>,
): Promise<{ plan: Plan; applied: boolean } | null> {
  let agreed: Plan | null = null;
  return tryUntilFresh(async () => {
    const standing = await readStanding(store, isMeant);
    if (!standing) return null;
    const { plan, change } = planSetUp(standing, file, { now: clock.now(), mint });
    if (!isDeepStrictEqual(plan, agreed)) {
      if (!(await agree(plan))) return { plan, applied: false };
      agreed = plan;
    }
    return (await store.changeSetUp(change)) ? { plan, applied: true } : "outdated";
  });
}
