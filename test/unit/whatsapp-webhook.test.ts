import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Carrier, Inbound } from "../../src/carriers/carrier.ts";
import type { PlatformAnswer, PlatformWebhook } from "../../src/carriers/http-platform.ts";
import { type WhatsappCarrierDeps, createWhatsappCarrier } from "../../src/carriers/whatsapp/carrier.ts";
import { createLog } from "../../src/lib/log.ts";
import type { InboundDetails } from "../../src/model/inbound.ts";
import { idOf } from "../../src/lib/ids.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import { callOf, signatureOf, signedCall } from "../support/fake-whatsapp.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { webhookHandlerOf, carrierDeps, SECRETS, VERIFY_TOKEN } from "../support/whatsapp-trial.ts";

const AT_SECONDS = 1_767_268_800;
const AT = AT_SECONDS * 1000;
const MESSAGE_ID = "019b5f0a-7c00-7000-8000-000000000001:3";
const REF = { accountId: 1, requestId: "019b5f0a-7c00-7000-8000-000000000001", n: 3 };

interface Listening {
  carrier: Carrier;
  receipts: Receipt[];
  inbound: Inbound[];
  post(body: Buffer, headers: PlatformWebhook["headers"]): Promise<PlatformAnswer>;
  /** Signs and posts. */
  tell(value: unknown): Promise<PlatformAnswer>;
}

async function listening(changes: Partial<WhatsappCarrierDeps> = {}): Promise<Listening> {
  const receipts: Receipt[] = [];
  const inbound: Inbound[] = [];
  const carrier = createWhatsappCarrier(
    carrierDeps({ clock: new MovedClock(AT), onInbound: async (each) => void inbound.push(each), ...changes }),
  );
  await carrier.start(async (receipt) => void receipts.push(receipt));
  const post: Listening["post"] = (body, headers) =>
    webhookHandlerOf(carrier)({ method: "POST", query: "", body, headers });
  return {
    carrier,
    receipts,
    inbound,
    post,
    tell: (value) => {
      const { body, headers } = signedCall(SECRETS.appSecret, value);
      return post(body, headers);
    },
  };
}

const status = (changes: object): object => ({
  id: "wamid.x",
  status: "delivered",
  timestamp: String(AT_SECONDS),
  recipient_id: "919876543210",
  biz_opaque_callback_data: MESSAGE_ID,
  ...changes,
});
const message = (changes: object): object => ({
  from: "919876543210",
  id: "wamid.in",
  timestamp: String(AT_SECONDS),
  ...changes,
});

describe("the handshake", () => {
  const ask = async (query: string, changes: Partial<WhatsappCarrierDeps> = {}): Promise<PlatformAnswer> =>
    webhookHandlerOf(createWhatsappCarrier(carrierDeps(changes)))({
      method: "GET",
      query,
      headers: {},
      body: Buffer.alloc(0),
    });
  const query = (token: string): string =>
    new URLSearchParams({
      "hub.mode": "subscribe",
      "hub.challenge": "1158201444",
      "hub.verify_token": token,
    }).toString();

  test("the handshake returns the challenge for the right verify token", async () => {
    expect(await ask(query(VERIFY_TOKEN))).toEqual({ status: 200, text: "1158201444" });
  });

  test.each([
    ["another token", query("another")],
    ["an empty token", query("")],
    ["no token", "hub.mode=subscribe&hub.challenge=1"],
    ["another mode", query(VERIFY_TOKEN).replace("subscribe", "unsubscribe")],
    ["no challenge", query(VERIFY_TOKEN).replace("hub.challenge", "hub.nothing")],
    ["nothing", ""],
  ])("the handshake is refused with %s", async (_, asked) => {
    expect((await ask(asked)).status).toBe(403);
  });

  test("the handshake is refused without a configured verify token", async () => {
    const changes = { secrets: { ...SECRETS, verifyToken: null } };
    expect((await ask(query(VERIFY_TOKEN), changes)).status).toBe(403);
    expect((await ask(query(""), changes)).status).toBe(403);
  });
});

