import { Anchor, Button, Center, Group, Switch, Text } from "@mantine/core";
import { IconArrowUp, IconMessageOff } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { usePages } from "../../api.ts";
import type { Message } from "../../api-types.ts";
import { ChannelBadge } from "../../parts/channel.tsx";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { ExportButton } from "../../parts/run/export-button.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { MESSAGE_COLUMNS, messageLine } from "./csv.ts";
import { FILTER_NAMES, MessageFilters } from "./filters.tsx";
import { queryOf } from "./query.ts";
import { useTail } from "./use-tail.ts";

const COLUMNS: readonly Column<Message>[] = [
  { title: "Time", render: ({ createdAt }) => <TimeText at={createdAt} size="sm" style={NO_WRAP} /> },
  { title: "Status", render: ({ state }) => <StatusBadge status={state} /> },
  {
    title: "To",
    render: ({ messageId, recipient }) => (
      <Anchor component={Link} href={`/messages/${messageId}`} size="sm">
        {recipient}
      </Anchor>
    ),
  },
  { title: "From", wide: true, render: ({ sender }) => <Text size="sm">{sender}</Text> },
  { title: "Channel", wide: true, render: ({ channel }) => <ChannelBadge channel={channel} /> },
  { title: "Type", wide: true, render: ({ type }) => <Text size="sm">{type}</Text> },
  {
    title: "Message",
    wide: true,
    render: (message) => (
      <Text size="sm" lineClamp={1} maw={360}>
        {excerptOf(message)}
      </Text>
    ),
  },
];

const NO_WRAP = { whiteSpace: "nowrap" } as const;

function excerptOf({ text, erased, templateName }: Message): string {
  if (text !== "") return text;
  if (templateName !== null) return `Template ${templateName}`;
  return erased ? "The text is not kept" : "–";
}

/** Every message, newest first. */
export default function Messages() {
  const [filters, change] = useUrlState(FILTER_NAMES);
  const [live, setLive] = useState(true);
  const [, navigate] = useLocation();
  const key = JSON.stringify(filters);
  // The filters are a new object with every render; what they say changes rarely.
  const query = useMemo(() => queryOf(JSON.parse(key) as typeof filters), [key]);
  const { table, rows, query: list } = usePages<Message>("/api/messages", query);
  const tail = useTail(query, rows, live && list.isSuccess);
  const fresh = tail.fresh.length;
  const filtered = FILTER_NAMES.some((name) => filters[name] !== "");

  return (
    <>
      <PageHeader title="Messages" lead="Every message with what became of it, newest first.">
        <Switch
          label="Live"
          checked={live}
          onChange={({ currentTarget }) => setLive(currentTarget.checked)}
          aria-label="Live: show what happens to messages"
        />
        <ExportButton<Message>
          path="/api/messages"
          query={query}
          one="message"
          many="messages"
          columns={MESSAGE_COLUMNS}
          line={messageLine}
          reached={({ createdAt }) => `back to ${new Date(createdAt).toLocaleString()}`}
          begins="the newest"
        />
      </PageHeader>
      <MessageFilters filters={filters} change={change} />
      {fresh > 0 && (
        <Center mb="sm">
          <Button
            radius="xl"
            size="xs"
            leftSection={<IconArrowUp size={15} aria-hidden />}
            onClick={tail.show}
            data-new
          >
            {fresh}
            {fresh >= 100 ? "+" : ""} new
          </Button>
        </Center>
      )}
      <DataTable
        label="Messages"
        columns={COLUMNS}
        rowKey={({ messageId }) => messageId}
        onRow={({ messageId }) => navigate(`/messages/${messageId}`)}
        {...table}
        empty={
          filtered ? (
            <EmptyState
              icon={IconMessageOff}
              sentence="No message is like that."
              action={
                <Button
                  variant="light"
                  onClick={() => change(Object.fromEntries(FILTER_NAMES.map((name) => [name, null])))}
                >
                  Show all messages
                </Button>
              }
            />
          ) : (
            <EmptyState
              icon={IconMessageOff}
              sentence="Nothing has been sent yet. The first message appears here the moment it is accepted."
              action={
                <Button component={Link} href="/composer">
                  Write one
                </Button>
              }
              curl={curlOf({
                path: "/v1/sms",
                body: { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" },
              })}
            />
          )
        }
      />
      {rows.length > 0 && (
        <Group justify="flex-end" mt="sm">
          <Text size="xs" c="dimmed">
            {rows.length.toLocaleString()} shown
          </Text>
        </Group>
      )}
    </>
  );
}
