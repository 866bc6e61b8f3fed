import type { FastifyInstance } from "fastify";
import type { Route, Services } from "./route.ts";

/** Groups of routes for the histogram of latencies: few, because each is a label value with a bucket per bound and status. */
type RouteFamily = "send" | "verify" | "api" | "facade" | "link" | "carrier" | "simulator" | "health" | "page";

/** Null for a stream, which stays open for hours. */
export function routeFamilyOf({ family, group, path, contentType, hidden }: Route): RouteFamily | null {
  if (contentType === "text/event-stream") return null;
  if (family !== "plain") return family === "otp" ? "verify" : "send";
  if (group === "Short links" && hidden) return "link";
  if (path.startsWith("/hooks/")) return "carrier";
  // One of its operations waits for a message.
  if (path.startsWith("/api/simulator/")) return "simulator";
  if (path.startsWith("/api/") || path.startsWith("/v1/")) return "api";
  return group === "Health" ? "health" : "page";
}

const STATUS_CLASSES = ["", "1xx", "2xx", "3xx", "4xx", "5xx"];

export const statusClassOf = (status: number): string => STATUS_CLASSES[Math.floor(status / 100)] ?? "";

/** Measures the requests that Fastify handles. The fast path measures its own. */
export function measureRequests(app: FastifyInstance, { metrics }: Pick<Services, "metrics">): void {
  app.addHook("onResponse", (request, reply, done) => {
    done();
    const { routeFamily } = request.routeOptions.config as { routeFamily?: RouteFamily | null };
    if (routeFamily === null) return;
    // Without a route: files of the dashboard, and paths that nothing has.
    const family = routeFamily ?? "page";
    metrics.requestSeconds(family, statusClassOf(reply.statusCode)).observe(reply.elapsedTime / 1000);
  });
}
