import { Anchor, Badge, Group, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { Link, useLocation } from "wouter";
import { usePages } from "../../api.ts";
import type { Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { SendChannel } from "../../parts/channel.tsx";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { TypedFilter } from "../../parts/filters.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { useUrlState } from "../../url-state.ts";
import { TEMPLATE_KINDS } from "./template-kind.ts";

function shapeOf(template: Template): string {
  if (template.channel === "rcs") return template.kind;
  if (template.channel === "chatapp")
    return template.header ? t("{type} header", { type: template.header.type }) : t("no header");
  return "text";
}

function wordsOf(template: Template): string {
  if (template.channel === "chatapp") return template.body ?? t("Learned; text unknown");
  if (template.channel === "rcs" && template.cards.length > 0)
    return template.cards.map(({ title }) => title).join(" · ");
  return template.text ?? t("Learned; text unknown");
}

const columnsFor = (place: string): Column<Template>[] => [
  {
    title: t("Name"),
    render: ({ id, name, origin }) => (
      <Group gap="xs" wrap="nowrap">
        <Anchor component={Link} href={`${place}/${id}`} size="sm">
          {name}
        </Anchor>
        {origin === "learned" && <Badge color="blue">{t("learned")}</Badge>}
      </Group>
    ),
  },
  {
    title: t("Text"),
    wide: true,
    render: (template) => (
      <Text size="sm" lineClamp={1} maw={420}>
        {wordsOf(template)}
      </Text>
    ),
  },
  { title: t("Kind"), wide: true, render: (template) => <Text size="sm">{shapeOf(template)}</Text> },
  { title: t("Values"), wide: true, align: "right", render: ({ variables }) => variables },
  {
    title: t("Status"),
    render: (template) => <StatusBadge status={template.channel === "sms" ? "approved" : template.status} />,
  },
];

const EXAMPLES: Readonly<Record<SendChannel, Record<string, unknown>>> = {
  sms: { name: "welcome", text: "Hello {#var#}, welcome!" },
  rcs: { channel: "rcs", name: "welcome", kind: "text", text: "Hello {{1}}, welcome!" },
  chatapp: { channel: "chatapp", name: "welcome", body: "Hello {{1}}, welcome!" },
};

const PAGE_ROWS = 200;

function Templates({ channel }: { channel: SendChannel }) {
  const { title, lead, place } = TEMPLATE_KINDS[channel];
  const [, navigate] = useLocation();
  const [{ q }, change] = useUrlState(["q"]);
  const { table, rows } = usePages<Template>("/api/templates", { channel, limit: PAGE_ROWS });
  const shown = rows.filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()));
  const add = (
    <GuardedButton leftSection={<IconPlus size={17} aria-hidden />} onClick={() => navigate(`${place}/new`)}>
      {t("Add template")}
    </GuardedButton>
  );
  return (
    <>
      <PageHeader title={title} lead={lead}>
        {rows.length > 0 && add}
      </PageHeader>
      {rows.length > 0 && (
        <Group mb="md">
          <TypedFilter
            label={t("Find")}
            value={q}
            onChange={(text) => change({ q: text })}
            placeholder={t("Name")}
            leading
          />
        </Group>
      )}
      <DataTable
        label={title}
        columns={columnsFor(place)}
        {...table}
        rows={shown}
        rowKey={({ id }) => id}
        onRow={({ id }) => navigate(`${place}/${id}`)}
        empty={
          q === "" ? (
            <EmptyState
              sentence={t("No templates yet. Create one, or send with any name: the simulator learns it.")}
              action={add}
              curl={curlOf({ path: "/api/templates", body: EXAMPLES[channel] })}
            />
          ) : (
            <EmptyState sentence={t("No results")} />
          )
        }
      />
    </>
  );
}

export const SmsTemplates = () => <Templates channel="sms" />;
export const RcsTemplates = () => <Templates channel="rcs" />;
export const ChatTemplates = () => <Templates channel="chatapp" />;
