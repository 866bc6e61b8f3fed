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
  {
    value: "infobip",
    label: "Infobip",
    baseUrl: null,
    values: {},
    secrets: { apiKey: t("API key") },
  },
  {
    value: "exotel",
    label: "Exotel",
    baseUrl: "https://api.exotel.com",
    values: { accountSid: t("Account SID"), apiKey: t("API key") },
    secrets: { apiToken: t("API token") },
  },
  {
    value: "msg91",
    label: "MSG91",
    baseUrl: "https://api.msg91.com",
    values: {},
    secrets: { authKey: t("Auth key") },
  },
  {
    value: "gupshup",
    label: "Gupshup",
    baseUrl: "https://enterprise.smsgupshup.com",
    values: { userId: t("User ID") },
    secrets: { password: t("Password") },
  },
  {
    value: "kaleyra",
    label: "Kaleyra",
    baseUrl: "https://api.in.kaleyra.io",
    values: { sid: "SID", callbackProfileId: t("ID of the callback profile") },
    secrets: { apiKey: t("API key") },
  },
  {
    value: "routemobile",
    label: "Route Mobile",
    baseUrl: "https://api.rmlconnect.net",
    values: { username: t("User name") },
    secrets: { password: t("Password") },
  },
  {
    value: "smsgate",
    label: "SMSGate",
    baseUrl: "https://api.sms-gate.app",
    values: { username: t("User name") },
    secrets: { password: t("Password") },
  },
  {
    value: "textbee",
    label: "textbee",
    baseUrl: "https://api.textbee.dev",
    values: { deviceId: t("Device ID") },
    secrets: { apiKey: t("API key") },
  },
  {
    value: "httpsms",
    label: "httpSMS",
    baseUrl: "https://api.httpsms.com",
    values: {},
    secrets: { apiKey: t("API key") },
  },
];

export const presetOf = (preset: unknown): HttpPreset | undefined => HTTP_PRESETS.find(({ value }) => value === preset);
