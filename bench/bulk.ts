import { setTimeout as pause } from "node:timers/promises";
import type { ServerProcess } from "../test/support/server-process.ts";
import { ask } from "./ask.ts";
import type { Counter } from "./walk.ts";

const PER_REQUEST = 1000;
export const WINDOW = 1000;

/** As wide as a server that sends campaigns is set. */
export const BULK_SETTINGS = {
  HELIOGRAPH_ACCEPT_BACKLOG: "200000",
  HELIOGRAPH_LANE_CAPACITY: "100000",
};

/** Makes an SMSC the only way out; gives the id of its carrier. */
export async function useSmsc(server: ServerProcess, port: number, receipts: "all" | "none"): Promise<string> {
  const { data } = await ask<{ data: { id: string }[] }>(server, "GET", "/api/routes");
  for (const route of data) await ask(server, "DELETE", `/api/routes/${route.id}`);
  const line = { host: "127.0.0.1", port, systemId: "bench", password: "secret" };
  const smpp = { ...line, connections: 2, window: WINDOW, receipts };
  const { id } = await ask<{ id: string }>(server, "POST", "/api/carriers", { name: "bench", adapter: "smpp", smpp });
  await ask(server, "POST", "/api/routes", { name: "bench", channel: "sms", carrier: "bench" });
  await ask(server, "PATCH", "/api/account", { sameText: null });
  return id;
}

/** What the server has counted of something, over all labels that the pattern matches. */
export async function counted(server: ServerProcess, pattern: RegExp): Promise<number> {
  const metrics = await ask<string>(server, "GET", "/metrics");
  return [...metrics.matchAll(pattern)].reduce((sum, [, count]) => sum + Number(count), 0);
}

let sent = 0;
/** One bulk, from its first request until the SMSC has the last message: messages per second. The server is asked nothing. */
export async function bulk(server: ServerProcess, smsc: Counter, messages: number): Promise<number> {
  const before = await smsc.taken();
  const startedAt = performance.now();
  const requests = Array.from({ length: messages / PER_REQUEST }, () => {
    const to = Array.from({ length: PER_REQUEST }, () => String(15_560_000_000 + (sent += 1)));
    return ask(server, "POST", "/v1/sms", { sender: "HELIOG", text: "Your parcel is on its way.", type: "PROMO", to });
  });
  await Promise.all(requests);
  while ((await smsc.taken()) < before + messages) await pause(10);
  return messages / ((performance.now() - startedAt) / 1000);
}
