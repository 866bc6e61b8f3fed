import { hash, timingSafeEqual } from "node:crypto";
import { buildInfo } from "../build-info.ts";
import type { Registry } from "../lib/metrics.ts";
import { Type } from "../lib/schema.ts";
import { StorageUnavailable, type Store } from "../store/store.ts";
import { Problem } from "../model/problem.ts";
import type { OpenRoute } from "./route.ts";

const Status = Type.Object({
  status: Type.String({ description: "Status." }),
  reason: Type.Optional(Type.String({ description: "Reason why the store is unavailable." })),
});
const Health = Type.Object({
  status: Type.String({ description: "Status." }),
  version: Type.String({ description: "Version of the server." }),
  commit: Type.Union([Type.String(), Type.Null()], {
    description: "Commit of the release; null if the server runs from its source.",
  }),
  builtAt: Type.Union([Type.String(), Type.Null()], { description: "Time of that commit, in ISO 8601." }),
});
const common = { method: "GET", family: "plain", scope: null, group: "Health" } as const;

export const healthz: OpenRoute = {
  ...common,
  path: "/healthz",
  summary: "Check liveness",
  description: "Returns 200 while the process responds, with the version that runs.",
  response: Health,
  responseExample: {
    status: "ok",
    version: "0.1.0",
    commit: "5f0c1d2e8a9b4c7d6e3f1a2b3c4d5e6f7a8b9c0d",
    builtAt: "2026-11-19T08:00:00.000Z",
  },
  handle: async () => ({ status: "ok", ...buildInfo }),
};

/** Load balancers get a response within a second, also while a commit hangs. */
const RESPONSE_MS = 800;
/** A slow store has been written recently; a hanging one has not. */
const RECENT_MS = 5000;

interface Probe {
  ping: Promise<void> | null;
  writtenAt: number;
}

/** Simultaneous requests share one probe: the route is public, and each probe is a synced write. */
const probes = new WeakMap<Pick<Store, "ping">, Probe>();

async function pingStore(store: Pick<Store, "ping">, probe: Probe): Promise<void> {
  try {
    await store.ping();
    probe.writtenAt = performance.now();
  } finally {
    probe.ping = null;
  }
}

export async function isWritable(store: Pick<Store, "ping">): Promise<boolean> {
  const probe = probes.get(store) ?? { ping: null, writtenAt: Number.NEGATIVE_INFINITY };
  probes.set(store, probe);
  probe.ping ??= pingStore(store, probe);
  const timeout = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => timeout.resolve(performance.now() - probe.writtenAt < RECENT_MS), RESPONSE_MS);
  try {
    return await Promise.race([probe.ping.then(() => true), timeout.promise]);
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    return false;
  } finally {
    clearTimeout(timer);
  }
}

export const readyz: OpenRoute = {
  ...common,
  path: "/readyz",
  summary: "Check readiness",
  description:
    "Returns 200 if requests can be accepted, and 503 while the server starts, drains or stops, or if the store is not writable. While the service is held after a restore, it returns 200 with the status `held`, and with `disk full` while sends are refused for want of disk space. Responds within a second even if the store hangs.",
  response: Status,
  responseExample: { status: "ready" },
  otherResponses: {
    503: {
      description: "Not ready: the server is starting, draining or stopping, or its store is not writable.",
      contentType: "application/json",
      schema: Status,
      example: { status: "starting" },
    },
  },
  handle: async ({ store, started, draining, stopping, gate }, { reply }) => {
    if (draining.aborted || !started()) {
      reply.code(503);
      return { status: stopping.aborted ? "stopping" : draining.aborted ? "draining" : "starting" };
    }
    // Ready although sends are refused: lists and the dashboard work, and a client learns the reason from its 503.
    if (await isWritable(store)) return { status: gate.isHeld ? "held" : gate.isDiskFull ? "disk full" : "ready" };
    reply.code(503);
    return { status: "store unavailable", reason: "The database refuses writes, or does not answer in time." };
  },
};

/** Simultaneous requests share one rendering: the route is public, and each rendering counts rows in the store. */
const renderings = new WeakMap<Registry, Promise<string>>();

function renderOnce(registry: Registry): Promise<string> {
  let rendering = renderings.get(registry);
  if (!rendering) {
    rendering = registry.metrics().finally(() => renderings.delete(registry));
    renderings.set(registry, rendering);
  }
  return rendering;
}

const digestOf = (text: string): Buffer => hash("sha256", text, "buffer");

/** Compares digests in constant time (timing attack). */
function isBearer(authorization: string | undefined, key: string): boolean {
  const [, given = ""] = /^bearer +(\S+) *$/i.exec(authorization ?? "") ?? [];
  return timingSafeEqual(digestOf(given), digestOf(key));
}

export const getMetrics: OpenRoute = {
  ...common,
  path: "/metrics",
  summary: "Get Prometheus metrics",
  description:
    "Returns counters, gauges and histograms in the Prometheus text format, without personal data. Public unless the operator has set `HELIOGRAPH_METRICS_KEY`; then it requires that value as a bearer token.",
  bearer: "metrics",
  problems: ["UNAUTHORIZED"],
  contentType: "text/plain",
  response: null,
  responseExample: 'heliograph_messages_accepted_total{channel="sms",type="TRANS"} 42\n',
  handle: async ({ metrics, metricsKey }, { request, reply }) => {
    if (metricsKey !== null && !isBearer(request.headers.authorization, metricsKey)) {
      reply.header("www-authenticate", 'Bearer realm="metrics"');
      throw new Problem("UNAUTHORIZED", {
        message: "The metrics need the header Authorization: Bearer with the operator's metrics key.",
      });
    }
    reply.type(metrics.registry.contentType);
    return renderOnce(metrics.registry);
  },
};
