import { Fieldset, Group, Stack, Switch, Text } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { NumberInput } from "../../parts/number-input.tsx";

interface Kind {
  ton: number;
  npi: number;
}

type Kinds = "alphanumeric" | "shortCode" | "international" | "recipient";
type Addresses = Readonly<Record<Kinds, Kind>> & { shortCodeDigits: number; plus: boolean };

const KINDS: readonly (readonly [Kinds, string])[] = [
  ["alphanumeric", t("Alphanumeric sender")],
  ["shortCode", t("Short code sender")],
  ["international", t("International number sender")],
  ["recipient", t("Recipient")],
];

/** Type of number (TON) and numbering plan (NPI) of senders and recipients. */
export function AddressesInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const addresses = value as Addresses;
  const part = (kind: Kinds, name: keyof Kind, what: string, max: number) => (
    <NumberInput
      aria-label={t("{what} of: {kindWord}", { what, kindWord: kindWord(kind) })}
      label={what}
      size="xs"
      w={90}
      min={0}
      max={max}
      value={addresses[kind][name]}
      onChange={(next) =>
        typeof next === "number" && onChange({ ...addresses, [kind]: { ...addresses[kind], [name]: next } })
      }
      error={faultAt(`addresses.${kind}.${name}`)}
      disabled={disabled}
    />
  );
  return (
    <Fieldset legend={label}>
      <Stack gap="sm">
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
        {KINDS.map(([kind, word]) => (
          <Group key={kind} gap="sm" justify="space-between">
            <Text size="sm" flex="1 1 160px">
              {word}
            </Text>
            <Group gap="xs" wrap="nowrap">
              {part(kind, "ton", "TON", 7)}
              {part(kind, "npi", "NPI", 31)}
            </Group>
          </Group>
        ))}
        <NumberInput
          label={t("Longest short code")}
          suffix={t(" digits")}
          min={1}
          max={15}
          value={addresses.shortCodeDigits}
          onChange={(next) => typeof next === "number" && onChange({ ...addresses, shortCodeDigits: next })}
          error={faultAt("addresses.shortCodeDigits")}
          disabled={disabled}
        />
        <Switch
          label={t("Write international numbers with a plus")}
          checked={addresses.plus}
          onChange={({ currentTarget }) => onChange({ ...addresses, plus: currentTarget.checked })}
          disabled={disabled}
        />
      </Stack>
    </Fieldset>
  );
}

const kindWord = (wanted: Kinds): string => KINDS.find(([kind]) => kind === wanted)?.[1] ?? wanted;
