import type { Callback } from "../model/callback.ts";
import type { DeliveryResult } from "./transport/transport.ts";

/**
 * Delivers the callbacks of one facade, in the form of the API that it stands for. It renders, authenticates and sends a
 * callback, and judges the response.
 *
 * - `nothing to send`: the facade has no form for this event, or its credential is gone.
 * - `away`: the receiver is not connected; the callback is held until its endpoint is released.
 */
export interface FacadeDelivery {
  deliver(callback: Callback): Promise<DeliveryResult | "nothing to send" | "away">;
}