describe("a webhook", () => {
  const told = callOf({ statuses: [status({})], messages: [message({ type: "text", text: { body: "Grüße 🌞" } })] });

  test("a webhook is accepted with a signature over the raw bytes", async () => {
    const { post, receipts, inbound } = await listening();
    // Reproducible with: printf '%s' "$body" | openssl dgst -sha256 -hmac fake-app-secret
    const body = Buffer.from('{"object":"whatsapp_business_account","entry":[]}');
    const signature = "sha256=" + createHmac("sha256", "fake-app-secret").update(body).digest("hex");
    expect(signature).toBe("sha256=fba0304b5bc26a376c2ff0b5a332da3307403347eb9ef25f5f4c0af76fb27df6");
    expect((await post(body, { "x-hub-signature-256": signature })).status).toBe(200);
    const { body: escaped, headers } = signedCall(SECRETS.appSecret, told);
    expect(escaped.toString("latin1")).toContain(String.raw`Gr\u00fc\u00dfe`);
    expect((await post(escaped, headers)).status).toBe(200);
    expect([receipts.length, inbound[0]?.content]).toEqual([1, { kind: "text", text: "Grüße 🌞" }]);
  });

  const body = Buffer.from(JSON.stringify(told));
  const right = signatureOf(SECRETS.appSecret, body);
  test.each<[string, PlatformWebhook["headers"], Buffer]>([
    ["without a signature", {}, body],
    ["with an empty one", { "x-hub-signature-256": "" }, body],
    ["with that of another secret", { "x-hub-signature-256": signatureOf("another", body) }, body],
    ["with a shorter one", { "x-hub-signature-256": right.slice(0, -2) }, body],
    ["with one of another kind", { "x-hub-signature-256": right.replace("sha256", "sha1") }, body],
    ["with two", { "x-hub-signature-256": [right, right] }, body],
    ["with the old kind alone", { "x-hub-signature": right }, body],
    ["with one byte more", { "x-hub-signature-256": right }, Buffer.concat([body, Buffer.from(" ")])],
  ])("a webhook is refused %s", async (_, headers, sent) => {
    const { post, receipts, inbound } = await listening();
    expect((await post(sent, headers)).status).toBe(401);
    expect([receipts, inbound]).toEqual([[], []]);
  });

  test("a webhook is refused without a configured app secret, whatever its signature", async () => {
    for (const appSecret of [null, ""]) {
      const { post, receipts } = await listening({ secrets: { ...SECRETS, appSecret } });
      expect((await post(body, { "x-hub-signature-256": signatureOf("", body) })).status).toBe(401);
      expect(receipts).toEqual([]);
    }
  });

  test("a repetition yields the same events with the same ids", async () => {
    const { tell, receipts, inbound } = await listening();
    for (const _ of [1, 2]) expect((await tell(told)).status).toBe(200);
    expect(receipts[1]).toEqual(receipts[0]);
    expect(inbound[1]).toEqual(inbound[0]);
    expect(inbound[0]?.id).toBe(idOf(AT, "wamid.in"));
  });

  test("a webhook is acknowledged once everything is stored, and repeated otherwise", async () => {
    let isAway = true;
    const kept: string[] = [];
    const onInbound = async (): Promise<void> => {
      if (isAway) throw new Error("the store is away");
      kept.push("inbound");
    };
    const { tell, receipts } = await listening({ onInbound });
    expect((await tell(told)).status).toBe(503);
    expect(receipts).toHaveLength(1);
    isAway = false;
    expect((await tell(told)).status).toBe(200);
    expect(kept).toEqual(["inbound"]);
  });

  test("the response waits for the commit", async () => {
    let commit = (): void => {};
    const onInbound = (): Promise<void> => new Promise((resolve) => (commit = resolve));
    const { tell } = await listening({ onInbound });
    let answered = false;
    const answer = tell(told).then((given) => {
      answered = true;
      return given;
    });
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    commit();
    expect((await answer).status).toBe(200);
  });

  test("before start it gets 503, but an unsigned one is refused", async () => {
    const { carrier, tell, post } = await listening();
    await carrier.stop();
    expect((await tell(told)).status).toBe(503);
    expect((await post(body, {})).status).toBe(401);
  });

  test("unknown fields are acknowledged and ignored", async () => {
    const { tell, receipts, inbound } = await listening();
    for (const value of [
      {},
      [],
      7,
      null,
      { entry: [{ changes: [{ field: "account_update", value: { event: "X" } }] }] },
    ])
      expect((await tell(value)).status).toBe(200);
    expect([receipts, inbound]).toEqual([[], []]);
  });

  test("a signed request that is not JSON is refused", async () => {
    const { post } = await listening();
    const sent = Buffer.from("{");
    expect((await post(sent, { "x-hub-signature-256": signatureOf(SECRETS.appSecret, sent) })).status).toBe(400);
  });
});

