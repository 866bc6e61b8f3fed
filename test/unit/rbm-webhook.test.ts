import { afterEach, describe, expect, test } from "vitest";
import { verifyWebhook } from "../../src/carriers/rbm/verify-signature.ts";
import type { PlatformWebhook } from "../../src/carriers/http-platform.ts";
import { createLog } from "../../src/lib/log.ts";
import { RBM_CLIENT_TOKEN, signedCall } from "../support/fake-rbm.ts";
import { openRbmTrial, type RbmTrial } from "../support/rbm-connection.ts";
import { repetitions } from "../support/repetitions.ts";

const ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const PHONE = "+15550100100";
const SENT_AT = "2026-01-01T11:59:00Z";
const FROM_PHONE = { senderPhoneNumber: PHONE, messageId: "MxA1", sendTime: SENT_AT, agentId: "shop-agent" };
const EVENT = {
  senderPhoneNumber: PHONE,
  eventId: "e1",
  messageId: "0b7e1c9e-0000-5000-8000-000000000001",
  agentId: "shop-agent",
};

const callWith = (body: string | object, headers: PlatformWebhook["headers"] = {}): PlatformWebhook => ({
  method: "POST",
  query: "",
  headers,
  body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
});

describe("webhook verification", () => {
  // Created with another HMAC implementation.
  const DATA =
    "eyJzZW5kZXJQaG9uZU51bWJlciI6IisxNTU1MDEwMDEwMCIsImV2ZW50VHlwZSI6IkRFTElWRVJFRCIsImV2ZW50SWQiOiJlMSIsIm1lc3NhZ2VJZCI6Im0xIiwiYWdlbnRJZCI6InNob3AifQ==";
  const SIGNATURE = "OUJ76i+eFxW7qB1n2hHl0EUVmuk3X7Qlp5sXTPgDiveIw9E9npjNH7Pxg0aNITlhUkFYi7xZ50m/pyyi/jAJvA==";
  const TOKEN = "correct-horse-battery";
  const signed = (signature: string | string[] | undefined, data = DATA): PlatformWebhook =>
    callWith({ message: { data } }, signature === undefined ? {} : { "x-goog-signature": signature });

  test("a valid signature is accepted", () => {
    expect(verifyWebhook(signed(SIGNATURE), TOKEN)).toMatchObject({
      kind: "event",
      event: { eventType: "DELIVERED" },
    });
  });

  test.each<[string, PlatformWebhook]>([
    ["no signature", signed(undefined)],
    ["an empty signature", signed("")],
    ["another signature", signed(`P${SIGNATURE.slice(1)}`)],
    ["a signature that is cut", signed(SIGNATURE.slice(0, -2))],
    ["a signature twice", signed([SIGNATURE, SIGNATURE])],
    ["the signature of something else", signed(SIGNATURE, Buffer.from('{"text":"hi"}').toString("base64"))],
    ["nothing signed", callWith({ message: {} }, { "x-goog-signature": SIGNATURE })],
    ["no message", callWith({}, { "x-goog-signature": SIGNATURE })],
    ["no JSON", callWith("{", { "x-goog-signature": SIGNATURE })],
    ["nothing", callWith("", { "x-goog-signature": SIGNATURE })],
  ])("a request with %s is refused", (_what, call) => {
    expect(verifyWebhook(call, TOKEN)).toEqual({ kind: "stranger" });
  });

  test("a signature with another client token is refused", () => {
    expect(verifyWebhook(signed(SIGNATURE), `${TOKEN}y`)).toEqual({ kind: "stranger" });
  });

  test("the handshake returns the secret only for the right client token", () => {
    expect(verifyWebhook(callWith({ clientToken: TOKEN, secret: "s-1" }), TOKEN)).toEqual({
      kind: "handshake",
      secret: "s-1",
    });
    for (const clientToken of ["", "correct-horse", `${TOKEN}x`, null, [TOKEN]])
      expect(verifyWebhook(callWith({ clientToken, secret: "s-1" }), TOKEN)).toEqual({ kind: "stranger" });
  });
});

