import { t } from "../../i18n/t.ts";
import type { Field, Values } from "../../parts/record/field.ts";
import { PRODUCT_FIELDS, scopesOf } from "./product-fields.ts";
import { SMPP_FIELDS, SMPP_STARTS } from "./smpp-fields.ts";
import { LIMIT_FIELDS, type ApiKey } from "../keys/api-key.ts";

export const CREDENTIALS = "/api/credentials";

/** A username for an API that is compatible with another product. */
export interface Credential extends Omit<ApiKey, "hint"> {
  kind: string;
  username: string;
}

/** The products under their own names. */
export const PRODUCTS: Readonly<Record<string, string>> = {
  twilio: "Twilio",
  kannel: "Kannel",
  jasmin: "Jasmin",
  smpp: "SMPP",
};

export const STARTS: Values = {
  kind: "kannel",
  name: "",
  mode: "live",
  form: "account",
  settings: {},
  scopes: scopesOf("kannel"),
  allowedIps: [],
  requestsPerSecond: null,
  expiresAt: null,
  ...SMPP_STARTS,
};

export const FIELDS: readonly Field[] = [
  {
    name: "kind",
    label: t("Product"),
    hint: t("The product whose API your program uses, or SMPP for a client that binds."),
    input: { kind: "choice", options: Object.entries(PRODUCTS).map(([value, label]) => ({ value, label })) },
    implies: (kind) => ({ scopes: scopesOf(kind) }),
    fixed: true,
  },
  {
    name: "name",
    label: t("Name"),
    hint: t("For your reference."),
    input: { kind: "text", placeholder: "shop" },
    required: true,
  },
  {
    name: "mode",
    label: t("Mode"),
    hint: t("Messages of a test credential always go to the simulator."),
    input: {
      kind: "choice",
      options: [
        { value: "live", label: t("Live") },
        { value: "test", label: t("Test") },
      ],
    },
    fixed: true,
  },
  ...SMPP_FIELDS,
  ...PRODUCT_FIELDS,
  ...LIMIT_FIELDS.map((field) =>
    // SMPP system ids have messages per second instead.
    field.name === "requestsPerSecond" ? { ...field, when: ({ kind }: Values) => kind !== "smpp" } : field,
  ),
];
