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
import { repetitions } from "./repetitions.ts";
import { startTestServer, type TestServer } from "./test-server.ts";
import { chromium as browserPath } from "./programmes.ts";

const PHONE = { width: 390, height: 844 };
const SCREEN = { width: 1440, height: 900 };

/** Shorter than a test's time limit, so that the error names the missing element. */
export const WAIT_MS = 120_000;

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: browserPath() ?? "chromium", args: ARGS });

interface Credentials {
  email: string;
  password: string;
}

/** The owner of the first account. */
export const OWNER: Credentials = { email: "admin@localhost", password: randomBytes(12).toString("hex") };

interface Visit {
  page: Page;
  /** Errors of the open page: scripts, resources and content security policy. */
  errors: string[];
  /** Requests to other origins. */
  foreignRequests: string[];
}

/** A test server with its dashboard, and a browser. */
export interface Dashboard {
  server: TestServer;
  /**
   * Opens a page in light mode at desktop size; default user: the owner. The application stays open between visits, with
   * an empty cache of answers: loading it again takes six times longer than a page.
   */
  visit(path: string, look: (visit: Visit) => Promise<void>, as?: Credentials | null): Promise<void>;
  close(): Promise<void>;
}

export async function openDashboard(env: Record<string, string> = {}): Promise<Dashboard> {
  await buildDashboard();
  const server = await startTestServer("sqlite", { env: { HELIOGRAPH_ADMIN_PASSWORD: OWNER.password, ...env } });
  const browser = await launchBrowser();
  const contexts = new Map<string, BrowserContext>();
  /** The page of each user's last visit. */
  const windows = new Map<string, Page>();

  /** One browser context per user: scripts are loaded once, and a login is slow by design (password hash). */
  async function contextOf(user: Credentials): Promise<BrowserContext> {
    const known = contexts.get(user.email);
    if (known) return known;
    const context = await freshContext(browser);
    contexts.set(user.email, context);
    const answer = await context.request.post(`${server.url}/api/session`, { data: user });
    if (!answer.ok()) throw new Error(`login of ${user.email} failed: ${answer.status()}`);
    return context;
  }

  return {
    server,
    async visit(path, look, as = OWNER) {
      const context = as ? await contextOf(as) : await freshContext(browser);
      const left = as ? windows.get(as.email) : undefined;
      if (as) windows.delete(as.email);
      const page = left ?? (await context.newPage());
      const { stop, ...visit } = watch(page, server.url);
      try {
        if (!left || !(await page.evaluate<boolean>(goTo(path)))) await page.goto(server.url + path);
        await settled(page);
        await look(visit);
        stop();
        await tidy(page);
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
      await server.close();
    },
  };
}

/**
 * Goes to a page as a link of the open application does, from a page that does not exist, so that nothing of the page
 * before stays. False if the application is not open, or no user is logged in.
 */
const goTo = (path: string): string => `(() => {
  const container = document.getElementById("root");
  const key = Object.keys(container ?? {}).find((name) => name.startsWith("__reactContainer"));
  if (key === undefined || !document.querySelector(".mantine-AppShell-navbar")) return false;
  let fiber = container[key];
  while (fiber && !fiber.memoizedProps?.client) fiber = fiber.child;
  if (!fiber) return false;
  const { client } = fiber.memoizedProps;
  history.pushState(null, "", "/left");
  return new Promise((done) => setTimeout(() => {
    client.removeQueries({ type: "inactive" });
    history.pushState(null, "", ${JSON.stringify(path)});
    setTimeout(() => void client.refetchQueries().then(() => done(true)), 0);
  }, 0));
})()`;

/** Restores the settings that a test may have changed. */
async function tidy(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(SCREEN);
}

async function freshContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: SCREEN,
    colorScheme: "light",
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(WAIT_MS);
  return context;
}

/** As `npm test` does before all tests; without changes it does nothing. */
const buildDashboard = async (): Promise<void> => {
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, "../../scripts/build-dashboard.mjs")]);
};

/** Records the errors of a page until it is left, and restores its settings. */
function watch(page: Page, url: string): Visit & { stop(): void } {
  const errors: string[] = [];
  const foreignRequests: string[] = [];
  const onConsole = (message: ConsoleMessage): void => {
    if (message.type() === "error" || message.type() === "warning")
      errors.push(`${message.text()} ${message.location().url}`);
  };
  const onError = (error: Error): void => void errors.push(String(error));
  const onRequest = (request: Request): void => {
    const own = [`${url}/`, "data:", `blob:${url}/`].some((start) => request.url().startsWith(start));
    if (!own) foreignRequests.push(request.url());
  };
  page.on("console", onConsole).on("pageerror", onError).on("request", onRequest);
  const stop = (): void => void page.off("console", onConsole).off("pageerror", onError).off("request", onRequest);
  return {
    page,
    errors,
    foreignRequests,
    stop,
  };
}

/** Waits until the page has its heading and loads nothing more. */
export async function settled(page: Page): Promise<void> {
  // Not by role, for which Playwright computes the role of every element.
  await page.locator("h1").first().waitFor();
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
}

/** Chooses an option of a drop-down list. */
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

