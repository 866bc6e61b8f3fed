import { timeZone } from "../../lib/time-zone.ts";
import type { StatusEvent, StatusWord } from "../../model/callback.ts";
import type { CustomerStatus } from "../../model/message.ts";
import { PLACEHOLDERS, type Placeholder } from "../../model/placeholder.ts";

/** Values of a report that are not part of the event. */
export interface ReportFacts {
  /** The recipient's operator and service circle, or empty; evaluated only if a placeholder uses it. */
  operatorCircle(): string;
  /** The time zone of the account. */
  zone: string;
}

const SHOWN: Readonly<Record<StatusWord, CustomerStatus>> = {
  sent: "Pending",
  unknown: "Pending",
  delivered: "Delivered",
  read: "Delivered",
  failed: "Failed",
};

/** Statuses that a delivery report is sent for. `sent` is not one: the customer sees Pending since acceptance. */
const REPORTED: ReadonlySet<StatusWord> = new Set(["delivered", "failed", "unknown"]);

export const isReported = (status: StatusWord): boolean => REPORTED.has(status);

/** Values of all placeholders; a missing one is empty. */
export const placeholderValues = (happening: StatusEvent, facts: ReportFacts): Record<Placeholder, string> =>
  Object.fromEntries(
    PLACEHOLDERS.map((placeholder) => [placeholder, placeholderValue(placeholder, happening, facts)]),
  ) as Record<Placeholder, string>;

export const placeholderValue = (placeholder: Placeholder, happening: StatusEvent, facts: ReportFacts): string =>
  VALUES[placeholder](happening, facts);

const VALUES: Readonly<Record<Placeholder, (happening: StatusEvent, facts: ReportFacts) => string>> = {
  messageId: ({ message }) => message.messageId,
  mobileNumber: ({ message }) => message.recipient,
  messageCredit: ({ message }) => String(message.credits),
  gatewayName: ({ gateway }) => gateway,
  senderName: ({ message }) => message.sender,
  errCode: ({ errorCode }) => errorCode ?? "",
  deliveredDate: ({ status, at }, { zone }) => (SHOWN[status] === "Delivered" ? timeZone(zone).format(at) : ""),
  status: ({ status }) => SHOWN[status],
  operatorCircle: (_happening, { operatorCircle }) => operatorCircle(),
  createdAt: ({ message }) => String(message.createdAt),
  statusDescription: ({ description }) => description ?? "",
};
