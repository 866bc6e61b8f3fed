import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { startTestServer, type Envelope, type TestServer, type MessageBody } from "../support/test-server.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The rules of the specification's SMS, envelope, authentication and error sections, each as its own test. */
describe.each(ENGINES)("POST /v1/sms on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine, { env: { HELIOGRAPH_RECIPIENTS_MAX: "1000" } });
  });
  afterAll(() => server.close());

  const countStored = async (): Promise<number> => {
    let count = 0;
    for (let cursor = ""; ;) {
      const page = await server.request<{ data: unknown[]; nextCursor: string | null }>(
        "GET",
        `/v1/messages?limit=200${cursor}`,
      );
      count += page.body.data.length;
      if (page.body.nextCursor === null) return count;
      cursor = `&cursor=${page.body.nextCursor}`;
    }
  };
  const refused = async (body: unknown, headers?: Record<string, string>) => {
    const before = await countStored();
    const answer = await server.request<Envelope>("POST", "/v1/sms", body, headers);
    expect(await countStored(), "a refusal stores nothing").toBe(before);
    const error = answer.body.error;
    if (!error) throw new Error(`expected a refusal, got ${JSON.stringify(answer.body)}`);
    return { ...answer, error, parameters: error.details.map((detail) => detail.parameter) };
  };
  const ordinary = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };

  describe("the send envelope", () => {
    test("id is UUID-shaped, data has one record per recipient, totalCount is their number, error is null", async () => {
      const { status, body } = await server.send();
      expect(status).toBe(200);
      expect(body.id).toMatch(UUID);
      expect(Object.keys(body)).toEqual(["id", "data", "totalCount", "message", "error"]);
      expect(body).toMatchObject({ totalCount: 1, message: "Message Sent Successfully!", error: null });
    });

    test("a recipient is echoed without its leading plus", async () => {
      const { body } = await server.send({ to: "+919876543210" });
      expect(body.data[0]?.recipient).toBe("919876543210");
    });

    test("messageId is <id>:<n> with n the 1-based position of the recipient", async () => {
      const { body } = await server.send({ to: ["15550100100", "15550100101", "15550100102"] });
      expect(body.data.map((record) => record.messageId)).toEqual([`${body.id}:1`, `${body.id}:2`, `${body.id}:3`]);
    });

    test("unicode and flash are in the response only if the request has them, with its values", async () => {
      expect((await server.send({ unicode: 1 })).body.unicode).toBe(1);
      expect((await server.send({ unicode: 0 })).body.unicode).toBe(0);
      expect((await server.send({ flash: 1 })).body.flash).toBe(1);
      const plain = (await server.send()).body;
      expect("unicode" in plain || "flash" in plain).toBe(false);
    });

    test("success is 200 with Content-Type application/json", async () => {
      const { status, headers } = await server.send();
      expect(status).toBe(200);
      expect(headers.get("content-type")).toMatch(/^application\/json/);
    });
  });

  test("a request without a body is 400, with an Idempotency-Key too", async () => {
    const { status } = await server.request("POST", "/v1/sms", undefined, {
      "Idempotency-Key": "nothing",
      "content-type": "application/json",
    });
    expect(status).toBe(400);
  });

  describe("required fields", () => {
    test.each(["sender", "to", "text", "type"])("%s is required", async (field) => {
      const { status, error, parameters } = await refused({ ...ordinary, [field]: undefined });
      expect(status).toBe(400);
      expect(error.code).toBe("INVALID_REQUEST");
      expect(parameters).toEqual([field]);
    });

    test.each(["sender", "to", "text", "type"])("%s is not accepted as null, number or object", async (field) => {
      for (const value of [null, 7, {}, true, ""]) {
        const { status, parameters } = await refused({ ...ordinary, [field]: value });
        expect(status).toBe(400);
        expect(parameters).toEqual([field]);
      }
    });

    test("all faults of a body are reported at once, each naming its field and the fix", async () => {
      const { body, error, parameters } = await refused({
        sender: "",
        to: [5],
        type: "trans",
        unicode: 2,
        flash: "1",
        campaignName: 3,
      });
      expect(parameters).toEqual(["sender", "type", "unicode", "flash", "campaignName", "to[0]", "text"]);
      expect(error).toMatchObject({ code: "INVALID_REQUEST", type: "invalid_request", parameter: "sender" });
      expect(error.details.find((detail) => detail.parameter === "type")?.message).toContain("write it as TRANS");
      expect(body).toMatchObject({ id: null, data: [], totalCount: 0 });
    });

    test("an unknown field is ignored", async () => {
      expect((await server.send({ colour: "blue", templateId: "T1" })).status).toBe(200);
    });

    test("a body that is not an object is refused", async () => {
      for (const body of ["[]", '"text"', "7", "null"]) {
        const { status, error } = await refused(body);
        expect([status, error.code]).toEqual([400, "INVALID_REQUEST"]);
      }
    });
  });

  describe("type", () => {
    test.each(["TRANS", "PROMO", "OTP"])("the route type %s is accepted", async (type) => {
      const { status, body } = await server.send({ type });
      expect(status).toBe(200);
      expect(await server.message(body.data[0]?.messageId ?? "")).toMatchObject({ type });
    });

    test("any other route type is refused", async () => {
      for (const type of ["SERVICE", "trans", " TRANS", "", 1]) {
        const { status, parameters } = await refused({ ...ordinary, type });
        expect([status, parameters]).toEqual([400, ["type"]]);
      }
    });
  });

  describe("sender", () => {
    test.each(["ACME", "My Shop 24", "+15550100199", "56767", "é", "A".repeat(20)])(
      "%s is a sender",
      async (sender) => {
        expect((await server.send({ sender })).status).toBe(200);
      },
    );
    test("a sender of more than 20 characters or with control characters is refused", async () => {
      expect((await refused({ ...ordinary, sender: "A".repeat(21) })).parameters).toEqual(["sender"]);
      expect((await refused({ ...ordinary, sender: "AC\nME" })).parameters).toEqual(["sender"]);
    });
  });

  describe("kinds", () => {
    test("a single message reaches one phone", async () => {
      const { body } = await server.send({ to: "15550101001", text: "single" });
      await server.settled(body.data[0]?.messageId ?? "");
      expect((await server.onPhone("15550101001")).map((message) => message.text)).toEqual(["single"]);
    });

    test("an OTP SMS uses type OTP and reaches the phone", async () => {
      const { body } = await server.send({ to: "15550101002", text: "482913 is your code", type: "OTP" });
      expect(await server.settled(body.data[0]?.messageId ?? "")).toMatchObject({ type: "OTP", status: "Delivered" });
    });

    test("a Unicode SMS is sent as UCS-2 and echoes unicode", async () => {
      const text = "आपका ऑर्डर रास्ते में है।";
      const { body } = await server.send({ to: "15550101003", text, unicode: 1 });
      expect(body.unicode).toBe(1);
      await server.settled(body.data[0]?.messageId ?? "");
      expect((await server.onPhone("15550101003"))[0]).toMatchObject({ text, encoding: "ucs2" });
    });

    test("unicode 1 forces UCS-2 for a plain text, which costs accordingly", async () => {
      const text = "a".repeat(100);
      const plain = await server.send({ text });
      const forced = await server.send({ text, unicode: 1 });
      expect((await server.message(plain.body.data[0]?.messageId ?? "")).credits).toBe(1);
      expect((await server.message(forced.body.data[0]?.messageId ?? "")).credits).toBe(2);
    });

    test("a text outside the GSM alphabet is sent as UCS-2 by default", async () => {
      const { body } = await server.send({ to: "15550101004", text: "Olá 👋" });
      await server.settled(body.data[0]?.messageId ?? "");
      expect((await server.onPhone("15550101004"))[0]).toMatchObject({ text: "Olá 👋", encoding: "ucs2" });
    });

    test("unicode 0 with a text that needs UCS-2 is refused and names the character", async () => {
      const { status, error, parameters } = await refused({ ...ordinary, text: "Price: 5 ₹", unicode: 0 });
      expect([status, parameters]).toEqual([400, ["unicode"]]);
      expect(error.details[0]?.message).toContain("₹");
    });

    test("unicode and flash accept only the integers 0 and 1", async () => {
      for (const field of ["unicode", "flash"]) {
        for (const value of [2, -1, "1", true, null, 1.5]) {
          expect((await refused({ ...ordinary, [field]: value })).parameters).toEqual([field]);
        }
      }
    });

    test("a flash SMS is shown on the phone as flash and echoes flash", async () => {
      const { body } = await server.send({ to: "15550101005", flash: 1 });
      expect(body.flash).toBe(1);
      await server.settled(body.data[0]?.messageId ?? "");
      expect((await server.onPhone("15550101005"))[0]).toMatchObject({ flash: true });
    });

    test("a long text reaches the phone whole, and its credits are its segments", async () => {
      const text = "0123456789".repeat(31);
      const { body } = await server.send({ to: "15550101006", text });
      expect(await server.settled(body.data[0]?.messageId ?? "")).toMatchObject({ credits: 3 });
      const [message] = await server.onPhone("15550101006");
      expect(message?.text).toBe(text);
      expect(message?.parts.map((part) => part.length)).toEqual([153, 153, 4]);
    });
  });

  describe("bulk", () => {
    test.each([
      ["a string with commas", "15550102001,15550102002, +15550102003"],
      ["an array", ["15550102001", "15550102002", "+15550102003"]],
    ])("several recipients as %s: one record each, in order, all delivered", async (_form, to) => {
      const { body } = await server.send({ to });
      expect(body.totalCount).toBe(3);
      expect(body.data.map((record) => record.recipient)).toEqual(["15550102001", "15550102002", "15550102003"]);
      for (const { messageId } of body.data)
        expect(await server.settled(messageId)).toMatchObject({ status: "Delivered" });
    });

    test("duplicate recipients are removed", async () => {
      const { body } = await server.send({ to: "15550102010,+15550102010,1 (555) 010-2010,15550102011" });
      expect(body.data.map((record) => record.recipient)).toEqual(["15550102010", "15550102011"]);
      expect(body.totalCount).toBe(2);
    });

    test("1,000 recipients are accepted, 1,001 are 413 TOO_MANY_RECIPIENTS", async () => {
      const numbers = Array.from({ length: 1001 }, (_, index) => String(15_550_200_000 + index));
      const { status, body } = await server.send({ to: numbers.slice(0, 1000), type: "PROMO" });
      expect([status, body.totalCount, body.data.at(-1)?.messageId]).toEqual([200, 1000, `${body.id}:1000`]);
      const over = await refused({ ...ordinary, to: numbers });
      expect([over.status, over.error.code, over.parameters]).toEqual([413, "TOO_MANY_RECIPIENTS", ["to"]]);
    });

    test("a malformed number among good ones gets its record and is Failed at once with INVALID_RECIPIENT", async () => {
      const { status, body } = await server.send({ to: ["15550102020", "not a number", "15550102021"] });
      expect([status, body.totalCount]).toEqual([200, 3]);
      expect(await server.message(`${body.id}:2`)).toMatchObject({
        status: "Failed",
        errCode: "INVALID_RECIPIENT",
        recipient: "not a number",
      });
      expect(await server.settled(`${body.id}:3`)).toMatchObject({ status: "Delivered" });
    });

    test("when every number is malformed the request is 400 INVALID_RECIPIENT and nothing is stored", async () => {
      const { status, error, parameters } = await refused({ ...ordinary, to: ["abc", "0123456789", "12"] });
      expect([status, error.code, parameters]).toEqual([400, "INVALID_RECIPIENT", ["to[0]", "to[1]", "to[2]"]]);
    });

    test("a single malformed number is 400 INVALID_RECIPIENT", async () => {
      for (const to of ["abc", "123456", "1234567890123456", "09876543210", "++919876543210", "9198765x3210"]) {
        const { status, error, parameters } = await refused({ ...ordinary, to });
        expect([status, error.code, parameters]).toEqual([400, "INVALID_RECIPIENT", ["to"]]);
      }
    });

    test("an empty list of recipients is refused", async () => {
      for (const to of [[], "", ",", " , "]) expect((await refused({ ...ordinary, to })).parameters).toEqual(["to"]);
    });
  });

  describe("length", () => {
    test("1,600 characters and 12 segments are sent, more is 400 MESSAGE_TOO_LONG", async () => {
      expect((await server.send({ text: "a".repeat(1600) })).status).toBe(200);
      for (const text of ["a".repeat(1601), "अ".repeat(12 * 67 + 1)]) {
        const { status, error, parameters } = await refused({ ...ordinary, text });
        expect([status, error.code, parameters]).toEqual([400, "MESSAGE_TOO_LONG", ["text"]]);
      }
      expect((await server.send({ text: "अ".repeat(12 * 67) })).status).toBe(200);
    });

    test("half a character or a NUL in the text is refused", async () => {
      for (const text of ["\ud83d", "a\0b", "\udc4b hi"])
        expect((await refused({ ...ordinary, text })).parameters).toEqual(["text"]);
    });
  });

  describe("HTTP", () => {
    test("every other method is 405 with Allow: POST", async () => {
      for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
        const { status, headers, body } = await server.request<Envelope>(method, "/v1/sms");
        expect([status, headers.get("allow"), body.error?.code]).toEqual([405, "POST", "METHOD_NOT_ALLOWED"]);
      }
    });

    test("a body that is not application/json is 415", async () => {
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"]) {
        const { status, error } = await refused(JSON.stringify(ordinary), { "content-type": type });
        expect([status, error.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
      }
      const charset = await server.request("POST", "/v1/sms", ordinary, {
        "content-type": "application/json; charset=utf-8",
      });
      expect(charset.status).toBe(200);
    });

    test("a malformed, empty or too deeply nested body is 400 INVALID_JSON", async () => {
      for (const body of ["{", "", "{'a':1}", `${"[".repeat(21)}${"]".repeat(21)}`, '{"a":1,}']) {
        const { status, error } = await refused(body, { "content-type": "application/json" });
        expect([status, error.code]).toEqual([400, "INVALID_JSON"]);
      }
      const brackets = await server.send({ text: "[".repeat(50) });
      expect(brackets.status, "brackets inside a text are no nesting").toBe(200);
    });

    test("a body over 10 MiB is 413 BODY_TOO_LARGE, which names the setting", async () => {
      const { status, error } = await refused({ ...ordinary, padding: "x".repeat(10_485_760) });
      expect([status, error.code]).toEqual([413, "BODY_TOO_LARGE"]);
      expect(error.message).toBe("The body is larger than 10 MiB (HELIOGRAPH_BODY_MAX_MB): split the request.");
    });

    test("a path without /v1 does not exist", async () => {
      const { status, body } = await server.request<Envelope>("POST", "/sms", ordinary);
      expect([status, body.error?.code]).toEqual([404, "ROUTE_NOT_FOUND"]);
    });

    test("an error has a request id and a reference page that the server itself serves", async () => {
      const { error, headers } = await refused({});
      expect(Object.keys(error)).toEqual(["code", "type", "parameter", "message", "reference", "details", "requestId"]);
      expect(error.requestId).toBe(headers.get("request-id"));
      expect(error.reference).toBe(`${server.url}/docs/errors/INVALID_REQUEST`);
      expect((await fetch(error.reference)).status).toBe(200);
    });
  });

  describe("idempotency", () => {
    const keyed = (key: string) => ({ "idempotency-key": key });

    test("the same key and body get the first response and send nothing more", async () => {
      const first = await server.send({ to: "15550103001" }, keyed("order-1"));
      const second = await server.send({ to: "15550103001" }, keyed("order-1"));
      expect(second.status).toBe(200);
      expect(second.body).toEqual(first.body);
      expect([first.headers.get("idempotent-replayed"), second.headers.get("idempotent-replayed")]).toEqual([
        null,
        "true",
      ]);
      await server.settled(first.body.data[0]?.messageId ?? "");
      expect(await server.onPhone("15550103001")).toHaveLength(1);
    });

    test("the same key with another body is 422 IDEMPOTENCY_MISMATCH", async () => {
      await server.send({}, keyed("order-2"));
      const { status, error } = await refused({ ...ordinary, text: "Other" }, keyed("order-2"));
      expect([status, error.code]).toEqual([422, "IDEMPOTENCY_MISMATCH"]);
    });

    test("exactly one of many parallel requests with one key is accepted; the others are replays or 409", async () => {
      const answers = await Promise.all(
        Array.from({ length: 30 }, () => server.send({ to: "15550103003" }, keyed("order-3"))),
      );
      const accepted = answers.filter((answer) => answer.status === 200);
      expect(new Set(accepted.map((answer) => answer.body.id)).size).toBe(1);
      expect(accepted.filter((answer) => answer.headers.get("idempotent-replayed") === null)).toHaveLength(1);
      const others = answers.filter((answer) => answer.status !== 200);
      expect(others.filter((answer) => answer.body.error?.code !== "IDEMPOTENCY_IN_PROGRESS")).toEqual([]);
    });

    test("a refused request does not use up its key", async () => {
      await refused({ ...ordinary, to: "abc" }, keyed("order-4"));
      expect((await server.send({}, keyed("order-4"))).status).toBe(200);
    });

    test("a key has 1 to 255 characters", async () => {
      expect((await server.send({}, keyed("k".repeat(255)))).status).toBe(200);
      expect((await refused(ordinary, keyed("k".repeat(256)))).parameters).toEqual(["Idempotency-Key"]);
    });
  });

  describe("reading back", () => {
    test("a message is read by its id; an unknown or malformed one is 404 MESSAGE_NOT_FOUND", async () => {
      const { body } = await server.send({ campaignName: "autumn" });
      expect(await server.message(`${body.id}:1`)).toMatchObject({
        messageId: `${body.id}:1`,
        campaignName: "autumn",
        test: false,
      });
      for (const id of [`${body.id}:2`, `${body.id}`, "nonsense", `${body.id}:01`]) {
        const { status, body: failure } = await server.request<Envelope>("GET", `/v1/messages/${id}`);
        expect([status, failure.error?.code]).toEqual([404, "MESSAGE_NOT_FOUND"]);
      }
    });

    test("a listing is newest first and returns every message exactly once by cursor", async () => {
      const sent: string[] = [];
      for (let i = 0; i < 3; i += 1) {
        const { body } = await server.send({
          to: ["15550104001", "15550104002", "15550104003"],
          campaignName: "walked",
        });
        sent.push(...body.data.map((record) => record.messageId));
      }
      const seen: MessageBody[] = [];
      for (let cursor = ""; ;) {
        const { body } = await server.request<{ data: MessageBody[]; nextCursor: string | null }>(
          "GET",
          `/v1/messages?campaignName=walked&limit=4${cursor}`,
        );
        seen.push(...body.data);
        if (body.nextCursor === null) break;
        cursor = `&cursor=${body.nextCursor}`;
      }
      expect(seen.map((message) => message.messageId).toSorted()).toEqual(sent.toSorted());
      const times = seen.map((message) => message.createdAt);
      expect(times).toEqual(times.toSorted((a, b) => b - a));
    });

    test("a listing is filtered by status, type, recipient, campaign and time", async () => {
      const before = Date.now() - 1;
      const { body } = await server.send({ to: ["15550105001", "15550109001"], campaignName: "filtered" });
      await Promise.all(body.data.map((record) => server.settled(record.messageId)));
      const ids = async (query: string): Promise<string[]> => {
        const answer = await server.request<{ data: MessageBody[] }>(
          "GET",
          `/v1/messages?campaignName=filtered&${query}`,
        );
        return answer.body.data.map((message) => message.messageId);
      };
      expect(await ids("status=Delivered")).toEqual([`${body.id}:1`]);
      expect(await ids("status=failed")).toEqual([`${body.id}:2`]);
      expect(await ids("status=Pending")).toEqual([]);
      expect(await ids("recipient=%2B15550105001")).toEqual([`${body.id}:1`]);
      expect(await ids("channel=sms")).toHaveLength(2);
      expect(await ids("type=trans")).toHaveLength(2);
      expect(await ids("type=OTP")).toEqual([]);
      expect(await ids("templateName=autumn")).toEqual([]);
      expect(await ids("channel=rcs")).toEqual([]);
      expect(await ids(`from=${before}`)).toHaveLength(2);
      expect(await ids(`to=${before}`)).toEqual([]);
      expect(await ids(`from=${new Date(before).toISOString()}`)).toHaveLength(2);
    });

    test("a listing is filtered by last digits, message id, carrier message id and mode, in any combination", async () => {
      const { body } = await server.send({ to: ["15550105771", "15550105772"] });
      await Promise.all(body.data.map((record) => server.settled(record.messageId)));
      const ids = async (query: string): Promise<string[]> => {
        const answer = await server.request<{ data: MessageBody[] }>("GET", `/v1/messages?${query}`);
        return answer.body.data.map((message) => message.messageId);
      };
      const [first, second] = [`${body.id}:1`, `${body.id}:2`];
      expect(await ids("recipientEnding=5771")).toEqual([first]);
      expect(await ids("recipientEnding=010-5772&status=Delivered")).toEqual([second]);
      expect(await ids("recipientEnding=5771&status=Failed")).toEqual([]);
      expect(await ids(`messageId=${second}`)).toEqual([second]);
      expect(await ids(`messageId=${second}&recipientEnding=5771`)).toEqual([]);
      const shown = await server.request<{ timeline: { what: string }[] }>("GET", `/api/messages/${first}`);
      const carrierMessageId =
        /took it as (\S+)/.exec(shown.body.timeline.map(({ what }) => what).join("\n"))?.[1] ?? "";
      expect(await ids(`carrierMessageId=${carrierMessageId}`)).toEqual([first]);
      expect(await ids(`carrierMessageId=${carrierMessageId}&recipient=15550105772`)).toEqual([]);
      expect(await ids("carrierMessageId=unknown")).toEqual([]);
      expect(await ids("recipientEnding=5771&test=false")).toEqual([first]);
      expect(await ids("recipientEnding=5771&test=true")).toEqual([]);
    });

    test("a listing is filtered by a part of the text, in small or capital letters, and the count as well", async () => {
      const text = "Your 50%_off ends at noon";
      const { body } = await server.send({ text, campaignName: "by text" });
      await server.send({ text: "Your 50 percent end at noon", campaignName: "by text" });
      const found = async (part: string): Promise<unknown> => {
        const query = `campaignName=by+text&text=${encodeURIComponent(part)}`;
        const { body: list } = await server.request<{ data: MessageBody[] }>("GET", `/v1/messages?${query}`);
        const { body: count } = await server.request<{ count: number }>("GET", `/api/message-count?${query}`);
        return [count.count, ...list.data.map(({ messageId }) => messageId)];
      };
      expect(await found("50%_OFF")).toEqual([1, `${body.id}:1`]);
      expect(await found("5%")).toEqual([0]);
      expect(await found("AT NOON")).toEqual([2, expect.any(String), `${body.id}:1`]);
    });

    test("a bad filter is 400 and names the parameter", async () => {
      for (const [query, parameter] of [
        ["status=Sent", "status"],
        ["type=URGENT", "type"],
        ["limit=0", "limit"],
        ["limit=201", "limit"],
        ["cursor=xyz", "cursor"],
        ["from=yesterday", "from"],
        ["to=2026-02-31", "to"],
        ["recipient=abc", "recipient"],
        ["recipientEnding=123", "recipientEnding"],
        ["recipientEnding=12a4", "recipientEnding"],
        ["recipientEnding=1234567890123456", "recipientEnding"],
        ["messageId=15550100100", "messageId"],
        ["carrierMessageId=", "carrierMessageId"],
        ["text=+", "text"],
        [`text=${"x".repeat(201)}`, "text"],
        ["test=1", "test"],
      ]) {
        const { status, body } = await server.request<Envelope>("GET", `/v1/messages?${query}`);
        expect([status, body.error?.parameter]).toEqual([400, parameter]);
      }
    });
  });

  describe("account settings", () => {
    test("with a default region, national numbers become international", async () => {
      await server.request("PATCH", "/api/account", { defaultRegion: "IN" });
      const { body } = await server.send({ to: ["09876543210", "9876543211", "+15550100100"] });
      expect(body.data.map((record) => record.recipient)).toEqual(["919876543210", "919876543211", "15550100100"]);
      await server.request("PATCH", "/api/account", { defaultRegion: null });
    });

    test("with strict numbers, a number outside every numbering plan is refused", async () => {
      expect((await server.send({ to: "9112345" })).status, "lenient accepts it").toBe(200);
      await server.request("PATCH", "/api/account", { numbers: "strict" });
      expect((await refused({ ...ordinary, to: "9112345" })).error.code).toBe("INVALID_RECIPIENT");
      await server.request("PATCH", "/api/account", { numbers: "lenient" });
    });
  });
});
