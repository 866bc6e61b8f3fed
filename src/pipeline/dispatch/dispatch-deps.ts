import type { Carriers } from "../../carriers/carrier.ts";
import type { Log } from "../../lib/log.ts";
import type { ClaimYield } from "./claim-yield.ts";
import type { CarrierLimiter } from "./carrier-limiter.ts";
import type { StopGuard } from "./stop-guard.ts";
import type { Membership } from "../../cluster/membership.ts";
import type { RecheckDeps } from "../policy/recheck.ts";
import type { ReceiptDeps } from "../receipts/apply-receipt.ts";
import type { EncryptedTexts } from "../accept/encrypted-text.ts";
import type { SimulatedLive } from "./simulated-live.ts";

export interface DispatchDeps extends ReceiptDeps, Pick<RecheckDeps, "media" | "endStateOfCode"> {
  store: ReceiptDeps["store"] & RecheckDeps["store"];
  membership: Membership;
  carriers: Carriers;
  carrierLimiter: CarrierLimiter;
  claimYield: ClaimYield;
  log: Log;
  stopGuard: Pick<StopGuard, "issueLease">;
  /** Records live messages that go to a simulated carrier in an account with a real one. */
  simulatedLive: Pick<SimulatedLive, "record">;
  encryptedTexts: Pick<EncryptedTexts, "decrypt">;
}
