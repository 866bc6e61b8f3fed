import { describe, expect, test } from "vitest";
import { verdictOf } from "../../src/carriers/email/classify-reply.ts";
import { mailboxKey, maskAddress, readAddress, readMailbox } from "../../src/email/address.ts";
import { composeEmail, type Email } from "../../src/email/compose.ts";
import { htmlOf } from "../../src/email/html.ts";

const EMAIL: Email = {
  messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47.1@example.com",
  from: { name: "Example", address: "login@example.com" },
  to: "ada@example.com",
  subject: "Your verification code",
  text: "739204 is your code.\n.\nThe line above is one dot.",
  html: "<p>739204</p>",
  language: "pt-br",
  at: 1_767_225_600_000,
};

const headersOf = (bytes: Buffer): string => bytes.toString("utf8").split("\r\n\r\n")[0] ?? "";

describe("an e-mail address", () => {
  test.each([
    ["ada@example.com", "ada@example.com"],
    ["Ada.L+x@EXAMPLE.com", "Ada.L+x@example.com"],
    ["ada@münchen.example", "ada@xn--mnchen-3ya.example"],
  ])("%s is read as %s", (written, read) => {
    expect(readAddress(written)).toBe(read);
  });

  test.each([
    "",
    "ada",
    "@example.com",
    "ada@",
    "ada@localhost",
    "ada@[127.0.0.1]",
    "a b@example.com",
    "ada@example.com\r\nRCPT TO:<eve@example.com>",
    "ada@example.com\nBcc: eve@example.com",
    "ada@example.com, eve@example.com",
    "<ada@example.com>",
    '"ada"@example.com',
    "ada@exa\u0000mple.com",
    "дада@example.com",
    `${"a".repeat(65)}@example.com`,
    `ada@${"a.".repeat(130)}com`,
  ])("%j is refused", (written) => {
    expect(readAddress(written)).toBeNull();
  });

  test("a sender may have a name, but no line end", () => {
    expect(readMailbox("Example <login@example.com>")).toEqual({ name: "Example", address: "login@example.com" });
    expect(readMailbox("login@example.com")).toEqual({ name: null, address: "login@example.com" });
    expect(readMailbox("Example\r\nBcc: eve@example.com <login@example.com>")).toBeNull();
    expect(readMailbox("<login@example.com> x")).toBeNull();
  });

  test("is masked except for its first letter and its domain", () => {
    expect(maskAddress("ada@example.com")).toBe("a***@example.com");
    expect(maskAddress("a@example.com")).toBe("***@example.com");
  });

  test("has the same key in other cases and with a tag", () => {
    expect(mailboxKey("Ada+shop@Example.com")).toBe(mailboxKey("ada@example.com"));
    expect(mailboxKey("ada-b@example.com")).not.toBe(mailboxKey("adab@example.com"));
  });
});

describe("a composed e-mail", () => {
  test("has the headers that mail programs expect, plain text, and HTML beside it", async () => {
    const bytes = await composeEmail(EMAIL);
    const headers = headersOf(bytes);
    expect(headers).toContain("From: Example <login@example.com>");
    expect(headers).toContain("To: ada@example.com");
    expect(headers).toContain("Subject: Your verification code");
    expect(headers).toContain(`Message-ID: <${EMAIL.messageId}>`);
    expect(headers).toMatch(/^Date: Thu, 01 Jan 2026 00:00:00/m);
    expect(headers).toContain("Auto-Submitted: auto-generated");
    expect(headers).toContain("Content-Language: pt-br");
    expect(headers).toContain("multipart/alternative");
    expect(bytes.toString("utf8")).toContain("text/plain");
    expect(bytes.toString("utf8")).toContain("text/html");
  });

  test("header injection: a line end in a header is an error", async () => {
    const bad: Partial<Email>[] = [
      { subject: "Code\r\nBcc: eve@example.com" },
      { from: { name: "Example\nBcc: eve@example.com", address: "login@example.com" } },
      { from: { name: null, address: "login@example.com>\r\nBcc: <eve@example.com" } },
      { to: "ada@example.com\r\nBcc: eve@example.com" },
      { messageId: "x@example.com>\r\nBcc: eve@example.com" },
      { language: "en\r\nBcc: eve@example.com" },
    ];
    for (const changes of bad) expect(() => composeEmail({ ...EMAIL, ...changes })).toThrow(/of an e-mail/);
  });

  test("a subject of any script is encoded", async () => {
    const headers = headersOf(await composeEmail({ ...EMAIL, subject: "आपका कोड" }));
    expect(headers).toMatch(/Subject: =\?UTF-8\?/);
  });

  test("its HTML escapes the text and emphasises the code", () => {
    const html = htmlOf({ subject: "<b>", text: "739204 & <script>", language: "ar", emphasis: "739204" });
    expect(html).toContain('<html lang="ar" dir="auto">');
    expect(html).toContain("<title>&lt;b&gt;</title>");
    expect(html).toContain(">739204</strong> &amp; &lt;script&gt;");
    expect(html).not.toContain("<script");
  });
});

describe("a reply of a mail server", () => {
  const content = { text: "739204 is your code." };
  const verdict = (code: number, kind: "refused" | "rejected" = "refused") =>
    verdictOf({ kind, code, reply: `${code} no`, isPermanent: code >= 500 }, content, "id");

  test("4xx is busy, 5xx refuses the e-mail, and a refused login halts the connection", () => {
    expect(verdict(451).outcome).toEqual({ kind: "busy" });
    expect(verdict(550).outcome).toMatchObject({ kind: "refused", fault: "message", code: "550" });
    expect(verdict(535, "rejected")).toMatchObject({ outcome: { kind: "down" }, effect: "halted" });
    expect(verdict(421, "rejected")).not.toHaveProperty("effect");
  });

  test("is shown on one line, with addresses masked and without the code", () => {
    const reply = "550-5.1.1 <ada@example.com>: no\r\n550 5.1.1 739204 is your code";
    const { reply: shown } = verdictOf({ kind: "refused", code: 550, reply, isPermanent: true }, content, "id");
    expect(shown).toBe("550-5.1.1 <a***@example.com>: no 550 5.1.1 ****** is your code");
  });
});
