import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { choose, faultsInAllVariants, faultsOf, openDashboard, type Dashboard } from "../support/browser.ts";

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard?.close());

interface List {
  data: { messageId: string; recipient: string; channel: string; status: string }[];
}

const messagesTo = async (number: string): Promise<List["data"]> =>
  (await dashboard.server.request<List>("GET", `/v1/messages?recipient=${number}`)).body.data;

describe.each([
  { kind: "rcs-text", channel: "rcs", template: "store-opening", first: "15550111001", optedOut: "15550111002" },
  {
    kind: "chatapp-plain",
    channel: "chatapp",
    template: "store_opening",
    first: "15550112001",
    optedOut: "15550112002",
  },
])("compose on $channel", ({ kind, channel, template, first, optedOut }) => {
  test("reviews a message to several recipients, and sends it once to each", async () => {
    await dashboard.server.request("POST", "/api/optouts", { number: optedOut });
    await dashboard.visit(`/composer?kind=${kind}`, async ({ page, errors }) => {
      await page.getByRole("button", { name: "Fill in an example" }).click();
      await page.getByRole("combobox", { name: "Template" }).fill(template);
      if (channel === "rcs") await choose(page, "Route type", "PROMO");
      await page.getByLabel("To", { exact: true }).fill(`${first}\n${optedOut}, ${first}; Asha`);
      expect(await page.getByRole("group", { name: "curl command" }).innerText()).toContain('"recipients": [');
      await page.getByRole("button", { name: "Review and send" }).focus();
      await page.keyboard.press("Enter");
      const review = page.getByRole("dialog", { name: "Review before sending" });
      const row = (name: string) => review.getByRole("row").filter({ hasText: name });
      await row("Recipients").getByText("3 (1 duplicate removed)").waitFor();
      expect(await row("Invalid").innerText()).toContain("1 (Asha)");
      expect(await row("Opted out").innerText()).toContain(`${optedOut})`);
      expect(await row("Carrier").innerText()).toContain("simulator");
      expect(await row("When").innerText()).toContain("Now");
      expect(await row("Segments each").count()).toBe(0);
      expect(await faultsOf(page)).toEqual([]);
      expect(await messagesTo(first)).toEqual([]);
      await review.getByRole("button", { name: "Send to 1 recipient now" }).dblclick();
      await page.getByText("Accepted: 3 messages queued").waitFor();
      expect((await messagesTo(first)).map((sent) => sent.channel)).toEqual([channel]);
      expect(await page.getByRole("button", { name: "Sent", exact: true }).getAttribute("aria-disabled")).toBe("true");
      expect(errors).toEqual([]);
    });
    await dashboard.server.request("DELETE", `/api/optouts/${optedOut}`);
  });

  test("schedules a message", async () => {
    await dashboard.visit(`/composer?kind=${kind}`, async ({ page, errors }) => {
      await page.getByRole("button", { name: "Fill in an example" }).click();
      await page.getByRole("combobox", { name: "Template" }).fill(template);
      await page.getByLabel("To", { exact: true }).fill(`${first.slice(0, -1)}9`);
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
      await page.getByLabel(/^Send at/).fill(tomorrow);
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByText(/^Scheduled: 1 message for /).waitFor();
      expect(await messagesTo(`${first.slice(0, -1)}9`)).toMatchObject([{ channel }]);
      expect(errors).toEqual([]);
    });
  });
});

test("the preview stays in view beside a long form, and not on a phone", async () => {
  await dashboard.visit("/composer?kind=rcs-carousel-images", async ({ page }) => {
    await page.getByRole("button", { name: "Fill in an example" }).click();
    const preview = page.getByRole("region", { name: "Preview" });
    await page.setViewportSize({ width: 1280, height: 700 });
    await page.getByRole("group", { name: "curl command" }).scrollIntoViewIfNeeded();
    await page.mouse.move(300, 300);
    await page.mouse.wheel(0, 2000);
    const top = async (): Promise<number> => (await preview.boundingBox())?.y ?? -1;
    await expect.poll(top).toBeGreaterThanOrEqual(56);
    expect(await page.evaluate<number>("scrollY")).toBeGreaterThan(50);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.evaluate("scrollTo(0, 400)");
    expect(
      await page.evaluate<string>("getComputedStyle(document.querySelector('[data-phone]').parentElement).position"),
    ).toBe("static");
  });
});

