import { Alert, Anchor, Group, SegmentedControl, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQuery, keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { get } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { ClicksChart } from "./clicks-chart.tsx";
import { LINKS, type ShortLinkDetail } from "./short-link.ts";

/** Clicks of one link, by hour or by day. */
export function LinkDetail({ id }: { id: string }) {
  const [bucket, setBucket] = useState("day");
  const { data, error, refetch } = useQuery({
    queryKey: [LINKS, id, bucket],
    queryFn: ({ signal }) => get<ShortLinkDetail>(`${LINKS}/${encodeURIComponent(id)}`, { bucket }, signal),
    placeholderData: keepPreviousData,
  });
  if (error) return <ErrorState error={error} retry={() => void refetch()} title={t("Link cannot be loaded")} />;
  if (!data) return <PageLoading />;
  const { url, shortUrl, messageId, recipients, recipientsClicked, clicks, expiresAt, complete } = data;
  return (
    <Stack>
      <div>
        <Text fw={600}>{url}</Text>
        <Text size="sm" c="dimmed" component="div">
          {shortUrl !== null && `${shortUrl} · `}
          {t("active until")} <TimeText at={expiresAt} size="sm" span />
        </Text>
        {messageId !== null && (
          <Anchor component={Link} href={`/messages/${messageId}`} size="sm">
            {t("View message")}
          </Anchor>
        )}
      </div>
      <SimpleGrid cols={{ base: 2, xs: 3 }}>
        <FigureCard
          label={t("Recipients")}
          value={t("{recipientsClicked} of {recipients}", { recipientsClicked, recipients })}
          note={t("have clicked")}
        />
        <FigureCard label={t("By people")} value={formatNumber(clicks.person)} />
        <FigureCard
          label={t("By bots")}
          value={formatNumber(clicks.preview + clicks.bot)}
          note={t("{preview} to show a preview", { preview: clicks.preview })}
        />
      </SimpleGrid>
      {!complete && <Alert color="yellow">{t("Not all clicks are shown.")}</Alert>}
      <Group justify="space-between">
        <Text fw={600} size="sm">
          {t("Clicks")}
        </Text>
        <SegmentedControl
          size="xs"
          aria-label={t("Resolution")}
          data={[
            { value: "hour", label: t("48 hours") },
            { value: "day", label: t("30 days") },
          ]}
          value={bucket}
          onChange={setBucket}
        />
      </Group>
      <ClicksChart detail={data} />
    </Stack>
  );
}
