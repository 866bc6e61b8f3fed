/** What one provider asks for, by the names that the server's preset has for it. */
interface HttpPreset {
  value: string;
  label: string;
  /** Null where everybody has one of their own. */
  baseUrl: string | null;
  values: Readonly<Record<string, string>>;
  secrets: Readonly<Record<string, string>>;
}

/** The providers that are known, each with what has to be given of an account there. */
export const HTTP_PRESETS: readonly HttpPreset[] = [
  {
    value: "kannel",
    label: "Kannel",
    baseUrl: null,
    values: { username: "User name" },
    secrets: { password: "Password" },
  },
  {
    value: "twilio",
    label: "Twilio",
    baseUrl: "https://api.twilio.com",
    values: { accountSid: "Account SID" },
    secrets: { authToken: "Auth token" },
  },
  {
    value: "sinch",
    label: "Sinch",
    baseUrl: "https://us.sms.api.sinch.com",
    values: { servicePlanId: "Service plan id" },
    secrets: { apiToken: "API token" },
  },
  {
    value: "vonage",
    label: "Vonage",
    baseUrl: "https://rest.nexmo.com",
    values: { apiKey: "API key" },
    secrets: { apiSecret: "API secret" },
  },
];

export const presetOf = (preset: unknown): HttpPreset | undefined => HTTP_PRESETS.find(({ value }) => value === preset);
