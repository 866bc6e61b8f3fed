/** Settings of an SMPP connection. */
export interface SmppSettings {
  host: string;
  port: number;
  /** Null for plain TCP. */
  tls: SmppTls | null;
  systemId: string;
  systemType: string;
  bindAs: SmppBindAs;
  /** address_range in the carrier's format; mostly empty. */
  addressRange: string;
  /** Binds of all nodes together; for a transmitter and receiver pair, the number of each. */
  connections: number;
  /** Window size per bind. */
  window: number;
  /** Response time-out. */
  responseSeconds: number;
  /** Silence before an enquire_link. */
  enquireSeconds: number;
  alphabet: SmppAlphabet;
  longMessages: SmppLongMessages;
  /** data_coding of a flash message in the default alphabet. */
  flashGsm: "0xF0" | "0x10";
  addresses: SmppAddresses;
  serviceType: string;
  /** Messaging mode in esm_class. */
  esmMode: 0 | 1 | 2 | 3;
  /** True to send validity_period. */
  validity: boolean;
  /** priority_flag by class. */
  priorities: { OTP: number; TRANS: number; PROMO: number };
  /** Final states that the carrier reports. */
  receipts: "all" | "failures" | "none";
  /** True to request intermediate notifications too. */
  intermediateReceipts: boolean;
  /** True to treat text that looks like a receipt as one, even if unmarked. */
  unmarkedReceipts: boolean;
  /** Time zone of the dates in receipts. */
  zone: string;
  /** Message-id format of receipts: one of `SMPP_ID_FORMS`. */
  idForm: string;
  /** Descriptions of the carrier's error codes. */
  errorTexts: Readonly<Record<string, string>>;
  /** Overrides of the meaning of a command_status. */
  statusPolicy: Readonly<Record<string, SmppStatusMeaning>>;
  /** TLVs added to every submit. */
  tlvs: readonly SmppTlv[];
  /** Telemarketer ids of the DLT chain; the delivering one comes last. */
  chain: readonly string[];
  /** TLVs of receipts that contain network fields. */
  receiptTlvs: readonly SmppReceiptTlv[];
  /** Our senders on this connection; inbound messages to other numbers are refused. Empty accepts all. */
  senders: readonly string[];
}

/** As stored. */
export interface SmppConnectionSettings extends SmppSettings {
  /** Encrypted. */
  secrets: { password: string; tlsKey: string | null };
}

/** Never shown. */
export interface SmppSecrets {
  password: string;
  /** Private key of the client certificate, if the carrier requires one. */
  tlsKey: string | null;
}

interface SmppTls {
  /** CA certificates in PEM, instead of the system's. */
  ca: string | null;
  /** Name in the carrier's certificate, if it is not the host. */
  servername: string | null;
  /** Client certificate in PEM, if the carrier requires one. */
  cert: string | null;
}

export const SMPP_BINDS = ["transceiver", "transmitter and receiver"] as const;
type SmppBindAs = (typeof SMPP_BINDS)[number];

export const SMPP_ALPHABETS = ["gsm7", "latin1", "ascii"] as const;
type SmppAlphabet = (typeof SMPP_ALPHABETS)[number];

export const SMPP_LONG_MESSAGES = ["udh8", "udh16", "sar", "payload"] as const;
type SmppLongMessages = (typeof SMPP_LONG_MESSAGES)[number];

interface SmppAddressType {
  ton: number;
  npi: number;
}

interface SmppAddresses {
  /** For alphanumeric senders. */
  alphanumeric: SmppAddressType;
  /** For short codes. */
  shortCode: SmppAddressType;
  /** For international numbers. */
  international: SmppAddressType;
  recipient: SmppAddressType;
  /** Maximum number of digits of a short code. */
  shortCodeDigits: number;
  /** True if international numbers start with a plus. */
  plus: boolean;
}

export const SMPP_STATUS_MEANINGS = ["retry", "refuse", "carrier"] as const;
type SmppStatusMeaning = (typeof SMPP_STATUS_MEANINGS)[number];

export const SMPP_TLV_TYPES = ["octets", "cstring", "uint8", "uint16", "uint32"] as const;
type SmppTlvType = (typeof SMPP_TLV_TYPES)[number];

export const SMPP_TLV_SOURCES = ["template.dltEntityId", "template.dltContentId", "chainHash"] as const;

interface SmppTlv {
  tag: number;
  type: SmppTlvType;
  source: (typeof SMPP_TLV_SOURCES)[number] | { literal: string };
}

interface SmppReceiptTlv {
  tag: number;
  type: SmppTlvType;
  field: "operator" | "circle";
}

/** Decrypts a stored connection. Settings that an earlier release did not know get their defaults. */
export const decryptedSmppConnection = (
  { secrets: { password, tlsKey }, ...settings }: SmppConnectionSettings,
  open: (sealed: string) => string,
): { settings: SmppSettings; secrets: SmppSecrets } => ({
  settings: { ...SMPP_DEFAULTS, ...settings },
  secrets: { password: open(password), tlsKey: tlsKey === null ? null : open(tlsKey) },
});

/** `auto` tries every format and learns; `exact` uses ids unchanged; any other names the conversion of a receipt's id. */
export const SMPP_ID_FORMS: readonly string[] = [
  "auto",
  "exact",
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

/** Defaults for most carriers. Host and credentials have no default. */
export const SMPP_DEFAULTS: Omit<SmppSettings, "host" | "systemId"> = {
  port: 2775,
  tls: null,
  systemType: "",
  bindAs: "transceiver",
  addressRange: "",
  connections: 1,
  window: 10,
  responseSeconds: 30,
  enquireSeconds: 30,
  alphabet: "gsm7",
  longMessages: "udh8",
  flashGsm: "0xF0",
  addresses: {
    alphanumeric: { ton: 5, npi: 0 },
    shortCode: { ton: 3, npi: 0 },
    international: { ton: 1, npi: 1 },
    recipient: { ton: 1, npi: 1 },
    shortCodeDigits: 6,
    plus: false,
  },
  serviceType: "",
  esmMode: 0,
  validity: true,
  priorities: { OTP: 2, TRANS: 1, PROMO: 0 },
  receipts: "all",
  intermediateReceipts: false,
  unmarkedReceipts: false,
  zone: "UTC",
  idForm: "auto",
  errorTexts: {},
  statusPolicy: {},
  tlvs: [],
  chain: [],
  receiptTlvs: [],
  senders: [],
};
