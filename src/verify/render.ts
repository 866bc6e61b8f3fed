import type { VerifyConfigContent } from "../model/verify-config.ts";

/** The words of an SMS that brings a code, with the lines by which phones and browsers know whom it is for at its end. */
export function renderOtp({ text, lifeSeconds, appHash, webOtpDomain }: VerifyConfigContent, code: string): string {
  const words = text.replaceAll("{code}", () => code).replaceAll("{minutes}", () => minutesOf(lifeSeconds));
  const lines = [words];
  if (appHash !== null) lines.push(appHash);
  // Browsers look at the last line alone.
  if (webOtpDomain !== null) lines.push(`@${webOtpDomain} #${code}`);
  return lines.join("\n");
}

export const minutesOf = (seconds: number): string => String(Math.max(1, Math.floor(seconds / 60)));
