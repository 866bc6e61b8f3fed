import { Button, Group, Textarea } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useRef } from "react";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { variablesIn } from "./variables.ts";

type Props = OwnInputProps & { name: string; mark: (text: string) => string };

/** A text input with a button that inserts the next variable at the cursor. */
function VariableText({ name, mark, label, hint, value, onChange, disabled, faultAt }: Props) {
  const input = useRef<HTMLTextAreaElement>(null);
  const text = typeof value === "string" ? value : "";

  function insert(): void {
    const at = input.current?.selectionStart ?? text.length;
    const end = input.current?.selectionEnd ?? at;
    const variable = mark(text);
    onChange(text.slice(0, at) + variable + text.slice(end));
    // The cursor moves behind the inserted variable once it is rendered.
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(at + variable.length, at + variable.length);
    });
  }

  return (
    <div>
      <Textarea
        ref={input}
        label={label}
        description={hint}
        withAsterisk
        value={text}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        error={faultAt(name)}
        disabled={disabled}
        autosize
        minRows={4}
        maxRows={14}
      />
      <Group mt={6}>
        <Button
          size="compact-xs"
          variant="light"
          leftSection={<IconPlus size={12} aria-hidden />}
          onClick={insert}
          disabled={disabled}
        >
          {t("Variable")}
        </Button>
      </Group>
    </div>
  );
}

const byNumber = (text: string): string => `{{${variablesIn(text) + 1}}}`;

/** A text with numbered variables gets another numbered one; any other text gets `{#var#}`. */
const forSms = (text: string): string => (text.includes("{{") ? byNumber(text) : "{#var#}");

export const SmsTextInput = (props: OwnInputProps) => <VariableText {...props} name="text" mark={forSms} />;

export const BodyInput = (props: OwnInputProps) => (
  <VariableText {...props} name={props.values.channel === "chatapp" ? "body" : "text"} mark={byNumber} />
);
