import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Envelope, type TestServer, type PhoneMessageBody } from "../support/test-server.ts";

/** The kinds of SMS that name a template, carry short links, or speak to each recipient in its own words. */
describe.each(ENGINES)("POST /v1/sms with templates and links on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  let last = 0;
  /** A number that nothing was sent to before. */
  const freshNumber = (): string => String(15_550_300_000 + (last += 1));
  const post = (fields: Record<string, unknown>) =>
    server.request<Envelope>("POST", "/v1/sms", { sender: "HELIOG", type: "TRANS", to: freshNumber(), ...fields });
  /** The text on the phone, once it has come. */
  async function textOn(number: string): Promise<string> {
    const [message] = await eventually(
      () => server.onPhone(number),
      (messages: PhoneMessageBody[]) => messages.length > 0,
    );
    return message?.text ?? "";
  }
  async function sentText(fields: Record<string, unknown>): Promise<string> {
    const to = freshNumber();
    const { status, body } = await post({ ...fields, to });
    expect(body.error).toBeNull();
    expect(status).toBe(200);
    return textOn(to);
  }
  async function refusal(fields: Record<string, unknown>) {
    const { status, body } = await post(fields);
    expect(body).toMatchObject({ id: null, data: [], totalCount: 0 });
    return { status, code: body.error?.code, parameter: body.error?.parameter, message: body.error?.message };
  }
  const template = (name: string, text: string, more: object = {}) =>
    server.request("POST", "/api/templates", { name, channel: "sms", text, ...more });

  describe("template by id with variables", () => {
    beforeAll(async () => {
      await template("order", "Hello {#var#}, your order {#var#} is ready.");
      await template("numbered", "{{2}} before {{1}}, and {{2}} again");
      await template("plain", "We are open today.");
    });

    test("a text sent by templateId shows its templateName and is found by it", async () => {
      const { status, body } = await post({ templateId: "order", custom: ["Ada", "4711"] });
      expect(status).toBe(200);
      const id = body.data[0]?.messageId ?? "";
      const read = await server.request<{ templateName: string | null }>("GET", `/v1/messages/${id}`);
      expect([read.status, read.body.templateName]).toEqual([200, "order"]);
      const found = await server.request<{ data: { messageId: string }[] }>("GET", "/v1/messages?templateName=order");
      expect(found.body.data.map(({ messageId }) => messageId)).toContain(id);
    });

    test("templateId with custom sends the template's text with the values in order and ignores text", async () => {
      expect(await sentText({ templateId: "order", custom: ["Ada", "4711"] })).toBe(
        "Hello Ada, your order 4711 is ready.",
      );
      expect(await sentText({ templateId: "order", custom: ["Ada", "4711"], text: "ignored" })).toBe(
        "Hello Ada, your order 4711 is ready.",
      );
    });

    test("placeholders may be numbered, and a number may occur twice", async () => {
      expect(await sentText({ templateId: "numbered", custom: ["one", "two"] })).toBe("two before one, and two again");
    });

    test("an empty array fits a template without variables", async () => {
      expect(await sentText({ templateId: "plain", custom: [] })).toBe("We are open today.");
    });

    test("a value that looks like a placeholder is not replaced", async () => {
      expect(await sentText({ templateId: "order", custom: ["{#var#}", "{{1}}"] })).toBe(
        "Hello {#var#}, your order {{1}} is ready.",
      );
    });

    test.each([[[]], [["Ada"]], [["Ada", "4711", "more"]]])(
      "custom must have one value per variable: %j is 422 PARAMS_MISMATCH",
      async (custom) => {
        expect(await refusal({ templateId: "order", custom })).toMatchObject({
          status: 422,
          code: "PARAMS_MISMATCH",
          parameter: "custom",
        });
      },
    );

    test.each([["Ada"], [{}], [["Ada", null]], [["Ada", ["x"]]]])("custom %j is 400", async (custom) => {
      expect(await refusal({ templateId: "order", custom })).toMatchObject({ status: 400, code: "INVALID_REQUEST" });
    });

    test("templateId needs custom, and custom needs templateId", async () => {
      expect(await refusal({ templateId: "order" })).toMatchObject({ status: 400, parameter: "custom" });
      expect(await refusal({ text: "Hello", custom: ["Ada"] })).toMatchObject({ status: 400, parameter: "templateId" });
    });

    test("all three route types are accepted", async () => {
      for (const type of ["TRANS", "PROMO", "OTP"])
        expect((await post({ templateId: "plain", custom: [], type })).status).toBe(200);
    });

    test("encoding, segments and length follow the rendered text", async () => {
      const long = await post({ templateId: "order", custom: ["x".repeat(160), "4711"] });
      expect((await server.settled(long.body.data[0]?.messageId ?? "")).credits).toBe(2);
      expect(await refusal({ templateId: "order", custom: ["x".repeat(1600), "4711"] })).toMatchObject({
        status: 400,
        code: "MESSAGE_TOO_LONG",
      });
      expect(await refusal({ templateId: "order", custom: ["ж", "1"], unicode: 0 })).toMatchObject({
        status: 400,
        parameter: "unicode",
      });
    });
  });

  describe("template (a finished text that matches a template)", () => {
    beforeAll(() => template("otp text", "Your code is {#var#}. Do not share it."));

    test("a text that matches its template is sent unchanged", async () => {
      const text = "Your code is 123456. Do not share it.";
      expect(await sentText({ templateId: "otp text", text })).toBe(text);
    });

    test("a text that differs is 422 TEXT_TEMPLATE_MISMATCH and names the first difference", async () => {
      const { status, code, message } = await refusal({
        templateId: "otp text",
        text: "Your code is 123456. Please share it.",
      });
      expect([status, code]).toEqual([422, "TEXT_TEMPLATE_MISMATCH"]);
      expect(message).toContain("Do not");
      expect(message).toContain("Please");
    });

    test("an account with the setting warn sends it anyway", async () => {
      await server.request("PATCH", "/api/account", { textMismatch: "warn" });
      const text = "Something else entirely.";
      expect(await sentText({ templateId: "otp text", text })).toBe(text);
      await server.request("PATCH", "/api/account", { textMismatch: "refuse" });
    });
  });

  describe("learning on the simulator", () => {
    test("an unknown templateId with custom is learned and rendered as its values", async () => {
      expect(await sentText({ templateId: "1107160000000012345", custom: ["Ada", "4711"] })).toContain("Ada, 4711");
    });

    test("a learned template follows the latest request, and keeps no recipient's text", async () => {
      await sentText({ templateId: "learned", custom: ["one"] });
      expect(await sentText({ templateId: "learned", custom: ["one", "two"] })).toContain("one, two");
      expect(await sentText({ templateId: "learned", text: "482913 is your code" })).toBe("482913 is your code");
      expect(await sentText({ templateId: "learned", custom: [] })).toBe("learned");
    });

    test("an account with strict records learns nothing: 404 for the template, 403 for the sender", async () => {
      await server.request("PATCH", "/api/account", { records: "strict" });
      expect(await refusal({ templateId: "never seen", custom: [] })).toMatchObject({
        status: 404,
        code: "TEMPLATE_NOT_FOUND",
        parameter: "templateId",
      });
      expect(await refusal({ sender: "NEVERSEEN", text: "Hello" })).toMatchObject({
        status: 403,
        code: "SENDER_NOT_REGISTERED",
        parameter: "sender",
      });
      await server.request("PATCH", "/api/account", { records: "learn" });
    });
  });

  describe("DLT", () => {
    test("content and entity ids of the template travel with the message", async () => {
      await template("registered", "Hello {#var#}", { dltContentId: "1107", dltEntityId: "1101" });
      const { body } = await post({ templateId: "registered", custom: ["Ada"] });
      const id = body.data[0]?.messageId ?? "";
      const [requestId = "", n] = id.split(":");
      const stored = await server.app.store.findMessage({ accountId: 1, requestId, n: Number(n) });
      expect(stored?.content).toHaveProperty("dlt", { contentId: "1107", entityId: "1101" });
    });
  });

  describe("short URL", () => {
    const target = "https://shop.example/cart?id=4711&x=%20y";
    const short = (text: string, targetUrl: unknown, shortenUrl: unknown = true) => ({
      text,
      shortenUrlData: { shortenUrl, targetUrl },
    });
    const CODE = /[1-9A-HJ-NP-Za-km-z]{7}/;

    test("the k-th {SORT} becomes the code for targetUrl[k], which redirects there", async () => {
      const text = await sentText(
        short("A https://go.example/{SORT} B https://go.example/{SORT}.", [target, "http://b.example/"]),
      );
      const codes = [...text.matchAll(/go\.example\/([1-9A-HJ-NP-Za-km-z]{7})/g)].map((match) => match[1]);
      expect(codes).toHaveLength(2);
      const [first, second] = await Promise.all(
        codes.map((code) => fetch(`${server.url}/${code}`, { redirect: "manual" })),
      );
      expect([first?.status, first?.headers.get("location")]).toEqual([302, target]);
      expect([second?.status, second?.headers.get("location")]).toEqual([302, "http://b.example/"]);
    });

    test("a token without a prefix becomes a whole link of this server", async () => {
      const text = await sentText(short("See {SORT}", [target]));
      const link = text.slice("See ".length);
      expect(link.startsWith(`${server.url}/s/`)).toBe(true);
      const followed = await fetch(link, { redirect: "manual" });
      expect(followed.headers.get("location")).toBe(target);
    });

    test("every recipient has a code of its own", async () => {
      const to = [freshNumber(), freshNumber(), freshNumber()];
      await post({ ...short("x/{SORT}", [target]), to });
      const texts = await Promise.all(to.map(textOn));
      expect(new Set(texts).size).toBe(3);
      for (const text of texts) expect(text).toMatch(CODE);
    });

    test.each([
      ["fewer targets than tokens", short("{SORT} {SORT}", ["https://a.example"])],
      ["more targets than tokens", short("{SORT}", ["https://a.example", "https://b.example"])],
      ["targets without a token", short("no token", ["https://a.example"])],
      ["shortenUrl false with a token", short("{SORT}", [], false)],
    ])("%s is 422 SHORT_LINK_MISMATCH", async (_name, fields) => {
      expect(await refusal(fields)).toMatchObject({ status: 422, code: "SHORT_LINK_MISMATCH" });
    });

    test("shortenUrl false without a token sends the text unchanged", async () => {
      expect(await sentText(short("no token", ["https://a.example"], false))).toBe("no token");
    });

    test("an invalid target URL is 400 also with shortenUrl false", async () => {
      expect(await refusal(short("no token", ["http:/a.example"], false))).toMatchObject({ status: 400 });
    });

    test.each([
      ["javascript:alert(1)"],
      ["ftp://a.example/"],
      ["https://"],
      ["//a.example"],
      ["https://user:secret@a.example/"],
      [7],
      [null],
    ])("the target %j is 400 and its index is named", async (bad) => {
      expect(await refusal(short("{SORT}", [bad]))).toMatchObject({
        status: 400,
        parameter: "shortenUrlData.targetUrl[0]",
      });
    });

    test.each([[true], ["yes"], [{}], [{ shortenUrl: "true", targetUrl: [] }], [{ shortenUrl: true, targetUrl: "x" }]])(
      "shortenUrlData %j is 400",
      async (shortenUrlData) => {
        expect(await refusal({ text: "x", shortenUrlData })).toMatchObject({ status: 400, code: "INVALID_REQUEST" });
      },
    );

    test("the link is counted with its real length", async () => {
      const fits = `${"x".repeat(160 - 7 - "https://go.example/".length)}https://go.example/{SORT}`;
      const { body } = await post(short(fits, [target]));
      expect((await server.settled(body.data[0]?.messageId ?? "")).credits).toBe(1);
    });
  });

  describe("recipients with their own values", () => {
    test("each gets its own text, in one request", async () => {
      const [ada, bob] = [freshNumber(), freshNumber()];
      const { status, body } = await server.request<Envelope>("POST", "/v1/sms", {
        sender: "HELIOG",
        type: "TRANS",
        text: "Hello {{1}}, you have {{2}} points",
        recipients: [
          { to: ada, custom: ["Ada", 3] },
          { to: bob, custom: ["Bob", "0"] },
        ],
      });
      expect(status).toBe(200);
      expect(body.totalCount).toBe(2);
      expect(await textOn(ada)).toBe("Hello Ada, you have 3 points");
      expect(await textOn(bob)).toBe("Hello Bob, you have 0 points");
    });

    test("a fault of one recipient names its index and stores nothing", async () => {
      const ask = (recipients: unknown, more: object = {}) =>
        server.request<Envelope>("POST", "/v1/sms", {
          sender: "H",
          type: "TRANS",
          text: "Hi {{1}}",
          recipients,
          ...more,
        });
      const short = await ask([
        { to: "15550100100", custom: ["a"] },
        { to: "15550100101", custom: [] },
      ]);
      expect([short.status, short.body.error?.parameter]).toEqual([422, "recipients[1].custom"]);
      expect((await ask([{ custom: ["a"] }])).body.error?.parameter).toBe("recipients[0].to");
      expect((await ask([{ to: "15550100100", custom: ["a"] }], { to: "15550100100" })).body.error?.parameter).toBe(
        "to",
      );
      expect((await ask([])).body.error?.parameter).toBe("recipients");
      expect((await ask("15550100100")).status).toBe(400);
    });
  });
});
