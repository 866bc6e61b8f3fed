import { afterEach, describe, expect, test } from "vitest";
import type { Carrier } from "../../src/carriers/carrier.ts";
import { createHttpCarrier } from "../../src/carriers/http/carrier.ts";
import { EgressRules } from "../../src/egress/addresses.ts";
import { createGuardedClient } from "../../src/egress/guarded-connect.ts";
import type { HttpClient } from "../../src/http-client/client.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/lib/log.ts";
import {
  HTTP_DEFAULTS,
  HTTP_PRESETS,
  type HttpPresetName,
  type HttpSettings,
} from "../../src/model/http-connection.ts";
import { PRESETS } from "../../src/model/http-presets.ts";
import { messageIdOf, type Message, type SmsContent } from "../../src/model/message.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import { carrierSuite } from "./carrier.suite.ts";
import { openCallbackEndpoint, type CallbackEndpoint } from "../support/callback-endpoint.ts";
import { eventually } from "../support/eventually.ts";
import { ACCOUNT, FakeGateway } from "../support/fake-gateway.ts";
import { sampleMessage } from "../support/message.ts";
import { openHttpClient } from "../support/http-client.ts";

const KEY = "0123456789abcdefghij";
const WORDS = 'Hé said "5 > 4 & 3%", then\n{{secret:password}} ✓';

interface Trial {
  gateway: FakeGateway;
  carrier: Carrier;
  endpoint: CallbackEndpoint;
  receipts: Receipt[];
  logged: string[];
  counted: string[];
  close(): Promise<void>;
}

interface Choices {
  settings?: Partial<HttpSettings>;
  secret?: string;
  delayMs?: number;
  egress?: HttpClient;
}

async function openTrial(preset: HttpPresetName, choices: Choices = {}): Promise<Trial> {
  const { settings = {}, secret = ACCOUNT.secret, delayMs = 5, egress = openHttpClient() } = choices;
  const gateway = await FakeGateway.open({ delayMs });
  const endpoint = await openCallbackEndpoint();
  const receipts: Receipt[] = [];
  const logged: string[] = [];
  const counted: string[] = [];
  const { name } = ACCOUNT;
  const carrier = createHttpCarrier({
    name: "1/line",
    accountId: 1,
    settings: {
      ...HTTP_DEFAULTS,
      ...PRESETS[preset],
      preset,
      baseUrl: gateway.url,
      values: {
        username: name,
        accountSid: name,
        servicePlanId: name,
        apiKey: name,
        deviceId: name,
        userId: name,
        sid: name,
        callbackProfileId: "IN_1",
      },
      ...settings,
    },
    secrets: {
      password: secret,
      authToken: secret,
      apiToken: secret,
      apiSecret: secret,
      apiKey: secret,
      authKey: secret,
      callback: KEY,
    },
    messagesPerSecond: () => null,
    egress,
    callbackUrl: () => endpoint.url,
    onInbound: () => Promise.resolve(),
    clock: systemClock,
    log: createLog("debug", { write: (line: string) => void logged.push(line) }),
    metrics: { carrierErrors: (_, code) => ({ inc: () => void counted.push(code) }) },
  });
  endpoint.carrier = carrier;
  gateway.webhook = `${endpoint.url}?key=${KEY}`;
  return {
    gateway,
    carrier,
    endpoint,
    receipts,
    logged,
    counted,
    async close() {
      await carrier.stop();
      await gateway.close();
      await endpoint.close();
      egress.destroy();
    },
  };
}

const messageTo = (recipient: string, content: Partial<SmsContent> = {}, changes: Partial<Message> = {}): Message =>
  sampleMessage({
    recipient,
    content: { text: "Hello", encoding: "gsm7", flash: false, ...content },
    ...changes,
  });

// Sinch and Kannel report codes of their own; all report one.
describe.each(HTTP_PRESETS)("an HTTP carrier with the preset %s fulfils the carrier contract", (preset) => {
  carrierSuite(async () => {
    // Long enough that stop comes first, also on a busy machine.
    const { carrier, close } = await openTrial(preset, { delayMs: 400 });
    return {
      carrier,
      deliverable: () => messageTo("15550100100"),
      undeliverable: () => messageTo("15550109001"),
      refusable: () => messageTo("15550109003"),
      // The provider runs in real time and repeats unacknowledged receipts by itself.
      letReportsCome: () => Promise.resolve(),
      close,
    };
  });
});

/** The card of the phone is the sender. */
const WITHOUT_SENDER: ReadonlySet<string> = new Set(["smsgate", "textbee"]);

