import { readFile } from "node:fs/promises";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { choose, faultsInAllVariants, faultsOf, openDashboard, settled, type Dashboard } from "../support/browser.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { Smsc } from "../../src/smsc/smsc.ts";
import { UNOWNED } from "../../src/store/store.ts";
import type { Envelope } from "../support/test-server.ts";
import { openSink, type Sink } from "../support/sink.ts";

const VIEWER = { email: "viewer@example.com", password: "a few words in a row" };

let dashboard: Dashboard;
let sink: Sink;
let smsc: Smsc;
let campaignId = "";
let linkId = "";
let templateId = "";

beforeAll(async () => {
  sink = await openSink();
  smsc = await Smsc.open({ port: 0, clock: systemClock, behavior: { systemId: "shop", password: "secret" } });
  dashboard = await openDashboard();
  const { server } = dashboard;
  await server.request("POST", "/api/users", { ...VIEWER, role: "viewer" });
  const sent = await server.request<Envelope>("POST", "/v1/sms", {
    sender: "HELIOG",
    to: ["15550100100", "15550109001"],
    text: "Coats cost a fifth less: {SORT}",
    type: "PROMO",
    campaignName: "autumn",
    shortenUrlData: { shortenUrl: true, targetUrl: ["https://shop.example/coats"] },
  });
  linkId = `${sent.body.id ?? ""}:1`;
  campaignId = (await first("/api/campaigns")).id;
  templateId = (await first("/api/templates?channel=rcs&name=new-arrivals")).id;
  await server.request("POST", "/v1/verify", { configId: "default", to: "15550100110" });
  await server.request("POST", "/api/optouts", { number: "15550100150", note: "requested by phone" });
  await server.request("POST", "/api/dlr-configs", { name: "Reports", url: `${sink.url}/reports` });
  const told = await server.send({ to: "15550100101" });
  await server.settled(told.body.data[0]?.messageId ?? "");
  await sink.until(1);
});
afterAll(async () => {
  await dashboard?.close();
  await sink?.close();
  await smsc?.close();
});

async function first(path: string): Promise<{ id: string } & Record<string, unknown>> {
  const { body } = await dashboard.server.request<{ data: ({ id: string } & Record<string, unknown>)[] }>("GET", path);
  return body.data[0] ?? { id: "" };
}

/** Ends what waits for an endpoint as the last failed attempt of three days does. */
async function giveUp(endpointId: string): Promise<void> {
  const { store } = dashboard.server.app;
  const { rows } = await store.listCallbacks(1, { endpointId }, null, 10);
  await store.settleCallbacks(
    rows.map(({ accountId, eventId, dueAt, attempts }) => ({
      accountId,
      eventId,
      endpointId,
      ownedBy: UNOWNED,
      attempts,
      state: "exhausted",
      at: systemClock.now(),
      dueAt,
      message: null,
      attempted: false,
      log: "",
    })),
  );
}

/** The label of a field, with or without the mark of a required field. */
const labelled = (form: Locator, label: string): Locator => form.getByText(new RegExp(`^${label}( \\*)?$`)).first();

const save = (form: Locator): Promise<void> => form.locator("button[type=submit]").click();

/** The browser's console message for a refusal, which the page has shown beside a field. */
const REFUSED = /the server responded with a status of (400|404|409)/;

describe("RCS → Utility → Webhook → Add Webhook", () => {
  test("creates a webhook, shows its secret once, and sends a test event", async () => {
    await dashboard.visit("/start", async ({ page, errors: complaints, foreignRequests: strangers }) => {
      const nav = page.getByRole("navigation", { name: "Main" });
      await nav.getByRole("button", { name: "RCS", exact: true }).click();
      await nav.getByRole("button", { name: "Utility", exact: true }).waitFor();
      await nav.getByRole("link", { name: "Webhook", exact: true }).click();
      await page.getByRole("button", { name: "Add Webhook" }).click();
      const form = page.getByRole("dialog", { name: "Add Webhook" });
      for (const label of ["Name", "Method", "End Point", "Events"]) await labelled(form, label).waitFor();

      // A missing value is reported at its field, with the server's text.
      await save(form);
      await form.getByText("name must have at least 1 character (it has 0).").waitFor();
      await form.getByLabel("Name").fill("Shop");
      await form.getByLabel("End Point").fill(`${sink.url}/rcs`);
      await form.getByLabel(/message_status/).uncheck();
      expect(await faultsOf(page)).toEqual([]);
      await save(form);

      const secret = page.getByRole("dialog", { name: "Signing secret" });
      expect(await secret.locator("pre").first().innerText()).toMatch(/^whsec_/);
      await secret.getByRole("button", { name: "I've saved it" }).click();

      const open = page.getByRole("dialog", { name: "Shop" });
      await open.getByRole("tab", { name: "Preview and test" }).click();
      await open.getByText(/webhook-signature: v1,/).waitFor();
      await open.getByRole("button", { name: "Send test event" }).click();
      await open.getByText(/^Your server answered 200 in/).waitFor();
      expect(sink.received.at(-1)).toMatchObject({ path: "/rcs", body: { channel: "rcs", event: "user_message" } });

      await open.getByRole("tab", { name: "Secret" }).click();
      await open.getByRole("button", { name: "Rotate secret" }).click();
      await page.getByRole("button", { name: "Rotate", exact: true }).click();
      await page.getByRole("button", { name: "I've saved it" }).click();
      await open.getByText("Two active secrets").waitFor();

      await open.getByRole("tab", { name: "Health" }).click();
      await open.getByRole("button", { name: "Turn off" }).click();
      await open.getByRole("button", { name: "Turn on" }).waitFor();
      expect(await first("/api/webhooks")).toMatchObject({ name: "Shop", enabled: false, events: ["user_message"] });

      // A name is unique, and the message stands at the field.
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Add Webhook" }).click();
      await form.getByLabel("Name").fill("Shop");
      await form.getByLabel("End Point").fill(`${sink.url}/again`);
      await save(form);
      const fault = 'A webhook named "Shop" already exists: choose another name, or update that one.';
      await form.getByText(fault).waitFor();
      expect(await form.getByLabel("Name").getAttribute("aria-invalid")).toBe("true");
      expect(complaints.filter((complaint) => !REFUSED.test(complaint))).toEqual([]);
      expect(strangers).toEqual([]);
    });
  });

  test("is the same for the chat app, for texts and for codes, each with its own events", async () => {
    for (const [path, event] of [
      ["/chat-app/utility/webhook?open=new", "message_sent"],
      ["/message-app/utility-manager/webhook?open=new", "link_click"],
      ["/verify?tab=webhook&open=new", "verification_status"],
    ] as const) {
      await dashboard.visit(path, async ({ page }) => {
        const form = page.getByRole("dialog", { name: "Add Webhook" });
        await form.getByLabel(new RegExp(event)).waitFor();
        await form.getByLabel("Name").fill(event);
        await form.getByLabel("End Point").fill(`${sink.url}/${event}`);
        await save(form);
        await page.getByRole("button", { name: "I've saved it" }).click();
      });
    }
    expect(await first("/api/webhooks?name=link_click")).toMatchObject({ channel: "sms" });
    expect(await first("/api/webhooks?name=verification_status")).toMatchObject({ channel: "verify" });
    expect(await first("/api/webhooks?name=message_sent")).toMatchObject({ channel: "chatapp" });
  });
});

