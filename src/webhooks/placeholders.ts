import type { StatusHappening, StatusWord } from "../model/callback.ts";
import type { CustomerStatus } from "../model/message.ts";
import { PLACEHOLDERS, type Placeholder } from "../model/placeholder.ts";
import { localTime } from "./local-time.ts";

/** What a report tells besides what happened. */
export interface ReportFacts {
  /** The recipient's operator and service circle; empty when nobody knows. Looked up where somebody asks. */
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

/** The real values of all placeholders; what there is none of is empty. */
export const placeholderValues = (happening: StatusHappening, facts: ReportFacts): Record<Placeholder, string> =>
  Object.fromEntries(
    PLACEHOLDERS.map((placeholder) => [placeholder, placeholderValue(placeholder, happening, facts)]),
  ) as Record<Placeholder, string>;

export const placeholderValue = (placeholder: Placeholder, happening: StatusHappening, facts: ReportFacts): string =>
  VALUES[placeholder](happening, facts);

const VALUES: Readonly<Record<Placeholder, (happening: StatusHappening, facts: ReportFacts) => string>> = {
  messageId: ({ message }) => message.messageId,
  mobileNumber: ({ message }) => message.recipient,
  messageCredit: ({ message }) => String(message.credits),
  gatewayName: ({ gateway }) => gateway,
  senderName: ({ message }) => message.sender,
  errCode: ({ errorCode }) => errorCode ?? "",
  deliveredDate: ({ status, at }, { zone }) => (SHOWN[status] === "Delivered" ? localTime(at, zone) : ""),
  status: ({ status }) => SHOWN[status],
  operatorCircle: (_happening, { operatorCircle }) => operatorCircle(),
  createdAt: ({ message }) => String(message.createdAt),
  statusDescription: ({ description }) => description ?? "",
};