describe("a status webhook", () => {
  const receiptOf = async (changes: object): Promise<Receipt | undefined> => {
    const { tell, receipts } = await listening();
    expect((await tell(callOf({ statuses: [status(changes)] }))).status).toBe(200);
    return receipts[0];
  };

  test.each([
    ["sent", "enroute"],
    ["delivered", "delivered"],
    ["read", "read"],
    ["played", "read"],
  ])("%s is %s", async (said, state) => {
    expect(await receiptOf({ status: said })).toEqual({
      carrier: "1/wa",
      carrierMessageId: "wamid.x",
      recipient: "919876543210",
      ref: REF,
      channel: "chatapp",
      state,
      errorCode: null,
      description: null,
      at: AT,
    });
  });

  test("a failure carries the platform's code and a description", async () => {
    const errors = [{ code: 131049, title: "gone one day", error_data: { details: "…" } }];
    expect(await receiptOf({ status: "failed", errors })).toMatchObject({
      state: "undelivered",
      errorCode: "131049",
      description: expect.stringContaining("marketing"),
    });
    expect(await receiptOf({ status: "failed" })).toMatchObject({ state: "undelivered", errorCode: "FAILED" });
  });

  test.each([undefined, null, 7, "somebody else's", "019b5f0a-7c00-7000-8000-000000000001:0", `${MESSAGE_ID}'`])(
    "a status webhook is matched by the platform's id alone if it echoes %j",
    async (echoed) => {
      const receipt = await receiptOf({ biz_opaque_callback_data: echoed });
      expect([receipt?.carrierMessageId, receipt?.ref]).toEqual(["wamid.x", undefined]);
    },
  );

  test("a status webhook is accepted without the recipient's number, which users may hide", async () => {
    const receipt = await receiptOf({ recipient_id: undefined, recipient_user_id: "US.13491208655302741918" });
    expect(receipt).toMatchObject({ state: "delivered", ref: REF });
    expect(receipt).not.toHaveProperty("recipient");
  });

  test("an unknown status, or one without id, is ignored", async () => {
    expect(await receiptOf({ status: "teleported" })).toBeUndefined();
    expect(await receiptOf({ status: "constructor" })).toBeUndefined();
    expect(await receiptOf({ id: undefined })).toBeUndefined();
  });

  test.each(["soon", "", "-1", "99999999999999", null])(
    "an invalid time such as %j is replaced by the current time",
    async (timestamp) => {
      expect((await receiptOf({ timestamp }))?.at).toBe(AT);
    },
  );
});