test("the first steps run once however often they are clicked, show the result, and take a key that is pasted", async () => {
  await dashboard.visit("/start", async ({ page, errors }) => {
    await page.setViewportSize({ width: 1280, height: 700 });
    await page.getByLabel("Existing key").fill(` ${dashboard.server.testKey}\n`);
    await page.getByRole("button", { name: "Use key" }).click();
    const command = page.getByRole("group", { name: "Terminal" });
    await command.getByText(dashboard.server.testKey).waitFor();
    await page.getByRole("button", { name: "Run" }).dblclick();
    await page.locator("[data-delivery]").getByText("Delivered to the phone").waitFor();
    await expect.poll(() => page.getByRole("region", { name: "Check its status" }).isVisible()).toBe(true);
    expect(await messagesTo("15550100100")).toHaveLength(1);
    const inView = "document.querySelector('[data-delivery]').getBoundingClientRect().top < innerHeight";
    await expect.poll(() => page.evaluate<boolean>(inView)).toBe(true);
    await page.getByRole("button", { name: "Send another one" }).click();
    await page.getByRole("button", { name: "Run" }).click();
    await expect.poll(async () => (await messagesTo("15550100100")).length).toBe(2);
    expect(await faultsInAllVariants(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
});

test("a test of a template and of a magic number is sent once however often it is clicked", async () => {
  const { server } = dashboard;
  const { body } = await server.request<{ data: { id: string; name: string }[] }>("GET", "/api/templates?channel=sms");
  const welcome = body.data.find(({ name }) => name === "welcome")?.id ?? "";
  await dashboard.visit(`/message-app/templates/${welcome}`, async ({ page, errors }) => {
    await page.getByLabel("To", { exact: true }).fill("15550113001");
    await page.getByRole("button", { name: "Send test" }).dblclick();
    await page.locator("[data-sent]").waitFor();
    expect(await messagesTo("15550113001")).toHaveLength(1);
    expect(await page.getByRole("button", { name: "Sent", exact: true }).getAttribute("aria-disabled")).toBe("true");
    await page.getByLabel("To", { exact: true }).fill("15550113002");
    await page.getByRole("button", { name: "Send test" }).click();
    await page.locator("[data-sent]").waitFor();
    expect(await messagesTo("15550113002")).toHaveLength(1);
    expect(errors).toEqual([]);
  });
  await dashboard.visit("/simulator", async ({ page }) => {
    await page.getByRole("button", { name: "Try it: Rejected at once" }).dblclick();
    await page.getByRole("heading", { name: "To 15550109003" }).waitFor();
    expect(await messagesTo("15550109003")).toHaveLength(1);
  });
});

test("credits can be added on a page over plain HTTP, which has no crypto.randomUUID", async () => {
  await dashboard.visit("/operations/credits", async ({ page, errors }) => {
    await page.addInitScript("delete Crypto.prototype.randomUUID");
    await page.reload();
    await page.getByRole("button", { name: "Add credits" }).first().click();
    const form = page.getByRole("dialog", { name: "Add credits" });
    await form.getByRole("button", { name: "Add", exact: true }).click();
    await form.waitFor({ state: "detached" });
    await page.getByText("1,000").first().waitFor();
    expect(errors).toEqual([]);
  });
});

describe("the page of a message", () => {
  test("shows the failing step, and that a failed message is on no phone", async () => {
    const { server } = dashboard;
    const sent = await server.send({ to: "15550109001", text: "Never arrives" });
    const messageId = sent.body.data[0]?.messageId ?? "";
    await server.settled(messageId);
    await dashboard.visit(`/messages/${messageId}`, async ({ page, errors }) => {
      await page.locator('[data-step="end"][data-outcome="failed"]').getByText("Failed").waitFor();
      expect(await page.locator('[data-step="accepted"]').getAttribute("data-outcome")).toBe("ok");
      const preview = page.getByRole("region", { name: "Preview" });
      await preview.getByText("This message is not on the phone: it was not delivered.").waitFor();
      expect(await page.getByRole("heading", { name: "On the phone" }).count()).toBe(0);
      expect(await faultsInAllVariants(page)).toEqual([]);
      expect(errors).toEqual([]);
    });
  });

  test("shows a template message that is on no simulated phone by its stored template", async () => {
    const { server } = dashboard;
    const sent = await server.request<{ data: { messageId: string }[] }>("POST", "/v1/rcs", {
      number: "+15550115031",
      botId: "heliograph",
      type: "TRANS",
      templateName: "rate-us",
      sendAt: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const messageId = sent.body.data[0]?.messageId ?? "";
    await dashboard.visit(`/messages/${messageId}`, async ({ page, errors }) => {
      const preview = page.getByRole("region", { name: "Preview" });
      await preview.getByText("Shown with the template as it is now.").waitFor();
      await preview.getByText("Very well").waitFor();
      expect(errors).toEqual([]);
    });
  });

  test("says of a simulated message that no real phone got it", async () => {
    const { server } = dashboard;
    const sent = await server.send({ to: "15550115001" });
    await server.settled(sent.body.data[0]?.messageId ?? "");
    await dashboard.visit(`/messages/${sent.body.data[0]?.messageId}`, async ({ page }) => {
      await page.getByText("The simulator delivered it. No real phone got it.").waitFor();
      await page.getByRole("link", { name: "Simulated phone" }).click();
      await page.getByRole("heading", { level: 1, name: "Virtual phones" }).waitFor();
      expect(page.url()).toContain("/phones/15550115001");
    });
  });

  test("opens the composer with the same message, and with a similar one, without a text in the address", async () => {
    const { server } = dashboard;
    const text = "Your parcel is here.";
    const sent = await server.send({ to: "15550115011", text, campaignName: "parcels" });
    const messageId = sent.body.data[0]?.messageId ?? "";
    await dashboard.visit(`/messages/${messageId}`, async ({ page, errors }) => {
      await page.getByRole("button", { name: "Send again" }).click();
      await page.getByRole("heading", { level: 1, name: "Compose" }).waitFor();
      expect(await page.getByLabel("To", { exact: true }).inputValue()).toBe("15550115011");
      expect(await page.getByLabel("Text", { exact: true }).inputValue()).toBe(text);
      expect(page.url()).not.toMatch(/parcel|15550115011/);
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.locator("[data-sent]").waitFor();
      expect(await messagesTo("15550115011")).toHaveLength(2);

      await page.goto(`${server.url}/messages/${messageId}`);
      await page.getByRole("button", { name: "Similar message" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "Compose" }).waitFor();
      expect(await page.getByLabel("To", { exact: true }).inputValue()).toBe("");
      expect(await page.getByLabel("Text", { exact: true }).inputValue()).toBe(text);
      expect(errors).toEqual([]);
    });
    const rcs = await server.request<{ data: { messageId: string }[] }>("POST", "/v1/rcs", {
      number: "+15550115012",
      botId: "heliograph",
      type: "TRANS",
      templateName: "rate-us",
    });
    await dashboard.visit(`/messages/${rcs.body.data[0]?.messageId}`, async ({ page }) => {
      await page.getByRole("button", { name: "Similar message" }).click();
      await page.waitForURL(/kind=rcs-rich/);
      await page.getByRole("region", { name: "Preview" }).getByRole("button", { name: "Very well" }).waitFor();
    });
  });
});

describe("unsaved work", () => {
  test("is there again after another page, and gone once it is sent", async () => {
    await dashboard.visit("/composer", async ({ page, errors }) => {
      await page.getByRole("combobox", { name: "Sender" }).fill("HELIOG");
      await page.getByLabel("To", { exact: true }).fill("15550116001");
      await page.getByLabel("Text", { exact: true }).fill("Half a sentence");
      await page
        .getByRole("link", { name: "Simulator" })
        .or(page.getByRole("link", { name: "Messages", exact: true }))
        .first()
        .click();
      await page.getByRole("link", { name: "Compose", exact: true }).first().click();
      await page.locator("[data-restored]").getByText("Your unsaved draft is back.").waitFor();
      expect(await page.getByLabel("Text", { exact: true }).inputValue()).toBe("Half a sentence");
      expect(await faultsOf(page)).toEqual([]);
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.locator("[data-sent]").waitFor();
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "Compose" }).waitFor();
      expect(await page.getByLabel("Text", { exact: true }).inputValue()).toBe("");
      expect(errors).toEqual([]);
    });
  });

  test("of a template and of a record stays until it is saved or discarded, without secrets", async () => {
    await dashboard.visit("/message-app/templates/new", async ({ page }) => {
      await page.getByLabel("Name").first().fill("half-written");
      await page.getByLabel("Text").first().fill("Dear {#var#}, this is only ha");
      await page.goto(`${dashboard.server.url}/message-app/templates/new`);
      await page.locator("[data-restored]").waitFor();
      expect(await page.getByLabel("Text").first().inputValue()).toBe("Dear {#var#}, this is only ha");
      await page.getByRole("button", { name: "Discard draft" }).click();
      expect(await page.getByLabel("Text").first().inputValue()).toBe("");
      await page.reload();
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(await page.locator("[data-restored]").count()).toBe(0);
    });
    await dashboard.visit("/operations/carriers?open=new", async ({ page }) => {
      const form = page.getByRole("dialog", { name: "Add carrier" });
      await choose(form, "Protocol", "SMPP");
      await form.getByLabel("Host").fill("smsc.example");
      await form.getByLabel("Password").first().fill("very secret");
      const kept = await page.evaluate<string>("JSON.stringify({ ...sessionStorage })");
      expect(kept).toContain("smsc.example");
      expect(kept).not.toContain("very secret");
      await page.reload();
      await form.locator("[data-restored]").waitFor();
      expect(await form.getByLabel("Host").inputValue()).toBe("smsc.example");
      expect(await form.getByLabel("Password").first().inputValue()).toBe("");
      await form.getByRole("button", { name: "Cancel" }).click();
      expect(await page.evaluate<string>("JSON.stringify({ ...sessionStorage })")).not.toContain("smsc.example");
    });
  });

  test("survives the end of a session, which the login explains", async () => {
    const user = { email: "drafts@example.com", password: "correct horse battery" };
    await dashboard.server.request("POST", "/api/users", { ...user, role: "member" });
    await dashboard.visit(
      "/composer",
      async ({ page }) => {
        const signIn = async (): Promise<void> => {
          await page.getByLabel("E-mail").fill(user.email);
          await page.getByLabel("Password", { exact: true }).fill(user.password);
          await page.getByRole("button", { name: "Sign in" }).click();
        };
        expect(await page.getByText("Your session has ended").count()).toBe(0);
        await signIn();
        await page
          .getByLabel("Your password")
          .or(page.getByLabel("Text", { exact: true }))
          .first()
          .waitFor();
        await page.getByRole("combobox", { name: "Sender" }).fill("HELIOG");
        await page.getByLabel("To", { exact: true }).fill("15550116011");
        await page.getByLabel("Text", { exact: true }).fill("Before the session ended");
        await page.context().clearCookies();
        await page.getByRole("button", { name: "Send", exact: true }).click();
        await page.getByText("Your session has ended. Sign in to continue.").waitFor();
        await signIn();
        await page.locator("[data-restored]").waitFor();
        expect(await page.getByLabel("Text", { exact: true }).inputValue()).toBe("Before the session ended");
        await page.getByRole("button", { name: /^Account of/ }).click();
        await page.getByRole("menuitem", { name: "Sign out" }).click();
        await page.getByRole("heading", { name: "Sign in" }).waitFor();
        expect(await page.evaluate<string>("JSON.stringify({ ...sessionStorage })")).not.toContain(
          "Before the session",
        );
      },
      null,
    );
  });
});
