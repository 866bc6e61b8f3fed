import { expect } from "vitest";
import type { TestServer } from "./test-server.ts";

export interface LedCarrier {
  id: string;
  up: boolean;
  callbackUrl: string;
}

/** Creates a carrier with a route, and waits until it can send. */
export async function lead(server: TestServer, adapter: string, channel: string, line: object): Promise<LedCarrier> {
  const made = await server.request<{ id: string }>("POST", "/api/carriers", {
    name: adapter,
    adapter,
    [adapter]: line,
  });
  expect(made).toMatchObject({ status: 201 });
  const { id } = made.body;
  const route = { name: `by ${adapter}`, channel, carrier: adapter, priority: 1 };
  expect((await server.request("POST", "/api/routes", route)).status).toBe(201);
  const { body } = await server.request<LedCarrier>("GET", `/api/carriers/${id}/state`);
  expect(body).toMatchObject({ up: true, callbackUrl: expect.stringMatching(/^http.*\/hooks\//) });
  return { ...body, id };
}
