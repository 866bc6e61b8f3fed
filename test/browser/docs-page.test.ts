import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// @ts-expect-error a script without types
import { buildDocs } from "../../scripts/build-docs.mjs";
import { faultsOf, launchBrowser, OWNER, WAIT_MS } from "../support/browser.ts";
import { repetitions } from "../support/repetitions.ts";
import { startTestServer, type Envelope, type TestServer } from "../support/test-server.ts";

const PAGES = [
  { path: "/docs", title: "Documentation · Heliograph" },
  { path: "/docs/guides/sending", title: "Sending · Heliograph" },
  { path: "/docs/guides/performance", title: "Performance · Heliograph" },
  { path: "/docs/reference", title: "API reference · Heliograph" },
  { path: "/docs/reference/sms", title: "SMS · Heliograph" },
  { path: "/docs/errors", title: "Error codes · Heliograph" },
  { path: "/docs/errors/INVALID_RECIPIENT", title: "INVALID_RECIPIENT · Heliograph" },
];

const PAPER = { light: "rgb(255, 255, 255)", dark: "rgb(19, 18, 16)" } as const;

const PHONE = { width: 390, height: 844 };
const SCREEN = { width: 1440, height: 900 };

/** Light on a screen and dark on a phone; in `npm run test:long` all four. */
const VARIANTS = [
  { colorScheme: "light", viewport: SCREEN },
  { colorScheme: "dark", viewport: PHONE },
  { colorScheme: "light", viewport: PHONE },
  { colorScheme: "dark", viewport: SCREEN },
] as const;

let server: TestServer;
let browser: Browser;

beforeAll(async () => {
  await buildDocs();
  server = await startTestServer("sqlite", { env: { HELIOGRAPH_ADMIN_PASSWORD: OWNER.password } });
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

interface Visit {
  page: Page;
  /** Errors while the page was open: of scripts, of resources and of the content security policy. */
  complaints: string[];
  /** Requests to anybody but us. */
  strangers: string[];
}

async function visit(
  path: string,
  options: BrowserContextOptions,
  look: (visit: Visit) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(WAIT_MS);
  try {
    const page = await context.newPage();
    const complaints: string[] = [];
    const strangers: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (!request.url().startsWith(`${server.url}/`) && !request.url().startsWith("data:"))
        strangers.push(request.url());
    });
    await page.goto(server.url + path);
    await look({ page, complaints, strangers });
  } finally {
    await context.close();
  }
}

describe.for(PAGES.map((page, index) => ({ ...page, index })))("$path", ({ path, title, index }) => {
  test.for(VARIANTS.slice(0, repetitions(2, VARIANTS.length)).map((variant, turn) => ({ ...variant, turn })))(
    "is accessible and fits in $colorScheme at $viewport.width pixels",
    async ({ colorScheme, viewport, turn }) => {
      await visit(path, { viewport, colorScheme }, async ({ page, complaints, strangers }) => {
        expect(await page.title()).toBe(title);
        expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(PAPER[colorScheme]);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(viewport.width);
        // Axe takes seconds on a long page, and the pages share their layout: each is checked in one variant, in turn.
        const isChecked = repetitions(1, 2) === 2 || turn === index % 2;
        expect(isChecked ? await faultsOf(page) : []).toEqual([]);
        expect(complaints).toEqual([]);
        expect(strangers).toEqual([]);
      });
    },
  );
});

test("the keyboard reaches the content first and shows the focus", async () => {
  await visit("/docs", { viewport: SCREEN }, async ({ page }) => {
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.keyboard.press("Enter");
    expect(page.url()).toBe(`${server.url}/docs#content`);
  });
});

