import { Badge, Button, Grid, Group, Paper, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { IconInbox } from "@tabler/icons-react";
import { Link, useParams } from "wouter";
import { usePages } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { useLive } from "../../live.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { ChoiceFilter, FilterBar, TypedFilter } from "../../parts/filters.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { CHANNEL_NAMES, CONVERSATIONS, textOf, UNREAD_COUNT, type Conversation } from "./conversation.ts";
import classes from "./inbox.module.css";
import { OpenConversation } from "./open-conversation.tsx";

/** For changes by other users, which send no event. */
const REFRESH_MS = 20_000;

const STATES = [
  { value: "open", label: t("Open") },
  { value: "closed", label: t("Closed") },
];
const ASSIGNED = [
  { value: "me", label: t("Assigned to me") },
  { value: "nobody", label: t("Not assigned") },
];

/** Inbox: what users sent on every channel, as conversations. */
export default function Inbox() {
  const { id } = useParams<{ id?: string }>();
  const [filters, change] = useUrlState(["q", "state", "assignedTo"]);
  const client = useQueryClient();
  const { rows, table } = usePages<Conversation>(CONVERSATIONS, filters, { refreshMs: REFRESH_MS });
  const readAgain = (): void => {
    for (const key of [CONVERSATIONS, UNREAD_COUNT]) void client.invalidateQueries({ queryKey: [key] });
  };
  const readMessagesAgain = (): void => {
    if (id !== undefined) void client.invalidateQueries({ queryKey: [`${CONVERSATIONS}/${id}/messages`] });
  };
  useLive("received", () => {
    readAgain();
    readMessagesAgain();
  });
  useLive("moved", readMessagesAgain);
  const search = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== "")).toString();
  const linkTo = (conversation: Conversation): string =>
    `/inbox/${conversation.id}${search === "" ? "" : `?${search}`}`;
  return (
    <>
      <PageHeader title={t("Inbox")} lead={t("What users sent on every channel, unread first.")} />
      <FilterBar values={filters} change={change}>
        <TypedFilter
          label={t("Name or number")}
          value={filters.q}
          onChange={(q) => change({ q })}
          placeholder={t("Ada")}
          leading
        />
        <ChoiceFilter label={t("State")} value={filters.state} onChange={(state) => change({ state })} data={STATES} />
        <ChoiceFilter
          label={t("Assigned")}
          value={filters.assignedTo}
          onChange={(assignedTo) => change({ assignedTo })}
          data={ASSIGNED}
        />
      </FilterBar>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 4 }}>
          {table.error && <ErrorState error={table.error} retry={table.retry} />}
          {table.loading && <PageLoading />}
          {!table.loading && rows.length === 0 && !table.error && (
            <Paper>
              <EmptyState
                icon={IconInbox}
                sentence={
                  search === ""
                    ? t("Nothing here yet. Reply to a message from a virtual phone to try it.")
                    : t("No conversation matches these filters.")
                }
              />
            </Paper>
          )}
          {rows.length > 0 && (
            <Paper p={6} component="nav" aria-label={t("Conversations")}>
              {rows.map((conversation) => (
                <Row
                  key={conversation.id}
                  conversation={conversation}
                  href={linkTo(conversation)}
                  isOpen={conversation.id === id}
                />
              ))}
              {table.hasMore && (
                <Button variant="subtle" fullWidth loading={table.loadingMore} onClick={table.more}>
                  {t("Show more")}
                </Button>
              )}
            </Paper>
          )}
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 8 }}>
          {id !== undefined && <OpenConversation key={id} id={id} onChanged={readAgain} />}
        </Grid.Col>
      </Grid>
    </>
  );
}

interface RowProps {
  conversation: Conversation;
  href: string;
  isOpen: boolean;
}

function Row({
  conversation: { number, name, channel, sender, unread, lastAt, lastMessage, state },
  href,
  isOpen,
}: RowProps) {
  return (
    <Link href={href} className={classes.row} {...(isOpen && { "aria-current": "true" as const })}>
      <Stack gap={2}>
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm" fw={unread > 0 ? 700 : 500} truncate>
            {name ?? number}
            {name !== null && (
              <Text size="xs" c="dimmed" ml={6} span>
                {number}
              </Text>
            )}
          </Text>
          <TimeText at={lastAt} size="xs" />
        </Group>
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm" truncate>
            {textOf(lastMessage)}
          </Text>
          {unread > 0 && <Badge aria-label={t("{count} unread", { count: unread })}>{unread}</Badge>}
        </Group>
        <Text size="xs" c="dimmed">
          {CHANNEL_NAMES[channel]} · {sender}
          {state === "closed" && ` · ${t("Closed")}`}
        </Text>
      </Stack>
    </Link>
  );
}
