import { afterAll, beforeAll, expect, test } from "vitest";
import { choose, faultsInAllVariants, openDashboard, type Dashboard } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";

interface ConversationBody {
  id: string;
  unread: number;
  state: string;
  assignedTo: string | null;
}

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await openDashboard();
  await dashboard.server.request("POST", "/api/canned-replies", { name: "thanks", text: "Thank you, Ada." });
});
afterAll(() => dashboard?.close());

const write = (text: string, fields: object = { to: "HELIOG" }, number = "15550100100") =>
  dashboard.server.request("POST", `/api/simulator/phones/${number}/reply`, { text, ...fields });
const conversation = async (): Promise<ConversationBody | undefined> =>
  (await dashboard.server.request<{ data: ConversationBody[] }>("GET", "/v1/conversations?channel=sms")).body.data[0];

test("a message appears by itself, is answered by keyboard with a canned reply, assigned and closed", async () => {
  await dashboard.visit("/inbox", async ({ page, errors }) => {
    await page.getByText("Nothing here yet.", { exact: false }).waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    await write("Where is my order?");
    const row = page.getByRole("navigation", { name: "Conversations" }).getByRole("link");
    await row.getByText("Where is my order?").waitFor();
    await row.getByLabel("1 unread").waitFor();
    await page.getByRole("navigation", { name: "Main" }).getByLabel("1 unread").waitFor();

    await row.focus();
    await page.keyboard.press("Enter");
    const section = page.getByRole("region", { name: "Conversation with 15550100100" });
    await section.locator('[data-direction="in"]').getByText("Where is my order?").waitFor();
    await eventually(conversation, (found) => found?.unread === 0);
    await choose(page, "Canned reply", "thanks");
    const reply = section.getByRole("textbox", { name: "Reply", exact: true });
    expect(await reply.inputValue()).toBe("Thank you, Ada.");
    await reply.focus();
    await page.keyboard.press("Control+Enter");
    await section.locator('[data-direction="out"]').getByText("Thank you, Ada.").waitFor();
    expect(await reply.inputValue()).toBe("");
    await section.getByText("Delivered").waitFor();
    expect((await dashboard.server.onPhone("15550100100")).map(({ text }) => text)).toEqual(["Thank you, Ada."]);
    expect(await faultsInAllVariants(page)).toEqual([]);

    await section.getByRole("combobox", { name: "Assigned to" }).click();
    await page.getByRole("option").first().click();
    await eventually(conversation, (found) => found?.assignedTo !== null);
    await section.getByRole("button", { name: "Close" }).click();
    await section.getByRole("button", { name: "Open again" }).waitFor();
    expect((await conversation())?.state).toBe("closed");
    await write("One more thing");
    await section.locator('[data-direction="in"]').getByText("One more thing").waitFor();
    expect(errors).toEqual([]);
  });
});

test("a conversation shows the name of its contact, and is found by it", async () => {
  const number = "15550100102";
  await dashboard.server.request("PUT", `/v1/contacts/${number}`, { name: "Grace Hopper" });
  await write("Hello", undefined, number);
  await write("Hello", undefined, "15550100103");
  await dashboard.visit("/inbox", async ({ page, errors }) => {
    const rows = page.getByRole("navigation", { name: "Conversations" }).getByRole("link");
    await rows.filter({ hasText: "15550100103" }).waitFor();
    await page.getByLabel("Name or number").fill("grace");
    await rows.filter({ hasText: "15550100103" }).waitFor({ state: "detached" });
    expect(await rows.allInnerTexts()).toEqual([expect.stringMatching(/^Grace Hopper\s*15550100102/)]);
    await rows.click();
    await page.getByRole("heading", { name: "Grace Hopper" }).waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    await page.getByLabel("Name or number").fill("nobody");
    await page.getByText("No conversation matches these filters.").waitFor();
    expect(errors).toEqual([]);
  });
});

test("a chat conversation shows until when free text is possible", async () => {
  await write("Hi", { to: "+15550100199", channel: "chatapp" }, "15550100101");
  await dashboard.visit("/inbox", async ({ page, errors }) => {
    await page.getByRole("link").filter({ hasText: "15550100101" }).click();
    await page.getByText("Free text is possible until", { exact: false }).waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
});
