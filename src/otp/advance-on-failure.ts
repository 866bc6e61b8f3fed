import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { customerStatus, type MessageRef, type State } from "../model/message.ts";
import type { VerifyStore } from "../store/verifications.ts";
import { targetState } from "../store/transition.ts";
import type { Observer } from "../pipeline/group-commit.ts";

interface AdvanceOnFailureDeps {
  store: Pick<VerifyStore, "startNextNow">;
  clock: Clock;
  log: Log;
}

/** The message will not arrive. A cancelled message is not replaced by another channel. */
export const hasFailed = (state: State): boolean => customerStatus(state) === "Failed" && state !== "cancelled";

/**
 * Starts the next channel of a one-time password as soon as its message has failed. If this write fails, the channel starts at
 * its scheduled time.
 */
export function advanceOnFailure({ store, clock, log }: AdvanceOnFailureDeps): Observer {
  const advance = ({ accountId, requestId }: Pick<MessageRef, "accountId" | "requestId">): void => {
    store
      .startNextNow({ accountId, requestId }, clock.now())
      .catch((error: unknown) => log.warn({ err: error }, "otp next channel could not be advanced"));
  };
  return {
    onAccepted({ message, recipients, verification }) {
      if (verification?.next && recipients.every(({ failure }) => failure !== null)) advance(message);
    },
    onMoved(transition, { routeClass }) {
      const to = routeClass === "OTP" ? targetState(transition) : null;
      if (to !== null && hasFailed(to)) advance(transition);
    },
  };
}
