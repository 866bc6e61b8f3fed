import { readFile } from "node:fs/promises";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CHANNEL_EVENTS, WEBHOOK_CHANNELS, WEBHOOK_EVENTS } from "../../src/model/callback.ts";
import { newSecret } from "../../src/webhooks/sign.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import type { Answer, ErrorBody, TestServer } from "../support/test-server.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";
import { openSink, type ReceivedRequest, type Sink } from "../support/sink.ts";

interface EndpointBody {
  id: string;
  name: string;
  url: string;
  enabled: boolean;
  disabledReason: string | null;
  oldSecretUntil: number | null;
  updatedAt: number;
  secret: string;
}

interface Request {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | null;
}

interface TrialBody {
  eventId: string;
  request: Request;
  response: { delivered: boolean; status: number | null; ms: number; excerpt: string; reason: string | null };
}

interface CallbackBody {
  id: string;
  eventId: string;
  endpointId: string;
  endpoint: string | null;
  event: string;
  status: string | null;
  messageId: string | null;
  state: string;
  tries: number;
  nextTryAt: number | null;
  doneAt: number | null;
  lastAttempt: AttemptBody | null;
  request: Request | null;
  attempts: AttemptBody[];
}

interface AttemptBody {
  at: number;
  ms: number;
  status: number | null;
  reason: string | null;
  excerpt: string;
  nextTryAt: number | null;
}

interface EventBody {
  eventId: string;
  channel: string;
  event: string;
  at: number;
  payload: Record<string, unknown>;
}

interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

type Kind = "webhooks" | "dlr-configs";

const KINDS: [Kind, object][] = [
  ["webhooks", { channel: "rcs", events: ["user_message", "message_status"] }],
  ["dlr-configs", { provider: "ALL" }],
];

const DAY_MS = 86_400_000;
const NO_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const RCS = { number: "+15550100100", botId: "heliograph", templateName: "hello-there", type: "TRANS" };

const refusal = ({ status, body }: Answer<unknown>): [number, string, ...string[]] => {
  const { code, details } = (body as { error: ErrorBody }).error;
  return [status, code, ...details.map(({ parameter }) => parameter)];
};
const refused = (...parameters: string[]): [number, string, ...string[]] => [400, "INVALID_REQUEST", ...parameters];

/** Verifies as a receiver does, with the library of the standard. */
const verify = (secret: string, { headers, text }: Pick<ReceivedRequest, "headers" | "text">): unknown =>
  new Webhook(secret).verify(text, headers as Record<string, string>);

/** True if a secret signed a request, at any time. */
function hasSigned(secret: string, { headers, body }: Request): boolean {
  const { "webhook-id": id = "", "webhook-timestamp": at = "", "webhook-signature": signatures = "" } = headers;
  return signatures.split(" ").includes(new Webhook(secret).sign(id, new Date(Number(at) * 1000), body ?? ""));
}

