import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDashboard, OWNER, settled, type Dashboard } from "./support/browser.ts";
import { eventually } from "./support/eventually.ts";
import type { Envelope } from "./support/house.ts";
import { openSink, type Sink } from "./support/sink.ts";

/** The machine may be busy. */
const PATIENT = { timeout: 10_000 };

let dashboard: Dashboard;
let sink: Sink;

beforeAll(async () => {
  sink = await openSink();
  dashboard = await openDashboard();
}, 60_000);
afterAll(async () => {
  await dashboard?.close();
  await sink?.close();
});

/** Runs a command as somebody who copied it into a terminal. */
async function inTerminal(command: string): Promise<Envelope> {
  const { stdout } = await promisify(execFile)("bash", ["-c", command]);
  return JSON.parse(stdout) as Envelope;
}

const stepsOf = (page: Page): Promise<string[]> =>
  page.locator("[data-step]").evaluateAll((items) => items.map((item) => item.getAttribute("data-step") ?? ""));

test("from the first login to the callback of a tap and the reason of every step", async () => {
  await dashboard.visit(
    "/",
    async ({ page, complaints, strangers }) => {
      await page.getByLabel("E-mail").fill(OWNER.email);
      await page.getByLabel("Password", { exact: true }).fill(OWNER.password);
      await page.getByRole("button", { name: "Sign in" }).click();

      // Who has sent nothing yet is shown how: the key, the command, the phone, the report.
      await page.getByRole("heading", { name: "Get started" }).waitFor();
      await page.getByRole("button", { name: "Make a test key" }).click();
      await page.getByText("Your test key, filled in below").waitFor();
      const command = await page.getByRole("group", { name: "Terminal" }).innerText();
      expect(command).toMatch(/apikey: hg_test_\w+/);
      const sent = await inTerminal(command);
      const first = sent.data[0]?.messageId ?? "";
      const phone = page.getByRole("region", { name: "The phone of +15550100100" });
      await phone.locator(`[data-message="${first}"]`).getByText("Hello from Heliograph").waitFor();
      await page.locator("[data-delivery]").getByText("Delivered to the phone").waitFor();

      // The same from the page itself.
      await page.getByRole("button", { name: "Run it" }).click();
      await expect.poll(() => phone.getByText("Hello from Heliograph").count(), PATIENT).toBe(2);

      // Somebody wants to know what users do: RCS → Utility → Webhook → Add Webhook.
      const nav = page.getByRole("navigation", { name: "Main" });
      await nav.getByRole("button", { name: "RCS", exact: true }).click();
      await nav.getByRole("link", { name: "Webhook", exact: true }).click();
      await page.getByRole("button", { name: "Add Webhook" }).first().click();
      const form = page.getByRole("dialog", { name: "Add Webhook" });
      await form.getByLabel("Name").fill("What users do");
      await form.getByLabel("End Point").fill(`${sink.url}/rcs`);
      await form.locator("button[type=submit]").click();
      await page.getByRole("button", { name: "I have kept it" }).click();
      await page.keyboard.press("Escape");
      await form.waitFor({ state: "detached" });

      // A message with something to tap, written in the composer.
      await page.getByRole("link", { name: "Compose", exact: true }).first().click();
      await page.getByRole("radiogroup", { name: "Channel" }).getByText("RCS", { exact: true }).click();
      await page.getByRole("combobox", { name: "Kind" }).or(page.getByLabel("Kind")).first().click();
      await page.getByRole("option", { name: "Rich text" }).click();
      const preview = page.getByRole("region", { name: "Preview" });
      await preview.getByRole("button", { name: "Very well" }).waitFor();
      expect(await page.getByRole("group", { name: "The same as curl" }).innerText()).toContain(
        '"templateName": "rate-us"',
      );
      await page.getByRole("button", { name: "Send", exact: true }).click();
      const messageId = (await page.locator("[data-sent]").getAttribute("data-sent")) ?? "";
      await page.getByRole("link", { name: "See it on the phone" }).click();

      // It lies on the phone; a tap goes back to the bot.
      await page.locator('[data-thread="rcs heliograph"]').click();
      await page.locator(`[data-message="${messageId}"]`).getByRole("button", { name: "Very well" }).click();
      await page.locator("[data-inbound]").getByText("Very well").waitFor();

      // The callback of it shows beside the phone, as the server got it.
      const told = (): unknown =>
        sink.heard.map(({ body }) => body).find((body) => JSON.stringify(body).includes("user_message"));
      await expect.poll(told, PATIENT).toMatchObject({
        message: { suggestionResponse: { plainText: "Very well", postBack: { data: "rating=5" }, type: "REPLY" } },
      });
      await page.getByRole("button", { name: /user_message.*Delivered/ }).click();
      expect(await page.getByRole("group", { name: "Body" }).innerText()).toContain('"data": "rating=5"');

      // And the inspector tells all of it, with the reasons.
      await page.getByRole("link", { name: "Messages", exact: true }).first().click();
      await page.locator(`a[href$="${messageId}"]`).click();
      await page.getByRole("heading", { name: "What happened, and why" }).waitFor();
      await expect
        .poll(() => stepsOf(page))
        .toEqual(expect.arrayContaining(["accepted", "attempt", "answer", "end", "reply", "callback"]));
      await page.getByText('Told "What users do" of user_message: answered 200').waitFor();
      await page.getByText('Handed to carrier "simulator" by route "Everything to the simulator"').waitFor();

      expect(complaints).toEqual([]);
      expect(strangers).toEqual([]);
    },
    null,
  );
}, 60_000);

