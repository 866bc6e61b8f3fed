import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultsInAllGuises, faultsOf, openDashboard, type Dashboard } from "./support/browser.ts";
import { eventually } from "./support/eventually.ts";

interface Stats {
  totals: { delivered: { count: number }; failed: { count: number } };
  otp: { verified: number };
}

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
}, 60_000);
afterAll(() => dashboard?.close());

/** A little of everything that the page tells. */
async function fill(): Promise<void> {
  const { house } = dashboard;
  const { body } = await house.send({ to: ["15550100100", "15550100101", "15550100102", "not a number"] });
  await house.settled(body.data[0]?.messageId ?? "");
  const code = await house.ask<{ data: string }>("POST", "/v1/verify", { configId: "signup", to: "15550100103" });
  await house.settled(`${code.body.data}:1`);
  const { body: latest } = await house.ask<{ otp: string }>("GET", "/api/simulator/otp/latest?to=15550100103");
  await house.ask("POST", "/v1/verify/validate", { verifyId: code.body.data, otp: latest.otp });
  const rcs = { number: "+15550100100", botId: "heliograph", type: "TRANS", templateName: "rate-us" };
  await house.ask("POST", "/v1/rcs", rcs);
  await eventually(
    () => house.ask<Stats>("GET", "/api/stats"),
    ({ body: { totals, otp } }) => totals.delivered.count >= 5 && totals.failed.count === 1 && otp.verified === 1,
  );
}

describe("the overview", () => {
  test("of an account that has sent nothing says so, and how to begin", async () => {
    await dashboard.visit("/overview", async ({ page, complaints }) => {
      await page.getByText("No message was sent in this time.").waitFor();
      expect(await page.getByRole("link", { name: "Send the first one" }).count()).toBe(1);
      expect(await faultsOf(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });
  });

  test("shows what happened, is clean and accessible, light and dark, on a screen and on a phone", async () => {
    await fill();
    await dashboard.visit("/overview", async ({ page, complaints, strangers }) => {
      const figure = (label: string) => page.locator(`[data-figure="${label}"]`);
      for (const [label, value] of [
        ["Sent", "5"],
        ["Delivered", "5"],
        ["Failed", "1"],
      ] as const)
        expect(await figure(label).innerText()).toContain(value);
      expect(await figure("One-time passwords that came back").innerText()).toContain("100 %");
      expect(await page.getByRole("link", { name: "INVALID_RECIPIENT" }).getAttribute("href")).toContain(
        "/docs/errors/INVALID_RECIPIENT",
      );
      await page.locator(".recharts-area").first().waitFor();
      await page.locator(".recharts-bar").first().waitFor();
      expect(await page.locator('[data-percentile="p99"]').innerText()).toMatch(/\d+ (ms|s)/);
      expect(await page.locator('[data-bar="Accepted"]').innerText()).toContain("6");
      expect(await faultsInAllGuises(page)).toEqual([]);
      expect([...complaints, ...strangers]).toEqual([]);
    });
  });

  test("tells what happens while it is open, and stands still when it is told to", async () => {
    await dashboard.visit("/overview", async ({ page, complaints }) => {
      const rows = page.locator("[data-ticker] > li");
      await dashboard.house.send({ to: "15550100104" });
      await rows.filter({ hasText: "15550100104" }).filter({ hasText: "Delivered" }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await page.getByRole("button", { name: "Stand still" }).click();
      const before = await rows.allInnerTexts();
      const { body } = await dashboard.house.send({ to: "15550100105" });
      await dashboard.house.settled(body.data[0]?.messageId ?? "");
      expect(await rows.allInnerTexts()).toEqual(before);
      expect(complaints).toEqual([]);
    });
  });

  test("shows another span, which stands in the address", async () => {
    await dashboard.visit("/overview", async ({ page, complaints }) => {
      await page.getByText("7 days", { exact: true }).click();
      await page.waitForURL(/span=week/);
      await page.getByText("The last 7 days, beside the 7 days before.").waitFor();
      expect(await page.locator('[data-figure="Delivered"]').innerText()).toMatch(/[5-9]/);
      expect(complaints).toEqual([]);
    });
  });
});
