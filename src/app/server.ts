import { once, setMaxListeners } from "node:events";
import type { Carrier } from "../carriers/carrier.ts";
import { PhoneFeeds } from "../carriers/simulator/phone-feeds.ts";
import type { IntegrityWatch } from "../cluster/watch-integrity.ts";
import { startEventLoopLag } from "../cluster/event-loop-lag.ts";
import type { ServedFacade } from "../config.ts";
import { AgentCalls } from "../http/agents/agent-calls.ts";
import { BodyBudget } from "../http/body-budget.ts";
import { ConnectionLimits } from "../http/connection-limits.ts";
import { EventStreams } from "../http/event-stream.ts";
import { RequestLog } from "../http/request-log/request-log.ts";
import { ProxyWarning } from "../http/proxy-warning.ts";
import { createRedirectServer } from "../http/redirect-server.ts";
import type { Services } from "../http/route.ts";
import { changedSettings, settingsFaults } from "../facades/credential-settings.ts";
import { IDENTITY_FACADES } from "../facades/identity/facade.ts";
import { createServer } from "../http/server.ts";
import { addMcp } from "../mcp/endpoint.ts";
import { createFacades } from "./facades.ts";
import { countDescriptors, readDescriptorLimit } from "../lib/descriptors.ts";
import { MinuteCounter } from "../lib/minute-counter.ts";
import { createYield } from "../lib/async.ts";
import type { Clock } from "../lib/clock.ts";
import { createFollow, type Follow } from "../links/follow.ts";
import { addGauges, type Gauges } from "../metrics.ts";
import { ROUTE_CLASSES, type RouteClass } from "../model/message.ts";
import type { PriorityQueues } from "../pipeline/dispatch/priority-queues.ts";
import { clickCallbacks } from "../webhooks/click-callbacks.ts";
import { availableMemory, bodyLimitsOf } from "./body-limits.ts";
import { LOOPBACK_HOSTS, sessionLimitsOf, type AppBase } from "./base.ts";
import type { AppCarriers } from "./carriers.ts";
import type { AcmeCertificate } from "./acme-certificate.ts";
import type { OwnCertificate } from "./certificate.ts";
import type { AppCluster } from "./cluster.ts";
import { listenForFacades, type CreateFacadeServer } from "./facade-ports.ts";
import type { AppHold } from "./hold.ts";
import type { AppMedia } from "./media.ts";
import type { AppCertificate } from "./open-certificate.ts";
import type { AppPipeline } from "./pipeline.ts";
import type { AppRecords } from "./records.ts";
import type { AppSecrets } from "./secrets.ts";
import { createSharedRead } from "../store/shared-count.ts";
import type { ReplicaState, Store } from "../store/store.ts";
import type { AppStorage } from "./storage.ts";
import type { AppWebhooks } from "./webhooks.ts";
import { createImageFetch } from "../egress/image-fetch.ts";
import type { AppEgress } from "./egress.ts";

/** Time for a load balancer to notice that this node stops, unless the settings say otherwise. */
const DRAIN_SECONDS = 5;

/** Time for requests in progress at a stop. Connections that have not read their response by then are closed. */
const LAST_RESPONSES_MS = 3000;

const MIB = 1_048_576;

interface ListenDeps {
  base: AppBase;
  storage: AppStorage;
  secrets: AppSecrets;
  cluster: AppCluster;
  records: AppRecords;
  egress: AppEgress;
  webhooks: AppWebhooks;
  carriers: AppCarriers;
  pipeline: AppPipeline;
  media: AppMedia;
  held: AppHold;
  /** Null where the database is not a file of this node. */
  integrity: IntegrityWatch | null;
}

export interface AppServer {
  url: string;
  /** Ports of the facades that have one of their own. */
  facadePorts: Partial<Record<ServedFacade["kind"], number>>;
  links: Follow;
  /** Makes `/health` report that this node is ready. */
  setReady(): void;
  drain(skip: AbortSignal): Promise<void>;
  close(): Promise<void>;
  stopMonitoring(): void;
}