test("an operation stands in sight once it is chosen from the contents", async () => {
  await visit("/docs/reference/simulator", { viewport: SCREEN }, async ({ page }) => {
    await page.getByRole("navigation", { name: "Contents" }).getByRole("link", { name: "Wait for a message" }).click();
    const found = await page.getByRole("heading", { name: "Wait for a message", exact: true }).boundingBox();
    const cover = await page.locator(".bar").boundingBox();
    expect(found?.y).toBeGreaterThanOrEqual((cover?.y ?? 0) + (cover?.height ?? 0));
    expect(found?.y).toBeLessThan(SCREEN.height / 2);
  });
});

test("on a phone the contents are one link away", async () => {
  await visit("/docs/guides/sending", { viewport: PHONE }, async ({ page }) => {
    await page.getByRole("link", { name: "Contents" }).click();
    const contents = page.getByRole("navigation", { name: "Contents" });
    await expect.poll(async () => (await contents.boundingBox())?.y).toBeLessThan(PHONE.height / 2);
    await contents.getByRole("link", { name: "Callbacks" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Callbacks" }).waitFor();
  });
});

test.for([
  { old: "/docs#postSms", now: "/docs/reference/sms#postSms" },
  { old: "/docs#webhooks", now: "/docs/reference/webhooks" },
  { old: "/docs#idempotency", now: "/docs/reference#idempotency" },
])("$old leads to its place of today", async ({ old, now }) => {
  await visit(old, { viewport: SCREEN }, async ({ page }) => {
    await expect.poll(() => page.url()).toBe(server.url + now);
  });
});

test.for([
  { words: "acme certificate", kind: "Guide", to: "/docs/guides/serving#certificates-by-acme" },
  { words: "rotate secret webhook", kind: "Operation", to: "/docs/reference/webhooks#postWebhooksIdRotateSecret" },
  { words: "OPTED_OUT", kind: "Error code", to: /\/docs\/errors\/\w*OPTED_OUT$/ },
])("the search finds $words by keyboard", async ({ words, kind, to }) => {
  await visit("/docs/guides/install", { viewport: SCREEN }, async ({ page, complaints, strangers }) => {
    await page.keyboard.press("/");
    await page.keyboard.type(words);
    const results = page.getByRole("listbox", { name: "Search results" });
    await results.getByRole("option").filter({ hasText: kind }).first().waitFor();
    expect(kind === "Operation" ? await faultsOf(page) : []).toEqual([]);
    const kinds = await results.locator(".kind").allTextContents();
    for (let at = 0; at <= kinds.indexOf(kind); at += 1) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(typeof to === "string" ? server.url + to : to);
    expect([...complaints, ...strangers]).toEqual([]);
  });
});

test("the search says when there is nothing, and closes with Escape", async () => {
  await visit("/docs", { viewport: SCREEN }, async ({ page }) => {
    const field = page.getByRole("combobox", { name: "Search guides and reference" });
    await field.fill("zzzunknown");
    await page.getByText("Nothing found").waitFor();
    await field.fill("webhook");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("listbox").isVisible()).toBe(false);
  });
});

test("a request of the page reaches this server and the phone, and the key is not kept", async () => {
  await visit("/docs/reference/sms", { viewport: SCREEN }, async ({ page, complaints, strangers }) => {
    const operation = page.locator("#postSms");
    await operation.getByText("Try it").click();
    await operation.getByLabel("API key").fill(server.key);
    await operation
      .getByLabel("Body", { exact: true })
      .fill(JSON.stringify({ sender: "HELIOG", to: "15550100177", text: "From the page <b>", type: "TRANS" }));
    await operation.getByRole("button", { name: "Send POST request" }).click();
    await operation.getByText("HTTP 200 OK").waitFor();
    const answer = JSON.parse((await operation.getByLabel("Response").textContent()) ?? "") as Envelope;
    await server.settled(answer.data[0]?.messageId ?? "");
    expect((await server.onPhone("15550100177")).map(({ text }) => text)).toEqual(["From the page <b>"]);
    expect(await faultsOf(page)).toEqual([]);

    const preview = page.locator("#postSmsPreview");
    await preview.getByText("Try it").click();
    expect(await preview.getByLabel("API key").inputValue()).toBe(server.key);

    const kept = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])";
    expect(await page.evaluate(kept)).not.toContain(server.key);
    await page.reload();
    await operation.getByText("Try it").click();
    expect(await operation.getByLabel("API key").inputValue()).toBe("");
    expect([...complaints, ...strangers]).toEqual([]);
  });
});

