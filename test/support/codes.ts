import { DEFAULT_VERIFY_CONFIG } from "../../src/model/verify-config.ts";
import type { Acceptance } from "../../src/store/store.ts";
import type { NewVerification } from "../../src/store/verify-store.ts";
import { acceptance } from "./acceptances.ts";

/** What the right code of every verification here is recognised by. */
export const DIGEST = "the right one";

/** What a number may be sent where a test is not about that. */
export const ANY_NUMBER = { cooldownSeconds: 0, sendsPer10Minutes: 1000, sendsPerDay: 1000 } as const;

/** A request that sends a code, as it reaches the store. */
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