describe("Message app → Utility Manager → DLR Push Configuration → Add Configuration", () => {
  test("creates a configuration whose sample equals the request that the server sends", async () => {
    await dashboard.visit("/start", async ({ page, errors: complaints }) => {
      const nav = page.getByRole("navigation", { name: "Main" });
      await nav.getByRole("button", { name: /^Message app/ }).click();
      await nav.getByRole("button", { name: "Utility Manager", exact: true }).waitFor();
      await nav.getByRole("link", { name: "DLR Push Configuration", exact: true }).click();
      await page.getByRole("button", { name: "Add Configuration" }).click();
      const form = page.getByRole("dialog", { name: "Add Configuration" });
      for (const label of ["Name", "Provider", "Method", "End Point", "Headers"]) await labelled(form, label).waitFor();
      const sample = form.locator("[data-sample]");
      expect(await sample.innerText()).toContain('"statusDescription": "Delivered to the phone"');

      await form.getByLabel("Name").fill("Reports");
      await choose(form, "Provider", "simulator");
      await form.getByLabel("End Point").fill(`${sink.url}/two`);
      await form.getByRole("button", { name: "{{messageId}}" }).click();
      await form.getByRole("button", { name: "{{status}}" }).click();
      await form.getByLabel("Key 2").fill("no header name");
      await save(form);

      // The header is none, then the name is taken: each is said where it is.
      await form.getByText(/^key is the name of an HTTP header/).waitFor();
      await form.getByLabel("Key 2").fill("X-Status");
      await save(form);
      await form
        .getByText('A dlr-config named "Reports" already exists: choose another name, or update that one.')
        .waitFor();
      await form.getByLabel("Name").fill("Two fields");
      expect(await faultsOf(page)).toEqual([]);
      const written = await sample.getByRole("group", { name: "Body" }).innerText();
      await save(form);
      await page.getByRole("button", { name: "I've saved it" }).click();

      const open = page.getByRole("dialog", { name: "Two fields" });
      await open.getByRole("tab", { name: "Preview and test" }).click();
      const sent = await open.getByRole("group", { name: "Body" }).innerText();
      expect(Object.keys(JSON.parse(written) as object)).toEqual(["messageId", "status"]);
      expect(Object.keys(JSON.parse(sent) as object)).toEqual(["messageId", "status"]);
      await open.getByText(/X-Status: Delivered/).waitFor();
      expect(await first("/api/dlr-configs?name=Two+fields")).toMatchObject({
        provider: "simulator",
        method: "POST",
        headers: [
          { key: "X-Message-Id", value: "{{messageId}}" },
          { key: "X-Status", value: "{{status}}" },
        ],
      });
      expect(complaints.filter((complaint) => !REFUSED.test(complaint))).toEqual([]);
    });
  });
});

