import type { ChatTemplate, TemplateNews } from "../../model/chatapp.ts";
import type { MessageRef } from "../../model/message.ts";
import type { WhatsappSecrets, WhatsappSettings } from "../../model/whatsapp-line.ts";
import type { PlatformNeeds } from "../platform.ts";

/** What a line to WhatsApp is made of. */
export interface WhatsappCarrierNeeds extends PlatformNeeds<WhatsappSettings, WhatsappSecrets> {
  /** What the platform calls a business number, given with its plus; null where its record does not say. */
  phoneNumberOf(from: string): string | null;
  /** The account's template of this name, which knows what requests cannot say. */
  templateOf(name: string): ChatTemplate | null;
  /** The message that this line's platform gave an id; without this, no answer knows what it answers. */
  messageOf?(carrierMessageId: string): Promise<Pick<MessageRef, "requestId" | "n"> | null>;
  /** Told when the platform has decided about a template; resolves once that is on disk. */
  onTemplateStatus?(news: TemplateNews): Promise<void>;
}