test("a request of the page carries no cookie of a login in the same browser", async () => {
  await visit("/docs/reference/messages", { viewport: SCREEN }, async ({ page }) => {
    const login = await page.request.post(`${server.url}/api/session`, { data: OWNER });
    expect(login.status()).toBe(200);
    const operation = page.locator("#getMessages");
    await operation.getByText("Try it").click();
    await operation.getByLabel("API key").fill("hg_live_unknown");
    const sent = page.waitForRequest((request) => new URL(request.url()).pathname === "/v1/messages");
    await operation.getByRole("button", { name: "Send GET request" }).click();
    expect((await page.context().cookies()).map(({ name }) => name)).toContain("heliograph_session");
    expect(await (await sent).allHeaders()).not.toHaveProperty("cookie");
    await operation.getByText("HTTP 401").waitFor();
    expect(await operation.getByLabel("Response").textContent()).toContain("UNAUTHORIZED");
  });
});

test("every operation for programs can be tried, and none for people", async () => {
  await visit("/docs/reference/login", { viewport: SCREEN }, async ({ page }) => {
    expect(await page.locator("#getSession .try, #deleteSession .try").count()).toBe(0);
    await page.goto(`${server.url}/docs/reference/api-keys`);
    expect(await page.locator("article.operation .try:visible").count()).toBe(
      await page.locator("article.operation").count(),
    );
  });
});

test("a language chosen once holds for all samples of the page, and is copied", async () => {
  const permissions = ["clipboard-read", "clipboard-write"];
  await visit("/docs/reference/sms", { viewport: SCREEN, permissions }, async ({ page, complaints }) => {
    const block = page.locator("#postSms figure.code").first();
    await block.getByLabel("Language").selectOption("Go");
    await block.getByRole("button", { name: "Copy" }).click();
    await block.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toContain("package main");
    expect(await page.locator("#postSmsPreview pre[data-sample]:visible").first().textContent()).toContain(
      "package main",
    );
    expect(complaints).toEqual([]);
  });
});

test("the first page is small and painted early", async () => {
  await visit("/docs", { viewport: SCREEN }, async ({ page }) => {
    const paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0";
    await expect.poll(() => page.evaluate<number>(paint)).toBeGreaterThan(0);
    // Loosely: a quiet machine needs less than 200 ms, a busy one several times as long.
    expect(await page.evaluate<number>(paint)).toBeLessThan(10_000);
    const transferred = await page.evaluate<number>(
      "performance.getEntries().reduce((sum, { transferSize = 0 }) => sum + transferSize, 0)",
    );
    expect(transferred).toBeLessThan(25_000);
  });
});

test("a click copies the command", async () => {
  const permissions = ["clipboard-read", "clipboard-write"];
  await visit("/docs", { viewport: SCREEN, permissions }, async ({ page, complaints }) => {
    const block = page.locator("figure.code").first();
    await block.getByRole("button", { name: "Copy" }).click();
    await block.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe(await block.locator("code").textContent());
    expect(copied).toContain(`curl ${server.url}/v1/sms`);
    expect(complaints).toEqual([]);
  });
});

test("only one of several examples is open at a time", async () => {
  await visit("/docs/reference/sms", { viewport: SCREEN }, async ({ page }) => {
    const choice = page.locator("#postSms .choice");
    expect(await choice.locator("details[open]").count()).toBe(1);
    await choice.getByText("Request: flash").click();
    expect(await choice.locator("details[open] summary").allTextContents()).toEqual(["Request: flash"]);
  });
});
