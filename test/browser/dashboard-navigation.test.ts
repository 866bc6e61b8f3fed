import { afterAll, beforeAll, expect, test } from "vitest";
import { faultsInAllVariants, openDashboard, settled, type Dashboard } from "../support/browser.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard?.close());

const SIDE_BAR = `Home, Get started, Messages, Inbox, Compose, Campaigns, Contacts, Verify, Templates,
Channels, Message app, SMS, RCS, Chat app, Carriers and routes,
Developers, API keys, Webhooks, Agent sends, Request log, Other APIs, Test tools, Docs,
Settings, Account settings, Users and access, Credits, Set-up file, Alerts, System`;
const SECTIONS = `Credits, Numbers and countries, Templates and senders, Limits and fraud protection, Opt-outs, Alerts,
Delivery reports and retention`;

const listOf = (text: string): string[] => text.split(/,\s/);

test("the side bar is ordered by job, and leads to API keys, the request log and the docs", async () => {
  await dashboard.visit("/start", async ({ page, errors, foreignRequests }) => {
    const nav = page.getByRole("navigation", { name: "Main" });
    expect((await nav.innerText()).split("\n").filter(Boolean)).toEqual(listOf(SIDE_BAR));
    await nav.getByRole("link", { name: "API keys" }).click();
    await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
    await nav.getByRole("link", { name: "Request log" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Request log" }).waitFor();
    await nav.getByRole("link", { name: "Docs" }).click();
    await page.waitForURL("**/docs");
    expect([...errors, ...foreignRequests]).toEqual([]);
  });
});

test("settings stand in sections", async () => {
  await dashboard.visit("/account/settings", async ({ page }) => {
    await page.getByRole("heading", { level: 2, name: "Limits and fraud protection" }).waitFor();
    expect(await page.getByRole("heading", { level: 2 }).allInnerTexts()).toEqual(listOf(SECTIONS));
    await settled(page);
    expect(await faultsInAllVariants(page)).toEqual([]);
  });
});
