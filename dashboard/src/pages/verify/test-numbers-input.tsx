import { ActionIcon, Button, Group, Input, Stack, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import type { TestNumber } from "./verification.ts";

/** Test numbers of a configuration, each with a fixed code. */
export function TestNumbersInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const numbers = value as readonly TestNumber[];
  const replace = (index: number, changes: Partial<TestNumber>): void =>
    onChange(numbers.map((each, at) => (at === index ? { ...each, ...changes } : each)));
  return (
    <Input.Wrapper label={label} description={hint} error={faultAt("testNumbers")} labelElement="div">
      <Stack gap="xs" mt="xs" role="group" aria-label={label}>
        {numbers.map((each, index) => (
          <Group key={index} gap="xs" wrap="nowrap" align="flex-start">
            <TextInput
              aria-label={t("Number {number}", { number: index + 1 })}
              placeholder="15550100100"
              value={each.number}
              onChange={({ currentTarget }) => replace(index, { number: currentTarget.value })}
              error={faultAt(`testNumbers[${index}].number`)}
              disabled={disabled}
              flex={1}
            />
            <TextInput
              aria-label={t("Code {number}", { number: index + 1 })}
              placeholder="123456"
              value={each.code}
              onChange={({ currentTarget }) => replace(index, { code: currentTarget.value })}
              error={faultAt(`testNumbers[${index}].code`)}
              disabled={disabled}
              w={130}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              onClick={() => onChange(numbers.filter((_, at) => at !== index))}
              disabled={disabled}
              aria-label={t("Remove number {number}", { number: index + 1 })}
            >
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <div>
          <Button
            size="compact-sm"
            variant="light"
            leftSection={<IconPlus size={14} aria-hidden />}
            disabled={disabled}
            onClick={() => onChange([...numbers, { number: "", code: "123456" }])}
          >
            {t("Number")}
          </Button>
        </div>
      </Stack>
    </Input.Wrapper>
  );
}
