import { expect, test } from "vitest";
import type { Inbound } from "../../src/carriers/carrier.ts";
import type { PlatformWebhook } from "../../src/carriers/http-platform.ts";
import { createWhatsappCarrier } from "../../src/carriers/whatsapp/carrier.ts";
import { isUuid } from "../../src/lib/ids.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import { Random } from "../fuzz/random.ts";
import { callOf, signatureOf } from "../support/fake-whatsapp.ts";
import { repetitions, testSeed } from "../support/repetitions.ts";
import { webhookHandlerOf, carrierDeps, SECRETS, VERIFY_TOKEN } from "../support/whatsapp-trial.ts";

const BODIES = repetitions(4000, 100_000);
/** Printed with every failure. */
const SEED = testSeed(process.env["FUZZ_SEED"]);

const at = String(Math.floor(Date.now() / 1000));
const message = { from: "919876543210", id: "wamid.in", timestamp: at };
const SEEDS: readonly object[] = [
  callOf({
    statuses: [
      {
        id: "wamid.x",
        status: "failed",
        timestamp: at,
        recipient_id: "919876543210",
        biz_opaque_callback_data: "019b5f0a-7c00-7000-8000-000000000001:3",
        errors: [{ code: 131026, title: "…", error_data: { details: "…" } }],
      },
    ],
  }),
  callOf({ messages: [{ ...message, type: "text", text: { body: "Hi" }, context: { id: "wamid.x" } }] }),
  callOf({ messages: [{ ...message, type: "image", image: { id: "1", mime_type: "image/png", caption: "Look" } }] }),
  callOf({
    messages: [
      { ...message, type: "contacts", contacts: [{ name: { formatted_name: "A" }, phones: [{ phone: "1" }] }] },
    ],
  }),
  callOf({
    messages: [
      { ...message, type: "interactive", interactive: { type: "list_reply", list_reply: { id: "1", title: "A" } } },
    ],
  }),
  callOf({
    messages: [
      { ...message, type: "order", order: { text: "A", product_items: [{ product_retailer_id: "1", quantity: 2 }] } },
    ],
  }),
  callOf({
    messages: [
      { ...message, type: "location", location: { latitude: 1.5, longitude: 2.5, name: "A", address: "B", url: "C" } },
    ],
  }),
  callOf({ messages: [{ ...message, type: "button", button: { text: "Yes", payload: "yes" }, context: { id: "x" } }] }),
  callOf({
    messages: [
      {
        ...message,
        type: "interactive",
        interactive: { type: "nfm_reply", nfm_reply: { name: "flow", body: "Sent", response_json: "{}" } },
      },
    ],
  }),
  callOf({ messages: [{ ...message, type: "reaction", reaction: { message_id: "wamid.x", emoji: "👍" } }] }),
  callOf({ messages: [{ ...message, type: "audio", audio: { id: "1", mime_type: "audio/ogg", voice: true } }] }),
  callOf({ messages: [{ ...message, type: "unsupported", errors: [{ code: 131051, title: "Unsupported" }] }] }),
  callOf({
    messages: [
      {
        ...message,
        type: "text",
        text: { body: "Hi" },
        context: { forwarded: true, referred_product: { catalog_id: "1", product_retailer_id: "2" } },
        referral: { source_type: "ad", source_id: "1", source_url: "https://a.example", headline: "A", ctwa_clid: "b" },
      },
    ],
  }),
  {
    entry: [
      {
        changes: [
          {
            field: "message_template_status_update",
            value: {
              event: "PAUSED",
              message_template_name: "a",
              message_template_language: "en",
              reason: "NONE",
              other_info: { title: "FIRST_PAUSE", description: "A" },
              rejection_info: { reason: "A", recommendation: "B" },
            },
          },
          {
            field: "message_template_quality_update",
            value: { message_template_name: "a", message_template_language: "en", new_quality_score: "RED" },
          },
          {
            field: "template_category_update",
            value: { message_template_name: "a", message_template_language: "en", new_category: "MARKETING" },
          },
          {
            field: "user_preferences",
            value: {
              user_preferences: [
                { wa_id: "919876543210", category: "marketing_messages", value: "stop", timestamp: Number(at) },
              ],
            },
          },
        ],
      },
    ],
  },
];
const ODD: readonly unknown[] = [
  null, true, 0, -1, 1e308, 2 ** 53, "", "\0", "\ud800", "__proto__", "constructor", "messages", "statuses", [], {}, [[]],
  "9".repeat(400), "+919876543210", "failed", "text", "text".repeat(500),
]; // prettier-ignore

// Parsed for each use, so that mutations do not accumulate.
const SEED_TEXTS = SEEDS.map((seed) => JSON.stringify(seed));
const ODD_TEXTS = ODD.map((odd) => JSON.stringify(odd));

/** A webhook with one mutated value. */
function bent(random: Random): string {
  const call = JSON.parse(random.pick(SEED_TEXTS)) as object;
  for (let times = random.below(3); times > 0; times -= 1) {
    let place: Record<string, unknown> = call as Record<string, unknown>;
    for (;;) {
      const name = random.pick(Object.keys(place));
      const inside = place[name];
      const isDeep = typeof inside === "object" && inside !== null && Object.keys(inside).length > 0;
      if (isDeep && random.below(6) > 0) {
        place = inside as Record<string, unknown>;
        continue;
      }
      if (random.below(5) === 0) delete place[name];
      else place[name] = JSON.parse(random.pick(random.below(8) === 0 ? SEED_TEXTS : ODD_TEXTS));
      break;
    }
    if (Object.keys(call).length === 0) break;
  }
  return JSON.stringify(call);
}