/** The state of the server that its endpoints ask for. */
class ServerState {
  readonly draining = new AbortController();
  readonly stopping = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  isReady = false;

  constructor() {
    // Every waiting request listens for it.
    setMaxListeners(0, this.stopping.signal);
  }

  get untilReady(): Promise<void> {
    return this.#ready.promise;
  }

  setReady(): void {
    this.isReady = true;
    this.#ready.resolve();
  }
}

/** Creates the HTTP server and listens on the configured port. */
export async function listen(deps: ListenDeps & { certificate: AppCertificate }): Promise<AppServer> {
  const { certificate } = deps;
  const { config, urls } = deps.base;
  const { server, createFacadeServer, state, links, monitoring } = createAppServer(deps, certificate);
  const listening = await server.listen({ host: config.host, port: config.port });
  const url = certificate ? listening.replace(/^http:/, "https:") : listening;
  urls.setAddress(url);
  const moved = await listenForFacades(deps.base, createFacadeServer, certificate !== null);
  const acme = certificate?.source === "acme" ? certificate : null;
  const closeRedirects = await listenForRedirects(deps.base, acme);
  acme?.start();
  return {
    url,
    facadePorts: Object.fromEntries(moved.map(({ kind, port }) => [kind, port])),
    links,
    setReady: () => state.setReady(),
    drain: (skip) => drain(deps.base, state, skip),
    async close() {
      state.draining.abort();
      state.stopping.abort();
      const servers = [server, ...moved.map((facade) => facade.server)];
      const closeAll = setTimeout(() => {
        for (const each of servers) each.server.closeAllConnections();
      }, LAST_RESPONSES_MS);
      await Promise.all([...servers.map((each) => each.close()), closeRedirects(), certificate?.stop()]);
      clearTimeout(closeAll);
    },
    stopMonitoring: monitoring.stop,
  };
}

/** Listens on the plain port, if there is one; the returned function closes it. */
async function listenForRedirects(
  { config, urls }: AppBase,
  acme: AcmeCertificate | null,
): Promise<() => Promise<void>> {
  if (config.redirectPort === null) return async () => {};
  const server = createRedirectServer(urls.base, (token) => acme?.answerTo(token) ?? null);
  server.listen({ host: config.host, port: config.redirectPort });
  await once(server, "listening");
  return async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
}

/** Creates the HTTP server without a socket, as the simulation uses it. */
export function createAppServer(deps: ListenDeps, certificate: OwnCertificate | null = null) {
  const { config, overrides } = deps.base;
  const state = new ServerState();
  const { bodyBytesMax, budgetBytes } = bodyLimitsOf(config, availableMemory());
  const monitoring = startMonitoring(deps, state, { budgetBytes, certificate });
  const links = createLinks(deps);
  const services = createServices(deps, state, monitoring, links);
  deps.webhooks.facades.connect(services);
  const badKeys = new MinuteCounter();
  const onThisPort = config.facades.filter(({ port }) => port === null);
  const { trustProxy, proxyProtocol: proxies } = config;
  const common = { trustProxy, bodyBytesMax, proxies, certificate, badKeys };
  const server = createServer(services, {
    ...common,
    serves: config.roles.includes("api") ? "everything" : "health",
    fastPath: config.httpFastPath,
    connectionThread: config.httpFastPath && (overrides.connectionThread ?? false),
    facades: [...createFacades(onThisPort.map(({ kind }) => kind)), ...IDENTITY_FACADES],
    mcp: addMcp,
    onBroken: overrides.onBroken,
  });
  const createFacadeServer: CreateFacadeServer = (kind) =>
    createServer(services, {
      ...common,
      serves: "facades",
      fastPath: false,
      connectionThread: false,
      facades: createFacades([kind]),
    });
  return { server, createFacadeServer, state, links, monitoring };
}

