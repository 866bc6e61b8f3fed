import { afterAll, beforeAll, expect, test } from "vitest";
import { choose, faultsInAllVariants, openDashboard, type Dashboard } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard?.close());

const REFUSED = /the server responded with a status of (400|403)/;

test("a code is sent and checked in the page, and counts in the funnel", async () => {
  const { server } = dashboard;
  const to = "919810012345";
  await dashboard.visit("/verify", async ({ page, errors }) => {
    await page.getByRole("tab", { name: "Send and check" }).click();
    await page.getByLabel("Phone number").fill(to);
    const send = page.getByRole("region", { name: "Send a code" });
    await send.getByRole("button", { name: "Send code" }).dblclick();
    await page.getByText(`Sent to ${to}.`).waitFor();
    const latest = () =>
      server.request<{ otp: string; error?: unknown }>("GET", `/api/simulator/otp/latest?to=${to}&timeout=5`);
    const { body } = await eventually(latest, ({ status }) => status === 200);
    await page.getByLabel("Code", { exact: true }).fill(body.otp === "000000" ? "111111" : "000000");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("Not verified").waitFor();
    await page.getByLabel("Code", { exact: true }).fill(body.otp);
    await page.getByRole("button", { name: "Check code" }).click();
    await page.locator("[data-verified]").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    const list = await server.request<{ data: unknown[] }>("GET", `/api/verifications?to=${to}`);
    expect(list.body.data).toHaveLength(1);

    const sent = await server.request<{ data: { messageId: string }[] }>("GET", `/v1/messages?recipient=${to}`);
    await server.settled(sent.body.data[0]?.messageId ?? "");
    await page.getByRole("tab", { name: "Funnel" }).click();
    await page.locator("[data-country=IN]").waitFor();
    for (const stage of ["sent", "delivered", "tried", "verified"])
      expect(await page.locator(`[data-stage=${stage}]`).innerText()).toMatch(/1\s+100 %/);
    expect(await page.locator("[data-country=IN]").innerText()).toMatch(/India\s+SMS\s+1\s+1\s+1\s+1\s+100 %/);
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(errors.filter((error) => !REFUSED.test(error))).toEqual([]);
  });
});

test("a country is blocked by hand from the funnel, and unblocked", async () => {
  const { server } = dashboard;
  const to = "4930123456";
  await server.request("POST", "/v1/verify", { configId: "default", to });
  await dashboard.visit("/verify?tab=funnel", async ({ page, errors }) => {
    await page.getByRole("link", { name: "Block DE…" }).click();
    const form = page.getByRole("dialog", { name: "Add rule" });
    expect(await form.getByLabel("Prefix or country").inputValue()).toBe("DE");
    await form.getByLabel("Note").fill("Not our market");
    await form.locator("button[type=submit]").focus();
    await page.keyboard.press("Enter");
    await form.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "DE", exact: true }).waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);

    await page.getByRole("tab", { name: "Send and check" }).click();
    await page.getByLabel("Phone number").fill(to);
    await page.getByRole("button", { name: "Send code" }).click();
    await page.getByRole("alert").getByText("Codes to this number are blocked.").first().waitFor();

    await page.getByRole("tab", { name: "Blocked" }).click();
    await page.getByRole("button", { name: "DE", exact: true }).click();
    const open = page.getByRole("dialog", { name: "DE", exact: true });
    await open.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog", { name: "Remove DE?" }).getByRole("button", { name: "Remove" }).click();
    await open.waitFor({ state: "detached" });

    // Our own numbers are exempt from automatic blocks.
    await page.getByRole("button", { name: "Add rule" }).first().click();
    await form.getByLabel("Prefix or country").fill("491512");
    await choose(form, "Action", "Allow");
    await form.locator("button[type=submit]").click();
    await page.getByText("Allowed", { exact: true }).waitFor();
    expect(errors.filter((error) => !REFUSED.test(error))).toEqual([]);
  });
});

interface VerifyConfigBody {
  id: string;
  texts: Record<string, string>;
  subjects: Record<string, string>;
}

