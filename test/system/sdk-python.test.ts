import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json, text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readProgram } from "../support/doc-page.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const ROOT = join(import.meta.dirname, "../..");
const SCRIPT = join(ROOT, "test/support/sdk-client.py");
const SMS = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };
/** Other Pythons of a developer's machine may be in the path before Debian's. */
const PYTHON = process.platform === "linux" ? "/usr/bin/python3" : "python3";

async function runPython(args: string[], input: string, env: Record<string, string> = {}): Promise<string> {
  const child = spawn(PYTHON, ["-B", ...args], {
    env: { PATH: process.env["PATH"], PYTHONPATH: join(ROOT, "sdk/python"), ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end(input);
  const [out, failed, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on("exit", resolve)),
  ]);
  if (code !== 0) throw new Error(failed);
  return out;
}

async function useClient(given: object): Promise<unknown[]> {
  const printed = await runPython([SCRIPT], JSON.stringify(given));
  return printed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that gives the answers in turn, and keeps what it was asked. */
async function serve(
  answers: Answer[],
  use: (url: string) => Promise<void>,
): Promise<{ key: string; body: unknown }[]> {
  const asked: { key: string; body: unknown }[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    const entry = { key: String(request.headers["idempotency-key"]), body: null as unknown };
    asked.push(entry);
    void (request.method === "POST" ? json(request) : Promise.resolve(null)).then((body) => {
      entry.body = body;
      answer?.(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return asked;
}

const answer =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response.writeHead(status, headers).end(JSON.stringify(body));
const refusal = (status: number, code: string, headers?: Record<string, string>): Answer =>
  answer(status, { error: { code, message: "refused" } }, headers);
const cut: Answer = (request) => request.socket.destroy();

describe("the Python client", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer("sqlite");
  });
  afterAll(() => server.close());

  test("runs the examples of its page as they are", async () => {
    const program = await readProgram(join(ROOT, "docs/sdk-python.md"), "python");
    const lines = (await runPython(["-"], program, { URL: server.url, KEY: server.key })).trim().split("\n");
    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(/^15550100100 [0-9a-f-]{36}:1$/),
      expect.stringMatching(/^15550100101 [0-9a-f-]{36}:2$/),
      "True",
    ]);
    expect(lines[3]).toMatch(/^(Pending|Delivered) \d+$/);
    expect(lines.slice(4, -2)).toEqual([expect.stringMatching(/:1 /), expect.stringMatching(/:1 /)]);
    expect(lines.slice(-2)).toEqual(["wrong, 4 attempts left", "2 recipients"]);
  });

  test("reaches every operation, and an error has the code and the fields of the answer", async () => {
    const unknown = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
    const way = { channel: "sms", sender: "HELIOG", text: "Hello" };
    const results = await useClient({
      url: server.url,
      key: server.key,
      steps: [
        { call: "messages.send", kwargs: { to: "15550100107", type: "TRANS", ways: [way] } },
        { call: "messages.list", kwargs: { recipient: "15550100107", limit: 1, test: false } },
        { call: "sms.preview", kwargs: SMS },
        { call: "inbound.list" },
        { call: "events.page", kwargs: { limit: 1 } },
        { call: "messages.cancel", args: [unknown] },
        { call: "messages.get", args: [`${unknown}:1`] },
        { call: "verify.get", args: [unknown] },
        { call: "verify.outcome", args: [unknown, "used"] },
        { call: "audiences.get", args: [unknown] },
        { call: "campaigns.get", args: [unknown] },
        { call: "campaigns.pause", args: [unknown] },
        { call: "campaigns.list", kwargs: { state: "paused" } },
        { call: "rcs.preview", kwargs: {} },
        { call: "sms.send", kwargs: { ...SMS, to: "x" } },
      ],
    });
    expect(results).toEqual([
      { result: expect.objectContaining({ totalCount: 1, error: null }) },
      { result: [expect.objectContaining({ recipient: "15550100107" })] },
      { result: expect.objectContaining({ segmentCount: 1 }) },
      { result: [] },
      { result: expect.objectContaining({ nextCursor: expect.any(String) }) },
      ...["MESSAGE_NOT_FOUND", "MESSAGE_NOT_FOUND", "VERIFICATION_NOT_FOUND", "VERIFICATION_NOT_FOUND"].map((code) => ({
        error: expect.objectContaining({ status: 404, code }),
      })),
      ...[1, 2, 3].map(() => ({ error: expect.objectContaining({ status: 404, code: "RECORD_NOT_FOUND" }) })),
      { result: [] },
      { error: expect.objectContaining({ status: 400, code: "INVALID_REQUEST" }) },
      {
        error: expect.objectContaining({ code: "INVALID_RECIPIENT", parameter: "to", request_id: expect.any(String) }),
      },
    ]);
  });

  test("repeats a send after a passing failure with the same idempotency key", async () => {
    const sent = answer(200, { id: "1", data: [] });
    const answers = [cut, refusal(503, "OVERLOADED", { "retry-after": "7" }), refusal(500, "INTERNAL"), sent];
    const asked = await serve(answers, async (url) => {
      const results = await useClient({ url, key: "k", steps: [{ call: "sms.send", kwargs: SMS }] });
      expect(results[1]).toEqual({ paused: 7 });
      expect(results.at(-1)).toEqual({ result: { id: "1", data: [] } });
    });
    expect(asked).toHaveLength(4);
    expect(new Set(asked.map(({ key }) => key)).size).toBe(1);
    expect(asked[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
    expect(asked.map(({ body }) => body)).toEqual([SMS, SMS, SMS, SMS]);
  });

  test("repeats neither a check with a lost answer nor a refusal of the request", async () => {
    const check = { call: "verify.check", kwargs: { verifyId: "v", otp: "1" } };
    const send = { call: "sms.send", kwargs: SMS };
    for (const [step, given, error] of [
      [check, cut, "ConnectionFailed"],
      [check, refusal(503, "STORAGE_UNAVAILABLE"), expect.objectContaining({ code: "STORAGE_UNAVAILABLE" })],
      [check, refusal(429, "OTP_ATTEMPTS_EXHAUSTED"), expect.objectContaining({ code: "OTP_ATTEMPTS_EXHAUSTED" })],
      [check, refusal(500, "INTERNAL"), expect.objectContaining({ code: "INTERNAL" })],
      [send, refusal(402, "INSUFFICIENT_CREDITS"), expect.objectContaining({ code: "INSUFFICIENT_CREDITS" })],
      [send, refusal(429, "RATE_LIMITED", { "retry-after": "3600" }), expect.objectContaining({ retry_after: 3600 })],
      [send, answer(302, {}, { location: "http://127.0.0.1:1/" }), expect.objectContaining({ status: 302 })],
    ] as const) {
      const asked = await serve([given], async (url) => {
        expect(await useClient({ url, key: "k", steps: [step] })).toEqual([{ error }]);
      });
      expect(asked).toHaveLength(1);
    }
  });

  test("names no key that it refuses, such as one with a line break", async () => {
    const failed = useClient({ url: server.url, key: `${server.key}\n`, steps: [] });
    await expect(failed).rejects.toThrow("api_key is a key such as");
    await expect(failed).rejects.not.toThrow(server.key);
  });

  test("gives up an answer that is late", async () => {
    await serve([() => undefined], async (url) => {
      const results = await useClient({ url, key: "k", timeout: 0.2, steps: [{ call: "events.page" }] });
      expect(results.at(-1)).toEqual({ error: "TimedOut" });
    });
  });

  test("verifies webhooks, and refuses those that were changed, are old, or have another secret", async () => {
    const secret = `whsec_${Buffer.from("a secret of twenty-four b").toString("base64")}`;
    const at = new Date("2026-01-31T18:00:00Z");
    const now = at.getTime() / 1000;
    const body = '{"event":"user_message"}';
    const signed = (content: string): object => ({
      "Webhook-Id": "event-1",
      "webhook-timestamp": String(now),
      "webhook-signature": new Webhook(secret).sign("event-1", at, content),
    });
    const good = { secret, headers: signed(body), body, now };
    const results = await useClient({
      url: server.url,
      key: server.key,
      steps: [],
      webhooks: [
        good,
        { ...good, secret: [`whsec_${"A".repeat(32)}`, secret] },
        { ...good, headers: signed("a=1&b="), body: "a=1&b=" },
        { ...good, body: `${body} ` },
        { ...good, now: now + 301 },
        { ...good, now: now - 301 },
        { ...good, secret: `whsec_${"A".repeat(32)}` },
        { ...good, headers: {} },
        { ...good, secret: "whsec_" },
      ],
    });
    expect(results).toEqual([
      { result: { event: "user_message" } },
      { result: { event: "user_message" } },
      { result: { a: "1", b: "" } },
      ...Array.from({ length: 5 }, () => ({ error: "WebhookVerificationError" })),
      { error: "ValueError" },
    ]);
  });
});
