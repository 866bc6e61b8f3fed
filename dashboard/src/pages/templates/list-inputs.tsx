import { Button, Input, Paper, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Card, ChatHeader, Suggestion } from "../../api-types.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { TapInput, type Tappable } from "./tap-input.tsx";

interface ListProps<T> {
  label: string;
  hint?: string | undefined;
  fault: string | undefined;
  items: readonly T[];
  max: number;
  add: string;
  empty: T;
  onChange: (items: T[]) => void;
  disabled: boolean;
  render: (item: T, change: (item: T) => void, remove: () => void, index: number) => ReactNode;
}

/** Several of something, one below the other, that can be added to. */
function List<T>({ label, hint, fault, items, max, add, empty, onChange, disabled, render }: ListProps<T>) {
  return (
    <Input.Wrapper label={label} description={hint} error={fault} labelElement="div">
      <Stack gap="sm" mt="xs" role="group" aria-label={label} align="stretch">
        {items.map((item, index) => (
          <div key={index}>
            {render(
              item,
              (next) => onChange(items.map((each, at) => (at === index ? next : each))),
              () => onChange(items.filter((_, at) => at !== index)),
              index,
            )}
          </div>
        ))}
        <div>
          <Button
            size="compact-sm"
            variant="light"
            leftSection={<IconPlus size={14} aria-hidden />}
            disabled={disabled || items.length >= max}
            onClick={() => onChange([...items, empty])}
          >
            {add}
          </Button>
        </div>
      </Stack>
    </Input.Wrapper>
  );
}

const SUGGESTIONS_MAX = 11;
const CARD_SUGGESTIONS_MAX = 4;
const CARDS_MAX = 10;
const BUTTONS_MAX = 10;
const NEW_TAP: Tappable = { type: "reply", text: "" };

const SUGGESTION_TYPES = [
  { value: "reply", label: "Answers" },
  { value: "url", label: "Opens a page" },
  { value: "dial", label: "Calls" },
  { value: "viewLocation", label: "Shows a place" },
  { value: "shareLocation", label: "Tells where the phone is" },
  { value: "calendar", label: "Notes an event" },
];

const BUTTON_TYPES = [
  { value: "reply", label: "Answers" },
  { value: "url", label: "Opens a page" },
  { value: "call", label: "Calls" },
];

/** What can be tapped below an RCS text. */
export const SuggestionsInput = ({ label, value, onChange, disabled, faultAt }: OwnInputProps) => (
  <List
    label={label}
    fault={faultAt("suggestions")}
    items={value as Tappable[]}
    max={SUGGESTIONS_MAX}
    add="Suggestion"
    empty={NEW_TAP}
    onChange={onChange}
    disabled={disabled}
    render={(item, change, remove, index) => (
      <TapInput
        what={`Suggestion ${index + 1}`}
        path={`suggestions[${index}]`}
        types={SUGGESTION_TYPES}
        {...{ item, change, remove, faultAt, disabled }}
      />
    )}
  />
);

/** The buttons of a chat-app template. */
export const ButtonsInput = ({ label, value, onChange, disabled, faultAt }: OwnInputProps) => (
  <List
    label={label}
    hint="At most two that open a page and one that calls."
    fault={faultAt("buttons")}
    items={value as Tappable[]}
    max={BUTTONS_MAX}
    add="Button"
    empty={NEW_TAP}
    onChange={onChange}
    disabled={disabled}
    render={(item, change, remove, index) => (
      <TapInput
        what={`Button ${index + 1}`}
        path={`buttons[${index}]`}
        types={BUTTON_TYPES}
        {...{ item, change, remove, faultAt, disabled }}
      />
    )}
  />
);

const NEW_CARD: Card = { title: "", description: "", fileUrl: "", suggestions: [] };

