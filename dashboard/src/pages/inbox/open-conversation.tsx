import { Anchor, Button, Group, Paper, Select, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { get, patch, usePages } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton, useWhyNot } from "../../parts/guarded.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { isBinary, Octets } from "../../parts/phone/octets.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import {
  CHANNEL_NAMES,
  CONVERSATIONS,
  showRead,
  textOf,
  type Assignee,
  type Conversation,
  type Item,
} from "./conversation.ts";
import { InboundFile } from "./inbound-file.tsx";
import classes from "./inbox.module.css";
import { ReplyBox } from "./reply-box.tsx";

const SHOWN = 50;

interface Props {
  id: string;
  onChanged: () => void;
}

/** One conversation: its messages, its assignee, and the form for a reply. */
export function OpenConversation({ id, onChanged }: Props) {
  const path = `${CONVERSATIONS}/${id}`;
  const client = useQueryClient();
  const mayNotWrite = useWhyNot("write");
  const { data, error, refetch } = useQuery({
    queryKey: [CONVERSATIONS, "one", id],
    queryFn: ({ signal }) => get<Conversation>(path, {}, signal),
  });
  const change = useMutation({
    mutationFn: (body: object) => patch<Conversation>(path, body),
    onSuccess: (changed) => {
      client.setQueryData([CONVERSATIONS, "one", id], changed);
      onChanged();
    },
  });
  const unread = data?.unread ?? 0;
  const { mutate } = change;
  // An open conversation is read.
  useEffect(() => {
    if (unread === 0 || mayNotWrite !== null) return;
    mutate({ read: true });
    const shown = client.getQueryData<Conversation>([CONVERSATIONS, "one", id]);
    if (shown) void showRead(shown, false);
  }, [unread, mayNotWrite, mutate, client, id]);
  if (error)
    return <ErrorState error={error} retry={() => void refetch()} title={t("Conversation cannot be loaded")} />;
  if (!data) return <PageLoading />;
  const { number, name, sender, channel, state, assignedTo } = data;
  return (
    <Paper p="md" component="section" aria-label={t("Conversation with {number}", { number })}>
      <Group justify="space-between" mb="md">
        <div>
          <Title order={2} size="h4">
            {name ?? number}
          </Title>
          <Text size="sm" c="dimmed">
            {name !== null && `${number} · `}
            {CHANNEL_NAMES[channel]} · {sender} ·{" "}
            <Anchor component={Link} href={`/contacts/${number}`} size="sm">
              {t("Contact")}
            </Anchor>
          </Text>
        </div>
        <Group gap="sm">
          <AssigneeSelect value={assignedTo} onChange={(user) => mutate({ assignedTo: user })} />
          <GuardedButton
            variant="default"
            loading={change.isPending}
            onClick={() => mutate({ state: state === "open" ? "closed" : "open" })}
          >
            {state === "open" ? t("Close") : t("Open again")}
          </GuardedButton>
        </Group>
      </Group>
      {change.error && <ErrorState error={change.error} />}
      <Messages id={id} />
      <ReplyBox
        conversation={data}
        onSent={() => {
          void client.invalidateQueries({ queryKey: [`${path}/messages`] });
          onChanged();
        }}
      />
    </Paper>
  );
}

function AssigneeSelect({ value, onChange }: { value: string | null; onChange: (user: string | null) => void }) {
  const refused = useWhyNot("write");
  const { data } = useQuery({
    queryKey: [CONVERSATIONS, "assignees"],
    queryFn: ({ signal }) => get<{ data: Assignee[] }>(`${CONVERSATIONS}/assignees`, {}, signal),
  });
  return (
    <Select
      aria-label={t("Assigned to")}
      placeholder={t("Not assigned")}
      data={(data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      value={value}
      onChange={onChange}
      disabled={refused !== null}
      clearable
      clearButtonProps={{ "aria-label": t("Clear {name}", { name: t("Assigned to") }) }}
      w={190}
    />
  );
}

/** The newest messages, the last one at the bottom. */
function Messages({ id }: { id: string }) {
  const end = useRef<HTMLDivElement>(null);
  const { rows, table } = usePages<Item>(`${CONVERSATIONS}/${id}/messages`, { limit: SHOWN });
  const newest = rows[0]?.at ?? 0;
  useEffect(() => {
    end.current?.scrollTo({ top: end.current.scrollHeight });
  }, [newest]);
  if (table.error) return <ErrorState error={table.error} retry={table.retry} />;
  if (table.loading) return <PageLoading />;
  return (
    <div className={classes.messages} ref={end} tabIndex={0} role="group" aria-label={t("Messages")}>
      <Stack gap="sm">
        {table.hasMore && (
          <Button variant="subtle" size="xs" loading={table.loadingMore} onClick={table.more}>
            {t("Show older messages")}
          </Button>
        )}
        {rows.toReversed().map((item) => (
          <Bubble key={item.inbound?.id ?? item.message?.messageId ?? item.at} item={item} />
        ))}
      </Stack>
    </div>
  );
}

function Bubble({ item: { direction, at, inbound, message } }: { item: Item }) {
  return (
    <div className={direction === "in" ? classes.in : classes.out} data-direction={direction}>
      {inbound?.media ? (
        <InboundFile media={inbound.media} title={textOf(inbound)} />
      ) : message && isBinary(message) ? (
        <Octets {...message} />
      ) : (
        <Text size="sm">{message ? message.text || message.templateName || "–" : textOf(inbound)}</Text>
      )}
      <Group gap={6} mt={4}>
        <TimeText at={at} size="xs" />
        {message && (
          <Anchor component={Link} href={`/messages/${message.messageId}`} size="xs">
            <StatusBadge status={message.status} />
          </Anchor>
        )}
      </Group>
    </div>
  );
}
