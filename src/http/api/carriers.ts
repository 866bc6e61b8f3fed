import { carrier } from "../../catalog/kinds/carrier.ts";
import { carriers } from "../../catalog/shelves.ts";
import { nullable } from "../../lib/nullable.ts";
import type { Telling } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";
import { ChaosView } from "./simulator.ts";

/** Lines to networks, which routes lead to. */
export const carrierTelling: Telling = {
  shelf: carriers,
  // Lines are contracts, and have their secrets.
  changedBy: "owner",
  about:
    "Lines to networks, which routes lead to. `simulator` is always there and cannot be changed; every other one that uses the adapter `simulator` is a simulated line of its own, to try out several.",
  kinds: [
    {
      kind: carrier,
      title: "Carrier",
      shown: {
        chaos: nullable(ChaosView, "How a simulated line misbehaves; null is as the account's simulator does."),
      },
      example: { name: "line-2", content: { adapter: "simulator", messagesPerSecond: 50, chaos: null } },
    },
  ],
  createExamples: {
    "a line with a speed": { name: "line-2", messagesPerSecond: 50 },
    "a bad line": { name: "bad-line", chaos: { deliveredPercent: 50, throttledPercent: 20 } },
  },
  changeExamples: { "as fast as it goes": { messagesPerSecond: null }, "an outage": { chaos: { down: true } } },
};

export const carrierRoutes = recordRoutes(carrierTelling);