describe("a webhook", () => {
  let trial: RbmTrial | null = null;
  const open = async (...given: Parameters<typeof openRbmTrial>): Promise<RbmTrial> => {
    trial = await openRbmTrial(...given);
    await trial.carrier.start(trial.take);
    return trial;
  };
  afterEach(async () => {
    await trial?.close();
    trial = null;
  });

  test("the handshake is answered, also before start", async () => {
    const { carrier, close } = await openRbmTrial();
    const answer = await carrier.handleWebhook(callWith({ clientToken: RBM_CLIENT_TOKEN, secret: "tell me" }));
    expect(answer).toEqual({ status: 200, text: "tell me" });
    expect((await carrier.handleWebhook(callWith({ clientToken: "wrong-token", secret: "tell me" }))).status).toBe(401);
    await close();
  });

  test("an unsigned request gets 401 and has no effect", async () => {
    const { carrier, inbound, receipts, optOuts } = await open();
    const unsigned = { ...signedCall({ ...FROM_PHONE, text: "hi" }), headers: {} };
    const forged = signedCall({ ...EVENT, eventType: "UNSUBSCRIBE" }, "another-client-token");
    for (const call of [unsigned, forged]) expect((await carrier.handleWebhook(call)).status).toBe(401);
    expect((await carrier.handleWebhook({ ...unsigned, method: "GET" })).status).toBe(400);
    expect([inbound, receipts, optOuts]).toEqual([[], [], []]);
  });

  test.each([
    ["DELIVERED", { state: "delivered", errorCode: null }],
    ["READ", { state: "read", errorCode: null }],
    ["TTL_EXPIRATION_REVOKED", { state: "expired", errorCode: "TTL_EXPIRATION_REVOKED" }],
  ])("%s is a receipt", async (eventType, expected) => {
    const { carrier, receipts } = await open();
    const { senderPhoneNumber: _, ...rest } = EVENT;
    const event = eventType.startsWith("TTL") ? { ...rest, phoneNumber: PHONE, sendTime: SENT_AT } : EVENT;
    expect(await carrier.handleWebhook(signedCall({ ...event, eventType }))).toEqual({ status: 200, text: "" });
    expect(receipts).toEqual([
      {
        carrier: "1/rbm",
        carrierMessageId: EVENT.messageId,
        recipient: "15550100100",
        channel: "rcs",
        description: expect.stringMatching(/./),
        at: eventType.startsWith("TTL") ? Date.parse(SENT_AT) : Date.UTC(2026, 0, 1, 12),
        ...expected,
      },
    ]);
  });

  test.each(["IS_TYPING", "TTL_EXPIRATION_REVOKE_FAILED"])("%s is acknowledged and ignored", async (eventType) => {
    const { carrier, receipts, inbound, logged } = await open();
    expect((await carrier.handleWebhook(signedCall({ ...EVENT, eventType }))).status).toBe(200);
    expect([receipts, inbound, logged]).toEqual([[], [], []]);
  });

  test("subscribe and unsubscribe events need no message", async () => {
    const { carrier, optOuts, inbound } = await open();
    for (const eventType of ["UNSUBSCRIBE", "SUBSCRIBE"])
      expect((await carrier.handleWebhook(signedCall({ ...EVENT, eventType }))).status).toBe(200);
    expect(optOuts).toEqual(["-15550100100", "+15550100100"]);
    expect(inbound).toEqual([]);
  });

  const FILE = { mimeType: "image/jpeg", fileSizeBytes: 1234, fileName: "a.jpg", fileUri: "https://files.example/a" };
  test.each<[string, object, object, object | null]>([
    ["a text", { text: "Where is it?" }, { kind: "text", text: "Where is it?" }, null],
    [
      "a reply of ours",
      { suggestionResponse: { postbackData: `R|${ID}:2|yes`, text: "Yes", type: "REPLY" } },
      { kind: "suggestion", plainText: "Yes", data: "yes", type: "REPLY" },
      { requestId: ID, n: 2 },
    ],
    [
      "a call",
      { suggestionResponse: { postbackData: `D|${ID}:2|+15550100199`, text: "Call us", type: "ACTION" } },
      { kind: "suggestion", plainText: "Call us", data: "+15550100199", type: "DIALER" },
      { requestId: ID, n: 2 },
    ],
    [
      "a tap on something that is not ours",
      { suggestionResponse: { postbackData: "menu", text: "Menu", type: "ACTION" } },
      { kind: "suggestion", plainText: "Menu", data: "menu", type: "ACTION" },
      null,
    ],
    [
      "a place",
      { location: { latitude: 42.7, longitude: 23.3 } },
      { kind: "location", latitude: 42.7, longitude: 23.3 },
      null,
    ],
    ["a place at zero", { location: { longitude: 23.3 } }, { kind: "location", latitude: 0, longitude: 23.3 }, null],
    [
      "a file",
      { userFile: { category: "IMAGE", payload: { ...FILE, fileSizeBytes: "1234" }, thumbnail: FILE } },
      { kind: "file", file: { category: "IMAGE", payload: FILE, thumbnail: FILE } },
      null,
    ],
    [
      "a file alone",
      { userFile: { category: "AUDIO", payload: { fileUri: "https://files.example/b" } } },
      {
        kind: "file",
        file: {
          category: "AUDIO",
          payload: { mimeType: "", fileSizeBytes: 0, fileName: "", fileUri: "https://files.example/b" },
          thumbnail: null,
        },
      },
      null,
    ],
    ["what no store can hold", { text: "a\0b\ud800" }, { kind: "text", text: "ab\ufffd" }, null],
  ])("inbound message: %s", async (_what, said, content, answers) => {
    const { carrier, inbound } = await open();
    expect((await carrier.handleWebhook(signedCall({ ...FROM_PHONE, ...said }))).status).toBe(200);
    expect(inbound).toEqual([
      {
        accountId: 1,
        id: expect.stringMatching(/^019b[0-9a-f]{4}-[0-9a-f]{4}-7/),
        channel: "rcs",
        from: "15550100100",
        to: "shop",
        content,
        answers,
        at: Date.parse(SENT_AT),
        origin: { carrier: expect.any(String), carrierMessageId: expect.any(String) },
      },
    ]);
  });

  test("repetitions have the same id, and other messages another", async () => {
    const { carrier, inbound, clock } = await open();
    const call = signedCall({ ...FROM_PHONE, text: "hi" });
    await carrier.handleWebhook(call);
    clock.advance(60_000);
    await carrier.handleWebhook(call);
    await carrier.handleWebhook(signedCall({ ...FROM_PHONE, messageId: "MxA2", text: "hi" }));
    const ids = inbound.map(({ id }) => id);
    expect(ids[0]).toBe(ids[1]);
    expect(new Set(ids).size).toBe(2);
  });

  test("an agent id with its domain is recognised", async () => {
    const { carrier, inbound } = await open();
    await carrier.handleWebhook(signedCall({ ...FROM_PHONE, agentId: "shop-agent@rbm.goog", text: "hi" }));
    expect(inbound[0]?.to).toBe("shop");
  });

  test.each([
    {},
    [],
    "no json",
    7,
    null,
    { ...FROM_PHONE },
    { ...FROM_PHONE, text: 7 },
    { ...FROM_PHONE, senderPhoneNumber: "somebody", text: "hi" },
    { ...FROM_PHONE, location: { latitude: 91, longitude: 0 } },
    { ...FROM_PHONE, userFile: { category: "IMAGE", payload: {} } },
    { ...FROM_PHONE, suggestionResponse: {} },
    { ...EVENT, eventType: "DELIVERED", messageId: "" },
    { ...EVENT, eventType: "toString" },
    { ...EVENT, eventType: "NEW_THING" },
    { eventType: "UNSUBSCRIBE" },
  ])("an unknown event is acknowledged and ignored: %j", async (event) => {
    const { carrier, inbound, receipts, optOuts, logged } = await open();
    expect((await carrier.handleWebhook(signedCall(event))).status).toBe(200);
    expect([inbound, receipts, optOuts]).toEqual([[], [], []]);
    expect(logged.join("")).toContain("RBM event unknown");
  });

  test("a webhook that could not be stored is repeated", async () => {
    const failing = (): Promise<void> => Promise.reject(new Error("the store is away"));
    const { carrier, receipts } = await open({ deps: { onInbound: failing, onOptOut: failing } });
    expect((await carrier.handleWebhook(signedCall({ ...FROM_PHONE, text: "hi" }))).status).toBe(503);
    expect((await carrier.handleWebhook(signedCall({ ...EVENT, eventType: "UNSUBSCRIBE" }))).status).toBe(503);
    await carrier.start(failing);
    expect((await carrier.handleWebhook(signedCall({ ...EVENT, eventType: "READ" }))).status).toBe(503);
    await carrier.stop();
    expect((await carrier.handleWebhook(signedCall({ ...EVENT, eventType: "READ" }))).status).toBe(503);
    expect(receipts).toEqual([]);
  });

  test("arbitrary requests neither throw nor pass without a signature", async () => {
    const believed: unknown[] = [];
    const believe = async (...told: unknown[]): Promise<void> => void believed.push(told);
    const { carrier } = await open({
      deps: { onInbound: believe, onOptOut: believe, onOptIn: believe, log: createLog("silent") },
    });
    await carrier.start(believe);
    const random = seeded(20_260_101);
    const odd: unknown[] = [];
    let believedCount = 0;
    const calls = repetitions(10_000, 100_000);
    for (let count = 0; count < calls; count += 1) {
      const isSigned = count % 2 === 0;
      const call = isSigned ? signedCall(mutatedEvent(random)) : strangeCall(random);
      const { status, text } = await carrier.handleWebhook(call);
      const isRight = isSigned ? status === 200 && believed.length <= 1 : status === 401 && believed.length === 0;
      // Everything accepted can be stored.
      const isStorable = believed.length === 0 || !/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(believed));
      if (!isRight || !isStorable || text !== "") odd.push([status, call.body.toString()]);
      believedCount += believed.length;
      believed.length = 0;
    }
    expect(odd).toEqual([]);
    expect(believedCount).toBeGreaterThan(calls / 10);
  });
});