describe("callback deliveries", () => {
  test("list every attempt; one of them or all failed ones can be sent again", async () => {
    const { server } = dashboard;
    // An endpoint that answers 410 is disabled, and its callbacks wait until it is enabled again.
    sink.respondWith(({ path }, response) => void response.writeHead(path === "/gone" ? 410 : 200).end("what it says"));
    const made = await server.request<{ id: string }>("POST", "/api/dlr-configs", {
      name: "Gone",
      url: `${sink.url}/gone`,
    });
    await server.send({ to: "15550100102" });
    const toGone = (): number => sink.received.filter(({ path }) => path === "/gone").length;
    const path = `/operations/callbacks?endpointId=${made.body.id}`;
    const callback = (): Promise<unknown> => first(`/api${path.slice("/operations".length)}`);
    await expect.poll(callback).toMatchObject({ state: "waiting", tries: 1, nextTryAt: null });
    sink.respondWith((_heard, response) => void response.writeHead(200).end());
    await dashboard.visit(path, async ({ page, errors: complaints }) => {
      await page.getByRole("button", { name: "delivery_report delivered" }).click();
      const open = page.getByRole("dialog");
      await open.getByText(/webhook-signature: v1,/).waitFor();
      await open.getByRole("cell", { name: /410.*what it says/ }).waitFor();
      await open.getByText("It waits until its endpoint is enabled again.").waitFor();
      expect(await open.getByRole("button", { name: "Resend" }).count()).toBe(0);
      await page.keyboard.press("Escape");

      await giveUp(made.body.id);
      await server.request("PATCH", `/api/dlr-configs/${made.body.id}`, { enabled: true });
      await page.goto(`${server.url}${path}&state=exhausted`);
      await page.getByRole("button", { name: "Recover since…" }).click();
      const since = page.getByRole("dialog", { name: "Recover everything since" });
      await since.getByRole("button", { name: "Resend", exact: true }).click();
      await since.getByText("1 delivery is queued again.").waitFor();
      await expect.poll(toGone).toBe(2);

      await page.goto(`${server.url}/operations/callbacks?endpointId=${made.body.id}`);
      await page.getByRole("button", { name: "delivery_report delivered" }).click();
      await open.getByRole("button", { name: "Resend" }).click();
      await expect.poll(toGone).toBe(3);
      expect(complaints.filter((complaint) => !REFUSED.test(complaint))).toEqual([]);
    });
  });
});

describe("templates", () => {
  test("are edited beside a phone preview, saved and sent", async () => {
    await dashboard.visit("/rcs/templates/new", async ({ page, errors: complaints }) => {
      const phone = page.getByRole("region", { name: "Preview" });
      const form = page.getByRole("region", { name: "Template", exact: true });
      await form.getByLabel("Name").fill("how-was-it");
      await choose(form, "Kind", "Text with buttons");
      await form.getByLabel("Text", { exact: false }).first().fill("Hello ");
      await form.getByRole("button", { name: "Variable" }).click();
      await form.getByRole("button", { name: "Suggestion" }).click();
      await form.getByRole("group", { name: "Suggestion 1" }).getByLabel("Text").fill("Very well");
      await page.getByLabel("Value 1").fill("Grace");
      await phone.getByText("Hello Grace").waitFor();
      await phone.getByRole("button", { name: "Very well" }).waitFor();
      await save(form);
      await page.getByRole("heading", { name: "how-was-it" }).waitFor();
      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByText("Accepted").waitFor();
      expect(await first("/api/templates?channel=rcs&name=how-was-it")).toMatchObject({
        kind: "rich",
        text: "Hello {{1}}",
        suggestions: [{ type: "reply", text: "Very well" }],
      });
      expect(complaints).toEqual([]);
    });
  });

  test("show each fault at its field, nested fields included", async () => {
    await dashboard.visit("/chat-app/templates/new", async ({ page }) => {
      const form = page.getByRole("region", { name: "Template", exact: true });
      await form.getByLabel("Name").fill("visit_us");
      await form.getByLabel("Body").fill("See what is new.");
      await choose(form, "Header", "Image");
      await form.getByRole("button", { name: "Button" }).click();
      const button = form.getByRole("group", { name: "Button 1" });
      await button.getByLabel("Text").fill("Open");
      await choose(button, "Action", "Open URL");
      await button.getByLabel("URL").fill("no address");
      await save(form);
      await button.locator("[id$=error]").first().waitFor();
      await button.getByLabel("URL").fill("https://shop.example/new");
      await save(form);
      await page.getByRole("heading", { name: "visit_us" }).waitFor();
      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByText("Accepted").waitFor();
      expect(await first("/api/templates?channel=chatapp&name=visit_us")).toMatchObject({
        header: { type: "image" },
        buttons: [{ type: "url", text: "Open", url: "https://shop.example/new" }],
      });
    });
  });
});

