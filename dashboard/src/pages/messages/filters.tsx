import { Button, Collapse, Group, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback, useDisclosure } from "@mantine/hooks";
import { IconAdjustmentsHorizontal, IconSearch, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { CHANNELS } from "../../parts/channel.tsx";

const FIRST = ["recipient", "channel", "status", "type"] as const;
const FURTHER = ["campaignName", "templateName", "from", "to"] as const;
export const FILTER_NAMES = [...FIRST, ...FURTHER] as const;
export type Filters = Record<(typeof FILTER_NAMES)[number], string>;

interface Props {
  filters: Filters;
  change: (changes: Partial<Record<keyof Filters, string | null>>) => void;
}

const TYPING_MS = 350;

/** What narrows the list down. All of it stands in the address. */
export function MessageFilters({ filters, change }: Props) {
  const [opened, { toggle }] = useDisclosure(FURTHER.some((name) => filters[name] !== ""));
  const any = FILTER_NAMES.some((name) => filters[name] !== "");
  const choice = (name: "channel" | "status" | "type", label: string, data: readonly (string | Choice)[]) => (
    <Select
      label={label}
      placeholder="All"
      data={data}
      value={filters[name] || null}
      onChange={(value) => change({ [name]: value })}
      clearable
      clearButtonProps={{ "aria-label": `Clear ${label.toLowerCase()}` }}
      w={{ base: "calc(50% - 6px)", xs: 140 }}
    />
  );
  return (
    <search>
      <Group align="flex-end" gap="sm" mb="sm">
        <Typed
          label="Number"
          placeholder="15550100100"
          value={filters.recipient}
          onChange={(recipient) => change({ recipient })}
          leading
        />
        {choice(
          "channel",
          "Channel",
          CHANNELS.map(({ value, label }) => ({ value, label })),
        )}
        {choice("status", "Status", ["Pending", "Delivered", "Failed"])}
        {choice("type", "Route type", ["OTP", "TRANS", "PROMO"])}
        <Button
          variant="subtle"
          leftSection={<IconAdjustmentsHorizontal size={17} aria-hidden />}
          onClick={toggle}
          aria-expanded={opened}
        >
          {opened ? "Fewer" : "More"}
        </Button>
        {any && (
          <Button
            variant="subtle"
            leftSection={<IconX size={16} aria-hidden />}
            onClick={() => change(Object.fromEntries(FILTER_NAMES.map((name) => [name, null])))}
          >
            Clear
          </Button>
        )}
      </Group>
      <Collapse expanded={opened}>
        <Group align="flex-end" gap="sm" mb="md">
          <Typed label="Campaign" value={filters.campaignName} onChange={(campaignName) => change({ campaignName })} />
          <Typed label="Template" value={filters.templateName} onChange={(templateName) => change({ templateName })} />
          <Day label="From" value={filters.from} onChange={(from) => change({ from })} />
          <Day label="Until the end of" value={filters.to} onChange={(to) => change({ to })} />
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
  <TextInput
    label={label}
    type="date"
    value={value}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
    w={{ base: "calc(50% - 6px)", xs: 160 }}
  />
);

/** A field whose value counts once the typing rests; `/` jumps to the leading one. */
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
