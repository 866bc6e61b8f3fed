import { Group, Paper, Select, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { patch } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { AUDIENCES, type Audience } from "./audience.ts";

type Use = "number" | "variable" | "unused";

interface ColumnUse {
  column: string;
  use: Use;
  /** Name of the variable. */
  name: string;
}

const USES: readonly { value: Use; label: string }[] = [
  { value: "number", label: t("Phone number") },
  { value: "variable", label: t("Variable") },
  { value: "unused", label: t("Not used") },
];

function usesOf({ columns, mapping }: Audience): ColumnUse[] {
  const names = new Map(Object.entries(mapping?.variables ?? {}).map(([name, column]) => [column, name]));
  return (columns ?? []).map((column) => ({
    column,
    use: column === mapping?.number ? "number" : names.has(column) || !mapping ? "variable" : "unused",
    name: names.get(column) ?? column,
  }));
}

/** Maps columns to the number and to named variables. */
export function MappingForm({ audience }: { audience: Audience }) {
  const [uses, setUses] = useState(() => usesOf(audience));
  const client = useQueryClient();
  const number = uses.find(({ use }) => use === "number")?.column;
  const variables = uses.filter(({ use }) => use === "variable");
  const isSame = JSON.stringify(uses) === JSON.stringify(usesOf(audience)) && audience.state === "ready";
  const save = useMutation({
    mutationFn: () => {
      const named = Object.fromEntries(variables.map(({ name, column }) => [name.trim(), column]));
      return patch<Audience>(`${AUDIENCES}/${audience.id}`, { mapping: { number, variables: named } });
    },
    onSuccess: (changed) => {
      for (const list of ["faults", "recipients"])
        client.removeQueries({ queryKey: [`${AUDIENCES}/${audience.id}/${list}`] });
      client.setQueryData([AUDIENCES, audience.id], changed);
    },
  });
  const change = (index: number, fields: Partial<ColumnUse>): void =>
    setUses(
      uses.map((each, place) => {
        if (place === index) return { ...each, ...fields };
        // Only one column can be the number.
        return fields.use === "number" && each.use === "number" ? { ...each, use: "unused" } : each;
      }),
    );
  return (
    <Paper p="md">
      <Stack gap="xs">
        {uses.map(({ column, use, name }, index) => (
          <Group key={column} gap="md" align="flex-end">
            <Text w={200} size="sm" truncate>
              {column}
            </Text>
            <Select
              aria-label={t("Use of {column}", { column })}
              data={[...USES]}
              value={use}
              allowDeselect={false}
              onChange={(value) => change(index, { use: value as Use })}
              w={170}
            />
            {use === "variable" && (
              <TextInput
                aria-label={t("Variable of {column}", { column })}
                value={name}
                onChange={({ currentTarget }) => change(index, { name: currentTarget.value })}
                w={200}
              />
            )}
          </Group>
        ))}
        {save.error && <ErrorState error={save.error} />}
        <Group justify="flex-end">
          <GuardedButton
            loading={save.isPending}
            whyNot={whyNot(audience, { number, variables, isSame })}
            onClick={() => save.mutate()}
          >
            {t("Check again with these columns")}
          </GuardedButton>
        </Group>
      </Stack>
    </Paper>
  );
}

interface Chosen {
  number: string | undefined;
  variables: readonly ColumnUse[];
  isSame: boolean;
}

function whyNot({ state, fileUntil }: Audience, { number, variables, isSame }: Chosen): string | null {
  const names = variables.map(({ name }) => name.trim());
  if (state !== "uploading" && fileUntil === null) return t("The file is no longer stored: upload it again.");
  if (number === undefined) return t("Choose the column of the phone number.");
  if (names.includes("") || new Set(names).size < names.length) return t("Each variable needs a name of its own.");
  return isSame ? t("Nothing has changed.") : null;
}
