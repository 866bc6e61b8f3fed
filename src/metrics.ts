import { buildInfo } from "./build-info.ts";
import { Registry } from "./lib/metrics.ts";

export interface Gauges {
  queuedMessages(): number;
  waitingForCommit(): number;
  httpPending(): number;
  httpBufferedBytes(): number;
  waitingForAdmission(): number;
  bodyBytes(): number;
  streams(): number;
  inFlight(): number;
  alive(): boolean;
  waitingInStore(): Promise<number>;
  callbacksWaiting(): Promise<number>;
  /** Seconds that the oldest unsent message of each class waits. */
  oldestWaiting(): Promise<Readonly<Record<string, number>>>;
  oldestCallback(): Promise<number>;
  nodes(): Promise<number>;
  /** The carriers that this node sends through: 1 if it is up, 0 if it is down. */
  carriersUp(): Readonly<Record<string, number>>;
  /** End of the server certificate's validity in seconds since 1970, by its source: `file` or `acme`; empty without TLS. */
  certificateExpiry(): Readonly<Record<string, number>>;
  /** Null where the system has no such count. */
  descriptors: { open(): number; max: number } | null;
  eventLoopLagSeconds(): number;
  /** Null without a replica. */
  replica: (() => { status: string; lagMs: number; reads: { replica: number; primary: number } }) | null;
  reporting(): { waiting: number; running: number; timedOut: number; clientLeft: number; refused: number };
}

const LATENCY_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics that `/metrics` shows. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  registry.info(
    {
      name: "heliograph_build_info",
      help: "Version, commit and build date of the running server; the value is always 1.",
    },
    { version: buildInfo.version, commit: buildInfo.commit ?? "", built_at: buildInfo.builtAt ?? "" },
  );
  return {
    registry,
    accepted: registry.counter({
      name: "heliograph_messages_accepted_total",
      help: "Messages durably accepted, by channel and route class.",
      labels: ["channel", "type"],
    }),
    outcomes: registry.counter({
      name: "heliograph_submit_outcomes_total",
      help: "Outcomes of submits, by carrier: taken, busy, refused, down, unknown.",
      labels: ["carrier", "outcome"],
    }),
    ambiguous: registry.counter({
      name: "heliograph_submits_repeated_total",
      help: "Messages sent again after a submit with unknown outcome: an upper bound of duplicates.",
      labels: ["type"],
    }),
    recovered: registry.counter({
      name: "heliograph_messages_recovered_total",
      help: "Messages owned by this node in the store but missing in its memory, and queued again, by route class.",
      labels: ["type"],
    }),
    descriptorsExhausted: registry.counter({
      name: "heliograph_descriptors_exhausted_total",
      help: "Checks, one per second, that found no free file descriptor in the process (EMFILE) or the system (ENFILE).",
      labels: ["code"],
    }),
    backupFailures: registry.counter({
      name: "heliograph_backup_failures_total",
      help: "Scheduled backups that failed, by error; the log has the reason.",
      labels: ["error"],
    }),
    integrityFailures: registry.counter({
      name: "heliograph_integrity_check_failures_total",
      help: "Checks of the SQLite file that found damage (damaged) or could not be made (not run); the log has the reason.",
      labels: ["reason"],
    }),
    receipts: registry.counter({
      name: "heliograph_receipts_total",
      help: "Delivery receipts, by carrier and effect: moved, repeated, parked (no matching message yet), failover.",
      labels: ["carrier", "effect"],
    }),
    carrierErrors: registry.counter({
      name: "heliograph_carrier_errors_total",
      help: "Error responses of carriers and failed binds, by carrier and code.",
      labels: ["carrier", "code"],
    }),
    moves: registry.counter({
      name: "heliograph_messages_ended_total",
      help: "Messages that reached a final state, by state.",
      labels: ["state"],
    }),
    verifications: registry.counter({
      name: "heliograph_verifications_total",
      help: "One-time passwords: generated, refused (by limit), and checked (by result: verified, incorrect, expired and others).",
      labels: ["what"],
    }),
    countryAlerts: registry.gauges({
      name: "heliograph_verify_country_alerts",
      help: "Accounts whose OTP conversion is below the alert threshold, by country.",
      label: "country",
    }),
    inbound: registry.counter({
      name: "heliograph_inbound_total",
      help: "Inbound messages, by keyword: stop, start, help, other.",
      labels: ["word"],
    }),
    callbacks: registry.counter({
      name: "heliograph_callbacks_total",
      help: "Webhook delivery attempts, by result: delivered, waiting (will be retried), exhausted, dropped.",
      labels: ["state"],
    }),
    clicks: registry.counter({
      name: "heliograph_link_clicks_total",
      help: "Short-link clicks, by user agent (person, preview, bot) and effect (recorded, dropped).",
      labels: ["agent", "effect"],
    }),
    refused: registry.counter({
      name: "heliograph_requests_refused_total",
      help: "Requests answered with an error, by error code.",
      labels: ["code"],
    }),
    queueSeconds: registry.histogram(
      {
        name: "heliograph_queue_seconds",
        help: "Time from acceptance to submit, by route class.",
        labels: ["type"],
      },
      [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300],
    ),
    requestSeconds: registry.histogram(
      {
        name: "heliograph_http_request_duration_seconds",
        help: "Time from the head of an HTTP request to its response, by route family and class of the status.",
        labels: ["family", "status"],
      },
      LATENCY_BOUNDS,
    ),
    databaseSeconds: registry.histogram(
      {
        name: "heliograph_database_duration_seconds",
        help: "Time of database operations with the wait for a thread or connection: commits (accept, transition) and queries (read, report).",
        labels: ["operation"],
      },
      LATENCY_BOUNDS,
    ),
  };
}

