import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { checked, upload } from "../support/audiences.ts";
import { inState, type CampaignBody, type ReportBody, type Request } from "../support/campaigns.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import type { MessageBody } from "../support/test-server.ts";

/** Numbers whose outcome the simulator chooses by their last digits. */
const DELIVERED = "15550100100";
const FAILING = "15550109001";

describe.each(ENGINES)("the report of a campaign on %s", (engine) => {
  let tenants: Tenants;
  let request: Request;
  let names = 0;
  beforeAll(async () => {
    tenants = await openTenants(engine);
    request = (method, path, body) => tenants.server.request(method, path, body);
  });
  afterAll(() => tenants.close());

  async function run(numbers: readonly string[], fields: object = {}, as = request): Promise<CampaignBody> {
    const audienceId = await upload(as, `phone\n${numbers.join("\n")}\n`);
    await checked(as, audienceId);
    const body = { name: `report ${(names += 1)}`, type: "TRANS", sender: "HELIOG", text: "Hello", audienceId };
    const { body: campaign } = await as<CampaignBody>("POST", "/v1/campaigns", { ...body, ...fields });
    await as("POST", `/v1/campaigns/${campaign.id}/start`);
    await inState(as, campaign.id, "finished");
    return campaign;
  }
  const reportOf = async ({ id }: CampaignBody): Promise<ReportBody> =>
    (await request<ReportBody>("GET", `/v1/campaigns/${id}/report`)).body;
  const sumOf = (report: ReportBody, measure: "accepted" | "sent" | "delivered" | "failed"): number =>
    report.series.reduce((sum, point) => sum + point[measure], 0);

  test("counts messages over time, by carrier and by failure reason in words", async () => {
    await request("POST", "/api/optouts", { number: "15550197001" });
    const campaign = await run([DELIVERED, "15550100101", FAILING, "15550197001"], { type: "PROMO" });
    const report = await eventually(
      () => reportOf(campaign),
      (found) => sumOf(found, "delivered") + sumOf(found, "failed") === 4,
    );
    expect(report).toMatchObject({ step: "minute", clicks: null, optedOut: 0, counts: { Delivered: 2, Failed: 2 } });
    expect([sumOf(report, "accepted"), sumOf(report, "sent"), sumOf(report, "delivered")]).toEqual([4, 3, 2]);
    expect(report.carriers).toMatchObject([
      { name: "simulator", sent: 3, delivered: 2, failed: 1, deliveryRate: 0.6667 },
      { name: null, sent: 0, delivered: 0, failed: 1, deliveryRate: null },
    ]);
    expect(report.failures).toHaveLength(2);
    expect(report.failures.find(({ code }) => code === "RECIPIENT_OPTED_OUT")).toMatchObject({
      description: "The recipient has asked for no more promotions.",
      carrierCode: false,
      count: 1,
    });
    expect(report.failures.find(({ code }) => code !== "RECIPIENT_OPTED_OUT")).toMatchObject({
      description: expect.any(String),
      count: 1,
    });
  });

  test("messages of a test campaign and of a live one under the same name count apart", async () => {
    const asTest: Request = (method, path, body) =>
      tenants.server.request(method, path, body, { apikey: tenants.server.testKey });
    const name = "counted apart";
    const live = await run([DELIVERED], { name });
    const ofTests = await run([DELIVERED, "15550100101"], { name }, asTest);
    for (const [campaign, count] of [
      [live, 1],
      [ofTests, 2],
    ] as const) {
      const report = await eventually(
        () => reportOf(campaign),
        (found) => sumOf(found, "delivered") >= count,
      );
      expect([sumOf(report, "accepted"), sumOf(report, "delivered")]).toEqual([count, count]);
    }
  });

  test("clicks of people and bots on its short links are counted, once per recipient and in all", async () => {
    const shortenUrlData = { shortenUrl: true, targetUrl: ["https://shop.example/sale"] };
    const campaign = await run([DELIVERED, "15550100101"], { text: "Sale: {SORT}", shortenUrlData });
    const { body } = await request<{ data: MessageBody[] }>("GET", `/v1/messages?campaignName=${campaign.name}`);
    const [first = "", second = ""] = body.data.map(({ text }) => /https?:\S+/.exec(text)?.[0] ?? "");
    const click = (link: string, userAgent: string) =>
      fetch(`${tenants.server.url}${new URL(link).pathname}`, {
        redirect: "manual",
        headers: { "user-agent": userAgent },
      });
    const phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15";
    for (const [link, agent] of [
      [first, phone],
      [first, phone],
      [second, "curl/8.0"],
    ] as const)
      expect((await click(link, agent)).status).toBe(302);
    const { clicks } = await eventually(
      () => reportOf(campaign),
      (found) => (found.clicks?.person ?? 0) + (found.clicks?.bot ?? 0) === 3,
    );
    expect(clicks).toEqual({ recipients: 2, recipientsClicked: 1, person: 2, preview: 0, bot: 1 });
  });

  test("an opt-out by a reply counts for the last campaign that reached the number, and a repetition does not", async () => {
    const number = "15550198001";
    const earlier = await run([number]);
    const later = await run([number, "15550100101"]);
    const other = await run(["15550100102"]);
    for (const text of ["STOP", "stop"])
      expect((await request("POST", `/api/simulator/phones/${number}/reply`, { to: "HELIOG", text })).status).toBe(200);
    await eventually(
      () => reportOf(later),
      ({ optedOut }) => optedOut > 0,
    );
    expect([
      (await reportOf(earlier)).optedOut,
      (await reportOf(later)).optedOut,
      (await reportOf(other)).optedOut,
    ]).toEqual([0, 1, 0]);
  });

  test("a draft has an empty report", async () => {
    const audienceId = await upload(request, `phone\n${DELIVERED}\n`);
    const body = { name: "unsent", type: "TRANS", sender: "HELIOG", text: "Hello", audienceId };
    const { body: draft } = await request<CampaignBody>("POST", "/v1/campaigns", body);
    expect(await reportOf(draft)).toMatchObject({ series: [], carriers: [], failures: [], clicks: null, optedOut: 0 });
  });
});
