import { ActionIcon, Button, Group, Input, Stack, Textarea, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";

interface Row {
  language: string;
  text: string;
}

interface Props extends OwnInputProps {
  name: "texts" | "subjects";
}

/** A text per language tag. The server reports a wrong text at its tag, and a wrong tag at the whole field. */
function LanguagesInput({ name, label, hint, value, onChange, disabled, faultAt }: Props) {
  // Kept as typed, because rows with the same tag have no form as an object.
  const [rows, setRows] = useState<readonly Row[]>(() =>
    Object.entries((value ?? {}) as Record<string, string>).map(([language, text]) => ({ language, text })),
  );
  const change = (next: readonly Row[]): void => {
    setRows(next);
    onChange(Object.fromEntries(next.map(({ text }, place) => [tagOf(next, place), text])));
  };
  const replace = (place: number, changes: Partial<Row>): void =>
    change(rows.map((row, at) => (at === place ? { ...row, ...changes } : row)));
  return (
    <Input.Wrapper
      label={label}
      description={hint}
      error={faultAt(name)}
      labelElement="div"
      role="group"
      aria-label={label}
    >
      <Stack gap="xs" mt="xs">
        {rows.map(({ language, text }, place) => {
          const common = {
            "aria-label": t("{label}, row {number}", {
              label: name === "texts" ? t("Text") : t("Subject"),
              number: place + 1,
            }),
            value: text,
            error: faultAt(`${name}.${language.trim()}`),
            disabled,
            flex: 1,
          };
          return (
            <Group key={place} gap="xs" wrap="nowrap" align="flex-start">
              <TextInput
                aria-label={t("{label}, row {number}", { label: t("Language"), number: place + 1 })}
                placeholder="pt-BR"
                value={language}
                onChange={({ currentTarget }) => replace(place, { language: currentTarget.value })}
                error={isRepeated(rows, place) && t("This language is already listed. Remove one of the two.")}
                disabled={disabled}
                w={110}
              />
              {name === "texts" ? (
                <Textarea
                  {...common}
                  onChange={({ currentTarget }) => replace(place, { text: currentTarget.value })}
                  autosize
                  maxRows={8}
                />
              ) : (
                <TextInput
                  {...common}
                  onChange={({ currentTarget }) => replace(place, { text: currentTarget.value })}
                />
              )}
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                onClick={() => change(rows.filter((_, at) => at !== place))}
                disabled={disabled}
                aria-label={t("Remove row {number} of {label}", { number: place + 1, label })}
              >
                <IconTrash size={16} aria-hidden />
              </ActionIcon>
            </Group>
          );
        })}
        <div>
          <Button
            size="compact-sm"
            variant="light"
            leftSection={<IconPlus size={14} aria-hidden />}
            disabled={disabled}
            onClick={() => change([...rows, { language: "", text: "" }])}
          >
            {t("Add language")}
          </Button>
        </div>
      </Stack>
    </Input.Wrapper>
  );
}

const isRepeated = (rows: readonly Row[], place: number): boolean => {
  const tag = rows[place]?.language.trim() ?? "";
  return tag !== "" && rows.slice(0, place).some(({ language }) => language.trim() === tag);
};

/** A repeated tag gets the number of its row: the server refuses it, so that no text is lost silently. */
function tagOf(rows: readonly Row[], place: number): string {
  const tag = rows[place]?.language.trim() ?? "";
  return isRepeated(rows, place) ? `${tag} (${place + 1})` : tag;
}

export const TextsInput = (props: OwnInputProps) => <LanguagesInput {...props} name="texts" />;
export const SubjectsInput = (props: OwnInputProps) => <LanguagesInput {...props} name="subjects" />;
