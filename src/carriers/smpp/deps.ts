import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { SmppSecrets, SmppSettings } from "../../model/smpp-connection.ts";
import type { Carrier, OnInbound, OnInboundPart, OnLateAnswer } from "../carrier.ts";

/** Dependencies of the SMPP carrier. A change of settings creates a new carrier; only rate and share change in place. */
export interface SmppCarrierDeps {
  /** Unique in the whole service; receipts and inbound parts carry it. */
  name: string;
  accountId: number;
  settings: SmppSettings;
  secrets: SmppSecrets;
  /** This node's current share of the binds. */
  share(): ConnectionShare;
  /** Current contracted rate of all nodes together; null for no limit. */
  messagesPerSecond(): number | null;
  /** Resolves a host to an allowed address (SSRF guard); rejects with the reason if none is allowed. */
  addressOf(host: string): Promise<string>;
  onInbound: OnInbound;
  onInboundPart: OnInboundPart;
  onLateAnswer: OnLateAnswer;
  /** Message-id format learned earlier; null if none. */
  learnedIdForm: string | null;
  /** Called with a newly learned format, to store it. */
  onLearned(form: string): void;
  clock: Clock;
  log: Log;
  metrics: SmppMetrics;
}

export interface ConnectionShare {
  /** Binds of this node; for a transmitter and receiver pair, the number of each. */
  connections: number;
}

interface SmppMetrics {
  /** Error responses and failed binds of a carrier by code. */
  carrierErrors(carrier: string, code: string): { inc(): void };
}

export type CreateSmppCarrier = (deps: SmppCarrierDeps) => Carrier;