/** The cards of an RCS template: one, or two to ten side by side. */
export function CardsInput({ label, value, values, onChange, disabled, faultAt }: OwnInputProps) {
  const alone = values.kind === "card";
  return (
    <List
      label={alone ? "Card" : label}
      fault={faultAt("cards")}
      items={value as Card[]}
      max={alone ? 1 : CARDS_MAX}
      add="Card"
      empty={NEW_CARD}
      onChange={onChange}
      disabled={disabled}
      render={(card, change, remove, index) => <CardInput {...{ card, change, remove, index, faultAt, disabled }} />}
    />
  );
}

interface CardProps extends Pick<OwnInputProps, "faultAt" | "disabled"> {
  card: Card;
  change: (card: Card) => void;
  remove: () => void;
  index: number;
}

function CardInput({ card, change, remove, index, faultAt, disabled }: CardProps) {
  const path = `cards[${index}]`;
  const field = (name: "title" | "description" | "fileUrl") => ({
    value: card[name] ?? "",
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      change({ ...card, [name]: currentTarget.value }),
    error: faultAt(`${path}.${name}`),
    disabled,
  });
  return (
    <Paper p="sm" role="group" aria-label={`Card ${index + 1}`}>
      <Stack gap="xs">
        <TextInput label="Title" {...field("title")} />
        <Textarea label="Words" autosize minRows={2} {...field("description")} />
        <TextInput label="Image or video" placeholder="https://shop.example/autumn.jpg" {...field("fileUrl")} />
        <List<Tappable>
          label="To tap on it"
          fault={faultAt(`${path}.suggestions`)}
          items={card.suggestions}
          max={CARD_SUGGESTIONS_MAX}
          add="Suggestion"
          empty={NEW_TAP}
          onChange={(suggestions) => change({ ...card, suggestions: suggestions as Suggestion[] })}
          disabled={disabled}
          render={(item, changeItem, removeItem, at) => (
            <TapInput
              what={`Suggestion ${at + 1} of card ${index + 1}`}
              path={`${path}.suggestions[${at}]`}
              types={SUGGESTION_TYPES}
              change={changeItem}
              remove={removeItem}
              {...{ item, faultAt, disabled }}
            />
          )}
        />
        <div>
          <Button size="compact-sm" variant="subtle" color="red" onClick={remove} disabled={disabled}>
            Remove card {index + 1}
          </Button>
        </div>
      </Stack>
    </Paper>
  );
}

const HEADERS = [
  { value: "text", label: "A line of text" },
  { value: "image", label: "An image" },
  { value: "video", label: "A video" },
  { value: "document", label: "A document" },
];

/** What stands above a chat-app message. The example is for the preview: what is sent comes with each request. */
export function HeaderInput({ label, value, onChange, disabled, faultAt }: OwnInputProps) {
  const header = value as ChatHeader | null;
  return (
    <Stack gap="xs">
      <Select
        label={label}
        placeholder="None"
        data={HEADERS}
        value={header?.type ?? null}
        onChange={(type) => onChange(type === null ? null : { type, ...(type === "text" ? { text: "" } : {}) })}
        clearable
        clearButtonProps={{ "aria-label": "No header" }}
        error={faultAt("header") ?? faultAt("header.type")}
        disabled={disabled}
      />
      {header?.type === "text" && (
        <TextInput
          label="Text of the header"
          value={header.text ?? ""}
          onChange={({ currentTarget }) => onChange({ ...header, text: currentTarget.value })}
          error={faultAt("header.text")}
          disabled={disabled}
        />
      )}
      {header && header.type !== "text" && (
        <TextInput
          label="Example of the file"
          placeholder="https://shop.example/autumn.jpg"
          value={header.link ?? ""}
          onChange={({ currentTarget }) =>
            onChange(currentTarget.value === "" ? { type: header.type } : { ...header, link: currentTarget.value })
          }
          error={faultAt("header.link")}
          disabled={disabled}
        />
      )}
      {header && (
        <Text size="xs" c="dimmed">
          Each request brings what is shown; requests of another kind are refused.
        </Text>
      )}
    </Stack>
  );
}
