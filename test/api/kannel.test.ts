import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLogin, queryText, type Login } from "../support/credential.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { openSink, type Sink } from "../support/sink.ts";
import { startTestServer, type MessageBody, type TestServer } from "../support/test-server.ts";

interface Reply {
  status: number;
  text: string;
}

const ACCEPTED = { status: 202, text: "0: Accepted for delivery" };
let phones = 15_550_180_000;
const nextPhone = (): string => String((phones += 1));

describe.each(ENGINES)("Kannel's sendsms on %s", (engine) => {
  let server: TestServer;
  let login: Login;
  let sink: Sink;

  beforeAll(async () => {
    server = await startTestServer(engine);
    login = await createLogin(server, "kannel");
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    sink = await openSink();
  });
  afterEach(() => sink.close());

  const answer = async (response: Promise<Response>): Promise<Reply> => {
    const { status, ...whole } = await response.then(async (each) => ({
      status: each.status,
      text: await each.text(),
    }));
    return { status, ...whole };
  };
  const fields = (to: string, more: Record<string, string> = {}): Record<string, string> => ({
    username: login.username,
    password: login.password,
    from: "ACME",
    to,
    text: "Hello",
    ...more,
  });
  const get = (query: Record<string, string>): Promise<Reply> =>
    answer(fetch(`${server.url}/cgi-bin/sendsms?${queryText(query)}`));
  const send = (to: string, more: Record<string, string> = {}): Promise<Reply> => get(fields(to, more));
  const post = (body: string | Buffer, headers: Record<string, string>): Promise<Reply> =>
    answer(fetch(`${server.url}/cgi-bin/sendsms`, { method: "POST", headers, body }));
  const messagesTo = async (to: string): Promise<MessageBody[]> =>
    (await server.request<{ data: MessageBody[] }>("GET", `/v1/messages?recipient=${to}`)).body.data;
  const arrived = (to: string) =>
    eventually(
      async () => (await server.onPhone(to))[0],
      (message) => message !== undefined,
    );
  const count = async (): Promise<number> =>
    (await server.request<{ data: unknown[] }>("GET", "/v1/messages?limit=100")).body.data.length;
  const reports = (path = ""): URLSearchParams[] =>
    sink.received.filter((each) => each.path.startsWith(path)).map((each) => new URL(each.path, sink.url).searchParams);

  test("a message by GET is accepted and arrives, and its sender is the parameter from", async () => {
    const to = nextPhone();
    expect(await send(to, { text: "Grüße @ €5 & 100%" })).toEqual(ACCEPTED);
    expect(await arrived(to)).toMatchObject({ sender: "ACME", text: "Grüße @ €5 & 100%", flash: false });
    expect(await messagesTo(to)).toMatchObject([{ type: "TRANS", test: false }]);
  });

  test("the short names user and pass are accepted", async () => {
    const { username, password, ...rest } = fields(nextPhone());
    expect(await get({ ...rest, user: username ?? "", pass: password ?? "" })).toEqual(ACCEPTED);
  });

  test("several receivers are one request, with spaces or plus signs between them", async () => {
    const [first, second] = [nextPhone(), nextPhone()];
    expect(await send(`${first} +${second}`)).toEqual(ACCEPTED);
    const [one] = await messagesTo(first);
    const [other] = await messagesTo(second);
    expect(other?.messageId.split(":")[0]).toBe(one?.messageId.split(":")[0]);
  });

  test("a request without a body releases its share of the body budget with its response", async () => {
    const heldBytes = async (): Promise<number> => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      return Number(/^heliograph_http_body_bytes (\S+)/m.exec(metrics)?.[1]);
    };
    const to = Array.from({ length: 200 }, nextPhone).join(" ");
    expect(await send(to)).toEqual(ACCEPTED);
    expect(await eventually(heldBytes, (bytes) => bytes === 0)).toBe(0);
  });

  test("a POST gives parameters as a form, as X-Kannel headers with the text as body, or in XML", async () => {
    const [form, headers, xml] = [nextPhone(), nextPhone(), nextPhone()];
    const asForm = { "content-type": "application/x-www-form-urlencoded" };
    expect(await post(new URLSearchParams(fields(form)).toString(), asForm)).toEqual(ACCEPTED);
    const given = { "x-kannel-username": login.username, "x-kannel-password": login.password };
    const asHeaders = { ...given, "x-kannel-from": "ACME", "x-kannel-to": headers };
    const latin = { "content-type": "text/plain; charset=iso-8859-1" };
    expect(await post(Buffer.from("Grüße", "latin1"), { ...asHeaders, ...latin })).toEqual(ACCEPTED);
    const document = `<?xml version="1.0" encoding="UTF-8"?><message><submit><da><number>${xml}</number></da>
      <oa><number>ACME</number></oa><ud>Fish &amp; chips</ud><dcs><mclass>0</mclass></dcs>
      <from><user>${login.username}</user><pass>${login.password}</pass></from></submit></message>`;
    expect(await post(document, { "content-type": "text/xml" })).toEqual(ACCEPTED);
    expect((await arrived(form))?.text).toBe("Hello");
    expect((await arrived(headers))?.text).toBe("Grüße");
    expect(await arrived(xml)).toMatchObject({ text: "Fish & chips", flash: true });
  });

  test("udh and 8-bit data are in hexadecimal, or percent escapes, as headers and in XML", async () => {
    const [headers, xml] = [nextPhone(), nextPhone()];
    const given = { "x-kannel-username": login.username, "x-kannel-password": login.password };
    const asHeaders = { ...given, "x-kannel-from": "ACME", "x-kannel-to": headers, "x-kannel-udh": "%02%70%00" };
    const octets = { "content-type": "application/octet-stream" };
    expect(await post(Buffer.from([0x00, 0xff]), { ...asHeaders, ...octets })).toEqual(ACCEPTED);
    const document = `<?xml version="1.0"?><message><submit><da><number>${xml}</number></da><oa><number>ACME</number></oa>
      <udh>027000</udh><ud>00ff</ud><dcs><coding>1</coding><mclass>1</mclass></dcs>
      <from><user>${login.username}</user><pass>${login.password}</pass></from></submit></message>`;
    expect(await post(document, { "content-type": "text/xml" })).toEqual(ACCEPTED);
    const binary = { encoding: "binary", udh: "027000", text: "00ff", parts: ["00ff"] };
    expect(await arrived(headers)).toMatchObject({ ...binary, dataCoding: 4 });
    expect(await arrived(xml)).toMatchObject({ ...binary, dataCoding: 0x15 });
  });

  test("coding 2 takes the text as UTF-16 unless a charset is given, and charset names any other", async () => {
    const query = (to: string, text: string, more: string): string =>
      `${new URLSearchParams({ ...fields(to), text: "" }).toString().replace(/&text=/, "")}&text=${text}${more}`;
    const [utf16, utf8, cyrillic] = [nextPhone(), nextPhone(), nextPhone()];
    const ask = (written: string): Promise<Reply> => answer(fetch(`${server.url}/cgi-bin/sendsms?${written}`));
    expect(await ask(query(utf16, "%06%23%06%31%06%46%06%28", "&coding=2"))).toEqual(ACCEPTED);
    expect(await ask(query(utf8, "%D8%A3", "&coding=2&charset=UTF-8"))).toEqual(ACCEPTED);
    expect(await ask(query(cyrillic, "%CF%F0%E8%E2%E5%F2", "&charset=windows-1251"))).toEqual(ACCEPTED);
    expect((await arrived(utf16))?.text).toBe("أرنب");
    expect(await arrived(utf8)).toMatchObject({ text: "أ", encoding: "ucs2" });
    expect((await arrived(cyrillic))?.text).toBe("Привет");
  });

  test("a deferred message is queued until its time, and validity limits how long it may wait", async () => {
    const to = nextPhone();
    expect(await send(to, { deferred: "60", validity: "5" })).toEqual({
      status: 202,
      text: "3: Queued for later delivery",
    });
    const [message] = await messagesTo(to);
    expect(message?.dueAt).toBeGreaterThan(Date.now() + 50 * 60_000);
    const { body } = await server.request<{ data: { id: string }[] }>("GET", "/v1/messages?status=Pending");
    expect(body.data.length).toBeGreaterThan(0);
  });

  test("a delivery report goes to dlr-url with Kannel's escape codes filled in, in order", async () => {
    const to = nextPhone();
    const dlr = `${sink.url}/dlr?id=7&type=%d&to=%p&from=%P&at=%T&day=%t&answer=%A&id=%F&n=%n&o=%o&B=%B&pe=%#smpp#PE_ID#&pct=%%&z=%z&c=%c`;
    const more = { "dlr-mask": "31", "dlr-url": dlr, account: "shop", binfo: "7", "meta-data": "?smpp?PE_ID=1101&" };
    expect(await send(to, more)).toEqual(ACCEPTED);
    await sink.until(2);
    const [submitted, delivered] = reports();
    const [message] = await messagesTo(to);
    expect([submitted?.get("type"), delivered?.get("type")]).toEqual(["8", "1"]);
    expect(Object.fromEntries(delivered ?? [])).toMatchObject({
      to,
      from: "ACME",
      n: login.username,
      o: "shop",
      B: "7",
      pe: "1101",
      pct: "%",
      z: "%z",
      c: "-1",
    });
    expect(delivered?.getAll("id")).toEqual(["7", message?.messageId]);
    expect(submitted?.get("answer")).toBe("ACK/");
    expect(delivered?.get("answer")).toMatch(
      /^id:\S+ sub:001 dlvrd:001 submit date:\d{10} done date:\d{10} stat:DELIVRD err:000 text:$/,
    );
    expect(Math.abs(Number(delivered?.get("at")) * 1000 - Date.now())).toBeLessThan(60_000);
    expect(delivered?.get("day")).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(sink.received.map(({ method }) => method)).toEqual(["GET", "GET"]);
  });

  test.each([
    ["1", "15550100101", ["1"]],
    ["3", "15550109002", ["2"]],
    ["8", "15550100102", ["8"]],
    ["27", "15550109002", ["8", "2"]],
  ])("the mask %s of a message to %s asks for the reports %j", async (mask, to, types) => {
    expect(await send(to, { "dlr-mask": mask, "dlr-url": `${sink.url}/m?type=%d` })).toEqual(ACCEPTED);
    await sink.until(types.length);
    const last = (await messagesTo(to))[0]?.messageId ?? "";
    await server.settled(last);
    expect(reports("/m").map((each) => each.get("type"))).toEqual(types);
  });

  test("a report whose receiver fails is repeated", async () => {
    sink.respondWith((_, response, times) => response.writeHead(times === 1 ? 500 : 200).end());
    const to = nextPhone();
    await send(to, { "dlr-mask": "1", "dlr-url": `${sink.url}/again?type=%d` });
    await sink.until(1);
    expect((await sink.until(2)).map(({ path }) => path)).toEqual(["/again?type=1", "/again?type=1"]);
  });

  test("user information of dlr-url becomes a header", async () => {
    const to = nextPhone();
    const url = `${sink.url.replace("http://", "http://ann:p%40ss@")}/auth?type=%d`;
    await send(to, { "dlr-mask": "1", "dlr-url": url });
    const [report] = await sink.until(1);
    expect(report?.headers.authorization).toBe(`Basic ${Buffer.from("ann:p@ss").toString("base64")}`);
    expect(report?.path).toBe("/auth?type=1");
  });

  test("TLVs of the meta-data reach the carrier as the registration of the text", async () => {
    const to = nextPhone();
    expect(await send(to, { "meta-data": "?smpp?PE_ID=1101&TEMPLATE_ID=1107" })).toEqual(ACCEPTED);
    const [row] = await messagesTo(to);
    const stored = await server.app.store.findMessage({
      accountId: 1,
      requestId: row?.messageId.split(":")[0] ?? "",
      n: 1,
    });
    expect(stored?.content).toMatchObject({ dlt: { entityId: "1101", contentId: "1107" } });
  });

  test("a credential defines further TLVs, and one that no client may set is refused", async () => {
    const define = (tlvs: unknown) =>
      server.request<{ error?: { message: string } }>("PATCH", `/api/credentials/${login.id}`, { settings: { tlvs } });
    for (const tag of ["0x0424", "0x4000", "tag", 1.5])
      expect((await define([{ name: "campaign", tag, type: "octetstring" }])).status).toBe(400);
    expect((await define([{ name: "campaign", tag: "0x1500", type: "octetstring" }])).status).toBe(200);
    const to = nextPhone();
    expect(await send(to, { "meta-data": "?smpp?campaign=may" })).toEqual(ACCEPTED);
    const [requestId = ""] = (await messagesTo(to))[0]?.messageId.split(":") ?? [];
    const stored = await server.app.store.findMessage({ accountId: 1, requestId, n: 1 });
    expect(stored?.content).toMatchObject({ tlvs: [{ tag: 0x1500, value: Buffer.from("may").toString("hex") }] });
    await define(null);
  });

  const denied = "Number(s) has/have been denied by white- and/or black-lists.";
  test.each<[string, Record<string, string | undefined>, number, string]>([
    ["without a login", { username: undefined, password: undefined }, 403, "Authorization failed for sendsms"],
    ["with a wrong password", { password: "wrong" }, 403, "Authorization failed for sendsms"],
    ["without a receiver", { to: undefined }, 400, "Missing receiver number, rejected"],
    ["with an empty receiver", { to: "" }, 400, "Empty receiver number not allowed, rejected"],
    ["to no number", { to: "abc" }, 400, denied],
    ["without a sender", { from: undefined }, 400, "Sender missing and no global set, rejected"],
    ["without a text", { text: undefined }, 400, "Missing message text, rejected"],
    ["with an unknown charset", { charset: "no-such" }, 400, "Charset or body misformed, rejected"],
    ["with a message class that does not exist", { mclass: "9" }, 400, "MClass field misformed, rejected"],
    ["with a coding that does not exist", { coding: "9" }, 400, "Coding field misformed, rejected"],
    ["with a broken UDH", { udh: "\u0006" }, 400, "UDH field misformed, rejected"],
    ["with a message waiting indication that does not exist", { mwi: "8" }, 400, "MWI field misformed, rejected"],
    ["with a protocol id above 255", { pid: "256" }, 400, "PID field misformed, rejected"],
    ["with a mask above 31", { "dlr-mask": "99" }, 400, "DLR-Mask field misformed, rejected"],
    ["with a dlr-url that is none", { "dlr-url": "ftp://x" }, 400, "DLR-URL field misformed, rejected"],
    ["with a negative delay", { deferred: "-5" }, 400, "Deferred field misformed, rejected"],
    ["with a priority that does not exist", { priority: "9" }, 400, "Priority field misformed, rejected"],
  ])("a request %s is refused in Kannel's words, and nothing is stored", async (_, changes, status, text) => {
    const before = await count();
    const query = Object.entries({ ...fields(nextPhone()), ...changes }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    expect(await get(Object.fromEntries(query))).toEqual({ status, text });
    expect(await count()).toBe(before);
  });

  test("a field that is no number counts as not given, as in Kannel", async () => {
    expect(await send(nextPhone(), { mclass: "x", validity: "soon", "dlr-mask": "x" })).toEqual(ACCEPTED);
  });

  test.each([
    ["application/json", "{}", { status: 400, text: "Invalid content-type" }],
    ["text/xml", "<message><submit>", { status: 403, text: "Authorization failed for sendsms" }],
    ["text/xml", '<!DOCTYPE m [<!ENTITY a "b">]><message/>', { status: 403, text: "Authorization failed for sendsms" }],
  ])("a POST of %s that cannot be read is refused: %s", async (type, body, reply) => {
    expect(await post(body, { "content-type": type })).toEqual(reply);
  });

  test("an unknown path under /cgi-bin/ and another method are refused in plain words", async () => {
    expect(await answer(fetch(`${server.url}/cgi-bin/sendota`))).toEqual({ status: 404, text: "Not found" });
    const put = await answer(fetch(`${server.url}/cgi-bin/sendsms`, { method: "PUT" }));
    expect(put.status).toBeGreaterThanOrEqual(404);
  });

  test("a message that the balance does not cover is not routable, and one over the rate is to be repeated", async () => {
    await server.asOwner("PATCH", "/api/account", { credits: "metered" });
    const unpaid = await send(nextPhone());
    await server.asOwner("PATCH", "/api/account", { credits: "unlimited" });
    expect(unpaid.status).toBe(403);
    expect(unpaid.text).toMatch(/^Not routable\. Do not try again\. The request needs 1 credit/);
    const slow = await createLogin(server, "kannel", { requestsPerSecond: 1 });
    const { username, password } = slow;
    const replies = [];
    for (let i = 0; i < 5; i += 1) replies.push(await get({ ...fields(nextPhone()), username, password }));
    expect(replies).toContainEqual({ status: 503, text: "Temporal failure, try again later." });
  });

  describe("status pages", () => {
    const status = (path: string, query: Record<string, string>): Promise<Reply> =>
      answer(fetch(`${server.url}${path}?${queryText(query)}`));
    const numberIn = (xml: string, part: string, path: string): number =>
      Number(new RegExp(`<${part}>[^]*?<${path}><total>(\\d+)</total>`).exec(xml)?.[1]);

    test("have the numbers of the account in Kannel's form, for the password that Kannel's scripts give", async () => {
      const own = await createTenantLogin();
      const { password } = own;
      const xml = async (): Promise<string> =>
        (await status("/status.xml", { password: `${own.username}:${password}` })).text;
      const before = await xml();
      const to = nextPhone();
      expect(await send(to)).toEqual(ACCEPTED);
      expect(await send(nextPhone(), { deferred: "60" })).toMatchObject({ status: 202 });
      await server.request("POST", `/api/simulator/phones/${to}/reply`, { to: "15550180999", text: "Hello" });
      // Messages of earlier tests may still be counted.
      const after = await eventually(xml, (text) =>
        [
          numberIn(text, "sms", "received") - numberIn(before, "sms", "received") === 1,
          numberIn(text, "sms", "sent") > numberIn(before, "sms", "sent"),
          numberIn(text, "dlr", "received") > numberIn(before, "dlr", "received"),
        ].every(Boolean),
      );
      expect(after).toMatch(/^<\?xml version="1.0"\?>\n<gateway>\n<version>Heliograph/);
      expect(after).toMatch(/<status>running, uptime \d+d \d+h \d+m \d+s<\/status>/);
      expect(
        Number(/<sent><total>\d+<\/total><queued>(\d+)<\/queued><\/sent>\n\t\t<storesize>/.exec(after)?.[1]),
      ).toBeGreaterThan(0);
      expect(after).toMatch(/<outbound>\d+\.\d\d,\d+\.\d\d,\d+\.\d\d<\/outbound>/);
      const text = await status("/status.txt", { username: own.username, password });
      expect(text.status).toBe(200);
      expect(text.text).toMatch(/^SMS: received \d+ \(\d+ queued\), sent \d+ \(\d+ queued\), store size -1$/m);
      expect((await status("/status", { username: own.username, password })).text).toContain("Status: running, uptime");
    });

    test("list the account's own connections", async () => {
      const smpp = { host: "127.0.0.1", port: 9, systemId: "esme", password: "x", connections: 1, window: 1 };
      const made = await server.request<{ id: string }>("POST", "/api/carriers", {
        name: "line",
        adapter: "smpp",
        smpp,
      });
      expect(made.status).toBe(201);
      const { text } = await eventually(
        () => status("/status.xml", { username: login.username, password: login.password }),
        (reply) => reply.text.includes("<count>1</count>"),
      );
      expect(text).toContain("<name>SMPP:line</name>");
      expect(text).toContain(`<id>${made.body.id}</id>`);
      expect(text).toContain("<status>re-connecting</status>");
      await server.request("DELETE", `/api/carriers/${made.body.id}`);
    });

    test("are denied with a wrong password, and to a credential that may not read or is for tests", async () => {
      expect(await status("/status.xml", { password: "wrong" })).toEqual({
        status: 403,
        text: '<?xml version="1.0"?>\n<gateway>\nDenied</gateway>\n',
      });
      expect(await status("/status.txt", {})).toEqual({ status: 403, text: "Denied\n" });
      for (const choices of [{ scopes: ["sms"] }, { mode: "test" }]) {
        const { username, password } = await createLogin(server, "kannel", choices);
        expect((await status("/status.xml", { username, password })).status).toBe(403);
      }
    });

    const createTenantLogin = (): Promise<Login> => createLogin(server, "kannel", { scopes: ["read"] });
  });

  test("messages of a test credential go to the simulator and are marked as test", async () => {
    const of = await createLogin(server, "kannel", { mode: "test" });
    const to = nextPhone();
    expect(await get({ ...fields(to), ...of })).toEqual(ACCEPTED);
    expect((await arrived(to))?.text).toBe("Hello");
    expect(await messagesTo(to)).toMatchObject([{ test: true }]);
  });

  test("a credential without the scope sms, or from another network, is refused", async () => {
    const reader = await createLogin(server, "kannel", { scopes: ["read"] });
    const elsewhere = await createLogin(server, "kannel", { allowedIps: ["192.0.2.0/24"] });
    for (const { username, password } of [reader, elsewhere]) {
      const reply = await get({ ...fields(nextPhone()), username, password });
      expect(reply.status).toBe(403);
      expect(reply.text).toMatch(/^Authorization failed for sendsms\. /);
    }
  });
});
