import type { Field, Values } from "../../parts/record/field.ts";
import { AddressesInput } from "./addresses-input.tsx";
import { lanesInput } from "./lanes-input.tsx";
import { advanced, own } from "./line-fields.ts";
import { ErrorTextsInput, ReceiptTlvsInput, StatusPolicyInput, TlvsInput } from "./smpp-rows.tsx";

/** What most carriers take, as the server has it too. */
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

/** What few lines need, and only with the carrier's manual at hand. */
export const SMPP_ADVANCED: readonly Field[] = [
  own(
    "addresses",
    "Addresses",
    "How senders and recipients are marked: type of number and numbering plan.",
    AddressesInput,
  ),
  own(
    "priorities",
    "Priorities",
    "priority_flag by the type of a message, from 0 to 3.",
    lanesInput({ name: "priorities", min: 0, max: 3 }),
  ),
  own("tlvs", "Parameters of submits", "They go with every message, like those of India's registers.", TlvsInput),
  own("receiptTlvs", "Parameters of receipts", "Those that tell something of the phone.", ReceiptTlvsInput),
  own(
    "statusPolicy",
    "What a refusal means",
    "Where this carrier means something else by a command_status than others do.",
    StatusPolicyInput,
  ),
  own("errorTexts", "What error codes mean", "Shown with messages that failed.", ErrorTextsInput),
].map(advanced);
