import { Badge, Code, Group, List, Stack, Text } from "@mantine/core";
import { IconMinus, IconPencil, IconPlus, type Icon } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { t } from "../../i18n/t.ts";
import { isNothing, type SetUpPlan } from "./set-up-plan.ts";

const nameOf = ({ part, channel, name }: { part: string; channel?: string; name: string }): string =>
  `${part}${channel ? ` (${channel})` : ""}: ${name}`;

const written = (value: unknown): string => JSON.stringify(value) ?? "nothing";

interface GroupProps {
  title: string;
  color: string;
  icon: Icon;
  count: number;
  children: ReactNode;
}

const PlanGroup = ({ title, color, icon: Icon, count, children }: GroupProps) =>
  count === 0 ? null : (
    <div data-plan={title}>
      <Group gap="xs" mb={6}>
        <Badge color={color} leftSection={<Icon size={13} aria-hidden />}>
          {title}
        </Badge>
        <Text size="sm" c="dimmed">
          {count}
        </Text>
      </Group>
      <List size="sm">{children}</List>
    </div>
  );

const Changes = ({ fields }: { fields: readonly { field: string; from: unknown; to: unknown }[] }) => (
  <>
    {fields.map(({ field, from, to }) => (
      <Text key={field} size="xs" component="div">
        {field}: <Code>{written(from)}</Code> → <Code>{written(to)}</Code>
      </Text>
    ))}
  </>
);

/** The changes that a configuration file makes or has made. */
export function PlanView({ plan }: { plan: SetUpPlan }) {
  const { settings, made, changed, removed, same } = plan;
  return (
    <Stack gap="md" data-plan-shown>
      {isNothing(plan) && <Text size="sm">{t("No changes: the account matches the file.")}</Text>}
      <PlanGroup title={t("Removed")} color="red" icon={IconMinus} count={removed.length}>
        {removed.map((record) => (
          <List.Item key={nameOf(record)}>{nameOf(record)}</List.Item>
        ))}
      </PlanGroup>
      <PlanGroup title={t("Created")} color="green" icon={IconPlus} count={made.length}>
        {made.map((record) => (
          <List.Item key={nameOf(record)}>{nameOf(record)}</List.Item>
        ))}
      </PlanGroup>
      <PlanGroup title={t("Changed")} color="blue" icon={IconPencil} count={changed.length + settings.length}>
        {settings.length > 0 && (
          <List.Item>
            {t("settings")}
            <Changes fields={settings} />
          </List.Item>
        )}
        {changed.map((record) => (
          <List.Item key={nameOf(record)}>
            {nameOf(record)}
            <Changes fields={record.fields} />
          </List.Item>
        ))}
      </PlanGroup>
      {same.length > 0 && (
        <Text size="sm" c="dimmed">
          {t("{same} records unchanged.", { same: same.length })}
        </Text>
      )}
    </Stack>
  );
}
