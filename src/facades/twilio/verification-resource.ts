import type { CatalogRecord } from "../../model/catalog.ts";
import type { Verification, VerificationState } from "../../model/verification.ts";
import { sidOf } from "../../model/twilio-sid.ts";

/** The channels of Verify that have one of ours. */
export type VerifyChannelName = "sms" | "whatsapp" | "rcs" | "email";

const STATUSES: Readonly<Record<VerificationState, string>> = {
  pending: "pending",
  verified: "approved",
  expired: "expired",
  exhausted: "max_attempts_reached",
  superseded: "canceled",
  cancelled: "canceled",
};

export const twilioStatusOf = (state: VerificationState): string => STATUSES[state];

interface Parts {
  accountSid: string;
  config: Pick<CatalogRecord<"verifyConfig">, "id">;
  channel: VerifyChannelName;
  status: string;
  verification: Pick<Verification, "id" | "number" | "createdAt" | "doneAt">;
}

/** A time without milliseconds. */
const isoTime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

function commonFields({ accountSid, config, channel, status, verification }: Parts): object {
  const { id, number, createdAt, doneAt } = verification;
  return {
    sid: sidOf("VE", id),
    service_sid: sidOf("VA", config.id),
    account_sid: accountSid,
    to: `+${number}`,
    channel,
    status,
    valid: status === "approved",
    date_created: isoTime(createdAt),
    date_updated: isoTime(doneAt ?? createdAt),
    amount: null,
    payee: null,
  };
}

/** Twilio's Verification resource. */
export function verificationResource(parts: Parts): object {
  const { config, channel, verification } = parts;
  const attempt = {
    attempt_sid: `VL${verification.id.replaceAll("-", "")}`,
    channel,
    time: isoTime(verification.createdAt),
  };
  return {
    ...commonFields(parts),
    lookup: { carrier: null },
    send_code_attempts: [attempt],
    sna: null,
    url: `/v2/Services/${sidOf("VA", config.id)}/Verifications/${sidOf("VE", verification.id)}`,
  };
}

/** Twilio's VerificationCheck resource. */
export const checkResource = (parts: Parts): object => ({ ...commonFields(parts), sna_attempts_error_codes: [] });
