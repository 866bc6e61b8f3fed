import { Counter, Gauge, Histogram, Registry } from "@prometheus-io/client";

export interface Gauges {
  waitingInLanes(): number;
  waitingForCommit(): number;
  inFlight(): number;
  alive(): boolean;
}

/** The figures behind `/metrics`. */
export type Meters = ReturnType<typeof createMeters>;

export function createMeters() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    accepted: new Counter({
      name: "heliograph_messages_accepted_total",
      help: "Messages durably accepted, by channel and route class.",
      labelNames: ["channel", "type"],
      registers,
    }),
    outcomes: new Counter({
      name: "heliograph_submit_outcomes_total",
      help: "What carriers answered to a submit: taken, busy, refused, unknown.",
      labelNames: ["carrier", "outcome"],
      registers,
    }),
    ambiguous: new Counter({
      name: "heliograph_submits_repeated_total",
      help: "Messages sent again because it is not known whether the first submit was taken: the bound of duplicates.",
      labelNames: ["type"],
      registers,
    }),
    receipts: new Counter({
      name: "heliograph_receipts_total",
      help: "Delivery receipts by carrier and what they did: moved, repeated, parked.",
      labelNames: ["carrier", "effect"],
      registers,
    }),
    moves: new Counter({
      name: "heliograph_messages_ended_total",
      help: "Messages that reached an end, by state.",
      labelNames: ["state"],
      registers,
    }),
    refused: new Counter({
      name: "heliograph_requests_refused_total",
      help: "Requests answered with a problem, by code.",
      labelNames: ["code"],
      registers,
    }),
    queueMs: new Histogram({
      name: "heliograph_queue_milliseconds",
      help: "Time from accepted to handed to the carrier, by route class.",
      labelNames: ["type"],
      buckets: [5, 10, 25, 50, 100, 250, 500, 1000, 5000, 30_000, 300_000],
      registers,
    }),
  };
}

/** Figures that are read when somebody asks. */
export function addGauges({ registry }: Meters, gauges: Gauges): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    void new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge("heliograph_lane_messages", "Messages waiting in this node's lanes.", gauges.waitingInLanes);
  gauge("heliograph_accept_backlog", "Messages waiting for their commit.", gauges.waitingForCommit);
  gauge("heliograph_dispatch_in_flight", "Messages between lane and carrier's answer.", gauges.inFlight);
  gauge("heliograph_node_alive", "1 while this node owns its rows.", () => (gauges.alive() ? 1 : 0));
  gauge("process_resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  gauge("process_uptime_seconds", "Seconds since the start.", () => process.uptime());
}
