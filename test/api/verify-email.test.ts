import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { canTestWith, debianSmtp } from "../support/programmes.ts";
import { startSmtpServer, type SmtpTestServer } from "../support/smtp-server.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const FROM = "Example <login@example.com>";
const EMAIL = { channel: "email", from: FROM };
const SMS = { channel: "sms", from: "HELIOG", waitSeconds: 5 };

interface OnPhone {
  channel: string;
  text: string;
  email?: string;
  subject?: string;
  html?: string;
}

interface Answer {
  data: string;
  error: { code: string; details?: { parameter: string }[] } | null;
}

/** Creates the carrier and its route, as a person does. */
async function connect(server: TestServer, smtp: SmtpTestServer, changes: object = {}): Promise<string> {
  const email = { host: "localhost", port: smtp.port, ca: smtp.ca, username: "heliograph", password: "secret" };
  const { body } = await server.request<{ id: string }>("POST", "/api/carriers", {
    name: "mail",
    adapter: "email",
    email: { ...email, ...changes },
  });
  const route = { name: "E-mails", channel: "email", carrier: "mail", priority: 10 };
  expect((await server.request("POST", "/api/routes", route)).status).toBe(201);
  return body.id;
}

describe.each(ENGINES)("codes by e-mail on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
    const config = {
      name: "by-email",
      channels: [EMAIL],
      subjects: { de: "Ihr Code {code}" },
      texts: { de: "{code} ist Ihr Code." },
      cooldownSeconds: 30,
    };
    await server.request("POST", "/api/verify-configs", config);
  });
  afterAll(() => server.close());

  const verify = (body: object) => server.request<Answer>("POST", "/v1/verify", { configId: "by-email", ...body });
  const arrived = async (to: string): Promise<OnPhone[]> =>
    eventually(
      async () => (await server.onPhone(to)) as unknown as OnPhone[],
      (seen) => seen.length > 0,
    );

  test("without a mail server the simulator shows the e-mail, and its code is valid", async () => {
    const to = "15550810100";
    const { status, body } = await verify({ to, email: "ada@example.com", locale: "de-AT" });
    expect(status).toBe(200);
    const [message] = await arrived(to);
    expect(message).toMatchObject({ channel: "email", email: "ada@example.com" });
    const [otp = ""] = /\d{6}/.exec(message?.text ?? "") ?? [];
    expect(message?.subject).toBe(`Ihr Code ${otp}`);
    expect(message?.text).toBe(`${otp} ist Ihr Code.`);
    expect(message?.html).toContain(`<html lang="de"`);
    expect((await server.request("POST", "/v1/verify/validate", { verifyId: body.data, otp })).status).toBe(200);
  });

  test("the address is in no list of messages, and masked in the timeline", async () => {
    const { body } = await verify({ to: "15550810101", email: "grace@example.com" });
    const shown = await eventually(
      async () => JSON.stringify((await server.request("GET", `/api/messages/${body.data}:1`)).body),
      (text) => text.includes("g***@example.com"),
    );
    expect(shown).not.toContain("grace@example.com");
    expect(JSON.stringify((await server.request("GET", "/v1/messages")).body)).not.toContain("grace");
    expect(JSON.stringify((await server.request("GET", "/api/verifications")).body)).not.toContain("grace");
  });

  test("a configuration of e-mails needs an address, and every other skips the channel without one", async () => {
    const { status, body } = await verify({ to: "15550810102" });
    expect(status).toBe(400);
    expect(JSON.stringify(body.error)).toContain('"email"');
    const both = { name: "email-then-sms", channels: [EMAIL, SMS] };
    expect((await server.request("POST", "/api/verify-configs", both)).status).toBe(201);
    expect((await verify({ configId: "email-then-sms", to: "15550810103" })).status).toBe(200);
    expect((await arrived("15550810103")).map(({ channel }) => channel)).toEqual(["sms"]);
  });

  test("an address that is none is refused and sends nothing", async () => {
    for (const email of ["ada", "ada@example.com\r\nBcc: eve@example.com", "ada@example.com, eve@example.com", 7]) {
      const { status, body } = await verify({ to: "15550810104", email });
      expect(status).toBe(400);
      expect(JSON.stringify(body.error)).toContain('"email"');
    }
    expect(await server.onPhone("15550810104")).toEqual([]);
  });

  test("a configuration refuses a sender that is no address, a template, and a subject of two lines", async () => {
    const refused = async (fields: object): Promise<string> => {
      const { status, body } = await server.request("POST", "/api/verify-configs", { name: "wrong", ...fields });
      expect(status).toBe(400);
      return JSON.stringify(body);
    };
    expect(await refused({ channels: [{ ...EMAIL, from: "HELIOG" }] })).toContain("channels[0].from");
    expect(await refused({ channels: [{ ...EMAIL, template: "code" }] })).toContain("channels[0].template");
    expect(await refused({ subject: "Code\r\nBcc: eve@example.com" })).toContain("subject");
    expect(await refused({ subjects: { de: "Code\nX: y" } })).toContain("subjects");
  });

  test("one address under many numbers is limited like a number, whatever its case and tag", async () => {
    await server.request("PATCH", "/api/account", { limits: "everywhere" });
    try {
      expect((await verify({ to: "15550810105", email: "eve@example.com" })).status).toBe(200);
      const { status, body } = await verify({ to: "15550820106", email: "Eve+2@example.com" });
      expect(status).toBe(429);
      expect(body.error?.code).toBe("OTP_SEND_LIMIT");
      expect((await verify({ to: "15550820106", email: "adam@example.com" })).status).toBe(200);
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, at) => verify({ to: `1555083010${at}`, email: "mallory@example.com" })),
      );
      expect(all.filter((each) => each.status === 200)).toHaveLength(1);
    } finally {
      await server.request("PATCH", "/api/account", { limits: "real carriers" });
    }
  });
});

