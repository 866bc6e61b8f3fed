import { Type } from "../../lib/schema.ts";
import type { StoredCredential } from "../../model/credential.ts";
import type { RouteClass } from "../../model/message.ts";
import { DLT_CONTENT_TAG, DLT_ENTITY_TAG } from "../../model/message-tlv.ts";
import { isClientTag } from "../client-tlvs.ts";
import { addressField, classField, classSetting, listSetting, nameField, numbersField } from "../setting-fields.ts";

const SERVICES_MAX = 100;
const MESSAGES_MAX = 10;
const TLVS_MAX = 50;

/** A group `sms-service` of Kannel's configuration. */
export interface SmsService {
  /** The first word of a message for this service; `default` for all messages that no other service takes. */
  keyword: string;
  getUrl?: string;
  postUrl?: string;
  /** Messages that a reply may take; it is cut off behind them. 0 for no replies. */
  maxMessages?: number;
  /** The sender of replies, in place of the number that the phone wrote to. */
  fakedSender?: string;
}

/** A group `smpp-tlv` of Kannel's configuration. */
export interface TlvDefinition {
  name: string;
  tag: number | string;
  type: "octetstring" | "nulterminated" | "integer";
  length?: number;
}

/** TLVs that need no definition. */
const KNOWN_TLVS: readonly TlvDefinition[] = [
  { name: "PE_ID", tag: DLT_ENTITY_TAG, type: "octetstring" },
  { name: "TEMPLATE_ID", tag: DLT_CONTENT_TAG, type: "octetstring" },
];

/** The tag as a number; NaN for a text that is none. */
export const tagOf = ({ tag }: Pick<TlvDefinition, "tag">): number =>
  typeof tag === "number" ? tag : /^0x[0-9a-f]{1,4}$/i.test(tag) ? Number(tag) : Number.NaN;

const TAG_RULE =
  "tag is a number, or hexadecimal such as 0x1500: a vendor's from 0x1400 to 0x3FFF, or one of SMPP that changes neither text nor route.";

const definition = Type.Object({
  name: nameField("the name in meta-data."),
  tag: Type.Union([Type.Integer({ minimum: 0, maximum: 0xffff }), Type.String({ maxLength: 6 })], {
    description: "Tag of the TLV, such as 0x1500.",
    error: TAG_RULE,
    check: (tag) => (isClientTag(tagOf({ tag })) ? null : TAG_RULE),
  }),
  type: Type.Union([Type.Literal("octetstring"), Type.Literal("nulterminated"), Type.Literal("integer")], {
    description: "Form of the value.",
    error: "type is octetstring, nulterminated or integer.",
  }),
  length: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 255,
      description: "Octets of an integer (1, 2 or 4; 4 unless given), or the most octets of other values.",
      error: "length is a whole number from 1 to 255.",
    }),
  ),
});

const service = Type.Object({
  keyword: nameField("the first word of a message for this service; default for messages that no other service takes."),
  getUrl: Type.Optional(addressField("called by GET, with Kannel's escape codes.")),
  postUrl: Type.Optional(addressField("called by POST with the text as body, with Kannel's escape codes.")),
  maxMessages: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MESSAGES_MAX,
      description: "Messages that a reply may take, 1 unless given; 0 for no replies.",
      error: `maxMessages is a whole number from 0 to ${MESSAGES_MAX}.`,
    }),
  ),
  fakedSender: Type.Optional(nameField("the sender of replies.")),
});

/** The settings as `/api/credentials` takes them. */
export const KANNEL_SETTINGS = {
  type: classField,
  services: Type.Array(service, {
    maxItems: SERVICES_MAX,
    description: "Destinations of inbound messages, as the groups sms-service of Kannel's configuration.",
  }),
  tlvs: Type.Array(definition, {
    maxItems: TLVS_MAX,
    description: "TLVs that meta-data may have, as the groups smpp-tlv of Kannel's configuration.",
  }),
  inboundNumbers: numbersField("a number or sender that phones write to."),
};

interface KannelSettings {
  type: RouteClass;
  services: readonly SmsService[];
  tlvs: readonly TlvDefinition[];
  inboundNumbers: readonly string[];
}

/** The settings that are stored with a credential; they were checked when they were stored. */
export function settingsOf(credential: Pick<StoredCredential, "settings">): KannelSettings {
  const { services, tlvs } = credential.settings;
  return {
    type: classSetting(credential),
    services: Array.isArray(services) ? (services as SmsService[]) : [],
    tlvs: Array.isArray(tlvs) ? [...KNOWN_TLVS, ...(tlvs as TlvDefinition[])] : KNOWN_TLVS,
    inboundNumbers: listSetting(credential, "inboundNumbers"),
  };
}
