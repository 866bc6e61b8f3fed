import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ServerProcess } from "../support/server-process.ts";

/** A customer's server that takes delivery reports and remembers, by message, what it was told in which order. */
export interface ReportSink {
  reported: ReadonlyMap<string, readonly string[]>;
  /** Has a server report to it. */
  register(server: ServerProcess): Promise<void>;
  close(): Promise<void>;
}

export async function openReportSink(): Promise<ReportSink> {
  const reported = new Map<string, string[]>();
  const sink = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const { messageId, status } = JSON.parse(text) as { messageId: string; status: string };
      reported.set(messageId, [...(reported.get(messageId) ?? []), status]);
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => sink.listen(0, "127.0.0.1", resolve));
  const { port } = sink.address() as AddressInfo;
  return {
    reported,
    async register({ baseUrl, apiKey }) {
      const answer = await fetch(`${baseUrl}/api/dlr-configs`, {
        method: "POST",
        headers: { apikey: apiKey, "content-type": "application/json" },
        body: JSON.stringify({ name: "reports", provider: "ALL", method: "POST", url: `http://127.0.0.1:${port}/` }),
      });
      if (answer.status !== 201) throw new Error(`the sink was not registered: ${answer.status}`);
    },
    close: () =>
      new Promise((resolve) => {
        sink.close(() => resolve());
        sink.closeAllConnections();
      }),
  };
}
