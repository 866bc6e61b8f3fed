import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { newId } from "../../src/lib/ids.ts";
import { checked, upload } from "../support/audiences.ts";
import { choose, faultsInAllVariants, openDashboard, settled, type Dashboard } from "../support/browser.ts";
import { inState, type CampaignBody, type Request } from "../support/campaigns.ts";
import type { MessageBody } from "../support/test-server.ts";

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard?.close());

const request: Request = (method, path, body) => dashboard.server.request(method, path, body);

const fileOf = (first: number, rows: number): string =>
  `phone,first name,city\n${Array.from({ length: rows }, (_, index) => `${first + index},Ada ${index},Pune\n`).join("")}nobody,Eve,Goa\n${first},Ada,Pune\n`;

async function drop(page: Page, name: string, content: string): Promise<void> {
  const file = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}, { type: "text/csv" }));
    return transfer;
  })()`);
  await page.getByRole("region", { name: "Upload a file" }).dispatchEvent("drop", { dataTransfer: file });
}

const campaignNamed = async (name: string): Promise<CampaignBody | undefined> => {
  const { body } = await request<{ data: CampaignBody[] }>("GET", "/v1/campaigns");
  return body.data.find((each) => each.name === name);
};

const textsOf = async (name: string): Promise<string[]> => {
  const { body } = await request<{ data: MessageBody[] }>("GET", `/v1/messages?campaignName=${name}`);
  return body.data.map(({ text }) => text).toSorted();
};

test("a file dropped into a new campaign is its audience: columns and preview, review, start, finished", async () => {
  await dashboard.visit("/campaigns", async ({ page, errors }) => {
    await page.getByRole("button", { name: "New campaign" }).click();
    await page.getByRole("heading", { name: "New campaign" }).waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    await drop(page, "autumn.csv", fileOf(15_550_310_000, 3));
    await page.getByText("Recipients: 3, rows with faults: 1, duplicates: 1").waitFor();
    expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("autumn");
    await page
      .getByRole("combobox", { name: "Sender" })
      .or(page.getByRole("textbox", { name: "Sender" }))
      .fill("HELIOG");
    await page.keyboard.press("Escape");
    const text = page.getByRole("textbox", { name: "Text", exact: true });
    await text.fill("Hello !");
    await text.press("ArrowLeft");
    const columns = page.getByRole("group", { name: "Columns for Text" });
    await columns.getByRole("button", { name: "first name" }).click();
    expect(await text.inputValue()).toBe("Hello {{first name}}!");
    const phone = page.getByRole("region", { name: "Preview" });
    await phone.getByText("Hello Ada 0!").waitFor();
    await page.locator('[data-segments="1"]').waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);

    // By keyboard: the draft is saved, reviewed and started.
    await page.getByRole("button", { name: "Review", exact: true }).focus();
    await page.keyboard.press("Enter");
    const review = page.getByRole("dialog", { name: "Review: autumn" });
    await review.getByText("Rows with faults: 1, duplicates: 1").waitFor();
    expect(await campaignNamed("autumn")).toMatchObject({ state: "draft", text: "Hello {{first name}}!" });
    expect(await review.locator("[data-review]").innerText()).toMatch(
      /autumn[^]*Recipients\s+3[^]*Opted out\s+0[^]*HELIOG, PROMO[^]*Segments each\s+1[^]*about 3[^]*simulator[^]*Now/,
    );
    expect(await faultsInAllVariants(page)).toEqual([]);
    const start = review.getByRole("button", { name: "Start now: 3 recipients" });
    await start.focus();
    await page.keyboard.press("Enter");
    await review.waitFor({ state: "detached" });
    const { id = "" } = (await campaignNamed("autumn")) ?? {};
    await inState(request, id, "finished");
    await page.getByRole("link", { name: "Campaigns", exact: true }).click();
    const list = page.getByRole("region", { name: "Campaigns to audiences" });
    await list.getByRole("row").filter({ hasText: "autumn" }).getByText("Finished").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(await textsOf("autumn")).toEqual(["Hello Ada 0!", "Hello Ada 1!", "Hello Ada 2!"]);
    expect(errors).toEqual([]);
  });
});

test("a draft with a template, throttle and send window is saved, reopened, and a refused field says why", async () => {
  const audienceId = await upload(request, fileOf(15_550_320_000, 2), { name: "winter people" });
  await checked(request, audienceId);
  await request("POST", "/api/templates", { channel: "sms", name: "parcel", text: "Dear {#var#}, it is in {#var#}." });
  await dashboard.visit("/campaigns", async ({ page, errors }) => {
    await page.getByRole("button", { name: "New campaign" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("autumn");
    await choose(page, "Audience", "winter people (2 recipients)");
    await page
      .getByRole("combobox", { name: "Sender" })
      .or(page.getByRole("textbox", { name: "Sender" }))
      .fill("HELIOG");
    await page.keyboard.press("Escape");
    await page.getByText("Template", { exact: true }).click();
    await choose(page, "Template", "parcel");
    const columns = page.getByRole("group", { name: "Columns for Value 1" });
    await columns.getByRole("button", { name: "first name" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Value 2" }).fill("Goa");
    await page.getByRole("region", { name: "Preview" }).getByText("Dear Ada 0, it is in Goa.").waitFor();
    await page.getByRole("textbox", { name: "Most messages per hour" }).fill("5000");
    await page.getByRole("checkbox", { name: "Send only within these hours" }).focus();
    await page.keyboard.press("Space");
    await page.getByLabel("From").fill("09:30");
    await choose(page, "Time zone", "Asia/Kolkata");
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("use another one", { exact: false }).waitFor();
    expect(await page.getByRole("textbox", { name: "Name" }).getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("textbox", { name: "Name" }).fill("winter");
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("Draft saved").waitFor();
    expect(await campaignNamed("winter")).toMatchObject({
      state: "draft",
      templateId: "parcel",
      custom: ["{{first name}}", "Goa"],
      throttle: 5000,
      window: { from: "09:30", to: "20:00", zone: "Asia/Kolkata" },
    });
    await page.getByRole("link", { name: "All campaigns" }).click();
    await settled(page);
    await page.getByRole("link", { name: "winter" }).click();
    await page.getByRole("heading", { name: "winter" }).waitFor();
    expect(await page.getByRole("textbox", { name: "Value 2" }).inputValue()).toBe("Goa");
    expect(await faultsInAllVariants(page)).toEqual([]);
    await page.getByRole("button", { name: "Review", exact: true }).click();
    const review = page.getByRole("dialog", { name: "Review: winter" });
    await review.getByText("09:30 to 20:00, Asia/Kolkata").waitFor();
    await review.getByText("5,000 per hour", { exact: false }).waitFor();
    await review.getByRole("button", { name: "Back to the draft" }).click();
    await review.waitFor({ state: "detached" });
    expect(await campaignNamed("winter")).toMatchObject({ state: "draft" });
    // The refused name is the one expected error.
    expect(errors).toEqual([expect.stringContaining("status of 400")]);
  });
});

test("a campaign by several channels is put in order, filled in with columns, previewed, reviewed and sent", async () => {
  const audienceId = await upload(request, fileOf(15_550_350_000, 2), { name: "channel people" });
  await checked(request, audienceId);
  await request("POST", "/api/templates", {
    channel: "rcs",
    name: "on-its-way",
    kind: "text",
    text: "{{1}}: order {{2}} is on its way.",
    status: "approved",
  });
  await dashboard.visit("/campaigns/new", async ({ page, errors }) => {
    await page.getByRole("textbox", { name: "Name" }).fill("arrivals");
    await choose(page, "Audience", "channel people (2 recipients)");
    const several = page.getByRole("radio", { name: "Several channels" });
    await several.focus();
    await page.keyboard.press("Space");
    const rcs = page.getByRole("region", { name: "RCS", exact: true });
    const sms = page.getByRole("region", { name: "SMS", exact: true });
    // By keyboard: SMS first, then RCS first again.
    await sms.getByRole("button", { name: "Move up" }).focus();
    await page.keyboard.press("Enter");
    await sms.getByText("1. SMS").waitFor();
    await rcs.getByRole("button", { name: "Move up" }).click();
    await rcs.getByText("1. RCS").waitFor();
    await rcs
      .getByRole("textbox", { name: "Bot" })
      .or(rcs.getByRole("combobox", { name: "Bot" }))
      .fill("heliograph");
    await page.keyboard.press("Escape");
    await rcs
      .getByRole("combobox", { name: "Template" })
      .or(rcs.getByRole("textbox", { name: "Template" }))
      .click();
    await page.getByRole("option", { name: "on-its-way" }).click();
    await rcs.getByRole("group", { name: "Columns for Value 1" }).getByRole("button", { name: "first name" }).click();
    await rcs.getByRole("textbox", { name: "Value 2" }).fill("4711");
    await sms
      .getByRole("textbox", { name: "Sender" })
      .or(sms.getByRole("combobox", { name: "Sender" }))
      .fill("HELIOG");
    await page.keyboard.press("Escape");
    await sms.getByRole("textbox", { name: "SMS text" }).fill("{{first name}}: 4711");
    const phone = page.getByRole("region", { name: "Preview" });
    await phone.getByText("Ada 0: order 4711 is on its way.").waitFor();
    await phone.getByText("Ada 0: 4711").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    await page.getByRole("button", { name: "Review", exact: true }).click();
    const review = page.getByRole("dialog", { name: "Review: arrivals" });
    await review.getByText("RCS → SMS").waitFor();
    await review.getByText("Ada 0: order 4711 is on its way.").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    await review.getByRole("button", { name: "Back to the draft" }).click();
    // The saved draft opens with the same channels.
    await page.reload();
    expect(await rcs.getByRole("textbox", { name: "Value 1" }).inputValue()).toBe("{{first name}}");
    await page.getByRole("button", { name: "Review", exact: true }).click();
    await review.getByRole("button", { name: "Start now: 2 recipients" }).click();
    await page.getByText("2 of 2 recipients accepted").waitFor();
    const carriers = page.getByRole("region", { name: "Messages by carrier" });
    await carriers.getByRole("row").filter({ hasText: "simulator" }).getByText("100 %").waitFor();
    await page.getByRole("region", { name: "Over time" }).getByText("Delivered: 2").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export report" }).click();
    expect((await saved).suggestedFilename()).toBe("report-arrivals.csv");
    expect(await textsOf("arrivals")).toEqual(["Ada 0: order 4711 is on its way.", "Ada 1: order 4711 is on its way."]);
    expect(errors).toEqual([]);
  });
});

test("a campaign is scheduled, started early, paused, resumed and cancelled, and its copy is a draft", async () => {
  const audienceId = await upload(request, fileOf(15_550_330_000, 4), { name: "spring people" });
  await checked(request, audienceId);
  const { body: draft } = await request<CampaignBody>("POST", "/v1/campaigns", {
    name: "spring",
    type: "TRANS",
    sender: "HELIOG",
    text: "Hello {{first name}}",
    audienceId,
    // Slow enough that only the first recipient is fed.
    throttle: 1,
  });
  await dashboard.visit("/campaigns", async ({ page, errors }) => {
    await page.getByRole("link", { name: "spring" }).click();
    // By keyboard: a time, the review, and the schedule.
    const later = page.getByRole("radio", { name: "At a time" });
    await later.focus();
    await page.keyboard.press("Space");
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    await page.getByLabel("Start at").fill(`${tomorrow}T09:00`);
    await page.getByRole("button", { name: "Review", exact: true }).focus();
    await page.keyboard.press("Enter");
    const schedule = page.getByRole("dialog").getByRole("button", { name: /^Schedule for/ });
    await schedule.focus();
    await page.keyboard.press("Enter");
    await page.getByText("Scheduled", { exact: true }).waitFor();
    await page.getByText("0 of 4 recipients accepted").waitFor();
    expect(await campaignNamed("spring")).toMatchObject({ state: "scheduled", scheduledAt: expect.any(Number) });
    expect(await faultsInAllVariants(page)).toEqual([]);

    await page.getByRole("button", { name: "Start now" }).click();
    await page.getByText("Running", { exact: true }).waitFor();
    await page.getByText("1 of 4 recipients accepted").waitFor();
    await page.getByRole("button", { name: "Pause" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Paused", { exact: true }).waitFor();
    expect(await campaignNamed("spring")).toMatchObject({ state: "paused" });
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Running", { exact: true }).waitFor();
    await page.getByRole("link", { name: "spring people" }).waitFor();
    await page.getByRole("region", { name: "Messages by state" }).getByText("Delivered").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);

    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Go back" }).click();
    expect(await campaignNamed("spring")).toMatchObject({ state: "running" });
    await page.getByRole("button", { name: "Cancel", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Cancel campaign" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Cancelled", { exact: true }).waitFor();
    await inState(request, draft.id, "cancelled");
    expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);

    await page.getByRole("button", { name: "Duplicate" }).click();
    await page.getByRole("heading", { name: "spring 2" }).waitFor();
    expect(await campaignNamed("spring 2")).toMatchObject({ state: "draft", text: "Hello {{first name}}" });
    expect(errors).toEqual([]);
  });
});

test("a campaign shows its skipped rows and why it paused by itself, and links to its messages", async () => {
  const audienceId = await upload(request, `phone,note\n15550340000,Ada\n15550340001,\n15550340002,Bob\n`, {
    name: "summer people",
  });
  await checked(request, audienceId);
  const fields = { type: "TRANS", sender: "HELIOG", text: "{{note}}", audienceId };
  const { body: skipping } = await request<CampaignBody>("POST", "/v1/campaigns", { ...fields, name: "summer" });
  await request("POST", `/v1/campaigns/${skipping.id}/start`);
  await inState(request, skipping.id, "finished");
  await dashboard.visit("/campaigns", async ({ page, errors }) => {
    await page.getByRole("region", { name: "Campaigns to audiences" }).getByRole("link", { name: "summer" }).click();
    await page.getByText("2 of 3 recipients accepted").waitFor();
    const skipped = page.getByRole("region", { name: "Skipped rows" });
    await skipped.getByRole("row").filter({ hasText: "3" }).getByText("the text is empty", { exact: false }).waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    await page.getByRole("link", { name: "View messages" }).click();
    await page.getByRole("cell", { name: "15550340002", exact: true }).waitFor();
    expect(await page.getByRole("cell", { name: /^155503/ }).count()).toBe(2);
    expect(errors).toEqual([]);
  });

  await request("PATCH", "/api/account", { credits: "metered" });
  const { body: pausing } = await request<CampaignBody>("POST", "/v1/campaigns", { ...fields, name: "late summer" });
  await request("POST", `/v1/campaigns/${pausing.id}/start`);
  await dashboard.visit(`/campaigns/to-audience/${pausing.id}`, async ({ page, errors }) => {
    await page.getByText("The campaign paused by itself: INSUFFICIENT_CREDITS").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    const topUp = { id: newId(Date.now()), amount: 10, note: null, at: Date.now() };
    expect(await dashboard.server.app.store.addCredits(1, topUp)).toBe(true);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Finished", { exact: true }).waitFor();
    expect(errors).toEqual([]);
  });
});
