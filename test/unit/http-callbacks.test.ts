import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Carrier, Inbound } from "../../src/carriers/carrier.ts";
import { createHttpCarrier } from "../../src/carriers/http/carrier.ts";
import type { PlatformAnswer, PlatformWebhook } from "../../src/carriers/http-platform.ts";
import { isSameButForTime } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import { HTTP_DEFAULTS, HTTP_PRESETS, type HttpSecrets, type HttpSettings } from "../../src/model/http-connection.ts";
import { PRESETS } from "../../src/model/http-presets.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { openHttpClient } from "../support/http-client.ts";
import { repetitions } from "../support/repetitions.ts";

const KEY = "0123456789abcdefghij";
const REQUEST_ID = "01890a5d-ac96-774b-bcce-b302099a8057";
const MESSAGE_ID = `${REQUEST_ID}:3`;
const REF = { accountId: 7, requestId: REQUEST_ID, n: 3 };

interface Trial {
  carrier: Carrier;
  clock: MovedClock;
  receipts: Receipt[];
  inbound: Inbound[];
  logged: string[];
  call(changes: Partial<PlatformWebhook> | string): Promise<PlatformAnswer>;
}

async function open(
  preset: keyof typeof PRESETS,
  changes: Partial<HttpSettings> = {},
  secrets: HttpSecrets = {},
  isStoreAway = (): boolean => false,
): Promise<Trial> {
  const receipts: Receipt[] = [];
  const inbound: Inbound[] = [];
  const logged: string[] = [];
  const clock = new MovedClock();
  const keep = async <T>(list: T[], value: T): Promise<void> => {
    if (isStoreAway()) throw new Error(`no room for ${JSON.stringify(value)}`);
    list.push(value);
  };
  const carrier = createHttpCarrier({
    name: "7/line",
    accountId: 7,
    settings: {
      ...HTTP_DEFAULTS,
      ...PRESETS[preset],
      baseUrl: "http://127.0.0.1:1",
      values: {
        username: "u",
        accountSid: "a",
        servicePlanId: "p",
        apiKey: "k",
        deviceId: "d",
        userId: "i",
        sid: "s",
        callbackProfileId: "c",
      },
      ...changes,
    },
    secrets: {
      password: "p",
      authToken: "t",
      apiToken: "t",
      apiSecret: "s",
      apiKey: "k",
      authKey: "a",
      callback: KEY,
      ...secrets,
    },
    messagesPerSecond: () => null,
    egress: openHttpClient(),
    callbackUrl: () => "https://us.example/callback",
    onInbound: (message) => keep(inbound, message),
    clock,
    log: createLog("debug", { write: (line: string) => void logged.push(line) }),
    metrics: { carrierErrors: () => ({ inc: () => {} }) },
  });
  await carrier.start((receipt) => keep(receipts, receipt));
  const call: Trial["call"] = (given) =>
    carrier.handleWebhook?.({
      method: "GET",
      query: typeof given === "string" ? given : "",
      headers: {},
      body: Buffer.alloc(0),
      ...(typeof given === "string" ? {} : given),
    }) ?? Promise.reject(new Error("it takes no calls"));
  return { carrier, clock, receipts, inbound, logged, call };
}

const form = (fields: Record<string, string>, query = `key=${KEY}`): Partial<PlatformWebhook> => ({
  method: "POST",
  query,
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: Buffer.from(new URLSearchParams(fields).toString()),
});

const json = (body: unknown, query = `key=${KEY}`): Partial<PlatformWebhook> => ({
  method: "POST",
  query,
  headers: { "content-type": "application/json; charset=utf-8" },
  body: Buffer.from(JSON.stringify(body)),
});

