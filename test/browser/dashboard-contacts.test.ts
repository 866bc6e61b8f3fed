import { afterAll, beforeAll, expect, test } from "vitest";
import { faultsInAllVariants, openDashboard, type Dashboard } from "../support/browser.ts";

interface ContactBody {
  number: string;
  name: string | null;
  attributes: Record<string, string>;
  tags: string[];
}

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard?.close());

const contacts = async (query: string): Promise<ContactBody[]> =>
  (await dashboard.server.request<{ data: ContactBody[] }>("GET", `/v1/contacts?${query}`)).body.data;

test("a contact is added by keyboard, found by its tag, opened with its messages, changed and deleted", async () => {
  const { server } = dashboard;
  const sent = await server.send({ to: "15550100100", text: "Hello Ada" });
  await server.settled(sent.body.data[0]?.messageId ?? "");
  await server.request("POST", "/api/simulator/phones/15550100100/reply", { to: "HELIOG", text: "Hello back" });
  await dashboard.visit("/contacts", async ({ page, errors }) => {
    expect(await faultsInAllVariants(page)).toEqual([]);
    await page.getByRole("button", { name: "Add contact" }).first().press("Enter");
    const form = page.getByRole("dialog", { name: "Add contact" });
    await form.getByLabel("Number").fill("+1 555 010 0100");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Ada");
    await page.keyboard.press("Tab");
    await page.keyboard.type("vip");
    await page.keyboard.press("Enter");
    await form.getByLabel("Attributes").fill("city: Pune\nplan: gold");
    await form.getByRole("button", { name: "Save" }).press("Enter");
    await page.getByRole("cell", { name: "Ada", exact: true }).waitFor();
    expect(await contacts("tag=vip")).toMatchObject([
      { number: "15550100100", name: "Ada", attributes: { city: "Pune", plan: "gold" } },
    ]);

    await page.getByLabel("Tag", { exact: true }).fill("gold");
    await page.getByText("No contacts here.", { exact: false }).waitFor();
    await page.getByLabel("Tag", { exact: true }).fill("vip");
    await page.getByRole("link", { name: "15550100100" }).click();
    await page.getByRole("heading", { level: 1, name: "Ada" }).waitFor();
    await page.getByText("Hello Ada").waitFor();
    await page.getByText("Hello back").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);

    await page.getByRole("button", { name: "Edit contact" }).click();
    await page.getByRole("dialog").getByLabel("Attributes").fill("city: Oslo");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    // The text area of the form has the word before it is saved.
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByText("Oslo").waitFor();
    expect(await contacts("tag=vip")).toMatchObject([{ attributes: { city: "Oslo" } }]);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete contact" }).click();
    await page.getByText("No contacts here.", { exact: false }).waitFor();
    expect(await contacts("")).toEqual([]);
    expect(errors).toEqual([]);
  });
});

test("a file is dropped, reviewed and imported with a tag, and a segment of it becomes an audience", async () => {
  await dashboard.visit("/contacts", async ({ page, errors }) => {
    await page.getByRole("button", { name: "Import CSV" }).click();
    const lines = Array.from({ length: 40 }, (_, index) => `${15_550_300_000 + index},Bea ${index},Oslo`);
    const text = ["phone,first name,city", ...lines, "nobody,x,y"].join("\n");
    const file = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(text)}], "people.csv", { type: "text/csv" }));
      return transfer;
    })()`);
    await page.getByRole("region", { name: "Upload a file" }).dispatchEvent("drop", { dataTransfer: file });
    await page.getByRole("button", { name: "Import 40 contacts" }).waitFor();
    expect(await page.getByRole("combobox", { name: "Column of the name" }).inputValue()).toBe("first name");
    await page.getByText("Attributes: city").waitFor();
    await page.getByRole("combobox", { name: "Tags for all of them" }).fill("north");
    await page.keyboard.press("Enter");
    expect(await faultsInAllVariants(page)).toEqual([]);
    await page.getByRole("button", { name: "Import 40 contacts" }).click();
    await page.getByText("40 contacts imported.").waitFor();
    expect(await contacts("tag=north&limit=200")).toHaveLength(40);

    await page.goto(`${dashboard.server.url}/segments`);
    await page.getByRole("button", { name: "Add segment" }).first().click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").fill("Northern");
    await form.getByRole("combobox", { name: "Tags" }).fill("north");
    await page.keyboard.press("Enter");
    expect(await faultsInAllVariants(page)).toEqual([]);
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("table").getByText("Northern").first().click();
    await page.getByRole("button", { name: "Create audience" }).click();
    await page.getByRole("heading", { level: 1, name: "Northern" }).waitFor();
    await page.getByRole("region", { name: "Recipients" }).getByText("15550300000").waitFor();
    expect(errors).toEqual([]);
  });
});
