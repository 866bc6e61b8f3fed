import { customerStatus, type State } from "../../model/message.ts";
import type { Receipt } from "../../model/receipt.ts";
import type { Part } from "../../store/store.ts";

/** The state of one part, and the resulting state of the message. */
interface CombinedParts {
  whole: Pick<Receipt, "state" | "errorCode" | "description">;
  part: { index: number; total: number; state: State };
}

/** One failed part fails the message, because phones show it whole or not at all. The most certain state comes first. */
const FAILURES = ["undelivered", "rejected", "expired", "unknown"] as const;

/** Delivered when all parts are, failed as soon as one is, and en route until then. Null when the parts were deleted. */
export function combineParts(
  parts: readonly Part[],
  { carrierMessageId }: Pick<Receipt, "carrierMessageId">,
): CombinedParts | null {
  const reported = parts.find((part) => part.carrierMessageId === carrierMessageId);
  if (!reported) return null;
  const { index, total, state } = reported;
  return { whole: wholeOf(parts, reported), part: { index, total, state: state ?? "submitted" } };
}

function wholeOf(parts: readonly Part[], { errorCode, description }: Part): CombinedParts["whole"] {
  for (const state of FAILURES) {
    const failed = parts.find((part) => part.state === state);
    if (failed) return { state, errorCode: failed.errorCode, description: failed.description };
  }
  const arrived = parts.filter(({ state }) => state && customerStatus(state) === "Delivered").length;
  if (arrived === parts.length) return { state: "delivered", errorCode, description };
  return { state: "enroute", errorCode: null, description: `${arrived} of ${parts.length} parts delivered` };
}
