import type { Catalog } from "../catalog/catalog.ts";
import type { Seal } from "../lib/seal.ts";
import { accept } from "../messages/accept.ts";
import type { Account } from "../model/account.ts";
import { customerStatus } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { MessageStore } from "../store/store.ts";
import type { DueNext, VerifyStore } from "../store/verify-store.ts";
import { prepareOtp } from "./bring.ts";
import type { GenerateNeeds } from "./generate.ts";

export interface NextChannelNeeds extends GenerateNeeds {
  store: Pick<VerifyStore, "listNextChannels" | "planNext"> & Pick<MessageStore, "findMessage">;
  catalog: Catalog;
  seal: Seal;
  accountOf(accountId: number): Account | null;
}

const AT_ONCE = 200;
/** Whoever takes one up has so long to see it through; then another node may. */
const LEASE_MS = 30_000;

/** What lies sealed with a verification that may go on by another channel. */
interface Plan {
  code: string;
  /** The channel that is next. */
  place: number;
}

/** Codes that have not arrived in time go on by the next channel of their configuration. Next: src/messages/accept.ts */
export async function turnToNextChannel(needs: NextChannelNeeds): Promise<void> {
  const due = await needs.store.listNextChannels(needs.clock.now(), AT_ONCE);
  await Promise.all(due.map((each) => turn(needs, each)));
}

async function turn(needs: NextChannelNeeds, due: DueNext): Promise<void> {
  const { store, clock, catalog, accountOf, log } = needs;
  const { verification, plan, at, lastRequestId } = due;
  const { accountId, id } = verification;
  const now = clock.now();
  const lease = now + LEASE_MS;
  if (!(await store.planNext(verification, at, { at: lease, plan }, lastRequestId))) return;
  const account = accountOf(accountId);
  const config = catalog.of(accountId).named("verifyConfig").get(verification.config)?.content;
  const message = await store.findMessage({ accountId, requestId: lastRequestId, n: 1 });
  const arrived = message !== null && customerStatus(message.state) === "Delivered";
  const { code, place } = JSON.parse(needs.seal.open(plan)) as Plan;
  const way = config?.channels[place];
  if (!account || !config || !way || arrived || verification.state !== "pending" || verification.expiresAt <= now) {
    await store.planNext(verification, lease, null, lastRequestId);
    return;
  }
  const { number, test } = verification;
  try {
    const bringing = { account, test, number, written: null, config };
    const prepared = await prepareOtp(needs, bringing, way, code);
    const { answer } = await accept(needs.accepting, {
      prepared,
      idempotency: null,
      answer: (requestId) => requestId,
      validForMs: verification.expiresAt - now,
    });
    const isLast = place + 1 >= config.channels.length;
    const next = { code, place: place + 1 } satisfies Plan;
    const later = { at: now + way.waitSeconds * 1000, plan: needs.seal.seal(JSON.stringify(next)) };
    await store.planNext(verification, lease, isLast ? null : later, answer);
  } catch (error) {
    // A channel whose template or bot is gone is passed over, and the one after it has its turn.
    if (!(error instanceof Problem)) throw error;
    log.warn(
      { accountId, verifyId: id, channel: way.channel, code: error.code },
      "channel of a verification passed over",
    );
    const next = { code, place: place + 1 } satisfies Plan;
    await store.planNext(verification, lease, { at: now, plan: needs.seal.seal(JSON.stringify(next)) }, lastRequestId);
  }
}
