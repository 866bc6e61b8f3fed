import { afterAll, beforeAll, expect, test } from "vitest";
import { choose, faultsInAllVariants, openDashboard, settled, type Dashboard } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { openSink, type ReceivedRequest, type Sink } from "../support/sink.ts";

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
    await page.getByRole("button", { name: "taps" }).waitFor();
    const charts = page.getByRole("region", { name: "Delivery charts" });
    await charts.getByText("The latest 2 deliveries.").waitFor();
    await choose(charts, "Endpoint", "good");
    await charts.locator('[data-figure="Delivered"]').getByText("100 %").waitFor();
    await choose(charts, "Endpoint", "bad");
    await charts.locator('[data-figure="Delivered"]').getByText("0 %", { exact: true }).waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);

    await page.getByRole("button", { name: "taps" }).click();
    await page.getByRole("dialog", { name: "taps" }).waitFor();
    expect([...errors, ...foreignRequests]).toEqual([]);
  });
});

test("one page makes a webhook of any channels with a constant header, by keyboard", async () => {
  const { server } = dashboard;
  await dashboard.visit("/developers/webhooks", async ({ page, errors }) => {
    const type = async (words: string): Promise<void> => page.keyboard.type(words);
    await page.getByRole("button", { name: "Add Webhook" }).first().focus();
    await page.keyboard.press("Enter");
    const form = page.getByRole("dialog", { name: "Add Webhook" });
    await form.getByRole("textbox", { name: "Name" }).focus();
    await type("Everything but codes");
    await form.getByRole("textbox", { name: "End Point" }).focus();
    await type(`${sink.url}/everything`);
    await form.getByRole("checkbox", { name: "Verify" }).focus();
    await page.keyboard.press("Space");
    await form.getByRole("checkbox", { name: /verification_status/ }).waitFor({ state: "detached" });
    await form.getByRole("button", { name: "Add header" }).focus();
    await page.keyboard.press("Enter");
    await form.getByRole("textbox", { name: "Header, row 1" }).focus();
    await type("Authorization");
    await form.getByLabel("Value, row 1").focus();
    await type("Bearer 3f9a17c2");
    expect(await form.innerText()).not.toContain("3f9a17c2");
    expect(await faultsInAllVariants(page)).toEqual([]);
    await form.getByRole("button", { name: "Save" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "I've saved it" }).click();
    expect(errors).toEqual([]);
  });
  const { body } = await server.request<{ data: { name: string; channels: string[]; events: string[] }[] }>(
    "GET",
    "/api/webhooks",
  );
  expect(body.data.find(({ name }) => name === "Everything but codes")).toMatchObject({
    channels: ["sms", "rcs", "chatapp", "system"],
    events: ["user_message", "delivery_report", "message_status", "message_sent", "link_click", "alert_status"],
    constantHeaders: [{ name: "Authorization", value: null }],
  });
  await server.send({ to: "15550107009" });
  const isReport = ({ path, headers }: ReceivedRequest): boolean =>
    path === "/everything" && headers.authorization === "Bearer 3f9a17c2";
  await eventually(
    () => Promise.resolve(sink.received),
    (received) => received.some(isReport),
  );
});

test("custom fields of a delivery report are kept apart from its headers", async () => {
  await dashboard.visit("/developers/webhooks", async ({ page, errors }) => {
    await page.getByRole("button", { name: "Add delivery report" }).click();
    const form = page.getByRole("dialog", { name: "Add Configuration" });
    await form.getByRole("textbox", { name: "Name" }).fill("Own fields");
    await form.getByRole("textbox", { name: "End Point" }).fill(`${sink.url}/own`);
    await form.getByRole("button", { name: "Add field" }).click();
    await form.getByRole("textbox", { name: "Field, row 1" }).fill("id");
    await form.locator("[data-sample]").getByText('"id"').waitFor();
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "I've saved it" }).click();
    expect(errors).toEqual([]);
  });
  await dashboard.server.send({ to: "15550107010" });
  const report = await eventually(
    () => Promise.resolve(sink.received.find(({ path }) => path === "/own")),
    (received) => received !== undefined,
  );
  expect(Object.keys(report?.body as object)).toEqual(["id"]);
});

test("every event is in the catalogue with an example", async () => {
  await dashboard.visit("/developers/webhooks?tab=events", async ({ page, errors }) => {
    await page.getByRole("button", { name: /DLR Push Configuration/ }).click();
    await page.getByText('"mobileNumber": "15550100100"').first().waitFor();
    await page.getByRole("button", { name: /verification_status/ }).click();
    await page.getByText('"event": "verification_status"').waitFor();
    await settled(page);
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
});
