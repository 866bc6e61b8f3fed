import { inspect } from "node:util";
import { Webhook } from "standardwebhooks";
import { describe, expect, test, vi } from "vitest";
import {
  ApiError,
  ConnectionError,
  Heliograph,
  HeliographError,
  TimeoutError,
  verifyWebhook,
  WebhookVerificationError,
} from "../../sdk/typescript/src/index.ts";

const KEY = "hg_live_0123456789";
const SMS = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" } as const;
const SENT = {
  id: "1",
  data: [{ recipient: "15550100100", messageId: "1:1" }],
  totalCount: 1,
  message: "Message Sent Successfully!",
  error: null,
};

const json = (status: number, body: object, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers });
const refusal = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  json(status, { error: { code, message: `refused: ${code}` } }, headers);

interface Asked {
  url: string;
  method: string;
  headers: Headers;
  body: unknown;
}

/** A client whose requests get the given answers in turn; the last one is repeated. */
function clientOf(...answers: (() => Response | Promise<Response>)[]): { client: Heliograph; asked: Asked[] } {
  const asked: Asked[] = [];
  const fetchOf: typeof fetch = async (input, init) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    const body = typeof init?.body === "string" ? (JSON.parse(init.body) as unknown) : undefined;
    asked.push({
      url: typeof input === "string" ? input : "",
      method: init?.method ?? "",
      headers: new Headers(init?.headers),
      body,
    });
    if (!answer) throw new Error("no answer was planned");
    return answer();
  };
  return { client: new Heliograph({ baseUrl: "https://host.example/", apiKey: KEY, fetch: fetchOf }), asked };
}

/** Pauses between repetitions end at once. */
async function withoutPauses<T>(run: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let isOver = false;
    const result = run().finally(() => (isOver = true));
    result.catch(() => undefined);
    while (!isOver) await vi.advanceTimersByTimeAsync(1000);
    return await result;
  } finally {
    vi.useRealTimers();
  }
}

const broken = (): Response => {
  throw new TypeError("fetch failed");
};

