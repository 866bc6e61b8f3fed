import { Alert, Anchor, Group, SegmentedControl, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery, keepPreviousData } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Link } from "wouter";
import { get } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { LINKS, type ShortLinkDetail } from "./short-link.ts";

const ClicksChart = lazy(() => import("./clicks-chart.tsx"));

/** Who followed a link, by hours or by days. */
export function LinkDetail({ id }: { id: string }) {
  const [bucket, setBucket] = useState("day");
  const { data, error, refetch } = useQuery({
    queryKey: [LINKS, id, bucket],
    queryFn: ({ signal }) => get<ShortLinkDetail>(`${LINKS}/${encodeURIComponent(id)}`, { bucket }, signal),
    placeholderData: keepPreviousData,
  });
  if (error) return <ErrorState error={error} retry={() => void refetch()} title="The link cannot be read" />;
  if (!data) return <PageLoading />;
  const { url, shortUrl, messageId, recipients, recipientsClicked, clicks, expiresAt, complete } = data;
  return (
    <Stack>
      <div>
        <Text fw={600}>{url}</Text>
        <Text size="sm" c="dimmed" component="div">
          {shortUrl !== null && `${shortUrl} · `}leads there until <TimeText at={expiresAt} size="sm" span />
        </Text>
        {messageId !== null && (
          <Anchor component={Link} href={`/messages/${messageId}`} size="sm">
            The message it stands in
          </Anchor>
        )}
      </div>
      <SimpleGrid cols={{ base: 2, xs: 3 }}>
        <FigureCard
          label="Recipients"
          value={`${recipientsClicked.toLocaleString()} of ${recipients.toLocaleString()}`}
          note="have clicked"
        />
        <FigureCard label="By people" value={clicks.person.toLocaleString()} />
        <FigureCard
          label="By programs"
          value={(clicks.preview + clicks.bot).toLocaleString()}
          note={`${clicks.preview.toLocaleString()} to show a preview`}
        />
      </SimpleGrid>
      {!complete && <Alert color="yellow">There are more clicks than are counted here.</Alert>}
      <Group justify="space-between">
        <Text fw={600} size="sm">
          Clicks
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="By hours or by days"
          data={[
            { value: "hour", label: "48 hours" },
            { value: "day", label: "30 days" },
          ]}
          value={bucket}
          onChange={setBucket}
        />
      </Group>
      <Suspense fallback={<Skeleton height={220} />}>
        <ClicksChart detail={data} />
      </Suspense>
    </Stack>
  );
}
