import { Input, SimpleGrid, Stack, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { CALM, KNOBS, type Chaos } from "../../parts/chaos-knobs.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { NumberInput } from "../../parts/number-input.tsx";

/** Chaos settings of one simulated carrier; null uses those of the account's simulator. */
export function ChaosInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const chaos = value as Chaos | null;
  const { data } = useQuery({
    queryKey: ["chaos"],
    queryFn: ({ signal }) => get<Chaos>("/api/simulator/chaos", {}, signal),
  });
  // Older servers lack some of these settings and omit them.
  const known = (name: string): boolean => data !== undefined && name in data;
  const calm = Object.fromEntries(Object.entries(CALM).filter(([name]) => known(name)));
  return (
    <Stack gap="sm">
      <Switch
        label={label}
        description={hint}
        checked={chaos !== null}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? calm : null)}
        disabled={disabled}
      />
      {chaos !== null && (
        <Input.Wrapper error={faultAt("chaos")}>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            {KNOBS.filter(({ name }) => known(name)).map(({ name, label: word, max }) => (
              <NumberInput
                key={name}
                label={word}
                size="xs"
                min={0}
                max={max}
                suffix={name === "delayMs" ? t(" ms") : " %"}
                value={Number(chaos[name] ?? CALM[name])}
                onChange={(next) => typeof next === "number" && onChange({ ...chaos, [name]: next })}
                error={faultAt(`chaos.${name}`)}
                disabled={disabled}
              />
            ))}
          </SimpleGrid>
          <Switch
            mt="sm"
            label={t("Down")}
            description={t("Unreachable: messages wait or take the next route.")}
            checked={chaos.down === true}
            onChange={({ currentTarget }) => onChange({ ...chaos, down: currentTarget.checked })}
            disabled={disabled}
          />
        </Input.Wrapper>
      )}
    </Stack>
  );
}
