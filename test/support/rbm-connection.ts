import type { Carrier, Inbound } from "../../src/carriers/carrier.ts";
import { type RbmCarrierDeps, createRbmCarrier } from "../../src/carriers/rbm/carrier.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/lib/log.ts";
import type { Message } from "../../src/model/message.ts";
import { RBM_DEFAULTS, type RbmSettings } from "../../src/model/rbm-connection.ts";
import type { RcsContent } from "../../src/model/rcs.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import { FakeRbm, keyFile, RBM_CLIENT_TOKEN } from "./fake-rbm.ts";
import { MovedClock } from "./moved-clock.ts";
import { sampleMessage } from "./message.ts";
import { noMedia } from "./media-files.ts";
import { openHttpClient } from "./http-client.ts";

/** An RBM carrier connected to the fake platform over HTTP. */
export interface RbmTrial {
  fake: FakeRbm;
  carrier: Carrier & Required<Pick<Carrier, "handleWebhook" | "revoke" | "state">>;
  clock: MovedClock;
  receipts: Receipt[];
  inbound: Inbound[];
  /** Numbers that unsubscribed (-) and subscribed (+). */
  optOuts: string[];
  /** All log lines as text. */
  logged: string[];
  take(receipt: Receipt): Promise<void>;
  close(): Promise<void>;
}

interface TrialOptions {
  settings?: Partial<RbmSettings>;
  deps?: Partial<RbmCarrierDeps>;
  tokenSeconds?: number;
}

export async function openRbmTrial({ settings, deps, tokenSeconds }: TrialOptions = {}): Promise<RbmTrial> {
  const clock = new MovedClock();
  const fake = await FakeRbm.open({ clock, agents: ["shop-agent"], ...(tokenSeconds ? { tokenSeconds } : {}) });
  const receipts: Receipt[] = [];
  const inbound: Inbound[] = [];
  const optOuts: string[] = [];
  const logged: string[] = [];
  const egress = openHttpClient();
  const carrier = createRbmCarrier({
    name: "1/rbm",
    accountId: 1,
    settings: { ...RBM_DEFAULTS, clientEmail: "", baseUrl: fake.url, ...settings },
    secrets: { serviceAccount: keyFile(fake.tokenUrl), clientToken: RBM_CLIENT_TOKEN },
    messagesPerSecond: () => null,
    egress,
    media: noMedia(),
    callbackUrl: () => "https://heliograph.example/callback",
    agentOf: (botId) => `${botId}-agent`,
    botOf: (agentId) => agentId.replace(/-agent$/, ""),
    onInbound: async (message) => void inbound.push(message),
    onOptOut: async (number) => void optOuts.push(`-${number}`),
    onOptIn: async (number) => void optOuts.push(`+${number}`),
    clock,
    log: createLog("debug", { write: (line: string) => void logged.push(line) }),
    metrics: { carrierErrors: () => ({ inc: () => {} }) },
    ...deps,
  });
  return {
    fake,
    carrier: carrier as RbmTrial["carrier"],
    clock,
    receipts,
    inbound,
    optOuts,
    logged,
    take: async (receipt) => void receipts.push(receipt),
    async close() {
      await carrier.stop();
      egress.destroy();
      await fake.close();
    },
  };
}

export const RCS_TEXT: RcsContent = {
  botId: "shop",
  templateName: "order",
  kind: "text",
  text: "Your order is on its way.",
  suggestions: [],
  cards: [],
  params: [],
};

const HOUR_MS = 3_600_000;

export const rcsMessage = (clock: Clock, changes: Partial<Message> = {}): Message =>
  sampleMessage(
    { channel: "rcs", sender: "shop", content: RCS_TEXT, expiresAt: clock.now() + HOUR_MS, ...changes },
    clock.now(),
  );
