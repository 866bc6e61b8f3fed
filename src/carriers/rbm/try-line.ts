import { readServiceAccount, type RbmSecrets, type RbmSettings } from "../../model/rbm-line.ts";
import type { LineTrial } from "../carrier.ts";
import type { PlatformNeeds } from "../platform.ts";
import { AccessToken } from "./access-token.ts";

type Needs = Pick<PlatformNeeds<RbmSettings, RbmSecrets>, "settings" | "secrets" | "wayOut" | "clock">;

/** How long somebody waits for the answer. */
const PATIENCE_MS = 10_000;

/** Asks for a token once, and says what happened: whether the key is one that the platform knows. Nothing is sent. */
export async function tryRbmLine({ settings, secrets, wayOut, clock }: Needs): Promise<LineTrial> {
  const startedAt = clock.monotonic();
  const account = readServiceAccount(secrets.serviceAccount);
  if ("fault" in account) return { outcome: "refused", description: account.fault, code: null, systemId: null, ms: 0 };
  const tokenUrl = settings.tokenUrl ?? account.tokenUrl;
  const access = await new AccessToken({ account, tokenUrl, limitMs: PATIENCE_MS, wayOut, clock }).get();
  const ms = Math.round(clock.monotonic() - startedAt);
  if (access.kind === "open") {
    const description = "The platform knows the line's service account";
    return { outcome: "bound", description, code: null, systemId: account.clientEmail, ms };
  }
  const { isHalted, description, code } = access;
  return { outcome: isHalted ? "refused" : "unreachable", description, code, systemId: null, ms };
}
