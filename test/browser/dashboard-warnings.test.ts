import { afterAll, beforeAll, expect, test } from "vitest";
import { faultsInAllVariants, openDashboard, type Dashboard } from "../support/browser.ts";

const VIEWER = { email: "viewer@example.com", password: "a few words in a row" };
const CATCH_ALL = "Everything to the simulator";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
  await dashboard.server.request("POST", "/api/users", { ...VIEWER, role: "viewer" });
  const smpp = { host: "127.0.0.1", port: 1, systemId: "shop", password: "secret" };
  await dashboard.server.request("POST", "/api/carriers", { name: "north", adapter: "smpp", smpp });
});
afterAll(() => dashboard?.close());

test("a route that simulates live messages raises a banner above every page, for every role, until it is changed", async () => {
  const banner = "[data-warning=LIVE_SIMULATED]";
  await dashboard.visit("/operations/carriers?tab=routes", async ({ page }) => {
    expect(await page.locator(banner).count()).toBe(0);
    await page.getByRole("button", { name: CATCH_ALL, exact: true }).click();
    const form = page.getByRole("dialog", { name: CATCH_ALL });
    await form.getByRole("button", { name: "More" }).click();
    await form.getByRole("switch", { name: "Simulate live messages" }).click();
    await form.locator("button[type=submit]").click();
    await page.locator(banner).getByText(CATCH_ALL).waitFor();
    await page.getByText("simulates live", { exact: true }).waitFor();
  });
  await dashboard.visit("/", async ({ page, errors: complaints }) => {
    await page.locator(banner).getByText("no phone gets them").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
  await dashboard.visit("/messages", ({ page }) => page.locator(banner).waitFor(), VIEWER);
  const { body } = await dashboard.server.request<{ data: { id: string }[] }>("GET", "/api/routes");
  const path = `/api/routes/${body.data[0]?.id}`;
  expect((await dashboard.server.request("PATCH", path, { simulateLive: false })).status).toBe(200);
  await dashboard.visit("/system", async ({ page }) => {
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.locator(banner).count()).toBe(0);
  });
});
