import { testSmtpServer, type SmtpDeps, type SmtpServer } from "../../email/smtp.ts";
import type { Clock } from "../../lib/clock.ts";
import type { ConnectionTest } from "../carrier.ts";

/** Time limit for the person who waits for the result. */
const TEST_LIMIT_MS = 10_000;
const DESCRIPTION_MAX = 300;

/** Connects, verifies the certificate and logs in. Sends no e-mail. */
export async function testEmailConnection({
  server,
  clock,
  addressOf,
}: SmtpDeps & { server: SmtpServer; clock: Clock }): Promise<ConnectionTest> {
  const startedAt = clock.monotonic();
  const limitMs = Math.min(server.limitMs, TEST_LIMIT_MS);
  const result = await testSmtpServer({ addressOf }, { ...server, limitMs });
  const ms = Math.round(clock.monotonic() - startedAt);
  if (result.kind === "accepted") {
    const description = server.login === null ? "The mail server accepts e-mails" : "The mail server accepts the login";
    return { outcome: "bound", description, code: null, systemId: null, ms };
  }
  if (result.kind === "refused" || result.kind === "rejected") {
    const description = `The mail server refused: ${result.reply}`.slice(0, DESCRIPTION_MAX);
    return { outcome: "refused", description, code: String(result.code), systemId: null, ms };
  }
  const description = `The mail server cannot be used: ${result.reason}`;
  return { outcome: "unreachable", description, code: null, systemId: null, ms };
}
