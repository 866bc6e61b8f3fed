import { carrier } from "../../catalog/kinds/carrier.ts";
import { ADAPTERS, lineKind } from "../../catalog/kinds/lines.ts";
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
    "Lines to networks, which routes lead to. `simulator` is always there and cannot be changed; every other one that uses the adapter `simulator` is a simulated line of its own, to try out several. One that uses the adapter `smpp` is bound to a carrier of text messages; its password is sealed and never shown.",
  kinds: [
    {
      kind: carrier,
      title: "Carrier",
      shown: {
        chaos: nullable(ChaosView, "How a simulated line misbehaves; null is as the account's simulator does."),
        ...Object.fromEntries(
          ADAPTERS.map((adapter) => {
            const { title, shown } = lineKind(adapter);
            return [adapter, nullable(shown, `How a line over ${title} is set up; null for every other.`)];
          }),
        ),
      },
      example: { name: "line-2", content: { adapter: "simulator", messagesPerSecond: 50, chaos: null } },
    },
  ],
  createExamples: {
    "a line with a speed": { name: "line-2", messagesPerSecond: 50 },
    "a bad line": { name: "bad-line", chaos: { deliveredPercent: 50, throttledPercent: 20 } },
    "a line over SMPP": {
      name: "north",
      adapter: "smpp",
      messagesPerSecond: 100,
      smpp: { host: "smpp.north.example", systemId: "shop", password: "secret", connections: 2 },
    },
    "one to India over TLS": {
      name: "india",
      adapter: "smpp",
      smpp: {
        host: "smpp.india.example",
        port: 3550,
        tls: {},
        systemId: "shop",
        password: "secret",
        zone: "Asia/Kolkata",
        tlvs: [
          { tag: "0x1400", type: "octets", source: "template.dltEntityId" },
          { tag: "0x1401", type: "octets", source: "template.dltContentId" },
        ],
      },
    },
  },
  changeExamples: { "as fast as it goes": { messagesPerSecond: null }, "an outage": { chaos: { down: true } } },
};

export const carrierRoutes = recordRoutes(carrierTelling);
