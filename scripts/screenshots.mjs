// Takes the screenshots of the dashboard in docs/images/: npm run screenshots
import { createServer } from "node:http";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { buildDashboard } from "./build-dashboard.mjs";
import { root } from "./pinned-node.mjs";

const NUMBER = "15550100100";
const SIZE = { width: 1360, height: 850 };

/** The pages, each with the steps before its screenshot. */
const PICTURES = [
  { name: "get-started", path: "/start", prepare: sendFirst },
  { name: "overview", path: "/overview" },
  { name: "messages", path: "/messages", prepare: selectTwo },
  { name: "campaign", path: "/campaigns", prepare: openCampaign },
  { name: "message", path: "/messages", prepare: openFirstMessage },
  { name: "composer", path: "/composer?kind=rcs-carousel-images", prepare: fillExample },
  { name: "phones", path: `/phones/${NUMBER}?thread=rcs+heliograph`, prepare: tap },
  { name: "phones-dark", path: `/phones/${NUMBER}?thread=rcs+heliograph`, dark: true },
  { name: "simulator", path: "/simulator" },
  { name: "verify", path: "/verify" },
  { name: "webhook", path: "/rcs/utility/webhook" },
  { name: "delivery-reports", path: "/message-app/utility-manager/dlr-push-configuration" },
];

