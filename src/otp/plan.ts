import type { VerifyChannel } from "../model/verify-config.ts";

/** Stored encrypted with a verification that has further channels. */
export interface EncryptedOtpPlan {
  code: string;
  /** Absent in plans of an earlier version. */
  locale?: string | null;
  /** Absent without an address. */
  email?: string;
  /** The remaining channels of the configuration at the time the code was generated. */
  ways: readonly VerifyChannel[];
  /** The requests that sent the code after the first one. */
  requestIds: readonly string[];
}