describe("a receipt webhook", () => {
  test("Kannel sends it in the query with our own id", async () => {
    const { call, receipts, clock } = await open("kannel");
    const at = clock.now() - 5000;
    const reply = encodeURIComponent("id:1 sub:001 dlvrd:000 stat:UNDELIV err:029 text:my words");
    const answer = await call(`key=${KEY}&ref=${MESSAGE_ID}&type=2&time=${at / 1000}&reply=${reply}`);
    expect(answer).toEqual({ status: 200, text: "" });
    expect(receipts).toEqual([
      {
        carrier: "7/line",
        carrierMessageId: MESSAGE_ID,
        ref: REF,
        channel: "sms",
        state: "undelivered",
        errorCode: "029",
        description: null,
        at,
      },
    ]);
  });

  test.each([
    ["1", "delivered"],
    ["2", "undelivered"],
    ["4", "enroute"],
    ["8", "enroute"],
    ["16", "rejected"],
    ["99", "unknown"],
  ])("Kannel type %s is %s", async (type, state) => {
    const { call, receipts } = await open("kannel");
    await call(`key=${KEY}&ref=${MESSAGE_ID}&type=${type}`);
    expect(receipts).toMatchObject([{ state }]);
  });

  // From Infobip's page "Receive outbound SMS message report".
  test.each([
    ["DELIVERED", "NO_ERROR", { state: "delivered", errorCode: null }],
    ["UNDELIVERABLE", "EC_ABSENT_SUBSCRIBER", { state: "undelivered", errorCode: "ABSENT_SUBSCRIBER" }],
    ["EXPIRED", "EC_MESSAGE_EXPIRED", { state: "expired" }],
    ["REJECTED", "EC_ILLEGAL_NUMBER", { state: "rejected" }],
    ["PENDING", "NO_ERROR", { state: "enroute" }],
  ])("Infobip reports the group %s with the error %s", async (groupName, name, expected) => {
    const { call, receipts, clock } = await open("infobip");
    const doneAt = new Date(clock.now() - 4000).toISOString().replace("Z", "+0000");
    const status = { groupId: 3, groupName, id: 5, name: groupName, description: "Said so" };
    const error = { groupId: 0, groupName: "OK", id: 0, name, description: "", permanent: false };
    const result = { messageId: "M1", to: "15550100100", doneAt, smsCount: 1, status, error, callbackData: MESSAGE_ID };
    await call(json({ results: [result, { ...result, messageId: "M2" }] }));
    expect(receipts).toMatchObject([
      { carrierMessageId: "M1", ref: REF, recipient: "15550100100", at: clock.now() - 4000, ...expected },
      { carrierMessageId: "M2" },
    ]);
  });

  // From Exotel's page "SMS status callback".
  test.each([
    ["sent", "delivered"],
    ["submitted", "enroute"],
    ["failed", "undelivered"],
    ["failed-dnd", "rejected"],
  ])("Exotel's status %s is %s", async (Status, state) => {
    const { call, receipts } = await open("exotel");
    const fields = { SmsSid: "S1", To: "+15550100100", Status, DetailedStatus: "X", DetailedStatusCode: "20005" };
    await call(form(fields, `key=${KEY}&ref=${MESSAGE_ID}`));
    expect(receipts).toMatchObject([{ carrierMessageId: "S1", ref: REF, state, errorCode: "20005" }]);
  });

  test.each([
    ["msg91", { requestId: "P1", number: "15550100100", status: "1", desc: "DELIVERED" }, "delivered"],
    ["msg91", { requestId: "P1", number: "15550100100", status: "9", desc: "NDNC" }, "rejected"],
    ["gupshup", { externalId: "P1", status: "SUCCESS", cause: "SUCCESS", phoneNo: "15550100100" }, "delivered"],
    [
      "gupshup",
      { externalId: "P1", status: "FAIL", cause: "UNKNOWN_SUBSCRIBER", phoneNo: "15550100100" },
      "undelivered",
    ],
    ["kaleyra", { id: "P1", status: "Delivered", mobile: "15550100100" }, "delivered"],
    ["kaleyra", { id: "P1", status: "Undelivered", mobile: "15550100100" }, "undelivered"],
    ["routemobile", { sMessageId: "P1", sStatus: "DELIVRD", sMobileNo: "15550100100" }, "delivered"],
    ["routemobile", { sMessageId: "P1", sStatus: "REJECTD", sMobileNo: "15550100100" }, "rejected"],
  ] as const)("%s's report %j is %s", async (preset, report, state) => {
    const { call, receipts } = await open(preset);
    expect(await call(form(report, `key=${KEY}`))).toMatchObject({ status: 200 });
    expect(receipts).toMatchObject([{ carrierMessageId: "P1", recipient: "15550100100", state }]);
  });

  test.each([
    ["smsgate", { event: "sms:delivered", payload: { messageId: "P1" } }, { state: "delivered" }],
    ["smsgate", { event: "sms:sent", payload: { messageId: "P1" } }, { state: "enroute" }],
    [
      "smsgate",
      { event: "sms:failed", payload: { messageId: "P1", reason: "no service" } },
      { state: "undelivered", description: "no service" },
    ],
    ["textbee", { smsId: "x", smsBatchId: "P1", status: "delivered", message: "Hi" }, { state: "delivered" }],
    ["textbee", { smsId: "x", smsBatchId: "P1", status: "sent", message: "Hi" }, { state: "enroute" }],
    [
      "textbee",
      { smsBatchId: "P1", status: "failed", errorCode: "4", errorMessage: "no service" },
      { state: "undelivered", errorCode: "4", description: "no service" },
    ],
    ["httpsms", { type: "message.phone.sent", data: { id: "P1", contact: "+1" } }, { state: "enroute" }],
    [
      "httpsms",
      { type: "message.phone.delivered", data: { id: "P1", request_id: MESSAGE_ID, content: "Hi" } },
      { state: "delivered", ref: REF },
    ],
    [
      "httpsms",
      { type: "message.send.failed", data: { id: "P1", error_message: "no service" } },
      { state: "undelivered", description: "no service" },
    ],
  ] as const)("%s reports %j", async (preset, event, expected) => {
    const { call, receipts, inbound } = await open(preset);
    expect(await call(json(event))).toMatchObject({ status: 200 });
    expect(receipts).toMatchObject([{ carrierMessageId: "P1", ...expected }]);
    expect(inbound).toEqual([]);
  });

  test("Twilio sends it as a form with its id and ours", async () => {
    const { call, receipts } = await open("twilio");
    const fields = { MessageSid: "SM1", MessageStatus: "undelivered", ErrorCode: "30003", To: "+15550100100" };
    expect(await call(form(fields, `key=${KEY}&ref=${MESSAGE_ID}`))).toMatchObject({ status: 200 });
    expect(receipts).toMatchObject([
      { carrierMessageId: "SM1", ref: REF, state: "undelivered", errorCode: "30003", recipient: "15550100100" },
    ]);
  });

  test.each([
    ["with every part, is matched by the part's id", "&client-ref={{messageId}}", undefined],
    ["with short texts only, names its message", "{{!long}}&client-ref={{messageId}}{{/long}}", REF],
  ])("with an id per part and our id echoed, %s", async (_, echoed, ref) => {
    const { body = "" } = PRESETS.vonage;
    const plain = body.replaceAll("{{!long}}&client-ref={{messageId}}{{/long}}", "");
    expect(plain).not.toContain("messageId");
    const { call, receipts } = await open("vonage", { body: plain + echoed });
    const fields = { messageId: "P1", "client-ref": MESSAGE_ID, status: "delivered", msisdn: "15550100100" };
    expect(await call(form(fields))).toMatchObject({ status: 200 });
    expect(receipts.map((receipt) => [receipt.carrierMessageId, receipt.ref])).toEqual([["P1", ref]]);
  });

  test("Sinch sends it as JSON", async () => {
    const { call, receipts, clock } = await open("sinch");
    const at = new Date(clock.now() - 1000).toISOString();
    const report = { type: "recipient_delivery_report_sms", batch_id: "01F", recipient: "15550100100", code: 0, status: "Delivered", at, client_reference: MESSAGE_ID }; // prettier-ignore
    expect(await call(json(report))).toEqual({ status: 200, text: "OK" });
    expect(receipts).toMatchObject([
      { carrierMessageId: "01F", ref: REF, state: "delivered", errorCode: "0", at: clock.now() - 1000 },
    ]);
  });

  test("Vonage's is read from a query, a form and JSON alike", async () => {
    const { call, receipts } = await open("vonage");
    const fields = { msisdn: "15550100100", messageId: "0A", status: "delivered", "err-code": "0" };
    await call(`key=${KEY}&${new URLSearchParams(fields).toString()}`);
    await call(form(fields));
    await call(json(fields));
    expect(receipts).toHaveLength(3);
    expect(receipts[1]).toEqual(receipts[0]);
    expect(receipts[2]).toEqual(receipts[0]);
  });

  test("several receipts in one request are read, and other entries ignored", async () => {
    const { receipts: mapping } = PRESETS.sinch;
    const { call, receipts } = await open("sinch", { receipts: mapping ? { ...mapping, each: "results" } : null });
    const results = [
      { batch_id: "a", status: "Delivered" },
      null,
      "x",
      { status: "Failed" },
      { batch_id: "b", status: "Failed" },
    ];
    expect(await call(json({ results }))).toMatchObject({ status: 200 });
    expect(receipts.map(({ carrierMessageId, state }) => `${carrierMessageId} ${state}`)).toEqual([
      "a delivered",
      "b undelivered",
    ]);
  });

  test("each entry is matched against its own text only", async () => {
    const { receipts: mapping } = PRESETS.sinch;
    const id = { path: null, pattern: '*"batch_id":"(*)"*' };
    const { call, receipts } = await open("sinch", { receipts: mapping ? { ...mapping, each: "results", id } : null });
    const results = ["a", "b", "c"].map((each) => ({ batch_id: each, status: "Delivered" }));
    expect(await call(json({ results }))).toMatchObject({ status: 200 });
    expect(receipts.map(({ carrierMessageId }) => carrierMessageId)).toEqual(["a", "b", "c"]);
  });

  test.each(["results", "results[*]"])("any number of receipts under %s in one request is stored", async (each) => {
    const { receipts: mapping } = PRESETS.sinch;
    const { call, receipts } = await open("sinch", { receipts: mapping ? { ...mapping, each } : null });
    const results = Array.from({ length: 2500 }, (_, place) => ({ batch_id: `b${place}`, status: "Delivered" }));
    expect(await call(json({ results }))).toMatchObject({ status: 200 });
    expect(new Set(receipts.map(({ carrierMessageId }) => carrierMessageId)).size).toBe(2500);
  });

  test("if one of the last receipts could not be stored, the whole request is repeated", async () => {
    const { receipts: mapping } = PRESETS.sinch;
    const kept: unknown[] = [];
    const { call, receipts } = await open(
      "sinch",
      { receipts: mapping ? { ...mapping, each: "results" } : null },
      {},
      () => kept.push(1) > 2400,
    );
    const results = Array.from({ length: 2500 }, (_, place) => ({ batch_id: `b${place}`, status: "Delivered" }));
    expect(await call(json({ results }))).toMatchObject({ status: 503 });
    expect(receipts).toHaveLength(2400);
  });

  test("an invalid id of ours is not used", async () => {
    const { call, receipts } = await open("twilio");
    for (const ref of ["", "1", `${MESSAGE_ID}x`, `${REQUEST_ID}:0`, `../${MESSAGE_ID}`])
      await call(form({ MessageSid: "SM1", MessageStatus: "sent" }, `key=${KEY}&ref=${encodeURIComponent(ref)}`));
    expect(receipts).toHaveLength(5);
    expect(receipts.every((receipt) => receipt.ref === undefined)).toBe(true);
    const kannel = await open("kannel");
    expect(await kannel.call(`key=${KEY}&ref=nonsense&type=1`)).toMatchObject({ status: 400 });
    expect(kannel.receipts).toEqual([]);
  });

  test("a repetition yields the same receipt, so that the store can ignore it", async () => {
    const { call, receipts, clock } = await open("kannel");
    const query = `key=${KEY}&ref=${MESSAGE_ID}&type=1&time=${(clock.now() - 1000) / 1000}`;
    await call(query);
    clock.advance(60_000);
    await call(query);
    expect(receipts[1]).toEqual(receipts[0]);
  });

  test("a time ahead of our clock becomes the current time", async () => {
    const { call, receipts, clock } = await open("kannel");
    await call(`key=${KEY}&ref=${MESSAGE_ID}&type=1&time=${clock.now() / 1000 + 60}`);
    expect(receipts).toMatchObject([{ at: clock.now() }]);
  });

  test("a receipt that could not be stored gets 503, and 200 when it is repeated", async () => {
    let isAway = true;
    const { call, receipts, logged } = await open("kannel", {}, {}, () => isAway);
    const query = `key=${KEY}&ref=${MESSAGE_ID}&type=1`;
    expect(await call(query)).toMatchObject({ status: 503 });
    isAway = false;
    expect(await call(query)).toMatchObject({ status: 200 });
    expect(receipts).toHaveLength(1);
    expect(logged).toHaveLength(1);
  });

  test("a webhook before start gets 503", async () => {
    const { call, carrier, receipts } = await open("kannel");
    await carrier.stop();
    expect(await call(`key=${KEY}&ref=${MESSAGE_ID}&type=1`)).toMatchObject({ status: 503 });
    expect(receipts).toEqual([]);
  });

  test("a status without a mapped state is unknown, and described", async () => {
    const { call, receipts } = await open("twilio");
    await call(form({ MessageSid: "SM1", MessageStatus: "teleported" }));
    expect(receipts).toMatchObject([{ state: "unknown", description: expect.stringContaining('"teleported"') }]);
  });

  test("an error code gets its configured description", async () => {
    const { call, receipts } = await open("twilio", { errorTexts: { "30003": "The phone is off" } });
    await call(form({ MessageSid: "SM1", MessageStatus: "undelivered", ErrorCode: "30003" }));
    expect(receipts).toMatchObject([{ description: "The phone is off" }]);
  });
});

