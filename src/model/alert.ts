export const ALERT_KINDS = [
  "carrier_down",
  "delivery_rate",
  "otp_conversion",
  "endpoint_disabled",
  "endpoint_failing",
  "credits_low",
  "queue_age",
  "certificate_expiry",
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Stored with the name of the rule. */
export interface AlertRuleContent {
  alert: AlertKind;
  /** In the unit of the kind; null for its usual threshold. */
  threshold: number | null;
  /** Only for rates: the time that is counted, and the smallest sample. */
  windowMinutes: number;
  minimum: number;
  enabled: boolean;
}

interface KindFacts {
  /** Name of the rule that applies until the account has its own. */
  name: string;
  /** Null for a kind without a threshold. */
  threshold: { usual: number; min: number; max: number; unit: string } | null;
  /** Describes the service rather than the account. Its usual rule applies in the first account only. */
  isOfService?: true;
}

export const ALERTS: Readonly<Record<AlertKind, KindFacts>> = {
  carrier_down: { name: "Carrier down", threshold: { usual: 2, min: 1, max: 1440, unit: "minutes" } },
  delivery_rate: { name: "Delivery rate low", threshold: { usual: 70, min: 1, max: 100, unit: "percent" } },
  otp_conversion: { name: "OTP conversion low", threshold: { usual: 30, min: 1, max: 100, unit: "percent" } },
  endpoint_disabled: { name: "Endpoint disabled", threshold: null },
  endpoint_failing: { name: "Endpoint failing", threshold: { usual: 15, min: 1, max: 1440, unit: "minutes" } },
  credits_low: { name: "Credits low", threshold: { usual: 1000, min: 1, max: 1_000_000_000, unit: "credits" } },
  queue_age: {
    name: "Messages wait",
    threshold: { usual: 120, min: 10, max: 86_400, unit: "seconds" },
    isOfService: true,
  },
  certificate_expiry: {
    name: "Certificate expires",
    threshold: { usual: 14, min: 1, max: 365, unit: "days" },
    isOfService: true,
  },
};

export const USUAL_WINDOW_MINUTES = 60;
export const USUAL_MINIMUM = 100;

/** A rule as it applies: a record of the account, or the usual rule of a kind without one. */
export interface AlertRule {
  /** Id of the record, or `usual:<kind>`. */
  id: string;
  name: string;
  alert: AlertKind;
  threshold: number;
  windowMinutes: number;
  minimum: number;
  enabled: boolean;
  isUsual: boolean;
}

export const ALERT_STATES = ["open", "resolved"] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** A stored alert. Of one rule and subject, one is open at a time. */
export interface Alert {
  accountId: number;
  id: string;
  /** Id and name of its rule. */
  rule: string;
  ruleName: string;
  alert: AlertKind;
  /** The subject: a carrier, an endpoint id, a channel or a message class; empty for the account or the service. */
  subject: string;
  /** The subject as people know it. */
  subjectName: string;
  state: AlertState;
  /** Measured when it opened, in the unit of the kind. */
  value: number;
  threshold: number;
  openedAt: number;
  resolvedAt: number | null;
  acknowledgedAt: number | null;
  acknowledgedBy: string | null;
  /** Until then neither it nor a later alert of the same rule and subject is sent. */
  mutedUntil: number | null;
}

/** The facts of an alert that its webhook event has. */
export type AlertFacts = Pick<
  Alert,
  "id" | "ruleName" | "alert" | "subject" | "subjectName" | "state" | "value" | "threshold"
>;

const CHANNEL_NAMES: Readonly<Record<string, string>> = { sms: "SMS", rcs: "RCS", chatapp: "the chat app" };

/** The alert as one sentence, for e-mails and lists. */
export function describeAlert({ alert, subject, subjectName, value, threshold }: Omit<AlertFacts, "id">): string {
  switch (alert) {
    case "carrier_down":
      return `Carrier ${subjectName} is down for ${value} minutes or longer.`;
    case "delivery_rate":
      return `${value} % of messages by ${CHANNEL_NAMES[subject] ?? subjectName} are delivered, below ${threshold} %.`;
    case "otp_conversion":
      return `${value} % of one-time passwords are used, below ${threshold} %.`;
    case "endpoint_disabled":
      return `Endpoint ${subjectName} was disabled, and its callbacks wait.`;
    case "endpoint_failing":
      return `Endpoint ${subjectName} has failed for ${value} minutes.`;
    case "credits_low":
      return `${value} credits are left, below ${threshold}.`;
    case "queue_age":
      return `The oldest message of type ${subjectName} has waited for ${value} seconds.`;
    case "certificate_expiry":
    default:
      return `The certificate of the server expires in ${value} days.`;
  }
}