describe("an inbound message", () => {
  const heard = async (changes: object, more: Partial<WhatsappCarrierDeps> = {}): Promise<Inbound[]> => {
    const { tell, inbound } = await listening(more);
    expect((await tell(callOf({ messages: [message(changes)] }))).status).toBe(200);
    return inbound;
  };
  const file = (category: string, fileName = "", mimeType = "image/jpeg"): object => ({
    kind: "file",
    file: {
      category,
      payload: { mimeType, fileSizeBytes: 0, fileName, fileUri: "https://graph.facebook.com/v26.0/4490709327384033" },
      thumbnail: null,
    },
  });
  const media = (more: object = {}): object => ({
    id: "4490709327384033",
    mime_type: "image/jpeg",
    sha256: "x",
    ...more,
  });
  const reply = (plainText: string, data: string): object => ({ kind: "suggestion", plainText, data, type: "REPLY" });
  const UNSHOWABLE = { kind: "text", text: "[unsupported message]" };

  test.each<[string, object, object[]]>([
    ["a text", { type: "text", text: { body: "Stop" } }, [{ kind: "text", text: "Stop" }]],
    ["a text with a NUL and half a character", { type: "text", text: { body: "a\0\ud83d" } }, [{ kind: "text", text: "a\ufffd" }]],
    ["a tap on a template's button", { type: "button", button: { payload: "yes-1", text: "Yes" } }, [reply("Yes", "yes-1")]],
    ["a tap without data behind it", { type: "button", button: { text: "Yes" } }, [reply("Yes", "Yes")]],
    ["a tap on a button", { type: "interactive", interactive: { type: "button_reply", button_reply: { id: "b1", title: "Now" } } }, [reply("Now", "b1")]],
    ["a choice of a list", { type: "interactive", interactive: { type: "list_reply", list_reply: { id: "l1", title: "Tea", description: "hot" } } }, [reply("Tea", "l1")]],
    ["an image", { type: "image", image: media() }, [file("image")]],
    ["an image with words", { type: "image", image: media({ caption: "Look" }) }, [file("image"), { kind: "text", text: "Look" }]],
    ["a video", { type: "video", video: media({ mime_type: "video/mp4" }) }, [file("video", "", "video/mp4")]],
    ["a document", { type: "document", document: media({ filename: "cv.pdf", mime_type: "application/pdf" }) }, [file("document", "cv.pdf", "application/pdf")]],
    ["a voice message", { type: "audio", audio: media({ voice: true, mime_type: "audio/ogg; codecs=opus" }) }, [file("audio", "", "audio/ogg; codecs=opus")]],
    ["a sticker", { type: "sticker", sticker: media({ animated: false, mime_type: "image/webp" }) }, [file("sticker", "", "image/webp")]],
    ["a place", { type: "location", location: { latitude: 52.5, longitude: 13.4, name: "Berlin" } }, [{ kind: "location", latitude: 52.5, longitude: 13.4 }]],
    ["no place on earth", { type: "location", location: { latitude: 152.5, longitude: 13.4 } }, [UNSHOWABLE]],
    ["contacts", { type: "contacts", contacts: [{ name: { formatted_name: "Asha Rao" }, phones: [{ phone: "+91 98765 43210", type: "HOME" }] }, { name: { formatted_name: "Bo" } }] }, [{ kind: "text", text: "Asha Rao +91 98765 43210\nBo" }]],
    ["a reaction", { type: "reaction", reaction: { message_id: "wamid.x", emoji: "👍" } }, [{ kind: "text", text: "👍" }]],
    ["a reaction that is taken back", { type: "reaction", reaction: { message_id: "wamid.x" } }, []],
    ["an order", { type: "order", order: { catalog_id: "1", text: "Soon please", product_items: [{ product_retailer_id: "sku-1", quantity: 2, item_price: 3, currency: "EUR" }] } }, [{ kind: "text", text: "Soon please\n2 × sku-1" }]],
    ["what the platform cannot show", { type: "unsupported", errors: [{ code: 131051 }] }, [UNSHOWABLE]],
    ["something new", { type: "hologram", hologram: {} }, [UNSHOWABLE]],
    ["what no user sent", { type: "system", system: { body: "changed the number" } }, []],
  ])("%s is converted", async (_, changes, contents) => {
    const inbound = await heard(changes);
    expect(inbound.map(({ content }) => content)).toEqual(contents);
    for (const each of inbound)
      expect(each).toMatchObject({ accountId: 1, channel: "chatapp", from: "919876543210", to: "+15550783881", at: AT });
    expect(new Set(inbound.map(({ id }) => id)).size).toBe(contents.length);
  }); // prettier-ignore

  /** Each with the page of the platform that its webhook was checked against, below …/whatsapp/webhooks/reference/messages. */
  test.each<[page: string, changes: object, details: InboundDetails]>([
    ["text", { type: "text", text: { body: "Hi" } }, { kind: "text" }],
    ["text", { type: "text", text: { body: "Hi" }, context: { forwarded: true } }, { kind: "text", forwarded: true }],
    ["text", { type: "text", text: { body: "Hi" }, context: { frequently_forwarded: true } }, { kind: "text", forwarded: true }],
    ["text", { type: "text", text: { body: "This?" }, context: { id: "wamid.x", referred_product: { catalog_id: "194", product_retailer_id: "sku-1" } } }, { kind: "text", product: { catalogId: "194", productId: "sku-1" } }],
    ["text", { type: "text", text: { body: "Is it free?" }, referral: { source_url: "https://fb.me/3cr", source_id: "1202", source_type: "ad", body: "All plants", headline: "Autumn sale", media_type: "image", image_url: "https://scontent.example/a", ctwa_clid: "Aff" } }, { kind: "text", referral: { sourceType: "ad", sourceId: "1202", sourceUrl: "https://fb.me/3cr", headline: "Autumn sale", body: "All plants", mediaType: "image", mediaUrl: "https://scontent.example/a", clickId: "Aff" } }],
    ["text", { type: "text", text: { body: "Hi" }, referral: { source_type: "post", media_type: "video", video_url: "https://scontent.example/v" } }, { kind: "text", referral: { sourceType: "post", mediaType: "video", mediaUrl: "https://scontent.example/v" } }],
    ["image", { type: "image", image: media() }, { kind: "image" }],
    ["audio", { type: "audio", audio: media({ voice: true }) }, { kind: "audio", voice: true }],
    ["sticker", { type: "sticker", sticker: media() }, { kind: "sticker" }],
    ["button", { type: "button", button: { payload: "yes-1", text: "Yes" } }, { kind: "button" }],
    ["interactive", { type: "interactive", interactive: { type: "button_reply", button_reply: { id: "b1", title: "Now" } } }, { kind: "button_reply" }],
    ["interactive", { type: "interactive", interactive: { type: "list_reply", list_reply: { id: "l1", title: "Tea", description: "hot" } } }, { kind: "list_reply", description: "hot" }],
    ["interactive", { type: "interactive", interactive: { type: "nfm_reply", nfm_reply: { name: "flow", body: "Sent", response_json: '{"a":1}' } } }, { kind: "flow_reply", flow: { name: "flow", response: '{"a":1}' } }],
    ["location", { type: "location", location: { latitude: 52.5, longitude: 13.4, name: "Shop", address: "Main St", url: "https://shop.example" } }, { kind: "location", place: { name: "Shop", address: "Main St", url: "https://shop.example" } }],
    ["contacts", { type: "contacts", contacts: [{ name: { formatted_name: "Asha Rao" }, org: { company: "Shrub" }, phones: [{ phone: "+91 98765 43210", type: "HOME", wa_id: "919876543210" }], emails: [{ email: "asha@shrub.example" }] }] }, { kind: "contacts", contacts: [{ name: "Asha Rao", company: "Shrub", phones: [{ phone: "+91 98765 43210", type: "HOME", waId: "919876543210" }], emails: [{ email: "asha@shrub.example" }] }] }],
    ["reaction", { type: "reaction", reaction: { message_id: "wamid.x", emoji: "👍" } }, { kind: "reaction", reaction: { emoji: "👍" } }],
    ["order", { type: "order", order: { catalog_id: "194", product_items: [{ product_retailer_id: "sku-1", quantity: 2, item_price: 3.5, currency: "EUR" }] } }, { kind: "order", order: { catalogId: "194", items: [{ productId: "sku-1", quantity: 2, price: 3.5, currency: "EUR" }] } }],
    ["unsupported", { type: "unsupported", errors: [{ code: 131051, title: "Unsupported message type" }] }, { kind: "unsupported", unsupported: { code: 131051, title: "Unsupported message type" } }],
    ["unsupported", { type: "hologram", hologram: {} }, { kind: "unsupported" }],
  ])("the details of the page %s are kept: %j", async (_, changes, details) => {
    const [first] = await heard(changes);
    expect(first?.details).toEqual(details);
    expect(first?.origin).toEqual({ carrier: "1/wa", carrierMessageId: "wamid.in" });
  }); // prettier-ignore

  test("the details of a file with words are those of the file, once", async () => {
    const inbound = await heard({ type: "image", image: media({ caption: "Look" }), context: { forwarded: true } });
    expect(inbound.map(({ details }) => details)).toEqual([{ kind: "image", forwarded: true }, undefined]);
  });

  test("an inbound message refers to the message it replies to, if known", async () => {
    const asked: string[] = [];
    const messageOf: WhatsappCarrierDeps["messageOf"] = async (id) => {
      asked.push(id);
      return id === "wamid.x" ? { requestId: REF.requestId, n: 3 } : null;
    };
    const text = { type: "text", text: { body: "Yes" } };
    const context = { from: "15550783881", id: "wamid.x" };
    expect((await heard({ ...text, context }, { messageOf }))[0]?.answers).toEqual({ requestId: REF.requestId, n: 3 });
    expect((await heard({ ...text, context: { id: "wamid.z" } }, { messageOf }))[0]?.answers).toBeNull();
    expect((await heard({ ...text, context }))[0]?.answers).toBeNull();
    const reaction = { type: "reaction", reaction: { message_id: "wamid.x", emoji: "👍" } };
    expect((await heard(reaction, { messageOf }))[0]?.answers).toEqual({ requestId: REF.requestId, n: 3 });
    expect(asked).toEqual(["wamid.x", "wamid.z", "wamid.x"]);
  });

  test("an inbound message is ignored if the user shows no number, and only counted in the log", async () => {
    const lines: string[] = [];
    const log = createLog("debug", { write: (line) => void lines.push(line) });
    const text = { type: "text", text: { body: "canary" } };
    expect(await heard({ ...text, from: undefined, from_user_id: "US.13491208655302741918" }, { log })).toEqual([]);
    expect(await heard({ ...text, from: "US.13491208655302741918" }, { log })).toEqual([]);
    expect(lines.map((line) => (JSON.parse(line) as { count: number }).count)).toEqual([1, 1]);
    expect(lines.join("")).not.toMatch(/canary|US\.|\d{7}(?!\d*Z)/);
  });

  test("an inbound message's recipient is the displayed number, in any format", async () => {
    const { tell, inbound } = await listening();
    const call = callOf(
      { messages: [message({ type: "text", text: { body: "Hi" } })] },
      { displayNumber: "+1 (555) 010-0199", businessAccountId: "1", phoneNumberIds: ["2"] },
    );
    await tell(call);
    expect(inbound[0]?.to).toBe("+15550100199");
  });

  test("without id or time it is ignored, because repetitions could not be detected", async () => {
    const text = { type: "text", text: { body: "Hi" } };
    expect(await heard({ ...text, id: "" })).toEqual([]);
    expect(await heard({ ...text, timestamp: "later" })).toEqual([]);
  });
});