test("a configuration has texts and subjects by language, and each fault is at its language", async () => {
  const { server } = dashboard;
  const stored = async (): Promise<VerifyConfigBody | undefined> =>
    (await server.request<{ data: VerifyConfigBody[] }>("GET", "/api/verify-configs?name=by-mail")).body.data[0];
  await dashboard.visit("/verify?tab=configurations&open=new", async ({ page, errors }) => {
    const form = page.getByRole("dialog", { name: "Add configuration" });
    await form.getByLabel("Name").first().fill("by-mail");
    await choose(form, "Channel", "E-mail");
    await form.getByLabel("From").fill("Example <login@example.com>");
    await form.getByRole("button", { name: "More settings" }).click();
    const texts = form.getByRole("group", { name: "Text in other languages" });
    const subjects = form.getByRole("group", { name: "E-mail subject in other languages" });
    await texts.getByRole("button", { name: "Add language" }).click();
    await texts.getByLabel("Language, row 1").fill("de");
    await texts.getByLabel("Text, row 1").fill("Ihr Code ist {code}.");
    await texts.getByRole("button", { name: "Add language" }).click();
    await texts.getByLabel("Language, row 2").fill("de");
    await texts.getByLabel("Text, row 2").fill("{code} ist Ihr Code.");
    await texts.getByText("This language is already listed.").waitFor();
    await subjects.getByRole("button", { name: "Add language" }).click();
    await subjects.getByLabel("Language, row 1").fill("de");
    await subjects.getByLabel("Subject, row 1").fill("Ihr Code {code}");
    const save = form.locator("button[type=submit]");

    // Neither of two texts of one language is dropped silently.
    await save.click();
    await texts.getByText(/each named by a language tag/).waitFor();
    expect(await stored()).toBeUndefined();
    await texts.getByRole("button", { name: "Remove row 2" }).click();
    await texts.getByLabel("Text, row 1").fill("Ihr Code");
    await save.click();
    await texts.getByText(/^Each of texts must contain \{code\}/).waitFor();
    expect(await texts.getByLabel("Text, row 1").getAttribute("aria-invalid")).toBe("true");
    expect(await faultsInAllVariants(page)).toEqual([]);
    await texts.getByLabel("Text, row 1").fill("{code} ist Ihr Code.");
    await save.click();
    await form.waitFor({ state: "detached" });
    expect(await stored()).toMatchObject({
      texts: { de: "{code} ist Ihr Code." },
      subjects: { de: "Ihr Code {code}" },
    });

    await page.getByRole("button", { name: "by-mail", exact: true }).click();
    const open = page.getByRole("dialog", { name: "by-mail" });
    await open.getByRole("button", { name: "More settings" }).click();
    expect(await open.getByLabel("Text, row 1").inputValue()).toBe("{code} ist Ihr Code.");
    const sent = page.waitForRequest((each) => each.method() === "PATCH");
    await open.getByLabel("Subject, row 1").fill("Code {code}");
    await open.locator("button[type=submit]").click();
    expect((await sent).postDataJSON()).toEqual({ subjects: { de: "Code {code}" } });
    await open.waitFor({ state: "detached" });
    expect(errors.filter((error) => !REFUSED.test(error))).toEqual([]);
  });
});

test("a code goes to an e-mail address in the language of the user, and is checked", async () => {
  const { server } = dashboard;
  const to = "919810012346";
  const config = {
    name: "mailed",
    channels: [{ channel: "email", from: "Example <login@example.com>" }],
    texts: { "pt-BR": "{code} é o seu código." },
  };
  expect((await server.request("POST", "/api/verify-configs", config)).status).toBe(201);
  await dashboard.visit("/verify?tab=try", async ({ page, errors }) => {
    const send = page.getByRole("region", { name: "Send a code" });
    // Configurations without the channel have no use for an address.
    await choose(send, "Configuration", "default");
    await send.getByLabel("E-mail address").waitFor({ state: "detached" });
    await choose(send, "Configuration", "mailed");
    await send.getByLabel("Phone number").fill(to);
    expect(await send.getByRole("button", { name: "Send code" }).getAttribute("aria-disabled")).toBe("true");
    await send.getByLabel("E-mail address").fill("ada");
    await choose(send, "Language of the user", "pt-BR");
    await send.getByRole("button", { name: "Send code" }).click();
    await page.getByRole("alert").getByText("The code was not sent").waitFor();
    await send.getByLabel("E-mail address").fill("ada@example.com");
    expect(await faultsInAllVariants(page)).toEqual([]);
    await send.getByRole("button", { name: "Send code" }).click();
    await page.getByText(`Sent to ${to}.`).waitFor();
    const [mail] = await eventually(
      async () => (await server.onPhone(to)) as unknown as { email: string; text: string }[],
      ({ length }) => length > 0,
    );
    expect(mail).toMatchObject({ email: "ada@example.com", text: expect.stringMatching(/^\d{6} é o seu código\.$/) });
    await page.getByLabel("Code", { exact: true }).fill(/\d{6}/.exec(mail?.text ?? "")?.[0] ?? "");
    await page.keyboard.press("Enter");
    await page.locator("[data-verified]").waitFor();
    expect(errors.filter((error) => !REFUSED.test(error))).toEqual([]);
  });
});
