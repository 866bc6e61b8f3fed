import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import axe from "axe-core";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type ConsoleMessage,
  type Locator,
  type Page,
  type Request,
} from "playwright-core";
import { eventually } from "./eventually.ts";
import { openHouse, type House } from "./house.ts";
import { chromium as browserPath } from "./programmes.ts";

const PHONE = { width: 390, height: 844 };
const SCREEN = { width: 1440, height: 900 };

const WAIT_MS = 12_000;

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** A browser without a window. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: browserPath() ?? "chromium", args: ARGS });

interface Person {
  email: string;
  password: string;
}

/** Who owns the account of the house. */
export const OWNER: Person = { email: "admin@localhost", password: randomBytes(12).toString("hex") };

interface Visit {
  page: Page;
  /** What went wrong while the page was open: errors of scripts, resources and of the content security policy. */
  complaints: string[];
  /** Requests to anybody but us. */
  strangers: string[];
}

/** A house with its dashboard, and a browser before it. */
export interface Dashboard {
  house: House;
  /** Opens a page, light and on a screen, as the owner unless told otherwise, and leaves it after the look. */
  visit(path: string, look: (visit: Visit) => Promise<void>, as?: Person | null): Promise<void>;
  close(): Promise<void>;
}

export async function openDashboard(): Promise<Dashboard> {
  await buildDashboard();
  const house = await openHouse("sqlite", { env: { HELIOGRAPH_ADMIN_PASSWORD: OWNER.password } });
  const browser = await launchBrowser();
  const contexts = new Map<string, BrowserContext>();
  /** The window that a person's last visit left: to open another takes the browser more than to show a page in it. */
  const windows = new Map<string, Page>();

  /** One browser for all pages of a person: scripts are read once, and a login takes its time, as logins should. */
  async function contextOf(person: Person): Promise<BrowserContext> {
    const known = contexts.get(person.email);
    if (known) return known;
    const context = await freshContext(browser);
    contexts.set(person.email, context);
    const answer = await context.request.post(`${house.url}/api/session`, { data: person });
    if (!answer.ok()) throw new Error(`the login of ${person.email} was answered ${answer.status()}`);
    return context;
  }

  return {
    house,
    async visit(path, look, as = OWNER) {
      const context = as ? await contextOf(as) : await freshContext(browser);
      const left = as ? windows.get(as.email) : undefined;
      if (as) windows.delete(as.email);
      const page = left ?? (await context.newPage());
      const { leave, ...visit } = watch(page, house.url);
      try {
        await page.goto(house.url + path);
        await settled(page);
        await look(visit);
        await leave();
      } catch (error) {
        await page.close();
        throw error;
      } finally {
        if (!as) await context.close();
      }
      if (as) windows.set(as.email, page);
    },
    async close() {
      await browser.close();
      await house.close();
    },
  };
}

async function freshContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: SCREEN,
    colorScheme: "light",
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  // Before the test's own time is over, so that it can say what it waited for.
  context.setDefaultTimeout(WAIT_MS);
  return context;
}

/** As `npm test` does before all tests: nothing happens when the build is up to date. */
const buildDashboard = async (): Promise<void> => {
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, "../../scripts/build-dashboard.mjs")]);
};

/** Listens to a page until it is left, as it was found: without a script, light and on a screen. */
function watch(page: Page, url: string): Visit & { leave(): Promise<void> } {
  const complaints: string[] = [];
  const strangers: string[] = [];
  const onConsole = (message: ConsoleMessage): void => {
    if (message.type() === "error" || message.type() === "warning")
      complaints.push(`${message.text()} ${message.location().url}`);
  };
  const onError = (error: Error): void => void complaints.push(String(error));
  const onRequest = (request: Request): void => {
    const own = [`${url}/`, "data:", `blob:${url}/`].some((start) => request.url().startsWith(start));
    if (!own) strangers.push(request.url());
  };
  page.on("console", onConsole).on("pageerror", onError).on("request", onRequest);
  return {
    page,
    complaints,
    strangers,
    async leave() {
      page.off("console", onConsole).off("pageerror", onError).off("request", onRequest);
      await page.unrouteAll({ behavior: "ignoreErrors" });
      // Not to about:blank: that is another site, to which the browser gives a process, and takes it away with all it has compiled.
      await page.goto(`${url}/healthz`);
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize(SCREEN);
    },
  };
}

