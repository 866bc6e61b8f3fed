import { t } from "../../i18n/t.ts";

export const ALERTS = "/api/alerts";

/** An alert of the API. */
export interface Alert {
  id: string;
  alert: string;
  rule: string;
  subject: string;
  subjectName: string;
  state: "open" | "resolved";
  description: string;
  value: number;
  threshold: number;
  openedAt: number;
  resolvedAt: number | null;
  acknowledgedAt: number | null;
  acknowledgedBy: string | null;
  mutedUntil: number | null;
}

/** A rule that applies: a record, or a usual rule without an id. */
export interface AppliedRule {
  id: string | null;
  name: string;
  alert: string;
  threshold: number;
  windowMinutes: number;
  minimum: number;
  enabled: boolean;
  usual: boolean;
}

interface Kind {
  label: string;
  /** Unit of the threshold; null without one. */
  unit: string | null;
  usual: number | null;
  isRate?: true;
}

export const KINDS: Readonly<Record<string, Kind>> = {
  carrier_down: { label: t("Carrier down"), unit: t("minutes"), usual: 2 },
  delivery_rate: { label: t("Delivery rate below"), unit: "%", usual: 70, isRate: true },
  otp_conversion: { label: t("OTP conversion below"), unit: "%", usual: 30, isRate: true },
  endpoint_disabled: { label: t("Endpoint disabled"), unit: null, usual: null },
  endpoint_failing: { label: t("Endpoint failing"), unit: t("minutes"), usual: 15 },
  credits_low: { label: t("Credits below"), unit: t("credits"), usual: 1000 },
  queue_age: { label: t("Oldest waiting message"), unit: t("seconds"), usual: 120 },
  certificate_expiry: { label: t("Certificate expires"), unit: t("days"), usual: 14 },
};

/** The alert as one sentence. */
export function sentenceOf({ alert, subjectName: name, value, threshold, description }: Alert): string {
  switch (alert) {
    case "carrier_down":
      return t("Carrier {name} is down for {value} minutes or longer.", { name, value });
    case "delivery_rate":
      return t("{value} % of messages by {name} are delivered, below {threshold} %.", { name, value, threshold });
    case "otp_conversion":
      return t("{value} % of one-time passwords are used, below {threshold} %.", { value, threshold });
    case "endpoint_disabled":
      return t("Endpoint {name} was disabled, and its callbacks wait.", { name });
    case "endpoint_failing":
      return t("Endpoint {name} has failed for {value} minutes.", { name, value });
    case "credits_low":
      return t("{value} credits are left, below {threshold}.", { value, threshold });
    case "queue_age":
      return t("The oldest message of type {name} has waited for {value} seconds.", { name, value });
    case "certificate_expiry":
      return t("The certificate of the server expires in {value} days.", { value });
    default:
      return description;
  }
}
