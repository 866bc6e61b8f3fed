import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "./eventually.ts";

/** A request that a sink was sent. */
export interface Heard {
  method: string;
  /** With its query. */
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  /** What the body says, where it is JSON. */
  body: unknown;
}

type Script = (heard: Heard, response: ServerResponse, times: number) => void;

/** A customer's server: it remembers what it was told and answers what the test says. */
export interface Sink {
  url: string;
  heard: Heard[];
  /** How it answers from now on; 200 unless told otherwise. */
  answer(script: Script): void;
  /** All it was told, once there are so many. */
  until(count: number): Promise<Heard[]>;
  close(): Promise<void>;
}

const FINE: Script = (_heard, response) => response.writeHead(200).end("{}");

export async function openSink(): Promise<Sink> {
  const heard: Heard[] = [];
  let script = FINE;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const { method = "", url: path = "", headers } = request;
      const isJson = headers["content-type"]?.startsWith("application/json");
      const one: Heard = { method, path, headers, text, body: isJson ? (JSON.parse(text) as unknown) : null };
      heard.push(one);
      script(one, response, heard.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    heard,
    answer(next) {
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
