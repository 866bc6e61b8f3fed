import { t } from "../../i18n/t.ts";
/** The values and secrets of one provider, named as in the server's preset. */
interface HttpPreset {
  value: string;
  label: string;
  /** Null if every customer has a URL of their own. */
  baseUrl: string | null;
  values: Readonly<Record<string, string>>;
  secrets: Readonly<Record<string, string>>;
}

/** Providers with a preset, and the account fields of each. */
export const HTTP_PRESETS: readonly HttpPreset[] = [
  {
    value: "kannel",
    label: "Kannel",
    baseUrl: null,
    values: { username: t("User name") },
    secrets: { password: t("Password") },
  },
  {
    value: "twilio",
    label: "Twilio",
    baseUrl: "https://api.twilio.com",
    values: { accountSid: t("Account SID") },
    secrets: { authToken: t("Auth token") },
  },
  {
    value: "sinch",
    label: "Sinch",
    baseUrl: "https://us.sms.api.sinch.com",
    values: { servicePlanId: t("Service plan ID") },
    secrets: { apiToken: t("API token") },
  },
  {
    value: "vonage",
    label: "Vonage",
    baseUrl: "https://rest.nexmo.com",
    values: { apiKey: t("API key") },
    secrets: { apiSecret: t("API secret") },
  },
];

export const presetOf = (preset: unknown): HttpPreset | undefined => HTTP_PRESETS.find(({ value }) => value === preset);
