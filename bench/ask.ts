import { setTimeout as pause } from "node:timers/promises";
import type { ServerProcess } from "../test/support/server-process.ts";

export const portOf = ({ baseUrl }: ServerProcess): number => Number(new URL(baseUrl).port);

/** Asks a server that is measured for something beside it; whatever is no success ends the run. */
export async function ask<T>(
  { baseUrl, apiKey }: ServerProcess,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const headers = { apikey: apiKey, ...(body && { "content-type": "application/json" }) };
  const response = await fetch(baseUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return (text.startsWith("{") ? JSON.parse(text) : text) as T;
}

/** Waits until a node has a line to a carrier. */
export async function lineUp(node: ServerProcess, carrierId: string): Promise<void> {
  while (!(await ask<{ up: boolean }>(node, "GET", `/api/carriers/${carrierId}/state`)).up) await pause(50);
}
