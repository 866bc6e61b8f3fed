import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultsInAllVariants, faultsOf, openDashboard, OWNER, settled, type Dashboard } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
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

interface List {
  data: { messageId: string; text: string }[];
}

const messagesTo = async (number: string): Promise<List["data"]> =>
  (await dashboard.server.request<List>("GET", `/v1/messages?recipient=${number}`)).body.data;

describe("compose", () => {
  test("starts empty, and sends a draft once for any number of clicks", async () => {
    const to = "15550104001";
    await dashboard.visit("/composer", async ({ page, errors }) => {
      expect(await page.getByLabel("To", { exact: true }).inputValue()).toBe("");
      expect(await page.getByLabel("Text", { exact: true }).inputValue()).toBe("");
      const send = page.getByRole("button", { name: "Send", exact: true });
      expect(await send.getAttribute("aria-disabled")).toBe("true");
      await page.getByRole("button", { name: "Fill in an example" }).click();
      await page.getByLabel("To", { exact: true }).fill(to);
      await send.dblclick();
      await page.locator("[data-sent]").getByText("Accepted: 1 message queued").waitFor();
      const sent = page.getByRole("button", { name: "Sent", exact: true });
      expect(await sent.getAttribute("aria-disabled")).toBe("true");
      expect(await messagesTo(to)).toHaveLength(1);

      // Another draft is another message.
      await page.getByLabel("Text", { exact: true }).fill("Another one.");
      await send.focus();
      await page.keyboard.press("Enter");
      await sent.waitFor();
      expect(await messagesTo(to)).toHaveLength(2);
      expect(errors).toEqual([]);
    });
  });

  test("shows a review before a message goes to more than one person", async () => {
    await dashboard.server.request("POST", "/api/optouts", { number: "15550104012" });
    await dashboard.visit("/composer?kind=sms-bulk", async ({ page, errors }) => {
      await page.getByRole("combobox", { name: "Sender" }).fill("HELIOG");
      await page.getByLabel("To", { exact: true }).fill("15550104011\n15550104012\n15550104013\n15550104011\nAsha");
      await page.locator("[data-others]").getByText("“Asha” is not a number.").waitFor();
      expect(await page.locator("[data-others]").getByRole("link").getAttribute("href")).toBe("/audiences");
      await page.getByLabel("Text", { exact: true }).fill("Coats cost a fifth less until Sunday.");
      await page.getByRole("combobox", { name: "Route type" }).click();
      await page.getByRole("option", { name: "PROMO" }).click();
      await page.getByLabel("Campaign").fill("reviewed");
      await page.getByRole("button", { name: "Review and send" }).click();
      const review = page.getByRole("dialog", { name: "Review before sending" });
      const row = (name: string) => review.getByRole("row").filter({ hasText: name });
      await row("Recipients").getByText("4 (1 duplicate removed)").waitFor();
      expect(await row("Valid").first().innerText()).toMatch(/2$/);
      expect(await row("Invalid").innerText()).toContain("1 (Asha)");
      expect(await row("Opted out").innerText()).toContain("1 (15550104012)");
      expect(await row("Segments each").innerText()).toMatch(/1$/);
      expect(await row("Credits").innerText()).toContain("2 (not deducted)");
      expect(await row("Carrier").innerText()).toContain("simulator");
      expect(await row("When").innerText()).toContain("Now");
      expect(await row("Time zone").innerText()).toMatch(/\((GMT|UTC).*yours\)/);
      expect(await faultsOf(page)).toEqual([]);
      await review.getByRole("button", { name: "Back to the draft" }).click();
      await review.waitFor({ state: "detached" });
      expect(await messagesTo("15550104011")).toEqual([]);

      await page.getByRole("button", { name: "Review and send" }).click();
      await review.getByRole("button", { name: "Send to 2 recipients now" }).click();
      await page.getByText("Accepted: 4 messages queued").waitFor();
      expect(await messagesTo("15550104011")).toHaveLength(1);
      expect(errors).toEqual([]);
    });
  });

  test("reports an unknown outcome without a response, and then sends nothing twice", async () => {
    const to = "15550104021";
    await dashboard.visit("/composer", async ({ page }) => {
      await page.getByRole("button", { name: "Fill in an example" }).click();
      await page.getByLabel("To", { exact: true }).fill(to);
      await page.route("**/v1/sms", async (route) => {
        await route.fetch();
        await route.abort();
      });
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByRole("alert").getByText("Unknown: check before sending again").waitFor();
      expect(await messagesTo(to)).toHaveLength(1);
      await page.unroute("**/v1/sms");
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByRole("button", { name: "Sent", exact: true }).waitFor();
      expect(await messagesTo(to)).toHaveLength(1);
    });
  });
});

