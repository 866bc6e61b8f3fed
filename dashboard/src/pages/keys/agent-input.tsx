import { Stack, Switch, TagsInput } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { NumberInput } from "../../parts/number-input.tsx";

interface AgentLimits {
  recipients: readonly string[];
  messagesPerHour: number;
  creditsPerDay: number;
  showsNumbers: boolean;
  needsApproval: boolean;
}

const STARTS: AgentLimits = {
  recipients: [],
  messagesPerHour: 100,
  creditsPerDay: 1000,
  showsNumbers: false,
  needsApproval: true,
};

const PLACES = Array.from({ length: 50 }, (_, at) => `agent.recipients[${at}]`);

/** Limits of a key for an AI agent; null for an ordinary key. */
export function AgentInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const limits = value as AgentLimits | null;
  const change = (part: Partial<AgentLimits>): void => onChange({ ...(limits ?? STARTS), ...part });
  return (
    <Stack gap="sm">
      <Switch
        label={label}
        description={hint}
        checked={limits !== null}
        disabled={disabled}
        error={faultAt("agent")}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? STARTS : null)}
      />
      {limits && (
        <>
          <Switch
            label={t("A person approves each send")}
            description={t("Sends wait under Agent sends until a person approves them.")}
            checked={limits.needsApproval}
            disabled={disabled}
            onChange={({ currentTarget }) => change({ needsApproval: currentTarget.checked })}
          />
          <TagsInput
            label={t("Allowed recipients")}
            description={t("Numbers, or beginnings of numbers such as 4915*. Leave empty for any.")}
            value={[...limits.recipients]}
            disabled={disabled}
            error={["agent.recipients", ...PLACES].map(faultAt).find((fault) => fault !== undefined)}
            onChange={(recipients) => change({ recipients })}
          />
          <NumberInput
            label={t("Messages per hour")}
            value={limits.messagesPerHour}
            min={0}
            disabled={disabled}
            error={faultAt("agent.messagesPerHour")}
            onChange={(given) => change({ messagesPerHour: Number(given) })}
          />
          <NumberInput
            label={t("Credits per day")}
            value={limits.creditsPerDay}
            min={0}
            disabled={disabled}
            error={faultAt("agent.creditsPerDay")}
            onChange={(given) => change({ creditsPerDay: Number(given) })}
          />
          <Switch
            label={t("Show phone numbers")}
            description={t("Otherwise the assistant reads only the last four digits, and no codes.")}
            checked={limits.showsNumbers}
            disabled={disabled}
            onChange={({ currentTarget }) => change({ showsNumbers: currentTarget.checked })}
          />
        </>
      )}
    </Stack>
  );
}
