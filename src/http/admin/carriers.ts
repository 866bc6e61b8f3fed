import { carrier } from "../../records/types/carrier.ts";
import { ADAPTERS, connectionType } from "../../records/types/connections.ts";
import { carriers } from "../../records/record-types.ts";
import { nullable } from "../../lib/schema.ts";
import type { RecordDocs } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";
import { ChaosView } from "./simulator.ts";

export const carrierDocs: RecordDocs = {
  type: carriers,
  // Carriers are contracts and have secrets.
  updateRole: "owner",
  about:
    "Connections to carriers and platforms, used by routes. `simulator` is built in and cannot be changed; further carriers with the adapter `simulator` are separate simulated connections. A carrier with the adapter `smpp` binds to an SMSC. Passwords and tokens are stored encrypted and never returned.",
  definitions: [
    {
      definition: carrier,
      title: "Carrier",
      responseFields: {
        chaos: nullable(ChaosView, "Chaos settings of a simulated carrier; null uses the account's."),
        ...Object.fromEntries(
          ADAPTERS.map((adapter) => {
            const { title, responseSchema } = connectionType(adapter);
            return [
              adapter,
              nullable(responseSchema, `Settings of a connection over ${title}; null for other adapters.`),
            ];
          }),
        ),
      },
      example: { name: "line-2", content: { adapter: "simulator", messagesPerSecond: 50, chaos: null } },
    },
  ],
  createExamples: {
    "simulator with a rate limit": { name: "line-2", messagesPerSecond: 50 },
    "unreliable simulator": { name: "bad-line", chaos: { deliveredPercent: 50, throttledPercent: 20 } },
    SMPP: {
      name: "north",
      adapter: "smpp",
      messagesPerSecond: 100,
      smpp: { host: "smpp.north.example", systemId: "shop", password: "secret", connections: 2 },
    },
    "SMPP over TLS to India": {
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
  updateExamples: { "no rate limit": { messagesPerSecond: null }, "an outage": { chaos: { down: true } } },
};

export const carrierRoutes = recordRoutes(carrierDocs);
