import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser } from "./support/browser.ts";
import { openHouse, type House } from "./support/house.ts";

const PAGES = [
  { path: "/docs/start", title: "Heliograph" },
  { path: "/docs", title: "API reference · Heliograph" },
  { path: "/docs/errors", title: "Error codes · Heliograph" },
  { path: "/docs/errors/INVALID_RECIPIENT", title: "INVALID_RECIPIENT · Heliograph" },
];

const SCHEMES = [
  { colorScheme: "light", paper: "rgb(255, 255, 255)" },
  { colorScheme: "dark", paper: "rgb(19, 18, 16)" },
] as const;

const PHONE = { width: 390, height: 844 };
const SCREEN = { width: 1440, height: 900 };

let house: House;
let browser: Browser;

beforeAll(async () => {
  house = await openHouse("sqlite");
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await house?.close();
});

interface Visit {
  page: Page;
  /** What went wrong while the page was open: errors of scripts, resources and of the content security policy. */
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
  try {
    const page = await context.newPage();
    const complaints: string[] = [];
    const strangers: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (!request.url().startsWith(`${house.url}/`) && !request.url().startsWith("data:"))
        strangers.push(request.url());
    });
    await page.goto(house.url + path);
    await look({ page, complaints, strangers });
  } finally {
    await context.close();
  }
}

describe.for(PAGES)("$path", ({ path, title }) => {
  test.for(SCHEMES)("is clean, legible and fits a phone in $colorScheme", async ({ colorScheme, paper }) => {
    await visit(path, { viewport: SCREEN, colorScheme }, async ({ page, complaints, strangers }) => {
      expect(await page.title()).toBe(title);
      expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(paper);

      const { looked, faint } = await page.evaluate<{ looked: number; faint: string[] }>(MEASURE_CONTRAST);
      expect(looked).toBeGreaterThan(20);
      expect(faint).toEqual([]);

      await page.setViewportSize(PHONE);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);

      expect(complaints).toEqual([]);
      expect(strangers).toEqual([]);
    });
  });
});

test("the keyboard reaches the content first and shows where it is", async () => {
  await visit("/docs", { viewport: SCREEN }, async ({ page }) => {
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.keyboard.press("Enter");
    expect(page.url()).toBe(`${house.url}/docs#content`);
  });
});

test.for([
  { viewport: SCREEN, entry: /^Wait for a message/, heading: "Wait for a message", above: ".bar" },
  { viewport: PHONE, entry: /^Simulator$/, heading: "Simulator", above: ".side" },
])("$heading stands in sight once it is chosen from the contents", async ({ viewport, entry, heading, above }) => {
  await visit("/docs", { viewport }, async ({ page }) => {
    await page.getByRole("navigation", { name: "Contents" }).getByRole("link", { name: entry }).click();
    const found = await page.getByRole("main").getByRole("heading", { name: heading, exact: true }).boundingBox();
    const cover = await page.locator(above).boundingBox();
    expect(found?.y).toBeGreaterThanOrEqual((cover?.y ?? 0) + (cover?.height ?? 0));
    expect(found?.y).toBeLessThan(viewport.height / 2);
  });
});

test("a click copies the command", async () => {
  const permissions = ["clipboard-read", "clipboard-write"];
  await visit("/docs/start", { viewport: SCREEN, permissions }, async ({ page, complaints }) => {
    const block = page.locator("figure.code").first();
    await block.getByRole("button", { name: "Copy" }).click();
    await block.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe(await block.locator("code").textContent());
    expect(copied).toContain(`curl ${house.url}/v1/sms`);
    expect(complaints).toEqual([]);
  });
});

test("of several examples one is open at a time", async () => {
  await visit("/docs", { viewport: SCREEN }, async ({ page }) => {
    const choice = page.locator("#postSms .choice");
    expect(await choice.locator("details[open]").count()).toBe(1);
    await choice.getByText("Request: flash").click();
    expect(await choice.locator("details[open] summary").allTextContents()).toEqual(["Request: flash"]);
  });
});

/** Every text against its background by the formula of WCAG 2; what is below 4.5 is listed. Runs in the page. */
const MEASURE_CONTRAST = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (color.startsWith("rgb(")) return color;
    }
    return "rgb(255, 255, 255)";
  };
  let looked = 0;
  const faint = new Set();
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
    const { color, fontSize } = getComputedStyle(element);
    if (!own || !element.checkVisibility() || fontSize === "0px") continue;
    looked += 1;
    const [light, dark] = [luminance(color), luminance(behind(element))].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) faint.add(element.tagName + "." + element.className + " " + ratio.toFixed(2));
  }
  return { looked, faint: [...faint] };
})()`;
