import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDashboard, OWNER, settled, type Dashboard } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import type { Envelope } from "../support/test-server.ts";
import { openSink, type Sink } from "../support/sink.ts";

let dashboard: Dashboard;
let sink: Sink;

beforeAll(async () => {
  sink = await openSink();
  dashboard = await openDashboard();
});
afterAll(async () => {
  await dashboard?.close();
  await sink?.close();
});

/** Runs a command as a user does who copied it into a terminal. */
async function inTerminal(command: string): Promise<Envelope> {
  const { stdout } = await promisify(execFile)("bash", ["-c", command]);
  return JSON.parse(stdout) as Envelope;
}

const stepsOf = (page: Page): Promise<string[]> =>
  page.locator("[data-step]").evaluateAll((items) => items.map((item) => item.getAttribute("data-step") ?? ""));

test("from the first login to the callback of a tap and the reason of every step", async () => {
  await dashboard.visit(
    "/",
    async ({ page, errors: complaints, foreignRequests: strangers }) => {
      await page.getByLabel("E-mail").fill(OWNER.email);
      await page.getByLabel("Password", { exact: true }).fill(OWNER.password);
      await page.getByRole("button", { name: "Sign in" }).click();

      // An account without messages sees the first steps: the key, the command, the phone, the report.
      await page.getByRole("heading", { name: "Get started" }).waitFor();
      await page.getByRole("button", { name: "Create test key" }).click();
      await page.getByText("Your test key, already in the command below").waitFor();
      const command = await page.getByRole("group", { name: "Terminal" }).innerText();
      expect(command).toMatch(/apikey: hg_test_\w+/);
      const sent = await inTerminal(command);
      const first = sent.data[0]?.messageId ?? "";
      const phone = page.getByRole("region", { name: "Phone +15550100100" });
      await phone.locator(`[data-message="${first}"]`).getByText("Hello from Heliograph").waitFor();
      await page.locator("[data-delivery]").getByText("Delivered to the phone").waitFor();

      // The same from the page itself.
      await page.getByRole("button", { name: "Run" }).click();
      await expect.poll(() => phone.getByText("Hello from Heliograph").count()).toBe(2);

      // A developer subscribes to user events: RCS → Utility → Webhook → Add Webhook.
      const nav = page.getByRole("navigation", { name: "Main" });
      await nav.getByRole("button", { name: "RCS", exact: true }).click();
      await nav.getByRole("link", { name: "Webhook", exact: true }).click();
      await page.getByRole("button", { name: "Add Webhook" }).first().click();
      const form = page.getByRole("dialog", { name: "Add Webhook" });
      await form.getByLabel("Name").fill("What users do");
      await form.getByLabel("End Point").fill(`${sink.url}/rcs`);
      await form.locator("button[type=submit]").click();
      await page.getByRole("button", { name: "I've saved it" }).click();
      await page.keyboard.press("Escape");
      await form.waitFor({ state: "detached" });

      // A message with something to tap, written in the composer.
      await page.getByRole("link", { name: "Compose", exact: true }).first().click();
      await page.getByRole("radiogroup", { name: "Channel" }).getByText("RCS", { exact: true }).click();
      await page.getByRole("combobox", { name: "Kind" }).or(page.getByLabel("Kind")).first().click();
      await page.getByRole("option", { name: "Rich text" }).click();
      await page.getByRole("button", { name: "Fill in an example" }).click();
      const preview = page.getByRole("region", { name: "Preview" });
      await preview.getByRole("button", { name: "Very well" }).waitFor();
      expect(await page.getByRole("group", { name: "curl command" }).innerText()).toContain(
        '"templateName": "rate-us"',
      );
      await page.getByRole("button", { name: "Send", exact: true }).click();
      const messageId = (await page.locator("[data-sent]").getAttribute("data-sent")) ?? "";
      await page.getByRole("link", { name: "View on the phone" }).click();

      // It lies on the phone; a tap goes back to the bot.
      await page.locator('[data-thread="rcs heliograph"]').click();
      await page.locator(`[data-message="${messageId}"]`).getByRole("button", { name: "Very well" }).click();
      await page.locator("[data-inbound]").getByText("Very well").waitFor();

      // The callback of it shows beside the phone, as the server got it.
      const told = (): unknown =>
        sink.received.map(({ body }) => body).find((body) => JSON.stringify(body).includes("user_message"));
      await expect.poll(told).toMatchObject({
        message: { suggestionResponse: { plainText: "Very well", postBack: { data: "rating=5" }, type: "REPLY" } },
      });
      await page.getByRole("button", { name: /user_message.*Delivered/ }).click();
      expect(await page.getByRole("group", { name: "Body" }).innerText()).toContain('"data": "rating=5"');

      // And the inspector tells all of it, with the reasons.
      await page.getByRole("link", { name: "Messages", exact: true }).first().click();
      await page.locator(`a[href$="${messageId}"]`).click();
      await page.getByRole("heading", { name: "Timeline" }).waitFor();
      await expect
        .poll(() => stepsOf(page))
        .toEqual(expect.arrayContaining(["accepted", "attempt", "answer", "end", "reply", "callback"]));
      await page.getByText('Endpoint "What users do" received user_message: response 200').waitFor();
      await page.getByText('Handed to carrier "simulator" by route "Everything to the simulator"').waitFor();

      expect(complaints).toEqual([]);
      expect(strangers).toEqual([]);
    },
    null,
  );
});

