import { Anchor, Badge, Text } from "@mantine/core";
import { IconSpeakerphone } from "@tabler/icons-react";
import { Link, useLocation } from "wouter";
import { usePages } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { AUDIENCE_CAMPAIGNS, pathOf, type AudienceCampaign } from "./audience-campaign.ts";
import { AudienceCampaignBadge } from "./campaign-badge.tsx";

const REFRESH_MS = 3000;

const COLUMNS: readonly Column<AudienceCampaign>[] = [
  {
    title: t("Name"),
    render: (campaign) => (
      <>
        <Anchor component={Link} href={pathOf(campaign)} size="sm">
          {campaign.name}
        </Anchor>{" "}
        {campaign.test && <Badge color="gray">{t("Test")}</Badge>}
      </>
    ),
  },
  { title: t("State"), render: ({ state }) => <AudienceCampaignBadge state={state} /> },
  { title: t("Accepted"), align: "right", render: ({ accepted }) => formatNumber(accepted) },
  { title: t("Start"), wide: true, render: (campaign) => <Start campaign={campaign} /> },
  { title: t("Created"), wide: true, render: ({ createdAt }) => <TimeText at={createdAt} size="sm" /> },
];

const Start = ({ campaign: { startedAt, scheduledAt } }: { campaign: AudienceCampaign }) => (
  <>
    <TimeText at={startedAt ?? scheduledAt} size="sm" />
    {startedAt === null && scheduledAt !== null && (
      <Text size="xs" c="dimmed">
        {t("planned")}
      </Text>
    )}
  </>
);

/** Campaigns to audiences, newest first. */
export function AudienceCampaigns() {
  const [, navigate] = useLocation();
  const { table } = usePages<AudienceCampaign>(AUDIENCE_CAMPAIGNS, {}, { refreshMs: REFRESH_MS });
  return (
    <DataTable
      label={t("Campaigns to audiences")}
      columns={COLUMNS}
      rowKey={({ id }) => id}
      {...table}
      onRow={(campaign) => navigate(pathOf(campaign))}
      empty={
        <EmptyState
          icon={IconSpeakerphone}
          sentence={t("No campaigns to audiences yet. Upload a file under Audiences, then create a campaign.")}
        />
      }
    />
  );
}
