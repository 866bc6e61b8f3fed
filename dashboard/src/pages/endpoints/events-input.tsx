import { Checkbox, Group } from "@mantine/core";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { EVENT_NAMES, eventsOf } from "./endpoint.ts";

/** A choice among the events of the chosen channels. */
export function EventsInput({ label, hint, value, onChange, disabled, faultAt, values }: OwnInputProps) {
  const offered = eventsOf(values.channels as readonly string[]);
  return (
    <Checkbox.Group
      label={label}
      description={hint}
      withAsterisk
      value={value as string[]}
      onChange={onChange}
      error={faultAt("events") ?? faultAt("events.*")}
    >
      <Group gap="md" mt={8}>
        {offered.map((event) => (
          <Checkbox key={event} value={event} label={`${EVENT_NAMES[event] ?? event} (${event})`} disabled={disabled} />
        ))}
      </Group>
    </Checkbox.Group>
  );
}
