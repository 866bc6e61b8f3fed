import { t } from "../../i18n/t.ts";

export const CONTACTS = "/v1/contacts";
export const CONTACT_IMPORTS = "/v1/contact-imports";

interface Consent {
  channel: string;
  type: string;
  granted: boolean;
  source: string | null;
  at: number;
}

/** A contact as the API returns it. */
export interface Contact {
  number: string;
  name: string | null;
  attributes: Readonly<Record<string, string>>;
  tags: readonly string[];
  consents: readonly Consent[];
  optedOut: boolean;
  createdAt: number;
  updatedAt: number;
}

export interface ContactImport {
  id: string;
  state: "running" | "finished" | "failed";
  total: number;
  done: number;
  failure: { code: string; message: string } | null;
}

/** `sms:PROMO`, as filters and segments name a consent. */
export const consentKey = ({ channel, type }: Pick<Consent, "channel" | "type">): string => `${channel}:${type}`;

const CHANNEL_WORDS: Readonly<Record<string, string>> = { sms: "SMS", rcs: "RCS", chatapp: t("Chat app") };

/** Every consent, with its label. */
export const CONSENTS = ["sms", "rcs", "chatapp"].flatMap((channel) =>
  ["PROMO", "TRANS", "OTP"].map((type) => ({
    value: consentKey({ channel, type }),
    label: `${CHANNEL_WORDS[channel] ?? channel} ${type}`,
  })),
);

export const consentLabel = (key: string): string => CONSENTS.find(({ value }) => value === key)?.label ?? key;

/** `city: Pune`, one attribute per line. */
export const attributesAsText = (attributes: Contact["attributes"]): string =>
  Object.entries(attributes)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

/** The attributes of a text; those of the contact that it lacks are removed. */
export function attributesOfText(text: string, before: Contact["attributes"]): Record<string, string | null> {
  const lines = text.split("\n").flatMap((line) => {
    const at = line.indexOf(":");
    return at < 1 || line.slice(at + 1).trim() === "" ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
  });
  return { ...Object.fromEntries(Object.keys(before).map((name) => [name, null])), ...Object.fromEntries(lines) };
}
