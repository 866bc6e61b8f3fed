import type { Carrier, Inbound } from "../../src/carriers/carrier.ts";
import type { PlatformAnswer } from "../../src/carriers/http-platform.ts";
import { type WhatsappCarrierDeps, createWhatsappCarrier } from "../../src/carriers/whatsapp/carrier.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/lib/log.ts";
import type { ChatContent, ChatTemplate } from "../../src/model/chatapp.ts";
import type { Message } from "../../src/model/message.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import { WHATSAPP_DEFAULTS, type WhatsappSettings } from "../../src/model/whatsapp-connection.ts";
import {
  FAKE_DEFAULTS,
  openFakeWhatsapp,
  RECIPIENTS,
  type FakeOptions,
  type FakeWhatsapp,
  type SignedCall,
} from "./fake-whatsapp.ts";
import { sampleMessage } from "./message.ts";
import { noMedia } from "./media-files.ts";
import { openHttpClient } from "./http-client.ts";

export const VERIFY_TOKEN = "a word of our own";
const BUSINESS_NUMBER = "+15550783881";

export const SECRETS = {
  token: FAKE_DEFAULTS.token,
  appSecret: FAKE_DEFAULTS.appSecret,
  verifyToken: VERIFY_TOKEN,
} as const;

/** Dependencies of a carrier without a platform. */
export function carrierDeps(changes: Partial<WhatsappCarrierDeps> = {}): WhatsappCarrierDeps {
  return {
    name: "1/wa",
    accountId: 1,
    settings: { ...WHATSAPP_DEFAULTS, phoneNumberId: FAKE_DEFAULTS.phoneNumberIds[0] ?? null },
    secrets: SECRETS,
    messagesPerSecond: () => null,
    egress: openHttpClient(),
    media: noMedia(),
    callbackUrl: () => "https://heliograph.example/hooks/1",
    onInbound: async () => {},
    phoneNumberOf: () => null,
    templateOf: () => null,
    clock: systemClock,
    log: createLog("silent"),
    metrics: { carrierErrors: () => ({ inc: () => {} }) },
    ...changes,
  };
}

export interface Trial {
  fake: FakeWhatsapp;
  carrier: Carrier;
  receipts: Receipt[];
  inbound: Inbound[];
  /** Passes a webhook call to the carrier. */
  call(call: SignedCall): Promise<PlatformAnswer>;
  close(): Promise<void>;
}

/** A started carrier connected to the fake platform over HTTP. */
export async function openTrial(
  changes: Partial<WhatsappCarrierDeps> = {},
  options: Partial<FakeOptions> = {},
  settings: Partial<WhatsappSettings> = {},
): Promise<Trial> {
  const receipts: Receipt[] = [];
  const inbound: Inbound[] = [];
  const fake = await openFakeWhatsapp({ deliver: async (call) => (await receiveWebhook(call)).status, ...options });
  const egress = openHttpClient();
  const defaults = carrierDeps();
  const carrier = createWhatsappCarrier({
    ...defaults,
    egress,
    onInbound: async (each) => void inbound.push(each),
    settings: { ...defaults.settings, baseUrl: fake.url, ...settings },
    ...changes,
  });
  const receiveWebhook = (call: SignedCall): Promise<PlatformAnswer> =>
    webhookHandlerOf(carrier)({ method: "POST", query: "", ...call });
  await carrier.start(async (receipt) => void receipts.push(receipt));
  return {
    fake,
    carrier,
    receipts,
    inbound,
    call: receiveWebhook,
    async close() {
      await carrier.stop({ drainMs: 0, unbindMs: 0 });
      egress.destroy();
      await fake.close();
    },
  };
}

/** The carrier's webhook handler. */
export function webhookHandlerOf(carrier: Carrier): NonNullable<Carrier["handleWebhook"]> {
  if (!carrier.handleWebhook) throw new Error("the carrier has no webhook handler");
  return (call) => carrier.handleWebhook?.(call) ?? Promise.reject(new Error("the carrier has no webhook handler"));
}

export const TEMPLATE: ChatTemplate = {
  language: "en_US",
  category: "utility",
  status: "approved",
  header: null,
  body: "Hello {{1}}, your order {{2}} is on its way.",
  variables: 2,
  footer: null,
  buttons: [],
};

export const templateContent = (
  changes: Partial<Extract<ChatContent, { kind: "template" }>> = {},
): Extract<ChatContent, { kind: "template" }> => ({
  kind: "template",
  templateName: "order_update",
  language: "en_US",
  header: null,
  text: "Hello Asha, your order ORD-9271 is on its way.",
  footer: null,
  buttons: [],
  params: ["Asha", "ORD-9271"],
  ...changes,
});

export const messageTo = (recipient: string = RECIPIENTS.deliverable, changes: Partial<Message> = {}): Message =>
  sampleMessage({ channel: "chatapp", sender: BUSINESS_NUMBER, recipient, content: templateContent(), ...changes });
