import { t } from "../../i18n/t.ts";
import type { Field, Parts } from "../../parts/record/field.ts";
import { choice, flag, number } from "./line-fields.ts";
import { SMPP_ADVANCED, SMPP_ADVANCED_STARTS } from "./smpp-advanced.ts";
import { TlsInput } from "./tls-input.tsx";

/** A text field that is empty for most carriers. */
const word = (name: string, label: string, hint: string): Field => ({
  name,
  label,
  hint,
  input: { kind: "text", empty: "itself" },
});
const further = (field: Field): Field => ({ ...field, more: true });

/** Message-id formats of receipts, as the API names them. */
const ID_FORMS = [
  "lower case",
  "upper case",
  "without leading zeros",
  "without leading zeros, lower case",
  "without leading zeros, upper case",
  "decimal to hex, lower case",
  "decimal to hex, upper case",
  "hex to decimal",
  "hex to decimal, 10 digits",
  "hex to decimal, 20 digits",
  "decimal to hex, lower case, 8 digits",
  "decimal to hex, upper case, 8 digits",
  "leading zeros, lower case, 8 digits",
  "leading zeros, upper case, 8 digits",
  "decimal to hex, lower case, 16 digits",
  "decimal to hex, upper case, 16 digits",
  "leading zeros, lower case, 16 digits",
  "leading zeros, upper case, 16 digits",
  "leading zeros, 10 digits",
  "leading zeros, 20 digits",
];

/** Settings of an SMPP connection, with common defaults. The form sends only the fields listed here. */
export const SMPP_PARTS: Parts = {
  starts: {
    host: "",
    port: 2775,
    tls: null,
    systemId: "",
    password: "",
    bindAs: "transceiver",
    connections: 1,
    window: 10,
    alphabet: "gsm7",
    longMessages: "udh8",
    idForm: "auto",
    zone: "UTC",
    validity: true,
    systemType: "",
    serviceType: "",
    addressRange: "",
    responseSeconds: 30,
    enquireSeconds: 30,
    flashGsm: "0xF0",
    esmMode: 0,
    receipts: "all",
    intermediateReceipts: false,
    unmarkedReceipts: false,
    senders: [],
    chain: [],
    ...SMPP_ADVANCED_STARTS,
  },
  fields: [
    {
      name: "host",
      label: t("Host"),
      hint: t("Host name or IP address, without a port."),
      input: { kind: "text", placeholder: "smpp.carrier.example" },
      required: true,
    },
    {
      name: "port",
      label: t("Port"),
      hint: t("Usually 2775 (3550 with TLS)."),
      // Ports are written without a thousands separator.
      input: { kind: "number", min: 1, max: 65_535, grouped: false },
      required: true,
    },
    {
      name: "tls",
      label: "TLS",
      hint: t("Certificates are always verified."),
      input: { kind: "own", component: TlsInput },
    },
    {
      name: "systemId",
      label: "system_id",
      hint: t("The system_id your carrier gave you."),
      input: { kind: "text", placeholder: "shop" },
      required: true,
    },
    {
      name: "password",
      label: t("Password"),
      hint: t("Stored encrypted; never displayed. Leave empty to keep the current password."),
      hintNew: t("Stored encrypted; never displayed."),
      input: { kind: "text", type: "password", empty: "itself" },
    },
    choice("bindAs", t("Bind type"), t("Use TX + RX if the carrier does not support transceiver."), [
      ["transceiver", t("Transceiver")],
      ["transmitter and receiver", t("Transmitter and receiver (TX + RX)")],
    ]),
    number(
      "connections",
      t("Binds"),
      t("Total for all nodes, as your contract allows; ideally at least one per node."),
      1,
      100,
    ),
    number("window", t("Window"), t("Unanswered messages per bind."), 1, 1000),
    choice("alphabet", t("Default alphabet"), t("If @ arrives as ¡, change this."), [
      ["gsm7", "GSM 7-bit"],
      ["latin1", "Latin-1"],
      ["ascii", "ASCII"],
    ]),
    choice("longMessages", t("Long messages"), t("How multipart texts are sent."), [
      ["udh8", t("UDH, 8-bit reference")],
      ["udh16", t("UDH, 16-bit reference")],
      ["sar", t("sar_* parameters")],
      ["payload", t("message_payload, in one piece")],
    ]),
    choice(
      "idForm",
      t("Message ID format in receipts"),
      t("How the ID in a receipt is converted to match the ID in submit_sm_resp."),
      [
        ["auto", t("Detect automatically")],
        ["exact", t("Unchanged")],
        ...ID_FORMS.map((form) => [form, form] as const),
      ],
    ),
    {
      name: "zone",
      label: t("Time zone of receipts"),
      hint: t("SMPP receipts do not contain one."),
      input: { kind: "text", placeholder: "Asia/Kolkata", empty: "itself" },
    },
    flag("validity", t("Send validity period"), t("The carrier then stops trying when a message expires.")),
    word("systemType", t("System type"), t("If your carrier requires it.")),
    word("serviceType", t("Service type"), t("If your carrier requires it.")),
    ...[
      word("addressRange", t("Address range"), t("If your carrier requires it.")),
      number("responseSeconds", t("Response timeout"), t("Later responses are ignored."), 1, 300, t("seconds")),
      number(
        "enquireSeconds",
        t("Keep-alive after"),
        t("Sends enquire_link after this time without traffic."),
        5,
        600,
        t("seconds"),
      ),
      choice("flashGsm", t("Flash messages"), t("data_coding of flash messages in the default alphabet."), [
        ["0xF0", "0xF0"],
        ["0x10", "0x10"],
      ]),
      number("esmMode", t("Messaging mode"), t("0 = carrier default, 3 = store and forward."), 0, 3),
      choice("receipts", t("Receipts"), t("Which final states the carrier reports."), [
        ["all", t("All")],
        ["failures", t("Failures only")],
        ["none", t("None")],
      ]),
      flag(
        "intermediateReceipts",
        t("Intermediate receipts"),
        t("The carrier also reports states before the final one."),
      ),
      flag(
        "unmarkedReceipts",
        t("Unmarked receipts"),
        t(
          "Treats a text that looks like a receipt as one. Any phone can send such a text: use this only if your carrier never sets esm_class.",
        ),
      ),
      {
        name: "senders",
        label: t("Accepted incoming numbers"),
        hint: t("Messages to other numbers are not accepted. Leave empty to accept all."),
        input: { kind: "phrases", placeholder: t("All senders") },
      } as const,
      {
        name: "chain",
        label: t("Telemarketer chain"),
        hint: t("Telemarketer ids in order, the delivering one last. Used for the chain hash parameter."),
        input: { kind: "list" },
      } as const,
      {
        name: "tlsKey",
        label: t("Client certificate key"),
        hint: t("PEM. Stored encrypted; never displayed. Leave empty to keep the current key."),
        hintNew: t("PEM. Stored encrypted; never displayed."),
        input: { kind: "long", placeholder: "-----BEGIN PRIVATE KEY-----" },
        secret: true,
        when: ({ tls }: Readonly<Record<string, unknown>>) => tls !== null,
      } as const,
    ].map(further),
    ...SMPP_ADVANCED,
  ],
};
