import { ActionIcon, Indicator, Tooltip } from "@mantine/core";
import { IconBell } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { get } from "./api.ts";
import { t } from "./i18n/t.ts";

interface OpenAlert {
  acknowledgedAt: number | null;
  mutedUntil: number | null;
}

const COUNT_MAX = 99;

function countWatched(alerts: readonly OpenAlert[]): number {
  const now = Date.now();
  return alerts.filter(
    ({ acknowledgedAt, mutedUntil }) => acknowledgedAt === null && (mutedUntil === null || mutedUntil <= now),
  ).length;
}

/**
 * Open alerts in the header, without acknowledged and muted ones. They are read on navigation and when the window is opened
 * again, never by a timer: polling would keep the session of an unattended page alive.
 */
export function AlertBadge() {
  const [path] = useLocation();
  const { data: count = 0 } = useQuery({
    queryKey: ["/api/alerts", "open", path],
    queryFn: async ({ signal }) => {
      const query = { state: "open", limit: 200 };
      return countWatched((await get<{ data: readonly OpenAlert[] }>("/api/alerts", query, signal)).data);
    },
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: true,
  });
  const label = count === 0 ? t("No open alerts") : t("Open alerts: {count}", { count });
  return (
    <Tooltip label={label}>
      <Indicator label={Math.min(count, COUNT_MAX)} size={17} color="red" disabled={count === 0} offset={5}>
        <ActionIcon
          component={Link}
          href="/operations/alerts?state=open"
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={label}
          data-open-alerts={count}
        >
          <IconBell size={20} aria-hidden />
        </ActionIcon>
      </Indicator>
    </Tooltip>
  );
}
