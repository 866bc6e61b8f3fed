import { DEFAULT_VERIFY_CONFIG } from "../../src/model/verify-config.ts";
import type { Acceptance } from "../../src/store/store.ts";
import type { NewVerification } from "../../src/store/verifications.ts";
import { acceptance } from "./acceptances.ts";

/** Digest of the correct code in all tests. */
export const DIGEST = "the right one";

/** Limits per number for tests of other features. */
export const ANY_NUMBER = { cooldownSeconds: 0, sendsPer10Minutes: 1000, sendsPerDay: 1000 } as const;

/** A code request as the store receives it. */
export function codeAcceptance(
  changes: Parameters<typeof acceptance>[0] = {},
  verification: Partial<NewVerification> = {},
): Acceptance {
  const request = acceptance({ routeClass: "OTP", ...changes });
  return {
    ...request,
    verification: {
      mode: request.message.test ? "test" : "live",
      config: "default",
      country: "US",
      digest: DIGEST,
      checksMax: 5,
      failuresPerHour: 10,
      failuresPerDay: 30,
      expiresAt: request.message.createdAt + 300_000,
      bound: false,
      caps: DEFAULT_VERIFY_CONFIG,
      fixed: false,
      guard: null,
      next: null,
      ...verification,
    },
  };
}
