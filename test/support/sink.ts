import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "./eventually.ts";

/** A request that the sink received. */
export interface ReceivedRequest {
  method: string;
  /** With query string. */
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed body if it is JSON. */
  body: unknown;
}

type Script = (heard: ReceivedRequest, response: ServerResponse, times: number) => void;

/** A customer's webhook endpoint: records requests and answers as the test scripts it. */
export interface Sink {
  url: string;
  received: ReceivedRequest[];
  /** Sets the response from now on; default 200. */
  respondWith(script: Script): void;
  /** Resolves with all requests once there are `count`. */
  until(count: number): Promise<ReceivedRequest[]>;
  close(): Promise<void>;
}

const FINE: Script = (_heard, response) => response.writeHead(200).end("{}");

export async function openSink(): Promise<Sink> {
  const heard: ReceivedRequest[] = [];
  let script = FINE;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const { method = "", url: path = "", headers } = request;
      const isJson = headers["content-type"]?.startsWith("application/json");
      const one: ReceivedRequest = { method, path, headers, text, body: isJson ? (JSON.parse(text) as unknown) : null };
      heard.push(one);
      script(one, response, heard.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received: heard,
    respondWith(next) {
      script = next;
    },
    until: (count) =>
      eventually(
        () => Promise.resolve(heard),
        ({ length }) => length >= count,
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
