import type { Field, Parts } from "../../parts/record/field.ts";
import { choice, flag, number } from "./line-fields.ts";
import { SMPP_ADVANCED, SMPP_ADVANCED_STARTS } from "./smpp-advanced.ts";
import { TlsInput } from "./tls-input.tsx";

/** Mostly empty, because few carriers ask for it. */
const word = (name: string, label: string, hint: string): Field => ({
  name,
  label,
  hint,
  input: { kind: "text", empty: "itself" },
});
const further = (field: Field): Field => ({ ...field, more: true });

/** How receipts spell ids, as the API names it. */
const ID_FORMS = [
  "in lower case",
  "in upper case",
  "without leading zeros",
  "without leading zeros, in lower case",
  "without leading zeros, in upper case",
  "from decimal to hex, in lower case",
  "from decimal to hex, in upper case",
  "from hex to decimal",
  "from hex to decimal, 10 digits",
  "from hex to decimal, 20 digits",
  "from decimal to hex, in lower case, 8 digits",
  "from decimal to hex, in upper case, 8 digits",
  "with leading zeros, in lower case, 8 digits",
  "with leading zeros, in upper case, 8 digits",
  "from decimal to hex, in lower case, 16 digits",
  "from decimal to hex, in upper case, 16 digits",
  "with leading zeros, in lower case, 16 digits",
  "with leading zeros, in upper case, 16 digits",
  "with leading zeros, 10 digits",
  "with leading zeros, 20 digits",
];

/** What a line over SMPP is asked for, with what most carriers take. What stands here is all that the form sends. */
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
      label: "Host",
      hint: "A name or an address, without a port.",
      input: { kind: "text", placeholder: "smpp.carrier.example" },
      required: true,
    },
    {
      name: "port",
      label: "Port",
      hint: "2775 mostly, and 3550 with TLS.",
      // Nobody writes a port with a comma.
      input: { kind: "number", min: 1, max: 65_535, grouped: false },
      required: true,
    },
    {
      name: "tls",
      label: "TLS",
      hint: "Certificates are verified always.",
      input: { kind: "own", component: TlsInput },
    },
    {
      name: "systemId",
      label: "System id",
      hint: "Our name with the carrier.",
      input: { kind: "text", placeholder: "shop" },
      required: true,
    },
    {
      name: "password",
      label: "Password",
      hint: "Sealed, and never shown. Empty leaves it as it is; a new line then has none.",
      input: { kind: "text", type: "password", empty: "itself" },
    },
    choice("bindAs", "Bind as", "Two binds are for carriers that know no transceiver.", [
      ["transceiver", "Transceiver"],
      ["transmitter and receiver", "Transmitter and receiver"],
    ]),
    number("connections", "Binds", "Over all nodes together, as the contract allows; best one for each node.", 1, 100),
    number("window", "Window", "Messages that wait for their answer at a time, on each bind.", 1, 1000),
    choice("alphabet", "Default alphabet", "A wrong one shows as ¡ in the place of @.", [
      ["gsm7", "GSM 7-bit"],
      ["latin1", "Latin-1"],
      ["ascii", "ASCII"],
    ]),
    choice("longMessages", "Long messages", "How a text of several parts goes.", [
      ["udh8", "With a header of 8 bits"],
      ["udh16", "With a header of 16 bits"],
      ["sar", "In sar parameters"],
      ["payload", "Whole, as payload"],
    ]),
    choice("idForm", "Receipts spell ids", "What is made of the id in a receipt, to find the one in the answer.", [
      ["auto", "Find out and learn"],
      ["exact", "As they are"],
      ...ID_FORMS.map((form) => [form, form] as const),
    ]),
    {
      name: "zone",
      label: "Zone of receipts",
      hint: "Their times do not say it.",
      input: { kind: "text", placeholder: "Asia/Kolkata", empty: "itself" },
    },
    flag("validity", "Tell the validity", "The carrier knows how long a message is worth delivering."),
    word("systemType", "System type", "Where the carrier asks for it."),
    word("serviceType", "Service type", "Where the carrier asks for it."),
    ...[
      word("addressRange", "Address range", "Where the carrier asks for it."),
      number(
        "responseSeconds",
        "An answer is waited for",
        "What has not come by then does not come.",
        1,
        300,
        "seconds",
      ),
      number("enquireSeconds", "Silence is asked about after", "Whether the carrier is there.", 5, 600, "seconds"),
      choice("flashGsm", "Flash messages", "Their data_coding in the default alphabet.", [
        ["0xF0", "0xF0"],
        ["0x10", "0x10"],
      ]),
      number("esmMode", "Messaging mode", "0 is the carrier's own, 3 is store and forward.", 0, 3),
      choice("receipts", "Receipts", "Which ends the carrier reports.", [
        ["all", "All"],
        ["failures", "Failures only"],
        ["none", "None"],
      ]),
      flag("intermediateReceipts", "Receipts on the way", "The carrier reports before the end, too."),
      flag(
        "unmarkedReceipts",
        "Receipts without a mark",
        "A text that looks like a receipt is one. Anybody's phone can send such a text: only for a carrier that never marks them.",
      ),
      {
        name: "senders",
        label: "Senders that are answered here",
        hint: "What phones send to another is not taken; none takes all.",
        input: { kind: "phrases", placeholder: "Every sender" },
      } as const,
      {
        name: "chain",
        label: "Chain of telemarketers",
        hint: "Their ids, the one that delivers last; for the hash of the chain among the parameters.",
        input: { kind: "list" },
      } as const,
      {
        name: "tlsKey",
        label: "Key of our certificate",
        hint: "In PEM. Sealed, and never shown. Empty leaves it as it is.",
        input: { kind: "long", placeholder: "-----BEGIN PRIVATE KEY-----" },
        secret: true,
        when: ({ tls }: Readonly<Record<string, unknown>>) => tls !== null,
      } as const,
    ].map(further),
    ...SMPP_ADVANCED,
  ],
};
