import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { totpCode } from "../../src/accounts/totp.ts";
import { choose, faultsInAllVariants, launchBrowser, openDashboard, type Dashboard } from "../support/browser.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard?.close());

const PASSWORD = "a few words in a row";

/** The code that an app shows now for a key in base 32. */
function codeOf(key: string): string {
  const bits = Array.from(key, (sign) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(sign).toString(2).padStart(5, "0"),
  ).join("");
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return totpCode(Buffer.from(bytes), Math.floor(Date.now() / 30_000));
}

/** Signs in with another browser, which then has a session of its own. */
async function elsewhere(email: string, look: (page: Page) => Promise<void>): Promise<void> {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(dashboard.server.url);
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.keyboard.press("Enter");
    await look(page);
  } finally {
    await browser.close();
  }
}

test("a person is invited by a link, chooses a password with it, and is signed in; the link works once", async () => {
  let link = "";
  await dashboard.visit("/account/users", async ({ page, errors }) => {
    await page.getByRole("button", { name: "Add user" }).first().click();
    const form = page.getByRole("dialog", { name: "Add user" });
    await form.getByLabel("Email").or(form.getByLabel("E-mail")).first().fill("ben@example.com");
    await choose(form, "Invitation link valid for", "1 day");
    await form.locator("button[type=submit]").click();
    const dialog = page.getByRole("dialog", { name: "Invitation link" });
    link = await dialog.locator("pre").innerText();
    expect(link).toMatch(/\/invitation#[\w-]{43}$/);
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
  const path = link.slice(dashboard.server.url.length);
  await dashboard.visit(
    path,
    async ({ page, errors, foreignRequests }) => {
      expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("Welcome to Heliograph");
      expect(await faultsInAllVariants(page)).toEqual([]);
      await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Account of ben@example.com" }).waitFor();
      expect(page.url()).not.toContain("#");
      expect([...errors, ...foreignRequests]).toEqual([]);
    },
    null,
  );
  await dashboard.visit(
    path,
    async ({ page }) => {
      await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
      await page.keyboard.press("Enter");
      await page.getByText("This invitation is no longer valid.").waitFor();
    },
    null,
  );
});

test("the second factor is set up with a QR code, and gives recovery codes", async () => {
  const user = { email: "cleo@example.com", password: PASSWORD };
  await dashboard.server.request("POST", "/api/users", { ...user, role: "member" });
  await dashboard.visit(
    "/account/me",
    async ({ page, errors, foreignRequests }) => {
      const part = page.getByRole("region", { name: "Two-factor authentication" });
      await part.getByLabel("Password", { exact: true }).fill(PASSWORD);
      await part.getByRole("button", { name: "Set up" }).click();
      await part.getByRole("img", { name: "QR code for your authenticator app" }).waitFor();
      expect(await faultsInAllVariants(page)).toEqual([]);
      const key = await part.locator("pre").innerText();
      await part.getByLabel("Code", { exact: true }).fill(codeOf(key));
      await page.keyboard.press("Enter");
      await part.getByRole("button", { name: "Download" }).waitFor();
      expect(await part.getByRole("listitem").count()).toBe(10);
      const download = page.waitForEvent("download");
      await part.getByRole("button", { name: "Download" }).click();
      expect((await download).suggestedFilename()).toBe("heliograph-recovery-codes.txt");
      const recovery = await part.getByRole("listitem").first().innerText();
      expect([...errors, ...foreignRequests]).toEqual([]);

      await elsewhere(user.email, async (other) => {
        await other.getByLabel(/^Code from your authenticator|^Authenticator/).fill(recovery);
        await other.keyboard.press("Enter");
        await other.getByRole("button", { name: `Account of ${user.email}` }).waitFor();
      });
    },
    user,
  );
});

test("sessions are listed with their browser, and another one is ended", async () => {
  const user = { email: "dora@example.com", password: PASSWORD };
  await dashboard.server.request("POST", "/api/users", { ...user, role: "viewer" });
  await elsewhere(user.email, async (other) => {
    await other.getByRole("button", { name: `Account of ${user.email}` }).waitFor();
    await dashboard.visit(
      "/account/me",
      async ({ page, errors }) => {
        const sessions = page.getByRole("region", { name: "Sessions" });
        await sessions.locator("[data-session=other]").waitFor();
        expect(await sessions.locator("[data-session=current]").innerText()).toContain("This browser");
        expect(await faultsInAllVariants(page)).toEqual([]);
        await sessions.getByRole("button", { name: "End", exact: true }).focus();
        await page.keyboard.press("Enter");
        await page.getByRole("button", { name: "End session" }).click();
        await sessions.locator("[data-session=other]").waitFor({ state: "detached" });
        expect(errors).toEqual([]);
      },
      user,
    );
    await other.reload();
    await other.getByLabel("Password", { exact: true }).waitFor();
  });
});
