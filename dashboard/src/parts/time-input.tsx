import { Text, TextInput, type TextInputProps } from "@mantine/core";
import { useState } from "react";
import { zoneAt } from "./time-text.tsx";

interface Props extends Pick<TextInputProps, "label" | "description" | "w" | "disabled"> {
  /** As the browser's own field writes it, on the reader's clock; empty means none. */
  value: string;
  onChange: (value: string) => void;
  type?: "datetime-local" | "date";
}

/** A moment, or a day, with the time zone that it is in. */
export function TimeInput({ label, onChange, type = "datetime-local", ...input }: Props) {
  const [openedAt] = useState(() => Date.now());
  const at = input.value === "" ? openedAt : new Date(type === "date" ? `${input.value}T00:00` : input.value).getTime();
  return (
    <TextInput
      {...input}
      type={type}
      label={
        <>
          {label}{" "}
          <Text size="xs" c="dimmed" span>
            {zoneAt(Number.isNaN(at) ? openedAt : at)}
          </Text>
        </>
      }
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