describe("records", () => {
  test.for([
    ["/rcs/bots", "Add bot", "Name", "shop-bot"],
    ["/message-app/senders", "Add sender", "Name", "SHOP"],
    ["/chat-app/numbers", "Add number", "Number", "+15550100198"],
    ["/verify?tab=configurations", "Add configuration", "Name", "login"],
    ["/operations/carriers", "Add carrier", "Name", "line-2"],
  ] as const)("%s: one is made, and its name cannot be taken twice", async ([path, add, label, name]) => {
    await dashboard.visit(path, async ({ page }) => {
      const form = page.getByRole("dialog", { name: add });
      for (const round of ["made", "taken"]) {
        await page.getByRole("button", { name: add }).click();
        await form.getByLabel(label, { exact: false }).first().fill(name);
        await save(form);
        if (round === "made") await form.waitFor({ state: "detached" });
        else await form.getByText(/already exists: choose another name/).waitFor();
      }
      expect(await form.getByLabel(label, { exact: false }).first().getAttribute("aria-invalid")).toBe("true");
    });
  });

  test("a route, a price and credits are created; a change sends only the changed fields", async () => {
    await dashboard.visit("/operations/carriers?tab=routes", async ({ page }) => {
      await page.getByRole("button", { name: "Add route" }).click();
      const form = page.getByRole("dialog", { name: "Add route" });
      await form.getByLabel("Name").fill("India");
      await form.getByLabel("Number prefixes").pressSequentially("91 ");
      await save(form);
      await page.getByRole("button", { name: "India", exact: true }).click();
      const open = page.getByRole("dialog", { name: "India" });
      const request = page.waitForRequest((each) => each.method() === "PATCH");
      await open.getByLabel("Priority").fill("50");
      await save(open);
      expect((await request).postDataJSON()).toEqual({ priority: 50 });
    });
    await dashboard.visit("/operations/credits", async ({ page }) => {
      await page.getByRole("button", { name: "Add credits" }).first().click();
      const form = page.getByRole("dialog", { name: "Add credits" });
      await form.getByLabel("Credits").fill("250");
      await save(form);
      await page.locator("[data-figure=Balance]").getByText("250").waitFor();
      await page.getByRole("tab", { name: "Prices" }).click();
      await page.getByRole("button", { name: "Add price" }).click();
      const price = page.getByRole("dialog", { name: "Add price" });
      await price.getByLabel("Number prefixes").fill("91");
      await save(price);
      await page.getByRole("cell", { name: "91…" }).waitFor();
    });
  });
});

describe("a carrier over SMPP", () => {
  const north = () => first("/api/carriers?name=north");

  test("is added by the form, shows its bind, and passes a connection test", async () => {
    await dashboard.visit("/operations/carriers?open=new", async ({ page, errors: complaints }) => {
      const form = page.getByRole("dialog", { name: "Add carrier" });
      await form.getByLabel("Name", { exact: false }).first().fill("north");
      await choose(form, "Protocol", "SMPP");
      await form.getByRole("textbox", { name: "Host" }).fill("http://127.0.0.1");
      await form.getByRole("textbox", { name: "system_id" }).fill("shop");
      await form.getByRole("textbox", { name: "Port" }).fill(String(smsc.port));
      await form.getByRole("textbox", { name: "Password" }).fill("secret");

      // A fault of the connection is reported at its input, also below "More settings".
      await form.getByRole("button", { name: "More settings" }).click();
      await form.getByLabel("Telemarketer chain").pressSequentially("a-b ");
      await save(form);
      await form.getByText(/^host must be a host name or IP address/).waitFor();
      await form.getByText(/^An ID must contain only letters and digits/).waitFor();
      expect(await form.getByRole("textbox", { name: "Host" }).getAttribute("aria-invalid")).toBe("true");
      expect(await faultsOf(page)).toEqual([]);
      await form.getByRole("textbox", { name: "Host" }).fill("127.0.0.1");
      await form.getByLabel("Telemarketer chain").press("Backspace");
      await save(form);

      const open = page.getByRole("dialog", { name: "north" });
      await open.getByRole("tab", { name: "Health" }).click();
      await open.getByRole("row", { name: /transceiver.*Bound/ }).waitFor();
      await open.getByText("Unlimited").waitFor();
      await open.getByRole("button", { name: "Test bind" }).click();
      await open
        .locator("[data-outcome=bound]")
        .getByText(/^Bind succeeded, after/)
        .waitFor();
      await open.getByText(/Its system_id is heliograph/).waitFor();
      expect(await north()).toMatchObject({ adapter: "smpp", smpp: { host: "127.0.0.1", port: smsc.port, chain: [] } });

      await page.keyboard.press("Escape");
      await page.getByRole("row", { name: /north.*SMPP.*Up/ }).waitFor();
      expect(complaints.filter((complaint) => !REFUSED.test(complaint))).toEqual([]);
    });
  });

  test("changes only the edited fields, and keeps its password until a new one is given", async () => {
    const { id } = await north();
    await dashboard.visit(`/operations/carriers?open=${id}`, async ({ page }) => {
      const open = page.getByRole("dialog", { name: "north" });
      const sent = page.waitForRequest((each) => each.method() === "PATCH");
      await open.getByRole("textbox", { name: "Window" }).fill("20");
      expect(await open.getByRole("textbox", { name: "Password" }).inputValue()).toBe("");
      await save(open);
      expect((await sent).postDataJSON()).toEqual({ smpp: { window: 20 } });
      await open.waitFor({ state: "detached" });

      await page.getByRole("button", { name: "north", exact: true }).click();
      const again = page.waitForRequest((each) => each.method() === "PATCH");
      await open.getByRole("textbox", { name: "Password" }).fill("wrong");
      await save(open);
      expect((await again).postDataJSON()).toEqual({ smpp: { password: "wrong" } });
      await open.waitFor({ state: "detached" });

      await page.getByRole("button", { name: "north", exact: true }).click();
      await open.getByRole("tab", { name: "Health" }).click();
      await open.getByRole("button", { name: "Test bind" }).click();
      await open
        .locator("[data-outcome=refused]")
        .getByText(/^Refused by the carrier, after/)
        .waitFor();
      await dashboard.server.request("PATCH", `/api/carriers/${id}`, { smpp: { password: "secret" } });
      await open.getByRole("button", { name: "Test bind" }).click();
      await open.locator("[data-outcome=bound]").waitFor();
    });
  });

  test("has rare settings below Advanced, and shows each fault at its row", async () => {
    const { id } = await north();
    await dashboard.visit(`/operations/carriers?open=${id}`, async ({ page, errors: complaints }) => {
      const open = page.getByRole("dialog", { name: "north" });
      await open.getByRole("button", { name: "Advanced" }).click();
      await open.getByLabel("TON of: Recipient").fill("2");
      await open.getByRole("textbox", { name: "PROMO" }).fill("1");
      const submits = open.getByRole("group", { name: "Submit parameters (TLV)" });
      await submits.getByRole("button", { name: "Add parameter" }).click();
      await submits.getByRole("textbox", { name: "Tag, row 1" }).fill("dlt");
      await choose(submits, "Value, row 1", "Constant");
      await submits.getByRole("textbox", { name: "Constant, row 1" }).fill("1101");
      const receipts = open.getByRole("group", { name: "Receipt parameters (TLV)" });
      await receipts.getByRole("button", { name: "Add parameter" }).click();
      await receipts.getByRole("textbox", { name: "Tag, row 1" }).fill("0x1401");
      const refusals = open.getByRole("group", { name: "Meaning of command_status" });
      await refusals.getByRole("button", { name: "Add status" }).click();
      await refusals.getByRole("textbox", { name: "command_status, row 1" }).fill("0x45");
      await choose(refusals, "Meaning, row 1", "Use another carrier");
      await save(open);
      await submits.getByText(/^tag must be a number from 0 to 65535/).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await submits.getByRole("textbox", { name: "Tag, row 1" }).fill("0x1400");
      await save(open);
      await open.waitFor({ state: "detached" });
      expect(await north()).toMatchObject({
        smpp: {
          addresses: { recipient: { ton: 2, npi: 1 }, alphanumeric: { ton: 5, npi: 0 } },
          priorities: { OTP: 2, TRANS: 1, PROMO: 1 },
          tlvs: [{ tag: 0x1400, type: "cstring", source: { literal: "1101" } }],
          receiptTlvs: [{ tag: 0x1401, type: "cstring", field: "operator" }],
          statusPolicy: { "0x45": "carrier" },
        },
      });

      await page.getByRole("button", { name: "north", exact: true }).click();
      await open.getByRole("button", { name: "Advanced" }).click();
      expect(await submits.getByRole("textbox", { name: "Tag, row 1" }).inputValue()).toBe("0x1400");
      await submits.getByRole("button", { name: "Remove row 1 of Submit parameters (TLV)" }).click();
      await save(open);
      await open.waitFor({ state: "detached" });
      expect(await north()).toMatchObject({ smpp: { tlvs: [] } });
      expect(complaints.filter((complaint) => !REFUSED.test(complaint))).toEqual([]);
    });
  });

  test("and its health are accessible, light and dark, on a screen and on a phone", async () => {
    const { id } = await north();
    await dashboard.visit(`/operations/carriers?open=${id}`, async ({ page }) => {
      const open = page.getByRole("dialog", { name: "north" });
      await open.getByRole("switch", { name: "TLS" }).click({ force: true });
      await open.getByLabel("CA certificates").waitFor();
      for (const tab of ["Settings", "Health"]) {
        await open.getByRole("tab", { name: tab }).click();
        if (tab === "Health") await open.getByRole("group", { name: "Binds" }).waitFor();
        expect(await faultsInAllVariants(page)).toEqual([]);
      }
    });
  });
});

