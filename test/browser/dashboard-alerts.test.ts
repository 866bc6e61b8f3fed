import { afterAll, beforeAll, expect, test } from "vitest";
import { choose, faultsInAllVariants, openDashboard, type Dashboard } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";

interface AlertBody {
  state: string;
  acknowledgedBy: string | null;
  mutedUntil: number | null;
}

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await openDashboard();
  await dashboard.server.asOwner("PATCH", "/api/account", { credits: "metered" });
});
afterAll(() => dashboard?.close());

const alerts = async (): Promise<AlertBody[]> =>
  (await dashboard.server.request<{ data: AlertBody[] }>("GET", "/api/alerts")).body.data;

test("the header counts an alert, which is acknowledged and muted, and a rule of the account ends it", async () => {
  await eventually(alerts, (seen) => seen.length > 0);
  await dashboard.visit("/", async ({ page, errors }) => {
    await page.getByRole("link", { name: "Open alerts: 1" }).click();
    const row = page.getByRole("row").filter({ hasText: "Credits low" });
    await row.getByText("0 credits are left, below 1,000.").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    await row.getByRole("button", { name: "Mute for a day" }).click();
    await row.getByText("Muted").waitFor();
    // By keyboard.
    await row.getByRole("button", { name: "Acknowledge" }).focus();
    await page.keyboard.press("Enter");
    await row.getByText("Acknowledged by", { exact: false }).waitFor();
    await page.getByRole("link", { name: "No open alerts" }).waitFor();
    expect(await alerts()).toMatchObject([{ state: "open", acknowledgedBy: expect.stringContaining("@") as unknown }]);

    await page.goto(`${dashboard.server.url}/operations/alerts?tab=rules`);
    const usual = page.getByRole("group", { name: "Usual rules" });
    await usual.getByRole("row").filter({ hasText: "Credits below" }).waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    await page.getByRole("button", { name: "Add rule" }).click();
    const form = page.getByRole("dialog");
    await form.getByRole("textbox", { name: "Name" }).fill("Few credits");
    await choose(form, "Alert", "Credits below");
    await form.getByRole("switch", { name: "On" }).click({ force: true });
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row").filter({ hasText: "Few credits" }).getByText("Off").waitFor();
    await eventually(alerts, ([alert]) => alert?.state === "resolved");
    expect(errors).toEqual([]);
  });
});
