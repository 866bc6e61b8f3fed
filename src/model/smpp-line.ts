/** How a line to a carrier that speaks SMPP is bound and spoken on, as people set it; every line differs in something. */
export interface SmppSettings {
  host: string;
  port: number;
  /** Null speaks in the clear. */
  tls: SmppTls | null;
  systemId: string;
  systemType: string;
  bindAs: SmppBindAs;
  /** Addresses that the line is bound for, as the carrier writes them; mostly none. */
  addressRange: string;
  /** Binds over all nodes together; a line that is bound as two has so many of each. */
  connections: number;
  /** Submits that wait for their answer at a time, on each bind. */
  window: number;
  /** An answer that has not come by then does not come. */
  responseSeconds: number;
  /** After so long without a word the other side is asked whether it is there. */
  enquireSeconds: number;
  alphabet: SmppAlphabet;
  longMessages: SmppLongMessages;
  /** data_coding of a flash message in the default alphabet. */
  flashGsm: "0xF0" | "0x10";
  addresses: SmppAddresses;
  serviceType: string;
  /** The messaging mode of esm_class. */
  esmMode: 0 | 1 | 2 | 3;
  /** Whether the carrier is told how long a message is worth delivering. */
  validity: boolean;
  /** priority_flag by class. */
  priorities: { OTP: number; TRANS: number; PROMO: number };
  /** Which ends the carrier reports. */
  receipts: "all" | "failures" | "none";
  /** Whether it also reports on the way. */
  intermediateReceipts: boolean;
  /** Whether a text that looks like a receipt is one though the carrier does not mark it. */
  unmarkedReceipts: boolean;
  /** Zone of the times in its receipts, which do not say. */
  zone: string;
  /** How its receipts spell the ids that it gave: one of `SMPP_ID_FORMS`. */
  idForm: string;
  /** What it means by its own error codes. */
  errorTexts: Readonly<Record<string, string>>;
  /** What a command_status means here, where it is not what it mostly means. */
  statusPolicy: Readonly<Record<string, SmppStatusMeaning>>;
  /** Parameters that go with every submit. */
  tlvs: readonly SmppTlv[];
  /** Ids of the telemarketers that messages go through, the one that delivers them last. */
  chain: readonly string[];
  /** What its receipts tell in parameters. */
  receiptTlvs: readonly SmppReceiptTlv[];
  /** Our senders that phones answer on this line; what comes for another is not taken. Empty takes all. */
  senders: readonly string[];
}

/** A line as it is stored. */
export interface SmppLine extends SmppSettings {
  /** Sealed. */
  secrets: { password: string; tlsKey: string | null };
}

/** What nobody is ever shown. */
export interface SmppSecrets {
  password: string;
  /** The key of the client certificate, where the carrier asks for one. */
  tlsKey: string | null;
}

export interface SmppTls {
  /** Certificates to trust instead of the usual ones, in PEM. */
  ca: string | null;
  /** The name in the carrier's certificate, where it is not the host. */
  servername: string | null;
  /** The client certificate in PEM, where the carrier asks for one. */
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
  /** Of a sender with letters. */
  alphanumeric: SmppAddressType;
  /** Of a sender that is a short number. */
  shortCode: SmppAddressType;
  /** Of a sender that is an international number. */
  international: SmppAddressType;
  recipient: SmppAddressType;
  /** A sender of at most so many digits is a short number. */
  shortCodeDigits: number;
  /** Whether international numbers are written with a plus. */
  plus: boolean;
}

export const SMPP_STATUS_MEANINGS = ["retry", "refuse", "carrier"] as const;
type SmppStatusMeaning = (typeof SMPP_STATUS_MEANINGS)[number];

export const SMPP_TLV_TYPES = ["octets", "cstring", "uint8", "uint16", "uint32"] as const;
type SmppTlvType = (typeof SMPP_TLV_TYPES)[number];

export const SMPP_TLV_SOURCES = ["template.dltEntityId", "template.dltContentId", "chainHash"] as const;

export interface SmppTlv {
  tag: number;
  type: SmppTlvType;
  source: (typeof SMPP_TLV_SOURCES)[number] | { literal: string };
}

export interface SmppReceiptTlv {
  tag: number;
  type: SmppTlvType;
  field: "operator" | "circle";
}

/** A stored line as it is spoken on; one of an earlier release has the defaults of what that could not know. */
export const openedLine = (
  { secrets: { password, tlsKey }, ...settings }: SmppLine,
  open: (sealed: string) => string,
): { settings: SmppSettings; secrets: SmppSecrets } => ({
  settings: { ...SMPP_DEFAULTS, ...settings },
  secrets: { password: open(password), tlsKey: tlsKey === null ? null : open(tlsKey) },
});

/** `auto` tries every spelling and learns; `exact` takes ids as they are; any other says what is made of a receipt's id. */
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

/** What most carriers take; who they are and who we are to them, everybody has to say. */
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
