import { ActionIcon, Button, Group, Input, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { t } from "../../i18n/t.ts";
import { PushRequest } from "../../parts/push-request.tsx";
import type { OwnInputProps } from "../../parts/record/field.ts";
import type { HeaderPair } from "./endpoint.ts";
import { PLACEHOLDERS, sampleRequest } from "./placeholders.ts";

const PAIRS_MAX = 20;
const braced = (name: string): string => `{{${name}}}`;

/** Pairs of header and placeholder, a list of all placeholders, and a preview of the request. */
export function HeadersInput({ label, hint, value, onChange, disabled, faultAt, values }: OwnInputProps) {
  const pairs = value as readonly HeaderPair[];
  const replace = (index: number, changes: Partial<HeaderPair>): void =>
    onChange(pairs.map((pair, at) => (at === index ? { ...pair, ...changes } : pair)));
  const unused = PLACEHOLDERS.filter(({ name }) => !pairs.some((pair) => pair.value === braced(name)));
  return (
    <Stack gap="sm">
      <Input.Wrapper label={label} description={hint} error={faultAt("headers")} labelElement="div">
        <Stack gap="xs" mt="xs" role="group" aria-label={label}>
          {pairs.map((pair, index) => (
            <Group key={index} gap="xs" wrap="nowrap" align="flex-start">
              <TextInput
                aria-label={t("Key {number}", { number: index + 1 })}
                placeholder="X-Message-Id"
                value={pair.key}
                onChange={({ currentTarget }) => replace(index, { key: currentTarget.value })}
                error={faultAt(`headers[${index}].key`)}
                disabled={disabled}
                flex={1}
              />
              <Select
                aria-label={t("Value {number}", { number: index + 1 })}
                data={PLACEHOLDERS.map(({ name }) => braced(name))}
                value={pair.value}
                onChange={(chosen) => replace(index, { value: chosen ?? pair.value })}
                error={faultAt(`headers[${index}].value`)}
                disabled={disabled}
                allowDeselect={false}
                flex={1}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                disabled={disabled}
                onClick={() => onChange(pairs.filter((_, at) => at !== index))}
                aria-label={t("Remove header {number}", { number: index + 1 })}
              >
                <IconTrash size={17} aria-hidden />
              </ActionIcon>
            </Group>
          ))}
        </Stack>
      </Input.Wrapper>
      <Text size="xs" c="dimmed">
        {t("Choose fields:")}
      </Text>
      <Group gap={6} role="group" aria-label={t("Placeholders")}>
        {unused.map(({ name, about, header }) => (
          <Button
            key={name}
            variant="light"
            size="compact-xs"
            title={about}
            leftSection={<IconPlus size={12} aria-hidden />}
            disabled={disabled || pairs.length >= PAIRS_MAX}
            onClick={() => onChange([...pairs, { key: header, value: braced(name) }])}
          >
            {braced(name)}
          </Button>
        ))}
      </Group>
      <Text size="sm" fw={600} mt="xs">
        {t("Sample request")}
      </Text>
      <div data-sample>
        <PushRequest request={sampleRequest(values)} />
      </div>
    </Stack>
  );
}
