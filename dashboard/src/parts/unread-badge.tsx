import { Badge } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get, type Counted } from "../api.ts";
import { t } from "../i18n/t.ts";

const REFRESH_MS = 30_000;
const PATH = "/v1/conversations/unread-count";

/** The number of unread conversations, beside the inbox in the navigation. */
export function UnreadBadge() {
  const { data } = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => get<Counted>(PATH, {}, signal),
    refetchInterval: REFRESH_MS,
  });
  if (!data || data.count === 0) return null;
  const { count, more } = data;
  return (
    <Badge size="sm" aria-label={t("{count} unread", { count })}>
      {more ? `${count}+` : count}
    </Badge>
  );
}
