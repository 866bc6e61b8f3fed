import { t } from "../../i18n/t.ts";
import type { Field, Values } from "../../parts/record/field.ts";
import { LIMIT_FIELDS, type ApiKey } from "../keys/api-key.ts";
import { ConfigInput } from "./config-input.tsx";

export const HOOKS = "/api/identity-hooks";

/** A hook that an identity product calls to deliver its codes. */
export interface IdentityHook extends Omit<ApiKey, "hint" | "scopes"> {
  product: string;
  configId: string;
  url: string;
}

/** The products under their own names. */
export const PRODUCTS: Readonly<Record<string, string>> = {
  supabase: "Supabase",
  zitadel: "Zitadel",
  authentik: "authentik",
  logto: "Logto",
  kratos: "Ory Kratos",
  auth0: "Auth0",
  okta: "Okta",
  fusionauth: "FusionAuth",
};

export const STARTS: Values = {
  product: "supabase",
  name: "",
  configId: "default",
  mode: "live",
  codeDigits: null,
  allowedIps: [],
  requestsPerSecond: null,
  expiresAt: null,
};

/** Products that may send the code only as part of a text. */
const WITH_TEXTS = new Set(["zitadel", "authentik", "kratos", "fusionauth"]);

export const FIELDS: readonly Field[] = [
  {
    name: "product",
    label: t("Product"),
    hint: t("The identity product that makes and checks the codes."),
    input: { kind: "choice", options: Object.entries(PRODUCTS).map(([value, label]) => ({ value, label })) },
    fixed: true,
  },
  {
    name: "name",
    label: t("Name"),
    hint: t("For your reference."),
    input: { kind: "text", placeholder: "sign-in" },
    required: true,
  },
  {
    name: "configId",
    label: t("Configuration"),
    hint: t("The verification configuration that delivers the codes."),
    input: { kind: "own", component: ConfigInput },
    required: true,
  },
  {
    name: "secret",
    label: t("Secret of the product"),
    hint: t("If the product issued a signing key of its own. It replaces the hook's secret."),
    input: { kind: "text", type: "password", empty: "omit" },
    when: ({ url }) => url !== undefined,
  },
  {
    name: "mode",
    label: t("Mode"),
    hint: t("Codes of a test hook always go to the simulator."),
    input: {
      kind: "choice",
      options: [
        { value: "live", label: t("Live") },
        { value: "test", label: t("Test") },
      ],
    },
    fixed: true,
  },
  {
    name: "codeDigits",
    label: t("Digits of the code"),
    hint: t("If the product sends a text without a field for the code. Empty takes the only number of 4 to 10 digits."),
    input: { kind: "number", min: 4, max: 10 },
    when: ({ product }) => WITH_TEXTS.has(String(product)),
    absent: null,
    more: true,
  },
  ...LIMIT_FIELDS,
];

/** A setting of the product under its own name, with the value to copy. */
export interface ProductSetting {
  setting: string;
  value: string;
}

/** The settings that connect a product to its hook. */
export function settingsOf({ product, url }: Pick<IdentityHook, "product" | "url">, secret: string): ProductSetting[] {
  const at = (setting: string): ProductSetting => ({ setting, value: url });
  switch (product) {
    case "supabase":
      return [at("Authentication → Hooks → Send SMS → URL"), { setting: "Secret", value: `v1,${secret}` }];
    case "zitadel":
      return [at("SMS provider → HTTP → endpoint")];
    case "authentik":
      return [
        at("SMS stage → Generic → External API URL"),
        { setting: "API Auth type", value: "bearer" },
        { setting: "API Auth token", value: secret },
      ];
    case "logto":
      return [at("HTTP SMS connector → endpoint"), { setting: "authorization", value: `Bearer ${secret}` }];
    case "kratos":
      return [
        at("courier.channels[].request_config.url"),
        { setting: "courier.channels[].request_config.auth.config.name", value: "X-Api-Key" },
        { setting: "courier.channels[].request_config.auth.config.value", value: secret },
      ];
    case "auth0":
      return [at("Action secret HELIOGRAPH_URL"), { setting: "Action secret HELIOGRAPH_SECRET", value: secret }];
    case "okta":
      return [
        at("Inline hook → URL"),
        { setting: "Authentication field", value: "Authorization" },
        { setting: "Authentication secret", value: secret },
      ];
    default:
      return [
        at("Messenger → Generic → URL"),
        { setting: "HTTP basic authentication username", value: "heliograph" },
        { setting: "HTTP basic authentication password", value: secret },
      ];
  }
}
