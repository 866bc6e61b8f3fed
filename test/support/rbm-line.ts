import type { Carrier, Inbound, Receipt } from "../../src/carriers/carrier.ts";
import type { RbmCarrierNeeds } from "../../src/carriers/rbm/needs.ts";
import { createRbmCarrier } from "../../src/carriers/rbm/rbm-carrier.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/lib/log.ts";
import type { Message } from "../../src/model/message.ts";
import { RBM_DEFAULTS, type RbmSettings } from "../../src/model/rbm-line.ts";
import type { RcsContent } from "../../src/model/rcs.ts";
import { FakeRbm, keyFile, RBM_CLIENT_TOKEN } from "./fake-rbm.ts";
import { MovedClock } from "./moved-clock.ts";
import { messageInHand } from "./message.ts";
import { openWayOut } from "./way-out.ts";

/** A line to a fake of the platform over real HTTP. */
export interface RbmTrial {
  fake: FakeRbm;
  carrier: Carrier & Required<Pick<Carrier, "called" | "revoke" | "state">>;
  clock: MovedClock;
  receipts: Receipt[];
  inbound: Inbound[];
  /** Who unsubscribed (-) and subscribed (+). */
  optOuts: string[];
  /** All that was logged, as text. */
  logged: string[];
  take(receipt: Receipt): Promise<void>;
  close(): Promise<void>;
}

interface TrialOptions {
  settings?: Partial<RbmSettings>;
  needs?: Partial<RbmCarrierNeeds>;
  tokenSeconds?: number;
}

export async function openRbmTrial({ settings, needs, tokenSeconds }: TrialOptions = {}): Promise<RbmTrial> {
  const clock = new MovedClock();
  const fake = await FakeRbm.open({ clock, agents: ["shop-agent"], ...(tokenSeconds ? { tokenSeconds } : {}) });
  const receipts: Receipt[] = [];
  const inbound: Inbound[] = [];
  const optOuts: string[] = [];
  const logged: string[] = [];
  const wayOut = openWayOut();
  const carrier = createRbmCarrier({
    name: "1/rbm",
    accountId: 1,
    settings: { ...RBM_DEFAULTS, clientEmail: "", baseUrl: fake.url, ...settings },
    secrets: { serviceAccount: keyFile(fake.tokenUrl), clientToken: RBM_CLIENT_TOKEN },
    messagesPerSecond: () => null,
    wayOut,
    callbackUrl: () => "https://heliograph.example/callback",
    agentOf: (botId) => `${botId}-agent`,
    botOf: (agentId) => agentId.replace(/-agent$/, ""),
    onInbound: async (message) => void inbound.push(message),
    onOptOut: async (number) => void optOuts.push(`-${number}`),
    onOptIn: async (number) => void optOuts.push(`+${number}`),
    clock,
    log: createLog("debug", { write: (line: string) => void logged.push(line) }),
    meters: { carrierErrors: () => ({ inc: () => {} }) },
    ...needs,
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
      wayOut.destroy();
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
  messageInHand(
    { channel: "rcs", sender: "shop", content: RCS_TEXT, expiresAt: clock.now() + HOUR_MS, ...changes },
    clock.now(),
  );