describe("signing in", () => {
  test("shows the fault, and opens the requested page after a correct login", async () => {
    await dashboard.visit(
      "/simulator",
      async ({ page }) => {
        await page.getByLabel("E-mail").fill(OWNER.email);
        await page.getByLabel("Password", { exact: true }).fill("not the password");
        await page.getByRole("button", { name: "Sign in" }).click();
        const alert = page.getByRole("alert");
        await alert.getByText("Sign-in failed").waitFor();
        // A typo needs neither a code nor a request id.
        expect(await alert.getByRole("link").count()).toBe(0);
        expect(await alert.innerText()).not.toMatch(/LOGIN_FAILED|[0-9a-f-]{36}/);
        await page.getByText("Forgot your password? Ask an owner.").waitFor();
        await page.getByText("HELIOGRAPH_ADMIN_PASSWORD").waitFor();

        await page.getByLabel("Password", { exact: true }).fill(OWNER.password);
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByRole("heading", { name: "Simulator" }).waitFor();

        // A session that has ended brings the login back, and the login the page.
        const cookies = await page.context().cookies();
        await page.context().clearCookies();
        await page.getByRole("link", { name: "Messages", exact: true }).click();
        await page.getByRole("heading", { name: "Sign in" }).waitFor();
        // The help with the first start is only for browsers without an earlier sign-in.
        expect(await page.getByText("HELIOGRAPH_ADMIN_PASSWORD").count()).toBe(0);
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

  test("demands a new password from a user with a temporary one, and shows viewers no button that would be refused", async () => {
    const viewer = { email: "viewer@example.com", role: "viewer" };
    const { body } = await dashboard.server.request<{ password: string }>("POST", "/api/users", viewer);
    await dashboard.visit(
      "/composer",
      async ({ page, errors: complaints }) => {
        await page.getByRole("heading", { name: "Choose a password" }).waitFor();
        await page.getByLabel("Current password").fill(body.password);
        await page.getByLabel("New password").fill("short");
        await page.getByRole("button", { name: "Change password" }).click();
        await page
          .getByText(/10 to 200 characters|at least 10|10 characters/)
          .last()
          .waitFor();
        await page.getByLabel("New password").fill("a few words in a row");
        await page.getByRole("button", { name: "Change password" }).click();
        await page.getByRole("heading", { name: "Compose" }).waitFor();
        expect(await page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
        expect(complaints.filter((complaint) => !complaint.includes("400"))).toEqual([]);
      },
      { email: viewer.email, password: body.password },
    );
  });
});

test("an open page returns to the login within seconds after the user is removed", async () => {
  const { server } = dashboard;
  const guest = { email: "guest@example.com", password: "correct horse battery" };
  const made = await server.request<{ id: string }>("POST", "/api/users", { ...guest, role: "viewer" });
  await dashboard.visit(
    "/messages",
    async ({ page }) => {
      await server.request("PATCH", `/api/users/${made.body.id}`, { disabled: true });
      const signIn = page.getByRole("button", { name: "Sign in" });
      await signIn.waitFor();
      expect(await signIn.isVisible()).toBe(true);
    },
    guest,
  );
});

describe("the list of messages", () => {
  test("keeps its filters in the address, and counts new messages instead of moving", async () => {
    const { server } = dashboard;
    await server.send({ to: "15550103001", text: "One" });
    await dashboard.visit("/messages?recipient=15550103001", async ({ page }) => {
      const rows = page.getByRole("row");
      await expect.poll(() => rows.count()).toBe(2);
      await server.send({ to: "15550103001", text: "Two" });
      await server.send({ to: "15550103001", text: "Three" });
      await page.getByRole("button", { name: "2 new" }).click();
      await expect.poll(() => rows.count()).toBe(4);

      await page.getByRole("combobox", { name: "Status" }).or(page.getByLabel("Status")).first().click();
      await page.getByRole("option", { name: "Failed" }).click();
      await page.getByText("No results").waitFor();
      expect(new URL(page.url()).search).toBe("?recipient=15550103001&status=Failed");
      await page.getByRole("button", { name: "Clear", exact: true }).click();
      await expect.poll(() => new URL(page.url()).search).toBe("");
    });
  });

  test("is filtered by the server, also by type and template", async () => {
    const { server } = dashboard;
    const campaignName = "narrowed";
    await server.send({ to: "15550100161", type: "PROMO", campaignName });
    await server.send({ to: "15550100162", type: "TRANS", campaignName });
    const rcs = { number: "+15550100163", botId: "heliograph", type: "TRANS", templateName: "rate-us", campaignName };
    await server.request("POST", "/v1/rcs", rcs);
    await dashboard.visit(`/messages?campaignName=${campaignName}`, async ({ page, errors: complaints }) => {
      await page.getByText("3 in all").waitFor();
      await page.getByRole("combobox", { name: "Route type" }).click();
      await page.getByRole("option", { name: "TRANS" }).click();
      await page.waitForURL(/type=TRANS/);
      await page.getByText("2 in all").waitFor();
      const [asked] = await Promise.all([
        page.waitForRequest(/api\/messages\?.*templateName=rate-us/),
        page.getByLabel("Template").fill("rate-us"),
      ]);
      expect(new URL(asked.url()).searchParams.get("type")).toBe("TRANS");
      await page.getByText("1 in all").waitFor();
      await page.waitForURL(/templateName=rate-us/);
      expect(await page.getByRole("link", { name: "15550100163" }).count()).toBe(1);
      expect(complaints).toEqual([]);
    });
  });

  test("follows the stream that pages share: rows change in place, and new ones are counted", async () => {
    const { server } = dashboard;
    const { body } = await server.send({ to: "15550100164", sendAt: Date.now() + 3_600_000, campaignName: "followed" });
    const { messageId = "" } = body.data[0] ?? {};
    await dashboard.visit("/messages?campaignName=followed", async ({ page, errors: complaints }) => {
      const row = page.getByRole("row").filter({ hasText: "15550100164" });
      await row.filter({ hasText: "Scheduled" }).waitFor();
      const asked: string[] = [];
      page.on("request", (request) => void asked.push(request.url()));
      await page.getByRole("link", { name: "Home", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
      await page.goBack();
      await row.waitFor();
      // Pages share the stream: none has opened another.
      expect(asked.filter((url) => url.includes("/api/live"))).toEqual([]);
      await server.request("POST", `/v1/messages/${messageId}/cancel`);
      await row.filter({ hasText: "Cancelled" }).waitFor();
      await server.send({ to: "15550100165", campaignName: "followed" });
      await page.getByRole("button", { name: "1 new" }).click();
      await page.getByText("2 in all").waitFor();
      expect(complaints).toEqual([]);
    });
  });

  test("exports a file for spreadsheets without formulas (CSV injection)", async () => {
    const { server } = dashboard;
    const sent = await server.send({ to: "15550103002", text: '=HYPERLINK("http://evil.example"), "quoted"' });
    await server.settled(sent.body.data[0]?.messageId ?? "");
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
  test("shows its progress, and can be stopped with the rows read so far", async () => {
    const { server } = dashboard;
    const to = Array.from({ length: 250 }, (_, n) => String(15550200000 + n));
    await server.send({ to, campaignName: "long" });
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
    const { messageId = "" } = (await dashboard.server.send({ to: "15550103003" })).body.data[0] ?? {};
    await dashboard.visit("/start", async ({ page }) => {
      const goTo = async (text: string): Promise<void> => {
        await page.keyboard.press("Control+k");
        await page.getByPlaceholder("Number, last digits, message id, campaign, template, page…").fill(text);
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
      await expect.poll(() => new URL(page.url()).search).toBe("?recipient=15550103003");
    });
  });

  test("a chosen theme stays when the theme of the system changes", async () => {
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
  test("misbehaves as configured, and returns to normal with one click", async () => {
    const { server } = dashboard;
    const chaos = async (): Promise<Record<string, unknown>> =>
      (await server.request<Record<string, unknown>>("GET", "/api/simulator/chaos")).body;
    await dashboard.visit("/simulator", async ({ page }) => {
      await page.getByRole("slider", { name: "Delivered" }).focus();
      await page.keyboard.press("ArrowLeft");
      await expect.poll(chaos).toMatchObject({ deliveredPercent: 99 });
      await page.getByRole("switch", { name: "Down" }).click({ force: true });
      await expect.poll(chaos).toMatchObject({ down: true });
      await page.getByRole("button", { name: "Reset" }).click();
      await expect.poll(chaos).toMatchObject({ down: false, deliveredPercent: 100 });
    });
  });

  test("shows the effect of a magic number in the inspector", async () => {
    await dashboard.visit("/simulator", async ({ page }) => {
      await page.getByRole("button", { name: "Try it: Accepted, then not delivered" }).click();
      await page.getByRole("heading", { name: "To 15550109001" }).waitFor();
      await expect.poll(() => page.locator("[data-step=end]").innerText()).toContain("Ended as undelivered");
    });
  });
});

describe("the phone", () => {
  test("shows a flash message in front, and offers a code to copy", async () => {
    const { server } = dashboard;
    const to = "15550103004";
    await server.send({ to, sender: "TAXI", text: "Your taxi is at the door.", flash: 1 });
    await server.request("POST", "/v1/verify", { configId: "default", to });
    await eventually(
      () => server.onPhone(to),
      ({ length }) => length === 2,
    );
    await dashboard.visit(`/phones/${to}?thread=sms+TAXI`, async ({ page }) => {
      await page.getByRole("alertdialog", { name: "Flash message" }).getByText("Your taxi is at the door.").waitFor();
      await page.getByRole("button", { name: "Dismiss" }).click();
      await page.getByRole("button", { name: "All conversations" }).click();
      await page.locator("[data-thread^='sms']").filter({ hasText: "code" }).click();
      await page.getByRole("button", { name: /^Copy the code/ }).click();
      const { body } = await server.request<{ otp: string }>("GET", `/api/simulator/otp/latest?to=${to}`);
      await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(body.otp);
    });
  });

  test("answers with a text, a file and a location, and reports messages as read", async () => {
    const { server } = dashboard;
    const to = "15550109004";
    const rcs = { number: `+${to}`, botId: "heliograph", templateName: "store-opening", type: "TRANS" };
    const { body } = await server.request<Envelope>("POST", "/v1/rcs", rcs);
    const messageId = body.data[0]?.messageId ?? "";
    await eventually(
      () => server.onPhone(to),
      ({ length }) => length === 1,
    );
    await dashboard.visit(`/phones/${to}`, async ({ page, errors: complaints, foreignRequests: strangers }) => {
      await page.getByLabel("Reply to heliograph").fill("I will come");
      await page.getByRole("button", { name: "Send reply" }).click();
      await page.locator("[data-inbound]").getByText("I will come").waitFor();
      const more = async (what: string): Promise<void> => {
        await page.getByRole("button", { name: "More to send" }).click();
        await page.getByRole("menuitem", { name: what }).click();
      };
      await more("Send a file");
      await page.getByRole("button", { name: "Send file" }).click();
      const far = page.locator("[data-inbound] [data-media=image]");
      await far.getByText("door.jpg").waitFor();
      expect(await far.innerText()).toContain("files.example");
      // A file of this server is shown as an image.
      const own = { fileName: "sun.svg", mimeType: "image/svg+xml", fileSizeBytes: 900 };
      const file = { to: "heliograph", channel: "rcs", ...own, fileUri: `${server.url}/favicon.svg` };
      await server.request("POST", `/api/simulator/phones/${to}/file`, file);
      const shown = page.getByRole("img", { name: "sun.svg" });
      await shown.waitFor();
      await expect
        .poll(() => page.evaluate<number>("document.querySelector('img[alt=\"sun.svg\"]').naturalWidth"))
        .toBeGreaterThan(0);
      await more("Share a location");
      await page.getByRole("button", { name: "Share" }).click();
      await page.locator("[data-inbound]").getByText("48.8584, 2.2945").waitFor();
      await more("Mark as read");
      await expect.poll(async () => (await server.message(messageId)).state).toBe("read");
      expect([...complaints, ...strangers]).toEqual([]);
    });
  });
});
