import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import { HTTP_PRESETS } from "../../dashboard/src/pages/carriers/http-presets.ts";
import { RBM_STARTS, WHATSAPP_STARTS } from "../../dashboard/src/pages/carriers/line-starts.ts";
import { PRESETS } from "../../src/model/http-presets.ts";
import { RBM_DEFAULTS } from "../../src/model/rbm-connection.ts";
import { WHATSAPP_DEFAULTS } from "../../src/model/whatsapp-connection.ts";
import { choose, faultsOf, openDashboard, faultsInAllVariants, type Dashboard } from "../support/browser.ts";
import { ACCOUNT, FakeGateway } from "../support/fake-gateway.ts";
import { FakeRbm, keyFile, RBM_CLIENT_TOKEN } from "../support/fake-rbm.ts";
import { FAKE_DEFAULTS, openFakeWhatsapp, type FakeWhatsapp } from "../support/fake-whatsapp.ts";

const TEMPLATES = [
  {
    id: "1",
    name: "order_update",
    language: "en_US",
    status: "APPROVED",
    category: "UTILITY",
    components: [{ type: "BODY", text: "Hello {{1}}, your order {{2}} is on its way." }],
  },
  { id: "2", name: "cards", language: "en", status: "APPROVED", category: "UTILITY", components: [] },
];

let dashboard: Dashboard;
let whatsapp: FakeWhatsapp;
let rbm: FakeRbm;
let gateway: FakeGateway;

beforeAll(async () => {
  whatsapp = await openFakeWhatsapp({ templates: TEMPLATES, phoneNumberIds: ["106540352242922", "2002"] });
  rbm = await FakeRbm.open({ agents: ["shop_agent"] });
  gateway = await FakeGateway.open();
  dashboard = await openDashboard();
});
afterAll(async () => {
  await dashboard?.close();
  await Promise.all([whatsapp?.close(), rbm?.close(), gateway?.close()]);
});

async function recordOf(path: string): Promise<Record<string, unknown>> {
  const { body } = await dashboard.server.request<{ data: Record<string, unknown>[] }>("GET", path);
  return body.data[0] ?? {};
}

const save = (form: Locator): Promise<void> => form.locator("button[type=submit]").click();
const field = (form: Locator, name: string): Locator =>
  form.getByRole("textbox", { name }).or(form.getByRole("combobox", { name })).first();

/** The browser's console message for a refusal, which the page has shown beside a field. */
const REFUSED = /the server responded with a status of 400/;

/** Fills in the name and the protocol of a new carrier. */
async function begin(page: Page, name: string, speaks: string): Promise<Locator> {
  const form = page.getByRole("dialog", { name: "Add carrier" });
  await field(form, "Name").fill(name);
  await choose(form, "Protocol", speaks);
  return form;
}

/** Opens the health of the carrier that was just saved, and the form of a test message in it. */
async function toTestMessage(page: Page, name: string): Promise<{ open: Locator; form: Locator }> {
  const open = page.getByRole("dialog", { name, exact: true });
  await open.getByRole("tab", { name: "Health" }).click();
  await open.getByText("Up", { exact: true }).waitFor();
  expect(await field(open, "Callback URL").inputValue()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/hooks\/[\w-]+$/);
  await open.getByRole("button", { name: "Copy the callback URL" }).waitFor();
  expect(await open.getByRole("group", { name: "Binds" }).count()).toBe(0);
  await open.getByRole("button", { name: "Send a test message" }).click();
  const form = open.getByRole("form", { name: "Test message" });
  await form.getByText(/^A real phone gets it/).waitFor();
  return { open, form };
}

async function makeOrigin(path: string, fields: Readonly<Record<string, string>>): Promise<void> {
  await dashboard.visit(`${path}?open=new`, async ({ page }) => {
    const form = page.getByRole("dialog");
    for (const [label, value] of Object.entries(fields)) await field(form, label).fill(value);
    await save(form);
    await form.waitFor({ state: "detached" });
  });
}

test("a new connection begins with the server's defaults, and each preset asks for the fields that its request names", () => {
  const { clientEmail: _, ...rbmStarts } = { clientEmail: "", ...RBM_DEFAULTS };
  expect(WHATSAPP_STARTS).toEqual(WHATSAPP_DEFAULTS);
  expect(RBM_STARTS).toEqual(rbmStarts);
  const namesIn = (kind: string, request: object): string[] => [
    ...new Set(
      [...JSON.stringify(request).matchAll(new RegExp(`\\{\\{${kind}:(\\w+)`, "g"))].map(([, name = ""]) => name),
    ),
  ];
  expect(
    HTTP_PRESETS.map(({ value, baseUrl, values, secrets }) => [
      value,
      baseUrl,
      Object.keys(values),
      Object.keys(secrets),
    ]),
  ).toEqual(
    Object.entries(PRESETS).map(([name, preset]) => [
      name,
      preset.baseUrl ?? null,
      namesIn("value", preset),
      namesIn("secret", preset),
    ]),
  );
});

