import { buildInfo } from "../../build-info.ts";
import { Type } from "../../lib/schema.ts";
import { ROUTE_CLASSES, type RouteClass } from "../../model/message.ts";
import { warningShape } from "../warning-shape.ts";
import type { EventLoopLag } from "../../cluster/event-loop-lag.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

/** State of this process. */
export interface SystemState {
  node: number;
  startedAt: number;
  alive: boolean;
  /** Messages in memory that wait to be sent, by class. */
  lanes: Readonly<Record<RouteClass, number>>;
  waitingForCommit: number;
  inFlight: number;
  eventLoopLag: EventLoopLag;
}

async function getSystem(services: Services, { caller }: AuthenticCall): Promise<object> {
  const { store, clock, system, proxyWarning: proxies, simulatedLive, gate, integrity } = services;
  const [nodes, waiting, callbacks, databaseBytes] = await Promise.all([
    store.listNodes(),
    store.countWaiting(),
    store.countWaitingCallbacks(),
    store.databaseBytes(),
  ]);
  const { node, startedAt, alive, lanes, waitingForCommit, inFlight, eventLoopLag } = system();
  return {
    ...buildInfo,
    engine: store.engine,
    node,
    alive,
    startedAt,
    uptimeMs: clock.now() - startedAt,
    nodes: nodes.map(({ id, roles, startedAt: since, silentMs }) => ({ id, roles, startedAt: since, silentMs })),
    lanes,
    waitingForCommit,
    inFlight,
    waitingInStore: waiting,
    callbacksWaiting: callbacks,
    databaseBytes,
    replica: store.replica && { status: store.replica.state.status, lagMs: store.replica.state.lagMs },
    memoryBytes: process.memoryUsage.rss(),
    eventLoopDelayMs: eventLoopLag,
    warnings: [
      ...gate.warnings,
      ...(integrity?.warnings ?? []),
      ...proxies.warnings,
      ...simulatedLive.warningsFor(caller.account.id),
    ],
  };
}

const whole = (description: string) => Type.Integer({ description });
const late = (description: string) => Type.Number({ description });

const System = Type.Object(
  {
    version: Type.String({ description: "Version of the server." }),
    commit: Type.Union([Type.String(), Type.Null()], {
      description: "Commit of the release; null if the server runs from its source.",
    }),
    builtAt: Type.Union([Type.String(), Type.Null()], { description: "Time of that commit, in ISO 8601." }),
    engine: Type.String({ description: "sqlite or postgres." }),
    node: whole("Number of the node that responds."),
    alive: Type.Boolean({
      description: "True if the node owns its messages; false while it has lost contact with the store.",
    }),
    startedAt: whole("Start time of the process, in epoch milliseconds."),
    uptimeMs: whole("Time since the start."),
    nodes: Type.Array(
      Type.Object({
        id: whole("Node number."),
        roles: Type.Array(Type.String(), { description: "Roles: api, dispatch, callbacks." }),
        startedAt: whole("Time at which it joined, by the store's clock."),
        silentMs: whole("Time since its last heartbeat."),
      }),
      { description: "Live nodes that share the store." },
    ),
    lanes: Type.Object(Object.fromEntries(ROUTE_CLASSES.map((name) => [name, whole(`Messages of type ${name}.`)])), {
      description: "Messages in this node's memory that wait to be sent.",
    }),
    waitingForCommit: whole("Messages of this node that are being written."),
    inFlight: whole("Messages of this node that await the carrier's response."),
    waitingInStore: whole("Unsent messages of all nodes and accounts."),
    callbacksWaiting: whole("Waiting callbacks of all nodes and accounts."),
    databaseBytes: whole("Size of the store in bytes."),
    replica: Type.Union(
      [
        Type.Object({
          status: Type.String({
            description:
              "in use: it answers lists and statistics. behind: it lags, so the primary answers. unavailable: it does not answer, or is another database.",
          }),
          lagMs: whole("How far it lagged at the last query, in milliseconds."),
        }),
        Type.Null(),
      ],
      { description: "Read replica (HELIOGRAPH_DATABASE_READ_URL); null without one." },
    ),
    memoryBytes: whole("Memory of this process in bytes."),
    eventLoopDelayMs: Type.Object(
      {
        p50: late("Median in milliseconds."),
        p99: late("99th percentile in milliseconds."),
        max: late("Maximum in milliseconds."),
      },
      { description: "Event-loop lag over the last 10 to 20 seconds." },
    ),
    warnings: Type.Array(warningShape, {
      description: "Warnings about the service and about the account's routes, as seen by the node that responds.",
    }),
  },
  { title: "System" },
);

/** Lets operators and monitoring see whether the service keeps up. */
export const systemRoute: KeyedRoute = {
  method: "GET",
  path: "/api/system",
  family: "plain",
  scope: "manage",
  testKeys: null,
  role: "member",
  group: "Health",
  summary: "Get system status",
  description:
    "Returns the state of the node that responds, the other live nodes, and queue lengths. Describes the service, not the account.",
  response: System,
  responseExample: {
    version: "0.1.0",
    commit: "5f0c1d2e8a9b4c7d6e3f1a2b3c4d5e6f7a8b9c0d",
    builtAt: "2026-01-01T00:00:00.000Z",
    engine: "postgres",
    node: 3,
    alive: true,
    startedAt: 1767225600000,
    uptimeMs: 86400000,
    nodes: [
      { id: 3, roles: ["api", "dispatch", "callbacks"], startedAt: 1767225600000, silentMs: 410 },
      { id: 4, roles: ["dispatch"], startedAt: 1767225601000, silentMs: 1800 },
    ],
    lanes: { OTP: 0, TRANS: 12, PROMO: 840 },
    waitingForCommit: 0,
    inFlight: 64,
    waitingInStore: 916,
    callbacksWaiting: 31,
    databaseBytes: 734003200,
    replica: { status: "in use", lagMs: 0 },
    memoryBytes: 181403648,
    eventLoopDelayMs: { p50: 0.2, p99: 4.1, max: 18.4 },
    warnings: [],
  },
  handle: getSystem,
};