describe("the charset of an inbound message", () => {
  const percent = (bytes: Buffer): string => bytes.toString("hex").replaceAll(/../g, "%$&");
  const utf16be = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();
  const hear = async (text: string, charset?: string): Promise<{ text: unknown; warnings: string[] }> => {
    const { call, inbound, logged } = await open("kannel");
    const query = `key=${KEY}&from=15550100100&to=56161&text=${text}&id=1${charset === undefined ? "" : `&charset=${charset}`}`;
    expect(await call(query)).toEqual({ status: 200, text: "" });
    expect(await call(query.replace("id=1", "id=2"))).toEqual({ status: 200, text: "" });
    expect(inbound).toHaveLength(2);
    const [first] = inbound.map(({ content }) => (content.kind === "text" ? content.text : null));
    return { text: first, warnings: logged.filter(isAboutCharset) };
  };
  const isAboutCharset = (line: string): boolean => line.includes("contradicts its charset");

  test.for(["नमस्ते", "你好", "Grüße – 5 €", "👍", "plain"])("a declared charset is used: %s", async (text) => {
    expect(await hear(percent(utf16be(text)), "UTF-16BE")).toEqual({ text, warnings: [] });
    expect(await hear(percent(Buffer.from(text)), "UTF-8")).toEqual({ text, warnings: [] });
    expect(await hear(encodeURIComponent(text))).toEqual({ text, warnings: [] });
  });

  test("windows-1252 is used if declared, and UTF-8 for unknown names", async () => {
    expect(await hear("Gr%FC%DFe+%805", "WINDOWS-1252")).toEqual({ text: "Grüße €5", warnings: [] });
    expect(await hear("Gr%C3%BC%C3%9Fe", "GSM")).toEqual({ text: "Grüße", warnings: [] });
  });

  test.for(["नमस्ते", "Привет, мир", "مرحبا", "Grüße – 5 €"])(
    "UTF-16BE is detected without a charset, and logged once: %s",
    async (text) => {
      const { text: heard, warnings } = await hear(percent(utf16be(text)));
      expect(heard).toBe(text);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain("UTF-16BE without charset");
      expect(warnings[0]).not.toContain("15550100100");
    },
  );

  test("damaged UTF-16BE or UTF-8 is stored as far as it is readable, and logged", async () => {
    // Devanagari as Kannel's %a writes it: without tabs, and with spaces collapsed.
    const squeezed = await hear("(+.+8+M+%24+G%00%2C%00+%40+%15%00+9+H%00+'%13");
    expect(squeezed.text).toContain("( . 8 M $ G,");
    expect(squeezed.warnings).toHaveLength(1);
    expect(squeezed.warnings[0]).toContain("garbled UTF-16BE");
    const latin = await hear("Gr%FC%DFe");
    expect(latin.text).toBe("Gr\ufffd\ufffde");
    expect(latin.warnings[0]).toContain("not UTF-8");
  });

  test("an empty text is stored, and a request without text is refused", async () => {
    expect(await hear("")).toEqual({ text: "", warnings: [] });
    const { call, inbound } = await open("kannel");
    expect(await call(`key=${KEY}&from=15550100100&to=56161&id=1`)).toMatchObject({ status: 400 });
    expect(inbound).toEqual([]);
    const other = await open("sinch");
    const empty = json({ from: "15550100100", to: "56161", body: "", id: "1" });
    expect(await other.call(empty)).toMatchObject({ status: 200 });
    expect(other.inbound).toMatchObject([{ content: { kind: "text", text: "" } }]);
  });

  test("a text may contain tabs", async () => {
    expect(await hear(encodeURIComponent("a\tb\tc, d"))).toEqual({ text: "a\tb\tc, d", warnings: [] });
  });
});

