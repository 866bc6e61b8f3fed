import type { RbmSecrets, RbmSettings } from "../../model/rbm-line.ts";
import type { PlatformNeeds } from "../platform.ts";

/** What a line to RCS for Business is made of. */
export interface RbmCarrierNeeds extends PlatformNeeds<RbmSettings, RbmSecrets> {
  /** The platform's name of a bot. */
  agentOf(botId: string): string;
  /** The bot that the platform calls so; one that nobody knows is its own name. */
  botOf(agentId: string): string;
  /** Somebody has unsubscribed by the phone's own menu, without a word that could be received. Resolves once it is on disk. */
  onOptOut(number: string, at: number): Promise<void>;
  /** Somebody has subscribed again in the same way. Resolves once it is on disk. */
  onOptIn(number: string, at: number): Promise<void>;
}
