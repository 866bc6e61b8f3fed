import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { logIn } from "../support/session-user.ts";
import { startTestServer, type Envelope, type ErrorBody, type TestServer } from "../support/test-server.ts";

interface ConversationBody {
  id: string;
  channel: string;
  number: string;
  name: string | null;
  sender: string;
  state: string;
  unread: number;
  lastMessage: { text: string } | null;
  assignedTo: string | null;
  textUntil: number | null;
  error?: ErrorBody;
}

interface List<T> {
  data: T[];
  nextCursor: string | null;
  error?: ErrorBody;
}

interface ItemBody {
  direction: string;
  inbound: { text: string } | null;
  message: { messageId: string; text: string; credits: number } | null;
}

const ADA = "15550100100";
const BOB = "15550100101";

describe.each(ENGINES)("conversations on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  const request = <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    server.request<T>(method, path, body, headers);
  const write = (number: string, text: string, fields: object = {}, headers?: Record<string, string>) =>
    request("POST", `/api/simulator/phones/${number}/reply`, { to: "HELIOG", text, ...fields }, headers);
  const list = async (query = ""): Promise<ConversationBody[]> =>
    (await request<List<ConversationBody>>("GET", `/v1/conversations?${query}`)).body.data;
  const conversationOf = async (number: string): Promise<ConversationBody> => {
    const [found] = await list(`number=${number}`);
    if (!found) throw new Error(`no conversation with ${number}`);
    return found;
  };
  /** All messages of a conversation, newest first. On a busy machine a page may be short. */
  async function items(id: string, limit = 50): Promise<string[]> {
    const seen: string[] = [];
    let cursor = "";
    do {
      const path = `/v1/conversations/${id}/messages?limit=${limit}${cursor}`;
      const { body } = await request<List<ItemBody>>("GET", path);
      expect(body.data.length).toBeLessThanOrEqual(limit);
      expect(body.data.length).toBeGreaterThan(body.nextCursor === null ? -1 : 0);
      seen.push(
        ...body.data.map(({ direction, inbound, message }) => `${direction} ${inbound?.text ?? message?.text}`),
      );
      cursor = body.nextCursor === null ? "" : `&cursor=${encodeURIComponent(body.nextCursor)}`;
    } while (cursor !== "");
    return seen;
  }

  test("a conversation is listed unread first, read, closed, and opened again by the next message", async () => {
    await write(ADA, "one");
    await write(ADA, "two");
    await write(BOB, "other");
    expect((await list()).map(({ number, unread, lastMessage }) => [number, unread, lastMessage?.text])).toEqual([
      [BOB, 1, "other"],
      [ADA, 2, "two"],
    ]);
    const { id } = await conversationOf(BOB);
    const path = `/v1/conversations/${id}`;
    expect((await request<ConversationBody>("PATCH", path, { read: true })).body).toMatchObject({ unread: 0 });
    expect((await list()).map(({ number }) => number)).toEqual([ADA, BOB]);
    expect((await list("unread=true")).map(({ number }) => number)).toEqual([ADA]);
    expect((await request("GET", "/v1/conversations/unread-count")).body).toEqual({ count: 1, more: false });

    await request("PATCH", path, { state: "closed" });
    expect((await list("state=open")).map(({ number }) => number)).toEqual([ADA]);
    await write(BOB, "again");
    expect((await request<ConversationBody>("GET", path)).body).toMatchObject({ state: "open", unread: 1 });
    const pages = await request<List<ConversationBody>>("GET", "/v1/conversations?limit=1");
    const second = await request<List<ConversationBody>>(
      "GET",
      `/v1/conversations?limit=1&cursor=${encodeURIComponent(pages.body.nextCursor ?? "")}`,
    );
    expect([...pages.body.data, ...second.body.data].map(({ number }) => number)).toEqual([BOB, ADA]);
    expect(second.body.nextCursor).toBeNull();
  });

  test("a conversation has the name of its contact, and is found by a part of it or of the number", async () => {
    const number = "15550100131";
    await write(number, "Hello");
    expect(await conversationOf(number)).toMatchObject({ name: null });
    await request("PUT", `/v1/contacts/${number}`, { name: "Grace Hopper" });
    const { id, name } = await conversationOf(number);
    expect(name).toBe("Grace Hopper");
    expect((await request<ConversationBody>("GET", `/v1/conversations/${id}`)).body.name).toBe("Grace Hopper");
    for (const q of ["grace", "HOPP", "0131", "%2B1555-010-0131"])
      expect([q, (await list(`q=${q}`)).map((found) => found.number)]).toEqual([q, [number]]);
    expect(await list("q=Lovelace")).toEqual([]);
    const refused = await request<List<never>>("GET", "/v1/conversations?q=%20");
    expect([refused.status, refused.body.error?.details[0]?.parameter]).toEqual([400, "q"]);
  });

  test("a reply is a message by the ordinary rules, is sent once per key, and appears between the others", async () => {
    const number = "15550100120";
    await write(number, "Where is my order?");
    const { id } = await conversationOf(number);
    const reply = (key: string, body: object = { text: "On its way." }) =>
      request<Envelope>("POST", `/v1/conversations/${id}/replies`, body, { "idempotency-key": key });
    const sent = await reply("r1");
    expect([sent.status, sent.body.data[0]?.recipient]).toEqual([200, number]);
    const again = await reply("r1");
    expect([again.body.id, again.headers.get("idempotent-replayed")]).toEqual([sent.body.id, "true"]);
    const other = await reply("r1", { text: "Another text" });
    expect([other.status, other.body.error?.code]).toEqual([422, "IDEMPOTENCY_MISMATCH"]);
    const messageId = sent.body.data[0]?.messageId ?? "";
    expect((await server.settled(messageId)).state).toBe("delivered");
    expect((await server.message(messageId)).timeline.length).toBeGreaterThan(1);
    await write(number, "Thank you");
    expect(await items(id)).toEqual(["in Thank you", "out On its way.", "in Where is my order?"]);

    expect(await items(id, 1)).toEqual(["in Thank you", "out On its way.", "in Where is my order?"]);
  });

  test("a reply that its channel does not take is refused with its field, and nothing is sent", async () => {
    const number = "15550100121";
    await write(number, "Hello");
    const { id } = await conversationOf(number);
    const reply = async (body: object): Promise<unknown> => {
      const { status, body: answer } = await request<Envelope>("POST", `/v1/conversations/${id}/replies`, body);
      return [status, answer.error?.parameter];
    };
    expect(await reply({})).toEqual([400, "text"]);
    expect(await reply({ text: "a", templateName: "b" })).toEqual([400, "text"]);
    expect(await reply({ templateName: "b" })).toEqual([400, "templateName"]);
    expect(await reply({ text: "x".repeat(4000) })).toEqual([400, "text"]);
    expect(await items(id)).toEqual(["in Hello"]);
  });

  test("the chat app takes free text for 24 hours after the user's last message", async () => {
    const to = "+15550100199";
    await write(ADA, "Hi", { to, channel: "chatapp" });
    const [conversation] = await list("channel=chatapp");
    expect(conversation?.textUntil).toBeGreaterThan(Date.now());
    const id = conversation?.id ?? "";
    const path = `/v1/conversations/${id}/replies`;
    const open = await request<Envelope>("POST", path, { text: "Hello Ada" });
    expect(open.status).toBe(200);
    expect(await items(id)).toEqual(["out Hello Ada", "in Hi"]);
    // As if the user had written two days ago.
    const { store } = server.app;
    const number = "15550100122";
    const at = Date.now() - 2 * 86_400_000;
    const { newId } = await import("../../src/lib/ids.ts");
    const content = { kind: "text", text: "long ago" } as const;
    await store.storeInbound([
      { accountId: 1, id: newId(at), channel: "chatapp", from: number, to, content, answers: null, at },
    ]);
    const old = await conversationOf(number);
    expect(old.textUntil).toBe(at + 86_400_000);
    const closed = await request<Envelope>("POST", `/v1/conversations/${old.id}/replies`, { text: "Hello" });
    expect([closed.status, closed.body.error?.code, closed.body.error?.parameter]).toEqual([
      403,
      "SESSION_CLOSED",
      "text",
    ]);
    const template = await request<Envelope>("POST", `/v1/conversations/${old.id}/replies`, {
      templateName: "order_shipped",
      params: ["Ada", "4711"],
    });
    expect(template.status).toBe(200);
  });

  test("a conversation is assigned to a member or an owner, and found by the assignee", async () => {
    const { id } = await conversationOf(BOB);
    const path = `/v1/conversations/${id}`;
    const { body: assignees } = await request<List<{ id: string; name: string }>>("GET", `/v1/conversations/assignees`);
    const owner = assignees.data[0]?.id ?? "";
    expect((await request<ConversationBody>("PATCH", path, { assignedTo: owner })).body.assignedTo).toBe(owner);
    expect((await list(`assignedTo=${owner}`)).map(({ number }) => number)).toEqual([BOB]);
    expect((await list("assignedTo=nobody")).map(({ number }) => number)).not.toContain(BOB);
    const mine = await server.asOwner<List<ConversationBody>>("GET", "/v1/conversations?assignedTo=me");
    expect(mine.body.data.map(({ number }) => number)).toEqual([BOB]);
    expect(await list("assignedTo=me")).toEqual([]);
    const unknown = await request<ConversationBody>("PATCH", path, { assignedTo: id });
    expect([unknown.status, unknown.body.error?.parameter]).toEqual([400, "assignedTo"]);
    expect((await request<ConversationBody>("PATCH", path, { assignedTo: null })).body.assignedTo).toBeNull();
  });

  test("a test key has conversations of its own, and a viewer sees numbers masked", async () => {
    const asTest = { apikey: server.testKey };
    await write("15550100177", "test", {}, asTest);
    expect(await list("number=15550100177")).toEqual([]);
    const { body } = await request<List<ConversationBody>>("GET", "/v1/conversations", undefined, asTest);
    expect(body.data.map(({ number }) => number)).toEqual(["15550100177"]);
    const foreign = await conversationOf(ADA);
    expect((await request("GET", `/v1/conversations/${foreign.id}`, undefined, asTest)).status).toBe(404);

    const viewer = { email: "viewer@a.example", password: "password of a viewer", role: "viewer" };
    await server.asOwner("POST", "/api/users", viewer);
    const person = await logIn(server.url, viewer);
    const seen = await person.request<List<ConversationBody>>("GET", "/v1/conversations");
    expect(seen.body.data.length).toBeGreaterThan(0);
    expect(JSON.stringify(seen.body)).not.toContain(ADA);
    const found = async (q: string): Promise<number> =>
      (await person.request<List<ConversationBody>>("GET", `/v1/conversations?q=${q}`)).body.data.length;
    // The digits before the last four could be found out one by one.
    expect([await found("0131"), await found("00131"), await found("hopper")]).toEqual([1, 0, 1]);
    expect((await person.request("POST", `/v1/conversations/${foreign.id}/replies`, { text: "x" })).status).toBe(403);
  });

  test("the live stream tells that users have sent something", async () => {
    const stream = new AbortController();
    const response = await fetch(`${server.url}/api/live`, { headers: { apikey: server.key }, signal: stream.signal });
    let text = "";
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => {});
    await write(ADA, "live");
    const told = await eventually(
      async () => text,
      (received) => received.includes("event: received"),
    );
    expect(told).toMatch(/event: received\nid: [0-9a-f-]{36}\ndata: \{"at":\d+\}/);
    stream.abort();
    await reading;
  });
});
