import { Counter, Gauge, Histogram, Registry } from "@prometheus-io/client";
import { PathMap } from "../lib/path-map.ts";

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
  const registers = [registry];
  const counter = (config: CounterConfig) => createCounter(registry, config);
  return {
    registry,
    accepted: counter({
      name: "heliograph_messages_accepted_total",
      help: "Messages durably accepted, by channel and route class.",
      labels: ["channel", "type"],
    }),
    outcomes: counter({
      name: "heliograph_submit_outcomes_total",
      help: "What carriers answered to a submit: taken, busy, refused, unknown.",
      labels: ["carrier", "outcome"],
    }),
    ambiguous: counter({
      name: "heliograph_submits_repeated_total",
      help: "Messages sent again because it is not known whether the first submit was taken: the bound of duplicates.",
      labels: ["type"],
    }),
    receipts: counter({
      name: "heliograph_receipts_total",
      help: "Delivery receipts by carrier and what they did: moved, repeated, parked, failover.",
      labels: ["carrier", "effect"],
    }),
    carrierErrors: counter({
      name: "heliograph_carrier_errors_total",
      help: "Answers of carriers that were not yes, and binds that failed, by carrier and code.",
      labels: ["carrier", "code"],
    }),
    moves: counter({
      name: "heliograph_messages_ended_total",
      help: "Messages that reached an end, by state.",
      labels: ["state"],
    }),
    verifications: counter({
      name: "heliograph_verifications_total",
      help: "One-time passwords generated or held back, by the limit that did it, and tries at them by what they were: verified, incorrect, expired and their like.",
      labels: ["what"],
    }),
    countryAlerts: new Gauge({
      name: "heliograph_verify_country_alerts",
      help: "Accounts in which fewer one-time passwords are used in a country than should be, by country.",
      labelNames: ["country"],
      registers,
    }),
    inbound: counter({
      name: "heliograph_inbound_total",
      help: "Messages that phones sent, by what they were: stop, start, other.",
      labels: ["word"],
    }),
    callbacks: counter({
      name: "heliograph_callbacks_total",
      help: "Attempts to tell customers something, by what became of it: delivered, waiting, exhausted, dropped.",
      labels: ["state"],
    }),
    clicks: counter({
      name: "heliograph_link_clicks_total",
      help: "Short links followed, by who did (person, preview, bot) and whether the click was recorded or dropped.",
      labels: ["agent", "effect"],
    }),
    refused: counter({
      name: "heliograph_requests_refused_total",
      help: "Requests answered with a problem, by code.",
      labels: ["code"],
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

interface CounterConfig {
  name: string;
  help: string;
  labels: readonly string[];
}

/** What was counted since somebody last read it. */
class Count {
  value = 0;

  inc(by = 1): void {
    this.value += by;
  }
}

/** Counts by itself and hands over when somebody reads: the library looks for the series of some labels at every count. */
function createCounter(registry: Registry, { name, help, labels }: CounterConfig): (...values: string[]) => Count {
  const counts = new PathMap<Count>();
  const series: { count: Count; labels: Record<string, string> }[] = [];
  void new Counter({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect() {
      for (const { count, labels: of } of series) {
        this.inc(of, count.value);
        count.value = 0;
      }
    },
  });
  return (...values) => {
    const known = counts.get(values);
    if (known) return known;
    const count = new Count();
    counts.set(values, count);
    series.push({ count, labels: Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ""])) });
    return count;
  };
}

/** Figures that are read when somebody asks. */
export function addGauges({ registry }: Meters, gauges: Gauges): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void => {
    void new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await read());
      },
    });
  };
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
