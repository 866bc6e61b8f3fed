import { afterEach, describe, expect, inject, it } from "vitest";
import { checked, upload } from "../support/audiences.ts";
import { inState, type CampaignBody, type ReportBody, type Request } from "../support/campaigns.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { repetitions } from "../support/repetitions.ts";
import { startServer, type ServerProcess } from "../support/server-process.ts";

const RECIPIENTS = repetitions(2000, 5000);
const KILLS = repetitions(2, 4);
const FIRST = 15_550_400_000;
const TIMEOUT_MS = 300_000;

const cleanup: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  while (cleanup.length > 0) await cleanup.pop()?.();
});

interface Page {
  data: { recipient: string }[];
  nextCursor: string | null;
}

describe("a node that is killed while it feeds a campaign", () => {
  it.each(ENGINES)(
    "counts and sends every recipient exactly once after the restart (%s)",
    { timeout: TIMEOUT_MS },
    async (engine) => {
      const database = engine === "postgres" ? await migratedDatabase(inject("postgresUrl")) : null;
      if (database) cleanup.push(() => database.drop());
      // A killed node is expired soon, so that the next one claims its messages.
      const env = { HELIOGRAPH_NODE_SILENT_SECONDS: "2" };
      let server: ServerProcess = await startServer({ env, ...(database && { databaseUrl: database.url }) });
      cleanup.push(() => server.cleanup());
      const request: Request = async (method, path, body) => {
        const response = await fetch(server.baseUrl + path, {
          method,
          headers: { apikey: server.apiKey, ...(body !== undefined && { "content-type": "application/json" }) },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        return { status: response.status, body: (await response.json()) as never };
      };

      const rows = Array.from({ length: RECIPIENTS }, (_, index) => `${FIRST + index},Ada ${index}\n`);
      const audienceId = await upload(request, `phone,name\n${rows.join("")}`);
      await checked(request, audienceId);
      // Fed slowly enough to be killed several times on the way.
      const feed = { type: "PROMO", throttle: 1_000_000 };
      const fields = { name: "killed", ...feed, sender: "HELIOG", text: "Hello {{name}}", audienceId };
      const { id } = (await request<CampaignBody>("POST", "/v1/campaigns", fields)).body;
      await request("POST", `/v1/campaigns/${id}/start`);

      const fed: number[] = [];
      for (let kill = 1; kill <= KILLS; kill += 1) {
        const { body } = await eventually(
          () => request<CampaignBody>("GET", `/v1/campaigns/${id}`),
          ({ body: { accepted } }) => accepted > (fed.at(-1) ?? 0),
        );
        fed.push(body.accepted);
        await server.kill("SIGKILL");
        server = await server.restart();
      }
      await eventually(
        () => request<CampaignBody>("GET", `/v1/campaigns/${id}`),
        ({ body: { accepted } }) => accepted >= RECIPIENTS,
      );
      expect(await inState(request, id, "running", "finished")).toMatchObject({ accepted: RECIPIENTS, skipped: 0 });
      expect(fed[0]).toBeLessThan(RECIPIENTS);

      const recipients: string[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const after: string = cursor === "" ? "" : `&cursor=${cursor}`;
        const { body }: { body: Page } = await request<Page>(
          "GET",
          `/v1/messages?campaignName=killed&limit=100${after}`,
        );
        recipients.push(...body.data.map(({ recipient }) => recipient));
        cursor = body.nextCursor;
      }
      expect(recipients).toHaveLength(RECIPIENTS);
      expect(new Set(recipients).size).toBe(RECIPIENTS);
      const { body: report } = await request<ReportBody>("GET", `/v1/campaigns/${id}/report`);
      expect(report).toMatchObject({ recipients: RECIPIENTS, accepted: RECIPIENTS });
      expect(Object.values(report.states).reduce((sum, count) => sum + count, 0)).toBe(RECIPIENTS);
    },
  );
});
