import { afterAll, beforeAll, expect, test } from "vitest";
import { bind } from "../../src/smpp/client.ts";
import { submitSm } from "../../src/smpp/pdu.ts";
import { choose, faultsInAllVariants, openDashboard, type Dashboard } from "../support/browser.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard({ HELIOGRAPH_SMPP_PORT: "0" });
});
afterAll(() => dashboard?.close());

test("an owner creates a system id, watches its bind and disconnects it", async () => {
  await dashboard.visit("/developers/credentials", async ({ page, errors, foreignRequests }) => {
    await page.getByRole("button", { name: "Create credential" }).first().click();
    const form = page.getByRole("dialog", { name: "Create credential" });
    await choose(form, "Product", "SMPP");
    await form.getByLabel("Name").fill("reseller");
    await form.getByLabel("Maximum binds").fill("2");
    await form.getByRole("button", { name: "Save", exact: true }).click();
    const secret = page.getByRole("dialog", { name: "New credential" });
    const password = await secret.locator("pre").innerText();
    const systemId = await secret.getByText(/^smpp[0-9a-z]{8}$/).innerText();
    await secret.getByRole("button", { name: "I've saved it" }).click();

    const { server } = dashboard;
    const bound = await bind({
      host: "127.0.0.1",
      port: server.app.smppPorts.plain ?? 0,
      systemId,
      password,
      onRequest: () => null,
    });
    if (bound.kind !== "bound") throw new Error(`not bound: ${bound.kind}`);
    await bound.session.request(
      submitSm({
        source: { ton: 5, npi: 0, address: "SHOP" },
        destination: { ton: 1, npi: 1, address: "15550107300" },
        shortMessage: Buffer.from("Hello"),
      }),
    );
    await page.getByRole("link", { name: "SMPP clients" }).click();
    const row = page.locator(`[data-bind="${systemId}"]`);
    await row.getByText("127.0.0.1").waitFor();
    await row.getByRole("cell", { name: "1", exact: true }).waitFor();
    expect(await faultsInAllVariants(page)).toEqual([]);

    await row.getByRole("button", { name: "PDUs" }).click();
    const pdus = page.getByRole("dialog", { name: `Last PDUs of ${systemId}` });
    await pdus.getByText("submit_sm", { exact: true }).waitFor();
    await pdus.getByText("•••••••7300").first().waitFor();
    await page.keyboard.press("Escape");

    await row.getByRole("button", { name: "Disconnect" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
    expect(await bound.session.closed).toMatchObject({ reason: "unbound", by: "peer" });
    await page.getByText("No client is bound.").waitFor();
    expect([...errors, ...foreignRequests]).toEqual([]);
  });
});
