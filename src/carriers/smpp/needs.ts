import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { SmppSecrets, SmppSettings } from "../../model/smpp-line.ts";
import type { Carrier, OnInbound, OnInboundPart, OnLateAnswer } from "../carrier.ts";

/** What a line over SMPP is made of. It is made anew when its settings change; only its speed and its share change under it. */
export interface SmppCarrierNeeds {
  /** Its name in the whole service: that of receipts and of parts. */
  name: string;
  accountId: number;
  settings: SmppSettings;
  secrets: SmppSecrets;
  /** What of the line is this node's at the moment. */
  share(): LineShare;
  /** Contracted speed over all nodes together, at the moment; null means as fast as it goes. */
  messagesPerSecond(): number | null;
  /** The address of a host, where connections may go there; rejects with the reason where they may not. */
  addressOf(host: string): Promise<string>;
  onInbound: OnInbound;
  onInboundPart: OnInboundPart;
  onLateAnswer: OnLateAnswer;
  /** How its receipts spell ids, as was learned before; null when nothing was. */
  learnedIdForm: string | null;
  /** Told what was learned of it, so that it is known after a restart. */
  onLearned(form: string): void;
  clock: Clock;
  log: Log;
  meters: SmppMeters;
}

export interface LineShare {
  /** Binds that this node may have; of a line that is bound as two, so many of each. */
  connections: number;
}

/** What is counted of lines. */
interface SmppMeters {
  /** Answers of a carrier that were not yes, and binds that failed, by code. */
  carrierErrors(carrier: string, code: string): { inc(): void };
}

export type CreateSmppCarrier = (needs: SmppCarrierNeeds) => Carrier;
