import { afterAll, beforeAll, expect, test } from "vitest";
import { choose, faultsInAllVariants, openDashboard, settled, type Dashboard } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { openSink, type Sink } from "../support/sink.ts";

let dashboard: Dashboard;
let sink: Sink;
beforeAll(async () => {
  sink = await openSink();
  dashboard = await openDashboard();
});
afterAll(async () => {
  await dashboard?.close();
  await sink?.close();
});

test("endpoints of all channels are on one page with their success rate and response time", async () => {
  const { server } = dashboard;
  sink.respondWith(({ path }, response) => void response.writeHead(path === "/good" ? 200 : 500).end());
  for (const name of ["good", "bad"])
    await server.request("POST", "/api/dlr-configs", { name, url: `${sink.url}/${name}` });
  const hook = { name: "taps", channel: "rcs", url: `${sink.url}/good`, events: ["user_message"] };
  await server.request("POST", "/api/webhooks", hook);
  await server.send({ to: ["15550107001", "15550107002"] });
  const callbacks = () => server.request<{ data: { tries: number }[] }>("GET", "/api/callbacks");
  await eventually(callbacks, ({ body }) => body.data.length === 4 && body.data.every(({ tries }) => tries > 0));
  await dashboard.visit("/developers/webhooks", async ({ page, errors, foreignRequests }) => {
    await page.getByRole("link", { name: "taps" }).waitFor();
    const charts = page.getByRole("region", { name: "Delivery charts" });
    await charts.getByText("The latest 2 deliveries.").waitFor();
    await choose(charts, "Endpoint", "good");
    await charts.locator('[data-figure="Delivered"]').getByText("100 %").waitFor();
    await choose(charts, "Endpoint", "bad");
    await charts.locator('[data-figure="Delivered"]').getByText("0 %", { exact: true }).waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);

    // The entry of each kind stays where it was.
    await page.getByRole("link", { name: "taps" }).click();
    await page.getByRole("dialog", { name: "taps" }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Add endpoint" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "RCS messages and status" }).click();
    await page.getByRole("dialog", { name: "Add Webhook" }).waitFor();
    expect([...errors, ...foreignRequests]).toEqual([]);
  });
});

test("every event is in the catalogue with an example", async () => {
  await dashboard.visit("/developers/webhooks?tab=events", async ({ page, errors }) => {
    await page.getByRole("button", { name: /Delivery report/ }).click();
    await page.getByText('"mobileNumber": "15550100100"').waitFor();
    await page.getByRole("button", { name: /verification_status/ }).click();
    await page.getByText('"event": "verification_status"').waitFor();
    await settled(page);
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
});
