import { Registry } from "../lib/metrics.ts";

export interface Gauges {
  waitingInLanes(): number;
  waitingForCommit(): number;
  waitingToEnter(): number;
  inFlight(): number;
  alive(): boolean;
  waitingInStore(): Promise<number>;
  nodes(): Promise<number>;
  eventLoopDelayMs(): number;
}

/** The figures behind `/metrics`. */
export type Meters = ReturnType<typeof createMeters>;

export function createMeters() {
  const registry = new Registry();
  return {
    registry,
    accepted: registry.counter({
      name: "heliograph_messages_accepted_total",
      help: "Messages durably accepted, by channel and route class.",
      labels: ["channel", "type"],
    }),
    outcomes: registry.counter({
      name: "heliograph_submit_outcomes_total",
      help: "What carriers answered to a submit: taken, busy, refused, unknown.",
      labels: ["carrier", "outcome"],
    }),
    ambiguous: registry.counter({
      name: "heliograph_submits_repeated_total",
      help: "Messages sent again because it is not known whether the first submit was taken: the bound of duplicates.",
      labels: ["type"],
    }),
    receipts: registry.counter({
      name: "heliograph_receipts_total",
      help: "Delivery receipts by carrier and what they did: moved, repeated, parked, failover.",
      labels: ["carrier", "effect"],
    }),
    carrierErrors: registry.counter({
      name: "heliograph_carrier_errors_total",
      help: "Answers of carriers that were not yes, and binds that failed, by carrier and code.",
      labels: ["carrier", "code"],
    }),
    moves: registry.counter({
      name: "heliograph_messages_ended_total",
      help: "Messages that reached an end, by state.",
      labels: ["state"],
    }),
    verifications: registry.counter({
      name: "heliograph_verifications_total",
      help: "One-time passwords generated or held back, by the limit that did it, and tries at them by what they were: verified, incorrect, expired and their like.",
      labels: ["what"],
    }),
    countryAlerts: registry.gauges({
      name: "heliograph_verify_country_alerts",
      help: "Accounts in which fewer one-time passwords are used in a country than should be, by country.",
      label: "country",
    }),
    inbound: registry.counter({
      name: "heliograph_inbound_total",
      help: "Messages that phones sent, by what they were: stop, start, other.",
      labels: ["word"],
    }),
    callbacks: registry.counter({
      name: "heliograph_callbacks_total",
      help: "Attempts to tell customers something, by what became of it: delivered, waiting, exhausted, dropped.",
      labels: ["state"],
    }),
    clicks: registry.counter({
      name: "heliograph_link_clicks_total",
      help: "Short links followed, by who did (person, preview, bot) and whether the click was recorded or dropped.",
      labels: ["agent", "effect"],
    }),
    refused: registry.counter({
      name: "heliograph_requests_refused_total",
      help: "Requests answered with a problem, by code.",
      labels: ["code"],
    }),
    queueMs: registry.histogram(
      {
        name: "heliograph_queue_milliseconds",
        help: "Time from accepted to handed to the carrier, by route class.",
        labels: ["type"],
      },
      [5, 10, 25, 50, 100, 250, 500, 1000, 5000, 30_000, 300_000],
    ),
  };
}

/** Figures that are read when somebody asks. */
export function addGauges({ registry }: Meters, gauges: Gauges): void {
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void =>
    registry.gauge({ name, help }, read);
  gauge("heliograph_lane_messages", "Messages waiting in this node's lanes.", gauges.waitingInLanes);
  gauge("heliograph_accept_backlog", "Messages waiting for their commit.", gauges.waitingForCommit);
  gauge(
    "heliograph_requests_waiting",
    "Requests that wait to be accepted, because this node has more to send than it can.",
    gauges.waitingToEnter,
  );
  gauge("heliograph_dispatch_in_flight", "Messages between lane and carrier's answer.", gauges.inFlight);
  gauge("heliograph_node_alive", "1 while this node owns its rows.", () => (gauges.alive() ? 1 : 0));
  gauge("heliograph_store_waiting_messages", "Messages in the store that are not sent yet.", gauges.waitingInStore);
  gauge("heliograph_nodes", "Nodes that share the store and live.", gauges.nodes);
  gauge("process_resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  gauge(
    "nodejs_heap_size_used_bytes",
    "Memory in use by objects of the main thread.",
    () => process.memoryUsage().heapUsed,
  );
  gauge(
    "heliograph_event_loop_delay_milliseconds",
    "99 of 100 times what is ready waits at most so long for its turn, over the last ten to twenty seconds.",
    gauges.eventLoopDelayMs,
  );
  gauge("process_uptime_seconds", "Seconds since the start.", () => process.uptime());
}
