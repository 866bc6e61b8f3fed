import { carrierKey, type CatalogRecord, type RealCarrierContent } from "../model/catalog.ts";
import type { ChatTemplate, TemplateNews } from "../model/chatapp.ts";
import { decryptedEmailConnection } from "../model/email-connection.ts";
import { decryptedHttpConnection } from "../model/http-connection.ts";
import type { MessageRef } from "../model/message.ts";
import { decryptedRbmConnection } from "../model/rbm-connection.ts";
import { decryptedSmppConnection } from "../model/smpp-connection.ts";
import { decryptedWhatsappConnection } from "../model/whatsapp-connection.ts";
import type { CarrierMedia } from "./carrier-media.ts";
import type { Carrier, ConnectionTest } from "./carrier.ts";
import { createEmailCarrier } from "./email/carrier.ts";
import { testEmailConnection } from "./email/test-connection.ts";
import { createHttpCarrier } from "./http/carrier.ts";
import type { LiveSettings } from "./open-carriers.ts";
import type { PlatformDeps } from "./http-platform.ts";
import { createRbmCarrier } from "./rbm/carrier.ts";
import { testRbmConnection } from "./rbm/test-connection.ts";
import type { IdFormMemory } from "./remember-id-forms.ts";
import type { SimulatorCarrier } from "./simulator/carrier.ts";
import type { CreateSmppCarrier, SmppCarrierDeps } from "./smpp/deps.ts";
import { testBind } from "./smpp/test-connection.ts";
import { testWhatsappConnection } from "./whatsapp/test-connection.ts";
import { createWhatsappCarrier } from "./whatsapp/carrier.ts";

type CarrierRecord = CatalogRecord<"carrier">;

/** Dependencies that differ per connection. */
type OwnDeps = keyof LiveSettings | keyof IdFormMemory | "name" | "accountId" | "settings" | "secrets" | "callbackUrl";

/** Dependencies that all connections share. */
export interface ConnectionDeps
  extends Omit<SmppCarrierDeps, OwnDeps>, Omit<PlatformDeps<never, never>, OwnDeps | keyof SmppCarrierDeps> {
  simulator: SimulatorCarrier;
  createSmpp: CreateSmppCarrier;
  media: CarrierMedia;
  /** The learned message-id format of an SMPP connection, and the way to store a new one. */
  idFormMemory(record: CarrierRecord): IdFormMemory;
  /** Decrypts a stored secret. */
  decrypt(encrypted: string): string;
  /** Webhook URL of a connection, by its record id. */
  callbackUrlOf(id: string): string;
  account(accountId: number): AccountLookup;
}

/** Lookups in, and events for, the account of a connection. */
export interface AccountLookup {
  phoneNumberOf(from: string): string | null;
  templateOf(name: string): ChatTemplate | null;
  agentOf(botId: string): string;
  botOf(agentId: string): string;
  messageOf(carrier: string, carrierMessageId: string): Promise<Pick<MessageRef, "requestId" | "n"> | null>;
  onTemplateStatus(news: TemplateNews): Promise<void>;
  onOptOut(number: string, at: number): Promise<void>;
  onOptIn(number: string, at: number): Promise<void>;
}

/** Creates the carrier for a record. */
export function createConnection(deps: ConnectionDeps, record: CarrierRecord, liveSettings: LiveSettings): Carrier {
  const { accountId, id, name, content } = record;
  const ownDeps = { name: carrierKey(accountId, name), accountId, callbackUrl: () => deps.callbackUrlOf(id) };
  const account = deps.account(accountId);
  const shared = { ...deps, ...liveSettings, ...ownDeps };
  if (content.adapter === "simulator") return deps.simulator.createCarrier(accountId, { ...ownDeps, ...content });
  if (content.adapter === "smpp")
    return deps.createSmpp({
      ...shared,
      ...deps.idFormMemory(record),
      ...decryptedSmppConnection(content.smpp, deps.decrypt),
    });
  if (content.adapter === "http")
    return createHttpCarrier({ ...shared, ...decryptedHttpConnection(content.http, deps.decrypt) });
  if (content.adapter === "email")
    return createEmailCarrier({ ...shared, ...decryptedEmailConnection(content.email, deps.decrypt) });
  if (content.adapter === "rbm")
    return createRbmCarrier({ ...shared, ...account, ...decryptedRbmConnection(content.rbm, deps.decrypt) });
  return createWhatsappCarrier({
    ...shared,
    ...account,
    messageOf: (carrierMessageId) => account.messageOf(ownDeps.name, carrierMessageId),
    ...decryptedWhatsappConnection(content.whatsapp, deps.decrypt),
  });
}

/** Tests credentials and reachability without sending a message; null if only a message could show it. */
export async function testConnection(
  deps: ConnectionDeps,
  content: RealCarrierContent,
): Promise<ConnectionTest | null> {
  if (content.adapter === "http") return null;
  if (content.adapter === "smpp") return testBind({ ...deps, ...decryptedSmppConnection(content.smpp, deps.decrypt) });
  if (content.adapter === "email")
    return testEmailConnection({ ...deps, ...decryptedEmailConnection(content.email, deps.decrypt) });
  if (content.adapter === "rbm")
    return testRbmConnection({ ...deps, ...decryptedRbmConnection(content.rbm, deps.decrypt) });
  return testWhatsappConnection({ ...deps, ...decryptedWhatsappConnection(content.whatsapp, deps.decrypt) });
}
