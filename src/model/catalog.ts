import type { DlrConfigContent, WebhookContent } from "./callback.ts";
import type { ChatTemplate } from "./chatapp.ts";
import type { Channel, RouteClass } from "./message.ts";
import type { Chaos } from "./phone.ts";
import type { RcsTemplate } from "./rcs.ts";
import type { HttpLine } from "./http-line.ts";
import type { RbmLine } from "./rbm-line.ts";
import type { SmppLine } from "./smpp-line.ts";
import type { WhatsappLine } from "./whatsapp-line.ts";
import type { VerifyConfigContent } from "./verify-config.ts";

/** What people configure about sending: few records, held in memory on every node. */
export interface CatalogContents {
  template: TemplateContent;
  chatTemplate: ChatTemplate;
  rcsTemplate: RcsTemplate;
  bot: BotContent;
  number: NumberContent;
  sender: SenderContent;
  carrier: CarrierContent;
  route: RouteContent;
  price: PriceContent;
  campaign: CampaignContent;
  webhook: WebhookContent;
  dlrConfig: DlrConfigContent;
  verifyConfig: VerifyConfigContent;
}

export type CatalogKind = keyof CatalogContents;

/**
 * `authored` records were made by somebody and are held to. `learned` ones were taken from a request that ended in the
 * simulator, and follow the latest such request.
 */
export type Origin = "authored" | "learned";

export interface CatalogRecord<K extends CatalogKind = CatalogKind> {
  accountId: number;
  kind: K;
  id: string;
  /** Unique among the records of its kind in the account. */
  name: string;
  origin: Origin;
  content: CatalogContents[K];
  createdAt: number;
  updatedAt: number;
}

/** Its name is the `templateId` of requests. */
export interface TemplateContent {
  channel: "sms";
  /** With its placeholders; null while only the number of variables is known. */
  text: string | null;
  variables: number;
  dltContentId: string | null;
  dltEntityId: string | null;
}

/** Who sends on RCS. Its name is the `botId` of requests. */
export interface BotContent {
  /** What phones show; null while it is not known. */
  title: string | null;
  /** What its platform calls it; null is its own name, as is nothing in a record of an earlier release. */
  agentId?: string | null;
}

/** A business number of the chat app. Its name is the `from` of requests: a plus and its digits. */
export interface NumberContent {
  /** What phones show; null while it is not known. */
  title: string | null;
  /** What the platform calls it; null, and absent in what earlier releases stored, takes the line's. */
  phoneNumberId?: string | null;
}

/** Its name is the `sender` of requests. */
export interface SenderContent {
  dltEntityId: string | null;
}

/** A line to a network, by what it speaks. The simulator called `simulator` is always there and has no record. */
export type CarrierContent = SimulatedLine | RealCarrierContent;

/** What is known of lines to real networks, by what they speak. */
export interface RealLines {
  smpp: SmppLine;
  whatsapp: WhatsappLine;
  rbm: RbmLine;
  http: HttpLine;
}

export type RealAdapter = keyof RealLines;

/** Each has its line under the name of its adapter, and nothing under the others. */
export type RealCarrierContent = {
  [A in RealAdapter]: AnyLine & { adapter: A; chaos: null } & Record<A, RealLines[A]> & {
      [Other in Exclude<RealAdapter, A>]?: null;
    };
}[RealAdapter];

interface AnyLine {
  /** Contracted speed, over all nodes together; null means as fast as it goes. */
  messagesPerSecond: number | null;
}

type SimulatedLine = AnyLine & {
  adapter: "simulator";
  /** How it misbehaves; null takes the account's. */
  chaos: Chaos | null;
} & { [A in RealAdapter]?: null };

/** Where the platform behind a carrier calls back, by the id of its record. */
export const callbackPath = (carrierId: string): string => `/hooks/${carrierId}`;

/** The line of a carrier; null where it is simulated. */
export const lineIn = (content: CarrierContent): RealLines[RealAdapter] | null =>
  content.adapter === "simulator" ? null : (content[content.adapter] ?? null);

/** Which messages go to which carrier. An empty list matches everything. */
export interface RouteContent {
  /** Null takes every channel. */
  channel: Channel | null;
  routeClasses: readonly RouteClass[];
  prefixes: readonly string[];
  senders: readonly string[];
  /** Name of a carrier. */
  carrier: string;
  /** Lower ones are tried first. */
  priority: number;
  /** Share among routes of the same priority. */
  weight: number;
  enabled: boolean;
  /** In the recipient's zone; promotions are held meanwhile. */
  quietHours: { from: string; to: string } | null;
  /** Without a delivery within so long, the next route is tried. */
  failoverAfterSeconds: number | null;
  /** What becomes of a promotion when nobody knows whether the carrier took it. */
  repeatPromotionsInDoubt: boolean;
}

/** Credits per segment for the longest prefix that fits; an empty prefix fits every number. */
export interface PriceContent {
  routeClass: RouteClass | null;
  prefix: string;
  creditsPerSegment: number;
}

/** The messages of a paused campaign are due so much later than they would be, which is never. */
export const PAUSED_MS = 100_000_000_000_000;

export interface CampaignContent {
  status: "running" | "paused" | "cancelled";
  /** When it was paused; null while it is not. */
  pausedAt: number | null;
  /** How long its last pause was. */
  pausedMs: number;
}

/** The carrier that is always there, and the only one for messages of a test key. */
export const SIMULATOR = "simulator";

/** A carrier's name in the whole service: two accounts may call theirs the same. */
export const carrierKey = (accountId: number, name: string): string =>
  name === SIMULATOR ? name : `${accountId}/${name}`;

/** The account whose carrier it is; null for the one that is everybody's. */
export const accountOfCarrier = (key: string): number | null => {
  const digits = /^(\d+)\//.exec(key)?.[1];
  return digits === undefined ? null : Number(digits);
};

/** The name that its account gave it. */
export const carrierNameOf = (key: string): string => key.slice(key.indexOf("/") + 1);