describe("a template status webhook", () => {
  const about = (field: string, more: object): object => ({
    entry: [
      {
        id: "102290129340398",
        changes: [
          {
            field,
            value: {
              message_template_id: 1,
              message_template_name: "order_update",
              message_template_language: "en_US",
              ...more,
            },
          },
        ],
      },
    ],
  });
  const news = (event: string, more: object = {}): object =>
    about("message_template_status_update", { event, reason: "NONE", ...more });
  const toldOf = async (value: object): Promise<object[]> => {
    const told: object[] = [];
    const { tell } = await listening({ onTemplateStatus: async (given) => void told.push(given) });
    expect((await tell(value)).status).toBe(200);
    return told;
  };
  const NAMED = { name: "order_update", language: "en_US", businessAccountId: "102290129340398" };

  test.each([
    ["APPROVED", "approved"],
    ["PAUSED", "paused"],
    ["DISABLED", "paused"],
    ["REJECTED", "draft"],
    ["SOMETHING_NEW", null],
  ])("%s is reported as %s", async (event, expected) => {
    expect(await toldOf(news(event))).toEqual(
      expected === null ? [] : [{ ...NAMED, status: expected, platform: { status: event, reason: null } }],
    );
  });

  test.each([
    [{ reason: "INVALID_FORMAT" }, "INVALID_FORMAT: its placeholders or its format are wrong"],
    [{ reason: "BRAND_NEW" }, "BRAND_NEW"],
    [{ other_info: { title: "FIRST_PAUSE", description: "Low quality" } }, "FIRST_PAUSE: Low quality"],
    [
      { reason: "PROMOTIONAL", rejection_info: { reason: "It has an offer", recommendation: "Use marketing" } },
      "PROMOTIONAL: it advertises in a category that may not: It has an offer: Use marketing",
    ],
    [{ reason: "constructor" }, "constructor"],
  ])("a rejection with %j has the platform's reason", async (more, reason) => {
    expect(await toldOf(news("REJECTED", more))).toMatchObject([{ platform: { status: "REJECTED", reason } }]);
  });

  test.each<[string, object, object[]]>([
    [
      "message_template_quality_update",
      { previous_quality_score: "GREEN", new_quality_score: "RED" },
      [{ ...NAMED, platform: { quality: "RED" } }],
    ],
    ["message_template_quality_update", { new_quality_score: "UNKNOWN" }, [{ ...NAMED, platform: { quality: null } }]],
    [
      "template_category_update",
      { previous_category: "UTILITY", new_category: "MARKETING" },
      [{ ...NAMED, category: "marketing" }],
    ],
    ["template_category_update", { new_category: "POETRY" }, []],
    ["constructor", { new_category: "MARKETING" }, []],
  ])("%s with %j is reported", async (field, more, expected) => {
    expect(await toldOf(about(field, more))).toEqual(expected);
  });

  test("a template status webhook is repeated if it could not be stored, and ignored without a handler", async () => {
    const { tell } = await listening({ onTemplateStatus: () => Promise.reject(new Error("the store is away")) });
    expect((await tell(news("PAUSED"))).status).toBe(503);
    expect((await (await listening()).tell(news("PAUSED"))).status).toBe(200);
  });
});

