import type { DraftUserData, SmsDraft } from "../channels/sms/read.ts";
import type { ChannelEndpoint } from "../http/public/send.ts";
import { smsEndpoint } from "../http/public/sms.ts";
import type { ClientTlvs } from "./client-tlvs.ts";

/** Facts of a request that the APIs of other products can state, and the body of `/v1/sms` cannot. */
export interface SmsExtras {
  tlvs: ClientTlvs;
  /** Null for a text without a header of its own. */
  userData: DraftUserData | null;
}

/** The SMS endpoint with these. The registration of a text in India replaces that of its template. */
export function smsWith({ tlvs: { dlt, tlvs }, userData }: SmsExtras): ChannelEndpoint<SmsDraft> {
  if (!dlt && tlvs.length === 0 && userData === null) return smsEndpoint;
  return {
    ...smsEndpoint,
    read: (services, call) => ({
      ...smsEndpoint.read(services, call),
      ...(dlt && { dlt }),
      ...(userData && { userData }),
      tlvs,
    }),
  };
}
