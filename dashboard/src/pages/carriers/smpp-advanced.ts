import { t } from "../../i18n/t.ts";
import type { Field, Values } from "../../parts/record/field.ts";
import { AddressesInput } from "./addresses-input.tsx";
import { lanesInput } from "./lanes-input.tsx";
import { advanced, own } from "./line-fields.ts";
import { ErrorTextsInput, ReceiptTlvsInput, StatusPolicyInput, TlvsInput } from "./smpp-rows.tsx";

/** Defaults that suit most carriers, the same as on the server. */
export const SMPP_ADVANCED_STARTS: Values = {
  addresses: {
    alphanumeric: { ton: 5, npi: 0 },
    shortCode: { ton: 3, npi: 0 },
    international: { ton: 1, npi: 1 },
    recipient: { ton: 1, npi: 1 },
    shortCodeDigits: 6,
    plus: false,
  },
  priorities: { OTP: 2, TRANS: 1, PROMO: 0 },
  tlvs: [],
  receiptTlvs: [],
  statusPolicy: {},
  errorTexts: {},
};

/** Settings that few carriers require, as stated in their manual. */
export const SMPP_ADVANCED: readonly Field[] = [
  own(
    "addresses",
    t("Addresses"),
    t("Type of number (TON) and numbering plan (NPI) of senders and recipients."),
    AddressesInput,
  ),
  own(
    "priorities",
    t("Priorities"),
    t("priority_flag per message type, from 0 to 3."),
    lanesInput({ name: "priorities", min: 0, max: 3 }),
  ),
  own("tlvs", t("Submit parameters (TLV)"), t("Sent with every message, such as India's DLT ids."), TlvsInput),
  own(
    "receiptTlvs",
    t("Receipt parameters (TLV)"),
    t("Parameters with information about the recipient."),
    ReceiptTlvsInput,
  ),
  own(
    "statusPolicy",
    t("Meaning of command_status"),
    t("For carriers that use a command_status in an unusual way."),
    StatusPolicyInput,
  ),
  own("errorTexts", t("Error codes"), t("Shown with failed messages."), ErrorTextsInput),
].map(advanced);
