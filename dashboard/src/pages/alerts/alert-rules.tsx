import { Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import type { Field } from "../../parts/record/field.ts";
import type { RecordKind, RecordRow } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { KINDS, type AppliedRule } from "./alert.ts";

const PATH = "/api/alert-rules";

interface Rule extends RecordRow, Omit<AppliedRule, "id" | "threshold" | "usual"> {
  threshold: number | null;
}

const kindOf = (values: Readonly<Record<string, unknown>>) => KINDS[String(values["alert"])];
const isRate = (values: Readonly<Record<string, unknown>>): boolean => kindOf(values)?.isRate === true;

const FIELDS: readonly Field[] = [
  { name: "name", label: t("Name"), input: { kind: "text" }, required: true },
  {
    name: "alert",
    label: t("Alert"),
    hint: t("A rule replaces the usual rule of the same alert."),
    input: { kind: "choice", options: Object.entries(KINDS).map(([value, { label }]) => ({ value, label })) },
    required: true,
  },
  {
    name: "threshold",
    label: t("Threshold"),
    hint: (values) => {
      const { usual, unit } = kindOf(values) ?? {};
      return t("In {unit}. Empty is the usual one, {usual}.", { unit: unit ?? "", usual: usual ?? 0 });
    },
    input: { kind: "number", min: 1 },
    when: (values) => kindOf(values)?.unit !== null,
    absent: null,
  },
  {
    name: "windowMinutes",
    label: t("Window"),
    hint: t("The time that is counted."),
    input: { kind: "number", min: 5, max: 1440, suffix: t("minutes") },
    when: isRate,
    absent: 60,
  },
  {
    name: "minimum",
    label: t("Minimum"),
    hint: t("With fewer messages or codes in the window, the rate is not judged."),
    input: { kind: "number", min: 1 },
    when: isRate,
    absent: 100,
  },
  { name: "enabled", label: t("On"), input: { kind: "switch" } },
];

const thresholdOf = ({ alert, threshold }: Pick<Rule, "alert" | "threshold">): string => {
  const { unit, usual } = KINDS[alert] ?? {};
  return unit ? `${formatNumber(threshold ?? usual ?? 0)} ${unit}` : "–";
};

const COLUMNS: readonly Column<Pick<Rule, "alert" | "threshold" | "windowMinutes" | "minimum" | "enabled">>[] = [
  { title: t("Alert"), render: ({ alert }) => <Text size="sm">{KINDS[alert]?.label ?? alert}</Text> },
  { title: t("Threshold"), render: (rule) => <Text size="sm">{thresholdOf(rule)}</Text> },
  {
    title: t("Window"),
    wide: true,
    render: ({ alert, windowMinutes, minimum }) => (
      <Text size="sm">
        {KINDS[alert]?.isRate ? t("{minutes} minutes, at least {minimum}", { minutes: windowMinutes, minimum }) : "–"}
      </Text>
    ),
  },
  { title: t("State"), render: ({ enabled }) => <StatusBadge status={enabled ? "enabled" : "disabled"} /> },
];

const KIND: RecordKind<Rule> = {
  path: PATH,
  one: "rule",
  add: t("Add rule"),
  fields: FIELDS,
  starts: { name: "", alert: "carrier_down", threshold: null, windowMinutes: 60, minimum: 100, enabled: true },
  columns: COLUMNS,
  empty: {
    sentence: t("No rules of your own: the usual rules apply."),
    example: { name: "Deliveries drop", alert: "delivery_rate", threshold: 85 },
  },
  removal: t("Its open alerts resolve. Without another rule of this alert, the usual rule applies."),
};

/** The rules of the account, and the usual rules of all other alerts. */
export function AlertRules() {
  const { data, error, isPending } = useQuery({
    queryKey: [PATH, "applied"],
    queryFn: ({ signal }) => get<{ data: readonly AppliedRule[] }>("/api/alerts/rules", {}, signal),
  });
  const usual = data?.data.filter((rule) => rule.usual) ?? [];
  return (
    <Stack gap="xl">
      <div>
        <RecordTable kind={KIND} />
      </div>
      <div>
        <Group mb="sm">
          <Title order={2} size="h4">
            {t("Usual rules")}
          </Title>
        </Group>
        <DataTable
          label={t("Usual rules")}
          columns={[
            { title: t("Name"), render: ({ alert }) => <Text size="sm">{KINDS[alert]?.label ?? alert}</Text> },
            ...COLUMNS.slice(1),
          ]}
          rows={usual}
          rowKey={({ alert }) => alert}
          loading={isPending}
          error={error}
          empty={null}
        />
      </div>
    </Stack>
  );
}
