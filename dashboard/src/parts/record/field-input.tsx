import { Checkbox, Group, NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { faultOf, type Field, type Values } from "./field.ts";
import { SecretInput } from "./secret-input.tsx";

interface Props {
  field: Field;
  values: Values;
  set: (name: string, value: unknown) => void;
  faultAt: (path: string) => string | undefined;
  disabled: boolean;
}

const words = (value: unknown): string => (typeof value === "string" ? value : "");
const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** The input that a field's description stands for. */
export function FieldInput({ field, values, set, faultAt, disabled }: Props) {
  const { name, label, hint, input, required = false } = field;
  const value = values[name];
  const change = (next: unknown): void => set(name, next);
  if (input.kind === "own") {
    const Own = input.component;
    return (
      <Own
        label={label}
        hint={hint}
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
    description: hint,
    error: faultOf(field, faultAt),
    disabled,
    withAsterisk: required,
    "data-field": name,
  };
  switch (input.kind) {
    case "text":
      return input.type === "password" ? (
        <SecretInput {...common} value={words(value)} onChange={({ currentTarget }) => change(currentTarget.value)} />
      ) : (
        <TextInput
          {...common}
          value={words(value)}
          onChange={({ currentTarget }) => change(currentTarget.value)}
          placeholder={input.placeholder}
          // The browser's own rules for addresses would come before the server's and say less.
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
          thousandSeparator={input.grouped === false ? "" : ","}
          allowDecimal={false}
          {...(input.min === undefined ? {} : { min: input.min })}
          {...(input.max === undefined ? {} : { max: input.max })}
        />
      );
    case "choice":
      return (
        <Select
          {...common}
          data={input.options}
          value={typeof value === "string" ? value : null}
          onChange={change}
          placeholder={input.none}
          clearable={input.none !== undefined}
          allowDeselect={false}
          clearButtonProps={{ "aria-label": `${label}: ${input.none ?? "none"}` }}
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
          description={hint}
          error={common.error}
          disabled={disabled}
          checked={value === true}
          onChange={({ currentTarget }) => change(currentTarget.checked)}
        />
      );
  }
}
