import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { StorageUnavailable } from "../../src/store/store.ts";
import { createLogin, queryText, type Login } from "../support/credential.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { openSink, type Sink } from "../support/sink.ts";
import { startTestServer, type MessageBody, type TestServer } from "../support/test-server.ts";

interface Reply {
  status: number;
  text: string;
}

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}";
const SUCCESS = new RegExp(`^Success "(${UUID})"$`);
let phones = 15_550_170_000;
const nextPhone = (): string => String((phones += 1));

describe.each(ENGINES)("Jasmin's APIs on %s", (engine) => {
  let server: TestServer;
  let login: Login;
  let sink: Sink;

  beforeAll(async () => {
    server = await startTestServer(engine);
    login = await createLogin(server, "jasmin");
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    sink = await openSink();
    sink.respondWith((_, response) => response.writeHead(200).end("ACK/Jasmin"));
  });
  afterEach(() => sink.close());

  const ask = async (path: string, init: RequestInit = {}): Promise<Reply> => {
    const response = await fetch(server.url + path, init);
    return { status: response.status, text: await response.text() };
  };
  const fields = (more: Record<string, string> = {}): Record<string, string> => ({
    username: login.username,
    password: login.password,
    from: "Jookies",
    content: "Hello",
    ...more,
  });
  const send = (more: Record<string, string>): Promise<Reply> => ask(`/send?${queryText(fields(more))}`);
  const basic = (of: Pick<Login, "username" | "password"> = login): string =>
    `Basic ${Buffer.from(`${of.username}:${of.password}`).toString("base64")}`;
  const rest = async (path: string, body?: unknown, authorization = basic()) => {
    const init =
      body === undefined ? {} : { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) };
    const { status, text } = await ask(path, { headers: { authorization }, ...init });
    return { status, body: JSON.parse(text) as { data?: unknown; message?: string; title?: string } };
  };
  const idOf = ({ text }: Reply): string => SUCCESS.exec(text)?.[1] ?? "";
  const arrived = (to: string) =>
    eventually(
      async () => (await server.onPhone(to))[0],
      (message) => message !== undefined,
    );
  const count = async (): Promise<number> =>
    (await server.request<{ data: unknown[] }>("GET", "/v1/messages?limit=100")).body.data.length;
  const messagesTo = async (to: string): Promise<MessageBody[]> =>
    (await server.request<{ data: MessageBody[] }>("GET", `/v1/messages?recipient=${to}`)).body.data;

  test("a send by GET or POST answers with the id of the message, which can be read", async () => {
    const [first, second, third] = [nextPhone(), nextPhone(), nextPhone()];
    const got = await send({ to: first });
    expect(got).toMatchObject({ status: 200, text: expect.stringMatching(SUCCESS) });
    expect(await server.message(`${idOf(got)}:1`)).toMatchObject({
      sender: "Jookies",
      recipient: first,
      text: "Hello",
    });
    const form = { method: "POST", body: new URLSearchParams(fields({ to: second })) };
    expect((await ask("/send", form)).text).toMatch(SUCCESS);
    const body = JSON.stringify({ ...fields(), to: Number(third), priority: 2 });
    const json = await ask("/send", { method: "POST", headers: { "content-type": "application/json" }, body });
    expect(json.text).toMatch(SUCCESS);
    expect((await arrived(third))?.text).toBe("Hello");
  });

  test("coding decides the charset of content and hex-content", async () => {
    const [utf16, hex, latin, cyrillic] = [nextPhone(), nextPhone(), nextPhone(), nextPhone()];
    const raw = (to: string, content: string, coding: string): Promise<Reply> => {
      const { content: _, ...rest_ } = fields({ to, coding });
      return ask(`/send?${queryText(rest_)}&content=${content}`);
    };
    expect((await raw(utf16, "%06%23%06%31%06%46%06%28", "8")).text).toMatch(SUCCESS);
    const { content: _, ...without } = fields({ to: hex, coding: "8", "hex-content": "0623063106460628" });
    expect((await ask(`/send?${queryText(without)}`)).text).toMatch(SUCCESS);
    expect((await raw(latin, "Gr%FC%DFe", "3")).text).toMatch(SUCCESS);
    expect((await raw(cyrillic, "%BF%E0%D8%D2%D5%E2", "6")).text).toMatch(SUCCESS);
    expect(await arrived(utf16)).toMatchObject({ text: "أرنب", encoding: "ucs2" });
    expect((await arrived(hex))?.text).toBe("أرنب");
    expect((await arrived(latin))?.text).toBe("Grüße");
    expect((await arrived(cyrillic))?.text).toBe("Привет");
  });

  test("sdt schedules a message, absolute or relative", async () => {
    const [absolute, relative] = [nextPhone(), nextPhone()];
    const at = new Date(Date.now() + 7_200_000);
    // Two quarters of an hour ahead of UTC.
    const local = new Date(at.getTime() + 1_800_000).toISOString().replaceAll(/\D/g, "").slice(2, 14);
    expect((await send({ to: absolute, sdt: `${local}002+` })).text).toMatch(SUCCESS);
    expect((await send({ to: relative, sdt: "000000010000000R" })).text).toMatch(SUCCESS);
    const dueAt = (await messagesTo(absolute))[0]?.dueAt ?? 0;
    expect(Math.abs(dueAt - at.getTime())).toBeLessThan(2000);
    expect((await messagesTo(relative))[0]?.dueAt).toBeGreaterThan(Date.now() + 3_500_000);
  });

  test("custom TLVs set the registration of the text, and others are stored for the carrier", async () => {
    const sent = await send({
      to: nextPhone(),
      custom_tlvs:
        '[[5120, null, "COctetString", "1101"], [5121, null, "COctetString", "1107"], [12288, null, "Int1", 7]]',
    });
    const stored = await server.app.store.findMessage({ accountId: 1, requestId: idOf(sent), n: 1 });
    expect(stored?.content).toMatchObject({
      dlt: { entityId: "1101", contentId: "1107" },
      tlvs: [{ tag: 12_288, value: "07" }],
    });
  });

  test.each([
    ["1", "15550100100", [["1", "ESME_ROK"]]],
    ["2", "15550100100", [["2", "DELIVRD"]]],
    [
      "3",
      "15550100100",
      [
        ["1", "ESME_ROK"],
        ["2", "DELIVRD"],
      ],
    ],
    ["2", "15550109002", [["2", "EXPIRED"]]],
  ])("level %s to %s reports %j", async (level, to, expected) => {
    const sent = await send({ to, dlr: "yes", "dlr-level": level, "dlr-url": `${sink.url}/dlr`, "dlr-method": "POST" });
    await sink.until(expected.length);
    await server.settled(`${idOf(sent)}:1`);
    const reports = sink.received.map(({ text }) => new URLSearchParams(text));
    expect(reports.map((report) => [report.get("level"), report.get("message_status")])).toEqual(expected);
    for (const report of reports) expect(report.get("id")).toBe(idOf(sent));
  });

  test("a report of the second level has the times, the ids and the outcome", async () => {
    const sent = await send({ to: nextPhone(), dlr: "yes", "dlr-level": "2", "dlr-url": `${sink.url}/dlr` });
    const [report] = await sink.until(1);
    expect(Object.fromEntries(new URLSearchParams(report?.text))).toEqual({
      id: idOf(sent),
      id_smsc: `${idOf(sent)}:1`,
      message_status: "DELIVRD",
      level: "2",
      subdate: expect.stringMatching(/^\d{10}$/),
      donedate: expect.stringMatching(/^\d{10}$/),
      sub: "001",
      dlvrd: "001",
      err: "000",
      text: "",
      connector: "simulator",
    });
  });

  test("a report by GET extends the query of dlr-url", async () => {
    await send({
      to: nextPhone(),
      dlr: "yes",
      "dlr-level": "1",
      "dlr-url": `${sink.url}/dlr?order=7`,
      "dlr-method": "GET",
    });
    const [report] = await sink.until(1);
    expect(report?.method).toBe("GET");
    expect(report?.path).toMatch(/^\/dlr\?order=7&id=.*&message_status=ESME_ROK&level=1/);
  });

  test("a report is repeated until the receiver answers ACK/Jasmin", async () => {
    sink.respondWith((_, response, times) => response.writeHead(200).end(times === 1 ? "OK" : "ACK/Jasmin"));
    const sent = await send({ to: nextPhone(), dlr: "yes", "dlr-level": "1", "dlr-url": `${sink.url}/dlr` });
    await sink.until(2);
    expect(sink.received.map(({ text }) => text)[1]).toBe(sink.received[0]?.text);
    const { body } = await eventually(
      () => server.request<{ data: { state: string }[] }>("GET", `/api/callbacks?messageId=${idOf(sent)}:1`),
      (answer) => answer.body.data[0]?.state === "delivered",
    );
    expect(body.data).toHaveLength(1);
  });

  test.each<[string, Record<string, string | undefined>, number, string]>([
    [
      "without a login",
      { username: undefined },
      400,
      "Mandatory arguments not found, please refer to the HTTPAPI specifications.",
    ],
    ["without a receiver", { to: undefined }, 400, "Mandatory argument [to] is not found."],
    ["with an unknown argument", { colour: "red" }, 400, "Argument [colour] is unknown."],
    ["to no number", { to: "abc" }, 400, "Argument [to] has an invalid value: [abc]."],
    ["with an unknown coding", { coding: "11" }, 400, "Argument [coding] has an invalid value: [11]."],
    ["with pictograms", { coding: "9" }, 400, "Argument [coding] has an invalid value: [9], which is not supported."],
    ["with a wrong level", { "dlr-level": "4" }, 400, "Argument [dlr-level] has an invalid value: [4]."],
    ["with a wrong priority", { priority: "7" }, 400, "Argument [priority] has an invalid value: [7]."],
    [
      "with both contents",
      { "hex-content": "00" },
      400,
      "content and hex-content cannot be used both in same request.",
    ],
    ["without content", { content: undefined }, 400, "content or hex-content not present."],
    [
      "with other TLVs",
      { custom_tlvs: '[[1, null, "Int1", 5]]' },
      400,
      'Argument [custom_tlvs] has an invalid value: [[[1, null, "Int1", 5]]].',
    ],
  ])("a send %s is refused in Jasmin's words, and nothing is stored", async (_, changes, status, message) => {
    const before = await count();
    const query = Object.entries({ ...fields({ to: nextPhone() }), ...changes }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    const reply = await ask(`/send?${queryText(Object.fromEntries(query))}`);
    expect(reply).toEqual({ status, text: `Error "${message}"` });
    expect(await count()).toBe(before);
  });

  test("a wrong password is refused by name", async () => {
    expect(await send({ to: nextPhone(), password: "wrong" })).toEqual({
      status: 403,
      text: `Error "Authentication failure for username:${login.username}"`,
    });
    const { status, body } = await rest("/secure/balance", undefined, basic({ ...login, password: "wrong" }));
    expect([status, body.title]).toEqual([401, "Authentication required"]);
    expect((await ask("/secure/send", { method: "POST" })).status).toBe(401);
  });

  test("the balance is that of the account, and not defined where none is kept", async () => {
    const query = queryText({ username: login.username, password: login.password });
    expect(JSON.parse((await ask(`/balance?${query}`)).text)).toEqual({ balance: "ND", sms_count: "ND" });
    await server.asOwner("POST", "/api/credits", { amount: 100 });
    await server.asOwner("PATCH", "/api/account", { credits: "metered" });
    const { body } = await rest("/secure/balance");
    const plain = JSON.parse((await ask(`/balance?${query}`)).text) as unknown;
    await server.asOwner("PATCH", "/api/account", { credits: "unlimited" });
    expect(body.data).toEqual({ balance: 100, sms_count: "ND" });
    expect(plain).toEqual(body.data);
  });

  test("the rate is the price of a segment and the number of segments, and sends nothing", async () => {
    const before = await count();
    const query = { username: login.username, password: login.password, to: nextPhone() };
    expect(JSON.parse((await ask(`/rate?${queryText(query)}`)).text)).toEqual({
      unit_rate: 1,
      submit_sm_count: 1,
    });
    const long = queryText({ to: nextPhone(), content: "x".repeat(200) });
    expect((await rest(`/secure/rate?${long}`)).body).toEqual({ data: { unit_rate: 1, submit_sm_count: 2 } });
    expect(await count()).toBe(before);
  });

  test("a REST send takes JSON, whatever its content type is", async () => {
    const to = nextPhone();
    const { status, body } = await rest("/secure/send", { to: Number(to), from: "Jookies", content: "Holà" });
    expect(status).toBe(200);
    expect(body.data).toMatch(SUCCESS);
    expect((await arrived(to))?.text).toBe("Holà");
    const hex = nextPhone();
    await rest("/secure/send", { to: hex, from: "Jookies", coding: 8, hex_content: "0623063106460628" });
    expect((await arrived(hex))?.text).toBe("أرنب");
  });

  test("a batch sends every entry, with globals that an entry can replace", async () => {
    const [first, second, third] = [nextPhone(), nextPhone(), nextPhone()];
    const { status, body } = await rest("/secure/sendbatch", {
      globals: { from: "Brand2", "dlr-level": 2, dlr: "yes", "dlr-url": `${sink.url}/dlr` },
      messages: [
        { from: "Brand1", to: [first, second], content: "One" },
        { to: Number(third), content: "Two" },
      ],
    });
    expect([status, body.data]).toEqual([200, { batchId: expect.stringMatching(UUID), messageCount: 3 }]);
    expect(await arrived(first)).toMatchObject({ sender: "Brand1", text: "One" });
    expect(await arrived(third)).toMatchObject({ sender: "Brand2", text: "Two" });
    const reports = (await sink.until(3)).map(({ text }) => new URLSearchParams(text).get("id"));
    expect(new Set(reports).size).toBe(3);
  });

  test.each<[string, object | string, string]>([
    ["without messages", {}, "Mandatory argument [messages] is not found."],
    [
      "with one malformed entry",
      {
        messages: [
          { to: "15550170900", from: "A", content: "x" },
          { to: "abc", from: "A", content: "x" },
        ],
      },
      "Argument [to] has an invalid value: [abc].",
    ],
    [
      "with an entry without content",
      {
        messages: [
          { to: "15550170900", from: "A", content: "x" },
          { to: "15550170901", from: "A" },
        ],
      },
      "content or hex-content not present.",
    ],
    ["that is no JSON", "{", "Cannot parse JSON data"],
    [
      "whose globals multiply the recipients beyond 10000",
      {
        globals: { to: Array.from({ length: 1000 }, (__, index) => String(15_550_160_000 + index)) },
        messages: Array.from({ length: 11 }, () => ({ from: "A", content: "x" })),
      },
      "Argument [messages] has more than 10000 recipients.",
    ],
    [
      "with a global of a megabyte",
      {
        globals: { tags: "a".repeat(900_000) },
        messages: [{ to: "15550170900", from: "A", content: "x" }],
      },
      `Argument [tags] has an invalid value: [${"a".repeat(100)}].`,
    ],
    [
      "with a callback_url that is no address",
      { messages: [{ to: "15550170900", from: "A", content: "x" }], batch_config: { callback_url: "ftp://a" } },
      "Argument [callback_url] has an invalid value: it is an http:// or https:// address.",
    ],
    [
      "with a time that is none",
      { messages: [{ to: "15550170900", from: "A", content: "x" }], batch_config: { schedule_at: "soon" } },
      "Argument [schedule_at] has an invalid value: use 2026-01-31 18:00:00 or 3600s.",
    ],
  ])("a batch %s is refused as a whole", async (_, batch, message) => {
    const before = await count();
    const { status, body } = await rest("/secure/sendbatch", batch);
    expect([status, body.message]).toEqual([400, `Error "${message}"`]);
    expect(await count()).toBe(before);
  });

  test("a batch names the entry that the database refuses, so that only this one is sent again", async () => {
    const { store } = server.app;
    const write = store.accept.bind(store);
    const [first, second, third] = [nextPhone(), nextPhone(), nextPhone()];
    const failing = vi.spyOn(store, "accept").mockImplementation(async (batch, ...others) => {
      if (batch.some(({ recipients }) => recipients.some(({ number }) => number === second)))
        throw new StorageUnavailable("away");
      return write(batch, ...others);
    });
    try {
      const messages = [first, second, third].map((to) => ({ to, from: "A", content: "x" }));
      const { status, body } = await rest("/secure/sendbatch", { messages });
      expect([status, body.data]).toMatchObject([200, { messageCount: 2, errors: [{ index: 1 }] }]);
    } finally {
      failing.mockRestore();
    }
    expect(await arrived(third)).toMatchObject({ text: "x" });
  });

  test("a batch calls callback_url for each accepted recipient, and errback_url for each refused one", async () => {
    const { store } = server.app;
    const write = store.accept.bind(store);
    const [first, second, third] = [nextPhone(), nextPhone(), nextPhone()];
    const failing = vi.spyOn(store, "accept").mockImplementation(async (batch, ...others) => {
      if (batch.some(({ recipients }) => recipients.some(({ number }) => number === third)))
        throw new StorageUnavailable("away");
      return write(batch, ...others);
    });
    // Jasmin does not read the response to these calls.
    sink.respondWith((_, response, times) => response.writeHead(times === 1 ? 500 : 200).end("fine"));
    try {
      const { body } = await rest("/secure/sendbatch", {
        batch_config: { callback_url: `${sink.url}/done?shop=1`, errback_url: `${sink.url}/failed` },
        messages: [
          { to: [first, second], from: "A", content: "x" },
          { to: third, from: "A", content: "x" },
        ],
      });
      const { batchId } = body.data as { batchId: string };
      const calls = await eventually(
        () => sink.received.map(({ method, path }) => ({ method, url: new URL(path, sink.url) })),
        ({ length }) => length === 4,
      );
      const told = new Set(
        calls.map(({ method, url: { pathname, searchParams } }) =>
          [method, pathname, searchParams.get("to"), searchParams.get("status"), searchParams.get("batchId")].join(" "),
        ),
      );
      expect(told).toEqual(
        new Set([
          `GET /done ${first} 1 ${batchId}`,
          `GET /done ${second} 1 ${batchId}`,
          `GET /failed ${third} 0 ${batchId}`,
        ]),
      );
      const texts = calls.map(({ url }) => url.searchParams.get("statusText") ?? "");
      const [sent] = await messagesTo(second);
      expect(texts).toContain(`Success "${sent?.messageId}"`);
      expect(texts.filter((text) => text.startsWith("Error "))).toHaveLength(1);
    } finally {
      failing.mockRestore();
    }
  });

  test("a scheduled batch waits", async () => {
    const to = nextPhone();
    const messages = [{ to, from: "A", content: "x" }];
    await rest("/secure/sendbatch", { messages, batch_config: { schedule_at: "3600s" } });
    expect((await messagesTo(to))[0]?.dueAt).toBeGreaterThan(Date.now() + 3_500_000);
  });

  test("the ping answers without a login, and unknown paths under /secure/ are refused in JSON", async () => {
    expect(JSON.parse((await ask("/ping")).text)).toEqual({ data: "Jasmin/PONG" });
    expect((await rest("/secure/nothing")).status).toBe(412);
  });

  test("credentials of the test mode and scopes hold as for API keys", async () => {
    const of = await createLogin(server, "jasmin", { mode: "test" });
    const reader = await createLogin(server, "jasmin", { scopes: ["read"] });
    const to = nextPhone();
    expect((await send({ to, ...pick(of) })).text).toMatch(SUCCESS);
    expect(await messagesTo(to)).toMatchObject([{ test: true }]);
    expect((await send({ to, ...pick(reader) })).status).toBe(403);
    expect((await rest("/secure/send", { to, content: "x" }, basic(reader))).status).toBe(403);
  });
});

const pick = ({ username, password }: Login): { username: string; password: string } => ({ username, password });
