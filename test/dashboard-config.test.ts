import { readFile } from "node:fs/promises";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { choose, faultsInAllGuises, faultsOf, openDashboard, settled, type Dashboard } from "./support/browser.ts";
import { systemClock } from "../src/lib/clock.ts";
import { Smsc } from "../src/smsc/smsc.ts";
import type { Envelope } from "./support/house.ts";
import { openSink, type Sink } from "./support/sink.ts";

/** As long as the browser waits for anything: the machine may be busy. */
const PATIENT = { timeout: 12_000 };

const VIEWER = { email: "viewer@example.com", password: "a few words in a row" };

let dashboard: Dashboard;
let sink: Sink;
let smsc: Smsc;
let campaignId = "";
let linkId = "";
let templateId = "";

beforeAll(async () => {
  sink = await openSink();
  smsc = await Smsc.open({ port: 0, clock: systemClock, whims: { systemId: "shop", password: "secret" } });
  dashboard = await openDashboard();
  const { house } = dashboard;
  await house.ask("POST", "/api/users", { ...VIEWER, role: "viewer" });
  const sent = await house.ask<Envelope>("POST", "/v1/sms", {
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
  await house.ask("POST", "/v1/verify", { configId: "default", to: "15550100110" });
  await house.ask("POST", "/api/optouts", { number: "15550100150", note: "asked by phone" });
  await house.ask("POST", "/api/dlr-configs", { name: "Reports", url: `${sink.url}/reports` });
  const told = await house.send({ to: "15550100101" });
  await house.settled(told.body.data[0]?.messageId ?? "");
  await sink.until(1);
}, 60_000);
afterAll(async () => {
  await dashboard?.close();
  await sink?.close();
  await smsc?.close();
});

async function first(path: string): Promise<{ id: string } & Record<string, unknown>> {
  const { body } = await dashboard.house.ask<{ data: ({ id: string } & Record<string, unknown>)[] }>("GET", path);
  return body.data[0] ?? { id: "" };
}

/** The words above a field, with or without the mark of what must be given. */
const labelled = (form: Locator, label: string): Locator => form.getByText(new RegExp(`^${label}( \\*)?$`)).first();

const save = (form: Locator): Promise<void> => form.locator("button[type=submit]").click();

/** What the server refused, and the page has shown beside a field. */
const REFUSED = /the server responded with a status of (400|404|409)/;

describe("RCS → Utility → Webhook → Add Webhook", () => {
  test("makes a webhook whose secret shows once, and tries it out", async () => {
    await dashboard.visit("/start", async ({ page, complaints, strangers }) => {
      const nav = page.getByRole("navigation", { name: "Main" });
      await nav.getByRole("button", { name: "RCS", exact: true }).click();
      await nav.getByRole("button", { name: "Utility", exact: true }).waitFor();
      await nav.getByRole("link", { name: "Webhook", exact: true }).click();
      await page.getByRole("button", { name: "Add Webhook" }).click();
      const form = page.getByRole("dialog", { name: "Add Webhook" });
      for (const label of ["Name", "Method", "End Point", "Events"]) await labelled(form, label).waitFor();

      // What is missing is said at its field, in the server's words.
      await save(form);
      await form.getByText("name must have at least 1 character.").waitFor();
      await form.getByLabel("Name").fill("Shop");
      await form.getByLabel("End Point").fill(`${sink.url}/rcs`);
      await form.getByLabel(/message_status/).uncheck();
      expect(await faultsOf(page)).toEqual([]);
      await save(form);

      const secret = page.getByRole("dialog", { name: "The secret that signs" });
      expect(await secret.locator("pre").first().innerText()).toMatch(/^whsec_/);
      await secret.getByRole("button", { name: "I have kept it" }).click();

      const open = page.getByRole("dialog", { name: "Shop" });
      await open.getByRole("tab", { name: "Preview and test" }).click();
      await open.getByText(/webhook-signature: v1,/).waitFor();
      await open.getByRole("button", { name: "Send a test event" }).click();
      await open.getByText(/^Your server answered 200 in/).waitFor();
      expect(sink.heard.at(-1)).toMatchObject({ path: "/rcs", body: { channel: "rcs", event: "user_message" } });

      await open.getByRole("tab", { name: "Secret" }).click();
      await open.getByRole("button", { name: "Rotate the secret" }).click();
      await page.getByRole("button", { name: "Make it", exact: true }).click();
      await page.getByRole("button", { name: "I have kept it" }).click();
      await open.getByText("Two secrets sign").waitFor();

      await open.getByRole("tab", { name: "Health" }).click();
      await open.getByRole("button", { name: "Switch it off" }).click();
      await open.getByRole("button", { name: "Switch it on" }).waitFor();
      expect(await first("/api/webhooks")).toMatchObject({ name: "Shop", enabled: false, events: ["user_message"] });

      // A name is unique, and the message stands at the field.
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Add Webhook" }).click();
      await form.getByLabel("Name").fill("Shop");
      await form.getByLabel("End Point").fill(`${sink.url}/again`);
      await save(form);
      const fault = 'There is a webhook "Shop" already: use another name, or change that one.';
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
        await page.getByRole("button", { name: "I have kept it" }).click();
      });
    }
    expect(await first("/api/webhooks?name=link_click")).toMatchObject({ channel: "sms" });
    expect(await first("/api/webhooks?name=verification_status")).toMatchObject({ channel: "verify" });
    expect(await first("/api/webhooks?name=message_sent")).toMatchObject({ channel: "chatapp" });
  });
});

describe("Message app → Utility Manager → DLR Push Configuration → Add Configuration", () => {
  test("makes a configuration whose sample is what the server sends", async () => {
    await dashboard.visit("/start", async ({ page, complaints }) => {
      const nav = page.getByRole("navigation", { name: "Main" });
      await nav.getByRole("button", { name: "Message app", exact: true }).click();
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
      await form.getByText('There is a dlr-config "Reports" already: use another name, or change that one.').waitFor();
      await form.getByLabel("Name").fill("Two fields");
      expect(await faultsOf(page)).toEqual([]);
      const written = await sample.getByRole("group", { name: "Body" }).innerText();
      await save(form);
      await page.getByRole("button", { name: "I have kept it" }).click();

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
  test("show every try, and send again one of them or all that failed", async () => {
    const { house } = dashboard;
    // A server that says it is gone is switched off, and what it was told has failed for good.
    sink.answer(({ path }, response) => void response.writeHead(path === "/gone" ? 410 : 200).end("what it says"));
    const made = await house.ask<{ id: string }>("POST", "/api/dlr-configs", { name: "Gone", url: `${sink.url}/gone` });
    await house.send({ to: "15550100102" });
    const toGone = (): number => sink.heard.filter(({ path }) => path === "/gone").length;
    const path = `/operations/callbacks?endpointId=${made.body.id}&state=exhausted`;
    await expect.poll(() => first(`/api${path.slice("/operations".length)}`), PATIENT).toMatchObject({ tries: 1 });
    sink.answer((_heard, response) => void response.writeHead(200).end());
    await dashboard.visit(path, async ({ page, complaints }) => {
      await page.getByRole("button", { name: "delivery_report delivered" }).click();
      const open = page.getByRole("dialog");
      await open.getByText(/webhook-signature: v1,/).waitFor();
      await open.getByRole("cell", { name: /410.*what it says/ }).waitFor();
      await open.getByRole("button", { name: "Send it again" }).click();
      await open.getByText(/NOT_RESENDABLE/).waitFor();
      await page.keyboard.press("Escape");

      await house.ask("PATCH", `/api/dlr-configs/${made.body.id}`, { enabled: true });
      await page.reload();
      await page.getByRole("button", { name: "Resend what failed" }).click();
      const since = page.getByRole("dialog", { name: "Resend what failed since" });
      await since.getByRole("button", { name: "Resend", exact: true }).click();
      await since.getByText("1 callback goes out again.").waitFor();
      await expect.poll(toGone, PATIENT).toBe(2);

      await page.goto(`${house.url}/operations/callbacks?endpointId=${made.body.id}`);
      await page.getByRole("button", { name: "delivery_report delivered" }).click();
      await open.getByRole("button", { name: "Send it again" }).click();
      await expect.poll(toGone, PATIENT).toBe(3);
      expect(complaints.filter((complaint) => !REFUSED.test(complaint))).toEqual([]);
    });
  });
});

describe("templates", () => {
  test("are written beside the phone that shows them, saved and sent", async () => {
    await dashboard.visit("/rcs/templates/new", async ({ page, complaints }) => {
      const phone = page.getByRole("region", { name: "Preview" });
      const form = page.getByRole("region", { name: "Template", exact: true });
      await form.getByLabel("Name").fill("how-was-it");
      await choose(form, "Kind", "Text with something to tap");
      await form.getByLabel("Text", { exact: false }).first().fill("Hello ");
      await form.getByRole("button", { name: "Variable" }).click();
      await form.getByRole("button", { name: "Suggestion" }).click();
      await form.getByRole("group", { name: "Suggestion 1" }).getByLabel("Words").fill("Very well");
      await page.getByLabel("Value 1").fill("Grace");
      await phone.getByText("Hello Grace").waitFor();
      await phone.getByRole("button", { name: "Very well" }).waitFor();
      await save(form);
      await page.getByRole("heading", { name: "how-was-it" }).waitFor();
      await page.getByRole("button", { name: "Send a test" }).click();
      await page.getByText("It is on its way").waitFor();
      expect(await first("/api/templates?channel=rcs&name=how-was-it")).toMatchObject({
        kind: "rich",
        text: "Hello {{1}}",
        suggestions: [{ type: "reply", text: "Very well" }],
      });
      expect(complaints).toEqual([]);
    });
  });

  test("say at the field what is wrong with them, also deep inside", async () => {
    await dashboard.visit("/chat-app/templates/new", async ({ page }) => {
      const form = page.getByRole("region", { name: "Template", exact: true });
      await form.getByLabel("Name").fill("visit_us");
      await form.getByLabel("Body").fill("See what is new.");
      await choose(form, "Header", "An image");
      await form.getByRole("button", { name: "Button" }).click();
      const button = form.getByRole("group", { name: "Button 1" });
      await button.getByLabel("Words").fill("Open");
      await choose(button, "When tapped", "Opens a page");
      await button.getByLabel("Page").fill("no address");
      await save(form);
      await button.locator("[id$=error]").first().waitFor();
      await button.getByLabel("Page").fill("https://shop.example/new");
      await save(form);
      await page.getByRole("heading", { name: "visit_us" }).waitFor();
      await page.getByRole("button", { name: "Send a test" }).click();
      await page.getByText("It is on its way").waitFor();
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
        else await form.getByText(/already: use another name/).waitFor();
      }
      expect(await form.getByLabel(label, { exact: false }).first().getAttribute("aria-invalid")).toBe("true");
    });
  });

  test("a route, a price and credits are made; what is changed is all that is sent", async () => {
    await dashboard.visit("/operations/carriers?tab=routes", async ({ page }) => {
      await page.getByRole("button", { name: "Add route" }).click();
      const form = page.getByRole("dialog", { name: "Add route" });
      await form.getByLabel("Name").fill("India");
      await form.getByLabel("Numbers that begin with").pressSequentially("91 ");
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
      await price.getByLabel("Numbers that begin with").fill("91");
      await save(price);
      await page.getByRole("cell", { name: "91…" }).waitFor();
    });
  });
});

describe("a carrier over SMPP", () => {
  const north = () => first("/api/carriers?name=north");

  test("is added by the form, shows that it is bound, and can be tried", async () => {
    await dashboard.visit("/operations/carriers?open=new", async ({ page, complaints }) => {
      const form = page.getByRole("dialog", { name: "Add carrier" });
      await form.getByLabel("Name", { exact: false }).first().fill("north");
      await choose(form, "It speaks", "SMPP");
      await form.getByRole("textbox", { name: "Host" }).fill("http://127.0.0.1");
      await form.getByRole("textbox", { name: "System id" }).fill("shop");
      await form.getByRole("textbox", { name: "Port" }).fill(String(smsc.port));
      await form.getByRole("textbox", { name: "Password" }).fill("secret");

      // What is wrong within the line is said at its input, also below "More settings".
      await form.getByRole("button", { name: "More settings" }).click();
      await form.getByLabel("Chain of telemarketers").pressSequentially("a-b ");
      await save(form);
      await form.getByText(/^host is a name or an address/).waitFor();
      await form.getByText(/^An id has letters and digits only/).waitFor();
      expect(await form.getByRole("textbox", { name: "Host" }).getAttribute("aria-invalid")).toBe("true");
      expect(await faultsOf(page)).toEqual([]);
      await form.getByRole("textbox", { name: "Host" }).fill("127.0.0.1");
      await form.getByLabel("Chain of telemarketers").press("Backspace");
      await save(form);

      const open = page.getByRole("dialog", { name: "north" });
      await open.getByRole("tab", { name: "Health" }).click();
      await open.getByRole("row", { name: /transceiver.*Bound/ }).waitFor();
      await open.getByText("as fast as it goes").waitFor();
      await open.getByRole("button", { name: "Try to bind" }).click();
      await open
        .locator("[data-outcome=bound]")
        .getByText(/^It can be bound, after/)
        .waitFor();
      await open.getByText(/It calls itself heliograph/).waitFor();
      expect(await north()).toMatchObject({ adapter: "smpp", smpp: { host: "127.0.0.1", port: smsc.port, chain: [] } });

      await page.keyboard.press("Escape");
      await page.getByRole("row", { name: /north.*SMPP.*Up/ }).waitFor();
      expect(complaints.filter((complaint) => !REFUSED.test(complaint))).toEqual([]);
    });
  });

  test("is changed in what was written anew, and keeps its password until another is given", async () => {
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
      await open.getByRole("button", { name: "Try to bind" }).click();
      await open
        .locator("[data-outcome=refused]")
        .getByText(/^The carrier refused, after/)
        .waitFor();
      await dashboard.house.ask("PATCH", `/api/carriers/${id}`, { smpp: { password: "secret" } });
      await open.getByRole("button", { name: "Try to bind" }).click();
      await open.locator("[data-outcome=bound]").waitFor();
    });
  });

  test("has what few carriers need below Advanced, with what is wrong at its row", async () => {
    const { id } = await north();
    await dashboard.visit(`/operations/carriers?open=${id}`, async ({ page, complaints }) => {
      const open = page.getByRole("dialog", { name: "north" });
      await open.getByRole("button", { name: "Advanced" }).click();
      await open.getByLabel("TON of: The recipient").fill("2");
      await open.getByRole("textbox", { name: "PROMO" }).fill("1");
      const submits = open.getByRole("group", { name: "Parameters of submits" });
      await submits.getByRole("button", { name: "Add a parameter" }).click();
      await submits.getByRole("textbox", { name: "Tag, row 1" }).fill("dlt");
      await choose(submits, "Value, row 1", "Always the same");
      await submits.getByRole("textbox", { name: "The same, row 1" }).fill("1101");
      const receipts = open.getByRole("group", { name: "Parameters of receipts" });
      await receipts.getByRole("button", { name: "Add a parameter" }).click();
      await receipts.getByRole("textbox", { name: "Tag, row 1" }).fill("0x1401");
      const refusals = open.getByRole("group", { name: "What a refusal means" });
      await refusals.getByRole("button", { name: "Add a status" }).click();
      await refusals.getByRole("textbox", { name: "command_status, row 1" }).fill("0x45");
      await choose(refusals, "It means, row 1", "Take another carrier");
      await save(open);
      await submits.getByText(/^tag is a number from 0 to 65535/).waitFor();
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
      await submits.getByRole("button", { name: "Remove row 1 of Parameters of submits" }).click();
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
      await open.getByLabel("Certificates to trust").waitFor();
      for (const tab of ["Settings", "Health"]) {
        await open.getByRole("tab", { name: tab }).click();
        if (tab === "Health") await open.getByRole("group", { name: "Binds" }).waitFor();
        expect(await faultsInAllGuises(page)).toEqual([]);
      }
    });
  });
});

describe("receipts that match no message", () => {
  /** So long ago that no job matches them any more, and not so long that they are forgotten. */
  const parkedAt = Date.now() - 2 * 3_600_000;

  test("are listed, matched again one by one or all at once, and removed", async () => {
    const { store } = dashboard.house.app;
    const path = "/operations/carriers?tab=receipts";
    await dashboard.visit(path, async ({ page, complaints }) => {
      await page.getByText(/^Every receipt has found its message/).waitFor();
      const said = {
        state: "delivered",
        errorCode: "000",
        description: "Delivered to the phone",
        at: 1767225600000,
      } as const;
      const receipts = ["abc1", "abc2"].map((carrierMessageId) => ({ ...said, carrier: "1/north", carrierMessageId }));
      await store.park(receipts, parkedAt);
      await page.reload();
      const row = page.getByRole("row", { name: /abc1/ });
      await row.getByRole("button", { name: "Match again" }).click();
      await page.getByText("Still nobody knows the id abc1.").waitFor();
      await page.getByRole("button", { name: "Match all again" }).click();
      await page.getByText("0 of 2 have found their message.").waitFor();
      await settled(page);
      expect(await faultsInAllGuises(page)).toEqual([]);

      for (const name of [/abc1/, /abc2/]) {
        const each = page.getByRole("row", { name });
        await each.getByRole("button", { name: "Remove" }).click();
        await page.getByRole("button", { name: "Remove it" }).click();
        await each.waitFor({ state: "detached" });
      }
      await page.getByText(/^Every receipt has found its message/).waitFor();
      expect(await first("/api/receipts")).toEqual({ id: "" });
      expect(complaints).toEqual([]);
    });
  });

  test("one that has gone meanwhile leaves the list when it is to be removed", async () => {
    const { store } = dashboard.house.app;
    const receipt = { state: "delivered", errorCode: "000", description: "Delivered", at: Date.now() } as const;
    await store.park([{ ...receipt, carrier: "1/north", carrierMessageId: "abc3" }], parkedAt);
    await dashboard.visit("/operations/carriers?tab=receipts", async ({ page }) => {
      const row = page.getByRole("row", { name: /abc3/ });
      await row.getByRole("button", { name: "Remove" }).click();
      const [parked] = (await store.listParked({ accountId: 1 }, null, 10)).rows;
      expect(parked?.receipt.carrierMessageId).toBe("abc3");
      expect(await store.removeParked(1, parked?.id ?? 0)).toBe(true);
      await page.getByRole("button", { name: "Remove it" }).click();
      await row.waitFor({ state: "detached" });
    });
  });
});

describe("opt-outs", () => {
  test("are imported in steps, without what is no number, and the import can be stopped", async () => {
    await dashboard.visit("/operations/opt-outs", async ({ page }) => {
      await page.getByRole("button", { name: "Import" }).click();
      const form = page.getByRole("dialog", { name: "Import opt-outs" });
      await form.getByLabel("Numbers").fill('number,why\n15550100151,"asked"\n12\n+1 555 010 0152');
      await form.getByRole("button", { name: "Import 3" }).click();
      await form.getByText("2 numbers are on the list.").waitFor();
      await form.getByText("1 are no phone numbers and were left out:").waitFor();

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

      await page.getByLabel("Is a number on the list?").fill("15550100152");
      await expect.poll(() => page.getByRole("row").count(), PATIENT).toBe(2);
      await page.getByRole("button", { name: "Remove" }).click();
      await page.getByRole("button", { name: "Take it off" }).click();
      await page.getByText("15550100152 is not on the list").waitFor();
      expect(new URL(page.url()).search).toBe("?number=15550100152");
    });
  });

  test("one that has gone meanwhile leaves the list when it is to be removed", async () => {
    await dashboard.house.ask("POST", "/api/optouts", { number: "15550100010" });
    await dashboard.visit("/operations/opt-outs", async ({ page }) => {
      const row = page.getByRole("row", { name: /15550100010/ });
      await row.getByRole("button", { name: "Remove" }).click();
      await dashboard.house.ask("DELETE", "/api/optouts/15550100010");
      await page.getByRole("button", { name: "Take it off" }).click();
      await row.waitFor({ state: "detached" });
      expect(await row.count()).toBe(0);
    });
  });
});

describe("the login area", () => {
  test("makes a key that shows once and works, rotates and revokes it", async () => {
    await dashboard.visit("/account/keys", async ({ page }) => {
      await page.getByRole("button", { name: "Make a key" }).click();
      const form = page.getByRole("dialog", { name: "Make a key" });
      await form.getByLabel("Name").fill("shop");
      await save(form);
      const secret = page.getByRole("dialog", { name: "Your new key" });
      const key = await secret.locator("pre").innerText();
      await secret.getByRole("button", { name: "I have kept it" }).click();
      expect((await dashboard.house.send({}, { apikey: key })).status).toBe(200);

      const act = async (what: string, yes: string): Promise<void> => {
        await page.getByRole("button", { name: "shop", exact: true }).last().click();
        await page.getByRole("dialog", { name: "shop" }).getByRole("button", { name: what, exact: true }).click();
        await page.getByRole("button", { name: yes }).click();
      };
      await act("Rotate", "Rotate it");
      const next = await secret.locator("pre").innerText();
      expect(next).not.toBe(key);
      await secret.getByRole("button", { name: "I have kept it" }).click();
      await act("Revoke", "Revoke it");
      await page.getByText("Revoked").first().waitFor();
    });
  });

  test("adds a person, whose first password shows once", async () => {
    await dashboard.visit("/account/users", async ({ page }) => {
      await page.getByRole("button", { name: "Add a person" }).click();
      const form = page.getByRole("dialog", { name: "Add a person" });
      await form.getByLabel("E-mail").fill("ann@example.com");
      await save(form);
      const password = await page.getByRole("dialog", { name: "Their first password" }).locator("pre").innerText();
      const login = { email: "ann@example.com", password };
      expect((await dashboard.house.ask("POST", "/api/session", login, { apikey: "" })).status).toBe(200);
      await page.getByRole("button", { name: "I have kept it" }).click();
      await page.getByRole("cell", { name: "ann@example.com" }).waitFor();
      await page.goto(`${dashboard.house.url}/account/audit?what=users`);
      await page.getByRole("cell", { name: "POST /api/users" }).first().waitFor();
    });
  });
});

test("the settings have the guards of money and people, each on or off as a whole", async () => {
  await dashboard.visit("/account/settings", async ({ page, complaints }) => {
    const form = page.getByRole("region", { name: "Settings" });
    const sent = page.waitForRequest((each) => each.method() === "PATCH");
    await form.getByRole("switch", { name: "Stop the same text to the same number" }).click({ force: true });
    await form.getByRole("textbox", { name: "The account sends in a day" }).fill("5000");
    await form.getByRole("button", { name: "Save" }).click();
    expect((await sent).postDataJSON()).toMatchObject({ sameText: null, otpGuard: { sendsPerDay: 5000 } });
    await page.getByText("Saved", { exact: true }).waitFor();
    const { body } = await dashboard.house.ask("GET", "/api/account");
    expect(body).toMatchObject({ sameText: null, otpGuard: { sendsPerDay: 5000, conversionPercent: 20 } });
    await form.getByRole("switch", { name: "Stop the same text to the same number" }).click({ force: true });
    await form.getByRole("textbox", { name: "So many times" }).fill("4");
    await form.getByRole("button", { name: "Save" }).click();
    await expect
      .poll(
        async () => (await dashboard.house.ask<{ sameText: unknown }>("GET", "/api/account")).body.sameText,
        PATIENT,
      )
      .toEqual({ max: 4, windowSeconds: 60 });
    expect(complaints).toEqual([]);
  });
});

describe("the set-up file", () => {
  test("shows what it would change before it does", async () => {
    await dashboard.visit("/operations/set-up", async ({ page }) => {
      await page.getByLabel("File", { exact: true }).fill("{ not json");
      await page.getByRole("button", { name: "Show the plan" }).click();
      await page.getByText(/^This is no JSON:/).waitFor();
      await page
        .getByLabel("File", { exact: true })
        .fill('{ "settings": { "zone": "Asia/Kolkata" }, "bots": [{ "name": "only-one" }] }');
      await page.getByRole("button", { name: "Show the plan" }).click();
      await page.locator("[data-plan=Made]").getByText("bots: only-one").waitFor();
      await page.locator("[data-plan=Removed]").getByText("bots: heliograph").waitFor();
      await page.locator("[data-plan=Changed]").getByText('"Asia/Kolkata"').waitFor();
      expect(await first("/api/bots?name=only-one")).toEqual({ id: "" });
      await page.getByRole("button", { name: "Apply", exact: true }).click();
      await page.getByRole("button", { name: "Apply it" }).click();
      await page.getByText("The account is now as the file says.").waitFor();
      expect(await first("/api/bots?name=only-one")).toMatchObject({ name: "only-one" });
    });
  });
});

describe("a campaign", () => {
  test("tells why messages failed and who clicked, and can be paused, resumed and cancelled", async () => {
    await dashboard.visit(`/campaigns/${campaignId}`, async ({ page }) => {
      await page.locator('[data-bar="The phone could not be reached"]').waitFor();
      await page.getByRole("link", { name: "https://shop.example/coats" }).waitFor();
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByRole("button", { name: "Pause" }).waitFor();
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
      await page.getByRole("button", { name: "Cancel the campaign" }).click();
      // The badge: the question itself has the word too.
      await page.getByText("Cancelled", { exact: true }).first().waitFor();
      expect(await first("/api/campaigns")).toMatchObject({ name: "autumn", status: "cancelled" });
    });
  });
});

test("viewers see what they may not do, with the reason, and numbers in part", async () => {
  await dashboard.visit(
    "/rcs/utility/webhook",
    async ({ page, complaints }) => {
      const add = page.getByRole("button", { name: "Add Webhook" }).first();
      expect(await add.getAttribute("aria-disabled")).toBe("true");
      await add.focus();
      await page.getByRole("tooltip").getByText("You may look on. A member or an owner can do this.").waitFor();
      await add.click({ force: true });
      expect(await page.getByRole("dialog").count()).toBe(0);

      await page.goto(`${dashboard.house.url}/operations/opt-outs`);
      await page
        .getByRole("cell", { name: /\*+0150/ })
        .first()
        .waitFor();
      await page.goto(`${dashboard.house.url}/account/users`);
      await page.getByText("Only owners see this page.", { exact: false }).waitFor();
      await page.goto(`${dashboard.house.url}/operations/carriers?tab=routes`);
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
  { path: "/rcs/utility/webhook", heading: "Webhook" },
  { path: "/message-app/utility-manager/dlr-push-configuration", heading: "DLR Push Configuration" },
  { path: "/operations/callbacks", heading: "Callback deliveries" },
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
  { path: "/operations/system", heading: "System" },
  { path: "/account/keys?open=new", heading: "API keys" },
  { path: "/account/users", heading: "Users" },
  { path: "/account/audit", heading: "Audit log" },
  { path: "/account/settings", heading: "Settings" },
];

const DESK = { width: 1280, height: 900 };

test.for(PAGES.map((page, index) => ({ ...page, name: `${index + 1}: ${page.heading}` })))(
  "page $name is clean and accessible, light and dark, at 1280 pixels and at 390",
  async ({ path, heading }) => {
    await dashboard.visit(typeof path === "string" ? path : path(), async ({ page, complaints, strangers }) => {
      await page.setViewportSize(DESK);
      expect(await page.getByRole("heading", { level: 1, includeHidden: true }).allTextContents()).toEqual([heading]);
      expect(await faultsInAllGuises(page)).toEqual([]);
      expect(complaints).toEqual([]);
      expect(strangers).toEqual([]);
    });
  },
);
