import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ServerProcess } from "../support/server-process.ts";

/** Customer endpoint that records delivery reports by message and in order. */
export interface ReportSink {
  reported: ReadonlyMap<string, readonly string[]>;
  /** Configures nodes of one store to send their delivery reports here. */
  register(server: ServerProcess, ...others: readonly ServerProcess[]): Promise<void>;
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
    async register({ baseUrl, apiKey }, ...others) {
      const registered = await fetch(`${baseUrl}/api/dlr-configs`, {
        method: "POST",
        headers: { apikey: apiKey, "content-type": "application/json" },
        body: JSON.stringify({ name: "reports", provider: "ALL", method: "POST", url: `http://127.0.0.1:${port}/` }),
      });
      if (registered.status !== 201) throw new Error(`registering the report sink failed: ${registered.status}`);
      // A node that lists its endpoints has read the latest ones. Otherwise it would learn of this one seconds later.
      for (const other of others) {
        const listed = await fetch(`${other.baseUrl}/api/dlr-configs`, { headers: { apikey: apiKey } });
        if (!(await listed.text()).includes('"reports"')) throw new Error("another node does not know the report sink");
      }
    },
    close: () =>
      new Promise((resolve) => {
        sink.close(() => resolve());
        sink.closeAllConnections();
      }),
  };
}