describe("the search in the header", () => {
  test("has in its field what was typed while it loaded", async () => {
    await dashboard.visit(
      "/login",
      async ({ page }) => {
        await page.context().request.post(`${dashboard.server.url}/api/session`, { data: OWNER });
        let load = (): void => undefined;
        const held = new Promise<void>((resolve) => {
          load = resolve;
        });
        await page.route("**/assets/palette-*.js", async (route) => {
          await held;
          await route.continue();
        });
        await page.goto(`${dashboard.server.url}/overview`);
        await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
        await page.keyboard.press("Control+k");
        await page.keyboard.type("/opps");
        await page.keyboard.press("Backspace");
        load();
        const field = page.getByRole("dialog", { name: "Search" }).getByRole("textbox", { name: "Search" });
        await expect.poll(() => field.inputValue()).toBe("/opp");
        await expect.poll(() => field.evaluate((input) => input === input.ownerDocument.activeElement)).toBe(true);
        await page.keyboard.type("o");
        expect(await field.inputValue()).toBe("/oppo");
      },
      null,
    );
  });

  test("finds by last digits, message id, campaign and template, and shows its progress and an empty result", async () => {
    const { server } = dashboard;
    const sent = await server.send({ to: "15550104731", campaignName: "spring fair" });
    const messageId = sent.body.data[0]?.messageId ?? "";
    await dashboard.visit("/overview", async ({ page, errors }) => {
      const dialog = page.getByRole("dialog", { name: "Search" });
      const field = dialog.getByRole("textbox", { name: "Search" });
      const status = dialog.getByRole("status");
      let answer = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await page.route("**/api/messages?recipientEnding=*", async (route) => {
        await held;
        await route.continue();
      });
      await page.getByRole("button", { name: /^Search messages, campaigns, pages/ }).click();
      await field.fill("4731");
      await status.getByText("Searching messages, campaigns, templates, webhooks and keys…").waitFor();
      answer();
      await dialog.getByRole("button", { name: /To 15550104731/ }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await dialog.getByRole("button", { name: /To 15550104731/ }).click();
      await page.getByRole("heading", { name: "To 15550104731" }).waitFor();

      await page.keyboard.press("Control+k");
      await field.fill("SPRING");
      await dialog.getByRole("button", { name: "spring fair" }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "spring fair" }).waitFor();

      await page.keyboard.press("Control+k");
      await field.fill("rate-us");
      await dialog.getByRole("button", { name: "rate-us" }).waitFor();
      await field.fill(messageId.split(":")[0] ?? "");
      await dialog.getByRole("button", { name: /To 15550104731/ }).waitFor();
      await field.fill("99887766554433");
      await status.getByText("Nothing on the server matches “99887766554433”.").waitFor();
      expect(errors).toEqual([]);
    });
  });
});

describe("the list of messages", () => {
  test("counts later messages as new, and not the rest of a bulk with the same time", async () => {
    const { server } = dashboard;
    const campaignName = "at once";
    const to = Array.from({ length: 60 }, (_, n) => String(15550105000 + n));
    const sent = await server.send({ to, campaignName });
    for (const { messageId } of sent.body.data) await server.settled(messageId);
    await dashboard.visit("/messages?campaignName=at+once", async ({ page, errors }) => {
      await page.getByText(/50 (of 60 )?shown/).waitFor();
      const pill = page.getByRole("button", { name: "1 new" });
      // After a lost connection, which a busy machine can cause, the page reads the whole list again.
      const isRead = async (number: string): Promise<boolean> => {
        const row = page.getByRole("link", { name: number });
        await server.send({ to: number, campaignName });
        await pill.or(row).first().waitFor();
        if (!(await pill.isVisible())) return false;
        await pill.click();
        await row.waitFor();
        return true;
      };
      expect((await isRead("15550105100")) || (await isRead("15550105101"))).toBe(true);
      expect(await page.locator("[data-new]").count()).toBe(0);
      expect(errors).toEqual([]);
    });
  });
});

