import { Autocomplete, Checkbox, Group, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { use } from "react";
import { t } from "../../i18n/t.ts";
import { ExistsContext } from "./exists-context.ts";
import { faultOf, type Field, type Values } from "./field.ts";
import { SecretInput } from "./secret-input.tsx";
import { NumberInput } from "../number-input.tsx";

interface Props {
  field: Field;
  values: Values;
  set: (name: string, value: unknown) => void;
  faultAt: (path: string) => string | undefined;
  disabled: boolean;
}

const words = (value: unknown): string => (typeof value === "string" ? value : "");
const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** The input for a field's description. */
export function FieldInput({ field, values, set, faultAt, disabled }: Props) {
  const { name, label, input, required = false } = field;
  const exists = use(ExistsContext);
  const hint = exists ? field.hint : (field.hintNew ?? field.hint);
  const help = typeof hint === "function" ? hint(values) : hint;
  const value = values[name];
  const change = (next: unknown): void => set(name, next);
  if (input.kind === "own") {
    const Own = input.component;
    return (
      <Own
        label={label}
        hint={help}
        value={value}
        onChange={change}
        disabled={disabled}
        faultAt={faultAt}
        values={values}
      />
    );
  }
  const common = {
    label,
    description: help,
    error: faultOf(field, faultAt),
    disabled,
    withAsterisk: required,
    "data-field": name,
  };
  switch (input.kind) {
    case "text":
      if (input.suggestions)
        return <Autocomplete {...common} data={input.suggestions} value={words(value)} onChange={change} limit={50} />;
      return input.type === "password" ? (
        <SecretInput {...common} value={words(value)} onChange={({ currentTarget }) => change(currentTarget.value)} />
      ) : (
        <TextInput
          {...common}
          value={words(value)}
          onChange={({ currentTarget }) => change(currentTarget.value)}
          placeholder={input.placeholder}
          // Sets the keyboard only: `type` would enable the browser's validation, whose messages say less than the
          // server's.
          inputMode={input.type}
          autoComplete="off"
        />
      );
    case "long":
      return (
        <Textarea
          {...common}
          value={words(value)}
          onChange={({ currentTarget }) => change(currentTarget.value)}
          placeholder={input.placeholder}
          autosize
          minRows={input.rows ?? 3}
          maxRows={14}
        />
      );
    case "number":
      return (
        <NumberInput
          {...common}
          value={typeof value === "number" ? value : ""}
          onChange={(next) => change(typeof next === "number" ? next : null)}
          placeholder={input.placeholder}
          suffix={input.suffix ? ` ${input.suffix}` : ""}
          grouped={input.grouped !== false}
          {...(input.min === undefined ? {} : { min: input.min })}
          {...(input.max === undefined ? {} : { max: input.max })}
        />
      );
    case "choice":
      return (
        <Select
          {...common}
          data={input.options}
          searchable={input.searchable === true}
          nothingFoundMessage={t("No results")}
          value={typeof value === "string" ? value : null}
          onChange={change}
          placeholder={input.none}
          clearable={input.none !== undefined}
          allowDeselect={false}
          clearButtonProps={{ "aria-label": `${label}: ${input.none ?? t("None")}` }}
        />
      );
    case "several":
      return (
        <Checkbox.Group {...common} value={list(value)} onChange={change}>
          <Group gap="md" mt={8}>
            {input.options.map((option) => (
              <Checkbox key={option.value} value={option.value} label={option.label} disabled={disabled} />
            ))}
          </Group>
        </Checkbox.Group>
      );
    case "list":
    case "phrases":
      return (
        <TagsInput
          {...common}
          value={list(value)}
          onChange={change}
          placeholder={list(value).length === 0 ? input.placeholder : ""}
          acceptValueOnBlur
          splitChars={input.kind === "list" ? [",", ";", " "] : [",", ";"]}
        />
      );
    case "switch":
    default:
      return (
        <Switch
          label={label}
          description={help}
          error={common.error}
          disabled={disabled}
          checked={value === true}
          onChange={({ currentTarget }) => change(currentTarget.checked)}
        />
      );
  }
}