describe("a send", () => {
  test("goes to its path with key, body and an idempotency key, and returns the answer", async () => {
    const { client, asked } = clientOf(() => json(200, SENT));
    expect(await client.sms.send(SMS)).toEqual(SENT);
    expect(asked[0]).toMatchObject({ url: "https://host.example/v1/sms", method: "POST", body: SMS });
    expect(asked[0]?.headers.get("apikey")).toBe(KEY);
    expect(asked[0]?.headers.get("idempotency-key")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ["a broken connection", broken],
    ["500", () => refusal(500, "INTERNAL")],
    ["503", () => refusal(503, "OVERLOADED", { "retry-after": "2" })],
    ["a page of a proxy with 502", () => new Response("<html>", { status: 502 })],
    ["a request with its key in progress", () => refusal(409, "IDEMPOTENCY_IN_PROGRESS")],
  ])("after %s is repeated with the same idempotency key", async (_name, first) => {
    const { client, asked } = clientOf(first, () => json(200, SENT));
    expect(await withoutPauses(() => client.sms.send(SMS))).toEqual(SENT);
    const keys = asked.map(({ headers }) => headers.get("idempotency-key"));
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  test("has a new idempotency key at each call, or the caller's own", async () => {
    const { client, asked } = clientOf(() => json(200, SENT));
    await client.rcs.send({ botId: "b", number: "+15550100100", type: "TRANS", templateName: "t" });
    await client.chatapp.send({ from: "+15550100199", to: "15550100100", type: "template", templateName: "t" });
    await client.sms.send(SMS, { idempotencyKey: "order-1" });
    const [first, second, third] = asked.map(({ headers }) => headers.get("idempotency-key"));
    expect(first).not.toBe(second);
    expect(third).toBe("order-1");
  });

  test("is given up after maxRetries repetitions", async () => {
    const { client, asked } = clientOf(broken);
    const send = (): Promise<unknown> => client.sms.send(SMS, { maxRetries: 2 });
    await expect(withoutPauses(send)).rejects.toBeInstanceOf(ConnectionError);
    expect(asked).toHaveLength(3);
  });

  test("is not repeated when its error is the caller's, or the server asks for a longer wait than 30 seconds", async () => {
    for (const answer of [
      () => refusal(402, "INSUFFICIENT_CREDITS"),
      () => refusal(429, "RATE_LIMITED", { "retry-after": "3600" }),
    ]) {
      const { client, asked } = clientOf(answer);
      await expect(withoutPauses(() => client.sms.send(SMS))).rejects.toBeInstanceOf(ApiError);
      expect(asked).toHaveLength(1);
    }
  });
});

describe("an error", () => {
  test("has the code, the fields and the request id of the answer", async () => {
    const details = [{ parameter: "to", message: "Give a number." }];
    const error = { code: "INVALID_REQUEST", type: "invalid_request", parameter: "to", message: "Bad.", details };
    const { client } = clientOf(() => json(400, { error: { ...error, requestId: "r", reference: "https://x/y" } }));
    const caught = await client.sms.send(SMS).catch((thrown: unknown) => thrown);
    expect(caught).toBeInstanceOf(ApiError);
    expect(caught).toMatchObject({ ...error, status: 400, requestId: "r", reference: "https://x/y" });
  });

  test("names neither the key nor the body", async () => {
    const { client } = clientOf(broken);
    const caught = await client.sms.send(SMS, { maxRetries: 0 }).catch((thrown: unknown) => thrown);
    expect(inspect(caught, { depth: 9 }) + inspect(client, { depth: 9 })).not.toMatch(/hg_live|15550100100/);
  });

  test("of a redirect is an ApiError, and the key goes to no other address", async () => {
    const { client, asked } = clientOf(
      () => new Response(null, { status: 302, headers: { location: "https://elsewhere.example" } }),
    );
    await expect(client.messages.get("1:1")).rejects.toMatchObject({ status: 302 });
    expect(asked).toHaveLength(1);
  });

  test("of an answer that is late is a TimeoutError", async () => {
    const fetchOf: typeof fetch = (_input, init) =>
      new Promise((_resolve, reject) =>
        init?.signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
      );
    const client = new Heliograph({ baseUrl: "https://host.example", apiKey: KEY, fetch: fetchOf, maxRetries: 0 });
    await expect(withoutPauses(() => client.messages.get("1:1"))).rejects.toBeInstanceOf(TimeoutError);
  });

  test("of a caller's signal is its reason, also during a pause", async () => {
    const reason = new Error("the user left");
    const { client, asked } = clientOf(broken);
    const abort = new AbortController();
    const sending = client.sms.send(SMS, { signal: abort.signal });
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    abort.abort(reason);
    await expect(sending).rejects.toBe(reason);
    await expect(client.sms.send(SMS, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test("of the caller's settings says what they must be", () => {
    expect(() => new Heliograph({ baseUrl: "host", apiKey: KEY })).toThrow(/baseUrl is the http or https address/);
    expect(() => new Heliograph({ baseUrl: "https://host", apiKey: "" })).toThrow(HeliographError);
    const copied = `${KEY}\n`;
    expect(() => new Heliograph({ baseUrl: "https://host", apiKey: copied })).toThrow("apiKey is a key such as");
    const { client } = clientOf(() => json(200, {}));
    expect(() => client.messages.get("")).toThrow("messageId is a text that is not empty.");
  });
});

describe("a check of a code", () => {
  test("is not repeated when its answer was lost, since it may have counted", async () => {
    for (const answer of [broken, () => refusal(500, "INTERNAL")]) {
      const { client, asked } = clientOf(answer);
      const check = (): Promise<unknown> => client.verify.check({ verifyId: "v", otp: "123456" });
      await expect(withoutPauses(check)).rejects.toBeInstanceOf(HeliographError);
      expect(asked).toHaveLength(1);
    }
  });

  test("is repeated when the server did not execute it", async () => {
    const verified = { data: "v", error: null, message: "OTP Verified Successfully!" };
    const { client, asked } = clientOf(
      () => refusal(503, "OVERLOADED"),
      () => json(200, verified),
    );
    const checked = await withoutPauses(() => client.verify.check({ verifyId: "v", otp: "123456" }));
    expect(checked).toEqual({ ...verified, verifyId: "v", verified: true });
    expect(asked.map(({ headers }) => headers.get("idempotency-key"))).toEqual([null, null]);
  });
});

test.each([
  ["a commit whose outcome the server does not know", "STORAGE_UNAVAILABLE", 503],
  ["a limit of codes", "OTP_SEND_LIMIT", 429],
  ["a proxy that failed", "UNKNOWN", 503],
])("a check of a code is not repeated after %s", async (_name, code, status) => {
  const { client, asked } = clientOf(() => refusal(status, code, { "retry-after": "1" }));
  const check = (): Promise<unknown> => client.verify.check({ verifyId: "v", otp: "123456" });
  await expect(withoutPauses(check)).rejects.toMatchObject({ code });
  expect(asked).toHaveLength(1);
});

test("a code that is refused by a send limit is not sent later, when its user may have another", async () => {
  const { client, asked } = clientOf(() => refusal(429, "OTP_SEND_LIMIT", { "retry-after": "30" }));
  const start = (): Promise<unknown> => client.verify.start({ configId: "default", to: "15550100100" });
  await expect(withoutPauses(start)).rejects.toMatchObject({ code: "OTP_SEND_LIMIT" });
  expect(asked).toHaveLength(1);
});

test("a list fetches page after page while it is read, and keeps its filters", async () => {
  const row = (messageId: string): object => ({ messageId });
  const { client, asked } = clientOf(
    () => json(200, { data: [row("1"), row("2")], nextCursor: "c 2" }),
    () => json(200, { data: [], nextCursor: "c3" }),
    () => json(200, { data: [row("3")], nextCursor: null }),
  );
  const ids = [];
  for await (const { messageId } of client.messages.list({ channel: "sms", test: undefined })) ids.push(messageId);
  expect(ids).toEqual(["1", "2", "3"]);
  expect(asked.map(({ url }) => url)).toEqual([
    "https://host.example/v1/messages?channel=sms",
    "https://host.example/v1/messages?channel=sms&cursor=c+2",
    "https://host.example/v1/messages?channel=sms&cursor=c3",
  ]);
});

test("a file is uploaded in parts of its bytes, and a lost part is sent again", async () => {
  const file = `phone,name\n${"15550100100,Zoë 🙂\n".repeat(60_000)}`;
  const bytes = Buffer.from(file);
  const made = { id: "a 1", state: "uploading" };
  const { client, asked } = clientOf(
    () => json(201, made),
    broken,
    () => json(200, made),
    () => json(200, { ...made, state: "checking" }),
  );
  const audience = await withoutPauses(() => client.audiences.upload({ name: "Autumn", file }));
  expect(audience.state).toBe("checking");
  expect(asked[0]?.body).toEqual({ name: "Autumn", size: bytes.length });
  const parts = asked.slice(1).map(({ body }) => body as { offset: number; base64: string });
  expect(asked.slice(1).map(({ url }) => url)).toEqual(
    Array.from({ length: 3 }, () => "https://host.example/v1/audiences/a%201/parts"),
  );
  expect(parts.map(({ offset }) => offset)).toEqual([0, 0, 786_432]);
  const sent = Buffer.concat(parts.slice(1).map(({ base64 }) => Buffer.from(base64, "base64")));
  expect(sent.equals(bytes)).toBe(true);
});

test("a campaign is controlled at its own paths", async () => {
  const { client, asked } = clientOf(() => json(200, { id: "c1" }));
  const at = new Date("2026-01-31T18:00:00Z");
  for (const action of ["start", "pause", "resume", "cancel"] as const) await client.campaigns[action]("c1");
  await client.campaigns.schedule("c1", at);
  expect(asked.map(({ url, body }) => [url.split("/").at(-1), body])).toEqual([
    ["start", {}],
    ["pause", {}],
    ["resume", {}],
    ["cancel", {}],
    ["schedule", { scheduledAt: at.getTime() }],
  ]);
});

describe("verifyWebhook", () => {
  const SECRET = `whsec_${Buffer.from("a secret of twenty-four b").toString("base64")}`;
  const OTHER = `whsec_${Buffer.from("another secret of 24 byte").toString("base64")}`;
  const BODY = '{"event":"message_status","channel":"rcs","messageId":"1:1"}';
  const at = new Date("2026-01-31T18:00:00Z");
  const now = at.getTime();
  const headersFor = (body: string, secret = SECRET): Record<string, string> => ({
    "webhook-id": "event-1",
    "webhook-timestamp": String(now / 1000),
    "webhook-signature": new Webhook(secret).sign("event-1", at, body),
  });

  test("returns the event of a signed body, with headers in each common form", async () => {
    const headers = headersFor(BODY);
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    for (const form of [headers, upper, new Headers(headers)])
      expect(await verifyWebhook(SECRET, form, BODY, { now })).toEqual(JSON.parse(BODY));
    expect(await verifyWebhook(SECRET, headers, new TextEncoder().encode(BODY), { now })).toEqual(JSON.parse(BODY));
  });

  test("accepts any secret of a list, and any signature of a rotation", async () => {
    expect(await verifyWebhook([OTHER, SECRET], headersFor(BODY), BODY, { now })).toBeDefined();
    const headers = headersFor(BODY, OTHER);
    headers["webhook-signature"] += ` ${headersFor(BODY)["webhook-signature"]}`;
    expect(await verifyWebhook(SECRET, headers, BODY, { now })).toBeDefined();
  });

  test("reads a delivery report by GET from its query string", async () => {
    const query = "messageId=1%3A1&status=Delivered";
    expect(await verifyWebhook(SECRET, headersFor(query), query, { now })).toEqual({
      messageId: "1:1",
      status: "Delivered",
    });
  });

  test.each([
    ["a changed body", headersFor(BODY), `${BODY} `, now],
    ["another secret", headersFor(BODY, OTHER), BODY, now],
    ["another id", { ...headersFor(BODY), "webhook-id": "event-2" }, BODY, now],
    ["a missing header", { ...headersFor(BODY), "webhook-signature": undefined }, BODY, now],
    ["an empty signature", { ...headersFor(BODY), "webhook-signature": "v1," }, BODY, now],
    [
      "another version",
      { ...headersFor(BODY), "webhook-signature": headersFor(BODY)["webhook-signature"]?.replace("v1", "v2") },
      BODY,
      now,
    ],
    ["a time that is no number", { ...headersFor(BODY), "webhook-timestamp": "NaN" }, BODY, now],
    ["an old time", headersFor(BODY), BODY, now + 301_000],
    ["a time in the future", headersFor(BODY), BODY, now - 301_000],
    ["a body that is no JSON", headersFor("{"), "{", now],
  ])("refuses %s", async (_name, headers, body, readAt) => {
    await expect(verifyWebhook(SECRET, headers, body, { now: readAt })).rejects.toBeInstanceOf(
      WebhookVerificationError,
    );
  });

  test("looks at ten signatures at most, because each costs a hash of the body", async () => {
    const headers = headersFor(BODY);
    headers["webhook-signature"] = `${"v1,AAAA ".repeat(10)}${headers["webhook-signature"]}`;
    await expect(verifyWebhook(SECRET, headers, BODY, { now })).rejects.toBeInstanceOf(WebhookVerificationError);
    headers["webhook-signature"] = headers["webhook-signature"].slice("v1,AAAA ".length);
    expect(await verifyWebhook(SECRET, headers, BODY, { now })).toBeDefined();
  });

  test("refuses an empty or foreign secret, whose signature any sender could compute", async () => {
    for (const secret of ["", "whsec_", "hg_live_0123456789", "whsec_%%%"])
      await expect(verifyWebhook(secret, headersFor(BODY), BODY, { now })).rejects.toThrow(/signing secret/);
    await expect(verifyWebhook([], headersFor(BODY), BODY, { now })).rejects.toBeInstanceOf(WebhookVerificationError);
  });
});