describe("signing in", () => {
  test("says what is wrong, and opens the page that was asked for once it is right", async () => {
    await dashboard.visit(
      "/simulator",
      async ({ page }) => {
        await page.getByLabel("E-mail").fill(OWNER.email);
        await page.getByLabel("Password", { exact: true }).fill("not the password");
        await page.getByRole("button", { name: "Sign in" }).click();
        const alert = page.getByRole("alert");
        await alert.getByText("You are not signed in").waitFor();
        expect(await alert.getByRole("link").getAttribute("href")).toBe("/docs/errors/LOGIN_FAILED");
        expect(await alert.innerText()).toMatch(/Request\s+[0-9a-f-]{36}/);

        await page.getByLabel("Password", { exact: true }).fill(OWNER.password);
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByRole("heading", { name: "Simulator" }).waitFor();

        // A session that has ended brings the login back, and the login the page.
        const cookies = await page.context().cookies();
        await page.context().clearCookies();
        await page.getByRole("link", { name: "Messages", exact: true }).click();
        await page.getByRole("heading", { name: "Sign in" }).waitFor();
        await page.context().addCookies(cookies);
        await page.reload();
        await page.getByRole("heading", { name: "Messages", exact: true }).waitFor();

        await page.getByRole("button", { name: /^Account of/ }).click();
        await page.getByRole("menuitem", { name: "Sign out" }).click();
        await page.getByRole("heading", { name: "Sign in" }).waitFor();
        await page.reload();
        await page.getByRole("heading", { name: "Sign in" }).waitFor();
      },
      null,
    );
  });

  test("asks who was given a password for one of their own, and shows viewers no button that would be refused", async () => {
    const viewer = { email: "viewer@example.com", role: "viewer" };
    const { body } = await dashboard.house.ask<{ password: string }>("POST", "/api/users", viewer);
    await dashboard.visit(
      "/composer",
      async ({ page, complaints }) => {
        await page.getByRole("heading", { name: "Choose a password" }).waitFor();
        await page.getByLabel("The password as it is").fill(body.password);
        await page.getByLabel("The new password").fill("short");
        await page.getByRole("button", { name: "Change the password" }).click();
        await page
          .getByText(/10 to 200 characters|at least 10|10 characters/)
          .last()
          .waitFor();
        await page.getByLabel("The new password").fill("a few words in a row");
        await page.getByRole("button", { name: "Change the password" }).click();
        await page.getByRole("heading", { name: "Compose" }).waitFor();
        expect(await page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
        expect(complaints.filter((complaint) => !complaint.includes("400"))).toEqual([]);
      },
      { email: viewer.email, password: body.password },
    );
  });
});

test("who is shut out while a page is open is at the door within seconds", async () => {
  const { house } = dashboard;
  const guest = { email: "guest@example.com", password: "correct horse battery" };
  const made = await house.ask<{ id: string }>("POST", "/api/users", { ...guest, role: "viewer" });
  await dashboard.visit(
    "/messages",
    async ({ page }) => {
      await house.ask("PATCH", `/api/users/${made.body.id}`, { disabled: true });
      const door = page.getByRole("button", { name: "Sign in" });
      await door.waitFor();
      expect(await door.isVisible()).toBe(true);
    },
    guest,
  );
});

describe("the list of messages", () => {
  test("keeps its filters in the address, and counts what is new instead of moving", async () => {
    const { house } = dashboard;
    await house.send({ to: "15550103001", text: "One" });
    await dashboard.visit("/messages?recipient=15550103001", async ({ page }) => {
      const rows = page.getByRole("row");
      await expect.poll(() => rows.count(), PATIENT).toBe(2);
      await house.send({ to: "15550103001", text: "Two" });
      await house.send({ to: "15550103001", text: "Three" });
      await page.getByRole("button", { name: "2 new" }).click();
      await expect.poll(() => rows.count(), PATIENT).toBe(4);

      await page.getByRole("combobox", { name: "Status" }).or(page.getByLabel("Status")).first().click();
      await page.getByRole("option", { name: "Failed" }).click();
      await page.getByText("No message is like that.").waitFor();
      expect(new URL(page.url()).search).toBe("?recipient=15550103001&status=Failed");
      await page.getByRole("button", { name: "Clear", exact: true }).click();
      await expect.poll(() => new URL(page.url()).search, PATIENT).toBe("");
    });
  });

  test("is narrowed down by the server, also by type and template", async () => {
    const { house } = dashboard;
    const campaignName = "narrowed";
    await house.send({ to: "15550100161", type: "PROMO", campaignName });
    await house.send({ to: "15550100162", type: "TRANS", campaignName });
    const rcs = { number: "+15550100163", botId: "heliograph", type: "TRANS", templateName: "rate-us", campaignName };
    await house.ask("POST", "/v1/rcs", rcs);
    await dashboard.visit(`/messages?campaignName=${campaignName}`, async ({ page, complaints }) => {
      await page.getByText("3 shown").waitFor();
      await page.getByRole("combobox", { name: "Route type" }).click();
      await page.getByRole("option", { name: "TRANS" }).click();
      await page.waitForURL(/type=TRANS/);
      await page.getByText("2 shown").waitFor();
      const [asked] = await Promise.all([
        page.waitForRequest(/api\/messages\?.*templateName=rate-us/),
        page.getByLabel("Template").fill("rate-us"),
      ]);
      expect(new URL(asked.url()).searchParams.get("type")).toBe("TRANS");
      await page.getByText("1 shown").waitFor();
      await page.waitForURL(/templateName=rate-us/);
      expect(await page.getByRole("link", { name: "15550100163" }).count()).toBe(1);
      expect(complaints).toEqual([]);
    });
  });

  test("follows the stream that pages share: rows change where they stand, and new ones are counted", async () => {
    const { house } = dashboard;
    const { body } = await house.send({ to: "15550100164", sendAt: Date.now() + 3_600_000, campaignName: "followed" });
    const { messageId = "" } = body.data[0] ?? {};
    await dashboard.visit("/messages?campaignName=followed", async ({ page, complaints }) => {
      const row = page.getByRole("row").filter({ hasText: "15550100164" });
      await row.filter({ hasText: "Scheduled" }).waitFor();
      const asked: string[] = [];
      page.on("request", (request) => void asked.push(request.url()));
      await page.getByRole("link", { name: "Overview" }).click();
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      await page.goBack();
      await row.waitFor();
      // Pages share the stream: none has opened another.
      expect(asked.filter((url) => url.includes("/api/live"))).toEqual([]);
      await house.ask("POST", `/v1/messages/${messageId}/cancel`);
      await row.filter({ hasText: "Cancelled" }).waitFor();
      await house.send({ to: "15550100165", campaignName: "followed" });
      await page.getByRole("button", { name: "1 new" }).click();
      await page.getByText("2 shown").waitFor();
      expect(complaints).toEqual([]);
    });
  });

  test("goes into a file that a sheet can read, and in which no cell is a formula", async () => {
    const { house } = dashboard;
    const sent = await house.send({ to: "15550103002", text: '=HYPERLINK("http://evil.example"), "quoted"' });
    await house.settled(sent.body.data[0]?.messageId ?? "");
    await dashboard.visit("/messages?recipient=15550103002", async ({ page }) => {
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export CSV" }).click();
      await page.getByText("Done: 1 message in the file.").waitFor();
      const text = await readFile(await (await download).path(), "utf8");
      const [head, line] = text.split("\r\n");
      expect(head).toMatch(/^messageId,createdAt,channel,type,sender,recipient,status/);
      expect(line).toContain(sent.body.data[0]?.messageId);
      expect(line).toContain(`"'=HYPERLINK(""http://evil.example""), ""quoted"""`);
    });
  });
});

describe("a long export", () => {
  test("shows how far it is and can be stopped, with what there is until then", async () => {
    const { house } = dashboard;
    const to = Array.from({ length: 250 }, (_, n) => String(15550200000 + n));
    await house.send({ to, campaignName: "long" });
    await dashboard.visit("/messages?campaignName=long", async ({ page }) => {
      // The second page never comes.
      await page.route(/cursor=/, () => undefined);
      await page.getByRole("button", { name: "Export CSV" }).click();
      await page.getByText(/^200 messages, back to/).waitFor();
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByText("Stopped. The file has the newest 200 messages.").waitFor();
      const text = await readFile(await (await download).path(), "utf8");
      expect(text.trimEnd().split("\r\n")).toHaveLength(201);
    });
  });
});

describe("the keys", () => {
  test("jump to a page by its name, to a message by its id, and into the filter", async () => {
    const { messageId = "" } = (await dashboard.house.send({ to: "15550103003" })).body.data[0] ?? {};
    await dashboard.visit("/start", async ({ page }) => {
      const goTo = async (text: string): Promise<void> => {
        await page.keyboard.press("Control+k");
        await page.getByPlaceholder("A page, a message id, a number…").fill(text);
        await page.keyboard.press("Enter");
      };
      await goTo("virtual");
      await page.getByRole("heading", { name: "Virtual phones" }).waitFor();
      await goTo(messageId);
      await page.getByRole("heading", { name: "To 15550103003" }).waitFor();
      await goTo("messages");
      await page.getByRole("heading", { name: "Messages", exact: true }).waitFor();
      await settled(page);
      await page.keyboard.press("/");
      await page.keyboard.type("15550103003");
      await expect.poll(() => new URL(page.url()).search, PATIENT).toBe("?recipient=15550103003");
    });
  });

  test("a theme that was chosen stays, whatever the system says", async () => {
    await dashboard.visit(
      "/",
      async ({ page }) => {
        await page.evaluate("localStorage.setItem('mantine-color-scheme-value', 'dark')");
        await page.reload();
        await settled(page);
        expect(await page.evaluate("document.documentElement.dataset.mantineColorScheme")).toBe("dark");
      },
      null,
    );
  });
});

describe("the simulator", () => {
  test("misbehaves as its knobs say, and is calm again at a click", async () => {
    const { house } = dashboard;
    const chaos = async (): Promise<Record<string, unknown>> =>
      (await house.ask<Record<string, unknown>>("GET", "/api/simulator/chaos")).body;
    await dashboard.visit("/simulator", async ({ page }) => {
      await page.getByRole("slider", { name: "Delivered" }).focus();
      await page.keyboard.press("ArrowLeft");
      await expect.poll(chaos, PATIENT).toMatchObject({ deliveredPercent: 99 });
      await page.getByRole("switch", { name: "Down" }).click({ force: true });
      await expect.poll(chaos, PATIENT).toMatchObject({ down: true });
      await page.getByRole("button", { name: "Back to calm" }).click();
      await expect.poll(chaos, PATIENT).toMatchObject({ down: false, deliveredPercent: 100 });
    });
  });

  test("shows what a magic number does, in the inspector", async () => {
    await dashboard.visit("/simulator", async ({ page }) => {
      await page.getByRole("button", { name: "Try it: Taken, then not delivered" }).click();
      await page.getByRole("heading", { name: "To 15550109001" }).waitFor();
      await expect.poll(() => page.locator("[data-step=end]").innerText(), PATIENT).toContain("Ended as undelivered");
    });
  });
});

describe("the phone", () => {
  test("puts a flash message in front, and offers a code to copy", async () => {
    const { house } = dashboard;
    const to = "15550103004";
    await house.send({ to, sender: "TAXI", text: "Your taxi is at the door.", flash: 1 });
    await house.ask("POST", "/v1/verify", { configId: "default", to });
    await eventually(
      () => house.onPhone(to),
      ({ length }) => length === 2,
    );
    await dashboard.visit(`/phones/${to}?thread=sms+TAXI`, async ({ page }) => {
      await page.getByRole("alertdialog", { name: "Flash message" }).getByText("Your taxi is at the door.").waitFor();
      await page.getByRole("button", { name: "Put away" }).click();
      await page.getByRole("button", { name: "All conversations" }).click();
      await page.locator("[data-thread^='sms']").filter({ hasText: "code" }).click();
      await page.getByRole("button", { name: /^Copy the code/ }).click();
      const { body } = await house.ask<{ otp: string }>("GET", `/api/simulator/otp/latest?to=${to}`);
      await expect.poll(() => page.evaluate("navigator.clipboard.readText()"), PATIENT).toBe(body.otp);
    });
  });

  test("answers with words, a file and a place, and says that it has read", async () => {
    const { house } = dashboard;
    const to = "15550109004";
    const rcs = { number: `+${to}`, botId: "heliograph", templateName: "store-opening", type: "TRANS" };
    const { body } = await house.ask<Envelope>("POST", "/v1/rcs", rcs);
    const messageId = body.data[0]?.messageId ?? "";
    await eventually(
      () => house.onPhone(to),
      ({ length }) => length === 1,
    );
    await dashboard.visit(`/phones/${to}`, async ({ page, complaints, strangers }) => {
      await page.getByLabel("Answer heliograph").fill("I will come");
      await page.getByRole("button", { name: "Send the answer" }).click();
      await page.locator("[data-inbound]").getByText("I will come").waitFor();
      const more = async (what: string): Promise<void> => {
        await page.getByRole("button", { name: "More to send" }).click();
        await page.getByRole("menuitem", { name: what }).click();
      };
      await more("Send a file");
      await page.getByRole("button", { name: "Send the file" }).click();
      const far = page.locator("[data-inbound] [data-media=image]");
      await far.getByText("door.jpg").waitFor();
      expect(await far.innerText()).toContain("files.example");
      // What this server has itself is shown.
      const own = { fileName: "sun.svg", mimeType: "image/svg+xml", fileSizeBytes: 900 };
      const file = { to: "heliograph", channel: "rcs", ...own, fileUri: `${house.url}/favicon.svg` };
      await house.ask("POST", `/api/simulator/phones/${to}/file`, file);
      const shown = page.getByRole("img", { name: "sun.svg" });
      await shown.waitFor();
      await expect
        .poll(() => page.evaluate<number>("document.querySelector('img[alt=\"sun.svg\"]').naturalWidth"), PATIENT)
        .toBeGreaterThan(0);
      await more("Share a place");
      await page.getByRole("button", { name: "Share it" }).click();
      await page.locator("[data-inbound]").getByText("48.8584, 2.2945").waitFor();
      await more("Mark as read");
      await expect.poll(async () => (await house.message(messageId)).state, PATIENT).toBe("read");
      expect([...complaints, ...strangers]).toEqual([]);
    });
  });
});
