import { afterAll, beforeAll, expect, test } from "vitest";
import { choose, faultsInAllVariants, openDashboard, settled, type Dashboard } from "../support/browser.ts";
import type { ErrorBody } from "../support/test-server.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard?.close());

test("a developer finds a failed request by its id, and reads its fault", async () => {
  const { server } = dashboard;
  const failed = await server.request<{ error: ErrorBody }>("POST", "/v1/sms", { to: "15550199001", txt: "Hi" });
  await server.request("GET", "/v1/messages");
  await dashboard.visit("/developers/requests", async ({ page, errors, foreignRequests }) => {
    await page.getByRole("button", { name: "GET /v1/messages" }).first().waitFor();
    await page.getByRole("textbox", { name: "Request ID" }).fill(failed.body.error.requestId);
    await page.getByRole("button", { name: "GET /v1/messages" }).first().waitFor({ state: "detached" });
    const row = page.getByRole("button", { name: "POST /v1/sms" });
    await row.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByText('"txt": "string(2)"').waitFor();
    await dialog.getByRole("link", { name: `${failed.body.error.code}: explanation` }).waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await choose(page, "Result", "Success");
    await page.getByText("No results. The log keeps the last requests only").waitFor();
    expect([...errors, ...foreignRequests]).toEqual([]);
  });
});

test("an error page leads to the requests that had the error", async () => {
  const { server } = dashboard;
  const failed = await server.request<{ error: ErrorBody }>("POST", "/v1/rcs", {});
  await dashboard.visit(`/docs/errors/${failed.body.error.code}`, async ({ page }) => {
    await page.getByRole("link", { name: "Your last requests with this error" }).click();
    await settled(page);
    const row = page.getByRole("row").filter({ hasText: "POST /v1/rcs" }).first();
    expect(await row.innerText()).toContain(failed.body.error.code);
  });
});
