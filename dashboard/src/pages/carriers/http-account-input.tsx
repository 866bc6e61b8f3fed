import { Stack, TextInput } from "@mantine/core";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { RowsInput, type Row, type Rows } from "../../parts/record/rows-input.tsx";
import { SecretInput } from "../../parts/record/secret-input.tsx";
import { presetOf } from "./http-presets.ts";

type Given = Readonly<Record<string, string>>;

const mapRows = (word: string): Rows => ({
  columns: [
    { name: "name", label: "Name", placeholder: word === "value" ? "user" : "token" },
    { name: "content", label: `The ${word}` },
  ],
  starts: { name: "", content: "" },
  add: `Add a ${word}`,
  read: (value) => Object.entries((value ?? {}) as Row).map(([name, content]) => ({ name, content })),
  write: (rows) => Object.fromEntries(rows.map(({ name, content }) => [name?.trim() ?? "", content ?? ""])),
});
const VALUES = mapRows("value");

/** Who we are to the provider: what its preset asks for, or values of one's own by name. */
export function HttpValuesInput(props: OwnInputProps) {
  const { value, onChange, disabled, faultAt, values: line } = props;
  const preset = presetOf(line["preset"]);
  if (!preset) return <RowsInput {...props} rows={VALUES} name="values" />;
  const given = (value ?? {}) as Given;
  return (
    <Stack gap="md">
      {Object.entries(preset.values).map(([name, label]) => (
        <TextInput
          key={name}
          label={label}
          withAsterisk
          value={given[name] ?? ""}
          onChange={({ currentTarget }) => onChange(withOne(given, name, currentTarget.value))}
          error={faultAt(`values.${name}`)}
          disabled={disabled}
          autoComplete="off"
        />
      ))}
    </Stack>
  );
}

/** The secret by which calls show that they come from the provider. */
const CALLBACK = "callback";
const KEPT_BESIDE = new Set([CALLBACK, "callbackBefore"]);

/** What nobody is shown: what the preset asks for, or what a request of one's own names, and the key of our address. */
export function HttpSecretsInput({ value, onChange, disabled, faultAt, values: line }: OwnInputProps) {
  const given = (value ?? {}) as Given;
  const kept = new Set((line["secretNames"] as readonly string[] | undefined) ?? []);
  const preset = presetOf(line["preset"]);
  const asked = preset ? Object.entries(preset.secrets) : namesIn(line, kept).map((name) => [name, name] as const);
  const change = (name: string, next: string): void => {
    const all = withOne(given, name, next);
    onChange(Object.keys(all).length === 0 ? undefined : all);
  };
  const common = (name: string) => ({
    value: given[name] ?? "",
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => change(name, currentTarget.value),
    error: faultAt(`secrets.${name}`),
    disabled,
  });
  return (
    <Stack gap="md">
      {asked.map(([name, label]) => (
        <SecretInput
          key={name}
          label={preset ? label : `Secret ${label}`}
          description={`Sealed, and never shown.${kept.has(name) ? " Leave it empty to keep the one that there is." : ""}`}
          withAsterisk={!kept.has(name)}
          {...common(name)}
        />
      ))}
      <SecretInput
        label="Callback key"
        description={`Stands in the callback address: 16 to 128 letters and digits. Left empty, ${kept.has(CALLBACK) ? "the one that there is stays" : "one is made"}.`}
        {...common(CALLBACK)}
      />
    </Stack>
  );
}

/** What is empty is not given. */
const withOne = (given: Given, name: string, value: string): Given =>
  Object.fromEntries(Object.entries({ ...given, [name]: value }).filter(([, each]) => each !== ""));

/** The secrets that a request names, wherever it does, and those that there are. */
function namesIn(line: Readonly<Record<string, unknown>>, kept: ReadonlySet<string>): string[] {
  const written = JSON.stringify([line["path"], line["headers"], line["basicAuth"], line["body"]]);
  const named = [...written.matchAll(/\{\{secret:(\w+)\}\}/g)].map(([, name = ""]) => name);
  return [...new Set([...named, ...kept])].filter((name) => !KEPT_BESIDE.has(name));
}