describe("a webhook of user preferences", () => {
  // In the form of the platform's page "user_preferences webhook reference".
  const preference = (changes: object): object => ({
    entry: [
      {
        id: "102290129340398",
        changes: [
          {
            field: "user_preferences",
            value: {
              messaging_product: "whatsapp",
              metadata: { display_phone_number: "15550783881", phone_number_id: "106540352242922" },
              contacts: [{ profile: { name: "Ada" }, wa_id: "919876543210" }],
              user_preferences: [
                {
                  wa_id: "919876543210",
                  detail: "User requested to stop marketing messages",
                  category: "marketing_messages",
                  value: "stop",
                  timestamp: AT_SECONDS,
                  ...changes,
                },
              ],
            },
          },
        ],
      },
    ],
  });
  async function changesOf(changes: object): Promise<string[]> {
    const told: string[] = [];
    const { tell } = await listening({
      onOptOut: async (number, at) => void told.push(`out ${number} ${at}`),
      onOptIn: async (number, at) => void told.push(`in ${number} ${at}`),
    });
    expect((await tell(preference(changes))).status).toBe(200);
    return told;
  }

  test("a stop of marketing messages opts the number out, and a resumption opts it in", async () => {
    expect(await changesOf({})).toEqual([`out 919876543210 ${AT}`]);
    expect(await changesOf({ value: "resume" })).toEqual([`in 919876543210 ${AT}`]);
  });

  test("a time in the future counts as now", async () => {
    expect(await changesOf({ timestamp: AT_SECONDS + 3600 })).toEqual([`out 919876543210 ${AT}`]);
  });

  test.each([{ category: "utility_messages" }, { value: "pause" }, { wa_id: "" }, { wa_id: null }, { wa_id: {} }])(
    "a preference with %j changes nothing",
    async (changes) => {
      expect(await changesOf(changes)).toEqual([]);
    },
  );

  test("a preference that could not be stored is repeated", async () => {
    const { tell } = await listening({ onOptOut: () => Promise.reject(new Error("the store is away")) });
    expect((await tell(preference({}))).status).toBe(503);
  });
});
