import { readServiceAccount, type RbmSecrets, type RbmSettings } from "../../model/rbm-connection.ts";
import type { ConnectionTest } from "../carrier.ts";
import type { PlatformDeps } from "../http-platform.ts";
import { AccessToken } from "./access-token.ts";

type TestConnectionDeps = Pick<PlatformDeps<RbmSettings, RbmSecrets>, "settings" | "secrets" | "egress" | "clock">;

/** Time limit for the person who waits for the result. */
const TEST_LIMIT_MS = 10_000;

/** Requests a token, which proves that the platform accepts the service account. Sends no message. */
export async function testRbmConnection({
  settings,
  secrets,
  egress,
  clock,
}: TestConnectionDeps): Promise<ConnectionTest> {
  const startedAt = clock.monotonic();
  const account = readServiceAccount(secrets.serviceAccount);
  if ("fault" in account) return { outcome: "refused", description: account.fault, code: null, systemId: null, ms: 0 };
  const tokenUrl = settings.tokenUrl ?? account.tokenUrl;
  const access = await new AccessToken({ account, tokenUrl, limitMs: TEST_LIMIT_MS, egress, clock }).get();
  const ms = Math.round(clock.monotonic() - startedAt);
  if (access.kind === "open") {
    const description = "The platform knows the line's service account";
    return { outcome: "bound", description, code: null, systemId: account.clientEmail, ms };
  }
  const { isHalted, description, code } = access;
  return { outcome: isHalted ? "refused" : "unreachable", description, code, systemId: null, ms };
}
