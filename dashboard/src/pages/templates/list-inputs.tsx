import { Button, Paper, Select, SimpleGrid, Stack, Text, Textarea, TextInput } from "@mantine/core";
import type { Card, ChatHeader, Suggestion } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { ItemList } from "../../parts/record/item-list.tsx";
import { TapInput, type Tappable } from "./tap-input.tsx";

const SUGGESTIONS_MAX = 11;
const CARD_SUGGESTIONS_MAX = 4;
const CARDS_MAX = 10;
const BUTTONS_MAX = 10;
export const NEW_TAP: Tappable = { type: "reply", text: "" };

const SUGGESTION_TYPES = [
  { value: "reply", label: t("Reply") },
  { value: "url", label: t("Open URL") },
  { value: "dial", label: t("Call number") },
  { value: "viewLocation", label: t("Show location") },
  { value: "shareLocation", label: t("Share location") },
  { value: "calendar", label: t("Add to calendar") },
  { value: "compose", label: t("Write a message") },
];

const HEIGHTS = [
  { value: "short", label: t("Short") },
  { value: "medium", label: t("Medium") },
  { value: "tall", label: t("Tall") },
];

const LAYOUTS = [
  { value: "left", label: t("Image on the left") },
  { value: "right", label: t("Image on the right") },
];

export const BUTTON_TYPES = [
  { value: "reply", label: t("Reply") },
  { value: "url", label: t("Open URL") },
  { value: "call", label: t("Call number") },
  { value: "copyCode", label: t("Copy code") },
  { value: "flow", label: t("Open a form") },
  { value: "catalog", label: t("Open the catalogue") },
];

/** The suggestions of an RCS text. */
export const SuggestionsInput = ({ label, value, onChange, disabled, faultAt }: OwnInputProps) => (
  <ItemList
    label={label}
    fault={faultAt("suggestions")}
    items={value as Tappable[]}
    max={SUGGESTIONS_MAX}
    add={t("Suggestion")}
    empty={NEW_TAP}
    onChange={onChange}
    disabled={disabled}
    render={(item, change, remove, index) => (
      <TapInput
        what={t("Suggestion {number}", { number: index + 1 })}
        path={`suggestions[${index}]`}
        types={SUGGESTION_TYPES}
        {...{ item, change, remove, faultAt, disabled }}
      />
    )}
  />
);

/** The buttons of a chat-app template. */
export const ButtonsInput = ({ label, value, onChange, disabled, faultAt }: OwnInputProps) => (
  <ItemList
    label={label}
    hint={t(
      "At most two URL buttons and one of each other type besides reply. A URL may end with {{1}}, whose value comes with each request.",
    )}
    fault={faultAt("buttons")}
    items={value as Tappable[]}
    max={BUTTONS_MAX}
    add={t("Button")}
    empty={NEW_TAP}
    onChange={onChange}
    disabled={disabled}
    render={(item, change, remove, index) => (
      <TapInput
        what={t("Button {number}", { number: index + 1 })}
        path={`buttons[${index}]`}
        types={BUTTON_TYPES}
        {...{ item, change, remove, faultAt, disabled }}
      />
    )}
  />
);

const NEW_CARD: Card = { title: "", description: "", fileUrl: "", suggestions: [] };

/** The cards of an RCS template: one, or a carousel of two to ten. */
export function CardsInput({ label, value, values, onChange, disabled, faultAt }: OwnInputProps) {
  const alone = values.kind === "card";
  return (
    <ItemList
      label={alone ? t("Card") : label}
      fault={faultAt("cards")}
      items={value as Card[]}
      max={alone ? 1 : CARDS_MAX}
      add={t("Card")}
      empty={NEW_CARD}
      onChange={onChange}
      disabled={disabled}
      render={(card, change, remove, index) => (
        <CardInput {...{ card, alone, change, remove, index, faultAt, disabled }} />
      )}
    />
  );
}

interface CardProps extends Pick<OwnInputProps, "faultAt" | "disabled"> {
  card: Card;
  /** The only card of its message. */
  alone: boolean;
  change: (card: Card) => void;
  remove: () => void;
  index: number;
}

