import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Carrier } from "../../src/carriers/carrier.ts";
import type { PlatformCall } from "../../src/carriers/platform.ts";

/** The door that providers call back at, with nothing else behind it than one carrier. */
export interface CallbackDoor {
  url: string;
  calls: PlatformCall[];
  /** The carrier that calls are for; without one they are turned away. */
  carrier: Carrier | null;
  close(): Promise<void>;
}

export async function openCallbackDoor(): Promise<CallbackDoor> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url = "", headers } = request;
      const call: PlatformCall = {
        method: method === "GET" ? "GET" : "POST",
        query: url.split("?").slice(1).join("?"),
        headers,
        body: Buffer.concat(chunks),
      };
      door.calls.push(call);
      void (door.carrier?.called?.(call) ?? Promise.resolve({ status: 503, text: "" })).then(({ status, text }) =>
        response.writeHead(status, { "content-type": "text/plain" }).end(text),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const door: CallbackDoor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    calls: [],
    carrier: null,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return door;
}
