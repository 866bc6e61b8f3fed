import { t } from "../../i18n/t.ts";
import type { Field, Parts, Values } from "../../parts/record/field.ts";
import { lineInput } from "../carriers/line-input.tsx";
import { ServicesInput, TlvDefinitionsInput } from "./kannel-rows.tsx";

const isOf =
  (kind: string) =>
  ({ kind: chosen }: Values): boolean =>
    chosen === kind;

const route: Field = {
  name: "type",
  label: t("Route type"),
  hint: t("Of its text messages: the product's API does not name one."),
  input: {
    kind: "choice",
    options: ["TRANS", "PROMO", "OTP"].map((value) => ({ value, label: value })),
    none: "TRANS",
  },
};
const inboundNumbers: Field = {
  name: "inboundNumbers",
  label: t("Inbound numbers"),
  hint: t("Only messages to these numbers or senders. Leave empty for all."),
  input: { kind: "list", placeholder: t("All") },
};
const inbound: readonly Field[] = [
  {
    name: "inboundUrl",
    label: t("Inbound URL"),
    hint: t("Messages from phones go there."),
    input: { kind: "text", type: "url", placeholder: "https://" },
  },
  {
    name: "inboundMethod",
    label: t("Inbound method"),
    input: { kind: "choice", options: ["POST", "GET"].map((value) => ({ value, label: value })), none: t("Default") },
  },
  inboundNumbers,
];
const starts: Values = { type: null, inboundUrl: null, inboundMethod: null, inboundNumbers: null };

const SETTINGS: Readonly<Record<string, Parts>> = {
  twilio: {
    fields: [
      {
        name: "sender",
        label: t("Sender"),
        hint: t("Of requests that name a Messaging Service and no From."),
        input: { kind: "text", placeholder: "HELIOG" },
      },
      {
        name: "statusCallback",
        label: t("Status callback URL"),
        hint: t("For messages without a StatusCallback of their own."),
        input: { kind: "text", type: "url", placeholder: "https://" },
      },
      ...inbound,
      route,
    ],
    starts: { ...starts, sender: null, statusCallback: null },
  },
  kannel: {
    fields: [
      {
        name: "services",
        label: t("Services"),
        hint: t("Where messages from phones go, by their first word, as in sms-service of Kannel's configuration."),
        input: { kind: "own", component: ServicesInput },
      },
      inboundNumbers,
      {
        name: "tlvs",
        label: t("TLVs"),
        hint: t("Which meta-data may set, as in smpp-tlv of Kannel's configuration."),
        input: { kind: "own", component: TlvDefinitionsInput },
      },
      route,
    ],
    starts: { type: null, services: null, inboundNumbers: null, tlvs: null },
  },
  jasmin: { fields: [...inbound, route], starts },
};

const SCOPE_NAMES: Readonly<Record<string, string>> = {
  sms: t("send SMS"),
  rcs: t("send RCS"),
  chatapp: t("send to the chat app"),
  verify: t("send and check codes"),
  "verify:custom": t("send codes of your own"),
  read: t("read messages"),
};

/** The permissions that are meaningful for each product. */
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  twilio: Object.keys(SCOPE_NAMES),
  kannel: ["sms", "read"],
  jasmin: ["sms", "read"],
  smpp: ["sms", "read"],
};

export const scopesOf = (kind: unknown): readonly string[] => SCOPES[String(kind)] ?? [];

/** Twilio has two kinds of logins; the username shows the kind. */
const FORM: Field = {
  name: "form",
  label: t("Login"),
  hint: t("Status callbacks are signed with an AuthToken, so the account needs at least one."),
  input: {
    kind: "choice",
    options: [
      { value: "account", label: t("AccountSid and AuthToken") },
      { value: "key", label: t("API key SID and secret") },
    ],
  },
  fixed: true,
  when: ({ kind, username }) => kind === "twilio" && username === undefined,
};

/** Fields that depend on the product: login, settings and permissions. */
export const PRODUCT_FIELDS: readonly Field[] = [
  FORM,
  ...Object.entries(SETTINGS).map(([kind, parts]): Field => ({
    name: "settings",
    label: t("Settings"),
    input: { kind: "own", component: lineInput("settings", parts) },
    parts,
    when: isOf(kind),
  })),
  ...Object.entries(SCOPES).map(([kind, scopes]): Field => ({
    name: "scopes",
    label: t("Permissions"),
    input: { kind: "several", options: scopes.map((value) => ({ value, label: SCOPE_NAMES[value] ?? value })) },
    required: true,
    when: isOf(kind),
    more: true,
  })),
];
