import { carrierKey, type CatalogRecord, type RealCarrierContent } from "../model/catalog.ts";
import type { ChatTemplate, TemplateNews } from "../model/chatapp.ts";
import { openedHttpLine } from "../model/http-line.ts";
import type { MessageRef } from "../model/message.ts";
import { openedRbmLine } from "../model/rbm-line.ts";
import { openedLine } from "../model/smpp-line.ts";
import { openedWhatsappLine } from "../model/whatsapp-line.ts";
import type { Carrier, LineTrial } from "./carrier.ts";
import { createHttpCarrier } from "./http/http-carrier.ts";
import type { LiveLine } from "./open-carriers.ts";
import type { PlatformNeeds } from "./platform.ts";
import { createRbmCarrier } from "./rbm/rbm-carrier.ts";
import { tryRbmLine } from "./rbm/try-line.ts";
import type { Learning } from "./remember-id-forms.ts";
import type { SimulatorCarrier } from "./simulator/simulator-carrier.ts";
import type { CreateSmppCarrier, SmppCarrierNeeds } from "./smpp/needs.ts";
import { tryBind } from "./smpp/try-bind.ts";
import { tryWhatsappLine } from "./whatsapp/try-line.ts";
import { createWhatsappCarrier } from "./whatsapp/whatsapp-carrier.ts";

type CarrierRecord = CatalogRecord<"carrier">;

/** What is a line's own. */
type OwnNeeds = keyof LiveLine | keyof Learning | "name" | "accountId" | "settings" | "secrets" | "callbackUrl";

/** What is the same for all lines. */
export interface LineNeeds
  extends Omit<SmppCarrierNeeds, OwnNeeds>, Omit<PlatformNeeds<never, never>, OwnNeeds | keyof SmppCarrierNeeds> {
  simulator: SimulatorCarrier;
  createSmpp: CreateSmppCarrier;
  /** What was learned of a line over SMPP before, and where it is kept. */
  learning(record: CarrierRecord): Learning;
  /** Opens what was sealed. */
  open(sealed: string): string;
  /** Where platforms reach a line, by the id of its record. */
  callbackUrlOf(id: string): string;
  account(accountId: number): AccountLookup;
}

/** What lines ask about the account that they belong to, and tell it. */
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

/** The line that a record asks for. */
export function createLine(needs: LineNeeds, record: CarrierRecord, live: LiveLine): Carrier {
  const { accountId, id, name, content } = record;
  const own = { name: carrierKey(accountId, name), accountId, callbackUrl: () => needs.callbackUrlOf(id) };
  const account = needs.account(accountId);
  const common = { ...needs, ...live, ...own };
  if (content.adapter === "simulator") return needs.simulator.line(accountId, { ...own, ...content });
  if (content.adapter === "smpp")
    return needs.createSmpp({ ...common, ...needs.learning(record), ...openedLine(content.smpp, needs.open) });
  if (content.adapter === "http") return createHttpCarrier({ ...common, ...openedHttpLine(content.http, needs.open) });
  if (content.adapter === "rbm")
    return createRbmCarrier({ ...common, ...account, ...openedRbmLine(content.rbm, needs.open) });
  return createWhatsappCarrier({
    ...common,
    ...account,
    messageOf: (carrierMessageId) => account.messageOf(own.name, carrierMessageId),
    ...openedWhatsappLine(content.whatsapp, needs.open),
  });
}

/** Tries whether the other end would have us, without sending anything; null where only a message can show it. */
export async function tryLine(needs: LineNeeds, content: RealCarrierContent): Promise<LineTrial | null> {
  if (content.adapter === "http") return null;
  if (content.adapter === "smpp") return tryBind({ ...needs, ...openedLine(content.smpp, needs.open) });
  if (content.adapter === "rbm") return tryRbmLine({ ...needs, ...openedRbmLine(content.rbm, needs.open) });
  return tryWhatsappLine({ ...needs, ...openedWhatsappLine(content.whatsapp, needs.open) });
}
