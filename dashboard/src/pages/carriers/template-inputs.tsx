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

/** An input for a template; one that nobody has touched is left out, an empty one is sent as it is. */
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

/** An input for what only JSON can hold. What is no JSON is sent as the text it is, and the server says what it thinks of it. */
export const jsonInput = (name: string): ComponentType<OwnInputProps> =>
  function JsonInput(props) {
    // What was written for one preset is nothing to the next.
    return <JsonText key={String(props.values["preset"])} {...props} name={name} />;
  };

/** What is half written is kept here, where the shape of the API could not hold it. */
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
    // It may be half written, or a path, which needs no quotes.
    return text;
  }
}
