import { Anchor, Grid, Group, Paper, SimpleGrid, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link, useParams } from "wouter";
import { get, post } from "../../api.ts";
import { BarList } from "../../parts/bar-list.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { GuardedButton, GuardedConfirm } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { CampaignBadge } from "./campaign-badge.tsx";
import { CAMPAIGNS, funnelOf, totalOf, type Campaign } from "./campaign.ts";
import { useClicks, useFailures } from "./campaign-details.ts";

const REFRESH_MS = 5000;

/** One campaign: how far its messages are, why some failed, who clicked, and the brakes. */
export default function CampaignPage() {
  const { id } = useParams<{ id: string }>();
  const { data, error, refetch } = useQuery({
    queryKey: [CAMPAIGNS, id],
    queryFn: ({ signal }) => get<Campaign>(`${CAMPAIGNS}/${id}`, {}, signal),
    // Nothing moves any more once nothing is pending.
    refetchInterval: ({ state }) => ((state.data?.counts.Pending ?? 0) > 0 ? REFRESH_MS : false),
  });
  if (error)
    return (
      <>
        <PageHeader title="Campaign" />
        <ErrorState error={error} retry={() => void refetch()} title="The campaign cannot be read" />
      </>
    );
  if (!data) return <PageLoading />;
  return <Loaded campaign={data} />;
}

function Loaded({ campaign }: { campaign: Campaign }) {
  const { name, createdAt, pausedAt, counts } = campaign;
  const total = totalOf(campaign);
  const messages = `/messages?campaignName=${encodeURIComponent(name)}`;
  return (
    <>
      <PageHeader
        title={name}
        lead={
          <Anchor component={Link} href="/campaigns" size="sm">
            All campaigns
          </Anchor>
        }
      >
        <Brakes campaign={campaign} />
      </PageHeader>
      <Group mb="lg" gap="md">
        <CampaignBadge status={campaign.status} />
        <Text size="sm" c="dimmed" component="div">
          Began <TimeText at={createdAt} size="sm" span />
          {pausedAt !== null && (
            <>
              , paused <TimeText at={pausedAt} size="sm" span />
            </>
          )}
        </Text>
        <Anchor component={Link} href={messages} size="sm">
          All its messages
        </Anchor>
      </Group>
      <SimpleGrid cols={{ base: 2, md: 4 }} mb="lg">
        <FigureCard label="Messages" value={total.toLocaleString()} />
        {["Delivered", "Pending", "Failed"].map((status) => (
          <FigureCard key={status} label={status} value={(counts[status] ?? 0).toLocaleString()} />
        ))}
      </SimpleGrid>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Section title="Funnel">
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

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Paper component="section" aria-label={title} mb="lg">
    <Title order={2} size="h4" mb="md">
      {title}
    </Title>
    {children}
  </Paper>
);

function Failures({ campaign }: { campaign: Campaign }) {
  const { data } = useFailures(campaign);
  if (!data) return null;
  return (
    <Section title="Why messages failed">
      {data.reasons.length === 0 && (
        <Text size="sm" c="dimmed">
          None has failed.
        </Text>
      )}
      <BarList
        of={data.lookedAt}
        bars={data.reasons.map(({ code, words, count }) => ({
          name: words,
          count,
          color: "red",
          label: (
            <>
              {words} {code !== null && <Text span c="dimmed" size="xs">{`(${code})`}</Text>}
            </>
          ),
        }))}
      />
      {data.more && (
        <Text size="xs" c="dimmed" mt="sm">
          Of the newest {data.lookedAt} that failed.
        </Text>
      )}
    </Section>
  );
}

function Clicks({ campaign }: { campaign: Campaign }) {
  const { data } = useClicks(campaign);
  if (!data || data.links.length === 0) return null;
  return (
    <Section title="Clicks">
      {data.links.map(({ id, url, recipients, recipientsClicked, clicks }) => (
        <div key={id}>
          <BarList
            of={recipients}
            bars={[
              {
                name: `Recipients who clicked on ${url}`,
                count: recipientsClicked,
                color: "green",
                label: (
                  <Anchor component={Link} href={`/message-app/links?open=${encodeURIComponent(id)}`} size="sm">
                    {url}
                  </Anchor>
                ),
              },
            ]}
          />
          <Text size="xs" c="dimmed" mt={4} mb="sm">
            {clicks.person.toLocaleString()} clicks by people, {(clicks.preview + clicks.bot).toLocaleString()} by
            programs
          </Text>
        </div>
      ))}
      {data.more && (
        <Text size="xs" c="dimmed">
          Of the newest {data.lookedAt} messages.
        </Text>
      )}
    </Section>
  );
}

/** Pausing holds what no carrier has yet; cancelling ends it for good. */
function Brakes({ campaign }: { campaign: Campaign }) {
  const { id, name, status } = campaign;
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: (what: "pause" | "resume" | "cancel") => post<Campaign>(`${CAMPAIGNS}/${id}/${what}`),
    onSuccess: () => client.invalidateQueries({ queryKey: [CAMPAIGNS] }),
  });
  const over = status === "cancelled" ? "It is cancelled: nothing can be sent under its name any more." : null;
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
        {paused ? "Resume" : "Pause"}
      </GuardedButton>
      <GuardedConfirm
        color="red"
        variant="light"
        whyNot={over}
        question={`Cancel ${name}?`}
        consequence="Every message that no carrier has yet is cancelled, and nothing can be sent under this name any more."
        yes="Cancel the campaign"
        run={() => act.mutateAsync("cancel")}
      >
        Cancel
      </GuardedConfirm>
      {act.error && <ErrorState error={act.error} />}
    </>
  );
}
