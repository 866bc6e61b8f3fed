import { Anchor, Button, Progress, Text, Title } from "@mantine/core";
import { IconPlus, IconSpeakerphone } from "@tabler/icons-react";
import { Link, useLocation } from "wouter";
import { usePages } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterBar, TypedFilter } from "../../parts/filters.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { NEW_CAMPAIGN } from "./audience-campaign.ts";
import { AudienceCampaigns } from "./audience-campaigns.tsx";
import { CampaignBadge } from "./campaign-badge.tsx";
import { CAMPAIGNS, cancelledOf, totalOf, type Campaign } from "./campaign.ts";

const COLUMNS: readonly Column<Campaign>[] = [
  {
    title: t("Name"),
    render: ({ id, name }) => (
      <Anchor component={Link} href={`/campaigns/${id}`} size="sm">
        {name}
      </Anchor>
    ),
  },
  { title: t("State"), render: (campaign) => <CampaignBadge campaign={campaign} /> },
  { title: t("Messages"), align: "right", render: (campaign) => formatNumber(totalOf(campaign)) },
  { title: t("Results"), wide: true, render: (campaign) => <Outcome campaign={campaign} /> },
  { title: t("Started"), wide: true, render: ({ createdAt }) => <TimeText at={createdAt} size="sm" /> },
];

/** Delivered, pending and failed messages as a stacked bar, with the counts as text. */
function Outcome({ campaign }: { campaign: Campaign }) {
  const total = Math.max(1, totalOf(campaign));
  const { Delivered = 0, Pending = 0 } = campaign.counts;
  const Cancelled = cancelledOf(campaign);
  const Failed = (campaign.counts.Failed ?? 0) - Cancelled;
  const part = (count: number, color: string, name: string) => (
    <Progress.Section value={(count / total) * 100} color={color} aria-label={name} />
  );
  return (
    <>
      <Progress.Root size="md" w={220}>
        {part(Delivered, "green", t("Delivered"))}
        {part(Pending, "blue", t("Pending"))}
        {part(Failed, "red", t("Failed"))}
        {part(Cancelled, "gray", t("Cancelled"))}
      </Progress.Root>
      <Text size="xs" c="dimmed" mt={4}>
        {t("{Delivered} delivered · {Pending} pending · {Failed} failed", { Delivered, Pending, Failed })}
        {Cancelled > 0 && t(" · {Cancelled} cancelled", { Cancelled })}
      </Text>
    </>
  );
}

/** Campaigns to audiences, and all campaigns with their outcomes. */
export default function Campaigns() {
  const [, navigate] = useLocation();
  const [{ q }, change] = useUrlState(["q"]);
  const { table, rows } = usePages<Campaign>(CAMPAIGNS);
  const shown = rows.filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()));
  return (
    <>
      <PageHeader
        title={t("Campaigns")}
        lead={t("One message to every recipient of an audience, or all messages with the same campaignName.")}
      >
        <GuardedButton leftSection={<IconPlus size={16} aria-hidden />} onClick={() => navigate(NEW_CAMPAIGN)}>
          {t("New campaign")}
        </GuardedButton>
      </PageHeader>
      <section aria-label={t("Campaigns to audiences")}>
        <Title order={2} size="h4" mb="md">
          {t("Campaigns to audiences")}
        </Title>
        <AudienceCampaigns />
      </section>
      <Title order={2} size="h4" mb="md" mt="xl">
        {t("Messages by campaign name")}
      </Title>
      {rows.length > 0 && (
        <FilterBar values={{ q }} change={change}>
          <TypedFilter
            label={t("Find")}
            value={q}
            onChange={(text) => change({ q: text })}
            placeholder={t("Name")}
            leading
          />
        </FilterBar>
      )}
      <DataTable
        label={t("Campaigns")}
        columns={COLUMNS}
        {...table}
        rows={shown}
        rowKey={({ id }) => id}
        onRow={({ id }) => navigate(`/campaigns/${id}`)}
        empty={
          q === "" ? (
            <EmptyState
              icon={IconSpeakerphone}
              sentence={t("No campaigns yet. Messages with a campaignName appear here.")}
              action={
                <Button component={Link} href="/composer?kind=sms-bulk">
                  {t("Send to several")}
                </Button>
              }
              curl={curlOf({
                path: "/v1/sms",
                body: {
                  sender: "HELIOG",
                  to: ["15550100100", "15550100101"],
                  text: "Coats and boots cost a fifth less until Sunday.",
                  type: "PROMO",
                  campaignName: "autumn",
                },
              })}
            />
          ) : (
            <EmptyState icon={IconSpeakerphone} sentence={t("No results")} />
          )
        }
      />
    </>
  );
}
