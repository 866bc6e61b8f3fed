import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLog, type Log } from "../../src/lib/log.ts";
import type { WebhookRequest } from "../../src/model/callback.ts";
import { TransportThread } from "../../src/webhooks/transport/thread.ts";
import { eventually } from "../support/eventually.ts";

describe("the webhook thread", () => {
  let server: Server;
  let base: string;
  let bodies: string[];
  let answer: (response: ServerResponse) => void;
  let logged: string[];
  let log: Log;
  let thread: TransportThread;

  beforeEach(async () => {
    bodies = [];
    logged = [];
    answer = (response) => response.end("heard");
    server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        bodies.push(body);
        answer(response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    log = createLog("info", { write: (line) => void logged.push(line) });
    thread = new TransportThread({ opened: { allow: [], loopback: true }, log });
  });
  afterEach(async () => {
    await thread.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const post = (body: string, url = `${base}/hook`): WebhookRequest => ({ method: "POST", url, headers: {}, body });

  test("returns each result to its own request", async () => {
    answer = (response) => response.end(bodies.at(-1));
    const texts = Array.from({ length: 300 }, (_, index) => `{"text":"é ${index}"}`);
    const results = await Promise.all(texts.map((text) => thread.sendWebhook(post(text))));
    expect(results.map(({ kind, excerpt }) => [kind, excerpt])).toEqual(texts.map((text) => ["delivered", text]));
    expect(bodies.toSorted()).toEqual(texts.toSorted());
  });

  test("returns the reason of a failure", async () => {
    answer = (response) => response.writeHead(503, { "retry-after": "7" }).end("not now");
    const [refused, wrong] = await Promise.all([
      thread.sendWebhook(post("{}")),
      thread.sendWebhook(post("{}", "no address")),
    ]);
    expect(refused).toMatchObject({ kind: "failed", status: 503, retryAfter: "7", gone: false, excerpt: "not now" });
    expect(wrong).toMatchObject({ kind: "failed", status: null, reason: "is no address of the web" });
  });

  test("refuses private addresses that are not allowed", async () => {
    const closed = new TransportThread({ opened: { allow: [], loopback: false }, log });
    const result = await closed.sendWebhook(post("{}"));
    await closed.close();
    expect(result).toMatchObject({ kind: "failed", status: null });
    expect(result).toHaveProperty("reason", expect.stringContaining("HELIOGRAPH_EGRESS_ALLOW"));
    expect(bodies).toEqual([]);
  });

  test("aborts requests in flight when it is closed", async () => {
    answer = () => {};
    const pushed = thread.sendWebhook(post("{}"));
    await eventually(
      () => bodies.length,
      (heard) => heard === 1,
    );
    await thread.close();
    expect(await pushed).toMatchObject({ kind: "failed", reason: "was called off, because this server stops" });
  });

  test("a crash fails the requests in flight, and the next request starts a new thread", async () => {
    answer = () => {};
    const underWay = thread.sendWebhook(post("{}"));
    await eventually(
      () => bodies.length,
      (heard) => heard === 1,
    );
    const noText = { toString: 0 } as never;
    const deadly = thread.sendWebhook({ ...post("{}"), url: noText });
    for (const result of await Promise.all([underWay, deadly]))
      expect(result).toMatchObject({ kind: "failed", reason: "was cut off, because a part of this server failed" });
    expect(logged.join("")).toContain("webhook thread failed");
    answer = (response) => response.end("heard");
    expect(await thread.sendWebhook(post("{}"))).toMatchObject({ kind: "delivered" });
  });
});
