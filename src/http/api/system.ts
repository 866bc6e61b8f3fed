import { Type } from "../../lib/schema.ts";
import about from "../../../package.json" with { type: "json" };
import { ROUTE_CLASSES, type RouteClass } from "../../model/message.ts";
import type { Pulse } from "../../work/pulse.ts";
import type { KeyedRoute, Services } from "../route.ts";

/** What this process knows of itself. */
export interface SystemState {
  node: number;
  startedAt: number;
  alive: boolean;
  /** Messages in memory that wait to be sent, by type. */
  lanes: Readonly<Record<RouteClass, number>>;
  waitingForCommit: number;
  inFlight: number;
  pulse: Pulse;
}

async function getSystem({ store, clock, system, proxies }: Services): Promise<object> {
  const [nodes, waiting, callbacks, databaseBytes] = await Promise.all([
    store.listNodes(),
    store.countWaiting(),
    store.countWaitingCallbacks(),
    store.databaseBytes(),
  ]);
  const { node, startedAt, alive, lanes, waitingForCommit, inFlight, pulse } = system();
  return {
    version: about.version,
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
    memoryBytes: process.memoryUsage.rss(),
    eventLoopDelayMs: pulse,
    warnings: proxies.warnings,
  };
}

const whole = (description: string) => Type.Integer({ description });
const late = (description: string) => Type.Number({ description });

const System = Type.Object(
  {
    version: Type.String({ description: "The release that answers." }),
    engine: Type.String({ description: "sqlite or postgres." }),
    node: whole("The node that answers."),
    alive: Type.Boolean({ description: "Whether it owns its messages; false while it has lost touch with the store." }),
    startedAt: whole("When it was started, in epoch milliseconds."),
    uptimeMs: whole("How long ago that is."),
    nodes: Type.Array(
      Type.Object({
        id: whole("The node's number."),
        roles: Type.Array(Type.String(), { description: "What it does: api, dispatch, callbacks." }),
        startedAt: whole("When it joined, by the store's clock."),
        silentMs: whole("How long ago it was last heard of."),
      }),
      { description: "All nodes that share the store and live." },
    ),
    lanes: Type.Object(
      Object.fromEntries(ROUTE_CLASSES.map((name) => [name, whole(`Messages of the type ${name}.`)])),
      { description: "Messages in the memory of this node that wait to be sent." },
    ),
    waitingForCommit: whole("Messages of this node that are being written."),
    inFlight: whole("Messages of this node that wait for the carrier's answer."),
    waitingInStore: whole("Messages of all nodes and accounts that are not sent yet."),
    callbacksWaiting: whole("Callbacks of all nodes and accounts that are to be told or tried again."),
    databaseBytes: whole("How much room the store takes."),
    memoryBytes: whole("Memory of this process."),
    eventLoopDelayMs: Type.Object(
      {
        p50: late("Half of the time at most so many milliseconds."),
        p99: late("99 of 100 times at most so many milliseconds."),
        max: late("At the worst."),
      },
      { description: "How long work of this process has waited for its turn within the last ten to twenty seconds." },
    ),
    warnings: Type.Array(
      Type.Object({
        code: Type.String({ description: "UNTRUSTED_PROXY." }),
        message: Type.String({ description: "What is the matter, and what to do." }),
      }),
      { description: "What the operator should look at, as the node that answers sees it." },
    ),
  },
  { title: "System" },
);

/** Whether the service can keep up, in one answer. */
export const systemRoute: KeyedRoute = {
  method: "GET",
  path: "/api/system",
  family: "plain",
  scope: "manage",
  role: "member",
  group: "Health",
  summary: "Read the state of the system",
  description: "The node that answers, the nodes beside it, and what waits. It is about the service, not the account.",
  response: System,
  responseExample: {
    version: "0.1.0",
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
    memoryBytes: 181403648,
    eventLoopDelayMs: { p50: 0.2, p99: 4.1, max: 18.4 },
    warnings: [],
  },
  handle: getSystem,
};
