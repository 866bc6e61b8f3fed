import { setTimeout as pause } from "node:timers/promises";
import type { ServerProcess } from "../test/support/server-process.ts";
import { callApi } from "./api-client.ts";
import type { Counter } from "./testbed.ts";

const PER_REQUEST = 1000;
export const WINDOW = 1000;

/** Settings of a server that sends campaigns. */
export const BULK_SETTINGS = {
  HELIOGRAPH_ACCEPT_BACKLOG: "200000",
  HELIOGRAPH_LANE_CAPACITY: "100000",
};

/** Makes an SMSC the only route. Returns the carrier's id. */
export async function useSmsc(server: ServerProcess, port: number, receipts: "all" | "none"): Promise<string> {
  const { data } = await callApi<{ data: { id: string }[] }>(server, "GET", "/api/routes");
  for (const route of data) await callApi(server, "DELETE", `/api/routes/${route.id}`);
  const connection = { host: "127.0.0.1", port, systemId: "bench", password: "secret" };
  const smpp = { ...connection, connections: 2, window: WINDOW, receipts };
  const { id } = await callApi<{ id: string }>(server, "POST", "/api/carriers", {
    name: "bench",
    adapter: "smpp",
    smpp,
  });
  await callApi(server, "POST", "/api/routes", { name: "bench", channel: "sms", carrier: "bench" });
  await callApi(server, "PATCH", "/api/account", { sameText: null });
  return id;
}

/** Reads a counter from /metrics and sums all labels that match the pattern. */
export async function readCounter(server: ServerProcess, pattern: RegExp): Promise<number> {
  const metrics = await callApi<string>(server, "GET", "/metrics");
  return [...metrics.matchAll(pattern)].reduce((sum, [, count]) => sum + Number(count), 0);
}

let sent = 0;
/**
 * Sends one bulk and returns messages per second, from the first request until the SMSC has the last message. Polls
 * only the SMSC, so that polling does not load the server.
 */
export async function bulk(server: ServerProcess, smsc: Counter, messages: number): Promise<number> {
  const before = await smsc.received();
  const startedAt = performance.now();
  const requests = Array.from({ length: messages / PER_REQUEST }, () => {
    const to = Array.from({ length: PER_REQUEST }, () => String(15_560_000_000 + (sent += 1)));
    return callApi(server, "POST", "/v1/sms", {
      sender: "HELIOG",
      text: "Your parcel is on its way.",
      type: "PROMO",
      to,
    });
  });
  await Promise.all(requests);
  while ((await smsc.received()) < before + messages) await pause(10);
  return messages / ((performance.now() - startedAt) / 1000);
}
