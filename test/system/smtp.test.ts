import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { composeEmail, type Email } from "../../src/email/compose.ts";
import { sendEmail, testSmtpServer, type SmtpResult, type SmtpServer } from "../../src/email/smtp.ts";
import { eventually } from "../support/eventually.ts";
import { canTestWith, debianSmtp } from "../support/programmes.ts";
import { startSmtpServer, type SmtpTestServer } from "../support/smtp-server.ts";

const EMAIL: Email = {
  messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47.1@example.com",
  from: { name: "Example", address: "login@example.com" },
  to: "ada@example.com",
  subject: "Your verification code",
  text: "739204 is your code.",
  html: null,
  language: "en",
  at: 1_767_225_600_000,
};

/** The server reports an e-mail beside its reply to the client. */
const arrived = ({ received }: SmtpTestServer): Promise<unknown> =>
  eventually(
    () => received.length,
    (count) => count > 0,
  );

const loopback = { addressOf: () => Promise.resolve("127.0.0.1") };

describe.runIf(canTestWith(debianSmtp(), "python3-aiosmtpd"))("e-mail by SMTP, with Debian's aiosmtpd", () => {
  let server: SmtpTestServer;
  beforeAll(async () => {
    server = await startSmtpServer({ login: ["heliograph", "secret"] });
  });
  afterAll(() => server?.close());

  const settings = (changes: Partial<SmtpServer> = {}): SmtpServer => ({
    host: "localhost",
    port: server.port,
    security: "starttls",
    login: { user: "heliograph", password: "secret" },
    ca: server.ca,
    servername: null,
    limitMs: 60_000,
    ...changes,
  });
  const send = async (changes: Partial<SmtpServer> = {}, email = EMAIL): Promise<SmtpResult> =>
    sendEmail(loopback, settings(changes), { from: email.from.address, to: email.to, data: await composeEmail(email) });

  test("an e-mail is sent after STARTTLS and the login", async () => {
    expect(await send()).toEqual({ kind: "accepted", reply: "250 2.0.0 queued as 4711 for ada@example.com" });
    await arrived(server);
    const [email] = server.received.splice(0);
    expect(email).toMatchObject({ from: "login@example.com", to: ["ada@example.com"], tls: true, login: true });
    expect(email?.data).toContain("Message-ID: <0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47.1@example.com>");
    expect(email?.data).toContain("739204 is your code.");
  });

  test("a wrong certificate is refused before the login", async () => {
    expect(await send({ ca: null })).toMatchObject({ kind: "unreachable", reason: /certificate/ as never });
    expect(await send({ servername: "mail.example.com" })).toMatchObject({ kind: "unreachable" });
    expect(server.received).toEqual([]);
  });

  test("a server without STARTTLS gets neither login nor e-mail", async () => {
    const plain = await startSmtpServer({ security: "none" });
    try {
      const result = await send({ port: plain.port });
      expect(result).toMatchObject({ kind: "rejected" });
      expect(plain.received).toEqual([]);
      expect(await send({ port: plain.port, security: "none", login: null })).toMatchObject({ kind: "accepted" });
      await arrived(plain);
      expect(plain.received).toMatchObject([{ tls: false }]);
    } finally {
      await plain.close();
    }
  });

  test("TLS from the first byte is verified alike", async () => {
    const secure = await startSmtpServer({ security: "tls" });
    try {
      const known = { port: secure.port, security: "tls", login: null } as const;
      expect(await send({ ...known, ca: secure.ca })).toMatchObject({ kind: "accepted" });
      expect(await send(known)).toMatchObject({ kind: "unreachable" });
      await arrived(secure);
      expect(secure.received).toMatchObject([{ tls: true }]);
    } finally {
      await secure.close();
    }
  });

  test("a wrong password and a refused e-mail have different errors", async () => {
    const wrong = { login: { user: "heliograph", password: "guess" } };
    expect(await send(wrong)).toMatchObject({ kind: "rejected", code: 535, isPermanent: true });
    expect(await testSmtpServer(loopback, settings(wrong))).toMatchObject({ kind: "rejected", code: 535 });
    expect(await testSmtpServer(loopback, settings())).toMatchObject({ kind: "accepted" });
  });

  test("4xx is refused for now, 5xx for good", async () => {
    await server.reply({ rcpt: ["450 4.2.0 greylisted"] });
    expect(await send()).toMatchObject({ kind: "refused", code: 450, isPermanent: false });
    await server.reply({ data: ["451 4.3.0 try later"] });
    expect(await send()).toMatchObject({ kind: "refused", code: 451, isPermanent: false });
    await server.reply({ rcpt: ["550 5.1.1 no such user"] });
    expect(await send()).toMatchObject({ kind: "refused", code: 550, isPermanent: true });
    await server.reply({ data: ["554 5.7.1 refused as spam"] });
    expect(await send()).toMatchObject({ kind: "refused", code: 554, isPermanent: true });
    expect(server.received.splice(0)).toEqual([]);
  });

  test("a connection that breaks after the e-mail leaves the outcome unknown, one before it does not", async () => {
    await server.reply({ data: ["close"] });
    expect(await send()).toMatchObject({ kind: "unknown" });
    const gone = await startSmtpServer();
    await gone.close();
    expect(await send({ port: gone.port })).toMatchObject({ kind: "unreachable" });
  });

  test("a refused address of the host is not connected to", async () => {
    const guarded = { addressOf: () => Promise.reject(new Error("leads to no allowed address")) };
    const envelope = { from: "login@example.com", to: "ada@example.com", data: await composeEmail(EMAIL) };
    expect(await sendEmail(guarded, settings(), envelope)).toEqual({
      kind: "unreachable",
      reason: "leads to no allowed address",
    });
  });
});
