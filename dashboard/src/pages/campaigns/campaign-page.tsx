import { Anchor, Grid, Group, SimpleGrid, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { Link, useParams } from "wouter";
import { get, post } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { BarList } from "../../parts/bar-list.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { GuardedButton, GuardedConfirm } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { statusWord } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { CampaignBadge } from "./campaign-badge.tsx";
import { CAMPAIGNS, cancelledOf, funnelOf, totalOf, type Campaign } from "./campaign.ts";
import { CampaignUnavailable } from "./campaign-unavailable.tsx";
import { Clicks, Failures, Section } from "./campaign-results.tsx";

const REFRESH_MS = 5000;

/** One campaign: delivery funnel, failure reasons, clicks, and the buttons to pause or cancel it. */
export default function CampaignPage() {
  const { id } = useParams<{ id: string }>();
  const { data, error, refetch } = useQuery({
    queryKey: [CAMPAIGNS, id],
    queryFn: ({ signal }) => get<Campaign>(`${CAMPAIGNS}/${id}`, {}, signal),
    // A campaign without pending messages no longer changes.
    refetchInterval: ({ state }) => ((state.data?.counts.Pending ?? 0) > 0 ? REFRESH_MS : false),
  });
  if (error) return <CampaignUnavailable error={error} retry={() => void refetch()} />;
  if (!data) return <PageLoading />;
  return <Loaded campaign={data} />;
}

function Loaded({ campaign }: { campaign: Campaign }) {
  const { name, createdAt, pausedAt, counts } = campaign;
  const total = totalOf(campaign);
  const cancelled = cancelledOf(campaign);
  const messages = `/messages?campaignName=${encodeURIComponent(name)}`;
  return (
    <>
      <PageHeader
        title={name}
        lead={
          <Anchor component={Link} href="/campaigns" size="sm">
            {t("All campaigns")}
          </Anchor>
        }
      >
        <Brakes campaign={campaign} />
      </PageHeader>
      <Group mb="lg" gap="md">
        <CampaignBadge campaign={campaign} />
        <Text size="sm" c="dimmed" component="div">
          {t("Started")} <TimeText at={createdAt} size="sm" span />
          {pausedAt !== null && (
            <>
              {t(", paused")} <TimeText at={pausedAt} size="sm" span />
            </>
          )}
        </Text>
        <Anchor component={Link} href={messages} size="sm">
          {t("View messages")}
        </Anchor>
      </Group>
      <SimpleGrid cols={{ base: 2, md: 4 }} mb="lg">
        <FigureCard label={t("Messages")} value={formatNumber(total)} />
        <FigureCard label={statusWord("delivered")} value={formatNumber(counts.Delivered ?? 0)} />
        <FigureCard label={statusWord("pending")} value={formatNumber(counts.Pending ?? 0)} />
        <FigureCard
          label={statusWord("failed")}
          value={formatNumber((counts.Failed ?? 0) - cancelled)}
          note={cancelled > 0 && t("{count} more were cancelled", { count: cancelled })}
        />
      </SimpleGrid>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Section title={t("Funnel")}>
            <BarList of={total} bars={funnelOf(campaign).map((step) => ({ ...step, label: step.name }))} />
          </Section>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Failures campaign={campaign} />
          <Clicks campaign={campaign} />
        </Grid.Col>
      </Grid>
    </>
  );
}

/** The buttons that pause, resume or cancel. They affect only messages that no carrier has yet. */
function Brakes({ campaign }: { campaign: Campaign }) {
  const { id, name, status } = campaign;
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: (what: "pause" | "resume" | "cancel") => post<Campaign>(`${CAMPAIGNS}/${id}/${what}`),
    onSuccess: () => client.invalidateQueries({ queryKey: [CAMPAIGNS] }),
  });
  const over =
    status === "cancelled" ? t("This campaign is cancelled. No more messages can be sent under its name.") : null;
  const paused = status === "paused";
  return (
    <>
      <GuardedButton
        variant="default"
        leftSection={paused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />}
        loading={act.isPending}
        whyNot={over}
        onClick={() => act.mutate(paused ? "resume" : "pause")}
      >
        {paused ? t("Resume") : t("Pause")}
      </GuardedButton>
      <GuardedConfirm
        color="red"
        variant="light"
        whyNot={over}
        question={t("Cancel {name}?", { name })}
        consequence={t(
          "All messages not yet sent to a carrier are cancelled. No more messages can be sent under this name.",
        )}
        yes={t("Cancel campaign")}
        no={t("Go back")}
        run={() => act.mutateAsync("cancel")}
      >
        {t("Cancel")}
      </GuardedConfirm>
      {act.error && <ErrorState error={act.error} />}
    </>
  );
}
