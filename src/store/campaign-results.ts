import { sql } from "kysely";
import type { Campaign } from "../model/campaign.ts";
import type { Engine } from "./engine.ts";

type CampaignRef = Pick<Campaign, "accountId" | "id">;

/** Clicks on the short links of a campaign. */
interface CampaignClicks {
  /** Recipients with a link, once for each link in the text. */
  recipients: number;
  /** Recipients whose link a person has followed. */
  recipientsClicked: number;
  person: number;
  preview: number;
  bot: number;
}

/** Results of campaigns that are kept for their report. */
export interface CampaignResultStore {
  /** Null without links. Reads one row for each link of a batch of recipients, and no click. */
  countCampaignClicks(campaign: CampaignRef): Promise<CampaignClicks | null>;
  /** Counts an opt-out for the campaign that was the last one to reach a number since a time, if there is one. */
  noteCampaignOptOut(optOut: { accountId: number; number: string; test: boolean; since: number }): Promise<void>;
}

export function createCampaignResults({ db }: Engine): CampaignResultStore {
  const sum = (column: string) => sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`;
  return {
    async countCampaignClicks({ accountId, id }) {
      const row = await db
        .selectFrom("campaign_links")
        .innerJoin("link_targets", (join) =>
          join
            .onRef("link_targets.account_id", "=", "campaign_links.account_id")
            .onRef("link_targets.request_id", "=", "campaign_links.request_id"),
        )
        .where("campaign_links.account_id", "=", accountId)
        .where("campaign_links.campaign_id", "=", id)
        .select([
          sum("recipients").as("recipients"),
          sum("recipients_clicked").as("recipientsClicked"),
          sum("clicks_person").as("person"),
          sum("clicks_preview").as("preview"),
          sum("clicks_bot").as("bot"),
        ])
        .executeTakeFirstOrThrow();
      return row.recipients === 0 ? null : row;
    },

    async noteCampaignOptOut({ accountId, number, test, since }) {
      const latest = db
        .selectFrom("audience_recipients")
        .innerJoin("campaigns as sent", (join) =>
          join
            .onRef("sent.account_id", "=", "audience_recipients.account_id")
            .onRef("sent.audience_id", "=", "audience_recipients.audience_id"),
        )
        .where("audience_recipients.account_id", "=", accountId)
        .where("audience_recipients.number", "=", number)
        .where("sent.test", "=", test ? 1 : 0)
        .where("sent.started_at", ">=", since)
        .whereRef("audience_recipients.line", "<=", "sent.position")
        .orderBy("sent.started_at", "desc")
        .select("sent.id")
        .limit(1);
      await db
        .updateTable("campaigns")
        .set({ opted_out: sql`opted_out + 1` })
        .where("account_id", "=", accountId)
        .where("id", "=", latest)
        .execute();
    },
  };
}
