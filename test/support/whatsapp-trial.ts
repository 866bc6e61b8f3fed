import type { Carrier, Inbound, Receipt } from "../../src/carriers/carrier.ts";
import type { PlatformAnswer } from "../../src/carriers/platform.ts";
import type { WhatsappCarrierNeeds } from "../../src/carriers/whatsapp/needs.ts";
import { createWhatsappCarrier } from "../../src/carriers/whatsapp/whatsapp-carrier.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/lib/log.ts";
import type { ChatContent, ChatTemplate } from "../../src/model/chatapp.ts";
import type { Message } from "../../src/model/message.ts";
import { WHATSAPP_DEFAULTS, type WhatsappSettings } from "../../src/model/whatsapp-line.ts";
import {
  FAKE_DEFAULTS,
  openFakeWhatsapp,
  RECIPIENTS,
  type FakeOptions,
  type FakeWhatsapp,
  type SignedCall,
} from "./fake-whatsapp.ts";
import { messageInHand } from "./message.ts";
import { openWayOut } from "./way-out.ts";

export const VERIFY_TOKEN = "a word of our own";
const BUSINESS_NUMBER = "+15550783881";

export const SECRETS = {
  token: FAKE_DEFAULTS.token,
  appSecret: FAKE_DEFAULTS.appSecret,
  verifyToken: VERIFY_TOKEN,
} as const;

/** Everything that a line needs, with nothing at its other end. */
export function needsOf(changes: Partial<WhatsappCarrierNeeds> = {}): WhatsappCarrierNeeds {
  return {
    name: "1/wa",
    accountId: 1,
    settings: { ...WHATSAPP_DEFAULTS, phoneNumberId: FAKE_DEFAULTS.phoneNumberIds[0] ?? null },
    secrets: SECRETS,
    messagesPerSecond: () => null,
    wayOut: openWayOut(),
    callbackUrl: () => "https://heliograph.example/hooks/1",
    onInbound: async () => {},
    phoneNumberOf: () => null,
    templateOf: () => null,
    clock: systemClock,
    log: createLog("silent"),
    meters: { carrierErrors: () => ({ inc: () => {} }) },
    ...changes,
  };
}

export interface Trial {
  fake: FakeWhatsapp;
  carrier: Carrier;
  receipts: Receipt[];
  inbound: Inbound[];
  /** What the line answers to a call. */
  call(call: SignedCall): Promise<PlatformAnswer>;
  close(): Promise<void>;
}

/** A line, started, with the fake platform at the other end of a real connection. */
export async function openTrial(
  changes: Partial<WhatsappCarrierNeeds> = {},
  options: Partial<FakeOptions> = {},
  settings: Partial<WhatsappSettings> = {},
): Promise<Trial> {
  const receipts: Receipt[] = [];
  const inbound: Inbound[] = [];
  const fake = await openFakeWhatsapp({ deliver: async (call) => (await tell(call)).status, ...options });
  const wayOut = openWayOut();
  const usual = needsOf();
  const carrier = createWhatsappCarrier({
    ...usual,
    wayOut,
    onInbound: async (each) => void inbound.push(each),
    settings: { ...usual.settings, baseUrl: fake.url, ...settings },
    ...changes,
  });
  const tell = (call: SignedCall): Promise<PlatformAnswer> => calledOf(carrier)({ method: "POST", query: "", ...call });
  await carrier.start(async (receipt) => void receipts.push(receipt));
  return {
    fake,
    carrier,
    receipts,
    inbound,
    call: tell,
    async close() {
      await carrier.stop({ drainMs: 0, unbindMs: 0 });
      wayOut.destroy();
      await fake.close();
    },
  };
}

/** What takes the calls of the platform. */
export function calledOf(carrier: Carrier): NonNullable<Carrier["called"]> {
  if (!carrier.called) throw new Error("the line cannot be called");
  return (call) => carrier.called?.(call) ?? Promise.reject(new Error("the line cannot be called"));
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
  messageInHand({ channel: "chatapp", sender: BUSINESS_NUMBER, recipient, content: templateContent(), ...changes });
