import { Button, Collapse, Group, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback, useDisclosure } from "@mantine/hooks";
import { IconAdjustmentsHorizontal, IconSearch, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { t } from "../../i18n/t.ts";
import { CHANNELS } from "../../parts/channel.tsx";
import { statusWord } from "../../parts/status-badge.tsx";
import { TimeInput } from "../../parts/time-input.tsx";
import { useMay } from "../../session.tsx";

const FIRST = ["recipient", "channel", "status", "type", "from", "to"] as const;
const FURTHER = ["text", "campaignName", "templateName", "messageId", "carrierMessageId"] as const;
export const FILTER_NAMES = [...FIRST, ...FURTHER, "test"] as const;
export type Filters = Record<(typeof FILTER_NAMES)[number], string>;

interface Props {
  filters: Filters;
  change: (changes: Partial<Record<keyof Filters, string | null>>) => void;
}

const TYPING_MS = 350;

/** Filters of the list. They are part of the URL. */
export function MessageFilters({ filters, change }: Props) {
  const [opened, { toggle }] = useDisclosure(FURTHER.some((name) => filters[name] !== ""));
  // Viewers, who see numbers and codes masked, could find them out.
  const mayWrite = useMay("write");
  const any = FILTER_NAMES.some((name) => filters[name] !== "");
  const choice = (name: "channel" | "status" | "type", label: string, data: readonly (string | Choice)[]) => (
    <Select
      label={label}
      placeholder={t("All")}
      data={data}
      value={filters[name] || null}
      onChange={(value) => change({ [name]: value })}
      clearable
      clearButtonProps={{ "aria-label": t("Clear {name}", { name: label.toLowerCase() }) }}
      w={{ base: "calc(50% - 6px)", xs: 118 }}
    />
  );
  return (
    <search>
      <Group align="flex-end" gap="sm" mb="sm">
        <Typed
          label={t("Number or last digits")}
          placeholder={"15550100100 / 0100"}
          value={filters.recipient}
          onChange={(recipient) => change({ recipient })}
          leading
        />
        {choice(
          "channel",
          t("Channel"),
          CHANNELS.map(({ value, label }) => ({ value, label })),
        )}
        {choice(
          "status",
          t("Status"),
          ["Pending", "Delivered", "Failed"].map((value) => ({ value, label: statusWord(value) })),
        )}
        {choice("type", t("Route type"), ["OTP", "TRANS", "PROMO"])}
        <Day label={t("From")} value={filters.from} onChange={(from) => change({ from })} />
        <Day label={t("To (inclusive)")} value={filters.to} onChange={(to) => change({ to })} />
        <Button
          variant="subtle"
          leftSection={<IconAdjustmentsHorizontal size={17} aria-hidden />}
          onClick={toggle}
          aria-expanded={opened}
        >
          {opened ? t("Fewer filters") : t("More")}
        </Button>
        {any && (
          <Button
            variant="subtle"
            leftSection={<IconX size={16} aria-hidden />}
            onClick={() => change(Object.fromEntries(FILTER_NAMES.map((name) => [name, null])))}
          >
            {t("Clear")}
          </Button>
        )}
      </Group>
      <Collapse expanded={opened}>
        <Group align="flex-end" gap="sm" mb="md">
          {mayWrite && (
            <Typed label={t("Part of the text")} value={filters.text} onChange={(text) => change({ text })} />
          )}
          <Typed
            label={t("Campaign")}
            value={filters.campaignName}
            onChange={(campaignName) => change({ campaignName })}
          />
          <Typed
            label={t("Template")}
            value={filters.templateName}
            onChange={(templateName) => change({ templateName })}
          />
          <Typed label={t("Message id")} value={filters.messageId} onChange={(messageId) => change({ messageId })} />
          <Typed
            label={t("Carrier message id")}
            value={filters.carrierMessageId}
            onChange={(carrierMessageId) => change({ carrierMessageId })}
          />
        </Group>
      </Collapse>
    </search>
  );
}

interface Choice {
  value: string;
  label: string;
}

interface FieldProps {
  label: string;
  placeholder?: string;
  value: string;
  onChange: (value: string) => void;
}

const Day = ({ label, value, onChange }: FieldProps) => (
  <TimeInput label={label} type="date" value={value} onChange={onChange} w={{ base: "calc(50% - 6px)", xs: 146 }} />
);

/** A debounced text filter. `/` focuses the leading one. */
function Typed({ label, placeholder, value, onChange, leading = false }: FieldProps & { leading?: boolean }) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (value !== known) {
    setKnown(value);
    setTyped(value);
  }
  const settle = useDebouncedCallback(onChange, TYPING_MS);
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        settle(currentTarget.value.trim());
      }}
      leftSection={leading && <IconSearch size={16} aria-hidden />}
      w={{ base: "calc(50% - 6px)", xs: leading ? 210 : 180 }}
      {...(leading ? { "data-filter": true } : {})}
    />
  );
}