describe("a carrier over WhatsApp", () => {
  test("is added by the form, tested, loads its templates, and sends a message from a number with its own id", async () => {
    await makeOrigin("/chat-app/numbers", { Number: "+15550783881", "Phone number ID": "2002" });
    expect(await recordOf("/api/numbers?name=%2B15550783881")).toMatchObject({ phoneNumberId: "2002" });
    await dashboard.visit(
      "/operations/carriers?open=new",
      async ({ page, errors: complaints, foreignRequests: strangers }) => {
        const form = await begin(page, "wa", "WhatsApp");
        await field(form, "App secret").fill(FAKE_DEFAULTS.appSecret);
        await field(form, "Verify token").fill("a word of our own");
        await field(form, "Phone number ID").fill("+1 555 078 3881");
        await field(form, "Business account ID").fill(FAKE_DEFAULTS.businessAccountId);
        await form.getByRole("button", { name: "Advanced" }).click();
        await field(form, "Base URL").fill(whatsapp.url);
        await field(form, "Header").fill("not a header");
        await save(form);
        await form.getByText(/^phoneNumberId must be the platform's ID/).waitFor();
        await form.getByText(/^header must be the name of an HTTP header/).waitFor();
        expect(await field(form, "Phone number ID").getAttribute("aria-invalid")).toBe("true");
        await field(form, "Header").fill("Authorization");
        await field(form, "Phone number ID").fill("106540352242922");
        await save(form);
        await form.getByText(/^token is required for a new connection/).waitFor();
        expect(await field(form, "Access token").getAttribute("aria-invalid")).toBe("true");
        expect(await field(form, "Access token").getAttribute("type")).toBe("password");
        await field(form, "Access token").fill(FAKE_DEFAULTS.token);
        expect(await form.getByRole("group", { name: "curl command" }).innerText()).not.toContain(FAKE_DEFAULTS.token);
        expect(await faultsOf(page)).toEqual([]);
        await save(form);

        const { open, form: message } = await toTestMessage(page, "wa");
        await open.getByText(/WhatsApp › Configuration/).waitFor();
        await open.getByRole("button", { name: "Try it" }).click();
        await open.locator("[data-outcome=bound]").waitFor();
        await open.getByRole("button", { name: "Sync templates" }).click();
        await open.locator("[data-pulled]").getByText("Created: order_update").waitFor();
        await open
          .locator("[data-pulled]")
          .getByText(/^cards \(en\): /)
          .waitFor();

        await choose(message, "Business number", "+15550783881");
        await field(message, "To").fill("15550109000");
        await choose(message, "Template", "order_update");
        await field(message, "Value 1").fill("Ada");
        await field(message, "Value 2").fill("4711");
        await save(message);
        await message.locator("[data-outcome=taken]").getByText("Outcome: taken").waitFor();
        await message.getByText(/^Carrier message ID: wamid\./).waitFor();
        await message.getByRole("group", { name: "Protocol exchange" }).waitFor();
        expect(whatsapp.taken).toMatchObject([{ to: "15550109000", path: "/v26.0/2002/messages" }]);
        expect(whatsapp.faults).toEqual([]);
        expect(await faultsInAllVariants(page)).toEqual([]);
        expect(complaints.filter((complaint) => !REFUSED.test(complaint))).toEqual([]);
        expect(strangers).toEqual([]);
      },
    );
  });

  test("keeps its secrets while their fields are empty", async () => {
    const { id } = await recordOf("/api/carriers?name=wa");
    await dashboard.visit(`/operations/carriers?open=${String(id)}`, async ({ page }) => {
      const open = page.getByRole("dialog", { name: "wa", exact: true });
      for (const secret of ["Access token", "App secret", "Verify token"])
        expect(await field(open, secret).inputValue()).toBe("");
      const sent = page.waitForRequest((each) => each.method() === "PATCH");
      await field(open, "Business account ID").fill("");
      await save(open);
      expect((await sent).postDataJSON()).toEqual({ whatsapp: { businessAccountId: null } });
      await open.waitFor({ state: "detached" });
    });
  });
});

describe("a carrier over RCS for Business", () => {
  test("is added with a key file, tried, and takes a message of a bot with an agent's id", async () => {
    await makeOrigin("/rcs/bots", { Name: "corner", "Agent ID": "shop_agent" });
    await dashboard.visit("/operations/carriers?open=new", async ({ page, errors: complaints }) => {
      const form = await begin(page, "google", "RCS for Business");
      await field(form, "Service account key").fill("{ no key }");
      await field(form, "Client token").fill(RBM_CLIENT_TOKEN);
      await form.getByRole("button", { name: "Advanced" }).click();
      await field(form, "Base URL").fill(rbm.url);
      await save(form);
      await form.getByText(/it is no JSON object/).waitFor();
      expect(await field(form, "Service account key").getAttribute("aria-invalid")).toBe("true");
      const key = { name: "key.json", mimeType: "application/json", buffer: Buffer.from(keyFile(rbm.tokenUrl)) };
      await form.locator("input[type=file]").setInputFiles(key);
      expect(await faultsOf(page)).toEqual([]);
      await save(form);

      const { open, form: message } = await toTestMessage(page, "google");
      await open.getByText(/console of RCS for Business, and press Verify/).waitFor();
      await open.getByRole("button", { name: "Try it" }).click();
      await open.getByText(/Its system_id is sender@rbm-test/).waitFor();
      await choose(message, "Bot", "corner");
      await field(message, "To").fill("15550100100");
      await choose(message, "Template", "store-opening");
      await save(message);
      await message.locator("[data-outcome=taken]").getByText("Outcome: taken").waitFor();
      expect(rbm.accepted).toMatchObject([{ number: "15550100100", agentId: "shop_agent" }]);
      expect(rbm.faults).toEqual([]);

      await open.getByRole("tab", { name: "Settings" }).click();
      await open.getByText(/Empty keeps the key of sender@rbm-test/).waitFor();
      expect(await field(open, "Service account key").inputValue()).toBe("");
      expect(complaints.filter((complaint) => !REFUSED.test(complaint))).toEqual([]);
    });
  });
});

describe("a carrier over HTTP", () => {
  test("asks for the fields of its preset, and sends a message", async () => {
    await dashboard.visit("/operations/carriers?open=new", async ({ page, errors: complaints }) => {
      const form = await begin(page, "west", "HTTP");
      await field(form, "User name").waitFor();
      await choose(form, "Provider", "Twilio");
      await field(form, "Auth token").fill(ACCOUNT.secret);
      await field(form, "Base URL").fill(gateway.url);
      await save(form);
      await form.getByText("It needs accountSid: give it in values.").waitFor();
      expect(await field(form, "Account SID").getAttribute("aria-invalid")).toBe("true");
      await field(form, "Account SID").fill(ACCOUNT.name);
      expect(await faultsOf(page)).toEqual([]);
      await save(form);

      const { open, form: message } = await toTestMessage(page, "west");
      await open.getByText(/^To check that the provider accepts messages/).waitFor();
      expect(await open.getByRole("button", { name: "Try it" }).count()).toBe(0);
      await field(message, "Sender").fill("TRIED");
      await field(message, "To").fill("15550100100");
      await save(message);
      await message.locator("[data-outcome=taken]").getByText("Outcome: taken").waitFor();
      expect(gateway.taken).toMatchObject([{ shape: "twilio", to: "+15550100100", text: "Can you read this?" }]);
      expect(gateway.faults).toEqual([]);

      gateway.misbehave({ kind: "status", status: 400, text: '{"code":21211}' });
      // The same draft is not sent twice.
      await field(message, "To").fill("15550100101");
      await save(message);
      await message.locator("[data-outcome=refused]").getByText("Code: 21211").waitFor();
      gateway.misbehave(null);
      expect(complaints.filter((complaint) => !REFUSED.test(complaint))).toEqual([]);
    });
  });

  test("has the whole request below Advanced, shows each fault at its part, and changes only that part", async () => {
    const { id } = await recordOf("/api/carriers?name=west");
    await dashboard.visit(`/operations/carriers?open=${String(id)}`, async ({ page }) => {
      const open = page.getByRole("dialog", { name: "west", exact: true });
      await open.getByRole("button", { name: "Advanced" }).click();
      const errors = open.getByLabel("Meaning of other responses");
      expect(await errors.inputValue()).toContain('"meaning": "throttle"');
      await errors.fill('[{ "status": "9xx", "meaning": "stop" }]');
      const headers = open.getByLabel("Headers");
      await headers.fill('{ "x-more": "{{secret:more}}" }');
      await save(open);
      await open.getByText(/^A status must be written like 202/).waitFor();
      expect(await field(open, "Secret more").getAttribute("aria-invalid")).toBe("true");
      expect(await errors.getAttribute("aria-invalid")).toBe("true");
      expect(await faultsInAllVariants(page)).toEqual([]);
      await headers.fill("{}");
      await errors.fill('[{ "status": "5xx", "meaning": "retry" }]');
      const sent = page.waitForRequest((each) => each.method() === "PATCH");
      await save(open);
      expect((await sent).postDataJSON()).toEqual({ http: { errors: [{ status: "5xx", meaning: "retry" }] } });
      await open.waitFor({ state: "detached" });
    });
  });

  test("is configured by hand for a provider without a preset", async () => {
    await dashboard.visit("/operations/carriers?open=new", async ({ page }) => {
      const form = await begin(page, "own", "HTTP");
      await choose(form, "Provider", "Another provider");
      await field(form, "Base URL").fill(gateway.url);
      await form.getByRole("button", { name: "Advanced" }).click();
      await choose(form, "Method", "GET");
      await form
        .getByLabel("Path", { exact: true })
        .fill(
          "/cgi-bin/sendsms?username=acct1&password={{secret:word}}&to={{recipient}}&text={{text}}&dlr-url={{callbackUrl}}",
        );
      await field(form, "Secret word").fill(ACCOUNT.secret);
      await save(form);
      await page.getByRole("dialog", { name: "own", exact: true }).waitFor();
    });
    expect(await recordOf("/api/carriers?name=own")).toMatchObject({
      http: { preset: null, method: "GET", secretNames: ["word"] },
    });
  });
});