/** Reports this node as not ready, and goes on serving until load balancers have had time to notice. */
async function drain({ config, clock, log }: AppBase, state: ServerState, skip: AbortSignal): Promise<void> {
  const seconds = config.drainSeconds ?? (LOOPBACK_HOSTS.has(config.host) ? 0 : DRAIN_SECONDS);
  if (seconds === 0 || skip.aborted) return;
  log.info({ seconds }, "draining");
  state.draining.abort();
  await new Promise<void>((resolve) => {
    const cancel = clock.after(seconds * 1000, resolve);
    skip.addEventListener("abort", () => {
      cancel();
      resolve();
    });
  });
}

function replicaOf({ replica }: Pick<Store, "replica">): (() => ReplicaState) | null {
  return replica && (() => replica.state);
}

type Monitoring = ReturnType<typeof startMonitoring>;

/** Adds the gauges of `/metrics` and measures event-loop lag. */
function startMonitoring(
  { base, storage, cluster, carriers, pipeline }: ListenDeps,
  state: ServerState,
  { budgetBytes, certificate }: { budgetBytes: number; certificate: OwnCertificate | null },
) {
  const { config, clock, metrics } = base;
  const { store } = storage;
  const { membership } = cluster;
  const { queues, commits, admission } = pipeline;
  const connections = new ConnectionLimits(clock, { bufferedBytesMax: config.httpBufferMb * MIB });
  const bodies = new BodyBudget(clock, {
    bytesMax: budgetBytes,
    waitMs: config.acceptWaitMs,
    recipientsMax: config.recipientsMax,
  });
  const streams = new EventStreams({ clock, stopping: state.stopping.signal, perAccountMax: config.streamsMax });
  const eventLoopLag = startEventLoopLag();
  const startedAt = clock.now();
  const waitingForCommit = (): number => commits.accept.load + commits.urgentAccept.load;
  const inFlight = (): number => queues?.dispatcher.inFlight ?? 0;
  const descriptorLimit = readDescriptorLimit();
  addGauges(metrics, {
    queuedMessages: () => queues?.queues.size ?? 0,
    waitingForCommit,
    waitingForAdmission: () => admission.waiting + bodies.waiting,
    bodyBytes: () => bodies.heldBytes,
    streams: () => streams.count,
    httpPending: () => connections.pending,
    httpBufferedBytes: () => connections.bufferedBytes,
    inFlight,
    alive: () => membership.alive,
    // NaN while the store is unavailable, so that the other metrics can still be read.
    waitingInStore: () => store.countWaiting().catch(() => Number.NaN),
    callbacksWaiting: () => store.countWaitingCallbacks().catch(() => Number.NaN),
    ...oldestOf(store, clock),
    nodes: () => store.countNodes().catch(() => Number.NaN),
    carriersUp: () => (cluster.sends ? carriersUp(carriers.connections.list()) : {}),
    certificateExpiry: () => (certificate ? { [certificate.source]: certificate.expiresAt / 1000 } : {}),
    descriptors: descriptorLimit === null ? null : { open: countDescriptors, max: descriptorLimit },
    eventLoopLagSeconds: () => eventLoopLag.read().p99 / 1000,
    reporting: () => store.reporting.load,
    replica: replicaOf(store),
  });
  const system: Services["system"] = () => ({
    node: membership.node,
    startedAt,
    alive: membership.alive,
    lanes: lengthsOf(queues?.queues),
    waitingForCommit: waitingForCommit(),
    inFlight: inFlight(),
    eventLoopLag: eventLoopLag.read(),
  });
  return { connections, bodies, streams, system, stop: eventLoopLag.stop };
}

/** Ages of the oldest rows that wait. Their heads are read at most once in this time, however often a node is scraped. */
const OLDEST_KEPT_MS = 5000;

function oldestOf(store: Store, clock: Clock): Pick<Gauges, "oldestWaiting" | "oldestCallback"> {
  const messages = createSharedRead(clock, OLDEST_KEPT_MS, () => store.listOldestWaiting(clock.now()));
  const callbacks = createSharedRead(clock, OLDEST_KEPT_MS, () => store.findOldestCallback());
  const secondsSince = (since: number | null | undefined): number =>
    since === null || since === undefined ? 0 : Math.max(0, clock.now() - since) / 1000;
  const unknown = (): number => Number.NaN;
  return {
    oldestWaiting: async () => {
      const found = await messages().catch(() => null);
      const age = (type: RouteClass): number => (found ? secondsSince(found[type]) : Number.NaN);
      return Object.fromEntries(ROUTE_CLASSES.map((type) => [type, age(type)]));
    },
    oldestCallback: () => callbacks().then(secondsSince, unknown),
  };
}

