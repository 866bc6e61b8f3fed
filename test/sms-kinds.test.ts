import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { openHouse, type Envelope, type House, type PhoneMessageBody } from "./support/house.ts";

/** The kinds of SMS that name a template, carry short links, or speak to each recipient in its own words. */
describe.each(ENGINES)("POST /v1/sms, the further kinds, on %s", (engine) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(engine);
  });
  afterAll(() => house.close());

  let last = 0;
  /** A number that nothing was sent to before. */
  const freshNumber = (): string => String(15_550_300_000 + (last += 1));
  const post = (fields: Record<string, unknown>) =>
    house.ask<Envelope>("POST", "/v1/sms", { sender: "HELIOG", type: "TRANS", to: freshNumber(), ...fields });
  /** The text on the phone, once it has come. */
  async function textOn(number: string): Promise<string> {
    const [message] = await eventually(
      () => house.onPhone(number),
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
    house.ask("POST", "/api/templates", { name, channel: "sms", text, ...more });

  describe("template by id with variables", () => {
    beforeAll(async () => {
      await template("order", "Hello {#var#}, your order {#var#} is ready.");
      await template("numbered", "{{2}} before {{1}}, and {{2}} again");
      await template("plain", "We are open today.");
    });

    test("templateId with custom sends the template's text with the values in order; text is not used", async () => {
      expect(await sentText({ templateId: "order", custom: ["Ada", "4711"] })).toBe(
        "Hello Ada, your order 4711 is ready.",
      );
      expect(await sentText({ templateId: "order", custom: ["Ada", "4711"], text: "ignored" })).toBe(
        "Hello Ada, your order 4711 is ready.",
      );
    });

    test("placeholders may be numbered, and a number may stand twice", async () => {
      expect(await sentText({ templateId: "numbered", custom: ["one", "two"] })).toBe("two before one, and two again");
    });

    test("an empty array is right for a template without variables", async () => {
      expect(await sentText({ templateId: "plain", custom: [] })).toBe("We are open today.");
    });

    test("a value that looks like a placeholder is only a value", async () => {
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

    test("templateId alone says that custom is needed, and custom alone that templateId is", async () => {
      expect(await refusal({ templateId: "order" })).toMatchObject({ status: 400, parameter: "custom" });
      expect(await refusal({ text: "Hello", custom: ["Ada"] })).toMatchObject({ status: 400, parameter: "templateId" });
    });

    test("all three route types are accepted", async () => {
      for (const type of ["TRANS", "PROMO", "OTP"])
        expect((await post({ templateId: "plain", custom: [], type })).status).toBe(200);
    });

    test("the rendered text decides about encoding, segments and length", async () => {
      const long = await post({ templateId: "order", custom: ["x".repeat(160), "4711"] });
      expect((await house.settled(long.body.data[0]?.messageId ?? "")).credits).toBe(2);
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

  describe("template (a finished text that names its template)", () => {
    beforeAll(() => template("otp text", "Your code is {#var#}. Do not share it."));

    test("a text that matches its template is sent as it is", async () => {
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

    test("an account that only wants to be warned sends it all the same", async () => {
      await house.ask("PATCH", "/api/account", { textMismatch: "warn" });
      const text = "Something else entirely.";
      expect(await sentText({ templateId: "otp text", text })).toBe(text);
      await house.ask("PATCH", "/api/account", { textMismatch: "refuse" });
    });
  });

  describe("learning on the simulator", () => {
    test("an unknown templateId with custom is learned and rendered plainly", async () => {
      expect(await sentText({ templateId: "1107160000000012345", custom: ["Ada", "4711"] })).toContain("Ada, 4711");
    });

    test("a learned template follows the latest request, and keeps no recipient's text", async () => {
      await sentText({ templateId: "learned", custom: ["one"] });
      expect(await sentText({ templateId: "learned", custom: ["one", "two"] })).toContain("one, two");
      expect(await sentText({ templateId: "learned", text: "482913 is your code" })).toBe("482913 is your code");
      expect(await sentText({ templateId: "learned", custom: [] })).toBe("learned");
    });

    test("an account with strict records learns nothing: 404 for the template, 403 for the sender", async () => {
      await house.ask("PATCH", "/api/account", { records: "strict" });
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
      await house.ask("PATCH", "/api/account", { records: "learn" });
    });
  });

  describe("DLT", () => {
    test("content and entity ids of the template travel with the message", async () => {
      await template("registered", "Hello {#var#}", { dltContentId: "1107", dltEntityId: "1101" });
      const { body } = await post({ templateId: "registered", custom: ["Ada"] });
      const id = body.data[0]?.messageId ?? "";
      const [requestId = "", n] = id.split(":");
      const stored = await house.app.store.findMessage({ accountId: 1, requestId, n: Number(n) });
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

    test("the k-th {SORT} takes the code for targetUrl[k], and following it leads there", async () => {
      const text = await sentText(
        short("A https://go.example/{SORT} B https://go.example/{SORT}.", [target, "http://b.example/"]),
      );
      const codes = [...text.matchAll(/go\.example\/([1-9A-HJ-NP-Za-km-z]{7})/g)].map((match) => match[1]);
      expect(codes).toHaveLength(2);
      const [first, second] = await Promise.all(
        codes.map((code) => fetch(`${house.url}/${code}`, { redirect: "manual" })),
      );
      expect([first?.status, first?.headers.get("location")]).toEqual([302, target]);
      expect([second?.status, second?.headers.get("location")]).toEqual([302, "http://b.example/"]);
    });

    test("a token that stands alone becomes a whole link of this server", async () => {
      const text = await sentText(short("See {SORT}", [target]));
      const link = text.slice("See ".length);
      expect(link.startsWith(`${house.url}/s/`)).toBe(true);
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

    test("shortenUrl false without a token sends the text as it is", async () => {
      expect(await sentText(short("no token", ["https://a.example"], false))).toBe("no token");
    });

    test("a target that is no address is 400 also where shortenUrl is false", async () => {
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
    ])("only http and https targets: %j is 400 and names its place", async (bad) => {
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
      expect((await house.settled(body.data[0]?.messageId ?? "")).credits).toBe(1);
    });
  });

  describe("recipients with values of their own", () => {
    test("each gets its own text, in one request", async () => {
      const [ada, bob] = [freshNumber(), freshNumber()];
      const { status, body } = await house.ask<Envelope>("POST", "/v1/sms", {
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

    test("what is wrong with one of them names its place and stores nothing", async () => {
      const ask = (recipients: unknown, more: object = {}) =>
        house.ask<Envelope>("POST", "/v1/sms", { sender: "H", type: "TRANS", text: "Hi {{1}}", recipients, ...more });
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
