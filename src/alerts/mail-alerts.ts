import { readMailbox } from "../email/address.ts";
import { composeEmail } from "../email/compose.ts";
import { sendEmail, type SmtpDeps, type SmtpResult } from "../email/smtp.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Account } from "../model/account.ts";
import { describeAlert, type Alert } from "../model/alert.ts";
import { decryptedEmailConnection } from "../model/email-connection.ts";
import type { Catalog } from "../records/catalog.ts";
import type { AlertMail, AlertStore } from "../store/alerts.ts";

/** Pause between two attempts; the time limit of one is shorter. */
const RETRY_MS = 5 * 60_000;
const ATTEMPT_MAX_MS = 60_000;
/** Older news is of no use. */
const GIVE_UP_MS = 86_400_000;
const MAILS_PER_RUN = 20;

interface MailAlertsDeps extends SmtpDeps {
  store: Pick<AlertStore, "claimAlertMail" | "endAlertMail" | "findAlert">;
  catalog: Pick<Catalog, "of">;
  accountOf(accountId: number): Account | null;
  decrypt(encrypted: string): string;
  baseUrl(): string;
  clock: Clock;
  log: Log;
}

/**
 * Sends the e-mails that wait. Each is claimed by one node, and repeated until a server has taken it. After a crash it may
 * arrive twice, with the same message id.
 */
export function mailAlerts(deps: MailAlertsDeps): () => Promise<void> {
  return async () => {
    const { store, clock, log } = deps;
    for (let sent = 0; sent < MAILS_PER_RUN; sent += 1) {
      const now = clock.now();
      const mail = await store.claimAlertMail(now, now + RETRY_MS);
      if (!mail) return;
      const result = await send(deps, mail);
      const isOver = result === null || result.kind === "accepted" || now - mail.createdAt > GIVE_UP_MS;
      if (isOver) await store.endAlertMail(mail);
      if (result === null || result.kind === "accepted") continue;
      const reason = "reply" in result ? result.reply : result.reason;
      const facts = { accountId: mail.accountId, alertId: mail.alertId, reason };
      log.warn(facts, isOver ? "alert e-mail not sent, given up" : "alert e-mail not sent, retrying");
    }
  };
}

/** Null if there is nothing to send any more: the settings or the alert are gone. */
async function send(deps: MailAlertsDeps, mail: AlertMail): Promise<SmtpResult | null> {
  const { store, catalog, clock, decrypt, addressOf } = deps;
  const { accountId, alertId, recipient } = mail;
  const settings = deps.accountOf(accountId)?.settings.alertEmail ?? null;
  const alert = await store.findAlert({ accountId, id: alertId });
  const content = settings && catalog.of(accountId).named("carrier").get(settings.carrier)?.content;
  const from = settings && readMailbox(settings.from);
  if (!settings || !alert || !from || content?.adapter !== "email") return null;
  const { server } = decryptedEmailConnection(content.email, decrypt);
  const data = await composeEmail({
    messageId: `${alertId}.${mail.state}${from.address.slice(from.address.lastIndexOf("@"))}`,
    from,
    to: recipient,
    ...textOf({ ...alert, state: mail.state }, deps.baseUrl()),
    html: null,
    language: "en",
    at: clock.now(),
  });
  const limited = { ...server, limitMs: Math.min(server.limitMs, ATTEMPT_MAX_MS) };
  return sendEmail({ addressOf }, limited, { from: from.address, to: recipient, data });
}

const CONTROL = /\p{Cc}/gu;

function textOf(alert: Alert, baseUrl: string): { subject: string; text: string } {
  const about = alert.subjectName === "" ? alert.ruleName : `${alert.ruleName}: ${alert.subjectName}`;
  const word = alert.state === "open" ? "Alert" : "Resolved";
  const lines = [
    describeAlert(alert),
    "",
    `Opened: ${new Date(alert.openedAt).toISOString()}`,
    ...(alert.state === "resolved" && alert.resolvedAt !== null
      ? [`Resolved: ${new Date(alert.resolvedAt).toISOString()}`]
      : []),
    `${baseUrl}/operations/alerts`,
  ];
  return { subject: `[Heliograph] ${word}: ${about}`.replaceAll(CONTROL, " "), text: lines.join("\n") };
}
