import { Textarea } from "@mantine/core";
import { useState, type ComponentType } from "react";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";

const LOOK = {
  autosize: true,
  minRows: 1,
  maxRows: 16,
  spellCheck: false,
  autoComplete: "off",
  styles: { input: { fontFamily: "var(--mantine-font-family-monospace)" } },
};
const PLACEHOLDER = t("Preset or default value");

const faultIn = (faultAt: OwnInputProps["faultAt"], name: string): string | undefined =>
  faultAt(name) ?? faultAt(`${name}.*`);

/** An input for a request template. Untouched, it is left out; an empty text is sent. */
export const templateInput = (name: string): ComponentType<OwnInputProps> =>
  function TemplateInput({ label, hint, value, onChange, disabled, faultAt }) {
    return (
      <Textarea
        label={label}
        description={hint}
        value={typeof value === "string" ? value : ""}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        placeholder={PLACEHOLDER}
        error={faultIn(faultAt, name)}
        disabled={disabled}
        {...LOOK}
      />
    );
  };

/** An input for JSON. Invalid JSON is sent as text, and the server reports the error. */
export const jsonInput = (name: string): ComponentType<OwnInputProps> =>
  function JsonInput(props) {
    // The key resets the input when the preset changes.
    return <JsonText key={String(props.values["preset"])} {...props} name={name} />;
  };

/** Keeps the text as typed: incomplete JSON has no value in the record. */
function JsonText({ label, hint, value, onChange, disabled, faultAt, name }: OwnInputProps & { name: string }) {
  const [text, setText] = useState(value === undefined ? "" : JSON.stringify(value, null, 2));
  return (
    <Textarea
      label={label}
      description={hint}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        onChange(readJson(currentTarget.value));
      }}
      placeholder={PLACEHOLDER}
      error={faultIn(faultAt, name)}
      disabled={disabled}
      {...LOOK}
    />
  );
}

function readJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Incomplete JSON, or a path, which needs no quotes.
    return text;
  }
}
