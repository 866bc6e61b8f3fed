import type { VerifyChannel } from "../model/verify-config.ts";

/** What lies sealed with a verification that may go on by another channel. */
export interface Plan {
  code: string;
  /** The channels that are left, as the configuration had them when the code was made. */
  ways: readonly VerifyChannel[];
  /** The requests that brought it after the first one. */
  requestIds: readonly string[];
}
