import { textFor } from "../model/locale.ts";
import type { VerifyConfigContent } from "../model/verify-config.ts";

/** The SMS of a code, with the lines by which Android apps and WebOTP browsers recognise it at the end. */
export function renderOtp(config: VerifyConfigContent, code: string, locale: string | null): string {
  const { lifeSeconds, appHash, webOtpDomain } = config;
  const text = textFor(config, locale);
  const minutes = minutesOf(lifeSeconds);
  const body = (minutes === "1" ? text.replaceAll("{minutes} minutes", "1 minute") : text)
    .replaceAll("{minutes}", () => minutes)
    .replaceAll("{code}", () => code);
  const lines = [body];
  if (appHash !== null) lines.push(appHash);
  // Browsers read the last line only.
  if (webOtpDomain !== null) lines.push(`@${webOtpDomain} #${code}`);
  return lines.join("\n");
}

export const minutesOf = (seconds: number): string => String(Math.max(1, Math.floor(seconds / 60)));
