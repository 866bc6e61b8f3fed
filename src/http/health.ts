import { Type } from "../lib/schema.ts";
import { StorageUnavailable, type Store } from "../store/store.ts";
import type { OpenRoute } from "./route.ts";

const Status = Type.Object({ status: Type.String({ description: "The answer in a word or two." }) });
const common = { method: "GET", family: "plain", scope: null, group: "Health" } as const;

export const healthz: OpenRoute = {
  ...common,
  path: "/healthz",
  summary: "Is it alive",
  description: "200 as long as the process answers at all.",
  response: Status,
  responseExample: { status: "ok" },
  handle: async () => ({ status: "ok" }),
};

/** Anybody may ask, and each answer costs a synced write: those who ask at the same time share one. */
const pings = new WeakMap<Store, Promise<void>>();

function pingOnce(store: Store): Promise<void> {
  let ping = pings.get(store);
  if (!ping) {
    ping = store.ping().finally(() => pings.delete(store));
    pings.set(store, ping);
  }
  return ping;
}

export const readyz: OpenRoute = {
  ...common,
  path: "/readyz",
  summary: "Can it work",
  description:
    "200 when requests can be accepted; 503 while the server starts or stops, or the store cannot be written.",
  response: Status,
  responseExample: { status: "ready" },
  handle: async ({ store, started, stopping }, { reply }) => {
    if (stopping.aborted || !started()) {
      reply.code(503);
      return { status: stopping.aborted ? "stopping" : "starting" };
    }
    try {
      await pingOnce(store);
      return { status: "ready" };
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      reply.code(503);
      return { status: "store unavailable" };
    }
  },
};

export const metrics: OpenRoute = {
  ...common,
  path: "/metrics",
  summary: "Figures for Prometheus",
  description: "Counters, gauges and histograms in the text format of Prometheus. They hold no personal data.",
  contentType: "text/plain",
  response: null,
  responseExample: 'heliograph_messages_accepted_total{channel="sms",type="TRANS"} 42\n',
  handle: async ({ meters }, { reply }) => {
    reply.type(meters.registry.contentType);
    return meters.registry.metrics();
  },
};
