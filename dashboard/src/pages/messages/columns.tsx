import { ActionIcon, Anchor, Checkbox, Popover, Stack, Text, Tooltip } from "@mantine/core";
import { IconColumns } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "wouter";
import type { Message } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { ChannelBadge } from "../../parts/channel.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";

const NO_WRAP = { whiteSpace: "nowrap" } as const;

const text = (title: string, value: (message: Message) => string | number | null): Column<Message> => ({
  title,
  wide: true,
  render: (message) => <Text size="sm">{value(message) ?? "–"}</Text>,
});
const time = (title: string, at: (message: Message) => number | null): Column<Message> => ({
  title,
  wide: true,
  render: (message) => <Time at={at(message)} />,
});
const Time = ({ at }: { at: number | null }) =>
  at === null ? <Text size="sm">–</Text> : <TimeText at={at} size="sm" style={NO_WRAP} />;

/** All columns in their order. The first three are always shown. */
const COLUMNS = {
  time: { title: t("Time"), render: ({ createdAt }) => <TimeText at={createdAt} size="sm" style={NO_WRAP} /> },
  status: { title: t("Status"), render: ({ state }) => <StatusBadge status={state} /> },
  to: {
    title: t("To"),
    render: ({ messageId, recipient }) => (
      <Anchor component={Link} href={`/messages/${messageId}`} size="sm">
        {recipient}
      </Anchor>
    ),
  },
  from: text(t("From"), ({ sender }) => sender),
  channel: { title: t("Channel"), wide: true, render: ({ channel }) => <ChannelBadge channel={channel} /> },
  type: text(t("Type"), ({ type }) => type),
  message: {
    title: t("Message"),
    wide: true,
    render: (message) => (
      <Text size="sm" lineClamp={1} maw={360}>
        {excerptOf(message)}
      </Text>
    ),
  },
  campaign: text(t("Campaign"), ({ campaignName }) => campaignName),
  template: text(t("Template"), ({ templateName }) => templateName),
  carrier: text(t("Carrier"), ({ carrier }) => carrier),
  segments: text(t("Segments"), ({ segments }) => segments),
  credits: text(t("Credits"), ({ credits }) => credits),
  errCode: text(t("Error code"), ({ errCode }) => errCode),
  dueAt: time(t("Scheduled for"), ({ dueAt }) => dueAt),
  submittedAt: time(t("Sent"), ({ submittedAt }) => submittedAt),
  doneAt: time(t("Ended"), ({ doneAt }) => doneAt),
} satisfies Readonly<Record<string, Column<Message>>>;

type Name = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as Name[];
const ALWAYS: ReadonlySet<Name> = new Set(["time", "status", "to"]);
const OPTIONAL = NAMES.filter((name) => !ALWAYS.has(name));
const AT_FIRST: readonly Name[] = ["from", "channel", "type", "message"];
const STORED = "heliograph-message-columns";

function excerptOf({ text: words, encoding, erased, templateName }: Message): string {
  if (encoding === "binary") return t("Binary message");
  if (words !== "") return words;
  if (templateName !== null) return t("Template {templateName}", { templateName });
  return erased ? t("Text not stored") : "–";
}

interface ChosenColumns {
  columns: readonly Column<Message>[];
  chosen: readonly string[];
  choose: (names: readonly string[]) => void;
}

/** The user's choice of columns, kept in the browser. */
export function useColumns(): ChosenColumns {
  const [chosen, setChosen] = useState<readonly string[]>(() => localStorage.getItem(STORED)?.split(",") ?? AT_FIRST);
  return {
    columns: NAMES.filter((name) => ALWAYS.has(name) || chosen.includes(name)).map((name) => COLUMNS[name]),
    chosen,
    choose(names) {
      localStorage.setItem(STORED, names.join(","));
      setChosen(names);
    },
  };
}

/** Button that shows and hides columns. */
export const ColumnsMenu = ({ chosen, choose }: ChosenColumns) => (
  <Popover position="bottom-end" trapFocus>
    <Tooltip label={t("Columns")}>
      <Popover.Target>
        <ActionIcon variant="default" size="lg" aria-label={t("Columns")} visibleFrom="md">
          <IconColumns size={17} aria-hidden />
        </ActionIcon>
      </Popover.Target>
    </Tooltip>
    <Popover.Dropdown>
      <Checkbox.Group value={[...chosen]} onChange={choose} label={t("Columns")} p="xs">
        <Stack gap="xs" mt="xs">
          {OPTIONAL.map((name) => (
            <Checkbox key={name} value={name} label={COLUMNS[name].title} />
          ))}
        </Stack>
      </Checkbox.Group>
    </Popover.Dropdown>
  </Popover>
);
