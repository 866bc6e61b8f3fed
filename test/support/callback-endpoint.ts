import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Carrier } from "../../src/carriers/carrier.ts";
import type { PlatformWebhook } from "../../src/carriers/http-platform.ts";

/** The HTTP endpoint for provider callbacks, connected to a single carrier. */
export interface CallbackEndpoint {
  url: string;
  calls: PlatformWebhook[];
  /** The carrier that receives the calls; with null they are refused. */
  carrier: Carrier | null;
  close(): Promise<void>;
}

export async function openCallbackEndpoint(): Promise<CallbackEndpoint> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url = "", headers } = request;
      const call: PlatformWebhook = {
        method: method === "GET" ? "GET" : "POST",
        query: url.split("?").slice(1).join("?"),
        headers,
        body: Buffer.concat(chunks),
      };
      endpoint.calls.push(call);
      void (endpoint.carrier?.handleWebhook?.(call) ?? Promise.resolve({ status: 503, text: "" })).then(
        ({ status, text }) => response.writeHead(status, { "content-type": "text/plain" }).end(text),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint: CallbackEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    calls: [],
    carrier: null,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return endpoint;
}
