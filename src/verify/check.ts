import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import type { Account } from "../model/account.ts";
import type { KeyMode } from "../model/api-key.ts";
import { Problem } from "../model/problem.ts";
import type { CheckResult } from "../store/verify-store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import type { Meters } from "../work/meters.ts";
import type { OtpDigest } from "./code.ts";
import type { ValidateDraft } from "./read.ts";

export interface CheckNeeds {
  commits: Pick<GroupCommit, "check">;
  clock: Clock;
  meters: Meters;
  digestOf: OtpDigest;
}

/**
 * No refusal is told sooner: several times what the store takes on a good disk, so that nobody can tell by the time which rows
 * it has touched. What the store does is about the same for each as well, for when it takes longer.
 */
const SOONEST_REFUSAL_MS = 5;

/**
 * Tries a code. Whatever becomes of it, the same is done: one digest, one write, one answer. Resolves when it was right
 * and the first to be; everything else is a problem that says what to do next.
 */
export async function checkOtp(
  { commits, clock, meters, digestOf }: CheckNeeds,
  account: Account,
  mode: KeyMode,
  { verifyId, otp }: ValidateDraft,
): Promise<void> {
  const at = clock.now();
  const id = verifyId.toLowerCase();
  const soonest = pause(SOONEST_REFUSAL_MS);
  const digest = digestOf(account.id, id, otp);
  const result = await commits.check.add({ accountId: account.id, mode, id, digest, at });
  meters.verifications(result.kind === "ended" ? result.state : result.kind).inc();
  if (result.kind === "verified") return;
  await soonest;
  throw refusalOf(result, verifyId, at);
}

function refusalOf(result: Exclude<CheckResult, { kind: "verified" }>, echo: string, at: number): Problem {
  if (result.kind === "unknown") return new Problem("VERIFICATION_NOT_FOUND", { echo });
  if (result.kind === "ended") return endedOf(result, echo, at);
  if (result.kind === "blocked")
    return new Problem("OTP_ATTEMPTS_EXHAUSTED", {
      message: "Too many wrong codes were tried for this number.",
      echo,
      retryAfterSeconds: secondsUntil(result.until, at),
      facts: { attemptsRemaining: 0 },
    });
  const { remaining } = result;
  const then =
    remaining === 0
      ? "It cannot be tried again: ask for a new one."
      : remaining === 1
        ? "One try is left."
        : `${remaining} tries are left.`;
  const faults = [{ parameter: "otp", message: `This is not the code that was sent. ${then}` }];
  return new Problem("OTP_INCORRECT", { echo, faults, facts: { attemptsRemaining: remaining } });
}

function endedOf({ state, expiresAt }: Extract<CheckResult, { kind: "ended" }>, echo: string, at: number): Problem {
  if (state === "verified") return new Problem("OTP_ALREADY_VERIFIED", { echo });
  if (state === "expired") return new Problem("OTP_EXPIRED", { echo });
  if (state === "superseded") return new Problem("OTP_SUPERSEDED", { echo });
  const retryAfterSeconds = secondsUntil(expiresAt, at);
  return new Problem("OTP_ATTEMPTS_EXHAUSTED", { echo, retryAfterSeconds, facts: { attemptsRemaining: 0 } });
}

/** As `Retry-After` has it. */
export const secondsUntil = (until: number, at: number): number => Math.max(1, Math.ceil((until - at) / 1000));
