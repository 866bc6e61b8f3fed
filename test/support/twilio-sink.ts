import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

interface TwilioCall {
  method: string;
  /** As the customer gave it. */
  url: string;
  signature: string;
  fields: Record<string, string>;
}

/** A customer's server for Twilio's webhooks. */
export interface TwilioSink {
  url: string;
  calls: TwilioCall[];
  /** This many calls are answered with 500. */
  failNext: number;
  /** The body of every answer. */
  twiml: string;
  close(): Promise<void>;
}

export async function openTwilioSink(): Promise<TwilioSink> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const form = method === "GET" ? (url.split("?")[1] ?? "") : Buffer.concat(chunks).toString();
      sink.calls.push({
        method,
        url: sink.url + url,
        signature: String(headers["x-twilio-signature"] ?? ""),
        fields: Object.fromEntries(new URLSearchParams(form)),
      });
      const fails = sink.failNext > 0;
      if (fails) sink.failNext -= 1;
      response.writeHead(fails ? 500 : 200, { "content-type": "text/xml" }).end(fails ? "" : sink.twiml);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sink: TwilioSink = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    failNext: 0,
    twiml: "<Response/>",
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return sink;
}
