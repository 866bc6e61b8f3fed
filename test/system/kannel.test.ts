import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Carrier, Inbound } from "../../src/carriers/carrier.ts";
import { createHttpCarrier } from "../../src/carriers/http/carrier.ts";
import type { HttpClient } from "../../src/http-client/client.ts";
import { decodeGsm7 } from "../../src/lib/gsm7.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/lib/log.ts";
import { HTTP_DEFAULTS } from "../../src/model/http-connection.ts";
import { PRESETS } from "../../src/model/http-presets.ts";
import { messageIdOf, type Message, type SmsContent } from "../../src/model/message.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import type { SubmitSm } from "../../src/smpp/pdu.ts";
import { Smsc } from "../../src/smsc/smsc.ts";
import { openCallbackEndpoint, type CallbackEndpoint } from "../support/callback-endpoint.ts";
import { eventually } from "../support/eventually.ts";
import { KANNEL_USER, startKannel, type Kannel } from "../support/kannel.ts";
import { sampleMessage } from "../support/message.ts";
import { openHttpClient } from "../support/http-client.ts";

const SMSC_LOGIN = { systemId: "kannel", password: "secret" };
const KEY = "0123456789abcdefghij";
const UNICODE = "नमस्ते, your code is 1234 ✓";

/** Every message has its own phone number, so that its events are not taken for another message's. */
let phones = 15_550_100_100;
const nextPhone = (): string => String((phones += 1));

const messageOf = (text: string, changes: Partial<SmsContent> = {}, recipient = nextPhone()): Message =>
  sampleMessage({ recipient, content: { text, encoding: "gsm7", flash: false, ...changes } });

