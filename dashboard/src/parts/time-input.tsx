import { Text, TextInput, type TextInputProps } from "@mantine/core";
import { useState } from "react";
import { zoneAt } from "./time-text.tsx";

interface Props extends Pick<TextInputProps, "label" | "description" | "w" | "disabled"> {
  /** In the format of `datetime-local`, in the browser's time zone; empty for none. */
  value: string;
  onChange: (value: string) => void;
  type?: "datetime-local" | "date";
}

/** An input for a time or a day, with its time zone. */
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
