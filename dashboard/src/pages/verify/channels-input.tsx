import { ActionIcon, Button, Group, Input, Paper, Select, SimpleGrid, Stack, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { t } from "../../i18n/t.ts";
import { CHANNELS } from "../../parts/channel.tsx";
import type { OwnInputProps } from "../../parts/record/field.ts";
import type { VerifyChannel } from "./verification.ts";
import { NumberInput } from "../../parts/number-input.tsx";

const CHANNELS_MAX = 5;
const WAIT_SECONDS = 30;

/** The delivery channels of a code in order of use, each with its sender. */
export function ChannelsInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const channels = value as readonly VerifyChannel[];
  const replace = (index: number, changes: Partial<VerifyChannel>): void =>
    onChange(channels.map((each, at) => (at === index ? { ...each, ...changes } : each)));
  return (
    <Input.Wrapper label={label} description={hint} error={faultAt("channels")} labelElement="div">
      <Stack gap="xs" mt="xs" role="group" aria-label={label}>
        {channels.map((each, index) => (
          <Paper key={index} p="xs" role="group" aria-label={t("Channel {number}", { number: index + 1 })}>
            <Group gap="xs" wrap="nowrap" align="flex-start">
              <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" flex={1}>
                <Select
                  label={t("Channel")}
                  size="xs"
                  data={CHANNELS.map(({ value: channel, label: word }) => ({ value: channel, label: word }))}
                  value={each.channel}
                  onChange={(channel) => replace(index, { channel: channel ?? each.channel })}
                  allowDeselect={false}
                  error={faultAt(`channels[${index}].channel`)}
                  disabled={disabled}
                />
                <TextInput
                  label={t("From")}
                  size="xs"
                  placeholder={each.channel === "email" ? t("Example <login@example.com>") : t("Sender, bot or number")}
                  value={each.from}
                  onChange={({ currentTarget }) => replace(index, { from: currentTarget.value })}
                  error={faultAt(`channels[${index}].from`)}
                  disabled={disabled}
                />
                <TextInput
                  label={t("Template")}
                  size="xs"
                  placeholder={each.channel === "sms" || each.channel === "email" ? t("Text below") : ""}
                  value={each.template ?? ""}
                  onChange={({ currentTarget }) => replace(index, { template: currentTarget.value || null })}
                  error={faultAt(`channels[${index}].template`)}
                  disabled={disabled}
                />
                <NumberInput
                  label={t("Waits")}
                  size="xs"
                  suffix={t(" seconds")}
                  value={each.waitSeconds ?? WAIT_SECONDS}
                  onChange={(seconds) => typeof seconds === "number" && replace(index, { waitSeconds: seconds })}
                  error={faultAt(`channels[${index}].waitSeconds`)}
                  disabled={disabled}
                />
              </SimpleGrid>
              <ActionIcon
                variant="subtle"
                color="gray"
                mt={22}
                onClick={() => onChange(channels.filter((_, at) => at !== index))}
                disabled={disabled || channels.length === 1}
                aria-label={t("Remove channel {number}", { number: index + 1 })}
              >
                <IconTrash size={16} aria-hidden />
              </ActionIcon>
            </Group>
          </Paper>
        ))}
        <div>
          <Button
            size="compact-sm"
            variant="light"
            leftSection={<IconPlus size={14} aria-hidden />}
            disabled={disabled || channels.length >= CHANNELS_MAX}
            onClick={() => onChange([...channels, { channel: "sms", from: "HELIOG" }])}
          >
            {t("Channel")}
          </Button>
        </div>
      </Stack>
    </Input.Wrapper>
  );
}
