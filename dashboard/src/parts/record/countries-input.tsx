import { MultiSelect, type ComboboxItem, type OptionsFilter } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import { countries } from "../countries.ts";
import type { OwnInputProps } from "./field.ts";

const COUNTRIES_LOOKED_AT = 250;

const COUNTRIES = countries();

/** Two letters match country codes first; any text matches names. */
const byCode: OptionsFilter = ({ options, search }) => {
  const wanted = search.trim().toLowerCase();
  const found = (options as ComboboxItem[]).filter(({ label }) => label.toLowerCase().includes(wanted));
  return found.toSorted((a, b) => Number(b.value.toLowerCase() === wanted) - Number(a.value.toLowerCase() === wanted));
};

/** Countries by their two-letter codes. No selection is null and means all countries. */
export function CountriesInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const chosen = (value as string[] | null) ?? [];
  const wrong = Array.from({ length: COUNTRIES_LOOKED_AT }, (_, at) => faultAt(`allowedCountries[${at}]`)).find(
    Boolean,
  );
  return (
    <MultiSelect
      label={label}
      description={hint}
      value={chosen}
      data={COUNTRIES}
      onChange={(next) => onChange(next.length === 0 ? null : next)}
      filter={byCode}
      searchable
      hidePickedOptions
      nothingFoundMessage={t("No results")}
      placeholder={chosen.length === 0 ? t("All") : ""}
      error={faultAt("allowedCountries") ?? wrong}
      disabled={disabled}
    />
  );
}
