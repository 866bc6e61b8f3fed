import { Button, Group, Paper, Stack, Text } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from "@tabler/icons-react";
import { t } from "../../i18n/t.ts";
import { channelName, SEND_CHANNELS } from "../../parts/channel.tsx";
import { NumberInput } from "../../parts/number-input.tsx";
import type { CampaignDraft } from "./campaign-draft.ts";
import { emptyWay, type WayDraft } from "./way-draft.ts";
import { WayFields } from "./way-fields.tsx";

interface Props {
  draft: CampaignDraft;
  change: (changes: Partial<CampaignDraft>) => void;
  columns: readonly string[];
  faultAt: (parameter: string) => string | undefined;
}

/** The channels of a campaign in their order, each with its content. */
export function WaysFields({ draft, change, columns, faultAt }: Props) {
  const { ways } = draft;
  const left = SEND_CHANNELS.filter(({ value }) => !ways.some(({ channel }) => channel === value));
  const set = (next: readonly WayDraft[]): void => change({ ways: next });
  const move = (index: number, by: number): void => {
    const [way] = ways.slice(index, index + 1);
    if (way) set(ways.toSpliced(index, 1).toSpliced(index + by, 0, way));
  };
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {t(
          "A message takes the next channel if the number cannot be reached, if it fails, or if no delivery arrives in time.",
        )}
      </Text>
      {ways.map((way, index) => {
        const name = channelName(way.channel);
        return (
          <Paper key={way.channel} component="section" withBorder p="md" aria-label={name}>
            <Group justify="space-between" mb="sm">
              <Text fw={600}>{t("{number}. {channel}", { number: index + 1, channel: name })}</Text>
              <Group gap={4}>
                <Button
                  size="compact-xs"
                  variant="default"
                  disabled={index === 0}
                  leftSection={<IconArrowUp size={12} aria-hidden />}
                  onClick={() => move(index, -1)}
                >
                  {t("Move up")}
                </Button>
                <Button
                  size="compact-xs"
                  variant="default"
                  disabled={index === ways.length - 1}
                  leftSection={<IconArrowDown size={12} aria-hidden />}
                  onClick={() => move(index, 1)}
                >
                  {t("Move down")}
                </Button>
                <Button
                  size="compact-xs"
                  variant="default"
                  leftSection={<IconTrash size={12} aria-hidden />}
                  onClick={() => set(ways.toSpliced(index, 1))}
                >
                  {t("Remove")}
                </Button>
              </Group>
            </Group>
            <WayFields
              way={way}
              change={(changes) => set(ways.with(index, { ...way, ...changes }))}
              columns={columns}
              faultAt={(parameter) => faultAt(`ways[${index}].${parameter}`)}
            />
          </Paper>
        );
      })}
      <Group gap="xs">
        {left.map(({ value, label }) => (
          <Button
            key={value}
            size="compact-sm"
            variant="light"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => set([...ways, emptyWay(value)])}
          >
            {t("Add {channel}", { channel: label })}
          </Button>
        ))}
      </Group>
      {ways.length > 1 && (
        <NumberInput
          label={t("Seconds before the next channel")}
          description={t("After a failure it follows at once.")}
          value={draft.moveOnAfterSeconds}
          onChange={(seconds) => change({ moveOnAfterSeconds: typeof seconds === "number" ? seconds : "" })}
          min={10}
          max={86_400}
          error={faultAt("moveOnAfterSeconds")}
        />
      )}
    </Stack>
  );
}
