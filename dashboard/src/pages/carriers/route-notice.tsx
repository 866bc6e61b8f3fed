import { Alert, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconRoute } from "@tabler/icons-react";
import { useLocation } from "wouter";
import { get, type Page } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { GuardedButton } from "../../parts/guarded.tsx";

/** The next step of a new carrier: without a route it gets no messages. */
export function RouteNotice({ carrier }: { carrier: string }) {
  const [, navigate] = useLocation();
  const { data } = useQuery({
    queryKey: ["/api/routes", "all"],
    queryFn: ({ signal }) => get<Page<{ carrier: string }>>("/api/routes", { limit: 200 }, signal),
  });
  if (!data || data.data.some((route) => route.carrier === carrier)) return null;
  return (
    <Alert color="yellow" icon={<IconRoute aria-hidden />} title={t("Next: add a route")} mb="lg">
      <Group justify="space-between">
        <Text size="sm">{t("No route leads to this carrier yet, so it gets no messages.")}</Text>
        <GuardedButton
          may="own"
          size="xs"
          onClick={() => navigate(`/operations/carriers?tab=routes&open=new&carrier=${encodeURIComponent(carrier)}`)}
        >
          {t("Add route")}
        </GuardedButton>
      </Group>
    </Alert>
  );
}
