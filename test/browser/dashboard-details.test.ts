import { afterAll, beforeAll, expect, test } from "vitest";
import { choose, faultsInAllVariants, faultsOf, openDashboard, type Dashboard } from "../support/browser.ts";
import { createLogin } from "../support/credential.ts";
import { eventually } from "../support/eventually.ts";
import { openSink } from "../support/sink.ts";

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard?.close());

test("a list of opt-outs is imported once, until it changes", async () => {
  await dashboard.visit("/operations/opt-outs", async ({ page, errors }) => {
    await page.getByRole("button", { name: "Import", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Import opt-outs" });
    await dialog.getByLabel("Numbers").fill("15550114001\n15550114002");
    const begin = dialog.getByRole("button", { name: "Import 2" });
    await begin.click();
    await dialog.getByText(/2 numbers? (?:is|are)/).waitFor();
    expect(await begin.isDisabled()).toBe(true);
    await page.getByRole("status").getByText("2 numbers on the list").waitFor();
    // A heading is expected; other lines without a number are named, because a lost opt-out breaks a promise.
    await dialog.getByLabel("Numbers").fill("phone\n15550114003\nfoo,15550114004");
    await dialog.getByText("Lines without a number in the first column, left out: 1").waitFor();
    expect(await dialog.getByRole("listitem").allInnerTexts()).toEqual(["foo,15550114004"]);
    expect(await dialog.getByRole("button", { name: "Import 1" }).isEnabled()).toBe(true);
    expect(errors).toEqual([]);
  });
});

test("a new carrier's form explains the chosen protocol only, and says nothing of a stored secret", async () => {
  await dashboard.visit("/operations/carriers?open=new", async ({ page, errors }) => {
    const form = page.getByRole("dialog", { name: "Add carrier" });
    await form.getByText("A simulated carrier of its own").waitFor();
    await choose(form, "Protocol", "SMPP");
    await form.getByText("SMS over an SMPP bind.").waitFor();
    expect(await form.getByText("A simulated carrier of its own").count()).toBe(0);
    expect(await form.getByText("Leave empty to keep").count()).toBe(0);
    expect(await form.getByText("Stored encrypted; never displayed.").count()).toBeGreaterThan(0);
    expect(errors).toEqual([]);
  });
  const { body } = await dashboard.server.request<{ id: string }>("POST", "/api/carriers", {
    name: "stored",
    adapter: "smpp",
    smpp: { host: "127.0.0.1", port: 1, systemId: "shop", password: "secret" },
  });
  await dashboard.visit(`/operations/carriers?open=${body.id}`, async ({ page }) => {
    await page.getByRole("dialog").getByText("Leave empty to keep the current password.").waitFor();
  });
  await dashboard.server.request("DELETE", `/api/carriers/${body.id}`);
});

test("the list of phones shows whole numbers on a small screen", async () => {
  await dashboard.server.send({ to: "155501149012345" });
  await dashboard.visit("/phones/155501149012345", async ({ page }) => {
    await page.setViewportSize({ width: 1024, height: 768 });
    const label = page.getByRole("region", { name: "Phones" }).getByText("+155501149012345");
    await label.waitFor();
    expect(await label.evaluate((node) => node.scrollWidth <= node.clientWidth)).toBe(true);
    expect(await faultsInAllVariants(page)).toEqual([]);
  });
});

test("the simulated phones are cleared after a confirmation", async () => {
  const { server } = dashboard;
  const to = "15550114950";
  await server.send({ to });
  await eventually(
    () => server.app.store.listUnreported(Number.MAX_SAFE_INTEGER, 10),
    ({ length }) => length === 0,
  );
  await dashboard.visit(`/phones/${to}`, async ({ page, errors }) => {
    const list = page.getByRole("region", { name: "Phones" });
    await list.getByText(`+${to}`).waitFor();
    await page.getByRole("button", { name: "Clear phones" }).click();
    const question = page.getByRole("dialog", { name: "Clear all phones?" });
    expect(await faultsOf(page)).toEqual([]);
    await question.getByRole("button", { name: "Clear phones" }).click();
    await list.getByText(`+${to}`).waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "Clear phones" }).getAttribute("aria-disabled")).toBe("true");
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
  expect(await server.onPhone(to)).toEqual([]);
});

test("a binary message is shown in hexadecimal with its data coding, and not as text", async () => {
  const { server } = dashboard;
  const { username, password } = await createLogin(server, "kannel");
  const to = "15550114960";
  const query = new URLSearchParams({ username, password, from: "HELIOG", to, coding: "1", mclass: "1" });
  const octets = "udh=%06%05%04%15%82%15%83&text=%00%FF%1B%41";
  expect((await fetch(`${server.url}/cgi-bin/sendsms?${query.toString()}&${octets}`)).status).toBe(202);
  const sent = await server.request<{ data: { messageId: string }[] }>("GET", `/v1/messages?recipient=${to}`);
  const messageId = sent.body.data[0]?.messageId ?? "";
  await server.settled(messageId);
  await dashboard.visit(`/messages?recipient=${to}`, async ({ page, errors }) => {
    await page.getByRole("cell", { name: "Binary message", exact: true }).waitFor();
    await page.getByRole("link", { name: to }).click();
    const preview = page
      .getByRole("region", { name: "On the phone" })
      .or(page.getByRole("region", { name: "Preview" }));
    await preview.getByText("00 ff 1b 41", { exact: true }).waitFor();
    await preview.getByText("Data coding 21 (0x15)").waitFor();
    const facts = page.getByRole("region", { name: "Details" });
    await facts.getByText("06 05 04 15 82 15 83").waitFor();
    // The composer has no octets, and the segments of a text would be wrong.
    expect(await page.getByRole("button", { name: "Send again" }).count()).toBe(0);
    expect(await page.getByRole("region", { name: "Segments" }).count()).toBe(0);
    expect(await faultsInAllVariants(page)).toEqual([]);
    await preview.getByRole("link", { name: "Simulated phone" }).click();
    await page.locator("[data-octets]").getByText("00 ff 1b 41", { exact: true }).waitFor();
    await page.getByText("User data header 06 05 04 15 82 15 83").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
});

test("the list of messages is turned round, and shows live or test messages only", async () => {
  const { server } = dashboard;
  const to = ["15550114971", "15550114972"];
  for (const each of to) await server.send({ to: each, campaignName: "turned" });
  await server.send({ to: "15550114973", campaignName: "turned" }, { apikey: server.testKey });
  await dashboard.visit("/messages?campaignName=turned", async ({ page, errors }) => {
    const numbers = (): Promise<string[]> => page.getByRole("row").getByRole("link").allInnerTexts();
    const shows = (expected: string[]) => eventually(numbers, (seen) => seen.join() === expected.join());
    await shows(["15550114973", ...to.toReversed()]);
    const time = page.getByRole("columnheader", { name: "Time" });
    expect(await time.getAttribute("aria-sort")).toBe("descending");
    await time.getByRole("button").focus();
    await page.keyboard.press("Enter");
    await shows([...to, "15550114973"]);
    expect(await time.getAttribute("aria-sort")).toBe("ascending");
    const mode = page.getByRole("radiogroup", { name: "Mode" });
    await mode.getByText("Live", { exact: true }).click();
    await shows(to);
    await mode.getByText("Test", { exact: true }).click();
    await shows(["15550114973"]);
    expect(page.url()).toMatch(/order=oldest/);
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
});

test("the mode of credits leads to the setting", async () => {
  await dashboard.visit("/operations/credits", async ({ page }) => {
    await page.getByRole("link", { name: "change in Settings" }).click();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    expect(page.url()).toContain("/account/settings");
  });
});

test("a picture of a template is shown through this server, and any other file as a card", async () => {
  const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const sink = await openSink();
  sink.respondWith(({ path }, response) => {
    if (path.startsWith("/coat"))
      response.writeHead(200, { "content-type": "image/png" }).end(Buffer.from(PNG, "base64"));
    else response.writeHead(200, { "content-type": "image/png" }).end("<script>alert(1)</script>");
  });
  await dashboard.visit("/composer?kind=rcs-card-image", async ({ page, errors, foreignRequests }) => {
    await page.getByRole("button", { name: "Fill in an example" }).click();
    const image = page.getByLabel("Image", { exact: true });
    const preview = page.getByRole("region", { name: "Preview" });
    await image.fill(`${sink.url}/coat.png`);
    await preview.locator("img[data-media=shown]").waitFor();
    await image.fill(`${sink.url}/page.png`);
    await preview.locator("figure[data-media=image]").getByText("page.png").waitFor();
    expect(await preview.locator("img[data-media=shown]").count()).toBe(0);
    expect(await faultsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    expect(foreignRequests).toEqual([]);
  });
  await sink.close();
});

test("settings offer countries and zones by name, with the button to save in view", async () => {
  await dashboard.visit("/account/settings", async ({ page, errors }) => {
    await page.setViewportSize({ width: 1280, height: 700 });
    const save = page.getByRole("button", { name: "Save" });
    const box = await save.boundingBox();
    expect(box && box.y + box.height).toBeLessThanOrEqual(700);
    const zone = page
      .getByRole("combobox", { name: /Time zone of delivery reports/ })
      .or(page.getByLabel(/Time zone of delivery reports/))
      .first();
    await zone.fill("kolkata");
    await page.getByRole("option", { name: /Kolkata|Calcutta/ }).click();
    const allowed = page.getByLabel("Allowed countries").first();
    await allowed.fill("IN");
    await page.getByRole("option").first().click();
    await page.keyboard.press("Escape");
    const request = page.waitForRequest((each) => each.method() === "PATCH");
    await save.click();
    expect((await request).postDataJSON()).toMatchObject({
      zone: expect.stringMatching(/Asia/),
      allowedCountries: ["IN"],
    });
    await page.getByText("Applies from the next message on.").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
  await dashboard.server.asOwner("PATCH", "/api/account", { allowedCountries: null, zone: "UTC" });
});

test("the search finds webhooks, keys and actions", async () => {
  await dashboard.server.request("POST", "/api/webhooks", {
    name: "Harbour orders",
    url: "https://shop.example/hook",
    channel: "rcs",
    events: ["message_status"],
  });
  await dashboard.visit("/overview", async ({ page, errors }) => {
    const dialog = page.getByRole("dialog", { name: "Search" });
    const field = dialog.getByRole("textbox", { name: "Search" });
    await page.keyboard.press("Control+k");
    await field.fill("harbour");
    await dialog.getByRole("button", { name: "Harbour orders" }).waitFor();
    await field.fill("First live");
    await dialog.getByRole("button", { name: "First live key" }).waitFor();
    await field.fill("log out");
    await dialog.getByRole("button", { name: "Sign out" }).waitFor();
    await field.fill("dark");
    await dialog.getByRole("button", { name: "Dark theme" }).click();
    await page.locator("html[data-mantine-color-scheme=dark]").waitFor({ state: "attached" });
    await page.evaluate("localStorage.removeItem('mantine-color-scheme-value')");
    expect(errors).toEqual([]);
  });
});

test("the audit log shows a name for each operation", async () => {
  await dashboard.server.asOwner("POST", "/api/keys", { name: "Audited", scopes: ["read"] });
  await dashboard.visit("/account/audit", async ({ page, errors }) => {
    await page.getByText("Create an API key").first().waitFor();
    await page.getByText("POST /api/keys", { exact: true }).first().waitFor();
    expect(errors).toEqual([]);
  });
});

test("the audit log shows values before and after a change, and only names of texts", async () => {
  const { server } = dashboard;
  const route = { name: "to compare", carrier: "simulator", channel: "sms", priority: 70 };
  const { body } = await server.request<{ id: string }>("POST", "/api/routes", route);
  await server.request("PATCH", `/api/routes/${body.id}`, { name: "compared", priority: 60 });
  await dashboard.visit("/account/audit", async ({ page, errors }) => {
    const row = page.getByRole("row", { name: /Update a route/ }).first();
    await row.getByText("priority: 70 → 60").waitFor();
    await row.getByText("name", { exact: true }).waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
  await server.request("DELETE", `/api/routes/${body.id}`);
});

test("the list of messages takes more on a page, and says how many there are", async () => {
  const to = Array.from({ length: 60 }, (_, n) => String(15550117000 + n));
  await dashboard.server.send({ to, campaignName: "pages" });
  await dashboard.visit("/messages?campaignName=pages", async ({ page, errors }) => {
    await page.getByText("50 of 60 shown").waitFor();
    await page.getByLabel("Messages per page").first().click();
    await page.getByRole("option", { name: "100 per page" }).click();
    await page.getByText("60 in all").waitFor();
    expect(await page.getByLabel(/^From/).first().isVisible()).toBe(true);
    expect(errors).toEqual([]);
  });
});

test("a failure with a carrier's code has the carrier's words", async () => {
  const { server } = dashboard;
  const { body } = await server.send({ to: "15550109001" });
  await server.settled(body.data[0]?.messageId ?? "");
  await dashboard.visit("/overview", async ({ page }) => {
    const message = await server.request<{ errCode: string; statusDescription: string }>(
      "GET",
      `/v1/messages/${body.data[0]?.messageId}`,
    );
    const reasons = page.getByRole("region", { name: "Failure reasons" });
    await reasons.getByRole("link", { name: message.body.errCode }).waitFor();
    await reasons.getByText(message.body.statusDescription).waitFor();
    expect(message.body.statusDescription).not.toBe("");
  });
});