describe.runIf(canTestWith(debianSmtp(), "python3-aiosmtpd")).each(ENGINES)(
  "codes by a mail server on %s, with Debian's aiosmtpd",
  (engine) => {
    let server: TestServer;
    let smtp: SmtpTestServer;
    let carrierId: string;
    beforeAll(async () => {
      smtp = await startSmtpServer({ login: ["heliograph", "secret"] });
      server = await startTestServer(engine);
      carrierId = await connect(server, smtp);
      await server.request("POST", "/api/verify-configs", { name: "mail", channels: [EMAIL], cooldownSeconds: 0 });
      await server.request("POST", "/api/verify-configs", { name: "then-sms", channels: [EMAIL, SMS] });
    });
    afterAll(async () => {
      await server?.close();
      await smtp?.close();
    });

    const verify = async (to: string, email: string, configId = "mail"): Promise<string> => {
      const { status, body } = await server.request<Answer>("POST", "/v1/verify", { configId, to, email });
      expect(status).toBe(200);
      return body.data;
    };
    const received = (address: string) =>
      eventually(
        () => smtp.received.filter(({ to }) => to.includes(address)),
        (found) => found.length > 0,
      );

    test("the connection is tested without an e-mail, and its password is never shown", async () => {
      const tested = await server.request("POST", `/api/carriers/${carrierId}/test`, {});
      expect(tested.body).toMatchObject({ outcome: "bound" });
      const wrong = await server.request("POST", `/api/carriers/${carrierId}/test`, { email: { password: "guess" } });
      expect(wrong.body).toMatchObject({ outcome: "refused", code: "535" });
      const untrusted = await server.request("POST", `/api/carriers/${carrierId}/test`, {
        email: { ca: null, password: "secret" },
      });
      expect(untrusted.body).toMatchObject({ outcome: "unreachable" });
      const shown = await server.request("GET", `/api/carriers/${carrierId}`);
      expect(JSON.stringify(shown.body)).not.toContain("secret");
      expect(smtp.received).toEqual([]);
    });

    test("a changed host needs the password again, and a login needs TLS", async () => {
      const moved = await server.request("PATCH", `/api/carriers/${carrierId}`, {
        email: { host: "smtp.example.net" },
      });
      expect(moved.status).toBe(400);
      expect(JSON.stringify(moved.body)).toContain("email.password");
      const plain = await server.request("PATCH", `/api/carriers/${carrierId}`, { email: { security: "none" } });
      expect(plain.status).toBe(400);
      expect(JSON.stringify(plain.body)).toContain("email.username");
    });

    test("a test e-mail shows the reply of the server, with the address masked", async () => {
      const written = { from: FROM, to: "test@example.com", subject: "Test", text: "Can you read this?" };
      const { body } = await server.request("POST", `/api/carriers/${carrierId}/send`, written);
      expect(body).toMatchObject({ outcome: "taken" });
      expect(JSON.stringify(body)).toContain("RCPT TO:<t***@example.com> -> 250 2.0.0 queued as 4711");
      expect(JSON.stringify(body)).not.toContain("test@example.com");
      const refused = await server.request("POST", `/api/carriers/${carrierId}/send`, { ...written, to: "x" });
      expect(refused.status).toBe(400);
    });

    test("a code arrives once, with a Message-ID, and a later 250 is all that is known of it", async () => {
      const id = await verify("15550840100", "one@example.com");
      const [email, ...more] = await received("one@example.com");
      expect(more).toEqual([]);
      expect(email).toMatchObject({ from: "login@example.com", tls: true, login: true });
      expect(email?.data).toContain(`Message-ID: <${id}.1@example.com>`);
      expect(email?.data).toMatch(/\d{6} is your verification code/);
      const message = await eventually(
        async () => (await server.request<object>("GET", `/api/messages/${id}:1`)).body,
        (each) => JSON.stringify(each).includes("250 2.0.0 queued"),
      );
      expect(JSON.stringify(message)).not.toContain("one@example.com");
    });

    test("4xx is tried again until it succeeds", async () => {
      await smtp.reply({ rcpt: ["450 4.2.0 greylisted"], data: ["451 4.3.0 try later"] });
      await verify("15550840101", "two@example.com");
      expect(await received("two@example.com")).toHaveLength(1);
    });

    test("5xx fails the e-mail, and the next channel is used at once", async () => {
      await smtp.reply({ rcpt: ["550 5.1.1 no such user"] });
      const id = await verify("15550840102", "three@example.com", "then-sms");
      const failed = await eventually(
        async () => (await server.request<{ status: string }>("GET", `/v1/messages/${id}:1`)).body,
        ({ status }) => status === "Failed",
      );
      expect(JSON.stringify(failed)).toContain("550");
      const phone = await eventually(
        async () => (await server.onPhone("15550840102")) as unknown as OnPhone[],
        (seen) => seen.length > 0,
      );
      expect(phone.map(({ channel }) => channel)).toEqual(["sms"]);
    });

    test("while the server is down the code waits for it, and never goes to the simulator", async () => {
      const { port } = smtp;
      await smtp.close();
      await verify("15550840103", "four@example.com");
      await eventually(
        async () => (await server.request<{ errors: object }>("GET", `/api/carriers/${carrierId}/state`)).body.errors,
        (errors) => JSON.stringify(errors).includes("UNREACHED"),
      );
      expect(await server.onPhone("15550840103")).toEqual([]);
      const again = await startSmtpServer({ login: ["heliograph", "secret"], port });
      smtp = again;
      const ca = await server.request("PATCH", `/api/carriers/${carrierId}`, {
        email: { ca: again.ca, password: "secret" },
      });
      expect(ca.status).toBe(200);
      expect(await received("four@example.com")).toHaveLength(1);
      expect(await server.onPhone("15550840103")).toEqual([]);
    });
  },
);
