import { isIP } from "node:net";
import { Readable } from "node:stream";
import type { NodemailerError } from "nodemailer/lib/errors";
import SmtpConnection, { type SMTPConnectionOptions } from "nodemailer/lib/smtp-connection";

export const SMTP_SECURITIES = ["starttls", "tls", "none"] as const;
/**
 * - `starttls`: TLS after a greeting in plain text, as on port 587; a server that offers none is refused.
 * - `tls`: TLS from the first byte, as on port 465.
 * - `none`: plain text, for a relay on the same machine or network.
 */
export type SmtpSecurity = (typeof SMTP_SECURITIES)[number];

/** A mail server that takes e-mails for delivery. */
export interface SmtpServer {
  host: string;
  port: number;
  security: SmtpSecurity;
  /** Null without authentication. */
  login: { user: string; password: string } | null;
  /** CA certificates in PEM; null for the system's. */
  ca: string | null;
  /** Name in the server's certificate if it differs from the host; null otherwise. */
  servername: string | null;
  /** Time limit of the whole exchange. */
  limitMs: number;
}

export interface SmtpDeps {
  /** Resolves the host to the address to connect to, or rejects with the reason (SSRF guard). */
  addressOf(host: string): Promise<string>;
}

/** Addresses as the server is given them, and the composed e-mail. */
export interface Envelope {
  from: string;
  to: string;
  data: Buffer;
}

/** A negative reply of the server. */
export interface SmtpRefusal {
  /** Reply code, such as 550. */
  code: number;
  /** As the server wrote it. */
  reply: string;
  /** The server will always refuse it (5xx), rather than only now (4xx). */
  isPermanent: boolean;
}

/**
 * - `accepted`: the server is responsible for the e-mail from now on.
 * - `refused`: the server refuses this e-mail.
 * - `rejected`: the server refuses the session, for example its login.
 * - `unreachable`: the e-mail was certainly not sent.
 * - `unknown`: the connection broke after the e-mail was sent and before the server's reply.
 */
export type SmtpResult =
  | { kind: "accepted"; reply: string }
  | ({ kind: "refused" } & SmtpRefusal)
  | ({ kind: "rejected" } & SmtpRefusal)
  | { kind: "unreachable"; reason: string }
  | { kind: "unknown"; reason: string };

/** For connecting, the greeting and TLS together: some servers delay their greeting against spam. */
const SETUP_LIMIT_MS = 15_000;
const REPLY_MAX = 4096;
const SESSION_COMMANDS = /^(?:CONN|EHLO|HELO|STARTTLS|AUTH)/;

/** Sends one e-mail over a connection of its own. Never rejects. */
export const sendEmail = (deps: SmtpDeps, server: SmtpServer, envelope: Envelope): Promise<SmtpResult> =>
  exchange(deps, server, envelope);

/** Connects, secures the connection and logs in, without sending anything. Never rejects. */
export const testSmtpServer = (deps: SmtpDeps, server: SmtpServer): Promise<SmtpResult> => exchange(deps, server, null);

async function exchange(deps: SmtpDeps, server: SmtpServer, envelope: Envelope | null): Promise<SmtpResult> {
  let address: string;
  try {
    address = await deps.addressOf(server.host);
  } catch (error) {
    return { kind: "unreachable", reason: reasonOf(error) };
  }
  const connection = new SmtpConnection(optionsOf(server, address));
  let isSending = false;
  const message = (data: Buffer): Readable =>
    Readable.from(
      (function* () {
        // Read only after the server has asked for the e-mail.
        isSending = true;
        yield data;
      })(),
    );
  return new Promise((resolve) => {
    let isSettled = false;
    const settle = (result: SmtpResult): void => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(limit);
      resolve(result);
    };
    const fail = (error: SmtpError): void => {
      settle(resultOf(error, isSending));
      connection.close();
    };
    const limit = setTimeout(() => fail(new Error(`no reply within ${server.limitMs} ms`)), server.limitMs);
    const quit = (result: SmtpResult): void => {
      settle(result);
      connection.quit();
    };
    const send = (): void => {
      if (envelope === null) return quit({ kind: "accepted", reply: connection.lastServerResponse || "" });
      const { from, to, data } = envelope;
      connection.send({ from, to, size: data.length }, message(data), (error, info) => {
        if (!error) return quit({ kind: "accepted", reply: info.response });
        settle(resultOf(error, isSending));
        connection.quit();
      });
    };
    // Stays registered: a later error without a listener would end the process.
    connection.on("error", fail);
    connection.connect((error) => {
      if (error) return fail(error);
      if (server.login === null) return send();
      const { user, password: pass } = server.login;
      connection.login({ user, pass }, (refused) => (refused ? fail(refused) : send()));
    });
  });
}

function optionsOf(
  { host, port, security, ca, servername, limitMs }: SmtpServer,
  address: string,
): SMTPConnectionOptions {
  const name = servername ?? (isIP(host) === 0 ? host : null);
  return {
    host: address,
    port,
    secure: security === "tls",
    ...(security === "starttls" && { requireTLS: true }),
    ...(security === "none" && { ignoreTLS: true }),
    ...(name !== null && { servername: name }),
    tls: { rejectUnauthorized: true, minVersion: "TLSv1.2", ...(ca !== null && { ca }) },
    connectionTimeout: Math.min(SETUP_LIMIT_MS, limitMs),
    greetingTimeout: limitMs,
    socketTimeout: limitMs,
    maxResponseSize: REPLY_MAX,
    logger: false,
  };
}

/** An error has these properties if a reply of the server caused it. */
type SmtpError = Pick<NodemailerError, "message" | "command" | "response" | "responseCode" | "permanent">;

function resultOf(error: SmtpError, isSending: boolean): SmtpResult {
  const { command = "", response, responseCode, permanent = false } = error;
  if (responseCode === undefined || response === undefined || responseCode < 400)
    return { kind: isSending ? "unknown" : "unreachable", reason: error.message.slice(0, REASON_MAX) };
  const kind = SESSION_COMMANDS.test(command) ? "rejected" : "refused";
  return { kind, code: responseCode, reply: response, isPermanent: permanent };
}

const REASON_MAX = 300;

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, REASON_MAX);