function bodyOf(random: Random): Buffer {
  const kind = random.below(10);
  if (kind === 0) return Buffer.from(Array.from({ length: random.below(300) }, () => random.below(256)));
  if (kind === 1 && random.below(20) === 0) {
    const depth = 1 + random.below(20_000);
    return Buffer.from("[".repeat(depth) + (random.below(2) === 0 ? "]".repeat(depth) : ""));
  }
  if (kind === 2 && random.below(20) === 0) {
    const depth = 1 + random.below(5000);
    return Buffer.from(`{"entry":[{"changes":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}]}`);
  }
  const body = Buffer.from(bent(random));
  if (kind === 3) return body.subarray(0, random.below(body.length));
  if (kind === 4)
    for (let times = 1 + random.below(5); times > 0; times -= 1) body[random.below(body.length)] = random.below(256);
  return body;
}

/** Cheap, because it runs once for every body. */
const isClean = (words: string): boolean => words.isWellFormed() && !words.includes("\0");

test(`arbitrary webhooks are answered, and nothing unsigned is stored`, async () => {
  const random = new Random(SEED);
  const receipts: Receipt[] = [];
  const inbound: Inbound[] = [];
  const names: string[] = [];
  const changes: { number: string; at: number }[] = [];
  const carrier = createWhatsappCarrier(
    carrierDeps({
      onInbound: async (each) => void inbound.push(each),
      onTemplateStatus: async (told) => void names.push(JSON.stringify(told)),
      onOptOut: async (number, since) => void changes.push({ number, at: since }),
      onOptIn: async (number, since) => void changes.push({ number, at: since }),
    }),
  );
  await carrier.start(async (receipt) => void receipts.push(receipt));
  const called = webhookHandlerOf(carrier);
  const answers = new Set<string>();
  let kept = 0;
  for (let count = 0; count < BODIES; count += 1) {
    const body = bodyOf(random);
    const isSigned = random.below(2) === 0;
    const isQuestion = random.below(10) === 0;
    const call: PlatformWebhook = isQuestion
      ? { method: "GET", query: body.toString("latin1").replace(VERIFY_TOKEN, ""), headers: {}, body: Buffer.alloc(0) }
      : { method: "POST", query: "", headers: headersFor(random, body, isSigned), body };
    const { status } = await called(call);
    const isKept = receipts.length + inbound.length + changes.length > 0;
    const key = `${isQuestion ? "question" : isSigned ? "signed" : "unsigned"} ${status}`;
    answers.add(isKept ? `${key}, kept` : key);
    kept += isKept ? 1 : 0;
    const areRight = [
      receipts.splice(0).every(isReceipt),
      inbound.splice(0).every(isInbound),
      names.splice(0).every(isStorable),
      changes.splice(0).every((change) => /^\d{7,15}$/.test(change.number) && Number.isSafeInteger(change.at)),
    ];
    if (areRight.includes(false))
      throw new Error(`something was kept that no store takes: ${body.toString("base64")}; seed ${SEED}`);
  }
  const right = ["question 403", "signed 200", "signed 200, kept", "signed 400", "unsigned 401"];
  expect([...answers].toSorted(), `seed ${SEED}`).toEqual(right);
  expect(kept).toBeGreaterThan(BODIES / 100);
});

function headersFor(random: Random, body: Buffer, isSigned: boolean): PlatformWebhook["headers"] {
  const sign = (secret: string, more = ""): string => signatureOf(secret, Buffer.concat([body, Buffer.from(more)]));
  const under = (signature: string | string[]): PlatformWebhook["headers"] => ({ "x-hub-signature-256": signature });
  if (isSigned) return under(sign(SECRETS.appSecret));
  switch (random.below(6)) {
    case 0:
      return under(sign("another"));
    case 1:
      return under(sign(SECRETS.appSecret, " "));
    case 2:
      return under(sign(SECRETS.appSecret).slice("sha256=".length));
    case 3:
      return under([sign(SECRETS.appSecret)]);
    case 4:
      return under(`${sign(SECRETS.appSecret)} `);
    default:
      return {};
  }
}

const isReceipt = ({ carrierMessageId, errorCode, description, recipient, at: time }: Receipt): boolean =>
  isClean(carrierMessageId) &&
  isClean(errorCode ?? "") &&
  isClean(description ?? "") &&
  /^(?:[1-9]\d{6,14})?$/.test(recipient ?? "") &&
  Number.isSafeInteger(time);

/** JSON writes NUL and half a character as escapes. */
const isStorable = (json: string): boolean => isClean(json) && !/\\u(?:0000|d[89a-f])/.test(json);

const isInbound = ({ id = "", from, to, content, details, origin, at: time }: Inbound): boolean =>
  isUuid(id) &&
  /^[1-9]\d{6,14}$/.test(from) &&
  /^\+[1-9]\d{6,14}$/.test(to) &&
  [content, details ?? null, origin ?? null].map((each) => JSON.stringify(each)).every(isStorable) &&
  Number.isSafeInteger(time);
