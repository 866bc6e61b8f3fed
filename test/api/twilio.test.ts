import twilio from "twilio";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { openTwilioSink, type TwilioSink } from "../support/twilio-sink.ts";
import { createVerifyService } from "../support/verify-service.ts";

interface Login {
  id: string;
  username: string;
  password: string;
}

interface TwilioFailure {
  status: number;
  code: number;
  message: string;
  moreInfo: string;
}

/** Twilio's own client, which calls this server in place of Twilio's hosts. */
class RequestsHere extends twilio.RequestClient {
  readonly #url: string;

  constructor(url: string) {
    super();
    this.#url = url;
  }

  override request<T>(options: Parameters<typeof twilio.RequestClient.prototype.request<T>>[0]) {
    return super.request<T>({ ...options, uri: options.uri.replace(/^https:\/\/[^/]+/, this.#url) });
  }
}

const NO_CALL = { url: "", signature: "", fields: {} as Record<string, string> };

const failureOf = (refused: Promise<unknown>): Promise<TwilioFailure> =>
  refused.then(
    () => {
      throw new Error("was not refused");
    },
    (error: TwilioFailure) => error,
  );

describe.each(ENGINES)("the Twilio API on %s, used by the npm package twilio", (engine) => {
  let server: TestServer;
  let sink: TwilioSink;
  let login: Login;
  let client: twilio.Twilio;
  let allChannels: string | undefined;

  const createLogin = async (more: object = {}): Promise<Login> =>
    (await server.request<Login>("POST", "/api/credentials", { kind: "twilio", name: "Shop", ...more })).body;
  const clientOf = ({ username, password }: Login, accountSid = username) =>
    twilio(username, password, { accountSid, httpClient: new RequestsHere(server.url) });

  beforeAll(async () => {
    server = await startTestServer(engine);
    sink = await openTwilioSink();
    login = await createLogin();
    client = clientOf(login);
  });
  afterAll(async () => {
    await sink.close();
    await server.close();
  });

  const ENDED = new Set<string>(["delivered", "read", "undelivered", "failed"]);
  const settled = (sid: string) =>
    eventually(
      () => client.messages(sid).fetch(),
      ({ status }) => ENDED.has(status),
    );

  describe("Messages", () => {
    test("a message is sent through the pipeline of /v1, and its SID is that of our id", async () => {
      const sent = await client.messages.create({ to: "+15550100100", from: "HELIOG", body: "Your parcel — 4711" });
      expect(sent).toMatchObject({
        accountSid: login.username,
        apiVersion: "2010-04-01",
        body: "Your parcel — 4711",
        direction: "outbound-api",
        errorCode: null,
        from: "HELIOG",
        to: "+15550100100",
        numSegments: "1",
        status: "queued",
      });
      expect(sent.sid).toMatch(/^SM[0-9a-f]{32}$/);
      const delivered = await settled(sent.sid);
      expect(delivered).toMatchObject({ status: "delivered", body: "Your parcel — 4711", sid: sent.sid });
      expect(delivered.dateCreated.getTime()).toBeGreaterThan(Date.now() - 3_600_000);
      const uuid = sent.sid.slice(2).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
      expect(await server.message(`${uuid}:1`)).toMatchObject({ status: "Delivered", recipient: "15550100100" });
    });

    test("an API key SID and its secret open the same account", async () => {
      const key = await createLogin({ form: "key" });
      expect(key.username).toMatch(/^SK/);
      const byKey = clientOf(key, login.username);
      const { sid } = await byKey.messages.create({ to: "+15550100100", from: "+15550100199", body: "By key" });
      expect(await client.messages(sid).fetch()).toMatchObject({ from: "+15550100199", body: "By key" });
    });

    test("the same idempotency token sends once and gets the first answer", async () => {
      const post = () =>
        fetch(`${server.url}/2010-04-01/Accounts/${login.username}/Messages.json`, {
          method: "POST",
          headers: {
            authorization: `Basic ${btoa(`${login.username}:${login.password}`)}`,
            "content-type": "application/x-www-form-urlencoded",
            "i-twilio-idempotency-token": "order-4711",
          },
          body: new URLSearchParams({ To: "+15550100111", From: "HELIOG", Body: "Once" }),
        });
      const [first, second] = [await post(), await post()];
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(await second.json()).toEqual(await first.json());
      expect(second.headers.get("idempotent-replayed")).toBe("true");
    });

    test("messages are listed newest first, with filters and in pages", async () => {
      const to = "+15550100122";
      const sids: string[] = [];
      for (const body of ["one", "two", "three", "four", "five"])
        sids.unshift((await client.messages.create({ to, from: "HELIOG", body })).sid);
      const other = await client.messages.create({ to, from: "OTHER", body: "six" });
      const sidsOf = (messages: readonly { sid: string }[]) => messages.map(({ sid }) => sid);
      expect(sidsOf(await client.messages.list({ to, pageSize: 2 }))).toEqual([other.sid, ...sids]);
      expect(sidsOf(await client.messages.list({ to, limit: 3 }))).toEqual([other.sid, ...sids].slice(0, 3));
      expect(sidsOf(await client.messages.list({ to, from: "HELIOG", pageSize: 2 }))).toEqual(sids);
      const today = new Date();
      expect(sidsOf(await client.messages.list({ to, dateSent: today }))).toHaveLength(6);
      expect(await client.messages.list({ to, dateSentBefore: new Date("2020-01-01") })).toEqual([]);
      expect(await client.messages.list({ to, dateSentAfter: new Date("2020-01-01") })).toHaveLength(6);
      const page = await client.messages.page({ to, pageSize: 4 });
      expect(sidsOf(page.instances)).toHaveLength(4);
      expect(sidsOf((await page.nextPage())?.instances ?? [])).toEqual(sids.slice(-2));
    });

    test("a scheduled message is cancelled; one that has been sent is not", async () => {
      const sendAt = new Date(Date.now() + 3_600_000);
      const { sid, status } = await client.messages.create({
        to: "+15550100133",
        from: "HELIOG",
        body: "Later",
        scheduleType: "fixed",
        sendAt,
      });
      expect(status).toBe("scheduled");
      expect(await client.messages(sid).update({ status: "canceled" })).toMatchObject({ status: "canceled" });
      const { sid: sent } = await client.messages.create({ to: "+15550100133", from: "HELIOG", body: "Now" });
      await settled(sent);
      expect(await failureOf(client.messages(sent).update({ status: "canceled" }))).toMatchObject({
        status: 409,
        code: 30409,
      });
    });

    test("one request cancels a scheduled message and erases its text", async () => {
      const sendAt = new Date(Date.now() + 3_600_000);
      const later = { to: "+15550100145", from: "HELIOG", body: "Later", scheduleType: "fixed", sendAt } as const;
      const { sid } = await client.messages.create(later);
      const changed = await client.messages(sid).update({ status: "canceled", body: "" });
      expect(changed).toMatchObject({ status: "canceled", body: "" });
    });

    test("the text of a message that has ended is erased by an empty Body and by DELETE", async () => {
      for (const erase of [
        (sid: string) => client.messages(sid).update({ body: "" }),
        (sid: string) => client.messages(sid).remove(),
      ]) {
        const { sid } = await client.messages.create({ to: "+15550100144", from: "HELIOG", body: "Secret" });
        await settled(sid);
        await erase(sid);
        expect(await client.messages(sid).fetch()).toMatchObject({ body: "", status: "delivered" });
      }
      const sendAt = new Date(Date.now() + 3_600_000);
      const later = { to: "+15550100144", from: "HELIOG", body: "Later", scheduleType: "fixed", sendAt } as const;
      const { sid } = await client.messages.create(later);
      expect(await failureOf(client.messages(sid).remove())).toMatchObject({ status: 409, code: 20009 });
    });

    test("received messages are listed with sent ones, by direction, and filters find them without gaps", async () => {
      const [phone, number] = ["+15550100197", "+15550100198"];
      const expected: [direction: string, body: string][] = [];
      for (const round of [1, 2, 3, 4]) {
        await client.messages.create({ to: phone, from: number, body: `Question ${round}` });
        await client.messages.create({ to: phone, from: "OTHER", body: `Other ${round}` });
        await server.request("POST", `/api/simulator/phones/${phone.slice(1)}/reply`, {
          channel: "sms",
          to: number.slice(1),
          text: `Answer ${round}`,
        });
        expected.unshift(["inbound", `Answer ${round}`], ["outbound-api", `Question ${round}`]);
      }
      const list = async (filter: Parameters<typeof client.messages.list>[0]) =>
        (await client.messages.list(filter)).map(({ direction, body }) => [direction, body]);
      expect(await list({ from: phone, pageSize: 3 })).toEqual(expected.filter(([of]) => of === "inbound"));
      expect(await list({ to: number, pageSize: 3 })).toEqual(expected.filter(([of]) => of === "inbound"));
      expect(await list({ from: number, pageSize: 3 })).toEqual(expected.filter(([of]) => of !== "inbound"));
      const all = await list({ pageSize: 3, limit: 12 });
      expect(all.filter(([, body]) => !body?.startsWith("Other"))).toEqual(expected);
      expect(await list({ to: phone, from: "whatsapp:+15550100199" })).toEqual([]);
      const forTests = clientOf(await createLogin({ mode: "test" }));
      expect(await forTests.messages.list({ from: phone })).toEqual([]);
    });

    test("pages are full, count their messages, and lead back", async () => {
      const from = "PAGES";
      for (const body of ["1", "2", "3", "4", "5", "6", "7"]) {
        await client.messages.create({ to: "+15550100147", from, body });
        await client.messages.create({ to: "+15550100147", from: "HELIOG", body: "between" });
      }
      const first = await client.messages.page({ from, pageSize: 3 });
      const second = await first.nextPage();
      const third = await second?.nextPage();
      const bodiesOf = (page: typeof second) => page?.instances.map(({ body }) => body);
      expect([first, second, third].map(bodiesOf)).toEqual([["7", "6", "5"], ["4", "3", "2"], ["1"]]);
      expect(await third?.nextPage()).toBeUndefined();
      const back = await third?.previousPage();
      expect(bodiesOf(back)).toEqual(["4", "3", "2"]);
      const start = await back?.previousPage();
      expect(bodiesOf(start)).toEqual(["7", "6", "5"]);
      expect(await start?.previousPage()).toBeUndefined();
      const page = async (query: string) => {
        const authorization = `Basic ${btoa(`${login.username}:${login.password}`)}`;
        const uri = `/2010-04-01/Accounts/${login.username}/Messages.json?From=${from}&PageSize=3${query}`;
        const { status, ...response } = await fetch(server.url + uri, { headers: { authorization } }).then(
          async (each) => ({ status: each.status, body: (await each.json()) as { start: number; end: number } }),
        );
        return { status, start: response.body.start, end: response.body.end };
      };
      expect(await page("")).toEqual({ status: 200, start: 0, end: 2 });
      for (const token of ["x", "-.-", "~", "-.x", `-.${"0".repeat(36)}`])
        expect((await page(`&PageToken=${token}`)).status).toBe(400);
    });

    test("messages of all channels are scheduled, and cancelled before their time", async () => {
      const later = { scheduleType: "fixed", sendAt: new Date(Date.now() + 3_600_000) } as const;
      const rcs = await client.messages.create({
        ...later,
        to: "rcs:+15550100148",
        from: "rcs:heliograph",
        contentSid: "order-shipped",
        contentVariables: JSON.stringify({ 1: "Ada", 2: "4711" }),
      });
      const chat = await client.messages.create({
        ...later,
        to: "whatsapp:+15550100148",
        from: "whatsapp:+15550100199",
        contentSid: "order_shipped",
        contentVariables: JSON.stringify({ 1: "Ada", 2: "4711" }),
      });
      for (const { sid, status } of [rcs, chat]) {
        expect(status).toBe("scheduled");
        expect(await client.messages(sid).update({ status: "canceled" })).toMatchObject({ status: "canceled" });
      }
      expect(
        await failureOf(
          client.messages.create({
            ...later,
            sendAt: new Date("2020-01-01"),
            to: "+15550100148",
            from: "A",
            body: "x",
          }),
        ),
      ).toMatchObject({ status: 400, code: 35118 });
    });

    test("ValidityPeriod is the time after which a message expires", async () => {
      const { sid } = await client.messages.create({
        to: "+15550100149",
        from: "HELIOG",
        body: "Soon",
        validityPeriod: 90,
      });
      const requestId = sid.slice(2).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
      const stored = await server.app.store.findMessage({ accountId: 1, requestId, n: 1 });
      expect((stored?.expiresAt ?? 0) - (stored?.createdAt ?? 0)).toBe(90_000);
    });

    test("templates go by ContentSid on the chat app and RCS", async () => {
      const chat = await client.messages.create({
        to: "whatsapp:+15550100155",
        from: "whatsapp:+15550100199",
        contentSid: "order_shipped",
        contentVariables: JSON.stringify({ 1: "Ada", 2: "4711" }),
      });
      expect(chat).toMatchObject({ to: "whatsapp:+15550100155", from: "whatsapp:+15550100199" });
      const { body: list } = await server.request<{ data: { id: string; name: string }[] }>(
        "GET",
        "/api/templates?channel=rcs",
      );
      const shipped = list.data.find(({ name }) => name === "order-shipped");
      const rcs = await client.messages.create({
        to: "rcs:+15550100155",
        from: "rcs:heliograph",
        contentSid: `HX${shipped?.id.replaceAll("-", "")}`,
        contentVariables: JSON.stringify({ 1: "Ada", 2: "4711" }),
      });
      expect(rcs).toMatchObject({ to: "rcs:+15550100155", from: "rcs:heliograph" });
      expect((await settled(rcs.sid)).status).toMatch(/delivered|read/);
    });

    test("bad input gets Twilio's codes and sends nothing", async () => {
      const good = { to: "+15550100100", from: "HELIOG", body: "Hello" };
      const codeOf = async (more: object): Promise<number> =>
        (await failureOf(client.messages.create({ ...good, ...more }))).code;
      expect(await codeOf({ to: "12" })).toBe(21211);
      expect(await codeOf({ to: "" })).toBe(21604);
      expect(await codeOf({ from: undefined })).toBe(21603);
      expect(await codeOf({ from: "whatsapp:+15550100199" })).toBe(21910);
      expect(await codeOf({ body: undefined })).toBe(21619);
      expect(await codeOf({ body: "x".repeat(1601) })).toBe(21617);
      expect(await codeOf({ statusCallback: "ftp://example.com" })).toBe(21609);
      expect(await codeOf({ mediaUrl: ["https://example.com/cat.jpg"] })).toBe(21620);
      expect(await codeOf({ validityPeriod: 0 })).toBe(20422);
      expect(await codeOf({ contentSid: `HX${"0".repeat(32)}` })).toBe(21655);
      expect(await codeOf({ contentSid: "welcome", contentVariables: '{"2":"x"}' })).toBe(21656);
      expect(await failureOf(client.messages.create({ ...good, to: "12" }))).toMatchObject({
        status: 400,
        moreInfo: "https://www.twilio.com/docs/errors/21211",
        message: expect.stringContaining("internationally") as string,
      });
    });

    test("unknown SIDs, paths and accounts are 404, a wrong token is 401", async () => {
      expect(await failureOf(client.messages(`SM${"0".repeat(32)}`).fetch())).toMatchObject({
        status: 404,
        code: 20404,
      });
      expect(await failureOf(client.calls.list())).toMatchObject({ status: 404, code: 20404 });
      const wrong = clientOf({ ...login, password: "0".repeat(32) });
      expect(await failureOf(wrong.messages.list())).toMatchObject({ status: 401, code: 20003 });
      const other = clientOf(login, `AC${"0".repeat(32)}`);
      expect(await failureOf(other.messages.list())).toMatchObject({ status: 404, code: 20404 });
      expect(await client.api.v2010.accounts(login.username).fetch()).toMatchObject({ status: "active" });
    });

    test("a revoked credential is refused", async () => {
      const { id, ...gone } = await createLogin();
      await server.request("DELETE", `/api/credentials/${id}`);
      expect(await failureOf(clientOf({ id, ...gone }).messages.list())).toMatchObject({ status: 401, code: 20003 });
    });

    test("live and test credentials have accounts of their own and see only their own messages", async () => {
      const forTests = await createLogin({ mode: "test" });
      expect(forTests.username).not.toBe(login.username);
      const { sid } = await clientOf(forTests).messages.create({ to: "+15550100166", from: "HELIOG", body: "Test" });
      expect(await clientOf(forTests).messages(sid).fetch()).toMatchObject({ body: "Test" });
      expect(await failureOf(client.messages(sid).fetch())).toMatchObject({ status: 404 });
      expect(await client.messages.list({ to: "+15550100166" })).toEqual([]);
      const live = await client.messages.create({ to: "+15550100166", from: "HELIOG", body: "Live" });
      expect(await failureOf(clientOf(forTests).messages(live.sid).fetch())).toMatchObject({ status: 404 });
      expect(await failureOf(clientOf(forTests).messages(live.sid).remove())).toMatchObject({ status: 404 });
    });

    test("a credential without the scope of the channel is refused", async () => {
      const only = clientOf(await createLogin({ scopes: ["rcs"] }));
      expect(await failureOf(only.messages.create({ to: "+15550100100", from: "HELIOG", body: "x" }))).toMatchObject({
        status: 403,
        code: 20006,
      });
      expect(await failureOf(only.messages.list())).toMatchObject({ status: 403, code: 20006 });
    });
  });

  describe("status callbacks", () => {
    const callbacksOf = (sid: string) => sink.calls.filter(({ fields }) => fields["MessageSid"] === sid);

    test("report queued, sent and delivered to the message's own URL, in order, with a signature that Twilio's validator accepts", async () => {
      const statusCallback = `${sink.url}/status?order=4711`;
      const { sid } = await client.messages.create({ to: "+15550100170", from: "HELIOG", body: "Hi", statusCallback });
      const calls = await eventually(
        () => Promise.resolve(callbacksOf(sid)),
        ({ length }) => length === 3,
      );
      expect(calls.map(({ fields }) => fields)).toEqual(
        ["queued", "sent", "delivered"].map((status) => ({
          AccountSid: login.username,
          ApiVersion: "2010-04-01",
          From: "HELIOG",
          MessageSid: sid,
          MessageStatus: status,
          SmsSid: sid,
          SmsStatus: status,
          To: "+15550100170",
        })),
      );
      for (const { url, signature, fields } of calls) {
        expect(url).toBe(statusCallback);
        expect(twilio.validateRequest(login.password, signature, url, fields)).toBe(true);
        expect(twilio.validateRequest(login.password, signature, url, { ...fields, MessageStatus: "read" })).toBe(
          false,
        );
      }
    });

    test("report a failure with Twilio's ErrorCode, and the messages of an API key are signed with the account's newest token", async () => {
      const newest = await createLogin();
      const key = await createLogin({ form: "key" });
      const statusCallback = `${sink.url}/failed`;
      const { sid } = await clientOf(key, login.username).messages.create({
        to: "+15550109002",
        from: "HELIOG",
        body: "Hi",
        statusCallback,
      });
      const [last] = await eventually(
        () =>
          Promise.resolve(
            callbacksOf(sid).filter(({ fields }) => !["queued", "sent"].includes(fields["MessageStatus"] ?? "")),
          ),
        ({ length }) => length === 1,
      );
      expect(last?.fields).toMatchObject({
        MessageStatus: expect.stringMatching(/^(undelivered|failed)$/) as string,
        ErrorCode: "30008",
      });
      const { signature = "", fields = {} } = last ?? {};
      expect(twilio.validateRequest(newest.password, signature, statusCallback, fields)).toBe(true);
    });

    test("of a message whose AuthToken was revoked are signed with the newest one of the account and mode", async () => {
      const [before, ofTests] = [await createLogin(), await createLogin({ mode: "test" })];
      const statusCallback = `${sink.url}/rotated`;
      const { sid } = await clientOf(before).messages.create({
        to: "+15550100146",
        from: "HELIOG",
        body: "Later",
        scheduleType: "fixed",
        sendAt: new Date(Date.now() + 3_600_000),
        statusCallback,
      });
      const newest = await createLogin();
      await server.request("DELETE", `/api/credentials/${before.id}`);
      await clientOf(newest).messages(sid).update({ status: "canceled" });
      const [last] = await eventually(
        () => Promise.resolve(callbacksOf(sid)),
        ({ length }) => length === 1,
      );
      const { signature = "", fields = {} } = last ?? {};
      const isSignedWith = ({ password }: Login) => twilio.validateRequest(password, signature, statusCallback, fields);
      expect([newest, before, ofTests].map(isSignedWith)).toEqual([true, false, false]);
    });

    test("are repeated until the receiver answers 2xx", async () => {
      sink.failNext = 1;
      const statusCallback = `${sink.url}/again`;
      const { sid } = await client.messages.create({ to: "+15550100171", from: "HELIOG", body: "Hi", statusCallback });
      const statuses = await eventually(
        () => Promise.resolve(callbacksOf(sid).map(({ fields }) => fields["MessageStatus"])),
        ({ length }) => length === 4,
      );
      expect(statuses).toEqual(["queued", "queued", "sent", "delivered"]);
    });
  });

  describe("inbound messages", () => {
    const answer = (from: string, to: string, text: string) =>
      server.request("POST", `/api/simulator/phones/${from}/reply`, { channel: "sms", to, text });

    test("go to the credential's inboundUrl, signed, and the messages of its TwiML are sent back once", async () => {
      const receiving = await createLogin({
        settings: { inboundUrl: `${sink.url}/inbound`, inboundNumbers: ["+15550100190"] },
      });
      sink.twiml =
        '<?xml version="1.0"?><Response><Message>Thanks &amp; bye</Message><Message to="+15550100192"><Body>Copy</Body></Message></Response>';
      expect((await answer("15550100191", "15550100190", "Hello?")).status).toBeLessThan(300);
      await answer("15550100191", "OTHER", "Not for us");
      const { url, signature, fields } = await eventually(
        () => sink.calls.find((call) => call.fields["From"] === "+15550100191") ?? NO_CALL,
        (call) => call.url !== "",
      );
      expect(fields).toMatchObject({
        AccountSid: receiving.username,
        Body: "Hello?",
        From: "+15550100191",
        To: "+15550100190",
        NumMedia: "0",
        SmsStatus: "received",
      });
      expect(url).toBe(`${sink.url}/inbound`);
      expect(twilio.validateRequest(receiving.password, signature, url, fields)).toBe(true);
      const [back] = await eventually(
        () => server.onPhone("15550100191"),
        ({ length }) => length > 0,
      );
      expect(back).toMatchObject({ text: "Thanks & bye" });
      const [copy] = await eventually(
        () => server.onPhone("15550100192"),
        ({ length }) => length > 0,
      );
      expect(copy).toMatchObject({ text: "Copy" });
      expect(sink.calls.filter((call) => call.fields["Body"] === "Not for us")).toEqual([]);
      sink.twiml = "<Response/>";
      expect(await client.messages(fields["MessageSid"] ?? "").fetch()).toMatchObject({
        direction: "inbound",
        status: "received",
        body: "Hello?",
      });
      await server.request("DELETE", `/api/credentials/${receiving.id}`);
    });

    test("are answered by every credential with the scope to send, each with its own replies", async () => {
      const inbound = (name: string) => ({
        settings: { inboundUrl: `${sink.url}/${name}`, inboundNumbers: ["+15550100194"] },
      });
      const logins = await Promise.all([
        createLogin(inbound("one")),
        createLogin(inbound("two")),
        createLogin({ ...inbound("three"), scopes: ["read"] }),
      ]);
      sink.twiml = "<Response><Message>Thanks</Message></Response>";
      await answer("15550100193", "15550100194", "Hello?");
      const calls = () => sink.calls.filter(({ fields }) => fields["From"] === "+15550100193");
      await eventually(calls, ({ length }) => length === 3);
      const delivered = async (id: string) =>
        (await server.request<{ data: unknown[] }>("GET", `/api/callbacks?endpointId=${id}&state=delivered`)).body.data;
      for (const { id } of logins)
        await eventually(
          () => delivered(id),
          ({ length }) => length === 1,
        );
      expect(
        await eventually(
          () => server.onPhone("15550100193"),
          ({ length }) => length >= 2,
        ),
      ).toHaveLength(2);
      sink.twiml = "<Response/>";
      for (const { id } of logins) await server.request("DELETE", `/api/credentials/${id}`);
    });

    test("settings are checked, changed one by one, and removed by null", async () => {
      const bad = await server.request<{ error: { details: { parameter: string }[] } }>("POST", "/api/credentials", {
        kind: "twilio",
        name: "Shop",
        settings: { inboundUrl: "nowhere", inbound: "x", type: "SLOW" },
      });
      expect(bad.status).toBe(400);
      expect(bad.body.error.details.map(({ parameter }) => parameter).toSorted()).toEqual([
        "settings.inbound",
        "settings.inboundUrl",
        "settings.type",
      ]);
      const { id } = await createLogin({ settings: { sender: "HELIOG", type: "PROMO" } });
      const patch = (settings: object) =>
        server.request<{ settings: object }>("PATCH", `/api/credentials/${id}`, { settings });
      expect((await patch({ inboundMethod: "GET", type: null })).body.settings).toEqual({
        sender: "HELIOG",
        inboundMethod: "GET",
      });
      expect((await patch({ inboundMethod: "PUT" })).status).toBe(400);
    });

    test("the sender setting stands for a Messaging Service, and statusCallback for messages without one", async () => {
      const set = await createLogin({ settings: { sender: "SERVICE", statusCallback: `${sink.url}/all` } });
      const { sid, from, status } = await clientOf(set).messages.create({
        to: "+15550100195",
        messagingServiceSid: `MG${"0".repeat(32)}`,
        body: "By service",
      });
      expect({ from, status }).toEqual({ from: "SERVICE", status: "accepted" });
      await eventually(
        () => sink.calls.filter(({ url, fields }) => url.endsWith("/all") && fields["MessageSid"] === sid),
        ({ length }) => length === 3,
      );
    });
  });

  describe("Verify", () => {
    test("a code is sent, checked once, and fetched", async () => {
      const service = await serviceOf();
      const to = "+15550100180";
      const sent = await service.verifications.create({ to, channel: "sms" });
      expect(sent).toMatchObject({ to, channel: "sms", status: "pending", valid: false, accountSid: login.username });
      expect(sent.sid).toMatch(/^VE[0-9a-f]{32}$/);
      expect(await service.verificationChecks.create({ to, code: "000000" })).toMatchObject({
        status: "pending",
        valid: false,
      });
      const code = await codeFor(to);
      expect(await service.verificationChecks.create({ to, code })).toMatchObject({
        sid: sent.sid,
        status: "approved",
        valid: true,
        channel: "sms",
      });
      expect(await failureOf(service.verificationChecks.create({ to, code }))).toMatchObject({
        status: 404,
        code: 20404,
      });
      expect(await service.verifications(sent.sid).fetch()).toMatchObject({ status: "approved", valid: true });
      expect(await service.verifications(to).fetch()).toMatchObject({ sid: sent.sid });
    });

    test.each([
      ["whatsapp", "chatapp", "+15550100186"],
      ["rcs", "rcs", "+15550100187"],
    ])("a code goes by %s alone where the request names it, and is checked", async (channel, ours, to) => {
      allChannels ??= await createVerifyService(server);
      const service = client.verify.v2.services(allChannels);
      const sent = await service.verifications.create({ to, channel });
      expect(sent).toMatchObject({ channel, status: "pending" });
      expect(sent.sendCodeAttempts).toMatchObject([{ channel }]);
      const [message] = await eventually(
        () => server.onPhone(to.slice(1)),
        ({ length }) => length === 1,
      );
      expect(message).toMatchObject({ channel: ours });
      const code = /\d{6}/.exec(message?.text ?? "")?.[0] ?? "";
      expect(await service.verificationChecks.create({ to, code })).toMatchObject({ channel, status: "approved" });
      expect(await service.verifications(sent.sid).fetch()).toMatchObject({ channel, valid: true });
    });

    test("a code of the customer's own is sent and checked by SID", async () => {
      const service = await serviceOf();
      const { sid } = await service.verifications.create({ to: "+15550100181", channel: "sms", customCode: "13579" });
      expect(await codeFor("+15550100181")).toBe("13579");
      expect(await service.verificationChecks.create({ verificationSid: sid, code: "13579" })).toMatchObject({
        valid: true,
      });
    });

    test("a verification is cancelled or approved", async () => {
      const service = await serviceOf();
      const first = await service.verifications.create({ to: "+15550100182", channel: "sms" });
      const code = await codeFor("+15550100182");
      expect(await service.verifications(first.sid).update({ status: "canceled" })).toMatchObject({
        status: "canceled",
      });
      expect(await failureOf(service.verificationChecks.create({ to: "+15550100182", code }))).toMatchObject({
        status: 404,
      });
      const second = await service.verifications.create({ to: "+15550100183", channel: "sms" });
      expect(await service.verifications(second.sid).update({ status: "approved" })).toMatchObject({
        status: "approved",
        valid: true,
      });
      expect(await failureOf(service.verifications(second.sid).update({ status: "canceled" }))).toMatchObject({
        status: 404,
      });
    });

    test("bad input and too many attempts get Twilio's codes", async () => {
      const service = await serviceOf();
      const start = (to: string, channel: string) => failureOf(service.verifications.create({ to, channel }));
      expect(await start("12", "sms")).toMatchObject({ status: 400, code: 60200 });
      expect(await start("+15550100184", "call")).toMatchObject({ status: 400, code: 60200 });
      expect(await start("+15550100184", "whatsapp")).toMatchObject({ status: 400, code: 60223 });
      const unknown = client.verify.v2.services(`VA${"0".repeat(32)}`);
      expect(await failureOf(unknown.verifications.create({ to: "+15550100184", channel: "sms" }))).toMatchObject({
        status: 404,
        code: 20404,
      });
      const to = "+15550100185";
      await service.verifications.create({ to, channel: "sms" });
      for (let tries = 0; tries < 5; tries += 1)
        expect((await service.verificationChecks.create({ to, code: "000000" })).valid).toBe(false);
      expect(await failureOf(service.verificationChecks.create({ to, code: "000000" }))).toMatchObject({
        status: 429,
        code: 60202,
      });
    });

    async function serviceOf() {
      const { body } = await server.request<{ data: { name: string; twilioSid: string }[] }>(
        "GET",
        "/api/verify-configs",
      );
      const { twilioSid = "" } = body.data.find(({ name }) => name === "default") ?? {};
      expect(twilioSid).toMatch(/^VA[0-9a-f]{32}$/);
      return client.verify.v2.services(twilioSid);
    }

    async function codeFor(to: string): Promise<string> {
      const { body } = await eventually(
        () => server.request<{ otp: string }>("GET", `/api/simulator/otp/latest?to=${to.slice(1)}`),
        ({ status }) => status === 200,
      );
      return body.otp;
    }
  });
});
