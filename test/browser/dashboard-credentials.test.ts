import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { choose, faultsInAllVariants, openDashboard, type Dashboard } from "../support/browser.ts";

interface Made {
  id: string;
  username: string;
  scopes: string[];
  settings: Record<string, unknown>;
}

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard?.close());

const openForm = async (page: Page): Promise<Locator> => {
  await page.getByRole("button", { name: "Create credential" }).first().click();
  return page.getByRole("dialog", { name: "Create credential" });
};
const save = (form: Locator) => form.getByRole("button", { name: "Save", exact: true }).click();
const closeSecret = async (page: Page): Promise<string> => {
  const secret = page.getByRole("dialog", { name: "New credential" });
  const password = await secret.locator("pre").innerText();
  await secret.getByRole("button", { name: "I've saved it" }).click();
  return password;
};
async function stored(name: string): Promise<Made> {
  const { body } = await dashboard.server.request<{ data: (Made & { name: string })[] }>("GET", "/api/credentials");
  const made = body.data.find((each) => each.name === name);
  if (!made) throw new Error(`no credential ${name}`);
  return made;
}

test("a Twilio API key is made with settings and chosen permissions, and its settings are changed", async () => {
  await dashboard.visit("/developers/credentials", async ({ page, errors, foreignRequests }) => {
    const form = await openForm(page);
    await choose(form, "Product", "Twilio");
    await form.getByLabel("Name").fill("shop");
    await choose(form, "Login", "API key SID and secret");
    await form.getByLabel("Sender", { exact: true }).fill("HELIOG");
    await form.getByLabel("Status callback URL").fill("nowhere");
    await form.getByLabel("Inbound URL").fill("https://shop.example/inbound");
    await choose(form, "Inbound method", "GET");
    await form.getByLabel("Inbound numbers").fill("+15550100199");
    await choose(form, "Route type", "PROMO");
    await form.getByRole("button", { name: "More settings" }).click();
    await form.getByRole("checkbox", { name: "send RCS" }).uncheck();
    await save(form);
    // The server's rule is shown at the field.
    await form.getByText(/http:\/\/ or https:\/\/ address/).waitFor();
    await form.getByLabel("Status callback URL").fill("https://shop.example/status");
    expect(await faultsInAllVariants(page)).toEqual([]);
    await save(form);
    expect(await closeSecret(page)).toMatch(/^[0-9A-Za-z]{32}$/);
    const made = await stored("shop");
    expect(made).toMatchObject({
      username: expect.stringMatching(/^SK[0-9a-f]{32}$/) as string,
      scopes: ["sms", "chatapp", "verify", "verify:custom", "read"],
      settings: {
        sender: "HELIOG",
        statusCallback: "https://shop.example/status",
        inboundUrl: "https://shop.example/inbound",
        inboundMethod: "GET",
        inboundNumbers: ["+15550100199"],
        type: "PROMO",
      },
    });

    await page.getByRole("button", { name: "shop", exact: true }).click();
    const open = page.getByRole("dialog", { name: "shop" });
    await open.getByLabel("Inbound URL").fill("");
    const sent = page.waitForRequest((each) => each.method() === "PATCH");
    await save(open);
    expect((await sent).postDataJSON()).toEqual({ settings: { inboundUrl: null } });
    await expect.poll(async () => (await stored("shop")).settings["inboundUrl"]).toBeUndefined();
    // The browser logs the refused request.
    const others = errors.filter((error) => !error.includes("status of 400"));
    expect([...others, ...foreignRequests]).toEqual([]);
  });
});

test("a Kannel credential is made with its services and TLVs", async () => {
  await dashboard.visit("/developers/credentials", async ({ page, errors }) => {
    const form = await openForm(page);
    await form.getByLabel("Name").fill("kannel shop");
    await form.getByRole("button", { name: "Add service" }).click();
    await form.getByLabel("Keyword, row 1").fill("stock");
    await form.getByLabel("URL, row 1").fill("https://shop.example/stock?item=%s");
    await form.getByRole("button", { name: "Add service" }).click();
    await choose(form, "Method, row 2", "POST");
    await form.getByLabel("URL, row 2").fill("https://shop.example/inbound");
    await form.getByLabel("Messages per reply, row 2").fill("0");
    await form.getByRole("button", { name: "Add TLV" }).click();
    await form.getByLabel("Name, row 1").fill("campaign");
    await form.getByLabel("Tag, row 1").fill("0x1500");
    expect(await faultsInAllVariants(page)).toEqual([]);
    await save(form);
    await closeSecret(page);
    expect(await stored("kannel shop")).toMatchObject({
      scopes: ["sms", "read"],
      settings: {
        services: [
          { keyword: "stock", getUrl: "https://shop.example/stock?item=%s" },
          { keyword: "default", postUrl: "https://shop.example/inbound", maxMessages: 0 },
        ],
        tlvs: [{ name: "campaign", tag: "0x1500", type: "octetstring" }],
      },
    });
    expect(errors).toEqual([]);
  });
});

test("a Jasmin credential is made with an inbound URL, and reads only", async () => {
  await dashboard.visit("/developers/credentials", async ({ page, errors }) => {
    const form = await openForm(page);
    await choose(form, "Product", "Jasmin");
    await form.getByLabel("Name").fill("jasmin shop");
    await form.getByLabel("Inbound URL").fill("https://shop.example/mo");
    await form.getByRole("button", { name: "More settings" }).click();
    await form.getByRole("checkbox", { name: "send SMS" }).uncheck();
    await save(form);
    await closeSecret(page);
    expect(await stored("jasmin shop")).toMatchObject({
      scopes: ["read"],
      settings: { inboundUrl: "https://shop.example/mo" },
    });
    expect(errors).toEqual([]);
  });
});