describe("a list whose search is slow", () => {
  const campaignName = "slow search";
  beforeAll(async () => {
    const to = Array.from({ length: 30 }, (_, n) => String(15550105200 + n));
    await dashboard.server.send({ to, campaignName });
  });

  test("reads on after a short page until the page is full", async () => {
    await dashboard.visit("/audit", async ({ page, errors }) => {
      // The server answers with fewer rows than a page has, as after 200 ms of a search.
      await page.route(/api\/messages\?(?!.*cursor).*slow/, (route) =>
        route.continue({ url: route.request().url().replace("limit=50", "limit=20") }),
      );
      await page.goto(`${dashboard.server.url}/messages?campaignName=slow+search`);
      await page
        .getByRole("link", { name: /^155501052/ })
        .nth(29)
        .waitFor();
      await page.getByText("30 in all").waitFor();
      await page.getByRole("button", { name: "Show more" }).waitFor({ state: "detached" });
      expect(errors).toEqual([]);
    });
  });

  test("keeps its rows when the rest cannot be read, and reads it on request", async () => {
    await dashboard.visit("/audit", async ({ page }) => {
      await page.route(/api\/messages\?(?!.*cursor).*slow/, (route) =>
        route.continue({ url: route.request().url().replace("limit=50", "limit=20") }),
      );
      const rest = /api\/messages\?.*cursor/;
      let asked = 0;
      await page.route(rest, (route) => {
        asked += 1;
        const error = {
          code: "QUERY_TIMED_OUT",
          message: "The search took too long.",
          parameter: null,
          requestId: "1",
        };
        return route.fulfill({ status: 503, json: { error: { ...error, details: [] } } });
      });
      await page.goto(`${dashboard.server.url}/messages?campaignName=slow+search`);
      await page.getByRole("alert").getByText("The search took too long.").waitFor();
      expect(await page.getByRole("link", { name: /^155501052/ }).count()).toBe(20);
      // The next attempt is the user's: each takes the whole time limit of a search.
      expect(asked).toBe(1);
      await page.unroute(rest);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText("30 in all").waitFor();
    });
  });
});

