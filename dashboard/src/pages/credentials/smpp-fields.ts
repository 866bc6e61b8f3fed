import { t } from "../../i18n/t.ts";
import type { Field, Values } from "../../parts/record/field.ts";
import { ReceiptErrorsInput, ReceiptWordsInput } from "./smpp-rows.tsx";

const FEATURES = ["inbound", "multi", "query", "cancel", "schedule"] as const;

const RECEIPT_TLVS = ["receipted_message_id", "message_state", "network_error_code"] as const;

/** Settings of a new system id, the same as the defaults of the API. */
export const SMPP_STARTS: Values = {
  window: 100,
  maxBinds: 4,
  messagesPerSecond: null,
  senders: [],
  defaultType: "TRANS",
  requireTls: false,
  requireClientCertificate: false,
  alphabet: "gsm7",
  validitySeconds: null,
  messageIdForm: "hex",
  receiptForm: "both",
  receiptWords: {},
  receiptErrors: {},
  receiptTlvs: [...RECEIPT_TLVS],
  intermediateReceipts: true,
  longMessages: "udh8",
  features: [...FEATURES],
};

const choices = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([value, label]) => ({ value, label }));

const isSmpp = ({ kind }: Values): boolean => kind === "smpp";

/** Settings of an SMPP client. Other products have none of them. */
export const SMPP_FIELDS: readonly Field[] = [
  {
    name: "maxBinds",
    label: t("Maximum binds"),
    hint: t("At the same time, on all nodes together."),
    input: { kind: "number", min: 1, max: 100 },
    when: isSmpp,
  },
  {
    name: "window",
    label: t("Window"),
    hint: t("Requests without a response per bind. Further submits are throttled."),
    input: { kind: "number", min: 1, max: 1000 },
    when: isSmpp,
  },
  {
    name: "messagesPerSecond",
    label: t("Messages per second"),
    input: { kind: "number", min: 1, placeholder: t("No limit") },
    when: isSmpp,
  },
  {
    name: "senders",
    label: t("Senders"),
    hint: t(
      "Allowed source addresses. The first is used if a submit has none. Leave empty for all senders of the account.",
    ),
    input: { kind: "list", placeholder: t("All") },
    when: isSmpp,
  },
  {
    name: "requireTls",
    label: t("Require TLS"),
    hint: t("Refuse binds on the plain port."),
    input: { kind: "switch" },
    when: isSmpp,
  },
  {
    name: "requireClientCertificate",
    label: t("Require a client certificate"),
    hint: t("Refuse binds without a certificate of the authority that the server names."),
    input: { kind: "switch" },
    when: isSmpp,
    more: true,
  },
  {
    name: "defaultType",
    label: t("Route type"),
    hint: t("Of submits whose service_type is not TRANS, PROMO or OTP."),
    input: { kind: "choice", options: choices({ TRANS: "TRANS", PROMO: "PROMO", OTP: "OTP" }) },
    when: isSmpp,
    more: true,
  },
  {
    name: "alphabet",
    label: t("Alphabet of data_coding 0"),
    input: { kind: "choice", options: choices({ gsm7: "GSM-7", latin1: "Latin-1", ascii: "ASCII" }) },
    when: isSmpp,
    more: true,
  },
  {
    name: "validitySeconds",
    label: t("Validity"),
    hint: t("Of submits that name none."),
    input: { kind: "number", min: 60, suffix: t(" seconds"), placeholder: t("The server's") },
    when: isSmpp,
    more: true,
  },
  {
    name: "messageIdForm",
    label: t("Message ID format"),
    input: { kind: "choice", options: choices({ hex: "hex", uuid: "UUID", decimal: "decimal" }) },
    when: isSmpp,
    more: true,
  },
  {
    name: "receiptForm",
    label: t("Content of receipts"),
    input: {
      kind: "choice",
      options: choices({ both: t("Text and TLVs"), text: t("Text only"), parameters: t("TLVs only") }),
    },
    when: isSmpp,
    more: true,
  },
  {
    name: "receiptTlvs",
    label: t("TLVs of receipts"),
    input: { kind: "several", options: RECEIPT_TLVS.map((value) => ({ value, label: value })) },
    when: ({ kind, receiptForm }) => kind === "smpp" && receiptForm !== "text",
    more: true,
  },
  {
    name: "receiptWords",
    label: t("Words of stat"),
    hint: t("Those that differ from DELIVRD, UNDELIV and so on."),
    input: { kind: "own", component: ReceiptWordsInput },
    secretFree: true,
    when: isSmpp,
    more: true,
  },
  {
    name: "receiptErrors",
    label: t("Values of err"),
    hint: t("For failures whose value differs from the usual one."),
    input: { kind: "own", component: ReceiptErrorsInput },
    secretFree: true,
    when: isSmpp,
    more: true,
  },
  {
    name: "intermediateReceipts",
    label: t("Intermediate receipts"),
    hint: t("ENROUTE for submits that ask for it."),
    input: { kind: "switch" },
    when: isSmpp,
    more: true,
  },
  {
    name: "longMessages",
    label: t("Long texts from phones"),
    input: {
      kind: "choice",
      options: choices({ udh8: "UDH, 8 bit", udh16: "UDH, 16 bit", sar: "sar_*", payload: "message_payload" }),
    },
    when: isSmpp,
    more: true,
  },
  {
    name: "features",
    label: t("Features"),
    input: {
      kind: "several",
      options: choices({
        inbound: t("Texts from phones"),
        multi: "submit_multi",
        query: "query_sm",
        cancel: "cancel_sm",
        schedule: t("Scheduled delivery"),
      }),
    },
    when: isSmpp,
    more: true,
  },
];
