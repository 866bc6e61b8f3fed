import type { Encryption } from "../lib/encryption.ts";
import { accept, RefusedByLimit } from "../pipeline/accept/accept.ts";
import { mayReplace, routesFor } from "../pipeline/dispatch/choose-route.ts";
import type { Account } from "../model/account.ts";
import { customerStatus } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Verification } from "../model/verification.ts";
import type { VerifyChannel, VerifyConfigContent } from "../model/verify-config.ts";
import type { MessageStore, StoredMessage } from "../store/store.ts";
import type { DueVerification, NewVerification } from "../store/verifications.ts";
import { addressKey, areLimitsBinding, prepareOtp } from "./deliver.ts";
import type { GenerateOtpDeps } from "./generate.ts";
import type { EncryptedOtpPlan } from "./plan.ts";

export interface NextChannelDeps extends GenerateOtpDeps {
  store: Pick<MessageStore, "findMessage">;
  encryption: Encryption;
}

/** The next step of a verification after a channel was tried. */
export interface NextStep {
  /** Null when every channel was tried, or the code has arrived. */
  later: { at: number; plan: string } | null;
  /** The request that sends the code now; null when none does. */
  requestId: string | null;
}

const DONE: NextStep = { later: null, requestId: null };

/**
 * Sends a code that has not arrived in time by the next channel. Null means that another node does so already.
 * Next: src/pipeline/accept/accept.ts
 */
export async function tryNextChannel(
  deps: NextChannelDeps,
  account: Account,
  config: VerifyConfigContent | undefined,
  { verification, plan }: DueVerification,
): Promise<NextStep | null> {
  if (plan === null || !config) return DONE;
  const { clock, log } = deps;
  const now = clock.now();
  const stored = JSON.parse(deps.encryption.decrypt(plan)) as EncryptedOtpPlan;
  const { code, locale = null, email = null, ways, requestIds } = stored;
  const [channel, ...rest] = ways;
  if (!channel) return DONE;
  const sent = await messagesOf(deps, account, [verification.id, ...requestIds]);
  if (hasArrived(sent)) return DONE;
  const laterWith = (ids: readonly string[], at: number): NextStep["later"] => {
    if (rest.length === 0) return null;
    return {
      at,
      plan: deps.encryption.encrypt(
        JSON.stringify({ ...stored, ways: rest, requestIds: ids } satisfies EncryptedOtpPlan),
      ),
    };
  };
  const skipped = { accountId: account.id, verifyId: verification.id, channel: channel.channel };
  if (isSimulatedStandIn(deps, channel, verification, sent)) {
    log.warn(skipped, "otp channel skipped: a simulated carrier does not replace a real one that is down");
    return { later: laterWith(requestIds, now), requestId: null };
  }
  try {
    const requestId = await sendByChannel(
      deps,
      { account, config, verification, code, email, locale, left: ways.length },
      channel,
    );
    return { later: laterWith([...requestIds, requestId], now + channel.waitSeconds * 1000), requestId };
  } catch (error) {
    if (error instanceof RefusedByLimit) {
      const limits = error.admission.refused.map(({ limit }) => limit);
      log.warn({ ...skipped, limits }, "otp channels refused by limits");
      return DONE;
    }
    // A channel whose template or bot was deleted is skipped.
    if (!(error instanceof Problem)) throw error;
    // Held or overloaded: the code is sent later, by the same channel.
    if (["IDEMPOTENCY_IN_PROGRESS", "SERVICE_HELD", "STORAGE_FULL", "OVERLOADED"].includes(error.code)) return null;
    log.warn({ ...skipped, errorCode: error.code }, "otp channel skipped");
    return { later: laterWith(requestIds, now), requestId: null };
  }
}

/** True if the channel leads to the simulator while the code still waits for a real carrier of another channel. */
function isSimulatedStandIn(
  { preparing: { catalog } }: NextChannelDeps,
  { channel, from }: VerifyChannel,
  { accountId, number, test }: Verification,
  sent: readonly StoredMessage[],
): boolean {
  const waiting = sent.filter(({ state }) => state === "accepted");
  if (test || waiting.length === 0) return false;
  const records = catalog.of(accountId);
  const message = { channel, routeClass: "OTP", sender: from, recipient: number } as const;
  return routesFor(records, message).length > 0 && !mayReplace(records, message, waiting);
}

/** The messages that carry the code so far. */
async function messagesOf(
  { store }: NextChannelDeps,
  { id: accountId }: Account,
  requestIds: readonly string[],
): Promise<readonly StoredMessage[]> {
  const messages = await Promise.all(requestIds.map((requestId) => store.findMessage({ accountId, requestId, n: 1 })));
  return messages.filter((message) => message !== null);
}

/** An earlier channel may deliver late, after a later one was tried. */
const hasArrived = (messages: readonly StoredMessage[]): boolean =>
  messages.some(({ state }) => customerStatus(state) === "Delivered");

interface Hop {
  account: Account;
  config: VerifyConfigContent;
  verification: Verification;
  code: string;
  email: string | null;
  locale: string | null;
  /** Channels left, including this one. */
  left: number;
}

/** Sends the code exactly once: the idempotency key makes a node that takes over after a crash get the same answer. */
async function sendByChannel(deps: NextChannelDeps, hop: Hop, channel: VerifyChannel): Promise<string> {
  const { account, config, verification, code, email, locale, left } = hop;
  const { id, number, mode, expiresAt } = verification;
  const leftMs = expiresAt - deps.clock.now();
  const delivery = {
    account,
    test: mode === "test",
    // As it was when the code was generated: the configuration may have changed since.
    fixed: verification.test && mode === "live",
    number,
    written: null,
    email,
    locale,
    config: { ...config, lifeSeconds: leftMs / 1000 },
  };
  const prepared = await prepareOtp(deps, delivery, channel, code);
  const { answer } = await accept(deps.accepting, {
    prepared,
    idempotency: { path: "next channel", key: `${id}/${left}`, body: null },
    answer: (requestId) => requestId,
    validForMs: leftMs,
    verification: () => continuing(deps, hop, channel),
  });
  return answer;
}

/** A further message of a verification: without cooldown, but within the daily limit and the pumping guard. */
function continuing(
  { preparing, digestOf }: NextChannelDeps,
  { account, config, verification, email }: Hop,
  channel: VerifyChannel,
): NewVerification {
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
    bound: areLimitsBinding(asked, preparing.catalog.of(account.id)),
    caps: { cooldownSeconds: 0, sendsPer10Minutes: sendsPerDay, sendsPerDay },
    fixed,
    address: fixed ? null : addressKey(digestOf, account.id, channel, email),
    guard: fixed ? null : account.settings.otpGuard,
    next: null,
    continues: true,
  };
}
