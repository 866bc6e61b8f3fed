import { StatusBadge } from "../../parts/status-badge.tsx";
import type { Campaign } from "./campaign.ts";

export const CampaignBadge = ({ status }: Pick<Campaign, "status">) =>
  status === "running" ? <StatusBadge status="enroute" word="Running" /> : <StatusBadge status={status} />;
