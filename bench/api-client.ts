import { setTimeout as pause } from "node:timers/promises";
import type { ServerProcess } from "../test/support/server-process.ts";

export const portOf = ({ baseUrl }: ServerProcess): number => Number(new URL(baseUrl).port);

/** Calls the API of the measured server. Throws on any status other than 2xx. */
export async function callApi<T>(
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

/** Waits until a node is connected to a carrier. */
export async function waitForCarrier(node: ServerProcess, carrierId: string): Promise<void> {
  while (!(await callApi<{ up: boolean }>(node, "GET", `/api/carriers/${carrierId}/state`)).up) await pause(50);
}
