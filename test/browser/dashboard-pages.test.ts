import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultsInAllVariants, faultsOf, openDashboard, type Dashboard } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";

let dashboard: Dashboard;
/** One message that has come to its end. */
let messageId = "";

beforeAll(async () => {
  dashboard = await openDashboard();
  const { server } = dashboard;
  const long =
    "Your order 4711 is on its way. It left our warehouse this morning, and it will be with you tomorrow. ".repeat(3);
  const sent = await server.send({ text: long });
  messageId = sent.body.data[0]?.messageId ?? "";
  await server.send({ to: "15550109001", type: "PROMO", campaignName: "autumn" });
  await server.send({ to: "15550109008", text: "482913 is your code.", type: "OTP" });
  const rcs = { number: "+15550100100", botId: "heliograph", type: "TRANS" };
  for (const templateName of ["rate-us", "autumn-sale", "new-arrivals"])
    await server.request("POST", "/v1/rcs", { ...rcs, templateName });
  await server.request("POST", "/v1/chatapp", {
    from: "+15550100199",
    to: "15550100100",
    type: "template",
    templateName: "autumn_sale",
    components: {
      header: { type: "image", image: { link: "https://shop.example/autumn.jpg" } },
      body: { params: ["Ada", "20%"] },
    },
  });
  await server.settled(messageId);
  await eventually(
    () => server.onPhone("15550100100"),
    ({ length }) => length === 5,
  );
});
afterAll(() => dashboard?.close());

/** Every page, with what its heading says. A page that is added is added here. */
const PAGES: readonly { path: () => string; heading: string }[] = [
  { path: () => "/start", heading: "Get started" },
  { path: () => "/messages", heading: "Messages" },
  { path: () => "/messages?recipient=15550199999", heading: "Messages" },
  { path: () => `/messages/${messageId}`, heading: "To 15550100100" },
  { path: () => "/messages/0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1", heading: "Message" },
  { path: () => "/composer", heading: "Compose" },
  { path: () => "/composer?kind=sms-flash", heading: "Compose" },
  { path: () => "/composer?kind=rcs-carousel-images", heading: "Compose" },
  { path: () => "/composer?kind=chatapp-image", heading: "Compose" },
  { path: () => "/phones", heading: "Virtual phones" },
  { path: () => "/phones/15550100100?thread=rcs+heliograph", heading: "Virtual phones" },
  { path: () => "/phones/15550100100?thread=chatapp+%2B15550100199", heading: "Virtual phones" },
  { path: () => "/simulator", heading: "Simulator" },
  { path: () => "/developers/webhooks", heading: "All webhooks" },
  { path: () => "/account/me", heading: "My account" },
  { path: () => "/nowhere/at-all", heading: "Page not found" },
];

/** The browser's console message for a 404, which the page has shown as an error. */
const EXPECTED = /the server responded with a status of 404/;

describe.for(PAGES.map((page, index) => ({ ...page, name: `${index + 1}: ${page.path().split("?")[0]}` })))(
  "page $name",
  ({ path, heading }) => {
    test("is clean and accessible, light and dark, on a screen and on a phone", async () => {
      await dashboard.visit(path(), async ({ page, errors: complaints, foreignRequests: strangers }) => {
        expect(await page.getByRole("heading", { level: 1 }).allTextContents()).toEqual([heading]);
        expect(await page.title()).toBe(`${heading} · Heliograph`);
        expect(await faultsInAllVariants(page)).toEqual([]);

        expect(complaints.filter((complaint) => !EXPECTED.test(complaint))).toEqual([]);
        expect(strangers).toEqual([]);
      });
    });
  },
);

test("the login is clean and accessible, light and dark, on a screen and on a phone", async () => {
  await dashboard.visit(
    "/messages",
    async ({ page, errors: complaints, foreignRequests: strangers }) => {
      expect(await page.title()).toBe("Sign in · Heliograph");
      expect(await faultsInAllVariants(page)).toEqual([]);
      expect([...complaints, ...strangers]).toEqual([]);
    },
    null,
  );
});

test("the open palette, help and menus are accessible in light and dark", async () => {
  await dashboard.visit("/messages", async ({ page, errors: complaints }) => {
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("Number, last digits, message id, campaign, template, page…").fill("webhook");
    await page
      .getByRole("button", { name: /Webhook/ })
      .first()
      .waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press("Escape");

    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts and help" }).waitFor();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    await page.getByRole("button", { name: /^Account of/ }).click();
    await page.getByRole("menuitem", { name: "My account" }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
