import { readNumber } from "../../model/number.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { hasNoFaults, type CheckedBody } from "../check-body.ts";
import type { Draft, DraftRecipient } from "../draft.ts";
import type { NumberSettings } from "../parse-number.ts";
import { allMalformed, NUMBER_RULE, recipientOrFailure } from "../recipient-list.ts";
import { sendAtFaults, timeOf } from "../send-at.ts";
import type { ChatComponents } from "./body.ts";

/** `sender` is the business number: a plus and its digits. */
export interface AddressedChat extends Draft {
  channel: "chatapp";
}

/** The fields of every chat-app request. */
export interface CommonFields {
  type: string;
  from: string;
  campaignName?: string;
  sendAt?: string | number;
  /** Either of these names the recipients. */
  to?: string;
  recipients?: readonly { to: string; language?: string; components?: ChatComponents }[];
}

/** Refuses a body with faults, or without a valid number. The recipients are in the order of the request. */
export function addressed<T extends CommonFields>(
  body: CheckedBody<T>,
  type: string,
  numbers: NumberSettings,
  now: number,
): { fields: T; recipients: readonly DraftRecipient[] } {
  const { given } = body;
  const { to, recipients: list, sendAt }: Partial<CommonFields> = body.fields;
  if (given.recipients !== undefined && given.to !== undefined)
    body.faults.push({ parameter: "to", message: "Give either to or recipients, not both." });
  body.faults.push(...sendAtFaults(sendAt, now));
  const recipients = (list ?? (to === undefined ? [] : [{ to }])).map((each) => recipientOrFailure(each.to, numbers));
  const badNumbers = list ? allMalformed(recipients, "to", NUMBER_RULE) : soleMalformed(recipients);
  const faults = [...body.faults, ...badNumbers];
  if (typeof given.type === "string" && given.type !== type) throw new Problem("UNSUPPORTED_TYPE", { faults });
  if (!hasNoFaults(body)) throw new Problem("INVALID_REQUEST", { faults });
  if (badNumbers.length > 0) throw new Problem("INVALID_RECIPIENT", { faults });
  return { fields: body.fields, recipients };
}

const soleMalformed = ([only]: readonly DraftRecipient[]): Fault[] =>
  only?.failure ? [{ parameter: "to", message: NUMBER_RULE }] : [];

export const envelopeOf = ({ from, campaignName, sendAt }: CommonFields): Omit<AddressedChat, "recipients"> => ({
  channel: "chatapp",
  sender: `+${readNumber(from) ?? ""}`,
  // The class follows from the template's category, once the template has been looked up.
  routeClass: "TRANS",
  campaignName: campaignName ?? null,
  sendAt: timeOf(sendAt),
});
