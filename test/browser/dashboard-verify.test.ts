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
