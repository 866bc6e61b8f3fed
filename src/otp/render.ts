import { textFor, type LocalisedText } from "../model/locale.ts";
import { DEFAULT_VERIFY_CONFIG, type VerifyConfigContent } from "../model/verify-config.ts";

/** The SMS of a code, with the lines by which Android apps and WebOTP browsers recognise it at the end. */
export function renderOtp(config: VerifyConfigContent, code: string, locale: string | null): string {
  const { appHash, webOtpDomain } = config;
  const lines = [fill(textFor(config.text, config.texts, locale).text, config, code)];
  if (appHash !== null) lines.push(appHash);
  // Browsers read the last line only.
  if (webOtpDomain !== null) lines.push(`@${webOtpDomain} #${code}`);
  return lines.join("\n");
}

/** The e-mail of a code: subject, text and the language of the text. */
export function renderOtpEmail(
  config: VerifyConfigContent,
  code: string,
  locale: string | null,
): LocalisedText & { subject: string } {
  const { subject = DEFAULT_VERIFY_CONFIG.subject ?? "", subjects } = config;
  const { text, language } = textFor(config.text, config.texts, locale);
  return {
    subject: fill(textFor(subject, subjects, locale).text, config, code),
    text: fill(text, config, code),
    language,
  };
}

function fill(text: string, { lifeSeconds }: Pick<VerifyConfigContent, "lifeSeconds">, code: string): string {
  const minutes = minutesOf(lifeSeconds);
  return (minutes === "1" ? text.replaceAll("{minutes} minutes", "1 minute") : text)
    .replaceAll("{minutes}", () => minutes)
    .replaceAll("{code}", () => code);
}

export const minutesOf = (seconds: number): string => String(Math.max(1, Math.floor(seconds / 60)));