describe("an inbound message", () => {
  // A service of a phone sends texts and reports to one webhook, and names both events in one field.
  test.each([
    [
      "smsgate",
      {
        event: "sms:received",
        deviceId: "device-1",
        payload: { messageId: "I1", message: "Hi", sender: "+15550100100", recipient: null, simNumber: 1 },
      },
      "device-1",
    ],
    ["textbee", { smsId: "I1", deviceId: "device-1", message: "Hi", sender: "+15550100100" }, "device-1"],
    [
      "httpsms",
      {
        type: "message.phone.received",
        data: { message_id: "I1", owner: "+14155550100", contact: "+15550100100", content: "Hi" },
      },
      "14155550100",
    ],
    ["exotel", { SmsSid: "I1", From: "+15550100100", To: "EXO", Body: "Hi" }, "EXO"],
    ["infobip", { results: [{ messageId: "I1", from: "15550100100", to: "EXO", text: "Hi" }] }, "EXO"],
  ] as const)("%s passes it on in %j", async (preset, event, to) => {
    const { call, receipts, inbound } = await open(preset);
    await call(json(event));
    expect(inbound).toMatchObject([{ from: "15550100100", to, content: { kind: "text", text: "Hi" } }]);
    expect(receipts).toEqual([]);
  });

  test("an inbound message comes to the same URL", async () => {
    const { call, inbound, receipts } = await open("twilio");
    const fields = {
      MessageSid: "SM9",
      SmsStatus: "received",
      From: "+15550100100",
      To: "+14155550100",
      Body: "STOP\n✓",
    };
    expect(await call(form(fields))).toEqual({ status: 200, text: "" });
    expect(receipts).toEqual([]);
    expect(inbound).toMatchObject([
      {
        accountId: 7,
        channel: "sms",
        from: "15550100100",
        to: "14155550100",
        content: { kind: "text", text: "STOP\n✓" },
        answers: null,
      },
    ]);
  });

  test.each([
    ["lists of their own", "statuses", "messages"],
    ["one list", "results", "results"],
    ["one list that is written in two ways", "results", "results[*]"],
  ])("an inbound message comes in one request with receipts, in %s", async (_, reports, texts) => {
    const { receipts: ofReceipts, inbound: ofTexts } = PRESETS.sinch;
    const { call, receipts, inbound } = await open("sinch", {
      receipts: ofReceipts ? { ...ofReceipts, each: reports } : null,
      inbound: ofTexts ? { ...ofTexts, each: texts } : null,
    });
    const report = { batch_id: "a", status: "Delivered", id: "1", from: "15550100100", to: "56161", body: "no text" };
    const text = { id: "2", from: "15550100100", to: "56161", body: "Hi" };
    const body =
      reports === texts.replace("[*]", "") ? { results: [report, text] } : { statuses: [report], messages: [text] };
    expect(await call(json(body))).toMatchObject({ status: 200 });
    expect(receipts).toMatchObject([{ carrierMessageId: "a" }]);
    expect(inbound).toMatchObject([{ content: { text: "Hi" } }]);
  });

  test("a repetition has the same id, also after a restart if the provider sends a time", async () => {
    const { clock } = await open("sinch");
    const text = { type: "mo_text", id: "01F", from: "15550100100", to: "56161", body: "Hi", received_at: new Date(clock.now() - 1000).toISOString() }; // prettier-ignore
    const ids = await Promise.all(
      [0, 1].map(async () => {
        const { call, inbound } = await open("sinch");
        await call(json(text));
        return inbound[0]?.id;
      }),
    );
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(ids[1]).toBe(ids[0]);
  });

  test("with a clock ahead of ours the id is the same, and its time is not in the future", async () => {
    const { call, inbound, clock } = await open("sinch");
    const ahead = new Date(clock.now() + 3_600_000).toISOString();
    const text = { type: "mo_text", id: "01F", from: "15550100100", to: "56161", body: "Hi", received_at: ahead };
    const at = clock.now();
    await call(json(text));
    const other = await open("sinch");
    other.clock.advance(60_000);
    await other.call(json(text));
    expect(inbound).toMatchObject([{ at }]);
    expect(other.inbound[0]?.id).toBe(inbound[0]?.id);
    expect(inbound[0]).not.toHaveProperty("isTimeOurs");
  });

  test.each([undefined, "soon", "2099-01-01T00:00:00Z"])(
    "with the time %s, another process derives an id that differs in its time only",
    async (written) => {
      const heard = await Promise.all(
        [0, 60_000].map(async (laterMs) => {
          const { call, inbound, clock } = await open("sinch");
          clock.advance(laterMs);
          await call(json({ id: "01F", from: "15550100100", to: "56161", body: "Hi", received_at: written }));
          return inbound[0];
        }),
      );
      expect(heard).toMatchObject([{ isTimeOurs: true }, { isTimeOurs: true }]);
      expect(isSameButForTime(heard[0]?.id ?? "", heard[1]?.id ?? "")).toBe(true);
      expect(heard[0]?.id).not.toBe(heard[1]?.id);
    },
  );

  test("without a time the id is the same while it is remembered", async () => {
    const { call, inbound, clock } = await open("twilio");
    const fields = { MessageSid: "SM9", From: "+15550100100", To: "+14155550100", Body: "Hi" };
    await call(form(fields));
    clock.advance(60_000);
    await call(form(fields));
    await call(form({ ...fields, MessageSid: "SM10" }));
    expect(inbound[1]?.id).toBe(inbound[0]?.id);
    expect(inbound[2]?.id).not.toBe(inbound[0]?.id);
  });

  test("an inbound message's text is stored without unprintable characters", async () => {
    const { call, inbound } = await open("vonage");
    await call(json({ msisdn: "15550100100", to: "56161", text: "a\u0000b\ud800", messageId: "1" }));
    expect(inbound).toMatchObject([{ content: { text: "ab\ufffd" } }]);
  });

  test("an inbound message is refused if the connection maps none", async () => {
    const { call, inbound } = await open("twilio", { inbound: null });
    expect(await call(form({ MessageSid: "SM9", From: "+15550100100", To: "+1", Body: "Hi" }))).toMatchObject({
      status: 400,
    });
    expect(inbound).toEqual([]);
  });
});

