import { afterAll, beforeAll, expect, test } from "vitest";
import type { AudienceBody } from "../support/audiences.ts";
import { choose, faultsInAllVariants, openDashboard, settled, type Dashboard } from "../support/browser.ts";
import { rowsOf as sheetOf, workbookOf } from "../support/xlsx.ts";

const ROWS = 5000;
const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard?.close());

const fileOf = (rows: number): string =>
  `phone,first name,note\n${Array.from({ length: rows }, (_, index) =>
    index % 1000 === 7 ? `nobody,Eve,x\n` : `${15_550_300_000 + index},Ada ${index},"a, b"\n`,
  ).join("")}`;

const audiences = async (): Promise<AudienceBody[]> =>
  (await dashboard.server.request<{ data: AudienceBody[] }>("GET", "/v1/audiences")).body.data;

test("a file is dropped, checked with progress, mapped again by keyboard, and deleted", async () => {
  await dashboard.visit("/audiences", async ({ page, errors }) => {
    expect(await faultsInAllVariants(page)).toEqual([]);
    const file = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(fileOf(ROWS))}], "autumn.csv", { type: "text/csv" }));
      return transfer;
    })()`);
    await page.getByRole("region", { name: "Upload a file" }).dispatchEvent("drop", { dataTransfer: file });
    await page.getByRole("heading", { name: "autumn" }).waitFor();
    await page.getByText("Ready", { exact: true }).waitFor();
    const figure = (name: string) => page.locator(`[data-figure="${name}"]`).innerText();
    expect(await figure("Rows")).toContain("5,000");
    expect(await figure("Recipients")).toContain("4,995");
    expect(await figure("Rows with faults")).toContain("5");
    const faults = page.getByRole("region", { name: "Rows with faults" });
    await faults.getByRole("row").filter({ hasText: "1,009" }).getByText("phone").waitFor();
    await page.getByRole("region", { name: "Recipients" }).getByText("15550300000").waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);

    // By keyboard: a variable gets another name, and a column is left out.
    const name = page.getByRole("textbox", { name: "Variable of first name" });
    await name.focus();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("name");
    await choose(page, "Use of note", "Not used");
    const again = page.getByRole("button", { name: "Check again with these columns" });
    await again.focus();
    await page.keyboard.press("Enter");
    await page
      .getByRole("region", { name: "Recipients" })
      .getByRole("columnheader", { name: "name", exact: true })
      .waitFor();
    await page.getByRole("cell", { name: "Ada 0", exact: true }).waitFor();
    expect(await audiences()).toMatchObject([
      { name: "autumn", recipients: 4995, faults: 5, mapping: { number: "phone", variables: { name: "first name" } } },
    ]);

    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete audience" }).click();
    await page.getByText("No audiences yet.", { exact: false }).waitFor();
    expect(await audiences()).toEqual([]);
    expect(errors).toEqual([]);
  });
});

test("a workbook is chosen, and another of its sheets", async () => {
  const sheets = ["North", "South"].map((name, index) => ({
    name,
    rows: sheetOf([["phone", "name"], ...Array.from({ length: index + 2 }, (_, row) => [15_550_310_000 + row, name])]),
  }));
  await dashboard.visit("/audiences", async ({ page, errors }) => {
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose file" }).click();
    await (await chooser).setFiles({ name: "people.xlsx", mimeType: XLSX, buffer: workbookOf({ sheets }) });
    await page.getByRole("heading", { name: "people" }).waitFor();
    await page.getByRole("region", { name: "Recipients" }).getByText("North").first().waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);
    await choose(page, "Sheet", "South");
    await page.getByRole("region", { name: "Recipients" }).getByText("South").first().waitFor();
    expect(await page.locator('[data-figure="Recipients"]').innerText()).toContain("3");
    expect(errors).toEqual([]);
  });
  const [audience] = await audiences();
  await dashboard.server.request("DELETE", `/v1/audiences/${audience?.id ?? ""}`);
});

test("an interrupted upload continues with the same file, chosen by keyboard", async () => {
  const file = Buffer.from(fileOf(2000));
  const { body } = await dashboard.server.request<AudienceBody>("POST", "/v1/audiences", {
    name: "winter",
    size: file.length,
  });
  const text = file.subarray(0, 1000).toString();
  await dashboard.server.request("POST", `/v1/audiences/${body.id}/parts`, { offset: 0, text });
  await dashboard.visit(`/audiences/${body.id}`, async ({ page, errors }) => {
    await page.getByText("The upload is not complete").waitFor();
    await page.getByRole("link", { name: "All audiences" }).click();
    await settled(page);
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose file" }).focus();
    await page.keyboard.press("Enter");
    await (await chooser).setFiles({ name: "winter.csv", mimeType: "text/csv", buffer: file });
    await page.getByRole("heading", { name: "winter" }).waitFor();
    await page.getByText("Ready", { exact: true }).waitFor();
    expect(await audiences()).toMatchObject([{ id: body.id, state: "ready", rows: 2000 }]);
    expect(errors).toEqual([]);
  });
});
