import { Group } from "@mantine/core";
import { t } from "../i18n/t.ts";
import { TimeInput } from "./time-input.tsx";
import type { TimeRange } from "./time-range.tsx";

/** Inputs for the start and end of a custom time range. */
export default function ChosenTimes({ from, to, change }: Pick<TimeRange, "from" | "to" | "change">) {
  return (
    <Group gap="sm">
      <TimeInput label={t("From")} value={from} onChange={(value) => change({ from: value })} />
      <TimeInput label={t("To")} value={to} onChange={(value) => change({ to: value })} />
    </Group>
  );
}
