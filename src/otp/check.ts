import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import type { Account } from "../model/account.ts";
import type { KeyMode } from "../model/api-key.ts";
import { Problem } from "../model/problem.ts";
import type { Verification } from "../model/verification.ts";
import type { CheckResult } from "../store/verifications.ts";
import type { GroupCommit } from "../pipeline/group-commit.ts";
import type { Metrics } from "../metrics.ts";
import type { OtpDigest } from "./code.ts";
import type { ValidateDraft } from "./read.ts";

export interface CheckOtpDeps {
  commits: Pick<GroupCommit, "check">;
  clock: Clock;
  metrics: Metrics;
  digestOf: OtpDigest;
}

/**
 * Timing attack: no refusal is answered sooner than this, which is several times a commit on a good disk, so that the time does
 * not reveal which rows were touched. The store also does about the same work for each refusal.
 */
const REFUSAL_TIME_MIN_MS = 5;

/**
 * Checks a code with the same work for every result: one digest, one write, one answer. Resolves for the first correct check;
 * every other result is a problem with the next step.
 */
export async function checkOtp(
  { commits, clock, metrics, digestOf }: CheckOtpDeps,
  account: Account,
  mode: KeyMode,
  { verifyId, otp }: ValidateDraft,
): Promise<void> {
  const at = clock.now();
  const id = verifyId.toLowerCase();
  const minimumTime = pause(REFUSAL_TIME_MIN_MS);
  const digest = digestOf(account.id, id, otp);
  const result = await commits.check.add({ accountId: account.id, mode, id, digest, at });
  metrics.verifications(result.kind === "ended" ? result.state : result.kind).inc();
  if (result.kind === "verified") return;
  await minimumTime;
  throw refusalOf(result, verifyId, at);
}

/** Marks a pending verification as verified without its code, by the same write as a correct check. */
export function approveOtp(
  deps: Omit<CheckOtpDeps, "digestOf">,
  account: Account,
  { id, mode, digest }: Pick<Verification, "id" | "mode" | "digest">,
): Promise<void> {
  return checkOtp({ ...deps, digestOf: () => digest }, account, mode, { verifyId: id, otp: "" });
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
  if (state === "expired" || state === "cancelled") return new Problem("OTP_EXPIRED", { echo });
  if (state === "superseded") return new Problem("OTP_SUPERSEDED", { echo });
  const retryAfterSeconds = secondsUntil(expiresAt, at);
  return new Problem("OTP_ATTEMPTS_EXHAUSTED", { echo, retryAfterSeconds, facts: { attemptsRemaining: 0 } });
}

/** Whole seconds for `Retry-After`. */
export const secondsUntil = (until: number, at: number): number => Math.max(1, Math.ceil((until - at) / 1000));
