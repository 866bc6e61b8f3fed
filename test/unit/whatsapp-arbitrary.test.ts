import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Inbound } from "../../src/carriers/carrier.ts";
import { createWhatsappCarrier } from "../../src/carriers/whatsapp/carrier.ts";
import { isObject } from "../../src/lib/json.ts";
import { createLog } from "../../src/lib/log.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import { callOf, signatureOf, signedCall } from "../support/fake-whatsapp.ts";
import { repetitions } from "../support/repetitions.ts";
import { carrierDeps, SECRETS, webhookHandlerOf } from "../support/whatsapp-trial.ts";

const COMMON = { from: "919876543210", id: "wamid.in", timestamp: "1767268800" };
const FILE = { id: "1", mime_type: "image/jpeg", sha256: "x", caption: "Look" };

/** One message of every kind that users send, and the other events. */
const VALUES: readonly object[] = [
  ...[
    { type: "text", text: { body: "Hello 👋\0" }, context: { id: "wamid.out", forwarded: true } },
    { type: "text", text: { body: "Hi" }, referral: { source_url: "https://ad.example", source_type: "ad", headline: "Sale" } },
    { type: "image", image: FILE },
    { type: "document", document: { ...FILE, filename: "a.pdf" } },
    { type: "location", location: { latitude: 1.5, longitude: -1.5, name: "Shop" } },
    { type: "contacts", contacts: [{ name: { formatted_name: "Ada" }, phones: [{ phone: "+1" }] }] },
    { type: "interactive", interactive: { type: "list_reply", list_reply: { id: "1", title: "One", description: "x" } } },
    { type: "interactive", interactive: { type: "nfm_reply", nfm_reply: { response_json: '{"a":1}', name: "flow" } } },
    { type: "button", button: { text: "Yes", payload: "y" } },
    { type: "reaction", reaction: { message_id: "wamid.out", emoji: "👍" } },
    { type: "order", order: { catalog_id: "1", product_items: [{ product_retailer_id: "a", quantity: 1, item_price: 2, currency: "INR" }] } },
    { type: "unsupported", errors: [{ code: 131051 }] },
  ].map((message) => ({ messages: [{ ...COMMON, ...message }] })),
  { statuses: [{ id: "wamid.x", status: "failed", timestamp: "1767268800", errors: [{ code: 131026, title: "No" }] }] },
  { user_preferences: [{ wa_id: "919876543210", category: "marketing_messages", value: "stop", timestamp: 1767268800 }] },
]; // prettier-ignore

const ODD = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1e308, "", "\0", "\ud800", "__proto__", [], {}, [[]], "9".repeat(400)),
  fc.jsonValue({ maxDepth: 3 }),
);

/** The value with one of its parts replaced; `place` chooses it. */
function replaced(value: unknown, place: number, odd: unknown): unknown {
  if (place % 5 === 0 || typeof value !== "object" || value === null) return odd;
  const next = Math.floor(place / 5);
  if (Array.isArray(value)) return value.map((each) => replaced(each, next, odd));
  const names = Object.keys(value);
  const name = names[next % Math.max(1, names.length)] ?? "";
  const member = isObject(value) ? value[name] : undefined;
  return { ...value, [name]: replaced(member, Math.floor(next / Math.max(1, names.length)), odd) };
}

describe("a signed WhatsApp webhook", () => {
  test("with arbitrary parts is answered, and only what a store takes is kept", async () => {
    const kept: (Inbound | Receipt)[] = [];
    const keep = async (event: Inbound | Receipt): Promise<void> => void kept.push(event);
    const carrier = createWhatsappCarrier(carrierDeps({ onInbound: keep, log: createLog("silent") }));
    await carrier.start(keep);
    const handle = webhookHandlerOf(carrier);
    let keptCount = 0;
    const whole = fc.tuple(fc.constantFrom(...VALUES), fc.nat(), ODD, fc.nat({ max: 4 }));
    await fc.assert(
      fc.asyncProperty(whole, async ([value, place, odd, cut]) => {
        const event = callOf(value);
        const call = signedCall(SECRETS.appSecret, cut === 0 ? event : replaced(event, place, odd));
        const body = cut === 1 ? call.body.subarray(0, place % (call.body.length + 1)) : call.body;
        const headers = { "x-hub-signature-256": signatureOf(SECRETS.appSecret, body) };
        const { status } = await handle({ method: "POST", query: "", body, headers });
        expect([200, 400]).toContain(status);
        expect(JSON.stringify(kept)).not.toMatch(/\\u0000|\\ud[89a-f]/i);
        keptCount += kept.length;
        kept.length = 0;
      }),
      { numRuns: repetitions(3000, 50_000) },
    );
    expect(keptCount).toBeGreaterThan(100);
    await carrier.stop();
  });
});
