import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "../../src/model/api-key.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import type { Answer, Envelope, ErrorBody, TestServer, PhoneMessageBody } from "../support/test-server.ts";
import { openSink, type Sink } from "../support/sink.ts";

const PHONE = "15550122001";
const OTHER_PHONE = "15550122002";
const LIVE_TEXT = "a live text for nobody else";
const TEST_TEXT = "a text of the test key";
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36";
const TARGET = "https://shop.example/orders/4711";

interface Listed {
  data: Record<string, unknown>[];
  nextCursor: string | null;
}

/** Every page of a list, as one text to look through. */
async function everyPage(server: TestServer, path: string, headers: Record<string, string>): Promise<string> {
  let text = "";
  for (let cursor: string | null = ""; cursor !== null;) {
    const mark = path.includes("?") ? "&" : "?";
    const page: Answer<Listed> = await server.request(
      "GET",
      cursor === "" ? path : `${path}${mark}cursor=${encodeURIComponent(cursor)}`,
      undefined,
      headers,
    );
    expect({ path, status: page.status }).toEqual({ path, status: 200 });
    text += JSON.stringify(page.body);
    // The list of events never ends: an empty page is its end for now.
    cursor = page.body.data.length === 0 && path.startsWith("/v1/events") ? null : page.body.nextCursor;
  }
  return text;
}

