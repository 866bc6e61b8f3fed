import type { Catalog } from "../records/catalog.ts";
import type { Account } from "../model/account.ts";
import { settleTimeOf, paidUnreportedPerDay, paysForItself } from "../model/pumping.ts";
import type { Verification } from "../model/verification.ts";
import type { DueVerification, VerifyStore } from "../store/verifications.ts";
import type { WebhookPlanner } from "../pipeline/group-commit.ts";
import { hasFailed } from "./advance-on-failure.ts";
import { tryNextChannel, type NextChannelDeps } from "./next-channel.ts";

export interface ResumeDueDeps extends NextChannelDeps {
  store: NextChannelDeps["store"] &
    Pick<
      VerifyStore,
      | "listDueVerifications"
      | "leaseDue"
      | "planNext"
      | "startNextNow"
      | "queueEndCallbacks"
      | "countDelivered"
      | "settleUnreported"
    >;
  catalog: Catalog;
  webhookPlanner: Pick<WebhookPlanner, "planVerification" | "onUnownedCallbacks">;
  accountOf(accountId: number): Account | null;
}

const AT_ONCE = 200;
/** A node has this long to finish a verification; then another node may take it. */
const LEASE_MS = 30_000;

/** Resumes due verifications: sends codes by their next channel, and reports ends to webhooks. */
export async function resumeDue(deps: ResumeDueDeps): Promise<void> {
  for (;;) {
    const due = await deps.store.listDueVerifications(deps.clock.now(), AT_ONCE);
    await Promise.all(due.map((each) => resume(deps, each)));
    if (due.length < AT_ONCE) return;
  }
}

async function resume(deps: ResumeDueDeps, due: DueVerification): Promise<void> {
  const { store, clock, catalog, accountOf, webhookPlanner } = deps;
  const { verification, followed, unreported, plan } = due;
  const { accountId, config, expiresAt } = verification;
  const account = accountOf(accountId);
  // A node that does not know the account yet leaves the verification to another, or to itself after the lease.
  const now = clock.now();
  const lease = now + LEASE_MS;
  const taken = await store.leaseDue(due, lease, now);
  if (taken === null || !account) return;
  const isSettled = unreported && (plan === null || taken.state !== "pending");
  if (isSettled) await settleUnreported(deps, account, { ...verification, ...taken }, lease);
  if (taken.state !== "pending") {
    const at = taken.doneAt ?? Math.min(now, expiresAt);
    const callbacks = followed ? webhookPlanner.planVerification(accountId, { ...verification, ...taken }, at) : [];
    await store.queueEndCallbacks(verification, lease, callbacks, now);
    if (callbacks.length > 0) webhookPlanner.onUnownedCallbacks();
    return;
  }
  const content = catalog.of(accountId).named("verifyConfig").get(config)?.content;
  const step = await tryNextChannel(deps, account, content, due);
  if (step === null) return;
  const { later, requestId } = step;
  const endAt = unreported && !isSettled ? Math.max(settleTimeOf(verification), now + 1) : followed ? expiresAt : null;
  const end = endAt === null ? null : { at: endAt, plan: null };
  const next = later && { ...later, at: Math.min(later.at, expiresAt) };
  await store.planNext(verification, lease, next ?? end, requestId);
  // The message may have failed before its request was linked to the verification.
  const message = next && requestId !== null ? await store.findMessage({ accountId, requestId, n: 1 }) : null;
  if (message && hasFailed(message.state)) await store.startNextNow({ accountId, requestId: message.requestId }, now);
}

/** Settles a code that no product reports on. Prefixes owe nothing without a guard, so nothing is paid. */
async function settleUnreported(
  { store, clock }: Pick<ResumeDueDeps, "store" | "clock">,
  { settings: { otpGuard } }: Account,
  verification: Verification,
  lease: number,
): Promise<void> {
  const delivered = (await store.countDelivered(verification.accountId, verification.id)) > 0;
  await store.settleUnreported(verification, lease, {
    pays: otpGuard !== null && paysForItself({ state: verification.state, delivered }),
    perDay: otpGuard === null ? 0 : paidUnreportedPerDay(otpGuard),
    now: clock.now(),
  });
}
