import type { Receipt } from "../carriers/carrier.ts";
import { customerStatus, type State } from "../model/message.ts";
import type { Part } from "../store/store.ts";

/** What became of one part, and what that makes of the message. */
interface Judgement {
  whole: Pick<Receipt, "state" | "errorCode" | "description">;
  part: { index: number; total: number; state: State };
}

/** What makes a message useless, the surest first: it shows as a whole on the phone, or not at all. */
const FAILURES = ["undelivered", "rejected", "expired", "unknown"] as const;

/**
 * Delivered when all parts are, failed as soon as one is, and on its way until then. It depends on nothing but the parts as
 * they are, so it may be asked again and again; null when they are gone.
 */
export function judgeParts(
  parts: readonly Part[],
  { carrierMessageId }: Pick<Receipt, "carrierMessageId">,
): Judgement | null {
  const reported = parts.find((part) => part.carrierMessageId === carrierMessageId);
  if (!reported) return null;
  const { index, total, state } = reported;
  return { whole: wholeOf(parts, reported), part: { index, total, state: state ?? "submitted" } };
}

function wholeOf(parts: readonly Part[], { errorCode, description }: Part): Judgement["whole"] {
  for (const state of FAILURES) {
    const failed = parts.find((part) => part.state === state);
    if (failed) return { state, errorCode: failed.errorCode, description: failed.description };
  }
  const arrived = parts.filter(({ state }) => state && customerStatus(state) === "Delivered").length;
  if (arrived === parts.length) return { state: "delivered", errorCode, description };
  return { state: "enroute", errorCode: null, description: `${arrived} of ${parts.length} parts delivered` };
}