function CardInput({ card, alone, change, remove, index, faultAt, disabled }: CardProps) {
  const path = `cards[${index}]`;
  const field = (name: "title" | "description" | "fileUrl") => ({
    value: card[name] ?? "",
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      change({ ...card, [name]: currentTarget.value }),
    error: faultAt(`${path}.${name}`),
    disabled,
  });
  return (
    <Paper p="sm" role="group" aria-label={t("Card {number}", { number: index + 1 })}>
      <Stack gap="xs">
        <TextInput label={t("Title")} {...field("title")} />
        <Textarea label={t("Text")} autosize minRows={2} {...field("description")} />
        <TextInput label={t("Image or video")} placeholder="https://shop.example/autumn.jpg" {...field("fileUrl")} />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          <TextInput
            label={t("Thumbnail")}
            value={card.thumbnailUrl ?? ""}
            onChange={({ currentTarget }) => change(withLayout(card, { thumbnailUrl: currentTarget.value }))}
            error={faultAt(`${path}.thumbnailUrl`)}
            disabled={disabled}
          />
          <Select
            label={t("Height of the image")}
            data={alone ? HEIGHTS : HEIGHTS.slice(0, 2)}
            placeholder={t("Medium")}
            value={card.height ?? null}
            onChange={(height) => change(withLayout(card, { height: height ?? "" }))}
            clearable
            clearButtonProps={{ "aria-label": t("Medium height") }}
            error={faultAt(`${path}.height`)}
            disabled={disabled}
          />
          {alone && (
            <Select
              label={t("Layout")}
              data={LAYOUTS}
              placeholder={t("Image on top")}
              value={card.imageSide ?? null}
              onChange={(side) =>
                change(withLayout(card, { imageSide: side ?? "", orientation: side === null ? "" : "horizontal" }))
              }
              clearable
              clearButtonProps={{ "aria-label": t("Image on top") }}
              error={faultAt(`${path}.imageSide`) ?? faultAt(`${path}.orientation`)}
              disabled={disabled}
            />
          )}
        </SimpleGrid>
        <ItemList<Tappable>
          label={t("Buttons")}
          fault={faultAt(`${path}.suggestions`)}
          items={card.suggestions}
          max={CARD_SUGGESTIONS_MAX}
          add={t("Suggestion")}
          empty={NEW_TAP}
          onChange={(suggestions) => change({ ...card, suggestions: suggestions as Suggestion[] })}
          disabled={disabled}
          render={(item, changeItem, removeItem, at) => (
            <TapInput
              what={t("Suggestion {number} of card {card}", { number: at + 1, card: index + 1 })}
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
            {t("Remove card")} {index + 1}
          </Button>
        </div>
      </Stack>
    </Paper>
  );
}

type Layout = Pick<Card, "thumbnailUrl" | "height" | "orientation" | "imageSide">;

/** An empty choice is the default, which the card does not name. */
const withLayout = (card: Card, layout: Layout): Card =>
  Object.fromEntries(
    Object.entries({ ...card, ...layout }).filter(([name, value]) => !(name in layout && value === "")),
  ) as unknown as Card;

const HEADERS = [
  { value: "text", label: t("Text") },
  { value: "image", label: t("Image") },
  { value: "video", label: t("Video") },
  { value: "document", label: t("Document") },
  { value: "location", label: t("Place on a map") },
];

/** The header of a chat-app template. The example is for the preview; each send has its own value. */
export function HeaderInput({ label, value, onChange, disabled, faultAt }: OwnInputProps) {
  const header = value as ChatHeader | null;
  return (
    <Stack gap="xs">
      <Select
        label={label}
        placeholder={t("None")}
        data={HEADERS}
        value={header?.type ?? null}
        onChange={(type) => onChange(type === null ? null : { type, ...(type === "text" ? { text: "" } : {}) })}
        clearable
        clearButtonProps={{ "aria-label": t("No header") }}
        error={faultAt("header") ?? faultAt("header.type")}
        disabled={disabled}
      />
      {header?.type === "text" && (
        <TextInput
          label={t("Text of the header")}
          value={header.text ?? ""}
          onChange={({ currentTarget }) => onChange({ ...header, text: currentTarget.value })}
          error={faultAt("header.text")}
          disabled={disabled}
        />
      )}
      {header && header.type !== "text" && header.type !== "location" && (
        <TextInput
          label={t("Sample media URL")}
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
          {t("Each request brings its own file. Requests with another media type are rejected.")}
        </Text>
      )}
    </Stack>
  );
}
