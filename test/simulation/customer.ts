import type { DeliveryResult, WebhookTransport } from "../../src/webhooks/transport/transport.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** A callback as the customer's endpoint received it. */
export interface ReceivedCallback {
  eventId: string;
  url: string;
  messageId: string;
  status: string;
  at: number;
  /** The endpoint answered 200. */
  isTaken: boolean;
}

/** The customer's endpoints: slow, failing or flapping at times. */
export class Customer {
  readonly received: ReceivedCallback[] = [];
  /** Probability that a request fails. */
  failing = 0;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  transportFor(process: SimulatedProcess): WebhookTransport {
    const world = this.#world;
    return {
      sendWebhook: ({ url, body }, signing) =>
        new Promise<DeliveryResult>((resolve) => {
          const answer = (result: DeliveryResult, afterMs: number): void =>
            void world.plan(afterMs, process, () => resolve(result));
          const delay = world.random.between(0, world.random.chance(0.1) ? 5000 : 50);
          world.plan(delay, null, () => {
            const fails = world.random.chance(this.failing);
            const isTaken = !fails || world.random.chance(0.3);
            const { messageId = "", status = "" } = JSON.parse(body ?? "{}") as { messageId?: string; status?: string };
            if (signing) {
              this.received.push({ eventId: signing.id, url, messageId, status, at: world.now, isTaken });
              world.tell(`${url} ${isTaken ? "takes" : "fails"} ${status} of ${messageId} from ${process.name}`);
            }
            if (!fails) return answer({ kind: "delivered", status: 200, ms: delay, excerpt: "" }, delay);
            // Half of the failures are answers that were lost after the endpoint had done its work.
            const timedOut = isTaken || world.random.chance(0.5);
            const status500 = timedOut ? null : 500;
            const reason = timedOut ? "no answer" : "answered 500";
            answer(
              {
                kind: "failed",
                status: status500,
                reason,
                timedOut,
                retryAfter: null,
                gone: false,
                ms: delay,
                excerpt: "",
              },
              timedOut ? 15_000 : delay,
            );
          });
        }),
      close: async () => undefined,
    };
  }
}
