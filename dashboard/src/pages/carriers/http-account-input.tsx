import { Stack, TextInput } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps, Values } from "../../parts/record/field.ts";
import { RowsInput, type Row, type Rows } from "../../parts/record/rows-input.tsx";
import { SecretInput } from "../../parts/record/secret-input.tsx";
import { presetOf } from "./http-presets.ts";

type Given = Readonly<Record<string, string>>;

const mapRows = (word: string): Rows => ({
  columns: [
    { name: "name", label: t("Name"), placeholder: word === "value" ? "user" : "token" },
    { name: "content", label: t("The {word}", { word }) },
  ],
  starts: { name: "", content: "" },
  add: t("Add a {word}", { word }),
  read: (value) => Object.entries((value ?? {}) as Row).map(([name, content]) => ({ name, content })),
  write: (rows) => Object.fromEntries(rows.map(({ name, content }) => [name?.trim() ?? "", content ?? ""])),
});
const VALUES = mapRows("value");

/** Account values for the provider: the fields of its preset, or any named values without a preset. */
export function HttpValuesInput(props: OwnInputProps) {
  const { value, onChange, disabled, faultAt, values: line } = props;
  const preset = presetOf(line["preset"]);
  const faultWithin = (path: string): string | undefined => faultAt(path) ?? faultAt(`${path}.*`);
  if (!preset) return <RowsInput {...props} faultAt={faultWithin} rows={VALUES} name="values" />;
  const given = (value ?? {}) as Given;
  const asked = { ...wordsFor(t("Value"), namesIn(line, "value")), ...preset.values };
  return (
    <Stack gap="md">
      {Object.entries(asked).map(([name, label]) => (
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

/** Name of the secret that authenticates the provider's callbacks. */
const CALLBACK = "callback";
const KEPT_BESIDE = new Set([CALLBACK, "callbackBefore"]);

/** Secrets of the preset, secrets that the request template names, and the callback key. All are write-only. */
export function HttpSecretsInput({ value, onChange, disabled, faultAt, values: line }: OwnInputProps) {
  const given = (value ?? {}) as Given;
  const kept = new Set((line["secretNames"] as readonly string[] | undefined) ?? []);
  const others = [...namesIn(line, "secret"), ...kept].filter((name) => !KEPT_BESIDE.has(name));
  const asked = { ...wordsFor(t("Secret"), others), ...presetOf(line["preset"])?.secrets };
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
      {Object.entries(asked).map(([name, label]) => (
        <SecretInput
          key={name}
          label={label}
          description={
            kept.has(name)
              ? t("Stored encrypted; never displayed. Leave empty to keep the current value.")
              : t("Stored encrypted; never displayed.")
          }
          withAsterisk={!kept.has(name)}
          {...common(name)}
        />
      ))}
      <SecretInput
        label={t("Callback key")}
        description={t("Part of the callback URL: 16 to 128 letters and digits. If empty, {value}.", {
          value: kept.has(CALLBACK) ? t("the current one is kept") : t("one is generated"),
        })}
        {...common(CALLBACK)}
      />
    </Stack>
  );
}

/** The values with one of them changed. Empty values are removed. */
const withOne = (given: Given, name: string, value: string): Given =>
  Object.fromEntries(Object.entries({ ...given, [name]: value }).filter(([, each]) => each !== ""));

/** Names of the values or secrets that the request template uses. */
function namesIn(line: Values, kind: "value" | "secret"): string[] {
  const written = JSON.stringify([line["path"], line["headers"], line["basicAuth"], line["body"]]);
  return [...written.matchAll(new RegExp(`\\{\\{${kind}:(\\w+)\\}\\}`, "g"))].map(([, name = ""]) => name);
}

/** Labels for names without a label of their own. */
const wordsFor = (word: string, names: readonly string[]): Given =>
  Object.fromEntries(names.map((name) => [name, `${word} ${name}`]));
