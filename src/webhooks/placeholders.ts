import type { StatusHappening, StatusWord } from "../model/callback.ts";
import type { CustomerStatus } from "../model/message.ts";
import type { Placeholder } from "../model/placeholder.ts";
import { localTime } from "./local-time.ts";

/** What a report tells besides what happened. */
export interface ReportFacts {
  /** The recipient's operator and service circle; empty when nobody knows. */
  operatorCircle: string;
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
export function placeholderValues(
  { status, at, message, gateway, errorCode, description }: StatusHappening,
  { operatorCircle, zone }: ReportFacts,
): Record<Placeholder, string> {
  const shown = SHOWN[status];
  return {
    messageId: message.messageId,
    mobileNumber: message.recipient,
    messageCredit: String(message.credits),
    gatewayName: gateway,
    senderName: message.sender,
    errCode: errorCode ?? "",
    deliveredDate: shown === "Delivered" ? localTime(at, zone) : "",
    status: shown,
    operatorCircle,
    createdAt: String(message.createdAt),
    statusDescription: description ?? "",
  };
}