/** A carrier that only other nodes are connected to is not down. */
const carriersUp = (carriers: readonly Carrier[]): Record<string, number> =>
  Object.fromEntries(
    carriers.filter((carrier) => !carrier.isElsewhere?.()).map((carrier) => [carrier.name, carrier.isUp() ? 1 : 0]),
  );

const lengthsOf = (queues: PriorityQueues | undefined): Record<RouteClass, number> => ({
  OTP: queues?.sizeOf("OTP") ?? 0,
  TRANS: queues?.sizeOf("TRANS") ?? 0,
  PROMO: queues?.sizeOf("PROMO") ?? 0,
});

function createLinks({ base, storage, records, webhooks }: ListenDeps): Follow {
  const { clock, log, metrics } = base;
  const { store } = storage;
  return createFollow({
    store,
    clock,
    log,
    metrics,
    planCallbacks: {
      of: (batch) => clickCallbacks({ catalog: records.catalog, store }, batch),
      onStored: () => webhooks.dispatcher?.claimSoon(),
    },
  });
}

function createServices(deps: ListenDeps, state: ServerState, monitoring: Monitoring, links: Follow): Services {
  const { base, storage, secrets, cluster, records, egress, webhooks, carriers, pipeline, media, held, integrity } =
    deps;
  const { config, clock, log, metrics, urls } = base;
  const { store } = storage;
  const { keyring, catalog } = records;
  const { commits, stopGuard, prepareDeps, acceptDeps, otpDeps, simulatedLive } = pipeline;
  const { userSecrets } = secrets;
  return {
    store,
    keyring,
    loginDeps: {
      store,
      clock,
      log,
      secrets: userSecrets,
      sessionLimits: sessionLimitsOf(config),
      attemptsPerMinute: new MinuteCounter(),
    },
    catalog,
    requestAge: pipeline.requestAge,
    campaignDeps: { store, catalog, commits, clock, stopGuard: stopGuard },
    media: media.library,
    mediaTokens: media.tokens,
    stopGuard,
    images: createImageFetch({ egress: egress.client, clock }),
    prepareDeps,
    acceptDeps,
    otpDeps,
    receiptDeps: pipeline.dispatchDeps,
    smsRules: config,
    audienceLimits: {
      bytesMax: config.audienceMaxMb * MIB,
      filesMax: config.audienceStoredMb * MIB,
      countMax: config.audiencesMax,
      campaignsMax: config.campaignsMax,
    },
    simulator: carriers.simulator,
    phoneFeeds: new PhoneFeeds({ store, simulator: carriers.simulator, clock }),
    carriers: carriers.connections,
    testConnection: carriers.factory.test,
    credentialSettings: { faults: settingsFaults, change: changedSettings },
    deliverDeps: webhooks.deps,
    webhookDispatcher: webhooks.dispatcher,
    links,
    metrics,
    live: cluster.live,
    streams: monitoring.streams,
    agentCalls: new AgentCalls(),
    requestLog: new RequestLog(clock),
    system: monitoring.system,
    connections: monitoring.connections,
    bodies: monitoring.bodies,
    metricsKey: config.metricsKey,
    simulatedLive,
    gate: held.gate,
    integrity,
    proxyWarning: new ProxyWarning({ log, trusted: config.trustProxy }),
    yieldBulk: createYield(),
    clock,
    log,
    baseUrl: urls.base,
    shortLinkBase: urls.shortLinks,
    hstsSeconds: config.hstsSeconds,
    started: () => state.isReady,
    untilStarted: () => state.untilReady,
    draining: state.draining.signal,
    stopping: state.stopping.signal,
  };
}
