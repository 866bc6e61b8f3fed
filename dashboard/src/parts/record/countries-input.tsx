import { TagsInput } from "@mantine/core";
import type { OwnInputProps } from "./field.ts";

const COUNTRIES_LOOKED_AT = 250;

/** Countries by their two letters; none at all is null, which means all of them. */
export function CountriesInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const countries = (value as string[] | null) ?? [];
  const wrong = Array.from({ length: COUNTRIES_LOOKED_AT }, (_, at) => faultAt(`allowedCountries[${at}]`)).find(
    Boolean,
  );
  return (
    <TagsInput
      label={label}
      description={hint}
      value={countries}
      onChange={(next) => onChange(next.length === 0 ? null : next.map((country) => country.toUpperCase()))}
      placeholder={countries.length === 0 ? "All" : ""}
      error={faultAt("allowedCountries") ?? wrong}
      disabled={disabled}
      acceptValueOnBlur
      splitChars={[",", ";", " "]}
    />
  );
}
