import type { Caller } from "../accounts/caller.ts";
import { Problem } from "../model/problem.ts";

/** Only a logged-in owner may switch metering off: an API key that could would have unlimited credits. */
export function refuseCreditSetting({ account, session }: Caller, credits: unknown): void {
  if (session || account.settings.credits !== "metered" || credits !== "unlimited") return;
  throw new Problem("INSUFFICIENT_SCOPE", {
    message: "No API key may make the account unlimited: an owner who is logged in can.",
  });
}