await buildDashboard();
const { startServer } = await import("../test/support/server-process.ts");
const { chromium: browserPath } = await import("../test/support/programmes.ts");
const { chromium } = await import("playwright-core");
const server = await startServer();
const listener = createServer((request, response) => request.resume().on("end", () => response.end("ok")));
await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
const browser = await chromium.launch({
  executablePath: browserPath(),
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  mkdirSync(join(root, "docs/images"), { recursive: true });
  await haveCampaign();
  await haveADay(`http://127.0.0.1:${listener.address().port}`);
  for (const picture of PICTURES) await take(picture);
} finally {
  await browser.close();
  listener.close();
  listener.closeAllConnections();
  await server.cleanup();
}

async function post(path, body) {
  const response = await fetch(server.baseUrl + path, {
    method: "POST",
    headers: { apikey: server.apiKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path} was answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/** Sends a mix of messages, so that every page has data. */
async function haveADay(callbacks) {
  await post("/api/webhooks", {
    channel: "rcs",
    name: "Shop bot",
    url: `${callbacks}/rcs`,
    events: ["user_message", "message_status"],
  });
  await post("/api/dlr-configs", { name: "Reports", provider: "ALL", method: "POST", url: `${callbacks}/sms` });
  const sms = (to, text, more = {}) => post("/v1/sms", { sender: "HELIOG", to, text, type: "TRANS", ...more });
  for (let n = 0; n < 30; n += 1) {
    const to = `1555010${n % 7 === 3 ? "9001" : n % 7 === 5 ? "9008" : 2100 + n}`;
    if (n % 3 === 0) await sms(to, `Your order ${4700 + n} is on its way and will be with you tomorrow.`);
    else if (n % 3 === 1)
      await sms(to, "Coats and boots cost a fifth less until Sunday.", { type: "PROMO", campaignName: "autumn" });
    else await post("/v1/verify", { configId: "default", to: `1555010${3100 + n}` });
  }
  for (let n = 2; n < 24; n += 3) await verify(`1555010${3100 + n}`);
  const number = `+${NUMBER}`;
  for (const templateName of ["new-arrivals", "rate-us"])
    await post("/v1/rcs", { number, botId: "heliograph", templateName, type: "TRANS" });
  await post("/v1/chatapp", {
    from: "+15550100199",
    to: NUMBER,
    type: "template",
    templateName: "order_shipped",
    components: { body: { params: ["Ada", "4711"] } },
  });
  await post("/v1/chatapp", {
    from: "+15550100199",
    to: "15550102222",
    type: "template",
    templateName: "autumn_sale",
    components: {
      header: { type: "image", image: { link: "https://shop.example/autumn.jpg" } },
      body: { params: ["Bob", "20%"] },
    },
  });
  await sms(
    "15550109008",
    "Your parcel is at the shop on Harbour Street. Please bring something that shows who you are; we are open from 9 to 18, " +
      "and on Saturdays until noon. Your number is 4711.",
  );
}

/** An audience of 400 people, and a campaign to them that pauses half-way. */
async function haveCampaign() {
  const read = async (path) => (await fetch(server.baseUrl + path, { headers: { apikey: server.apiKey } })).json();
  const people = Array.from(
    { length: 400 },
    (_, n) => `${15_550_140_000 + n},${["Ada", "Bob", "Asha", "Ravi"][n % 4]}`,
  );
  const text = `phone,name\n${people.join("\n")}\n`;
  const { id: audienceId } = await post("/v1/audiences", { name: "Winter people", size: text.length });
  await post(`/v1/audiences/${audienceId}/parts`, { offset: 0, text });
  while ((await read(`/v1/audiences/${audienceId}`)).state !== "ready")
    await new Promise((next) => setTimeout(next, 50));
  const campaign = { name: "Winter sale", type: "PROMO", sender: "HELIOG", audienceId, throttle: 36_000 };
  const { id } = await post("/v1/campaigns", { ...campaign, text: "{{name}}, coats cost a fifth less until Sunday." });
  await post(`/v1/campaigns/${id}/start`, {});
  while ((await read(`/v1/campaigns/${id}`)).accepted < 150) await new Promise((next) => setTimeout(next, 200));
  await post(`/v1/campaigns/${id}/pause`, {});
}

/** Submits the code that a simulated phone received. */
async function verify(to) {
  const read = (path) => fetch(server.baseUrl + path, { headers: { apikey: server.apiKey } });
  await read(`/api/simulator/messages/wait?to=${to}`);
  const { verifyId, otp } = await (await read(`/api/simulator/otp/latest?to=${to}`)).json();
  await post("/v1/verify/validate", { verifyId, otp });
}

async function take({ name, path, prepare, dark = false }) {
  const context = await browser.newContext({
    viewport: SIZE,
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
    locale: "en-GB",
  });
  const login = { email: "admin@localhost", password: server.adminPassword };
  await context.request.post(`${server.baseUrl}/api/session`, { data: login });
  const page = await context.newPage();
  await page.goto(server.baseUrl + path);
  await ready(page);
  if (prepare) await prepare(page);
  await ready(page);
  await page.evaluate("window.scrollTo(0, 0)");
  await page.screenshot({ path: join(root, "docs/images", `${name}.png`) });
  process.stdout.write(`docs/images/${name}.png\n`);
  await context.close();
}

async function ready(page) {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.waitForLoadState("load");
  await page.waitForFunction("!document.querySelector('[aria-busy=true]')");
  // Gives polled data time to arrive.
  await page.waitForTimeout(1500);
}

async function sendFirst(page) {
  await page.getByRole("button", { name: "Create test key" }).click();
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator("[data-phone] [data-message]").first().waitFor();
}

async function fillExample(page) {
  await page.getByRole("button", { name: "Fill in an example" }).click();
}

async function openCampaign(page) {
  await page.getByRole("link", { name: "Winter sale" }).first().click();
  await page.getByRole("button", { name: "Resume" }).waitFor();
}

async function selectTwo(page) {
  const boxes = page.getByRole("checkbox", { name: /^Select \d/ });
  await boxes.nth(0).check();
  await boxes.nth(1).check();
}

async function openFirstMessage(page) {
  await page.getByRole("link", { name: "15550109008" }).first().click();
  await page.locator("[data-step=end]").waitFor();
}

async function tap(page) {
  await page.getByRole("button", { name: "Very well" }).first().click();
  await page.locator("[data-inbound]").first().waitFor();
  await page.locator("[data-callback=user_message]").first().waitFor();
}
