import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { eventually } from "./eventually.ts";
import { openHouse, type House } from "./house.ts";

export const PHONE = { width: 390, height: 844 };
export const SCREEN = { width: 1440, height: 900 };

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** What axe looks for: WCAG 2.2 AA and everything before it. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

export const OWNER = { email: "admin@localhost", password: randomBytes(12).toString("hex") };

type Person = typeof OWNER;

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** What went wrong while the page was open: errors of scripts, resources and of the content security policy. */
  complaints: string[];
  /** Requests to anybody but us. */
  strangers: string[];
}

/** A house with its dashboard, and a browser before it. */
export interface Dashboard {
  house: House;
  /** Opens a page in a fresh browser, signed in unless told otherwise, and closes it after the look. */
  visit(path: string, look: (visit: Visit) => Promise<void>, options?: VisitOptions): Promise<void>;
  close(): Promise<void>;
}

interface VisitOptions extends BrowserContextOptions {
  /** Whose session the page has; null for nobody's. */
  as?: Person | null;
}

export async function openDashboard(): Promise<Dashboard> {
  await buildDashboard();
  const house = await openHouse("sqlite", { env: { HELIOGRAPH_ADMIN_PASSWORD: OWNER.password } });
  const browser = await chromium.launch({
    executablePath: process.env.HELIOGRAPH_CHROMIUM || "/usr/bin/chromium",
    args: ARGS,
  });
  const sessions = new Map<string, Awaited<ReturnType<BrowserContext["storageState"]>>>();

  /** One login for all pages of a person: it takes its time, as logins should. */
  async function sessionOf(person: Person): Promise<NonNullable<BrowserContextOptions["storageState"]>> {
    const known = sessions.get(person.email) ?? (await logIn(browser, house.url, person));
    sessions.set(person.email, known);
    return known;
  }

  return {
    house,
    async visit(path, look, { as = OWNER, ...options } = {}) {
      const context = await browser.newContext({
        viewport: SCREEN,
        reducedMotion: "reduce",
        ...(as ? { storageState: await sessionOf(as) } : {}),
        ...options,
      });
      try {
        await look(await open(context, house.url, path));
      } finally {
        await context.close();
      }
    },
    async close() {
      await browser.close();
      await house.close();
    },
  };
}

/** As `npm test` does before all tests: nothing happens when the build is up to date. */
const buildDashboard = async (): Promise<void> => {
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, "../../scripts/build-dashboard.mjs")]);
};

async function logIn(browser: Browser, url: string, person: Person) {
  const context = await browser.newContext();
  const answer = await context.request.post(`${url}/api/session`, { data: person });
  if (!answer.ok()) throw new Error(`the login of ${person.email} was answered ${answer.status()}`);
  const state = await context.storageState();
  await context.close();
  return state;
}

async function open(context: BrowserContext, url: string, path: string): Promise<Visit> {
  const page = await context.newPage();
  const complaints: string[] = [];
  const strangers: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    const own = [`${url}/`, "data:", `blob:${url}/`].some((start) => request.url().startsWith(start));
    if (!own) strangers.push(request.url());
  });
  await page.goto(url + path);
  await settled(page);
  return { page, context, complaints, strangers };
}

/** Turns a page that was opened light on a screen into a dark one on a phone, and waits until it is one. */
export async function turnIntoDarkPhone(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize(PHONE);
  await page.waitForFunction("document.documentElement.dataset.mantineColorScheme === 'dark'");
}

/** How wide the page is, once it has settled: no wider than the screen, or one would have to scroll sideways. */
export const widthOf = (page: Page): Promise<number> =>
  eventually(
    () => page.evaluate<number>("document.documentElement.scrollWidth"),
    (width) => width <= PHONE.width,
    2000,
  ).catch(() => page.evaluate<number>("document.documentElement.scrollWidth"));

/** Once the page has its heading and nothing in it is being loaded. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.waitForFunction("!document.querySelector('[aria-busy=true]')");
}

/** What axe finds wrong, in lines short enough to read. */
export async function faultsOf(page: Page): Promise<string[]> {
  // What passes is not listed, which is most of the work.
  const { violations } = await new AxeBuilder({ page })
    .options({ resultTypes: ["violations"] })
    .withTags(RULES)
    .analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary?.split("\n")[1] ?? ""}`),
  );
}