describe("receipts that match no message", () => {
  /** So long ago that no job matches them any more, and not so long that they are forgotten. */
  const parkedAt = Date.now() - 2 * 3_600_000;

  test("are listed, matched again one by one or all at once, and removed", async () => {
    const { store } = dashboard.server.app;
    const path = "/operations/carriers?tab=receipts";
    await dashboard.visit(path, async ({ page, errors: complaints }) => {
      await page.getByText(/^All receipts match a message/).waitFor();
      const said = {
        state: "delivered",
        errorCode: "000",
        description: "Delivered to the phone",
        at: 1767225600000,
      } as const;
      const receipts = ["abc1", "abc2"].map((carrierMessageId) => ({ ...said, carrier: "1/north", carrierMessageId }));
      await store.storeUnmatched(receipts, parkedAt);
      await page.reload();
      const row = page.getByRole("row", { name: /abc1/ });
      await row.getByRole("button", { name: "Retry match" }).click();
      await page.getByText("No message has the carrier message ID abc1.").waitFor();
      await page.getByRole("button", { name: "Retry all" }).click();
      await page.getByText("0 of 2 matched.").waitFor();
      await settled(page);
      expect(await faultsInAllVariants(page)).toEqual([]);

      for (const name of [/abc1/, /abc2/]) {
        const each = page.getByRole("row", { name });
        await each.getByRole("button", { name: "Remove" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
        await each.waitFor({ state: "detached" });
      }
      await page.getByText(/^All receipts match a message/).waitFor();
      expect(await first("/api/receipts")).toEqual({ id: "" });
      expect(complaints).toEqual([]);
    });
  });

  test("a row that another user removed leaves the list when it is removed again", async () => {
    const { store } = dashboard.server.app;
    const receipt = { state: "delivered", errorCode: "000", description: "Delivered", at: Date.now() } as const;
    await store.storeUnmatched([{ ...receipt, carrier: "1/north", carrierMessageId: "abc3" }], parkedAt);
    await dashboard.visit("/operations/carriers?tab=receipts", async ({ page }) => {
      const row = page.getByRole("row", { name: /abc3/ });
      await row.getByRole("button", { name: "Remove" }).click();
      const [parked] = (await store.listUnmatched({ accountId: 1 }, null, 10)).rows;
      expect(parked?.receipt.carrierMessageId).toBe("abc3");
      expect(await store.removeUnmatched(1, parked?.id ?? 0)).toBe(true);
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await row.waitFor({ state: "detached" });
    });
  });
});

describe("opt-outs", () => {
  test("are imported in steps, malformed numbers are skipped, and the import can be stopped", async () => {
    await dashboard.visit("/operations/opt-outs", async ({ page }) => {
      await page.getByRole("button", { name: "Import" }).click();
      const form = page.getByRole("dialog", { name: "Import opt-outs" });
      await form.getByLabel("Numbers").fill('number,why\n15550100151,"asked"\n12\n+1 555 010 0152');
      await form.getByRole("button", { name: "Import 3" }).click();
      await form.getByText("2 numbers are on the list.").waitFor();
      await form.getByText("1 are not phone numbers and were skipped:").waitFor();

      // The second step never comes to an end.
      let steps = 0;
      await page.route("**/api/optouts", (route) => (++steps > 1 ? undefined : route.continue()));
      await form.getByLabel("Numbers").fill(Array.from({ length: 600 }, (_, n) => 15550200000 + n).join("\n"));
      await form.getByRole("button", { name: "Import 600" }).click();
      await form.getByText("500 of 600 are on the list…").waitFor();
      await form.getByRole("button", { name: "Stop" }).click();
      await form.getByText("Stopped. 500 of 600 are on the list…").waitFor();
      await page.unroute("**/api/optouts");
      await page.keyboard.press("Escape");
      await form.waitFor({ state: "detached" });

      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export CSV" }).click();
      const done = await page.getByText(/^Done: \d+ opt-outs in the file\.$/).innerText();
      const lines = (await readFile(await (await download).path(), "utf8")).trimEnd().split("\r\n");
      expect(done).toBe(`Done: ${lines.length - 1} opt-outs in the file.`);
      expect(lines.length).toBeGreaterThan(502);
      expect(lines).toContainEqual(expect.stringMatching(/^15550100151,manual,/));
      // Another one is stopped before its second page.
      await page.getByRole("button", { name: "Close", exact: true }).last().click();
      await page.route(/api\/optouts.*cursor=/, () => undefined);
      await page.getByRole("button", { name: "Export CSV" }).click();
      await page.getByText(/^200 opt-outs, as far as 1555/).waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByText("Stopped. The file has the first 200 opt-outs.").waitFor();
      await page.unroute(/api\/optouts.*cursor=/);
      await page.keyboard.press("Escape");

      await page.getByLabel("Find a number").fill("15550100152");
      await expect.poll(() => page.getByRole("row").count()).toBe(2);
      await page.getByRole("button", { name: "Remove" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await page.getByText("15550100152 is not on the list").waitFor();
      expect(new URL(page.url()).search).toBe("?number=15550100152");
    });
  });

  test("a row that another user removed leaves the list when it is removed again", async () => {
    await dashboard.server.request("POST", "/api/optouts", { number: "15550100010" });
    await dashboard.visit("/operations/opt-outs", async ({ page }) => {
      const row = page.getByRole("row", { name: /15550100010/ });
      await row.getByRole("button", { name: "Remove" }).click();
      await dashboard.server.request("DELETE", "/api/optouts/15550100010");
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await row.waitFor({ state: "detached" });
      expect(await row.count()).toBe(0);
    });
  });
});

describe("the login area", () => {
  test("creates a key that shows once and works, rotates and revokes it", async () => {
    await dashboard.visit("/account/keys", async ({ page }) => {
      await page.getByRole("button", { name: "Create key" }).click();
      const form = page.getByRole("dialog", { name: "Create key" });
      await form.getByLabel("Name").fill("shop");
      await save(form);
      const secret = page.getByRole("dialog", { name: "Your new key" });
      const key = await secret.locator("pre").innerText();
      await secret.getByRole("button", { name: "I've saved it" }).click();
      expect((await dashboard.server.send({}, { apikey: key })).status).toBe(200);

      const act = async (what: string, yes: string): Promise<void> => {
        await page.getByRole("button", { name: "shop", exact: true }).last().click();
        await page.getByRole("dialog", { name: "shop" }).getByRole("button", { name: what, exact: true }).click();
        await page.getByRole("button", { name: yes }).click();
      };
      await act("Rotate", "Rotate key");
      const next = await secret.locator("pre").innerText();
      expect(next).not.toBe(key);
      await secret.getByRole("button", { name: "I've saved it" }).click();
      await act("Revoke", "Revoke key");
      await page.getByText("Revoked").first().waitFor();
    });
  });

  test("creates a credential whose password shows once, and revokes it", async () => {
    await dashboard.visit("/developers/credentials", async ({ page }) => {
      await page.getByRole("button", { name: "Create credential" }).first().click();
      const form = page.getByRole("dialog", { name: "Create credential" });
      await form.getByLabel("Name").fill("gateway");
      await save(form);
      const secret = page.getByRole("dialog", { name: "New credential" });
      expect(await secret.locator("pre").innerText()).toMatch(/^[0-9A-Za-z]{20}$/);
      await secret.getByText(/kannel[0-9a-z]{8}/).waitFor();
      await secret.getByRole("button", { name: "I've saved it" }).click();
      await page.getByRole("button", { name: "gateway", exact: true }).click();
      const open = page.getByRole("dialog", { name: "gateway" });
      await open.getByRole("button", { name: "Revoke", exact: true }).click();
      await page.getByRole("button", { name: "Revoke credential" }).click();
      await page.getByText("Revoked").first().waitFor();
    });
  });

  test("makes a hook whose secret and settings show once, sees its product in the log, and revokes it", async () => {
    await dashboard.visit("/developers/identity-products", async ({ page }) => {
      await page.getByRole("button", { name: "Create hook" }).first().click();
      const form = page.getByRole("dialog", { name: "Create hook" });
      await choose(form, "Product", "Auth0");
      await form.getByLabel("Name").fill("sign-in");
      await save(form);
      const shown = page.getByRole("dialog", { name: "New hook" });
      const secret = await shown.locator("pre").innerText();
      expect(secret).toMatch(/^whsec_/);
      const settings = shown.getByRole("table", { name: "Settings" });
      await settings.getByRole("row", { name: "Action secret HELIOGRAPH_SECRET" }).getByText(secret).waitFor();
      const url = await settings.getByRole("row", { name: "Action secret HELIOGRAPH_URL" }).locator("code").innerText();
      await shown.getByRole("button", { name: "I've saved it" }).click();
      const response = await fetch(dashboard.server.url + new URL(url).pathname, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}` },
        body: JSON.stringify({ recipient: "+15550109700", code: "739204" }),
      });
      expect(response.status).toBe(200);

      await page.goto(`${dashboard.server.url}/verify?source=auth0`);
      await page.getByRole("cell", { name: "auth0", exact: true }).waitFor();

      await page.goto(`${dashboard.server.url}/developers/identity-products`);
      await page.getByRole("button", { name: "sign-in", exact: true }).click();
      const open = page.getByRole("dialog", { name: "sign-in" });
      await open.getByLabel("Secret of the product").waitFor();
      await open.getByRole("button", { name: "Revoke", exact: true }).click();
      await page.getByRole("button", { name: "Revoke hook" }).click();
      await page.getByText("Revoked").first().waitFor();
    });
  });

  test("adds a person, whose invitation link shows once", async () => {
    await dashboard.visit("/account/users", async ({ page }) => {
      await page.getByRole("button", { name: "Add user" }).click();
      const form = page.getByRole("dialog", { name: "Add user" });
      await form.getByLabel("E-mail").fill("ann@example.com");
      await save(form);
      const link = await page.getByRole("dialog", { name: "Invitation link" }).locator("pre").innerText();
      expect(link).toContain("/invitation#");
      await page.getByRole("dialog", { name: "Invitation link" }).getByRole("button", { name: "Close" }).click();
      await page.getByRole("cell", { name: "ann@example.com" }).waitFor();
      await page.goto(`${dashboard.server.url}/account/audit?what=users`);
      await page.getByRole("cell", { name: "POST /api/users" }).first().waitFor();
    });
  });
});

test("the settings have the guards of money and people, each on or off as a whole", async () => {
  await dashboard.visit("/account/settings", async ({ page, errors: complaints }) => {
    const form = page.getByRole("region", { name: "Settings" });
    const sent = page.waitForRequest((each) => each.method() === "PATCH");
    await form.getByRole("switch", { name: "Duplicate filter" }).click({ force: true });
    await form.getByRole("textbox", { name: "Max codes per day" }).fill("5000");
    await form.getByRole("button", { name: "Save" }).click();
    expect((await sent).postDataJSON()).toMatchObject({ sameText: null, otpGuard: { sendsPerDay: 5000 } });
    await page.getByText("Saved", { exact: true }).waitFor();
    const { body } = await dashboard.server.request("GET", "/api/account");
    expect(body).toMatchObject({ sameText: null, otpGuard: { sendsPerDay: 5000, conversionPercent: 20 } });
    await form.getByRole("switch", { name: "Duplicate filter" }).click({ force: true });
    await form.getByRole("textbox", { name: "Maximum messages" }).fill("4");
    await form.getByRole("button", { name: "Save" }).click();
    await expect
      .poll(async () => (await dashboard.server.request<{ sameText: unknown }>("GET", "/api/account")).body.sameText)
      .toEqual({ max: 4, windowSeconds: 60 });
    expect(complaints).toEqual([]);
  });
});

describe("the set-up file", () => {
  test("shows its changes before they are applied", async () => {
    await dashboard.visit("/operations/set-up", async ({ page }) => {
      await page.getByLabel("File", { exact: true }).fill("{ not json");
      await page.getByRole("button", { name: "Preview changes" }).click();
      await page.getByText(/^Invalid JSON:/).waitFor();
      await page
        .getByLabel("File", { exact: true })
        .fill('{ "settings": { "zone": "Asia/Kolkata" }, "bots": [{ "name": "only-one" }] }');
      await page.getByRole("button", { name: "Preview changes" }).click();
      await page.locator("[data-plan=Created]").getByText("bots: only-one").waitFor();
      await page.locator("[data-plan=Removed]").getByText("bots: heliograph").waitFor();
      await page.locator("[data-plan=Changed]").getByText('"Asia/Kolkata"').waitFor();
      expect(await first("/api/bots?name=only-one")).toEqual({ id: "" });
      await page.getByRole("button", { name: "Apply", exact: true }).click();
      await page.getByRole("button", { name: "Apply file" }).click();
      await page.getByText("The account now matches the file.").waitFor();
      expect(await first("/api/bots?name=only-one")).toMatchObject({ name: "only-one" });
    });
  });
});

describe("a campaign", () => {
  test("shows reasons of failures and clicks, and can be paused, resumed and cancelled", async () => {
    await dashboard.visit(`/campaigns/${campaignId}`, async ({ page }) => {
      await page.locator('[data-bar="The phone could not be reached"]').waitFor();
      await page.getByRole("link", { name: "https://shop.example/coats" }).waitFor();
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByRole("button", { name: "Pause" }).waitFor();
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
      await page.getByRole("button", { name: "Cancel campaign" }).click();
      // The badge: the question itself has the word too.
      await page.getByText("Cancelled", { exact: true }).first().waitFor();
      expect(await first("/api/campaigns")).toMatchObject({ name: "autumn", status: "cancelled" });
    });
  });
});

test("viewers see forbidden actions with the reason, and masked numbers", async () => {
  await dashboard.visit(
    "/rcs/utility/webhook",
    async ({ page, errors: complaints }) => {
      const add = page.getByRole("button", { name: "Add Webhook" }).first();
      expect(await add.getAttribute("aria-disabled")).toBe("true");
      await add.focus();
      await page
        .getByRole("tooltip")
        .getByText("Your role (viewer) is read-only. Members and owners can do this.")
        .waitFor();
      await add.click({ force: true });
      expect(await page.getByRole("dialog").count()).toBe(0);

      await page.goto(`${dashboard.server.url}/operations/opt-outs`);
      await page
        .getByRole("cell", { name: /\*+0150/ })
        .first()
        .waitFor();
      await page.goto(`${dashboard.server.url}/account/users`);
      await page.getByText("Only owners can see this page", { exact: false }).waitFor();
      await page.goto(`${dashboard.server.url}/operations/carriers?tab=routes`);
      await page.getByRole("button", { name: "Everything to the simulator" }).click();
      expect(await page.getByRole("dialog").getByLabel("Name").isDisabled()).toBe(true);
      expect(await faultsOf(page)).toEqual([]);
      expect(complaints).toEqual([]);
    },
    VIEWER,
  );
});

/** Every page, with what its heading says. */
const PAGES: readonly { path: string | (() => string); heading: string }[] = [
  { path: "/rcs/utility/webhook", heading: "RCS webhook" },
  { path: "/message-app/utility-manager/dlr-push-configuration", heading: "DLR Push Configuration" },
  { path: "/operations/callbacks", heading: "Webhook deliveries" },
  { path: "/message-app/templates", heading: "SMS templates" },
  { path: "/chat-app/templates/new", heading: "New template" },
  { path: () => `/rcs/templates/${templateId}`, heading: "new-arrivals" },
  { path: "/rcs/bots", heading: "Bots" },
  { path: "/verify", heading: "Verify" },
  { path: "/verify?tab=configurations&open=new", heading: "Verify" },
  { path: "/verify?tab=blocks", heading: "Verify" },
  { path: "/verify?tab=test-numbers", heading: "Verify" },
  { path: "/verify?tab=webhook", heading: "Verify" },
  { path: "/campaigns", heading: "Campaigns" },
  { path: () => `/campaigns/${campaignId}`, heading: "autumn" },
  { path: "/message-app/links", heading: "Short links" },
  { path: () => `/message-app/links?open=${linkId}`, heading: "Short links" },
  { path: "/operations/opt-outs", heading: "Opt-outs" },
  { path: "/operations/credits", heading: "Credits" },
  { path: "/operations/credits?tab=prices", heading: "Credits" },
  { path: "/operations/carriers", heading: "Carriers and routes" },
  { path: "/operations/carriers?tab=routes&open=new", heading: "Carriers and routes" },
  { path: "/operations/carriers?tab=receipts", heading: "Carriers and routes" },
  { path: "/operations/set-up", heading: "Set-up file" },
  { path: "/operations/alerts", heading: "Alerts" },
  { path: "/operations/alerts?tab=rules", heading: "Alerts" },
  { path: "/operations/system", heading: "System" },
  { path: "/developers/credentials?open=new", heading: "Credentials" },
  { path: "/developers/identity-products?open=new", heading: "Identity products" },
  { path: "/developers/smpp-clients", heading: "SMPP clients" },
  { path: "/developers/agent-sends", heading: "Agent sends" },
  { path: "/account/keys?open=new", heading: "API keys" },
  { path: "/account/users", heading: "Users" },
  { path: "/account/audit", heading: "Audit log" },
  { path: "/account/settings", heading: "Settings" },
];

const DESK = { width: 1280, height: 900 };

test.for(PAGES.map((page, index) => ({ ...page, name: `${index + 1}: ${page.heading}` })))(
  "page $name is clean and accessible, light and dark, at 1280 pixels and at 390",
  async ({ path, heading }) => {
    await dashboard.visit(
      typeof path === "string" ? path : path(),
      async ({ page, errors: complaints, foreignRequests: strangers }) => {
        await page.setViewportSize(DESK);
        expect(await page.getByRole("heading", { level: 1, includeHidden: true }).allTextContents()).toEqual([heading]);
        expect(await faultsInAllVariants(page)).toEqual([]);
        expect(complaints).toEqual([]);
        expect(strangers).toEqual([]);
      },
    );
  },
);