describe("a real Kannel between us and the SMSC", () => {
  let smsc: Smsc;
  let kannel: Kannel;
  let endpoint: CallbackEndpoint;
  let carrier: Carrier;
  let egress: HttpClient;
  const submits: SubmitSm[] = [];
  const receipts: Receipt[] = [];
  const inbound: Inbound[] = [];

  beforeAll(async () => {
    smsc = await Smsc.open({
      host: "127.0.0.1",
      port: 0,
      clock: systemClock,
      behavior: { ...SMSC_LOGIN, delayMs: 50 },
      // The text lies in a read buffer that is reused, so it is copied.
      onTaken: (submit) => submits.push({ ...submit, shortMessage: Buffer.from(submit.shortMessage) }),
    });
    endpoint = await openCallbackEndpoint();
    const getUrl = `${endpoint.url}?key=${KEY}&from=%p&to=%P&text=%b&id=%I&time=%T&charset=%C`;
    kannel = await startKannel({ smsc: { port: smsc.port, ...SMSC_LOGIN }, getUrl });
    egress = openHttpClient();
    carrier = createHttpCarrier({
      name: "1/kannel",
      accountId: 1,
      settings: {
        ...HTTP_DEFAULTS,
        ...PRESETS.kannel,
        preset: "kannel",
        baseUrl: kannel.baseUrl,
        values: { username: KANNEL_USER.username },
      },
      secrets: { password: KANNEL_USER.password, callback: KEY },
      messagesPerSecond: () => null,
      egress,
      callbackUrl: () => endpoint.url,
      onInbound: async (message) => void inbound.push(message),
      clock: systemClock,
      log: createLog("silent"),
      metrics: { carrierErrors: () => ({ inc: () => {} }) },
    });
    endpoint.carrier = carrier;
    await carrier.start(async (receipt) => void receipts.push(receipt));
  });
  afterAll(async () => {
    await carrier?.stop();
    egress?.destroy();
    await kannel?.stop();
    await endpoint?.close();
    await smsc?.close();
  });

  const receiptsOf = (message: Message): Receipt[] =>
    receipts.filter(({ carrierMessageId }) => carrierMessageId === messageIdOf(message));
  const submitsOf = (message: Message): SubmitSm[] =>
    submits.filter(({ destination }) => destination.address === message.recipient);
  const endsIn = (message: Message, state: Receipt["state"]): Promise<Receipt[]> =>
    eventually(
      () => receiptsOf(message),
      (seen) => seen.some((receipt) => receipt.state === state),
    );
  const heardFrom = async (phone: string): Promise<Inbound> => {
    const found = await eventually(
      () => inbound.find(({ from }) => from === phone),
      (message) => message !== undefined,
    );
    if (!found) throw new Error("nothing came");
    return found;
  };
  const sent = async (message: Message, state: Receipt["state"] = "delivered"): Promise<SubmitSm[]> => {
    expect(await carrier.submit(message)).toMatchObject({ kind: "taken" });
    await endsIn(message, state);
    return submitsOf(message);
  };

  test("a message goes to the SMSC and comes back as delivered, matched by our own id", async () => {
    const message = messageOf("Hello @ €5 & more = 100%?");
    const outcome = await carrier.submit(message);
    expect(outcome).toMatchObject({ kind: "taken", carrierMessageId: messageIdOf(message) });
    const seen = await endsIn(message, "delivered");
    const { requestId, n } = message;
    for (const receipt of seen)
      expect(receipt).toMatchObject({ carrier: "1/kannel", channel: "sms", ref: { accountId: 1, requestId, n } });
    expect(seen.map(({ state }) => state)).toEqual(["enroute", "delivered"]);
    const [submit, ...others] = submitsOf(message);
    expect(others).toEqual([]);
    expect(submit).toMatchObject({ dataCoding: 0, source: { address: "HELIOG" } });
    expect(decodeGsm7(submit?.shortMessage ?? Buffer.alloc(0))).toBe("Hello @ €5 & more = 100%?");
  });

  test("the stored exchange has no content of the requests", async () => {
    const message = messageOf("my words");
    const { exchange = "" } = await carrier.submit(message);
    expect(exchange).not.toContain(message.recipient);
    expect(exchange).toMatch(/^GET 127\.0\.0\.1:\d+ to=\*{8}\d{4} from=HELIOG parts=1 -> 202 taken /);
    expect(exchange).not.toMatch(/my words|sms|0123456789/);
  });

  test("characters outside GSM-7 arrive unchanged", async () => {
    const [submit] = await sent(messageOf(UNICODE, { encoding: "ucs2" }));
    expect(submit?.dataCoding).toBe(0x08);
    expect(
      Buffer.from(submit?.shortMessage ?? [])
        .swap16()
        .toString("utf16le"),
    ).toBe(UNICODE);
  });

  test("a flash message is one, in GSM and in Unicode", async () => {
    const [plain] = await sent(messageOf("Now", { flash: true }));
    const [unicode] = await sent(messageOf(UNICODE, { flash: true, encoding: "ucs2" }));
    expect([plain?.dataCoding, unicode?.dataCoding]).toEqual([0xf0, 0x18]);
  });

  test("a long text goes as parts, and is reported once for all of them", async () => {
    const text = "0123456789".repeat(40);
    const message = { ...messageOf(text), segments: 3 };
    const parts = await sent(message);
    expect(parts).toHaveLength(3);
    expect(parts.every(({ esmClass }) => (esmClass & 0x40) !== 0)).toBe(true);
    expect(parts.map(({ shortMessage }) => shortMessage.subarray(6).toString("latin1")).join("")).toBe(text);
    // A message that is sent later is reported later, so by then all was said of this one.
    await sent(messageOf("Hello"));
    expect(receiptsOf(message).filter(({ state }) => state === "delivered")).toHaveLength(1);
  });

  test("ids of India's registers travel on", async () => {
    const dlt = { entityId: "1701158019811140068", contentId: "1107161234567890123" };
    const [submit] = await sent(messageOf("Hello", { dlt }));
    const tlvs = Object.fromEntries((submit?.tlvs ?? []).map(({ tag, value }) => [tag, value.toString("latin1")]));
    expect(tlvs).toMatchObject({ [0x1400]: dlt.entityId, [0x1401]: dlt.contentId });
  });

  test("a message that does not arrive is undelivered, with the network's code", async () => {
    const message = messageOf("Hello", {}, "15550109001");
    await sent(message, "undelivered");
    expect(receiptsOf(message).at(-1)).toMatchObject({ state: "undelivered", errorCode: "001" });
  });

  test("a message that the SMSC refuses is rejected", async () => {
    const message = messageOf("Hello", {}, "15550109003");
    await sent(message, "rejected");
    expect(receiptsOf(message).map(({ state }) => state)).toEqual(["rejected"]);
  });

  test("a message from a phone arrives once", async () => {
    smsc.sendFromPhone("15550100200", "56161", "STOP  it, ünd more");
    const [message] = await eventually(
      () => inbound,
      ({ length }) => length > 0,
    );
    expect(message).toMatchObject({
      accountId: 1,
      channel: "sms",
      from: "15550100200",
      to: "56161",
      content: { kind: "text", text: "STOP  it, ünd more" },
    });
    const call = endpoint.calls.find(({ query }) => query.includes("STOP"));
    expect(call).toBeDefined();
    if (call) await carrier.handleWebhook?.(call);
    expect(new Set(inbound.map(({ id }) => id)).size).toBe(1);
  });

  test.for(["नमस्ते, ठीक है ✓", "你好", "Grüße – 5 €", "ü", "👍"])(
    "what a phone sends in Unicode arrives as it was written: %s",
    async (text) => {
      const phone = nextPhone();
      smsc.sendFromPhone(phone, "56161", text);
      const message = await heardFrom(phone);
      expect(message.content).toEqual({ kind: "text", text });
    },
  );

  test("an empty message from a phone is stored", async () => {
    const phone = nextPhone();
    smsc.sendFromPhone(phone, "56161", "");
    expect((await heardFrom(phone)).content).toEqual({ kind: "text", text: "" });
  });

  test("a call without the key is refused", async () => {
    const message = messageOf("Hello");
    const query = `ref=${messageIdOf(message)}&type=1`;
    expect(await carrier.handleWebhook?.({ method: "GET", query, headers: {}, body: Buffer.alloc(0) })).toMatchObject({
      status: 401,
    });
    expect(receiptsOf(message)).toEqual([]);
  });

  test("wrong credentials stop the line instead of failing messages", async () => {
    const other = createHttpCarrier({
      name: "1/other",
      accountId: 1,
      settings: { ...HTTP_DEFAULTS, ...PRESETS.kannel, baseUrl: kannel.baseUrl, values: { username: "nobody" } },
      secrets: { password: "wrong", callback: KEY },
      messagesPerSecond: () => null,
      egress,
      callbackUrl: () => endpoint.url,
      onInbound: () => Promise.resolve(),
      clock: systemClock,
      log: createLog("silent"),
      metrics: { carrierErrors: () => ({ inc: () => {} }) },
    });
    expect(await other.submit(messageOf("Hello"))).toMatchObject({ kind: "down" });
    expect(other.isUp()).toBe(false);
  });
});