describe("an HTTP carrier", () => {
  let trial: Trial;
  const open = async (...given: Parameters<typeof openTrial>): Promise<Trial> => {
    trial = await openTrial(...given);
    await trial.carrier.start(async (receipt) => void trial.receipts.push(receipt));
    return trial;
  };
  afterEach(() => trial.close());

  test.each(HTTP_PRESETS)("%s: the request carries all fields, and no text breaks out of it", async (preset) => {
    const { carrier, gateway } = await open(preset);
    const message = messageTo("15550100100", { text: WORDS, encoding: "ucs2", flash: true });
    expect(await carrier.submit(message)).toMatchObject({ kind: "taken" });
    expect(gateway.faults).toEqual([]);
    const [taken] = gateway.taken;
    expect(taken).toMatchObject({ from: WITHOUT_SENDER.has(preset) ? "" : "HELIOG", text: WORDS });
    expect(taken?.to).toMatch(/^\+?15550100100$/);
    const url = new URL(taken?.callbackUrl ?? "");
    expect(url.searchParams.get("key")).toBe(KEY);
  });

  test("kannel: the request, field by field", async () => {
    const { carrier, gateway, endpoint } = await open("kannel");
    const dlt = { entityId: "1701", contentId: "1107" };
    const message = messageTo("15550100100", { text: "Hi", encoding: "ucs2", flash: true, dlt });
    await carrier.submit(message);
    expect(gateway.taken[0]?.fields).toEqual({
      username: ACCOUNT.name,
      password: ACCOUNT.secret,
      from: "HELIOG",
      to: "15550100100",
      text: "Hi",
      charset: "UTF-8",
      coding: "2",
      mclass: "0",
      validity: "10",
      "dlr-mask": "31",
      "dlr-url": `${endpoint.url}?key=${KEY}&ref=${messageIdOf(message)}&type=%d&time=%T&reply=%A`,
      "meta-data": "?smpp?PE_ID=1701&TEMPLATE_ID=1107",
    });
  });

  test("kannel: absent fields are omitted", async () => {
    const { carrier, gateway } = await open("kannel");
    await carrier.submit(messageTo("15550100100"));
    const names = Object.keys(gateway.taken[0]?.fields ?? {});
    expect(names.filter((name) => ["coding", "mclass", "meta-data"].includes(name))).toEqual([]);
  });

  test("twilio: the request, field by field", async () => {
    const { carrier, gateway, endpoint } = await open("twilio");
    const message = messageTo("15550100100", {}, { sender: "14155550100", expiresAt: Date.now() + 90_000_000 });
    await carrier.submit(message);
    expect(gateway.taken[0]?.fields).toEqual({
      To: "+15550100100",
      From: "+14155550100",
      Body: "Hello",
      ValidityPeriod: "14400",
      StatusCallback: `${endpoint.url}?key=${KEY}&ref=${messageIdOf(message)}`,
    });
  });

  test("sinch: the request, field by field", async () => {
    const { carrier, gateway, endpoint } = await open("sinch");
    const message = messageTo("15550100100", { flash: true });
    await carrier.submit(message);
    expect(gateway.taken[0]?.fields).toEqual({
      from: "HELIOG",
      to: '["15550100100"]',
      body: "Hello",
      expire_at: new Date(message.expiresAt).toISOString(),
      delivery_report: "per_recipient",
      callback_url: `${endpoint.url}?key=${KEY}`,
      client_reference: messageIdOf(message),
      flash_message: "true",
    });
  });

  // From Infobip's reference of "/sms/2/text/advanced".
  test("infobip: the request, field by field", async () => {
    const { carrier, gateway, endpoint } = await open("infobip");
    const dlt = { entityId: "1701", contentId: "1107" };
    const message = messageTo("15550100100", { flash: true, dlt }, { expiresAt: Date.now() + 900_000_000 });
    await carrier.submit(message);
    expect(gateway.taken[0]?.fields).toEqual({
      destinations: '[{"to":"15550100100"}]',
      from: "HELIOG",
      text: "Hello",
      validityPeriod: "2880",
      notifyUrl: `${endpoint.url}?key=${KEY}`,
      notifyContentType: "application/json",
      callbackData: messageIdOf(message),
      flash: "true",
      regional: '{"indiaDlt":{"principalEntityId":"1701","contentTemplateId":"1107"}}',
    });
  });

  // From Exotel's page "Send SMS".
  test("exotel: the request, field by field", async () => {
    const { carrier, gateway, endpoint } = await open("exotel");
    const dlt = { entityId: "1701", contentId: "1107" };
    const message = messageTo("15550100100", { encoding: "ucs2", dlt });
    await carrier.submit(message);
    expect(gateway.taken[0]?.fields).toEqual({
      From: "HELIOG",
      To: "+15550100100",
      Body: "Hello",
      EncodingType: "unicode",
      DltEntityId: "1701",
      DltTemplateId: "1107",
      StatusCallback: `${endpoint.url}?key=${KEY}&ref=${messageIdOf(message)}`,
    });
  });

  // From the public pages that the fake gateway names.
  test.each([
    [
      "msg91",
      {
        sender: "HELIOG",
        route: "4",
        country: "0",
        unicode: "1",
        DLT_TE_ID: "1107",
        sms: '[{"message":"Hello","to":["15550100100"]}]',
      },
    ],
    [
      "gupshup",
      {
        method: "SendMessage",
        v: "1.1",
        auth_scheme: "plain",
        format: "text",
        userid: ACCOUNT.name,
        password: ACCOUNT.secret,
        send_to: "15550100100",
        mask: "HELIOG",
        msg: "Hello",
        msg_type: "Unicode_Text",
        principalEntityId: "1701",
        dltTemplateId: "1107",
      },
    ],
    [
      "kaleyra",
      {
        to: "+15550100100",
        sender: "HELIOG",
        body: "Hello",
        type: "TXN",
        template_id: "1107",
        callback_profile_id: "IN_1",
      },
    ],
    [
      "routemobile",
      {
        username: ACCOUNT.name,
        password: ACCOUNT.secret,
        dlr: "1",
        destination: "15550100100",
        source: "HELIOG",
        message: "Hello",
        type: "2",
        entityid: "1701",
        tempid: "1107",
      },
    ],
  ] as const)("%s: the request, field by field, and the id of its answer", async (preset, fields) => {
    const { carrier, gateway } = await open(preset);
    const dlt = { entityId: "1701", contentId: "1107" };
    const outcome = await carrier.submit(messageTo("15550100100", { encoding: "ucs2", dlt }));
    expect(gateway.taken[0]?.fields).toEqual(fields);
    expect(outcome).toMatchObject({ kind: "taken", carrierMessageId: gateway.taken[0]?.id });
  });

  // From the documentation of SMSGate's API, textbee's source of the send operation, and httpSMS's API reference.
  test.each([
    [
      "smsgate",
      { textMessage: '{"text":"Hello"}', phoneNumbers: '["+15550100100"]', ttl: "600", withDeliveryReport: "true" },
    ],
    ["textbee", { recipients: '["+15550100100"]', message: "Hello" }],
    ["httpsms", { content: "Hello", from: "+14155550100", to: "+15550100100" }],
  ] as const)("%s: the request, field by field", async (preset, fields) => {
    const { carrier, gateway } = await open(preset);
    const message = messageTo("15550100100", {}, { sender: "14155550100", expiresAt: Date.now() + 600_999 });
    await carrier.submit(message);
    const own = preset === "httpsms" ? { request_id: messageIdOf(message) } : {};
    expect(gateway.taken[0]?.fields).toEqual({ ...fields, ...own });
  });

  test("vonage: a long text has an id per part, and its receipts do not stand for the message", async () => {
    const { carrier, gateway, receipts } = await open("vonage");
    const long = messageTo("15550100100", { text: "0123456789".repeat(40) }, { segments: 3 });
    const outcome = await carrier.submit(long);
    const ids = gateway.taken.map(({ id }) => id);
    expect(outcome).toMatchObject({ kind: "taken", carrierMessageId: ids[0], partIds: ids });
    expect(ids).toHaveLength(3);
    await eventually(
      () => receipts,
      ({ length }) => length === 3,
    );
    expect(receipts.every(({ ref }) => ref === undefined)).toBe(true);
    expect(new Set(receipts.map(({ carrierMessageId }) => carrierMessageId))).toEqual(new Set(ids));
    const short = messageTo("15550100100");
    await carrier.submit(short);
    await eventually(
      () => receipts,
      ({ length }) => length === 4,
    );
    expect(receipts[3]?.ref).toEqual({ accountId: 1, requestId: short.requestId, n: 1 });
  });

  test.each(HTTP_PRESETS)("%s: wrong credentials halt the connection and fail no message", async (preset) => {
    const { carrier, logged } = await open(preset, { secret: "wrong & old" });
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "down" });
    expect(carrier.isUp()).toBe(false);
    expect(carrier.state?.().pausedUntil).toBeGreaterThan(Date.now());
    expect(logged.filter((line) => line.includes("carrier halted"))).toHaveLength(1);
  });

  test.each(HTTP_PRESETS)("%s: a busy provider is retried", async (preset) => {
    const { carrier, counted } = await open(preset);
    expect(await carrier.submit(messageTo("15550109008"))).toMatchObject({ kind: "busy" });
    expect(counted).toHaveLength(1);
  });

  test("throttling reduces the rate, and Retry-After is respected", async () => {
    const { carrier, gateway } = await open("sinch");
    gateway.misbehave({ kind: "status", status: 429, headers: { "retry-after": "30" } });
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "busy", retryAfterMs: 30_000 });
    expect(carrier.capacity).toBe(0);
    expect(carrier.messagesPerSecond).toBeGreaterThan(0);
  });

  test.each<[string, Parameters<FakeGateway["misbehave"]>[0]]>([
    ["hangs up after the request", { kind: "cut" }],
    ["hangs up in its answer", { kind: "cut in the answer" }],
    ["says nothing", { kind: "silent" }],
    ["does not stop", { kind: "endless" }],
    ["fails", { kind: "status", status: 500, text: "oops" }],
    ["has a gateway that fails", { kind: "status", status: 502 }],
  ])("a provider that %s leaves the outcome unknown", async (_, misbehaviour) => {
    const { carrier, gateway } = await open("twilio", { settings: { timeoutSeconds: 1 } });
    gateway.misbehave(misbehaviour);
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "unknown" });
  });

  test("without a server the carrier is down, and the message was not accepted", async () => {
    const { carrier, gateway } = await open("twilio");
    await gateway.close();
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "down" });
  });

  test("an HTML page is no success", async () => {
    const { carrier, gateway } = await open("vonage");
    gateway.misbehave({ kind: "status", status: 200, text: "<html>Back soon</html>" });
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "unknown" });
  });

  test("the ids of the accepted parts of a long text are recorded", async () => {
    const { carrier, gateway } = await open("vonage");
    const messages = [{ status: "0", "message-id": "first" }, { status: "0", "message-id": "second" }, { status: "7" }];
    gateway.misbehave({ kind: "status", status: 200, text: JSON.stringify({ messages }) });
    const long = messageTo("15550100100", { text: "0123456789".repeat(40) }, { segments: 3 });
    expect(await carrier.submit(long)).toMatchObject({
      kind: "refused",
      fault: "message",
      code: "7",
      exchange: expect.stringMatching(/200 refused 7, took first second$/),
    });
  });

  test("a success without the expected id uses our own id, and is logged", async () => {
    const { carrier, gateway, logged } = await open("twilio");
    gateway.misbehave({ kind: "status", status: 201, text: "{}" });
    const message = messageTo("15550100100");
    expect(await carrier.submit(message)).toMatchObject({ kind: "taken", carrierMessageId: messageIdOf(message) });
    expect(logged.join("")).toContain("response without message id");
  });

  test("an unreachable provider opens the circuit breaker", async () => {
    const { carrier, gateway } = await open("twilio");
    await gateway.close();
    for (let time = 0; time < 10; time += 1) await carrier.submit(messageTo("15550100100"));
    expect(carrier.isUp()).toBe(false);
  });

  test("an address outside the egress rules is not reached", async () => {
    const rules = new EgressRules({ allow: [], loopback: false });
    const egress = createGuardedClient({ rules, clock: systemClock });
    const { carrier, gateway } = await open("twilio", { egress });
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "down" });
    expect(gateway.requests).toBe(0);
  });

  test("a message of another channel is refused without a request", async () => {
    const { carrier, gateway } = await open("twilio");
    const message = { ...messageTo("15550100100"), content: { text: "", erased: true } as const };
    expect(await carrier.submit(message)).toMatchObject({ kind: "refused", code: "NOT_SMS" });
    expect(gateway.requests).toBe(0);
  });

  test("stop waits for responses and refuses new messages", async () => {
    const { carrier } = await open("twilio");
    const outcomes = Array.from({ length: 5 }, () => carrier.submit(messageTo("15550100100")));
    await carrier.stop();
    expect((await Promise.all(outcomes)).map(({ kind }) => kind)).toEqual(Array.from({ length: 5 }, () => "taken"));
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "busy" });
  });

  test("logs, exchange and state contain no secret, number or text", async () => {
    const told: string[] = [];
    for (const preset of HTTP_PRESETS) {
      const each = await openTrial(preset);
      await each.carrier.start(async (receipt) => void each.receipts.push(receipt));
      for (const recipient of ["15550100100", "15550109001", "15550109003", "15550109008"])
        told.push(JSON.stringify(await each.carrier.submit(messageTo(recipient, { text: "my words" }))));
      each.gateway.misbehave({ kind: "status", status: 401, text: "my words to 15550100100 with s3cret & more" });
      told.push(JSON.stringify(await each.carrier.submit(messageTo("15550100100", { text: "my words" }))));
      await eventually(
        () => each.receipts,
        ({ length }) => length > 1,
      );
      told.push(
        JSON.stringify(each.carrier.state?.()),
        ...each.logged,
        JSON.stringify(each.receipts.map((receipt) => ({ ...receipt, recipient: null }))),
      );
      await each.close();
    }
    await open("kannel");
    expect(told.join("\n")).not.toMatch(/my words|s3cret|0123456789abc|1555010\d{4}/);
  });
});
