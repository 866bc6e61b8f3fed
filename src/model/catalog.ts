import type { AlertRuleContent } from "./alert.ts";
import type { DlrConfigContent, WebhookContent } from "./callback.ts";
import type { ChatTemplate } from "./chatapp.ts";
import type { CannedReplyContent } from "./conversation.ts";
import type { SegmentContent } from "./contact.ts";
import type { Channel, RouteClass } from "./message.ts";
import type { Chaos } from "./phone.ts";
import type { RcsTemplate } from "./rcs.ts";
import type { EmailConnectionSettings } from "./email-connection.ts";
import type { HttpConnectionSettings } from "./http-connection.ts";
import type { RbmConnectionSettings } from "./rbm-connection.ts";
import type { SmppConnectionSettings } from "./smpp-connection.ts";
import type { WhatsappConnectionSettings } from "./whatsapp-connection.ts";
import type { VerifyConfigContent } from "./verify-config.ts";
import type { VerifyRuleContent } from "./verify-rule.ts";

/** Configuration records: few, and held in memory on every node. */
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
  formerChannel: FormerChannelContent;
  webhook: WebhookContent;
  dlrConfig: DlrConfigContent;
  verifyConfig: VerifyConfigContent;
  verifyRule: VerifyRuleContent;
  alertRule: AlertRuleContent;
  segment: SegmentContent;
  cannedReply: CannedReplyContent;
}

export type CatalogKind = keyof CatalogContents;

/**
 * `authored` records were created by a person and are enforced. `learned` records were taken from a request to the
 * simulator and follow the latest such request.
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

/** A sender on RCS. Its name is the `botId` of requests. */
interface BotContent {
  /** The name on phones; null while unknown. */
  title: string | null;
  /** The platform's id; null means its own name. Absent in records of earlier releases, with the same meaning. */
  agentId?: string | null;
}

/** A business number of the chat app. Its name is the `from` of requests: a plus and its digits. */
interface NumberContent {
  /** The name on phones; null while unknown. */
  title: string | null;
  /** The platform's id; null means that of the connection. Absent in records of earlier releases. */
  phoneNumberId?: string | null;
}

/** Its name is the `sender` of requests. */
interface SenderContent {
  dltEntityId: string | null;
}

/** Carrier connections by protocol. The simulator named `simulator` always exists and has no record. */
export type CarrierContent = SimulatedLine | RealCarrierContent;

/** Settings of connections to real networks, by protocol. */
export interface ConnectionsByAdapter {
  smpp: SmppConnectionSettings;
  whatsapp: WhatsappConnectionSettings;
  rbm: RbmConnectionSettings;
  http: HttpConnectionSettings;
  email: EmailConnectionSettings;
}

export type RealAdapter = keyof ConnectionsByAdapter;

/** A carrier has its connection under the name of its adapter, and null under the others. */
export type RealCarrierContent = {
  [A in RealAdapter]: AnyLine & { adapter: A; chaos: null } & Record<A, ConnectionsByAdapter[A]> & {
      [Other in Exclude<RealAdapter, A>]?: null;
    };
}[RealAdapter];

interface AnyLine {
  /** The contracted rate of all nodes together; null means unlimited. */
  messagesPerSecond: number | null;
}

type SimulatedLine = AnyLine & {
  adapter: "simulator";
  /** Injected faults; null means the account's. */
  chaos: Chaos | null;
} & { [A in RealAdapter]?: null };

/** The path at which a carrier's platform sends its webhooks, by the id of its record. */
export const callbackPath = (carrierId: string): string => `/hooks/${carrierId}`;

/** The connection of a carrier; null when it is simulated. */
export const connectionIn = (content: CarrierContent): ConnectionsByAdapter[RealAdapter] | null =>
  content.adapter === "simulator" ? null : (content[content.adapter] ?? null);

/** Selects the carrier of matching messages. An empty list matches everything. */
export interface RouteContent {
  /** Null matches every channel. */
  channel: Channel | null;
  routeClasses: readonly RouteClass[];
  prefixes: readonly string[];
  senders: readonly string[];
  /** Name of a carrier. */
  carrier: string;
  /** Lower values are tried first. */
  priority: number;
  /** Share among routes of the same priority. */
  weight: number;
  enabled: boolean;
  /** In the recipient's zone; promotions are held meanwhile. */
  quietHours: { from: string; to: string } | null;
  /** Failover: the next route is tried when no delivery comes within this time. */
  failoverAfterSeconds: number | null;
  /** The action for a promotion whose submit is in doubt. */
  repeatPromotionsInDoubt: boolean;
  /**
   * Lets a simulated carrier take live messages although the account has a real carrier for the channel. Absent in
   * records of earlier releases, which means false.
   */
  simulateLive?: boolean;
}

/** Credits per segment of the longest matching prefix; an empty prefix matches every number. */
export interface PriceContent {
  routeClass: RouteClass | null;
  prefix: string;
  creditsPerSegment: number;
}

/** A channel whose last real carrier was removed. Its name is the channel. */
interface FormerChannelContent {
  /** The time of the removal. */
  until: number;
}

/** Added to the due time of messages of a paused campaign, so that they are never due. */
export const PAUSED_MS = 100_000_000_000_000;

export interface CampaignContent {
  status: "running" | "paused" | "cancelled";
  /** The start of the pause; null while it is not paused. */
  pausedAt: number | null;
  /** The length of the last pause. */
  pausedMs: number;
}

/** The built-in carrier, and the only one for messages of test keys. */
export const SIMULATOR = "simulator";

/** A carrier's global name: two accounts may use the same name. */
export const carrierKey = (accountId: number, name: string): string =>
  name === SIMULATOR ? name : `${accountId}/${name}`;

/** The account of a global carrier name; null for the built-in carrier. */
export const accountOfCarrier = (key: string): number | null => {
  const digits = /^(\d+)\//.exec(key)?.[1];
  return digits === undefined ? null : Number(digits);
};

/** The carrier's name within its account. */
export const carrierNameOf = (key: string): string => key.slice(key.indexOf("/") + 1);