/** Waits until the page has its heading and nothing in it is being loaded. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
}

/** Chooses from a list that opens. */
export async function choose(within: Page | Locator, label: string, option: string): Promise<void> {
  const page = "goto" in within ? within : within.page();
  await within
    .getByRole("textbox", { name: label })
    .or(within.getByRole("combobox", { name: label }))
    .first()
    .click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

type Theme = "light" | "dark";

/** A colour on its way to another is none that anybody reads. */
const END_TRANSITIONS = `document.getAnimations()
  .filter((animation) => animation instanceof CSSTransition)
  .forEach((animation) => animation.finish())`;

async function turnInto(page: Page, theme: Theme): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  // Not by a function that is asked again and again: after the first time the page's own policy would forbid it.
  await page.locator(`html[data-mantine-color-scheme=${theme}]`).waitFor({ state: "attached" });
  await page.evaluate(END_TRANSITIONS);
}

/** How wide the page is, once it has settled: no wider than the screen, or one would have to scroll sideways. */
async function widthOf(page: Page): Promise<number> {
  const measure = (): Promise<number> => page.evaluate<number>("document.documentElement.scrollWidth");
  await eventually(measure, (width) => width <= PHONE.width, 2000).catch(() => undefined);
  return measure();
}

/** What axe looks for: WCAG 2.2 AA with all before it, and good habits. */
const ALL = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
/** Those of them that are about colours. */
const COLOURS = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

/** What is wrong with a page in each of its four guises, light and dark, on a screen and on a phone; it ends as it began. */
export async function faultsInAllGuises(page: Page): Promise<string[]> {
  const found: string[] = [];
  const before = page.viewportSize() ?? SCREEN;
  for (const size of [before, PHONE]) {
    await page.setViewportSize(size);
    await settled(page);
    const width = size === PHONE ? await widthOf(page) : size.width;
    if (width > size.width) found.push(`on a phone the page is ${width} pixels wide`);
    let lookedAt = "";
    for (const theme of ["light", "dark"] as const) {
      await turnInto(page, theme);
      const paper = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
      const shape = await page.evaluate<string>(SHAPE);
      // The same page in other colours can have no other faults than those of its colours.
      const seen = await faultsOf(page, shape === lookedAt ? COLOURS : ALL);
      const faults = [...(paper === PAPER[theme] ? [] : [`the page is ${paper}`]), ...seen];
      found.push(...faults.map((fault) => `${theme} at ${size.width} pixels: ${fault}`));
      lookedAt = shape;
    }
  }
  await page.setViewportSize(before);
  await turnInto(page, "light");
  return found;
}

const PAPER = { light: "rgb(255, 255, 255)", dark: "rgb(23, 21, 18)" };

/** All of a page but its colours: what is written, where everything stands, and whether it is to be seen. */
const SHAPE = `[
  // Mantine says so for a moment after the window has changed.
  document.documentElement.innerHTML.replace(' data-resizing="true"', ""),
  ...[...document.querySelectorAll("body, body *")].map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height, element.checkVisibility({ opacityProperty: true, visibilityProperty: true })];
  }),
].join(" ")`;

/** Without the markup of every element it looked at, which nobody reads. */
const AXE = `${axe.source}; axe.configure({ noHtml: true });`;

/** What axe finds wrong, in lines short enough to read. */
export async function faultsOf(page: Page, rules = ALL): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  return page.evaluate<string[]>(`axe
    .run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ["violations"] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => id + ": " + target.join(" ") + " " + failureSummary.split("\\n")[1])))`);
}