describe.each(ENGINES)("a test key on %s", (engine) => {
  let tenants: Tenants;
  let server: TestServer;
  let sink: Sink;
  /** The first test key of the account. */
  let first: Record<string, string>;
  /** A test key from before the rule, with every scope. */
  let older: Record<string, string>;
  let live: { messageId: string; verifyId: string; inboundId: string; code: string };
  let own: { messageId: string; verifyId: string; inboundId: string; code: string };

  const wait = async (messageId: string, to: string, headers = {}): Promise<PhoneMessageBody | null> => {
    const path = `/api/simulator/messages/wait?to=${to}&messageId=${messageId}`;
    const { status, body } = await server.request<{ data: PhoneMessageBody | null }>("GET", path, undefined, headers);
    expect(status).toBe(200);
    return body.data;
  };

  /** One of everything that traffic leaves behind. */
  async function traffic(headers: Record<string, string>, text: string): Promise<typeof live> {
    const sent = await server.send(
      { to: PHONE, text: `${text} {SORT}`, shortenUrlData: { shortenUrl: true, targetUrl: [TARGET] } },
      headers,
    );
    expect(sent.status).toBe(200);
    const messageId = sent.body.data[0]?.messageId ?? "";
    const arrived = await wait(messageId, PHONE, headers);
    const code = /\/([1-9A-HJ-NP-Za-km-z]{7})$/.exec(arrived?.text ?? "")?.[1] ?? "";
    expect(code).not.toBe("");
    const clicked = await fetch(`${server.url}/${code}`, { redirect: "manual", headers: { "user-agent": BROWSER } });
    expect(clicked.status).toBe(302);
    const otp = await server.request<{ data: string }>(
      "POST",
      "/v1/verify",
      { configId: "default", to: PHONE },
      headers,
    );
    expect(otp.status).toBe(200);
    await wait(`${otp.body.data}:1`, PHONE, headers);
    const reply = await server.request<{ id: string }>(
      "POST",
      `/api/simulator/phones/${PHONE}/reply`,
      { to: "HELIOG", channel: "sms", text },
      headers,
    );
    expect(reply.status).toBe(200);
    await eventually(
      () => server.message(messageId),
      (message) => message.status === "Delivered",
    );
    return { messageId, verifyId: otp.body.data, inboundId: reply.body.id, code };
  }

  async function author(kind: string, record: object): Promise<void> {
    const { status } = await server.request("POST", `/api/${kind}`, record);
    if (status !== 201) throw new Error(`${kind}: ${status}`);
  }

  beforeAll(async () => {
    tenants = await openTenants(engine);
    ({ server } = tenants);
    sink = await openSink();
    first = { apikey: server.testKey };
    older = { apikey: (await tenants.addKey(1, { scopes: SCOPES }, "test")).secret };
    const webhook = { name: "texts", channel: "sms", url: sink.url, events: ["user_message", "link_click"] };
    await author("webhooks", webhook);
    const codes = { name: "codes", channel: "verify", url: sink.url, events: ["verification_status"] };
    await author("webhooks", codes);
    await author("dlr-configs", { name: "reports", url: sink.url });
    live = await traffic({}, LIVE_TEXT);
    own = await traffic(first, TEST_TEXT);
    // Reports, replies, clicks and verifications of both.
    await eventually(
      async () => everyPage(server, "/api/callbacks", {}),
      (text) =>
        [live, own].every(({ messageId, verifyId }) => text.includes(messageId) && text.includes(verifyId)) &&
        text.match(/"event":"link_click"/g)?.length === 2 &&
        text.match(/"event":"user_message"/g)?.length === 2,
    );
  });
  afterAll(async () => {
    await sink.close();
    await tenants.close();
  });

  test("the test key of a first start lacks the scope manage", async () => {
    const { body } = await server.request<Listed>("GET", "/api/keys");
    const firstTestKey = body.data.find(({ name }) => name === "First test key");
    expect(firstTestKey).toMatchObject({ mode: "test", scopes: SCOPES.filter((scope) => scope !== "manage") });
  });

  test("a test key is refused the configuration whatever its scopes, with an error that names the mode", async () => {
    const carrier = { name: "tap", adapter: "http", http: { preset: "twilio" } };
    const attempts: [string, string, unknown?][] = [
      ["POST", "/api/carriers", carrier],
      ["POST", "/api/routes", { name: "tap", carrier: "simulator", routeClasses: ["OTP"], priority: 1 }],
      ["PUT", "/api/config", { settings: { records: "strict" } }],
      ["GET", "/api/config"],
      ["POST", "/api/credits", { amount: 1000 }],
      ["GET", "/api/keys"],
      ["POST", "/api/keys", { name: "more", mode: "test", scopes: ["read"] }],
      ["GET", "/api/webhooks"],
      ["PUT", "/api/simulator/chaos", { down: true }],
    ];
    for (const [method, path, body] of attempts) {
      const answer = await server.request<{ error: ErrorBody }>(method, path, body, older);
      expect({ path, status: answer.status, code: answer.body.error.code }).toEqual({
        path,
        status: 403,
        code: "TEST_KEY_NOT_ALLOWED",
      });
      expect(answer.body.error.message).toContain("test key");
    }
  });

  test.each(["/v1/messages", "/api/messages", "/v1/inbound", "/v1/events", "/api/callbacks", "/api/verifications"])(
    "a test key sees in the list %s only test traffic",
    async (path) => {
      for (const headers of [first, older]) {
        const text = await everyPage(server, path, headers);
        const isInbound = path === "/v1/inbound";
        expect(text).toContain(
          path === "/api/verifications" ? own.verifyId : isInbound ? own.inboundId : own.messageId,
        );
        for (const id of [live.messageId, live.verifyId, live.inboundId]) expect(text).not.toContain(id);
        expect(text).not.toContain(LIVE_TEXT);
        expect(text).not.toContain(live.code);
      }
      const both = await everyPage(server, path, {});
      for (const { messageId, verifyId, inboundId } of [live, own])
        expect([messageId, verifyId, inboundId].some((id) => both.includes(id))).toBe(true);
    },
  );

  test("a test key sees only links and clicks of test messages", async () => {
    const text = await everyPage(server, "/api/links", first);
    expect(text).toContain(own.messageId.slice(0, 36));
    expect(text).not.toContain(live.messageId.slice(0, 36));
    const read = (id: string) => server.request("GET", `/api/links/${id}`, undefined, first);
    expect((await read(own.code)).status).toBe(200);
    expect((await read(live.code)).status).toBe(404);
    expect((await read(`${live.messageId.slice(0, 36)}:1`)).status).toBe(404);
  });

  test("a test key reads a message, reply, callback or verification only if it is of test traffic", async () => {
    const paths = ({ messageId, verifyId, inboundId }: typeof live): string[] => [
      `/v1/messages/${messageId}`,
      `/api/messages/${messageId}`,
      `/v1/verify/${verifyId}`,
      `/v1/inbound/${inboundId}`,
    ];
    for (const path of paths(own))
      expect({ path, status: (await server.request("GET", path, undefined, first)).status }).toEqual({
        path,
        status: 200,
      });
    for (const path of paths(live))
      expect({ path, status: (await server.request("GET", path, undefined, first)).status }).toEqual({
        path,
        status: 404,
      });
    const { body } = await server.request<{ data: { id: string; messageId: string }[] }>(
      "GET",
      "/api/callbacks?limit=200",
    );
    const idsAbout = ({ messageId, verifyId }: typeof live): string[] =>
      body.data.filter((callback) => [messageId, `${verifyId}:1`].includes(callback.messageId)).map(({ id }) => id);
    expect([idsAbout(own).length, idsAbout(live).length]).toEqual([4, 4]);
    for (const id of idsAbout(own))
      expect((await server.request("GET", `/api/callbacks/${id}`, undefined, first)).status).toBe(200);
    for (const id of idsAbout(live)) {
      expect((await server.request("GET", `/api/callbacks/${id}`, undefined, first)).status).toBe(404);
      expect((await server.request("POST", `/api/callbacks/${id}/resend`, undefined, first)).status).toBe(404);
    }
    const ofLive = await server.request<Listed>("GET", `/api/callbacks?messageId=${live.messageId}`, undefined, first);
    expect(ofLive).toMatchObject({ status: 200, body: { data: [] } });
  });

  test("a test key cancels no live message", async () => {
    const sent = await server.send({ to: OTHER_PHONE, sendAt: Date.now() + 3_600_000 });
    const messageId = sent.body.data[0]?.messageId ?? "";
    for (const id of [messageId, messageId.slice(0, 36)])
      expect((await server.request("POST", `/v1/messages/${id}/cancel`, undefined, first)).status).toBe(404);
    expect((await server.message(messageId)).state).toBe("scheduled");
    expect((await server.request("POST", `/v1/messages/${messageId}/cancel`)).status).toBe(200);
  });

  test("a test key sees on simulated phones its own messages, and neither texts nor codes of live keys", async () => {
    const onPhone = await everyPage(server, `/api/simulator/phones/${PHONE}/messages`, first);
    expect(onPhone).toContain(TEST_TEXT);
    expect(onPhone).not.toContain(LIVE_TEXT);
    expect(await everyPage(server, `/api/simulator/phones/${PHONE}/messages`, {})).toContain(LIVE_TEXT);
    const latest = await server.request<{ verifyId: string }>(
      "GET",
      `/api/simulator/otp/latest?to=${PHONE}`,
      undefined,
      first,
    );
    expect(latest).toMatchObject({ status: 200, body: { verifyId: own.verifyId } });
    // A phone that only live messages reached is not a phone of the test key's.
    const sent = await server.send({ to: OTHER_PHONE, text: LIVE_TEXT });
    await wait(sent.body.data[0]?.messageId ?? "", OTHER_PHONE);
    const phones = await server.request<Listed>("GET", "/api/simulator/phones", undefined, first);
    expect(phones.body.data).toContainEqual(expect.objectContaining({ number: PHONE, messageCount: 2 }));
    expect(JSON.stringify(phones.body)).not.toContain(OTHER_PHONE);
    const none = `/api/simulator/messages/wait?to=${OTHER_PHONE}&timeout=0`;
    expect((await server.request<{ data: null }>("GET", none, undefined, first)).body.data).toBeNull();
    const reply = await server.request(
      "POST",
      `/api/simulator/phones/${OTHER_PHONE}/reply`,
      { text: "who is it" },
      first,
    );
    expect(reply.status).toBe(400);
  });

  test("a test key cannot read the fixed code that a live key sent to a test number", async () => {
    const number = "15550122003";
    await author("verify-configs", { name: "reviewers", testNumbers: [{ number, code: "424242" }] });
    const sent = await server.request<{ data: string }>("POST", "/v1/verify", { configId: "reviewers", to: number });
    expect(sent.status).toBe(200);
    const messageId = `${sent.body.data}:1`;
    expect((await wait(messageId, number))?.text).toContain("424242");
    const latest = `/api/simulator/otp/latest?to=${number}`;
    expect((await server.request("GET", latest)).body).toMatchObject({ otp: "424242" });
    expect((await server.request("GET", `/v1/messages/${messageId}`)).body).toMatchObject({ test: false });
    expect((await server.request("GET", `/v1/verify/${sent.body.data}`)).body).toMatchObject({ test: true });

    expect((await server.request("GET", latest, undefined, first)).status).toBe(404);
    expect((await server.request("GET", `/v1/messages/${messageId}`, undefined, first)).status).toBe(404);
    const waiting = `/api/simulator/messages/wait?to=${number}&timeout=0`;
    expect((await server.request<{ data: null }>("GET", waiting, undefined, first)).body.data).toBeNull();
    for (const path of [`/api/simulator/phones/${number}/messages`, "/v1/messages", "/api/callbacks", "/v1/events"])
      expect(await everyPage(server, path, first)).not.toContain(sent.body.data);
    const phones = await server.request<Listed>("GET", "/api/simulator/phones", undefined, first);
    expect(JSON.stringify(phones.body)).not.toContain(number);
  });

  test("a test key reads the fixed code that it sent to a test number", async () => {
    const number = "15550122004";
    await author("verify-configs", { name: "own reviewers", testNumbers: [{ number, code: "535353" }] });
    const asked = { configId: "own reviewers", to: number };
    const sent = await server.request<{ data: string }>("POST", "/v1/verify", asked, first);
    expect((await wait(`${sent.body.data}:1`, number, first))?.text).toContain("535353");
  });

  test("a stop word to a test key's message does not change the live opt-out list, and stops test promotions", async () => {
    const promotion = { to: OTHER_PHONE, type: "PROMO", text: "Sale" };
    const stop = (headers: Record<string, string>) =>
      server.request(
        "POST",
        `/api/simulator/phones/${OTHER_PHONE}/reply`,
        { to: "HELIOG", channel: "sms", text: "STOP" },
        headers,
      );
    expect((await stop(first)).status).toBe(200);
    expect((await server.request("GET", `/api/optouts/${OTHER_PHONE}`)).status).toBe(404);
    expect((await server.send(promotion)).status).toBe(200);
    expect((await server.send(promotion, first)).body.error?.code).toBe("RECIPIENT_OPTED_OUT");
    // And the other way round: the live list tells a test key nothing.
    const started = { to: "HELIOG", channel: "sms", text: "START" };
    const path = `/api/simulator/phones/${OTHER_PHONE}/reply`;
    expect((await server.request("POST", path, started, first)).status).toBe(200);
    expect((await stop({})).status).toBe(200);
    expect((await server.send(promotion)).body.error?.code).toBe("RECIPIENT_OPTED_OUT");
    expect((await server.send(promotion, first)).status).toBe(200);
  });

  test("a test key opens no chat-app session for a live key", async () => {
    const from = "+15550122009";
    const words = { to: from, channel: "chatapp", text: "Hello" };
    const path = `/api/simulator/phones/${OTHER_PHONE}/reply`;
    expect((await server.request("POST", path, words, first)).status).toBe(200);
    const text = { from, to: OTHER_PHONE, type: "text", text: { body: "Hi" } };
    expect((await server.request<Envelope>("POST", "/v1/chatapp", text)).body.error?.code).toBe("SESSION_CLOSED");
    expect((await server.request("POST", "/v1/chatapp", text, first)).status).toBe(200);
  });

  test("a test key spends no credits, starts no campaign and counts for no limit of live messages", async () => {
    expect((await server.request("PATCH", "/api/account", { credits: "metered", limits: "everywhere" })).status).toBe(
      200,
    );
    const text = { to: OTHER_PHONE, text: "the same text" };
    const fields = { ...text, campaignName: "only a test" };
    for (let sent = 0; sent < 10; sent += 1) expect((await server.send(fields, first)).status).toBe(200);
    expect((await server.request("GET", "/api/credits")).body).toMatchObject({ balance: 0, held: 0 });
    expect((await server.asOwner("PATCH", "/api/account", { credits: "unlimited" })).status).toBe(200);
    const sent = await server.send(text);
    const messageId = sent.body.data[0]?.messageId ?? "";
    expect(await server.settled(messageId)).toMatchObject({ status: "Delivered" });
    const campaigns = await server.request<Listed>("GET", "/api/campaigns");
    expect(JSON.stringify(campaigns.body)).not.toContain("only a test");
    expect((await server.request("PATCH", "/api/account", { limits: "real carriers" })).status).toBe(200);
  });

  test("a test key streams only test messages", async () => {
    const leaving = new AbortController();
    const stream = await fetch(`${server.url}/api/live`, { headers: first, signal: leaving.signal });
    expect(stream.status).toBe(200);
    const ids: string[] = [];
    const hidden = (await server.send({ to: OTHER_PHONE, text: "live, and not to be followed" })).body.data[0];
    ids.push((await server.send({ to: OTHER_PHONE, text: "test, and followed" }, first)).body.data[0]?.messageId ?? "");
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (text.includes(`${ids[0]}","channel":"sms","state":"delivered"`)) break;
    }
    leaving.abort();
    expect(text).not.toContain(hidden?.messageId);
  });
});