describe("selected messages", () => {
  test("that wait are cancelled together after a question, and the others are left", async () => {
    const { server } = dashboard;
    const campaignName = "to cancel";
    const { body } = await server.send({ to: "15550105301", campaignName });
    await server.settled(body.data[0]?.messageId ?? "");
    const sendAt = Date.now() + 3_600_000;
    await server.send({ to: ["15550105302", "15550105303", "15550105304"], campaignName, sendAt });
    await dashboard.visit("/messages?campaignName=to+cancel", async ({ page, errors }) => {
      await page.getByText("4 in all").waitFor();
      for (const number of ["15550105301", "15550105302", "15550105303"])
        await page.getByRole("checkbox", { name: `Select ${number}, ` }).check();
      const selection = page.getByRole("group", { name: "Selected messages" });
      await selection.getByText("3 selected").waitFor();
      expect(await faultsOf(page)).toEqual([]);
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        selection.getByRole("button", { name: "Save as CSV" }).click(),
      ]);
      expect(await readFile(await file.path(), "utf8")).toMatch(
        /^messageId,.*\r\n.*15550105303.*\r\n.*15550105302.*\r\n.*15550105301.*\r\n$/,
      );
      await selection.getByRole("button", { name: "Cancel messages" }).click();
      const question = page.getByRole("dialog", { name: "Cancel the selected messages?" });
      await question.getByText(/^Still waiting: 2\./).waitFor();
      await question.getByRole("button", { name: "Cancel messages" }).click();
      const result = page.getByRole("dialog", { name: "Cancel messages" });
      await result.getByText("2 cancelled. Their credits are released.").waitFor();
      await result.getByRole("button", { name: "Close" }).last().click();
      const stateOf = (number: string) => page.getByRole("row").filter({ hasText: number });
      await stateOf("15550105302").getByText("Cancelled").waitFor();
      await stateOf("15550105303").getByText("Cancelled").waitFor();
      await stateOf("15550105301").getByText("Delivered").waitFor();
      await stateOf("15550105304").getByText("Scheduled").waitFor();
      await selection.waitFor({ state: "detached" });
      expect(errors).toEqual([]);
    });
    // Cancelled messages are no failures, and a campaign runs only while messages wait for more than their time.
    await dashboard.visit("/campaigns", async ({ page }) => {
      const rowOf = (name: string) =>
        page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
      await rowOf(campaignName).getByText("1 delivered · 1 pending · 0 failed · 2 cancelled").waitFor();
      await rowOf(campaignName).getByText("Scheduled").waitFor();
      await rowOf("at once").getByText("Finished").waitFor();
    });
  });

  test("have filters that are saved under a name and applied again, by keyboard", async () => {
    await dashboard.visit("/messages?recipient=5301&channel=sms", async ({ page, errors }) => {
      const open = page.getByRole("button", { name: "Saved views" });
      await open.focus();
      await page.keyboard.press("Enter");
      await page.getByLabel("Save these filters as").fill("Last shop");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Last shop", exact: true }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await page.goto(`${dashboard.server.url}/messages?status=Failed`);
      await open.click();
      await page.getByRole("button", { name: "Last shop", exact: true }).click();
      await page.getByRole("link", { name: "15550105301" }).waitFor();
      expect(new URL(page.url()).search).toBe("?recipient=5301&channel=sms");
      await open.click();
      await page.getByRole("button", { name: "Remove Last shop" }).click();
      await page.getByRole("button", { name: "Last shop", exact: true }).waitFor({ state: "detached" });
      expect(errors).toEqual([]);
    });
  });

  test("are found by a part of their text, with the columns that the user has chosen", async () => {
    const { server } = dashboard;
    await server.send({ to: "15550105311", text: "Your parcel waits at the corner shop", campaignName: "parcels" });
    await dashboard.visit("/messages", async ({ page, errors }) => {
      await page.getByRole("button", { name: "More", exact: true }).click();
      await page.getByLabel("Part of the text").fill("PARCEL WAITS");
      await page.getByText("1 in all").waitFor();
      await page.getByRole("link", { name: "15550105311" }).waitFor();
      const header = page.getByRole("columnheader", { name: "Campaign" });
      expect(await header.count()).toBe(0);
      await page.getByRole("button", { name: "Columns" }).click();
      expect(await faultsOf(page)).toEqual([]);
      await page.getByRole("checkbox", { name: "Campaign" }).check();
      await page.getByRole("checkbox", { name: "Type", exact: true }).uncheck();
      await page.keyboard.press("Escape");
      await header.waitFor();
      await page.reload();
      await page.getByRole("cell", { name: "parcels" }).waitFor();
      expect(await page.getByRole("columnheader", { name: "Type", exact: true }).count()).toBe(0);
      expect(await faultsInAllVariants(page)).toEqual([]);
      expect(errors).toEqual([]);
      await page.evaluate("localStorage.removeItem('heliograph-message-columns')");
    });
  });
});