/** Adds metrics whose values are read at each scrape. */
export function addGauges({ registry }: Metrics, gauges: Gauges): void {
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void =>
    registry.gauge({ name, help }, read);
  gauge("heliograph_lane_messages", "Messages in the priority queues (lanes) of this node.", gauges.queuedMessages);
  gauge("heliograph_accept_backlog", "Messages waiting for their group commit.", gauges.waitingForCommit);
  gauge(
    "heliograph_requests_waiting",
    "Requests that wait for admission because this node is overloaded, or for the memory of their bodies.",
    gauges.waitingForAdmission,
  );
  gauge(
    "heliograph_http_body_bytes",
    "Memory that counts for request bodies and what is built from them, against HELIOGRAPH_BODY_MEMORY_MB.",
    gauges.bodyBytes,
  );
  gauge("heliograph_http_streams", "Open streams of server-sent events.", gauges.streams);
  gauge(
    "heliograph_http_pending_requests",
    "HTTP requests whose responses clients have not read yet.",
    gauges.httpPending,
  );
  gauge(
    "heliograph_http_buffered_bytes",
    "Bytes of HTTP responses in memory that clients have not read yet.",
    gauges.httpBufferedBytes,
  );
  gauge("heliograph_dispatch_in_flight", "Messages submitted to a carrier and not yet answered.", gauges.inFlight);
  gauge("heliograph_node_alive", "1 while the heartbeat of this node is current and it owns its rows.", () =>
    gauges.alive() ? 1 : 0,
  );
  gauge(
    "heliograph_store_waiting_messages",
    "Messages in the store that are not submitted yet.",
    gauges.waitingInStore,
  );
  registry.states(
    {
      name: "heliograph_oldest_waiting_message_seconds",
      help: "How long the oldest message in the store that is due waits to be submitted, by route class; 0 without one.",
      label: "type",
    },
    gauges.oldestWaiting,
  );
  gauge("heliograph_callbacks_waiting", "Callbacks in the store that are not delivered yet.", gauges.callbacksWaiting);
  gauge(
    "heliograph_oldest_waiting_callback_seconds",
    "Age of the oldest event whose callback is not delivered yet; 0 without one.",
    gauges.oldestCallback,
  );
  registry.states(
    {
      name: "heliograph_carrier_up",
      help: "1 while messages can be submitted to the carrier from this node, else 0. Carriers that only other nodes connect to are left out.",
      label: "carrier",
    },
    gauges.carriersUp,
  );
  registry.states(
    {
      name: "heliograph_certificate_expiry_timestamp_seconds",
      help: "End of the validity of the server's TLS certificate, in seconds since 1970, by its source: file, acme.",
      label: "source",
    },
    gauges.certificateExpiry,
  );
  gauge("heliograph_nodes", "Nodes with a current heartbeat that share the store.", gauges.nodes);
  gauge(
    "heliograph_reporting_queries_waiting",
    "Reporting queries (lists, searches, statistics) that wait for their turn.",
    () => gauges.reporting().waiting,
  );
  gauge(
    "heliograph_reporting_queries_running",
    "Reporting queries that run now, at most HELIOGRAPH_REPORTING_CONCURRENCY.",
    () => gauges.reporting().running,
  );
  registry.counts(
    {
      name: "heliograph_reporting_queries_cancelled_total",
      help: "Reporting queries without a result: timed_out, client_left, refused (queue full).",
      label: "reason",
    },
    () => {
      const { timedOut, clientLeft, refused } = gauges.reporting();
      return { timed_out: timedOut, client_left: clientLeft, refused };
    },
  );
  const { replica } = gauges;
  if (replica) {
    gauge("heliograph_replica_up", "1 while the read replica answers reporting queries, else 0.", () =>
      replica().status === "in use" ? 1 : 0,
    );
    gauge(
      "heliograph_replica_lag_seconds",
      "Lag of the read replica behind the primary at the last reporting query.",
      () => replica().lagMs / 1000,
    );
    registry.counts(
      {
        name: "heliograph_replica_reads_total",
        help: "Reporting queries by the server that answered: replica, or primary because the replica lagged or failed.",
        label: "server",
      },
      () => replica().reads,
    );
  }
  gauge("process_resident_memory_bytes", "Resident memory of the process.", () => process.memoryUsage.rss());
  gauge("nodejs_heap_size_used_bytes", "Used heap of the main thread.", () => process.memoryUsage().heapUsed);
  gauge(
    "heliograph_event_loop_delay_seconds",
    "Event-loop lag, 99th percentile over the last 10 to 20 s.",
    gauges.eventLoopLagSeconds,
  );
  const { descriptors } = gauges;
  if (descriptors) {
    gauge("process_open_fds", "Open file descriptors.", descriptors.open);
    gauge("process_max_fds", "Limit of open file descriptors.", () => descriptors.max);
  }
  registry.count({ name: "process_cpu_seconds_total", help: "CPU time of all threads." }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge("process_start_time_seconds", "Start time of the process, in seconds since 1970.", () =>
    Math.round(performance.timeOrigin / 1000),
  );
  gauge("process_uptime_seconds", "Seconds since the process started.", () => process.uptime());
}
