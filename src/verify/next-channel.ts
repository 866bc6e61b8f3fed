import type { Seal } from "../lib/seal.ts";
import { accept, HeldBack } from "../messages/accept.ts";
import type { Account } from "../model/account.ts";
import { customerStatus } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Verification } from "../model/verification.ts";
import type { VerifyChannel, VerifyConfigContent } from "../model/verify-config.ts";
import type { MessageStore } from "../store/store.ts";
import type { DueVerification, NewVerification } from "../store/verify-store.ts";
import { isBinding, prepareOtp } from "./bring.ts";
import type { GenerateNeeds } from "./generate.ts";
import type { Plan } from "./plan.ts";

export interface NextChannelNeeds extends GenerateNeeds {
  store: Pick<MessageStore, "findMessage">;
  seal: Seal;
}

/** What there is to do with a verification after its channel had its turn. */
export interface NextStep {
  /** Null when every channel has had its turn, or the code has arrived. */
  later: { at: number; plan: string } | null;
  /** The request that brings the code now; null when none does. */
  requestId: string | null;
}

const DONE: NextStep = { later: null, requestId: null };

/**
 * Brings a code that has not arrived in time by the next channel. Null means that somebody else is at it already.
 * Next: src/messages/accept.ts
 */
export async function turnToNextChannel(
  needs: NextChannelNeeds,
  account: Account,
  config: VerifyConfigContent | undefined,
  { verification, plan }: DueVerification,
): Promise<NextStep | null> {
  if (plan === null || !config) return DONE;
  const { clock, log } = needs;
  const now = clock.now();
  const { code, ways, requestIds } = JSON.parse(needs.seal.open(plan)) as Plan;
  const [way, ...rest] = ways;
  if (!way || (await hasArrived(needs, account, [verification.id, ...requestIds]))) return DONE;
  const laterWith = (ids: readonly string[], at: number): NextStep["later"] => {
    if (rest.length === 0) return null;
    return { at, plan: needs.seal.seal(JSON.stringify({ code, ways: rest, requestIds: ids } satisfies Plan)) };
  };
  const skipped = { accountId: account.id, verifyId: verification.id, channel: way.channel };
  try {
    const requestId = await bringBy(needs, { account, config, verification, code, left: ways.length }, way);
    return { later: laterWith([...requestIds, requestId], now + way.waitSeconds * 1000), requestId };
  } catch (error) {
    if (error instanceof HeldBack) {
      const limits = error.admission.refused.map(({ limit }) => limit);
      log.warn({ ...skipped, limits }, "channels of a verification held back");
      return DONE;
    }
    // A channel whose template or bot is gone is passed over, and the one after it has its turn.
    if (!(error instanceof Problem)) throw error;
    if (error.code === "IDEMPOTENCY_IN_PROGRESS") return null;
    log.warn({ ...skipped, code: error.code }, "channel of a verification passed over");
    return { later: laterWith(requestIds, now), requestId: null };
  }
}

/** Whether any of the messages has arrived: an earlier channel may do so late, while a later one has its turn. */
async function hasArrived(
  { store }: NextChannelNeeds,
  { id: accountId }: Account,
  requestIds: readonly string[],
): Promise<boolean> {
  const messages = await Promise.all(requestIds.map((requestId) => store.findMessage({ accountId, requestId, n: 1 })));
  return messages.some((message) => message !== null && customerStatus(message.state) === "Delivered");
}

interface Hop {
  account: Account;
  config: VerifyConfigContent;
  verification: Verification;
  code: string;
  /** How many channels are left, this one among them. */
  left: number;
}

/** Sends the code once more, and once only: a node that died after it had is followed by one that gets the same answer. */
async function bringBy(needs: NextChannelNeeds, hop: Hop, way: VerifyChannel): Promise<string> {
  const { account, config, verification, code, left } = hop;
  const { id, number, test, expiresAt } = verification;
  const leftMs = expiresAt - needs.clock.now();
  const bringing = { account, test, number, written: null, config: { ...config, lifeSeconds: leftMs / 1000 } };
  const prepared = await prepareOtp(needs, bringing, way, code);
  const { answer } = await accept(needs.accepting, {
    prepared,
    idempotency: { path: "next channel", key: `${id}/${left}`, body: null },
    answer: (requestId) => requestId,
    validForMs: leftMs,
    verification: () => continuing(needs, hop),
  });
  return answer;
}

/** What a further message of a verification counts as: no cooldown holds it back, but the day's sends and the guard do. */
function continuing({ preparing }: NextChannelNeeds, { account, config, verification }: Hop): NewVerification {
  const { mode, number, country, digest, checksMax, expiresAt } = verification;
  const { sendsPerDay, failuresPerHour, failuresPerDay } = config;
  const fixed = config.testNumbers.some((each) => each.number === number);
  const asked = { account, test: mode === "test", number, config };
  return {
    mode,
    config: verification.config,
    country,
    digest,
    checksMax,
    failuresPerHour,
    failuresPerDay,
    expiresAt,
    bound: isBinding(asked, preparing.catalog.of(account.id)),
    caps: { cooldownSeconds: 0, sendsPer10Minutes: sendsPerDay, sendsPerDay },
    fixed,
    guard: fixed ? null : account.settings.otpGuard,
    next: null,
    continues: true,
  };
}