const GOOD = { MessageSid: "SM1", MessageStatus: "delivered" };

describe("an unauthenticated webhook is refused", () => {
  test.each<[string, Partial<PlatformWebhook> | string]>([
    ["no key", form(GOOD, "")],
    ["an empty key", form(GOOD, "key=")],
    ["another key", form(GOOD, `key=${KEY}x`)],
    ["a shorter key", form(GOOD, `key=${KEY.slice(1)}`)],
    ["two keys, of which nobody could say which counts", form(GOOD, `key=${KEY}&key=x`)],
    ["the key in the body", form({ ...GOOD, key: KEY }, "")],
    ["the key in a header", { ...form(GOOD, ""), headers: { key: KEY, authorization: KEY } }],
    ["the key under another name", form(GOOD, `KEY=${KEY}`)],
  ])("%s", async (_, call) => {
    const trial = await open("twilio");
    expect(await trial.call(call)).toMatchObject({ status: 401 });
    expect([...trial.receipts, ...trial.inbound]).toEqual([]);
  });

  test("without a configured secret every request is refused", async () => {
    const { call, receipts } = await open("twilio", {}, { callback: "" });
    expect(await call(form(GOOD, "key="))).toMatchObject({ status: 401 });
    expect(receipts).toEqual([]);
  });

  test("the previous secret is valid until it is removed", async () => {
    const { call } = await open("twilio", {}, { callback: "new-secret-0123456789", callbackBefore: KEY });
    expect(await call(form(GOOD))).toMatchObject({ status: 200 });
    expect(await call(form(GOOD, "key=new-secret-0123456789"))).toMatchObject({ status: 200 });
  });

  test("with header authentication the URL key is ignored", async () => {
    const proof = { kind: "header", header: "Authorization", prefix: "Bearer " } as const;
    const { call } = await open("twilio", { proof });
    const withHeader = (authorization: string | string[]): Promise<PlatformAnswer> =>
      call({ ...form(GOOD), headers: { authorization } });
    expect(await withHeader(`Bearer ${KEY}`)).toMatchObject({ status: 200 });
    for (const wrong of [KEY, `bearer ${KEY}`, `Bearer  ${KEY}`, "Bearer ", `Bearer ${KEY}x`])
      expect(await withHeader(wrong)).toMatchObject({ status: 401 });
    expect(await withHeader([`Bearer ${KEY}`])).toMatchObject({ status: 401 });
    expect(await call(form(GOOD))).toMatchObject({ status: 401 });
  });

  describe("by an HMAC of the body", () => {
    const proofOf = (algorithm: "sha256" | "sha1" | "sha512", encoding: "hex" | "base64"): HttpSettings["proof"] => ({
      kind: "hmac",
      header: "X-Signature",
      prefix: "v=",
      algorithm,
      encoding,
    });
    const signed = (
      body: string,
      algorithm: string,
      encoding: "hex" | "base64",
      key = KEY,
    ): Partial<PlatformWebhook> => ({
      method: "POST",
      body: Buffer.from(body),
      headers: { "x-signature": `v=${createHmac(algorithm, key).update(body).digest(encoding)}` },
    });
    const BODY = new URLSearchParams(GOOD).toString();

    test.each(
      (["sha256", "sha1", "sha512"] as const).flatMap((algorithm) =>
        (["hex", "base64"] as const).map((encoding) => [algorithm, encoding] as const),
      ),
    )("%s in %s", async (algorithm, encoding) => {
      const { call, receipts } = await open("twilio", { proof: proofOf(algorithm, encoding) });
      const right = signed(BODY, algorithm, encoding);
      expect(await call(right)).toMatchObject({ status: 200 });
      expect(await call(signed(BODY, algorithm, encoding, "another"))).toMatchObject({ status: 401 });
      expect(await call({ ...right, body: Buffer.from(`${BODY}&a=1`) })).toMatchObject({ status: 401 });
      expect(await call({ ...right, headers: {} })).toMatchObject({ status: 401 });
      expect(receipts).toHaveLength(1);
    });

    test("the second test case of RFC 4231 matches", async () => {
      const { call } = await open("twilio", { proof: proofOf("sha256", "hex") }, { callback: "Jefe" });
      const digest = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
      const body = Buffer.from("what do ya want for nothing?");
      // Authenticated, but without a mapped field.
      for (const written of [digest, digest.toUpperCase()])
        expect(await call({ method: "POST", body, headers: { "x-signature": `v=${written}` } })).toMatchObject({
          status: 400,
        });
    });

    test("fields outside the body are ignored", async () => {
      const { call, receipts } = await open("twilio", { proof: proofOf("sha256", "hex") });
      const query = `ref=${MESSAGE_ID}&MessageSid=SM9&MessageStatus=delivered`;
      expect(await call({ ...signed("a=1", "sha256", "hex"), query })).toMatchObject({ status: 400 });
      await call({ ...signed(BODY, "sha256", "hex"), query });
      expect(receipts).toHaveLength(1);
      expect(receipts[0]).toMatchObject({ carrierMessageId: "SM1" });
      expect(receipts[0]?.ref).toBeUndefined();
    });

    test("the HMAC of an empty body is refused", async () => {
      const { call, receipts } = await open("kannel", { proof: proofOf("sha256", "hex") });
      const query = `ref=${MESSAGE_ID}&type=1`;
      expect(await call({ ...signed("", "sha256", "hex"), method: "GET", query })).toMatchObject({ status: 401 });
      expect(receipts).toEqual([]);
    });
  });

  test("logs and responses contain no secret, number or text", async () => {
    const { call, logged } = await open("twilio", {}, {}, () => true);
    const answers = [
      await call(form({ ...GOOD, To: "+15550100100", Body: "my words" })),
      await call(form({ From: "+15550100100", To: "+14155550100", Body: "my words", MessageSid: "SM1" })),
      await call(form({ nothing: "my words 15550100100" })),
      await call(form({ ...GOOD, Body: "my words" }, "key=wrong")),
    ];
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 400, 401]);
    expect(logged.length).toBeGreaterThanOrEqual(3);
    expect([...logged, JSON.stringify(answers)].join("\n")).not.toMatch(new RegExp(`${KEY}|15550100100|14155550100`));
    expect(JSON.stringify(answers)).not.toContain("my words");
  });
});

