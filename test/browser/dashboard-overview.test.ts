import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultsInAllVariants, faultsOf, openDashboard, type Dashboard } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";

interface Stats {
  totals: { delivered: { count: number }; failed: { count: number } };
  otp: { verified: number };
}

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard?.close());

/** A little of everything that the page tells. */
async function fill(): Promise<void> {
  const { server } = dashboard;
  const { body } = await server.send({ to: ["15550100100", "15550100101", "15550100102", "not a number"] });
  await server.settled(body.data[0]?.messageId ?? "");
  const code = await server.request<{ data: string }>("POST", "/v1/verify", { configId: "signup", to: "15550100103" });
  await server.settled(`${code.body.data}:1`);
  const { body: latest } = await server.request<{ otp: string }>("GET", "/api/simulator/otp/latest?to=15550100103");
  await server.request("POST", "/v1/verify/validate", { verifyId: code.body.data, otp: latest.otp });
  const rcs = { number: "+15550100100", botId: "heliograph", type: "TRANS", templateName: "rate-us" };
  await server.request("POST", "/v1/rcs", rcs);
  await eventually(
    () => server.request<Stats>("GET", "/api/stats"),
    ({ body: { totals, otp } }) => totals.delivered.count >= 5 && totals.failed.count === 1 && otp.verified === 1,
  );
}

describe("the overview", () => {
  test("says that nothing was sent yet, and how to begin", async () => {
    await dashboard.visit("/overview", async ({ page, errors: complaints }) => {
      await page.getByText("No messages in this period.").waitFor();
      expect(await page.getByRole("link", { name: "Send your first message" }).count()).toBe(1);
      expect(await faultsOf(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });
  });

  test("shows recent activity and is accessible, light and dark, on a screen and on a phone", async () => {
    await fill();
    await dashboard.visit("/overview", async ({ page, errors: complaints, foreignRequests: strangers }) => {
      const figure = (label: string) => page.locator(`[data-figure="${label}"]`);
      for (const [label, value] of [
        ["Sent", "5"],
        ["Delivered", "5"],
        ["Failed", "1"],
      ] as const)
        expect(await figure(label).innerText()).toContain(value);
      expect(await figure("OTP conversion").innerText()).toContain("100 %");
      expect(await page.getByRole("link", { name: "INVALID_RECIPIENT" }).getAttribute("href")).toContain(
        "/docs/errors/INVALID_RECIPIENT",
      );
      await page.locator("[data-series] path").first().waitFor();
      await page.locator("[data-series] rect").first().waitFor();
      expect(await page.locator('[data-percentile="p99"]').innerText()).toMatch(/\d+ (ms|s)/);
      expect(await page.locator('[data-bar="Accepted"]').innerText()).toContain("6");
      expect(await faultsInAllVariants(page)).toEqual([]);
      expect([...complaints, ...strangers]).toEqual([]);
    });
  });

  test("shows new events while it is open, and stops when it is paused", async () => {
    await dashboard.visit("/overview", async ({ page, errors: complaints }) => {
      const rows = page.locator("[data-ticker] > li");
      await dashboard.server.send({ to: "15550100104" });
      await rows.filter({ hasText: "15550100104" }).filter({ hasText: "Delivered" }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await page.getByRole("button", { name: "Pause" }).click();
      const before = await rows.allInnerTexts();
      const { body } = await dashboard.server.send({ to: "15550100105" });
      await dashboard.server.settled(body.data[0]?.messageId ?? "");
      expect(await rows.allInnerTexts()).toEqual(before);
      expect(complaints).toEqual([]);
    });
  });

  test("shows another time span and keeps it in the address", async () => {
    await dashboard.visit("/overview", async ({ page, errors: complaints }) => {
      await page.getByText("7 days", { exact: true }).click();
      await page.waitForURL(/span=week/);
      await page.getByText("Last 7 days, compared with the same length of time before.").waitFor();
      expect(await page.locator('[data-figure="Delivered"]').innerText()).toMatch(/[5-9]/);
      expect(complaints).toEqual([]);
    });
  });

  test("shows the last hour by minutes, and the time from one moment to another", async () => {
    await dashboard.visit("/overview", async ({ page, errors: complaints }) => {
      const delivered = page.locator('[data-figure="Delivered"]');
      await page.getByText("1 hour", { exact: true }).click();
      await page.waitForURL(/span=hour/);
      await page.getByText("Last hour, compared with the same length of time before.").waitFor();
      await delivered.filter({ hasText: /[5-9]/ }).waitFor();
      await page.getByText("From – to", { exact: true }).click();
      const [from, to] = [page.getByRole("textbox", { name: /^From / }), page.getByRole("textbox", { name: /^To / })];
      // The day before the usual one, in which nothing was sent.
      await from.fill("2026-01-01T10:00");
      await to.fill("2026-01-01T12:00");
      await delivered.filter({ hasText: /^Delivered\s*0/ }).waitFor();
      expect(page.url()).toContain("to=2026-01-01T12%3A00");
      await to.fill("2026-01-01T09:00");
      await page.getByRole("alert").filter({ hasText: "From must be before To." }).waitFor();
      expect(await faultsInAllVariants(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });
  });

  test("shows carriers and countries with delivery rates and the words of their failures", async () => {
    const { body } = await dashboard.server.send({ to: "15550109001" });
    await dashboard.server.settled(body.data[0]?.messageId ?? "");
    await dashboard.visit("/overview", async ({ page, errors: complaints }) => {
      await page.getByText("Carrier", { exact: true }).click();
      await page.waitForURL(/by=carrier/);
      const carrier = page.locator('[data-group="simulator"]');
      await carrier.filter({ hasText: /[a-z ]{8}/ }).waitFor();
      expect(await carrier.innerText()).toMatch(/simulator\s+\d+\s+\d+\s+[\d.]+ %/);
      expect(await page.locator('[data-group=""]').innerText()).toContain("No carrier");
      expect(await faultsInAllVariants(page)).toEqual([]);
      await page.getByText("Country", { exact: true }).click();
      await page.locator('[data-group="US"]').filter({ hasText: "United States" }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });
  });
});
