import type { Catalog } from "../catalog/catalog.ts";
import type { Account } from "../model/account.ts";
import type { DueVerification, VerifyStore } from "../store/verify-store.ts";
import type { Herald } from "../work/group-commit.ts";
import { turnToNextChannel, type NextChannelNeeds } from "./next-channel.ts";

export interface TakeUpNeeds extends NextChannelNeeds {
  store: NextChannelNeeds["store"] & Pick<VerifyStore, "listDueVerifications" | "takeUp" | "planNext" | "tellEnd">;
  catalog: Catalog;
  herald: Pick<Herald, "verificationOf" | "onStored">;
  accountOf(accountId: number): Account | null;
}

const AT_ONCE = 200;
/** Whoever takes one up has so long to see it through; then another node may. */
const LEASE_MS = 30_000;

/** Does with verifications what is due: a code goes on by its next channel, an end is told to whoever follows it. */
export async function takeUpDue(needs: TakeUpNeeds): Promise<void> {
  for (;;) {
    const due = await needs.store.listDueVerifications(needs.clock.now(), AT_ONCE);
    await Promise.all(due.map((each) => takeUp(needs, each)));
    if (due.length < AT_ONCE) return;
  }
}

async function takeUp(needs: TakeUpNeeds, due: DueVerification): Promise<void> {
  const { store, clock, catalog, accountOf, herald } = needs;
  const { verification, followed } = due;
  const { accountId, config, expiresAt } = verification;
  const account = accountOf(accountId);
  // A node that has not heard of the account yet leaves it to one that has, or to itself when the lease is over.
  const now = clock.now();
  const lease = now + LEASE_MS;
  const taken = await store.takeUp(due, lease, now);
  if (taken === null || !account) return;
  if (taken.state !== "pending") {
    const at = taken.doneAt ?? Math.min(now, expiresAt);
    const callbacks = followed ? herald.verificationOf(accountId, { ...verification, ...taken }, at) : [];
    await store.tellEnd(verification, lease, callbacks, now);
    if (callbacks.length > 0) herald.onStored();
    return;
  }
  const content = catalog.of(accountId).named("verifyConfig").get(config)?.content;
  const step = await turnToNextChannel(needs, account, content, due);
  if (step === null) return;
  const { later, requestId } = step;
  const end = followed ? { at: expiresAt, plan: null } : null;
  const next = later && { ...later, at: Math.min(later.at, expiresAt) };
  await store.planNext(verification, lease, next ?? end, requestId);
}
