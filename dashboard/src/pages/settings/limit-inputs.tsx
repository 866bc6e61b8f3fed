import { NumberInput, SimpleGrid, Stack, Switch } from "@mantine/core";
import type { OwnInputProps } from "../../parts/record/field.ts";

interface Limit {
  name: string;
  label: string;
  hint?: string;
  max: number;
  suffix?: string;
  /** Empty means any number. */
  optional?: true;
}

interface Limits {
  field: string;
  /** What it begins with when it is switched on. */
  usual: Readonly<Record<string, number | null>>;
  limits: readonly Limit[];
}

/** Limits that belong together and are switched on and off together: null is off. */
function LimitsInput({ of, label, hint, value, onChange, disabled, faultAt }: OwnInputProps & { of: Limits }) {
  const set = value as Limits["usual"] | null;
  return (
    <Stack gap="xs">
      <Switch
        label={label}
        description={hint}
        checked={set !== null}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? of.usual : null)}
        disabled={disabled}
        error={faultAt(of.field)}
      />
      {set !== null && (
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" pl={{ base: 0, sm: 52 }}>
          {of.limits.map(({ name, label: word, hint: help, max, suffix, optional }) => (
            <NumberInput
              key={name}
              label={word}
              description={help}
              min={1}
              max={max}
              suffix={suffix ? ` ${suffix}` : ""}
              thousandSeparator=","
              allowDecimal={false}
              placeholder={optional && "Any number"}
              value={set[name] ?? ""}
              onChange={(next) => onChange({ ...set, [name]: typeof next === "number" ? next : null })}
              error={faultAt(`${of.field}.${name}`)}
              disabled={disabled}
            />
          ))}
        </SimpleGrid>
      )}
    </Stack>
  );
}

const COUNT_MAX = 10_000_000;

const SAME_TEXT: Limits = {
  field: "sameText",
  usual: { max: 10, windowSeconds: 60 },
  limits: [
    { name: "max", label: "So many times", max: 1000 },
    { name: "windowSeconds", label: "Within", max: 86_400, suffix: "seconds" },
  ],
};

const OTP_GUARD: Limits = {
  field: "otpGuard",
  usual: { prefixUnused: 20, countryPerHour: 2000, sendsPerDay: 100_000, conversionPercent: 20, blockHours: 12 },
  limits: [
    {
      name: "prefixUnused",
      label: "A block of 10,000 numbers may owe",
      hint: "Every code that is sent is owed, and one that is used pays for several.",
      max: COUNT_MAX,
      suffix: "codes",
    },
    {
      name: "conversionPercent",
      label: "The share that must be used",
      hint: "At 20 one that is used pays for five.",
      max: 100,
      suffix: "%",
    },
    {
      name: "countryPerHour",
      label: "A country may owe within an hour",
      max: COUNT_MAX,
      suffix: "codes",
      optional: true,
    },
    { name: "sendsPerDay", label: "The account sends in a day", max: COUNT_MAX, suffix: "codes", optional: true },
    {
      name: "blockHours",
      label: "A block is sent nothing for",
      hint: "The first time; twice as long each time again.",
      max: 168,
      suffix: "hours",
    },
  ],
};

/** How often the same text may go to the same number. */
export const SameTextInput = (props: OwnInputProps) => <LimitsInput {...props} of={SAME_TEXT} />;

/** What keeps one-time passwords from being pumped. */
export const OtpGuardInput = (props: OwnInputProps) => <LimitsInput {...props} of={OTP_GUARD} />;