/** Contrast is checked with the final colours, so transitions are finished first. */
const END_TRANSITIONS = `document.getAnimations()
  .filter((animation) => animation instanceof CSSTransition)
  .forEach((animation) => animation.finish())`;

async function turnInto(page: Page, theme: Theme): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  // Not with waitForFunction: the page's content security policy forbids its repeated evaluation.
  await page.locator(`html[data-mantine-color-scheme=${theme}]`).waitFor({ state: "attached" });
  await page.evaluate(END_TRANSITIONS);
}

/** Width of the settled page; wider than the viewport means horizontal scrolling. */
async function widthOf(page: Page): Promise<number> {
  const measure = (): Promise<number> => page.evaluate<number>("document.documentElement.scrollWidth");
  await eventually(measure, (width) => width <= PHONE.width, WAIT_MS).catch(() => undefined);
  return measure();
}

/** Rules of axe: WCAG 2.2 AA with all earlier levels, and best practices. */
const ALL = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
/** The rules about colours. */
const COLOURS = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

/** Variants in which header and navigation have been checked, by browser context. They are the same on every page. */
const shellsChecked = new WeakMap<BrowserContext, Set<string>>();

/** Number of the states that have been checked, by browser context. */
const statesChecked = new WeakMap<BrowserContext, number>();

/**
 * Accessibility faults of a page, and horizontal scrolling on a phone. `npm run test:long` checks four variants: light
 * and dark, on a desktop and on a phone. A run of axe takes a second, and pages share their components and colours:
 * `npm test` checks one state light on a desktop, the next one dark on a phone. Restores the first variant.
 */
export async function faultsInAllVariants(page: Page): Promise<string[]> {
  const found: string[] = [];
  const before = page.viewportSize() ?? SCREEN;
  const context = page.context();
  const checked = shellsChecked.get(context) ?? new Set();
  shellsChecked.set(context, checked);
  const turn = statesChecked.get(context) ?? 0;
  statesChecked.set(context, turn + 1);
  for (const size of [before, PHONE]) {
    await page.setViewportSize(size);
    await settled(page);
    const width = size === PHONE ? await widthOf(page) : size.width;
    if (width > size.width) found.push(`on a phone the page is ${width} pixels wide`);
    let lookedAt = "";
    for (const theme of themesAt(size, turn)) {
      await turnInto(page, theme);
      const paper = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
      const shape = await page.evaluate<string>(SHAPE);
      // With the same layout in other colours only the colour rules can differ.
      const rules = shape === lookedAt ? COLOURS : ALL;
      const variant = `${rules.type} ${theme} ${size.width}`;
      const seen = await faultsOf(page, rules, checked.has(variant) ? SHELL : []);
      checked.add(variant);
      const faults = [...(paper === PAPER[theme] ? [] : [`the page is ${paper}`]), ...seen];
      found.push(...faults.map((fault) => `${theme} at ${size.width} pixels: ${fault}`));
      lookedAt = shape;
    }
  }
  await page.setViewportSize(before);
  await turnInto(page, "light");
  return found;
}

/** Both themes in `npm run test:long`; otherwise one of the two sizes has one, in turn. */
function themesAt(size: typeof PHONE, turn: number): readonly Theme[] {
  if (repetitions(1, 2) === 2) return ["light", "dark"];
  if (size === PHONE) return turn % 2 === 0 ? [] : ["dark"];
  return turn % 2 === 0 ? ["light"] : [];
}

const PAPER = { light: "rgb(255, 255, 255)", dark: "rgb(23, 21, 18)" };

/** Fingerprint of a page without its colours: text, positions and visibility. */
const SHAPE = `[
  // Mantine sets this attribute for a moment after a resize.
  document.documentElement.innerHTML.replace(' data-resizing="true"', ""),
  ...[...document.querySelectorAll("body, body *")].map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height, element.checkVisibility({ opacityProperty: true, visibilityProperty: true })];
  }),
].join(" ")`;

/** Without the HTML of every checked element, which no test uses. */
const AXE = `${axe.source}; axe.configure({ noHtml: true });`;

/** Header and navigation. */
const SHELL = [".mantine-AppShell-header", ".mantine-AppShell-navbar"];

/** On a busy machine a list or a tooltip needs seconds to close. */
const CLOSING_MS = 20_000;

/** Violations found by axe outside of the excluded elements, as short lines. Only those that stay count. */
export async function faultsOf(page: Page, rules = ALL, exclude: readonly string[] = []): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  // A tooltip under the mouse would be outside of every landmark.
  await page.mouse.move(0, 0);
  let faults: string[] = [];
  const look = async (): Promise<string[]> => (faults = await violationsOf(page, rules, exclude));
  await eventually(look, ({ length }) => length === 0, CLOSING_MS).catch(() => undefined);
  return faults;
}

const violationsOf = (page: Page, rules: typeof ALL, exclude: readonly string[]): Promise<string[]> =>
  page.evaluate<string[]>(`axe
    .run({ exclude: ${JSON.stringify(exclude)} }, { runOnly: ${JSON.stringify(rules)}, resultTypes: ["violations"] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => id + ": " + target.join(" ") + " " + failureSummary.split("\\n")[1])))`);