type Random = (below: number) => number;

/** A fixed seed, so that failures are reproducible. */
function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const EVENTS: readonly object[] = [
  { ...FROM_PHONE, text: "Hello 👋\0" },
  { ...FROM_PHONE, suggestionResponse: { postbackData: `D|${ID}:2|+15550100199`, text: "Call", type: "ACTION" } },
  { ...FROM_PHONE, location: { latitude: 1.5, longitude: -1.5 } },
  { ...FROM_PHONE, userFile: { category: "IMAGE", payload: { fileUri: "https://f.example" }, thumbnail: null } },
  { ...EVENT, eventType: "DELIVERED" },
  { ...EVENT, eventType: "READ", sendTime: SENT_AT },
  { ...EVENT, eventType: "UNSUBSCRIBE" },
  { phoneNumber: PHONE, messageId: "m", eventType: "TTL_EXPIRATION_REVOKED", sendTime: "never" },
];
const VALUES: readonly unknown[] = [
  null, true, 0, -1, 1e308, "", "\ud800", "\0", [], {}, [[]], "x".repeat(300), "__proto__", "constructor", { toString: 1 },
  "9999-12-31T23:59:59Z", "+1", "+15550100100", `R|${ID}:1|x`,
]; // prettier-ignore
const WHOLE = EVENTS.map((event) => JSON.stringify(event));

