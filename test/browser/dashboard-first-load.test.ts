import { afterAll, beforeAll, expect, test } from "vitest";
import { OWNER, openDashboard, settled, type Dashboard } from "../support/browser.ts";

const REQUESTS_MAX = 25;
const KILOBYTES_MAX = 250;

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard?.close());

interface Resource {
  name: string;
  encodedBodySize: number;
}

test.for(["/start", "/messages"])("a first visit of %s takes few requests and kilobytes", async (path) => {
  await dashboard.visit(
    "/",
    async ({ page }) => {
      await page.context().request.post(`${dashboard.server.url}/api/session`, { data: OWNER });
      const devTools = await page.context().newCDPSession(page);
      await devTools.send("Network.clearBrowserCache");
      await page.goto(dashboard.server.url + path);
      await settled(page);
      const loaded = await page.evaluate<Resource[]>(`[
        ...performance.getEntriesByType("navigation"),
        ...performance.getEntriesByType("resource"),
      ].map(({ name, encodedBodySize }) => ({ name, encodedBodySize }))`);
      const names = loaded.map(({ name }) => name);
      expect(names.filter((name) => name.includes("/assets/")).length).toBeGreaterThan(3);
      expect(names.slice(REQUESTS_MAX)).toEqual([]);
      const bytes = loaded.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
      expect(bytes / 1024).toBeLessThanOrEqual(KILOBYTES_MAX);
    },
    null,
  );
});