describe("webhook deliveries", () => {
  test("to one phone are found by its number among any number of others", async () => {
    const { server } = dashboard;
    const number = "15550104041";
    const made = await server.request<{ id: string }>("POST", "/api/dlr-configs", {
      name: "Reports",
      url: `${sink.url}/reports`,
    });
    await server.send({ to: number });
    const ofPhone = () => server.request<{ data: { state: string }[] }>("GET", `/api/callbacks?phone=${number}`);
    await eventually(ofPhone, ({ body }) => body.data.some(({ state }) => state === "delivered"));
    await server.send({ to: Array.from({ length: 120 }, (_, n) => String(15550106000 + n)) });
    const all = () => server.request<{ data: unknown[] }>("GET", "/api/callbacks?limit=200");
    await eventually(all, ({ body }) => body.data.length > 120);
    await dashboard.visit(`/phones/${number}`, async ({ page, errors }) => {
      await page
        .getByRole("region", { name: "Callbacks" })
        .getByRole("button", { name: /delivery_report delivered/ })
        .waitFor();
      expect(errors).toEqual([]);
    });
    await server.request("DELETE", `/api/dlr-configs/${made.body.id}`);
  });

  test("show as failed after two failures, and can be retried at once while they wait", async () => {
    const { server } = dashboard;
    sink.respondWith((_heard, response) => void response.writeHead(500).end("not today"));
    const made = await server.request<{ id: string }>("POST", "/api/dlr-configs", {
      name: "Fails",
      url: `${sink.url}/fails`,
    });
    const path = `/api/callbacks?endpointId=${made.body.id}`;
    const callbacks = async () =>
      (await server.request<{ data: { state: string; tries: number }[] }>("GET", path)).body.data;
    await server.send({ to: "15550104051" });
    await eventually(callbacks, ([first]) => first?.tries === 2);
    await dashboard.visit(`/operations/callbacks?endpointId=${made.body.id}`, async ({ page, errors }) => {
      await page.getByText("Failing, retrying").waitFor();
      await page.locator("[data-failing]").getByRole("link", { name: "Fails" }).waitFor();
      expect(await faultsInAllVariants(page)).toEqual([]);
      sink.respondWith((_heard, response) => void response.writeHead(200).end());
      await page.getByRole("button", { name: "delivery_report delivered" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Retry now" }).click();
      await eventually(callbacks, ([first]) => first?.state === "delivered");
      expect(errors).toEqual([]);
    });
  });

  test("are recovered together, waiting and failed ones", async () => {
    const { server } = dashboard;
    sink.respondWith((_heard, response) => void response.writeHead(500).end());
    const made = await server.request<{ id: string }>("POST", "/api/dlr-configs", {
      name: "Waits",
      url: `${sink.url}/waits`,
    });
    const path = `/api/callbacks?endpointId=${made.body.id}`;
    const callbacks = async () =>
      (await server.request<{ data: { state: string; tries: number }[] }>("GET", path)).body.data;
    await server.send({ to: ["15550104061", "15550104062"] });
    await eventually(callbacks, (rows) => rows.length === 2 && rows.every(({ tries }) => tries >= 2));
    sink.respondWith((_heard, response) => void response.writeHead(200).end());
    await dashboard.visit(`/operations/callbacks?endpointId=${made.body.id}`, async ({ page, errors }) => {
      await page.getByRole("button", { name: "Recover since…" }).click();
      const since = page.getByRole("dialog", { name: "Recover everything since" });
      await since.getByRole("button", { name: "Resend", exact: true }).click();
      await since.getByText("2 deliveries are queued again.").waitFor();
      await eventually(callbacks, (rows) => rows.every(({ state }) => state === "delivered"));
      expect(errors).toEqual([]);
    });
  });
});

test("a lost connection shows in the header, and pages recover by themselves", async () => {
  await dashboard.visit("/opt-outs-and-more", async ({ page }) => {
    await page.goto(`${dashboard.server.url}/operations/carriers`);
    await settled(page);
    const context = page.context();
    await context.setOffline(true);
    await page.locator("[data-lost]").getByText("Connection lost, reconnecting…").waitFor();
    await page.getByRole("tab", { name: "Unmatched receipts" }).click();
    await context.setOffline(false);
    await page.locator("[data-lost]").waitFor({ state: "detached" });
    await page.getByText("All receipts match a message.").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});

test("a carrier without a route leads to one, which takes its messages before the simulator does", async () => {
  const { server } = dashboard;
  const smpp = { host: "127.0.0.1", port: 1, systemId: "shop", password: "secret" };
  await server.request("POST", "/api/carriers", { name: "north", adapter: "smpp", smpp });
  const { body } = await server.request<{ data: { id: string }[] }>("GET", "/api/routes");
  await server.request("PATCH", `/api/routes/${body.data[0]?.id}`, { priority: 40 });
  await dashboard.visit("/operations/carriers", async ({ page, errors }) => {
    await page.getByRole("button", { name: "north", exact: true }).click();
    const carrier = page.getByRole("dialog", { name: "north" });
    await carrier.getByText("Next: add a route").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await carrier.getByRole("button", { name: "Add route" }).click();
    const form = page.getByRole("dialog", { name: "Add route" });
    const request = page.waitForRequest((each) => each.method() === "POST" && each.url().endsWith("/api/routes"));
    await form.locator("button[type=submit]").click();
    expect((await request).postDataJSON()).toMatchObject({
      name: "Messages by north",
      carrier: "north",
      channel: "sms",
      priority: 39,
    });
    await form.waitFor({ state: "detached" });
    expect(errors).toEqual([]);
  });
});
