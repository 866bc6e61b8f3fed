import { t } from "../../i18n/t.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import type { AudienceCampaign } from "./audience-campaign.ts";
import { stageOf, type Campaign } from "./campaign.ts";

export const CampaignBadge = ({ campaign }: { campaign: Campaign }) => (
  <AudienceCampaignBadge state={stageOf(campaign)} />
);

export const AudienceCampaignBadge = ({ state }: Pick<AudienceCampaign, "state">) =>
  state === "finished" ? (
    <StatusBadge status="delivered" word={t("Finished")} />
  ) : state === "running" ? (
    <StatusBadge status="enroute" word={t("Running")} />
  ) : (
    <StatusBadge status={state} />
  );
