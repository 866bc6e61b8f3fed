import { Select, Stack, Switch, TagsInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";

interface AlertEmail {
  carrier: string;
  from: string;
  to: readonly string[];
}

const NEW: AlertEmail = { carrier: "", from: "", to: [] };
const FIELD = "alertEmail";
const PLACES = 10;

/** E-mails about alerts: the carrier that sends them, the sender and the recipients; null is off. */
export function AlertEmailInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const set = value as AlertEmail | null;
  const { data } = useQuery({
    queryKey: ["/api/carriers", { limit: 200 }],
    queryFn: ({ signal }) =>
      get<{ data: readonly { name: string; adapter: string }[] }>("/api/carriers", { limit: 200 }, signal),
    enabled: set !== null,
  });
  const carriers = (data?.data ?? []).filter(({ adapter }) => adapter === "email").map(({ name }) => name);
  const toFault = [FIELD + ".to", ...Array.from({ length: PLACES }, (_, at) => `${FIELD}.to[${at}]`)]
    .map(faultAt)
    .find((fault) => fault !== undefined);
  return (
    <Stack gap="xs">
      <Switch
        label={label}
        description={hint}
        checked={set !== null}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? NEW : null)}
        disabled={disabled}
        error={faultAt(FIELD)}
      />
      {set !== null && (
        <Stack gap="sm" pl={{ base: 0, sm: 52 }}>
          <Select
            label={t("E-mail carrier")}
            description={t("A carrier with an SMTP connection.")}
            data={carriers}
            value={set.carrier || null}
            onChange={(carrier) => onChange({ ...set, carrier: carrier ?? "" })}
            error={faultAt(`${FIELD}.carrier`)}
            disabled={disabled}
          />
          <TextInput
            label={t("From")}
            placeholder={t("Alerts <alerts@example.com>")}
            value={set.from}
            onChange={({ currentTarget }) => onChange({ ...set, from: currentTarget.value })}
            error={faultAt(`${FIELD}.from`)}
            disabled={disabled}
          />
          <TagsInput
            label={t("To")}
            description={t("Press Enter after each address.")}
            value={[...set.to]}
            onChange={(to) => onChange({ ...set, to })}
            error={toFault}
            disabled={disabled}
          />
        </Stack>
      )}
    </Stack>
  );
}