describe("arbitrary webhooks", () => {
  const CALLS = repetitions(10_000, 100_000);
  const PIECES = ["", "&", "=", "%", "%zz", "key=", `key=${KEY.slice(0, 5)}`, "ref=", MESSAGE_ID, "type=1", "MessageSid=SM1", "MessageStatus=delivered", "status", "batch_id", "client_reference", "{", "}", "[", "]", '"', ":", ",", "null", "1e999", "\\u0000", "\uFFFD", "__proto__", "constructor", "results", "é", "\0", "a".repeat(300)]; // prettier-ignore
  const HEADERS = [{}, { "content-type": "application/json" }, { "content-type": "application/x-www-form-urlencoded" }, { "x-signature": "v=00" }, { "content-type": ["a", "b"] }]; // prettier-ignore

  /** A fixed seed, so that failures are reproducible. */
  function random(seed: number): () => number {
    let state = seed;
    return () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
  }

  const hostile = (next: () => number): PlatformWebhook => {
    const words = (): string =>
      Array.from({ length: Math.floor(next() * 8) }, () => PIECES[Math.floor(next() * PIECES.length)] ?? "").join("");
    const body = Buffer.from(
      next() < 0.2 ? Array.from({ length: 40 }, () => Math.floor(next() * 256)) : Buffer.from(words()),
    );
    return {
      method: next() < 0.5 ? "GET" : "POST",
      query: words(),
      headers: HEADERS[Math.floor(next() * HEADERS.length)] ?? {},
      body,
    };
  };

  test("without the secret all are refused without an error", async () => {
    const lines = [
      await open("kannel"),
      await open("twilio"),
      await open("sinch", { proof: { kind: "header", header: "x-signature", prefix: "v=" } }),
      await open("sinch", {
        proof: { kind: "hmac", header: "x-signature", prefix: "v=", algorithm: "sha256", encoding: "hex" },
      }),
    ];
    const next = random(9);
    const statuses = new Map<number, number>();
    for (let each = 0; each < CALLS; each += 1) {
      const { status } = (await lines[each % lines.length]?.carrier.handleWebhook?.(hostile(next))) ?? { status: 0 };
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 401: CALLS });
    expect(lines.flatMap(({ receipts, inbound }) => [...receipts, ...inbound])).toEqual([]);
  });

  test("JSON that is nested too deeply is refused", async () => {
    const { call } = await open("sinch");
    for (const body of [
      "[".repeat(500_000),
      `${"[".repeat(500_000)}1234567890123456789${"]".repeat(500_000)}`,
      `{"a":`.repeat(100_000),
    ])
      expect(await call({ ...json(null), body: Buffer.from(body) })).toMatchObject({ status: 400 });
  });

  test("deeply nested entries have no searchable text", async () => {
    const { receipts: mapping } = PRESETS.sinch;
    const id = { path: null, pattern: '*"batch_id":"(*)"*' };
    const { call, receipts } = await open("sinch", { receipts: mapping ? { ...mapping, each: "results", id } : null });
    const deep = `{"batch_id":"a","status":"Failed","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const body = Buffer.from(`{"results":[${deep},{"batch_id":"b","status":"Failed"}]}`);
    expect(await call({ ...json(null), body })).toMatchObject({ status: 200 });
    expect(receipts).toMatchObject([{ carrierMessageId: "b" }]);
  });

  test("with the secret none throws", async () => {
    const lines = [await open("kannel"), await open("twilio"), await open("sinch"), await open("vonage")];
    const next = random(17);
    const statuses = new Set<number>();
    for (let each = 0; each < CALLS; each += 1) {
      const call = hostile(next);
      const query = `key=${KEY}&${call.query.replaceAll("key=", "k=")}`;
      const { status } = (await lines[each % lines.length]?.carrier.handleWebhook?.({ ...call, query })) ?? {
        status: 0,
      };
      statuses.add(status);
    }
    expect(statuses).toEqual(new Set([200, 400]));
  });

  test("hostile values in the fields of events are answered, and only whole events are kept", async () => {
    const ODD = [null, true, 0, -1, 1e308, "", "\0", "__proto__", [], {}, [[]], "9".repeat(400), "+15550100100", "Hi"];
    const FIELDS = ["event", "type", "status", "messageId", "message_id", "id", "sender", "from", "contact", "to", "owner", "deviceId", "message", "text", "content", "smsId", "smsBatchId", "receivedAt"]; // prettier-ignore
    const lines = await Promise.all(HTTP_PRESETS.map((preset) => open(preset)));
    const next = random(23);
    const pick = (): unknown => ODD[Math.floor(next() * ODD.length)];
    const fields = (): object => Object.fromEntries(FIELDS.filter(() => next() < 0.6).map((name) => [name, pick()]));
    const statuses = new Set<number>();
    for (let each = 0; each < CALLS / 50; each += 1) {
      const body = { ...fields(), payload: fields(), data: fields(), results: [fields(), pick()] };
      for (const { call } of lines) statuses.add((await call(json(body))).status);
    }
    expect(statuses).toEqual(new Set([200, 400]));
    const kept = lines.flatMap(({ inbound }) => inbound);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.filter(({ content, from }) => content.kind !== "text" || from === "")).toEqual([]);
  });
});
