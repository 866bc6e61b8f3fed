import { afterAll, beforeAll, expect, test } from "vitest";
import { faultsOf, openDashboard, settled, type Dashboard } from "../support/browser.ts";

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await openDashboard();
  await dashboard.server.send({ text: "Hello" });
});
afterAll(() => dashboard?.close());

test("the switch in the header changes the language of all pages, and back", async () => {
  await dashboard.visit("/messages", async ({ page, errors, foreignRequests }) => {
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
    await page.getByRole("button", { name: "Language" }).click();
    await page.getByRole("menuitem", { name: "हिन्दी" }).click();
    await page.getByRole("heading", { level: 1, name: "संदेश" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("hi");
    await settled(page);
    expect(await faultsOf(page)).toEqual([]);

    // The navigation is made of constants of a module, which is loaded after the catalogue.
    const navigation = await page.getByRole("navigation").first().innerText();
    expect(
      navigation
        .split("\n")
        .filter((label) => label !== "" && !/\p{Script=Devanagari}/u.test(label) && label !== "RCS" && label !== "SMS"),
    ).toEqual(["Message app"]);

    for (const path of ["/overview", "/composer", "/operations/carriers", "/account/settings", "/start"]) {
      await page.goto(dashboard.server.url + path);
      await settled(page);
      expect(await page.getByRole("heading", { level: 1 }).innerText()).toMatch(/\p{Script=Devanagari}/u);
      expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(1440);
    }

    await page.getByRole("button", { name: "भाषा" }).click();
    await page.getByRole("menuitem", { name: "English" }).click();
    await page.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
    expect([...errors, ...foreignRequests]).toEqual([]);
  });
});

test("a time has its zone beside it", async () => {
  await dashboard.visit("/messages", async ({ page }) => {
    expect(await page.locator("tbody time").first().innerText()).toMatch(/(?:UTC|GMT|[A-Z]{2,5})[+-]?[\d:]*$/);
  });
});