describe.each(ENGINES)("webhooks and delivery reports on %s", (engine) => {
  let tenants: Tenants;
  let server: TestServer;
  let sink: Sink;
  let names = 0;
  beforeAll(async () => {
    tenants = await openTenants(engine);
    ({ server } = tenants);
  });
  afterAll(() => tenants.close());
  beforeEach(async () => {
    sink = await openSink();
  });
  afterEach(async () => {
    for (const [kind] of KINDS) {
      const { body } = await server.request<Page<EndpointBody>>("GET", `/api/${kind}?limit=200`);
      for (const { id } of body.data) await server.request("DELETE", `/api/${kind}/${id}`);
    }
    await sink.close();
  });

  const nextName = (): string => {
    names += 1;
    return `endpoint ${names}`;
  };
  /** An endpoint that calls the sink, unless told otherwise. */
  async function make(kind: Kind, fields: object = {}): Promise<EndpointBody> {
    const usual = KINDS.find(([each]) => each === kind)?.[1];
    const body = { name: nextName(), url: `${sink.url}/hook`, ...usual, ...fields };
    const made = await server.request<EndpointBody>("POST", `/api/${kind}`, body);
    expect([made.status, made.body]).toEqual([201, expect.objectContaining({ name: body.name })]);
    return made.body;
  }
  const read = async (kind: Kind, id: string): Promise<EndpointBody> =>
    (await server.request<EndpointBody>("GET", `/api/${kind}/${id}`)).body;
  const trial = async (kind: Kind, id: string, body?: object): Promise<TrialBody> =>
    (await server.request<TrialBody>("POST", `/api/${kind}/${id}/test`, body)).body;
  const callbacks = async (query: string): Promise<Page<CallbackBody>> =>
    (await server.request<Page<CallbackBody>>("GET", `/api/callbacks?${query}`)).body;
  const callback = async (id: string): Promise<CallbackBody> =>
    (await server.request<CallbackBody>("GET", `/api/callbacks/${id}`)).body;
  const sent = async (fields: object = {}): Promise<string> =>
    (await server.send({ ...fields })).body.data[0]?.messageId ?? "";
  const switchedOff = (kind: Kind, id: string): Promise<EndpointBody> =>
    eventually(
      () => read(kind, id),
      ({ enabled }) => !enabled,
    );
  const gone = (): void => sink.respondWith((_heard, response) => response.writeHead(410).end("moved away"));
  const fine = (): void => sink.respondWith((_heard, response) => response.writeHead(200).end("ok"));

  describe("as records", () => {
    test.each(KINDS)(
      "%s have their defaults, and their secret in the answer that made them only",
      async (kind, body) => {
        const made = await make(kind, { name: "secretive" });
        const { secret, ...shown } = made;
        expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
        expect(shown).toEqual({
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          name: "secretive",
          ...body,
          ...(kind === "dlr-configs" ? { headers: [], fields: null } : { channels: ["rcs"] }),
          constantHeaders: [],
          method: "POST",
          url: `${sink.url}/hook`,
          enabled: true,
          disabledReason: null,
          oldSecretUntil: null,
          origin: "authored",
          createdAt: expect.any(Number),
          updatedAt: expect.any(Number),
        });
        expect(await read(kind, made.id)).toEqual(shown);
        const answers = [
          await server.request("GET", `/api/${kind}`),
          await server.request("GET", `/api/${kind}/${made.id}`),
          await server.request("PATCH", `/api/${kind}/${made.id}`, { enabled: false }),
          await server.request("GET", `/api/${kind}/${made.id}/preview`),
          await server.request("GET", `/api/${kind}/${made.id}/health`),
          await server.request("GET", "/api/config"),
          await server.request("PUT", "/api/config?dryRun=true", { [kind]: [] }),
          await server.request("DELETE", `/api/${kind}/${made.id}`),
        ];
        const text = JSON.stringify(answers.map((answer) => [answer.status, answer.body]));
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
        expect(text).not.toMatch(/whsec_|"secrets"|sealed|"v1\./);
        expect(text).not.toContain(secret.slice("whsec_".length));
      },
    );

    test.each(KINDS)("%s have secrets that the store alone does not reveal", async (kind) => {
      const { secret } = await make(kind);
      const rows = JSON.stringify(await tenants.execute("select * from catalog"));
      expect(rows).toContain("sealed");
      expect(rows).not.toContain("whsec_");
      expect(rows).not.toContain(secret.slice("whsec_".length));
    });

    test.each(KINDS)("%s have unique names", async (kind, body) => {
      const { name } = await make(kind);
      const again = { ...body, name, url: sink.url };
      expect(refusal(await server.request("POST", `/api/${kind}`, again))).toEqual([409, "NAME_TAKEN", "name"]);
      const other = await make(kind);
      expect(refusal(await server.request("PATCH", `/api/${kind}/${other.id}`, { name }))).toEqual([
        409,
        "NAME_TAKEN",
        "name",
      ]);
    });

    test.each(KINDS)("%s accept only http and https URLs", async (kind, body) => {
      const wrong = [
        "",
        "shop.example/hook",
        "ftp://shop.example/",
        "javascript:alert(1)",
        "https://user@shop.example/",
        "https://user:word@shop.example/",
        "https://shop.example/a b",
        " https://shop.example/",
        "https://shop.example/\n",
        "https://",
        `https://shop.example/${"a".repeat(2000)}`,
      ];
      for (const url of wrong)
        expect([
          url,
          ...refusal(await server.request("POST", `/api/${kind}`, { ...body, name: "wrong", url })),
        ]).toEqual([url, ...refused("url")]);
      const longest = `https://shop.example/${"a".repeat(2000 - "https://shop.example/".length)}`;
      expect((await make(kind, { url: longest })).url).toBe(longest);
    });

    test.each(KINDS)("%s accept a given secret if it is strong", async (kind, body) => {
      const own = `whsec_${Buffer.alloc(64, 7).toString("base64")}`;
      const { id, secret } = await make(kind, { secret: own });
      expect(secret).toBe(own);
      await trial(kind, id);
      expect(() => verify(own, sink.received[0] as ReceivedRequest)).not.toThrow();

      const bad = [
        "whsec_",
        "secret",
        own.slice("whsec_".length),
        `${own}=`,
        `whsec_${Buffer.alloc(23).toString("base64")}`,
        `whsec_${Buffer.alloc(65).toString("base64")}`,
        7,
        null,
      ];
      for (const wrong of bad) {
        const given = { ...body, name: "wrong", secret: wrong };
        const made = await server.request("POST", `/api/${kind}`, { ...given, url: "nowhere" });
        expect([wrong, ...refusal(made)]).toEqual([wrong, ...refused("url", "secret")]);
        expect([
          wrong,
          refusal(await server.request("POST", `/api/${kind}/${id}/rotate-secret`, { secret: wrong })),
        ]).toEqual([wrong, refused("secret")]);
      }
    });

    test("webhooks accept only events of their channel", async () => {
      for (const channel of WEBHOOK_CHANNELS) {
        const wrong = WEBHOOK_EVENTS.filter((event) => !CHANNEL_EVENTS[channel].includes(event));
        const all = [...CHANNEL_EVENTS[channel]];
        // In any order, and named twice.
        const made = await make("webhooks", { channel, events: [...all.toReversed(), ...all] });
        expect(made).toMatchObject({ channel, events: all });
        for (const event of wrong)
          expect(
            refusal(
              await server.request("POST", "/api/webhooks", { name: "x", url: sink.url, channel, events: [event] }),
            ),
          ).toEqual(refused("events[0]"));
        expect(
          refusal(await server.request("POST", "/api/webhooks", { name: "x", url: sink.url, channel, events: [] })),
        ).toEqual(refused("events"));
      }
      expect(
        refusal(
          await server.request("POST", "/api/webhooks", { name: "x", url: "x", channel: "fax", events: ["all"] }),
        ),
      ).toEqual(refused("channel", "url", "events[0]"));
      expect(refusal(await server.request("POST", "/api/webhooks", {}))).toEqual(
        refused("name", "url", "events", "channel"),
      );
      const put = { name: "x", url: sink.url, channel: "rcs", events: ["user_message"], method: "PUT" };
      expect(refusal(await server.request("POST", "/api/webhooks", put))).toEqual(refused("method"));
    });

    test("delivery reports are for all carriers or one that exists, which stays as long as they need it", async () => {
      const given = { name: "of one line", url: sink.url, provider: "line-9" };
      expect(refusal(await server.request("POST", "/api/dlr-configs", given))).toEqual(refused("provider"));
      const carrier = await server.request<{ id: string }>("POST", "/api/carriers", { name: "line-9" });
      const { id } = await make("dlr-configs", { provider: "line-9", method: "GET" });
      expect(await make("dlr-configs", { provider: "simulator" })).toMatchObject({ provider: "simulator" });
      expect(refusal(await server.request("DELETE", `/api/carriers/${carrier.body.id}`))).toEqual([
        409,
        "RECORD_IN_USE",
      ]);
      await server.request("DELETE", `/api/dlr-configs/${id}`);
      expect((await server.request("DELETE", `/api/carriers/${carrier.body.id}`)).status).toBe(200);
    });

    test("delivery reports have valid headers, with placeholders and nothing else", async () => {
      const headers = [
        { key: "Host", value: "{{status}}" },
        { key: "X-One", value: "{{nothing}}" },
        { key: "X-Two", value: "status" },
        { key: "x-one", value: "{{status}}" },
      ];
      const wrong = await server.request("POST", "/api/dlr-configs", { name: "x", url: sink.url, headers });
      expect(refusal(wrong)).toEqual(
        refused("headers[0].key", "headers[1].value", "headers[2].value", "headers[3].key"),
      );
      const pair = { key: "X-Id", value: "{{messageId}}" };
      const made = await make("dlr-configs", { headers: [{ ...pair, more: 1 }] });
      expect(made).toMatchObject({ headers: [pair] });
    });
  });

  describe("rotation of secrets", () => {
    test.each(KINDS)(
      "%s are signed with both secrets during the overlap, and a change keeps the secret",
      async (kind) => {
        const { id, secret: old } = await make(kind);
        const before = Date.now();
        const rotated = await server.request<EndpointBody>("POST", `/api/${kind}/${id}/rotate-secret`);
        const { secret } = rotated.body;
        expect([rotated.status, secret === old]).toEqual([200, false]);
        expect(rotated.body.oldSecretUntil).toBeGreaterThanOrEqual(before + DAY_MS);
        expect((await read(kind, id)).oldSecretUntil).toBe(rotated.body.oldSecretUntil);
        await server.request("PATCH", `/api/${kind}/${id}`, { name: nextName(), url: `${sink.url}/elsewhere` });
        await trial(kind, id);
        const [heard] = await sink.until(1);
        for (const known of [secret, old]) expect(verify(known, heard as ReceivedRequest)).toEqual(heard?.body);
        expect(() => verify(newSecret(), heard as ReceivedRequest)).toThrow("signature");
        expect(() => verify(secret, { ...(heard as ReceivedRequest), text: `${heard?.text} ` })).toThrow("signature");
      },
    );

    test.each(KINDS)("%s forget the old secret at once without an overlap", async (kind) => {
      const { id, secret: old } = await make(kind);
      const given = newSecret();
      const { body } = await server.request<EndpointBody>("POST", `/api/${kind}/${id}/rotate-secret`, {
        overlapHours: 0,
        secret: given,
      });
      expect([body.secret, body.oldSecretUntil]).toEqual([given, null]);
      await trial(kind, id);
      const [heard] = await sink.until(1);
      expect(() => verify(given, heard as ReceivedRequest)).not.toThrow();
      expect(() => verify(old, heard as ReceivedRequest)).toThrow("signature");
    });

    test("signatures are verified by the code in docs/callbacks.md, for POST and GET", async () => {
      const page = await readFile("docs/callbacks.md", "utf8");
      const lines = [...page.matchAll(/```js\n([^]*?)```/g)].map(([, block]) => block).join("\n");
      const { verify: check, reportOf } = (await import(`data:text/javascript,${encodeURIComponent(lines)}`)) as {
        verify(secret: string, headers: ReceivedRequest["headers"], payload: string): boolean;
        reportOf(
          secret: string,
          request: { url: string; headers: ReceivedRequest["headers"] },
        ): Record<string, string> | null;
      };
      const byPost = await make("webhooks");
      const byGet = await make("dlr-configs", { method: "GET", url: `${sink.url}/dlr?a=b%20c` });
      await server.request("POST", `/api/webhooks/${byPost.id}/rotate-secret`);
      await trial("webhooks", byPost.id);
      await trial("dlr-configs", byGet.id);
      const [post, get] = (await sink.until(2)) as [ReceivedRequest, ReceivedRequest];
      const query = get.path.slice(get.path.indexOf("?") + 1);
      expect(check(byPost.secret, post.headers, post.text)).toBe(true);
      expect(check(byGet.secret, get.headers, query)).toBe(true);
      expect(check(byGet.secret, get.headers, `${query}&more=1`)).toBe(false);
      expect(reportOf(byGet.secret, { ...get, url: get.path })).toMatchObject({ a: "b c", status: "Delivered" });
      expect(reportOf(byGet.secret, { ...get, url: `${get.path}&more=1` })).toBeNull();
      expect(reportOf(byPost.secret, { ...get, url: get.path })).toBeNull();
      expect(check(newSecret(), post.headers, post.text)).toBe(false);
      expect(check(byPost.secret, {}, post.text)).toBe(false);
      const old = String(Number(post.headers["webhook-timestamp"]) - 301);
      expect(check(byPost.secret, { ...post.headers, "webhook-timestamp": old }, post.text)).toBe(false);
    });

    test("an overlap has at most a week, and an endpoint at most five secrets", async () => {
      const { id } = await make("webhooks");
      const path = `/api/webhooks/${id}/rotate-secret`;
      for (const overlapHours of [-1, 169, "24", null])
        expect(refusal(await server.request("POST", path, { overlapHours }))).toEqual(refused("overlapHours"));
      for (let times = 0; times < 7; times += 1) await server.request("POST", path, { overlapHours: 168 });
      const { body } = await server.request<TrialBody>("GET", `/api/webhooks/${id}/preview`);
      expect(body.request.headers["webhook-signature"]?.split(" ")).toHaveLength(5);
      expect(refusal(await server.request("POST", `/api/webhooks/${NO_ID}/rotate-secret`))).toEqual([
        404,
        "RECORD_NOT_FOUND",
      ]);
    });
  });

  describe("tests and previews", () => {
    test("a test event is sent at once, whether the endpoint is on or off, and not stored", async () => {
      const { id, secret } = await make("webhooks", { enabled: false });
      sink.respondWith((_heard, response) => response.writeHead(202).end("noted"));
      const { eventId, request, response } = await trial("webhooks", id);
      const [heard] = await sink.until(1);
      expect(request).toEqual({
        method: "POST",
        url: `${sink.url}/hook`,
        headers: {
          "content-type": "application/json",
          "webhook-id": eventId,
          "webhook-timestamp": heard?.headers["webhook-timestamp"],
          "webhook-signature": heard?.headers["webhook-signature"],
        },
        body: heard?.text,
      });
      expect(response).toEqual({
        delivered: true,
        status: 202,
        ms: expect.any(Number),
        excerpt: "noted",
        reason: null,
      });
      expect(verify(secret, heard as ReceivedRequest)).toMatchObject({ channel: "rcs", event: "user_message" });
      expect((await callbacks(`endpointId=${id}`)).data).toEqual([]);
    });

    test("a failed test event shows the reason", async () => {
      const { id } = await make("dlr-configs");
      sink.respondWith((_heard, response) => response.writeHead(500).end("broken"));
      expect((await trial("dlr-configs", id)).response).toMatchObject({
        delivered: false,
        status: 500,
        excerpt: "broken",
        reason: "answered 500",
      });
      const { url, close } = await openSink();
      await close();
      const unreachable = await make("dlr-configs", { url });
      expect((await trial("dlr-configs", unreachable.id)).response).toMatchObject({
        delivered: false,
        status: null,
        reason: "took no connection (ECONNREFUSED)",
      });
    });

    test("a preview shows any event as the exact request, and sends nothing", async () => {
      const { id, secret } = await make("webhooks", { channel: "chatapp", events: CHANNEL_EVENTS.chatapp });
      const shown = async (event: string): Promise<Request> =>
        (await server.request<TrialBody>("GET", `/api/webhooks/${id}/preview?event=${event}`)).body.request;
      for (const event of CHANNEL_EVENTS.chatapp) {
        const request = await shown(event);
        expect(JSON.parse(request.body ?? "")).toMatchObject({ channel: "chatapp", event });
        expect(hasSigned(secret, request)).toBe(true);
      }
      expect(refusal(await server.request("GET", `/api/webhooks/${id}/preview?event=link_click`))).toEqual(
        refused("event"),
      );
      expect(refusal(await server.request("POST", `/api/webhooks/${id}/test`, { event: "link_click" }))).toEqual(
        refused("event"),
      );
      expect(sink.received).toEqual([]);
      expect((await trial("webhooks", id, { event: "message_sent" })).response.delivered).toBe(true);
      expect(sink.received[0]?.body).toMatchObject({ event: "message_sent", from: "+15550100199" });
    });

    test("a preview shows a delivery report by GET with its query and configured headers", async () => {
      const headers = [
        { key: "X-Status", value: "{{status}}" },
        { key: "X-Line", value: "{{gatewayName}}" },
      ];
      const { id } = await make("dlr-configs", { method: "GET", url: `${sink.url}/dlr?shop=1`, headers });
      const { body } = await server.request<TrialBody>("GET", `/api/dlr-configs/${id}/preview`);
      expect(body.request).toMatchObject({
        method: "GET",
        url: `${sink.url}/dlr?shop=1&status=Delivered&gatewayName=simulator`,
        headers: { "X-Status": "Delivered", "X-Line": "simulator", "webhook-id": body.eventId },
        body: null,
      });
      await trial("dlr-configs", id);
      expect(sink.received[0]).toMatchObject({
        method: "GET",
        path: "/dlr?shop=1&status=Delivered&gatewayName=simulator",
      });
    });

    test.each(["test", "preview", "health", "recover"])("an unknown endpoint has no %s", async (operation) => {
      const method = operation === "test" || operation === "recover" ? "POST" : "GET";
      for (const [kind] of KINDS)
        expect(
          refusal(
            await server.request(
              method,
              `/api/${kind}/${NO_ID}/${operation}`,
              method === "GET" ? undefined : { since: 0 },
            ),
          ),
        ).toEqual([404, "RECORD_NOT_FOUND"]);
    });
  });

  describe("deliveries", () => {
    test("an endpoint shows its health", async () => {
      const { id } = await make("dlr-configs");
      const health = async (): Promise<Record<string, unknown>> =>
        (await server.request<Record<string, unknown>>("GET", `/api/dlr-configs/${id}/health`)).body;
      const node = { inFlight: 0, allowed: 10, waiting: 0, breaker: "closed", openForMs: 0 };
      const quiet = { failingSince: null, lastSuccessAt: null, lastFailureAt: null, lastFailure: null };
      expect(await health()).toEqual({ enabled: true, disabledReason: null, ...quiet, waitingCallbacks: 0, node });
      await sent();
      await eventually(health, ({ lastSuccessAt }) => lastSuccessAt !== null);
      gone();
      await sent();
      const { disabledReason } = await switchedOff("dlr-configs", id);
      expect(await health()).toMatchObject({
        enabled: false,
        disabledReason,
        failingSince: expect.any(Number),
        lastFailure: "answered 410",
      });
    });

    test("every attempt is in the log, with the request as it would be sent now", async () => {
      const { id, name, secret } = await make("dlr-configs");
      sink.respondWith((_heard, response) => response.writeHead(200).end("thanks"));
      const messageId = await sent();
      const { data } = await eventually(
        () => callbacks(`endpointId=${id}&messageId=${messageId}`),
        (page) => page.data[0]?.state === "delivered",
      );
      const [heard] = await sink.until(1);
      const eventId = String(heard?.headers["webhook-id"]);
      const attempt = {
        at: expect.any(Number),
        ms: expect.any(Number),
        status: 200,
        reason: null,
        excerpt: "thanks",
        nextTryAt: null,
      };
      const listed = {
        id: `${eventId}:${id}`,
        eventId,
        endpointId: id,
        endpoint: name,
        event: "delivery_report",
        status: "delivered",
        messageId,
        happenedAt: expect.any(Number),
        state: "delivered",
        tries: 1,
        nextTryAt: null,
        doneAt: expect.any(Number),
        lastAttempt: attempt,
      };
      expect(data).toEqual([listed]);
      const one = await callback(`${eventId}:${id}`);
      expect(one).toMatchObject({ ...listed, attempts: [attempt] });
      expect([one.request?.method, one.request?.url, one.request?.body]).toEqual([
        "POST",
        `${sink.url}/hook`,
        heard?.text,
      ]);
      expect(hasSigned(secret, one.request as Request)).toBe(true);

      await server.request("DELETE", `/api/dlr-configs/${id}`);
      expect(await callback(`${eventId}:${id}`)).toMatchObject({ endpoint: null, request: null });
      expect(refusal(await server.request("POST", `/api/callbacks/${eventId}:${id}/resend`))).toEqual([
        409,
        "NOT_RESENDABLE",
      ]);
    });

    test("callbacks are listed newest first, in pages and by every filter", async () => {
      const one = await make("dlr-configs");
      const other = await make("dlr-configs", { headers: [{ key: "X-Id", value: "{{messageId}}" }] });
      const before = Date.now();
      const messageIds = [await sent(), await sent(), await sent()];
      await sink.until(6);
      const all = await eventually(
        () => callbacks("state=delivered&limit=6"),
        ({ data }) => data.length === 6 && data.every(({ messageId }) => messageIds.includes(messageId ?? "")),
      );
      const ids = all.data.map(({ id }) => id);
      expect(ids).toEqual(ids.toSorted().toReversed());
      const paged: string[] = [];
      for (let cursor = ""; paged.length < 6;) {
        const page = await callbacks(`limit=2${cursor}`);
        paged.push(...page.data.map(({ id }) => id));
        cursor = `&cursor=${page.nextCursor}`;
      }
      expect(paged).toEqual(ids);
      const found = async (query: string): Promise<string[]> => (await callbacks(query)).data.map(({ id }) => id);
      expect(await found(`endpointId=${one.id}`)).toEqual(ids.filter((id) => id.endsWith(one.id)));
      const ofFirst = all.data.filter(({ messageId }) => messageId === messageIds[0]).map(({ id }) => id);
      expect(ofFirst).toHaveLength(2);
      expect(await found(`messageId=${messageIds[0]}`)).toEqual(ofFirst);
      const firstOfIt = await callbacks(`messageId=${messageIds[0]}&limit=1`);
      expect(firstOfIt).toMatchObject({ data: [{ id: ofFirst[0] }], nextCursor: ofFirst[0] });
      expect(await callbacks(`messageId=${messageIds[0]}&limit=1&cursor=${ofFirst[0]}`)).toMatchObject({
        data: [{ id: ofFirst[1] }],
        nextCursor: null,
      });
      expect(await found(`messageId=${messageIds[0]}&endpointId=${other.id}&state=delivered`)).toEqual(
        ofFirst.filter((id) => id.endsWith(other.id)),
      );
      expect(await found(`messageId=${messageIds[0]}&state=waiting`)).toEqual([]);
      expect(await found(`messageId=${messageIds[0]}&to=${before}`)).toEqual([]);
      expect(await found(`from=${before}&endpointId=${one.id}`)).toHaveLength(3);
      expect(await found(`to=${before}&endpointId=${one.id}`)).toEqual([]);
      expect(await found(`state=exhausted&endpointId=${one.id}`)).toEqual([]);

      const wrong = "state=lost&endpointId=1&messageId=x&from=then&cursor=1&limit=0";
      expect(refusal(await server.request("GET", `/api/callbacks?${wrong}`)).toSorted()).toEqual(
        refused("state", "endpointId", "messageId", "from", "cursor", "limit").toSorted(),
      );
      for (const id of ["none", NO_ID, `${NO_ID}:${NO_ID}`, `${ids[0]}:1`])
        expect(refusal(await server.request("GET", `/api/callbacks/${id}`))).toEqual([404, "RECORD_NOT_FOUND"]);
    });

    test("a callback can be sent again, under the same webhook-id", async () => {
      const { id } = await make("dlr-configs");
      await sent();
      const [heard] = await sink.until(1);
      const callbackId = `${String(heard?.headers["webhook-id"])}:${id}`;
      await eventually(
        () => callback(callbackId),
        ({ state }) => state === "delivered",
      );
      const again = await server.request<CallbackBody>("POST", `/api/callbacks/${callbackId}/resend`);
      expect([again.status, again.body]).toMatchObject([200, { id: callbackId, tries: 0, doneAt: null }]);
      const [, second] = await sink.until(2);
      expect([second?.headers["webhook-id"], second?.text]).toEqual([heard?.headers["webhook-id"], heard?.text]);
      const { attempts } = await eventually(
        () => callback(callbackId),
        ({ state }) => state === "delivered",
      );
      expect(attempts).toHaveLength(2);
    });

    test("a disabled endpoint gets no resend until it is enabled, and then all missed events", async () => {
      const { id } = await make("dlr-configs");
      const since = new Date().toISOString();
      gone();
      const lost = await sent();
      const { disabledReason } = await switchedOff("dlr-configs", id);
      expect(disabledReason).toBe("It answered 410: it is gone for good");
      const { data } = await eventually(
        () => callbacks(`endpointId=${id}`),
        (page) => page.data[0]?.state === "waiting",
      );
      const resend = `/api/callbacks/${data[0]?.id}/resend`;
      const recover = `/api/dlr-configs/${id}/recover`;
      expect(refusal(await server.request("POST", resend))).toEqual([409, "NOT_RESENDABLE"]);
      expect(refusal(await server.request("POST", recover, { since }))).toEqual([409, "NOT_RESENDABLE"]);

      const on = await server.request<EndpointBody>("PATCH", `/api/dlr-configs/${id}`, { enabled: true });
      expect(on.body).toMatchObject({ enabled: true, disabledReason: null });
      fine();
      const told = sink.received.length;
      const heard = await sink.until(told + 1);
      expect(heard.at(-1)?.body).toMatchObject({ messageId: lost });
      expect((await server.request("POST", recover, { since })).body).toEqual({ resent: 0, more: false });
      for (const wrong of [{}, { since: "then" }, { since: -1 }, { since: null }])
        expect(refusal(await server.request("POST", recover, wrong))).toEqual(refused("since"));
    });

    test("an endpoint disabled by a user shows no reason", async () => {
      const { id } = await make("webhooks");
      const off = await server.request<EndpointBody>("PATCH", `/api/webhooks/${id}`, { enabled: false });
      expect(off.body).toMatchObject({ enabled: false, disabledReason: null });
    });

    test("callbacks are in the operator's timeline of the message", async () => {
      const { id, name } = await make("dlr-configs");
      const messageId = await sent();
      await eventually(
        () => callbacks(`endpointId=${id}`),
        ({ data }) => data[0]?.state === "delivered",
      );
      const { body } = await server.request<{ timeline: { step: string; what: string }[] }>(
        "GET",
        `/api/messages/${messageId}`,
      );
      expect(body.timeline.filter(({ step }) => step === "callback").map(({ what }) => what)).toEqual([
        `Endpoint "${name}" received delivery_report delivered: response 200`,
      ]);
    });
  });

  describe("the event list", () => {
    const events = async (query: string): Promise<Page<EventBody>> =>
      (await server.request<Page<EventBody>>("GET", `/v1/events?${query}`)).body;

    test("events are listed oldest first, once each, and the cursor continues from there", async () => {
      await make("dlr-configs");
      await make("dlr-configs");
      await make("webhooks");
      const { nextCursor: start, data: none } = await events("cursor=now");
      expect(none).toEqual([]);
      const from = Date.now();
      const messageId = await sent();
      await sink.until(2);
      const rcs = await server.request<{ data: { messageId: string }[] }>("POST", "/v1/rcs", RCS);
      const rcsId = rcs.body.data[0]?.messageId;
      const seen: EventBody[] = [];
      let cursor = start;
      await eventually(
        async () => {
          const page = await events(`cursor=${cursor}&limit=1`);
          expect(page.data.length).toBeLessThanOrEqual(1);
          seen.push(...page.data);
          cursor = page.nextCursor;
          return seen.length;
        },
        (count) => count >= 4,
      );
      expect((await events(`cursor=${cursor}`)).data).toEqual([]);
      expect(seen.map(({ channel, event, payload }) => [channel, event, payload["messageId"]])).toEqual([
        ["sms", "delivery_report", messageId],
        ["rcs", "message_status", rcsId],
        ["rcs", "message_status", rcsId],
        ["rcs", "message_status", rcsId],
      ]);
      expect((await events(`from=${from}`)).data).toEqual(seen);
      expect((await events(`cursor=${start}`)).data).toEqual(seen);
      expect((await events("limit=200")).data.slice(-4)).toEqual(seen);
    });

    test("events have the body of a webhook, and delivery reports all eleven fields", async () => {
      await make("dlr-configs", { headers: [{ key: "X-Id", value: "{{messageId}}" }] });
      await make("webhooks");
      const { nextCursor: start } = await events("cursor=now");
      const messageId = await sent({ to: "15550109001" });
      await server.request("POST", "/v1/rcs", RCS);
      const heard = await sink.until(4);
      const { data } = await events(`cursor=${start}`);
      const report = data.find(({ channel }) => channel === "sms");
      expect(report).toEqual({
        eventId: expect.any(String),
        channel: "sms",
        event: "delivery_report",
        at: expect.any(Number),
        payload: {
          messageId,
          mobileNumber: "15550109001",
          messageCredit: "1",
          gatewayName: "simulator",
          senderName: "HELIOG",
          errCode: expect.any(String),
          deliveredDate: "",
          status: "Failed",
          operatorCircle: expect.any(String),
          createdAt: expect.stringMatching(/^\d{13}$/),
          statusDescription: expect.any(String),
        },
      });
      const told = heard.filter(({ text }) => text.includes('"rcs"'));
      expect(told).toHaveLength(3);
      for (const { headers, text } of told) {
        const event = data.find(({ eventId }) => eventId === headers["webhook-id"]);
        expect(JSON.stringify(event?.payload)).toBe(text);
      }
    });

    test("events start at the requested position, or the fault is named", async () => {
      for (const query of ["cursor=then", `cursor=${NO_ID}.`, `cursor=${NO_ID}.a`, `cursor=${NO_ID}.AAAAAAA.A`])
        expect(refusal(await server.request("GET", `/v1/events?${query}`))).toEqual(refused("cursor"));
      expect(refusal(await server.request("GET", "/v1/events?from=then&limit=201")).toSorted()).toEqual(
        refused("from", "limit").toSorted(),
      );
      expect(await server.request("GET", `/v1/events?cursor=now&from=0`)).toMatchObject({
        status: 200,
        body: { data: [] },
      });
    });

    test("events of other accounts are not listed", async () => {
      const { id } = await make("dlr-configs");
      await sent();
      await sink.until(1);
      const { minted } = await tenants.addAccount("neighbour");
      const as = { apikey: minted.secret };
      expect((await server.request<Page<EventBody>>("GET", "/v1/events", undefined, as)).body.data).toEqual([]);
      expect((await server.request<Page<CallbackBody>>("GET", "/api/callbacks", undefined, as)).body.data).toEqual([]);
      const { data } = await callbacks(`endpointId=${id}`);
      for (const [method, path] of [
        ["GET", `/api/callbacks/${data[0]?.id}`],
        ["POST", `/api/callbacks/${data[0]?.id}/resend`],
        ["POST", `/api/dlr-configs/${id}/test`],
        ["GET", `/api/dlr-configs/${id}/health`],
      ] as const)
        expect(refusal(await server.request(method, path, undefined, as))).toEqual([404, "RECORD_NOT_FOUND"]);
      expect(sink.received).toHaveLength(1);
    });
  });

  describe("webhooks in a configuration file", () => {
    test("a configuration file has no secrets: existing ones stay, and new endpoints get one", async () => {
      const { id, secret } = await make("webhooks", { name: "kept" });
      const headers = [{ key: "X-Id", value: "{{messageId}}" }];
      await make("dlr-configs", { name: "as well", headers, method: "GET" });
      const { body: setUp } = await server.request<Record<string, object[]>>("GET", "/api/config");
      expect([setUp["webhooks"], setUp["dlr-configs"]]).toEqual([
        [
          {
            name: "kept",
            channel: "rcs",
            channels: ["rcs"],
            method: "POST",
            url: `${sink.url}/hook`,
            events: ["user_message", "message_status"],
            constantHeaders: [],
            enabled: true,
          },
        ],
        [
          {
            name: "as well",
            provider: "ALL",
            method: "GET",
            url: `${sink.url}/hook`,
            headers,
            fields: null,
            constantHeaders: [],
            enabled: true,
          },
        ],
      ]);
      const moved = { ...setUp["webhooks"]?.[0], url: `${sink.url}/moved` };
      const added = { name: "new", url: sink.url };
      const file = { webhooks: [moved], "dlr-configs": [...(setUp["dlr-configs"] ?? []), added] };
      const { status, body: plan } = await server.request("PUT", "/api/config", file);
      expect([status, plan]).toMatchObject([
        200,
        {
          made: [{ part: "dlr-configs", name: "new" }],
          changed: [{ part: "webhooks", name: "kept", fields: [{ field: "url" }] }],
          same: [{ part: "dlr-configs", name: "as well" }],
          removed: [],
        },
      ]);
      expect(await read("webhooks", id)).toMatchObject({ id, url: `${sink.url}/moved` });
      await trial("webhooks", id);
      expect(() => verify(secret, sink.received[0] as ReceivedRequest)).not.toThrow();

      const { body } = await server.request<Page<EndpointBody>>("GET", "/api/dlr-configs?name=new");
      const path = `/api/dlr-configs/${body.data[0]?.id}/rotate-secret`;
      const rotated = await server.request<EndpointBody>("POST", path, { overlapHours: 0 });
      await trial("dlr-configs", rotated.body.id);
      expect(() => verify(rotated.body.secret, sink.received[1] as ReceivedRequest)).not.toThrow();
    });

    test("a configuration file with secrets is refused", async () => {
      const webhook = { name: "x", channel: "rcs", url: sink.url, events: ["user_message"], secret: newSecret() };
      expect(refusal(await server.request("PUT", "/api/config", { webhooks: [webhook] }))).toEqual(
        refused("webhooks[0].secret"),
      );
    });
  });
});

describe.each(ENGINES)("endpoints over time on %s", (engine) => {
  let server: MovedClockServer;
  beforeEach(async () => {
    server = await startMovedClockServer(engine);
  });
  afterEach(() => server.close());

  test("an endpoint that is enabled again has five days again", async () => {
    const given = { name: "reports", url: "http://127.0.0.1:9/" };
    const { body: made } = await server.request<EndpointBody>("POST", "/api/dlr-configs", given);
    const path = `/api/dlr-configs/${made.id}`;
    const failingSince = server.clock.now();
    await server.leap(5 * DAY_MS);
    const health = { failingSince, lastSuccessAt: null, lastFailureAt: null, lastFailure: null };
    await server.app.store.noteHealth(1, made.id, health);
    const failed = async (): Promise<EndpointBody> => {
      const before = (await server.app.store.findHealth(1, made.id))?.lastFailureAt ?? 0;
      await server.send();
      await server.travel(120_000);
      await eventually(
        () => server.app.store.findHealth(1, made.id),
        (now) => (now?.lastFailureAt ?? 0) > before,
      );
      await server.travel(120_000);
      return (await server.request<EndpointBody>("GET", path)).body;
    };
    await failed();
    const off = await eventually(
      async () => (await server.request<EndpointBody>("GET", path)).body,
      ({ enabled }) => !enabled,
    );
    expect(off).toMatchObject({
      disabledReason: `Nothing has come through since ${new Date(failingSince).toISOString()}`,
    });
    await server.request("PATCH", path, { enabled: true });
    expect(await failed()).toMatchObject({ enabled: true, disabledReason: null });
  });

  test("the overlap of two secrets ends at the announced time", async () => {
    const given = { name: "reports", url: "http://127.0.0.1:9/" };
    const { body: made } = await server.request<EndpointBody>("POST", "/api/dlr-configs", given);
    const path = `/api/dlr-configs/${made.id}`;
    const rotate = async (overlapHours: number): Promise<string> =>
      (await server.request<EndpointBody>("POST", `${path}/rotate-secret`, { overlapHours })).body.secret;
    const signers = async (...secrets: string[]): Promise<boolean[]> => {
      const { body } = await server.request<TrialBody>("GET", `${path}/preview`);
      return secrets.map((secret) => hasSigned(secret, body.request));
    };
    const second = await rotate(24);
    await server.leap(12 * 3_600_000);
    const third = await rotate(1);
    expect(await signers(made.secret, second, third)).toEqual([true, true, true]);
    await server.leap(3_600_000);
    expect(await signers(made.secret, second, third)).toEqual([true, false, true]);
    await server.leap(11 * 3_600_000 - 60_000);
    expect(await signers(made.secret, second, third)).toEqual([true, false, true]);
    await server.leap(60_000);
    expect(await signers(made.secret, second, third)).toEqual([false, false, true]);
  });
});
