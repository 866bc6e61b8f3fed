import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readForm } from "../../src/facades/parameters.ts";
import { createLogin, queryText } from "../support/credential.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { openSink, type ReceivedRequest, type Sink } from "../support/sink.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

/** Inbound messages as Kannel and Jasmin deliver them. */

let phones = 15_550_160_000;
const nextPhone = (): string => String((phones += 1));

describe.each(ENGINES)("inbound messages on %s", (engine) => {
  let server: TestServer;
  let sink: Sink;
  let credentials: string[] = [];

  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    sink = await openSink();
  });
  afterEach(async () => {
    for (const id of credentials) await server.request("DELETE", `/api/credentials/${id}`);
    credentials = [];
    await sink.close();
  });

  const login = async (kind: "kannel" | "jasmin", settings: object, more: object = {}) => {
    const created = await createLogin(server, kind, { settings, ...more });
    credentials.push(created.id);
    return created;
  };
  const write = async (from: string, to: string, text: string): Promise<void> => {
    const { status } = await server.request("POST", `/api/simulator/phones/${from}/reply`, { to, text });
    expect(status).toBeLessThan(300);
  };
  const replies = async (phone: string, count: number) =>
    (
      await eventually(
        () => server.onPhone(phone),
        ({ length }) => length >= count,
      )
    ).map(({ sender, text }) => ({ sender, text }));
  const settledCallbacks = (id: string, count = 1) =>
    eventually(
      async () =>
        (await server.request<{ data: unknown[] }>("GET", `/api/callbacks?endpointId=${id}&state=delivered`)).body.data,
      ({ length }) => length >= count,
    );
  const respond = (text: string, contentType = "text/plain", status = 200): void =>
    sink.respondWith((_, response) => response.writeHead(status, { "content-type": contentType }).end(text));
  const queryOf = ({ path }: ReceivedRequest): Record<string, string> =>
    Object.fromEntries(new URL(path, sink.url).searchParams);

  describe("for Kannel's sms-service", () => {
    const CODES = "k=%k&s=%s&S=%S&r=%r&a=%a&b=%b&e=%e&p=%p&P=%P&q=%q&Q=%Q&n=%n&c=%c&C=%C&m=%m&d=%d&i=%i&T=%T&t=%t";

    test("get-url is called with Kannel's escape codes, and the response goes back to the phone", async () => {
      const { id } = await login("kannel", {
        services: [{ keyword: "default", getUrl: `${sink.url}/mo?${CODES}` }],
        inboundNumbers: ["+15550160900"],
      });
      respond("Réply & more");
      const phone = nextPhone();
      await write(phone, "15550160900", "Hello  World *x café a&b");
      const [request] = await sink.until(1);
      expect(request?.method).toBe("GET");
      const { T, t, ...query } = queryOf(request ?? ({ path: "" } as ReceivedRequest));
      expect(query).toEqual({
        k: "Hello",
        s: "World",
        S: "~x",
        r: "café a&b",
        a: "Hello World *x café a&b",
        b: "Hello  World *x café a&b",
        e: Buffer.from("Hello  World *x café a&b").toString("hex").toUpperCase(),
        p: `+${phone}`,
        P: "15550160900",
        q: `+${phone}`,
        Q: "15550160900",
        n: "default",
        c: "0",
        C: "UTF-8",
        m: "-1",
        d: "-1",
        i: "",
      });
      expect(Math.abs(Number(T) * 1000 - Date.now())).toBeLessThan(60_000);
      expect(t).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
      expect(await replies(phone, 1)).toEqual([{ sender: "15550160900", text: "Réply & more" }]);
      await settledCallbacks(id);
      await write(nextPhone(), "15550160901", "Not for us");
      expect(sink.received).toHaveLength(1);
    });

    test("a word of a phone cannot add a parameter to get-url", async () => {
      await login("kannel", {
        services: [{ keyword: "default", getUrl: `${sink.url}/mo?S=%S&admin=no`, maxMessages: 0 }],
      });
      await write(nextPhone(), "15550160902", "x a&admin=yes#");
      const [request] = await sink.until(1);
      expect(request?.path).toBe("/mo?S=a%26admin%3Dyes%23&admin=no");
    });

    test("post-url gets the text as body with X-Kannel headers", async () => {
      await login("kannel", { services: [{ keyword: "default", postUrl: `${sink.url}/mo?from=%p`, maxMessages: 0 }] });
      const phone = nextPhone();
      await write(phone, "SHOP", "नमस्ते ✓");
      const [request] = await sink.until(1);
      expect(request).toMatchObject({ method: "POST", path: `/mo?from=%2B${phone}`, text: "नमस्ते ✓" });
      expect(request?.headers).toMatchObject({
        "content-type": 'text/plain; charset="UTF-8"',
        "x-kannel-from": `+${phone}`,
        "x-kannel-to": "SHOP",
        "x-kannel-service": "default",
        "x-kannel-coding": "0",
      });
      expect(request?.headers["x-kannel-time"]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    });

    test("a message goes to the service of its first word, in any case, or else to the default one", async () => {
      await login("kannel", {
        services: [
          { keyword: "default", getUrl: `${sink.url}/default`, maxMessages: 0 },
          { keyword: "stock", getUrl: `${sink.url}/stock?r=%r`, maxMessages: 0 },
        ],
      });
      await write(nextPhone(), "15550160903", "STOCK 4711");
      await sink.until(1);
      await write(nextPhone(), "15550160903", "Stocks 4711");
      expect((await sink.until(2)).map(({ path }) => path)).toEqual(["/stock?r=4711", "/default"]);
    });

    test("without a default service, a message with an unknown keyword calls no service", async () => {
      const { id } = await login("kannel", { services: [{ keyword: "stock", getUrl: `${sink.url}/stock` }] });
      await write(nextPhone(), "15550160904", "Hello");
      await write(nextPhone(), "15550160904", "stock");
      await settledCallbacks(id);
      expect(sink.received.map(({ path }) => path)).toEqual(["/stock"]);
    });

    test.each<[string, object, string, string, { sender?: string; text: string }[]]>([
      ["text/html without its tags", {}, "text/html", "<html><b>Hi</b> &amp;\n you</html>", [{ text: "Hi & you" }]],
      ["as much as fits into one message", {}, "text/plain", "x".repeat(400), [{ text: "x".repeat(160) }]],
      ["into maxMessages", { maxMessages: 2 }, "text/plain", "x".repeat(400), [{ text: "x".repeat(306) }]],
      ["from fakedSender", { fakedSender: "SHOP" }, "text/plain", "Hi", [{ sender: "SHOP", text: "Hi" }]],
      ["nothing where maxMessages is 0", { maxMessages: 0 }, "text/plain", "Hi", []],
      ["nothing for an empty response", {}, "text/plain", " \n", []],
      ["nothing for another type", {}, "application/json", "{}", []],
    ])("a reply is %s", async (_, service, type, response, expected) => {
      const to = nextPhone();
      const { id } = await login("kannel", {
        services: [{ keyword: "default", getUrl: `${sink.url}/mo`, ...service }],
        inboundNumbers: [to],
      });
      respond(response, type);
      const phone = nextPhone();
      await write(phone, to, "Hello");
      await settledCallbacks(id);
      expect(await replies(phone, expected.length)).toEqual(expected.map((reply) => ({ sender: to, ...reply })));
    });

    test("a receiver that fails is called again, and its reply is sent once", async () => {
      const to = nextPhone();
      const { id } = await login("kannel", {
        services: [{ keyword: "default", getUrl: `${sink.url}/mo` }],
        inboundNumbers: [to],
      });
      sink.respondWith((_, response, times) =>
        response.writeHead(times === 1 ? 500 : 200, { "content-type": "text/plain" }).end("Back"),
      );
      const phone = nextPhone();
      await write(phone, to, "Hello");
      await settledCallbacks(id);
      expect(sink.received.length).toBeGreaterThanOrEqual(2);
      expect(await replies(phone, 1)).toEqual([{ sender: to, text: "Back" }]);
    });

    test("a credential without the scope to send gets messages and sends no replies", async () => {
      const to = nextPhone();
      const services = [{ keyword: "default", getUrl: `${sink.url}/mo` }];
      const { id } = await login("kannel", { services, inboundNumbers: [to] }, { scopes: ["read"] });
      respond("Hi");
      const phone = nextPhone();
      await write(phone, to, "Hello");
      await settledCallbacks(id);
      expect(await server.onPhone(phone)).toEqual([]);
    });

    test("messages to test phones go to test credentials only", async () => {
      const to = nextPhone();
      const of = (path: string) => ({
        services: [{ keyword: "default", getUrl: `${sink.url}/${path}`, maxMessages: 0 }],
        inboundNumbers: [to],
      });
      await login("kannel", of("test"), { mode: "test" });
      const { id } = await login("kannel", of("live"));
      await write(nextPhone(), to, "Hello");
      await settledCallbacks(id);
      expect(sink.received.map(({ path }) => path)).toEqual(["/live"]);
    });

    test("settings name each fault, and nothing is stored", async () => {
      const { status, body } = await server.request<{ error: { details: { parameter: string }[] } }>(
        "POST",
        "/api/credentials",
        {
          kind: "kannel",
          name: "Shop",
          settings: { services: [{ getUrl: "nowhere", maxMessages: 99 }], inboundUrl: "http://x/", type: "SLOW" },
        },
      );
      expect(status).toBe(400);
      expect(body.error.details.map(({ parameter }) => parameter).toSorted()).toEqual([
        "settings.inboundUrl",
        "settings.services[0].getUrl",
        "settings.services[0].keyword",
        "settings.services[0].maxMessages",
        "settings.type",
      ]);
    });
  });

  describe("for Jasmin's HTTP client connector", () => {
    test.each([
      ["GET", "Olé & più?", "0", Buffer.from("Olé & più?")],
      ["POST", "Hello +1", "0", Buffer.from("Hello +1")],
      ["GET", "नमस्ते ✓", "8", Buffer.from("नमस्ते ✓", "utf16le").swap16()],
    ])(
      "%s has the message %j in the bytes of coding %s, and ACK/Jasmin ends it",
      async (method, text, coding, bytes) => {
        const to = nextPhone();
        const inboundUrl = `${sink.url}/mo?a=b`;
        const { id, username } = await login("jasmin", { inboundUrl, inboundMethod: method, inboundNumbers: [to] });
        respond("ACK/Jasmin");
        const phone = nextPhone();
        await write(phone, to, text);
        const [request] = await sink.until(1);
        expect(request?.method).toBe(method);
        const form = method === "POST" ? request?.text : request?.path.slice("/mo?a=b&".length);
        const fields = Object.fromEntries(new URLSearchParams(form));
        const expected = { from: phone, to, "origin-connector": username, coding, binary: bytes.toString("hex") };
        expect(fields).toMatchObject(expected);
        expect(fields["id"]).toMatch(/^[0-9a-f-]{36}$/);
        expect(readForm(form ?? "").get("content")).toEqual(bytes);
        await settledCallbacks(id);
        expect(sink.received).toHaveLength(1);
      },
    );

    test("a response without ACK/Jasmin is a failure, and the message comes again", async () => {
      const to = nextPhone();
      const { id } = await login("jasmin", { inboundUrl: `${sink.url}/mo`, inboundNumbers: [to] });
      sink.respondWith((_, response, times) => response.writeHead(200).end(times === 1 ? "OK" : "ACK/Jasmin"));
      await write(nextPhone(), to, "Hello");
      await settledCallbacks(id);
      expect(sink.received).toHaveLength(2);
      expect(sink.received[0]?.path).toBe(sink.received[1]?.path);
    });
  });

  test.each([
    ["kannel", "/cgi-bin/sendsms", "text"],
    ["jasmin", "/send", "content"],
  ] as const)("the setting type of a %s credential is the class of its messages", async (kind, path, name) => {
    const { username, password } = await login(kind, { type: "PROMO" });
    const to = nextPhone();
    const query = queryText({ username, password, from: "ACME", to, [name]: "Sale" });
    expect((await fetch(`${server.url}${path}?${query}`)).status).toBeLessThan(300);
    const { body } = await server.request<{ data: unknown[] }>("GET", `/v1/messages?recipient=${to}`);
    expect(body.data).toMatchObject([{ type: "PROMO" }]);
  });
});