const pickOf = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T;

/** Correctly signed, with arbitrary content: replaced fields, truncation, noise or deep nesting. */
function mutatedEvent(random: Random): string {
  const way = random(6);
  if (way === 0) return pickOf(random, WHOLE);
  if (way === 1) return damaged(random, pickOf(random, WHOLE));
  if (way === 2) return noise(random, random(80));
  if (way === 3 && random(50) === 0) return deep(random(5000));
  const event: Record<string, unknown> = { ...pickOf(random, EVENTS) };
  const name = pickOf(random, Object.keys(event));
  if (random(4) === 0) delete event[name];
  else event[name] = pickOf(random, VALUES);
  return JSON.stringify(event);
}

const deep = (depth: number): string => `${'{"text":['.repeat(depth)}1${"]}".repeat(depth)}`;

const noise = (random: Random, length: number): string =>
  String.fromCharCode(...Array.from({ length }, () => random(0xffff)));

function damaged(random: Random, text: string): string {
  const at = random(text.length);
  if (random(2) === 0) return text.slice(0, at);
  return text.slice(0, at) + noise(random, 1 + random(3)) + text.slice(at + random(4));
}

/** Not correctly signed, however close. */
function strangeCall(random: Random): PlatformWebhook {
  const right = signedCall(pickOf(random, EVENTS));
  const signature = String(right.headers["x-goog-signature"]);
  switch (random(7)) {
    case 0:
      return { ...right, headers: {} };
    case 1:
      return { ...right, headers: { "x-goog-signature": damaged(random, signature) } };
    case 2:
      return { ...signedCall(pickOf(random, EVENTS), "another-client-token"), query: noise(random, 3) };
    case 3:
      return { ...right, body: Buffer.from(noise(random, random(200))) };
    case 4:
      return { ...right, body: right.body.subarray(0, random(right.body.length)) };
    case 5:
      return callWith(
        random(100) === 0
          ? deep(random(5000))
          : { clientToken: pickOf(random, VALUES), secret: pickOf(random, VALUES) },
      );
    default:
      return callWith(
        { message: pickOf(random, VALUES), clientToken: "", secret: "s" },
        { "x-goog-signature": signature },
      );
  }
}
