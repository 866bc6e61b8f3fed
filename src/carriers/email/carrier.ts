import { maskAddress, readMailbox } from "../../email/address.ts";
import { composeEmail } from "../../email/compose.ts";
import { sendEmail, type SmtpDeps, type SmtpServer } from "../../email/smtp.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { EmailSettings } from "../../model/email-connection.ts";
import { isEmail, type EmailContent, type Message } from "../../model/message.ts";
import type { Carrier, CarrierState, MaySend, Outcome, StopTimeouts } from "../carrier.ts";
import { ConnectionHealth, type HealthVerdict } from "../connection-health.ts";
import type { PlatformMetrics } from "../http-platform.ts";
import { verdictOf } from "./classify-reply.ts";

interface EmailCarrierDeps extends SmtpDeps {
  /** Unique in the whole service. */
  name: string;
  settings: EmailSettings;
  /** With the decrypted password, which is sent to this server only. */
  server: SmtpServer;
  messagesPerSecond(): number | null;
  clock: Clock;
  log: Log;
  metrics: PlatformMetrics;
}

/** A carrier for e-mails over a mail server (SMTP). */
export const createEmailCarrier = (deps: EmailCarrierDeps): Carrier => new EmailCarrier(deps);

class EmailCarrier implements Carrier {
  /** The server's reply is the last that is heard of an e-mail: bounces go to the mailbox of the sender. */
  readonly sendsNoReceipts = true;
  readonly name: string;
  readonly #deps: EmailCarrierDeps;
  readonly #health: ConnectionHealth;

  constructor(deps: EmailCarrierDeps) {
    const { name, settings, clock, log, metrics } = deps;
    this.name = name;
    this.#deps = deps;
    const messagesPerSecond = (): number | null => deps.messagesPerSecond();
    this.#health = new ConnectionHealth({
      name,
      messagesPerSecond,
      requestsMax: settings.connections,
      clock,
      log,
      metrics,
    });
  }

  get messagesPerSecond(): number | null {
    return this.#health.messagesPerSecond;
  }

  get capacity(): number {
    return this.#health.capacity;
  }

  isUp(): boolean {
    return this.#health.isUp();
  }

  async submit(message: Message, maySend?: MaySend): Promise<Outcome> {
    const { content, sender } = message;
    if (!isEmail(content)) return refused("NOT_EMAIL", "The connection takes e-mails only");
    const from = readMailbox(sender);
    if (!from) return refused("BAD_SENDER", "The sender is no e-mail address");
    if (maySend?.() === false) return { kind: "busy" };
    const messageId = messageIdFor(message, from.address);
    let reply = "";
    const outcome = await this.#health.run(async () => {
      const verdict = await this.#send(message, content, messageId);
      ({ reply } = verdict);
      return verdict;
    });
    return { ...outcome, exchange: `MAIL FROM:<${from.address}> RCPT TO:<${maskAddress(content.to)}> -> ${reply}` };
  }

  async #send(message: Message, content: EmailContent, messageId: string): Promise<HealthVerdict & { reply: string }> {
    const { clock, server, addressOf } = this.#deps;
    const from = readMailbox(message.sender) ?? { name: null, address: message.sender };
    const { to, subject, text, html, language } = content;
    const data = await composeEmail({ messageId, from, to, subject, text, html, language, at: clock.now() });
    const result = await sendEmail({ addressOf }, server, { from: from.address, to, data });
    return verdictOf(result, content, messageId);
  }

  start(): Promise<void> {
    this.#health.start();
    return Promise.resolve();
  }

  stop(timeouts?: StopTimeouts): Promise<void> {
    return this.#health.stop(timeouts);
  }

  state(): CarrierState {
    return this.#health.state();
  }
}

/** The same for a repetition of the message, so that mail programs show one. */
const messageIdFor = ({ requestId, n }: Pick<Message, "requestId" | "n">, from: string): string =>
  `${requestId}.${n}${from.slice(from.lastIndexOf("@"))}`;

const refused = (code: string, description: string): Outcome => ({
  kind: "refused",
  fault: "carrier",
  code,
  description,
});
