import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page, Request } from "playwright-core";
import { OWNER, openDashboard, settled, type Dashboard } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";

const REQUESTS_MAX = 24;
const KILOBYTES_MAX = 250;

const PAGES = ["/start", "/overview", "/messages", "/composer", "/inbox", "/campaigns", "/contacts", "/verify"];

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
  // More than a page of the list.
  const to = Array.from({ length: 120 }, (_, n) => String(15550116000 + n));
  const text = "Your order 4711 is on its way and will be with you tomorrow.";
  const { body } = await dashboard.server.send({ to, text });
  for (const { messageId } of body.data) await dashboard.server.settled(messageId);
});
afterAll(() => dashboard?.close());

/** All requests of a page until it is idle: also those that follow others, and the stream, which never ends. */
async function requestsOf(page: Page, load: () => Promise<void>): Promise<string[]> {
  const sent: string[] = [];
  const open = new Set<Request>();
  const begin = (request: Request): void => {
    if (request.url().startsWith("data:")) return;
    sent.push(request.url());
    if (request.resourceType() !== "eventsource") open.add(request);
  };
  const end = (request: Request): void => void open.delete(request);
  page.on("request", begin).on("requestfinished", end).on("requestfailed", end);
  await load();
  for (let seen = -1; seen !== sent.length;) {
    seen = sent.length;
    await eventually(
      () => open.size,
      (count) => count === 0,
    );
    await page.evaluate("new Promise((idle) => requestIdleCallback(idle))");
  }
  page.off("request", begin).off("requestfinished", end).off("requestfailed", end);
  return sent;
}

test("a first visit of every main page takes few requests and kilobytes, with full lists", async () => {
  await dashboard.visit(
    "/",
    async ({ page }) => {
      await page.context().request.post(`${dashboard.server.url}/api/session`, { data: OWNER });
      const devTools = await page.context().newCDPSession(page);
      for (const path of PAGES) {
        await devTools.send("Network.clearBrowserCache");
        const requests = await requestsOf(page, async () => {
          await page.goto(dashboard.server.url + path);
          await settled(page);
        });
        const bytes = await page.evaluate<number>(`[
          ...performance.getEntriesByType("navigation"),
          ...performance.getEntriesByType("resource"),
        ].reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);
        const kilobytes = Math.ceil(bytes / 1024);
        expect(requests.filter((name) => name.includes("/assets/")).length).toBeGreaterThan(3);
        expect({ path, over: requests.slice(REQUESTS_MAX) }).toEqual({ path, over: [] });
        expect({ path, kilobytes, fits: kilobytes <= KILOBYTES_MAX }).toEqual({ path, kilobytes, fits: true });
      }
    },
    null,
  );
});
