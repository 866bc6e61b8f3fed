import { SimpleGrid, Stack, Switch } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { NumberInput } from "../../parts/number-input.tsx";

interface Limit {
  name: string;
  label: string;
  hint?: string;
  max: number;
  suffix?: string;
  /** Empty means unlimited. */
  optional?: true;
}

interface Limits {
  field: string;
  /** Values after switching the limits on. */
  usual: Readonly<Record<string, number | null>>;
  limits: readonly Limit[];
}

/** A group of limits that is switched on and off together; null is off. */
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
              grouped
              placeholder={optional && t("Unlimited")}
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
    { name: "max", label: t("Maximum messages"), max: 1000 },
    { name: "windowSeconds", label: t("Within"), max: 86_400, suffix: t("seconds") },
  ],
};

const OTP_GUARD: Limits = {
  field: "otpGuard",
  usual: { prefixUnused: 20, countryPerHour: 2000, sendsPerDay: 100_000, conversionPercent: 20, blockHours: 12 },
  limits: [
    {
      name: "prefixUnused",
      label: t("Max unverified codes per 10,000-number range"),
      hint: t("Each sent code counts until codes are verified."),
      max: COUNT_MAX,
      suffix: t("codes"),
    },
    {
      name: "conversionPercent",
      label: t("Required conversion"),
      hint: t("20 % means 1 verified code allows 5 sends."),
      max: 100,
      suffix: "%",
    },
    {
      name: "countryPerHour",
      label: t("Max unverified codes per country per hour"),
      max: COUNT_MAX,
      suffix: t("codes"),
      optional: true,
    },
    { name: "sendsPerDay", label: t("Max codes per day"), max: COUNT_MAX, suffix: t("codes"), optional: true },
    {
      name: "blockHours",
      label: t("Block duration"),
      hint: t("The first time; it doubles each further time."),
      max: 168,
      suffix: t("hours"),
    },
  ],
};

/** Duplicate-text filter: limits of the same text to the same number. */
export const SameTextInput = (props: OwnInputProps) => <LimitsInput {...props} of={SAME_TEXT} />;

/** Protection against SMS pumping with one-time passwords. */
export const OtpGuardInput = (props: OwnInputProps) => <LimitsInput {...props} of={OTP_GUARD} />;
