import { Button, Checkbox, Group, Paper, Select, SimpleGrid, Stack, Textarea, TextInput } from "@mantine/core";
import type { ChatCard, ChatVersion } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { ItemList } from "../../parts/record/item-list.tsx";
import { BUTTON_TYPES, ButtonsInput, HeaderInput, NEW_TAP } from "./list-inputs.tsx";
import { TapInput, type Tappable } from "./tap-input.tsx";
import { BodyInput } from "./variable-text.tsx";

const OFFER_TEXT_MAX = 16;
const CARDS_MAX = 10;
const CARD_BUTTONS_MAX = 2;
const CARD_BUTTON_TYPES = BUTTON_TYPES.slice(0, 3);
const LANGUAGES_MAX = 100;

/** A limited-time offer. Its text shows beside the time that is left. */
export function OfferInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const offer = value as ChatVersion["offer"];
  return (
    <Stack gap="xs">
      <TextInput
        label={label}
        description={hint}
        placeholder={t("None")}
        maxLength={OFFER_TEXT_MAX}
        value={offer?.text ?? ""}
        onChange={({ currentTarget: { value: text } }) =>
          onChange(text === "" ? null : { expires: true, ...offer, text })
        }
        error={faultAt("offer") ?? faultAt("offer.text")}
        disabled={disabled}
      />
      {offer && (
        <Checkbox
          label={t("Show the time that is left")}
          checked={offer.expires !== false}
          onChange={({ currentTarget }) => onChange({ ...offer, expires: currentTarget.checked })}
          disabled={disabled}
        />
      )}
    </Stack>
  );
}

const NEW_CARD: ChatCard = { header: { type: "image" }, body: null, buttons: [{ type: "reply", text: "" }] };

const FILES = [
  { value: "image", label: t("Image") },
  { value: "video", label: t("Video") },
];

/** The cards of a chat-app carousel. */
export const ChatCardsInput = ({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) => (
  <ItemList
    label={label}
    hint={hint}
    fault={faultAt("cards")}
    items={(value ?? []) as ChatCard[]}
    max={CARDS_MAX}
    add={t("Card")}
    empty={NEW_CARD}
    onChange={(cards) => onChange(cards.map(writtenCard))}
    disabled={disabled}
    render={(card, change, remove, index) => <CardInput {...{ card, change, remove, index, faultAt, disabled }} />}
  />
);

interface CardProps extends Pick<OwnInputProps, "faultAt" | "disabled"> {
  card: ChatCard;
  change: (card: ChatCard) => void;
  remove: () => void;
  index: number;
}

function CardInput({ card, change, remove, index, faultAt, disabled }: CardProps) {
  const path = `cards[${index}]`;
  const { header } = card;
  return (
    <Paper p="sm" role="group" aria-label={t("Card {number}", { number: index + 1 })}>
      <Stack gap="xs">
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          <Select
            label={t("File")}
            data={FILES}
            value={header.type}
            onChange={(type) => change({ ...card, header: { type: type ?? "image" } })}
            allowDeselect={false}
            error={faultAt(path) ?? faultAt(`${path}.header.type`)}
            disabled={disabled}
          />
          <TextInput
            label={t("Sample media URL")}
            value={header.link ?? ""}
            onChange={({ currentTarget: { value: link } }) =>
              change({ ...card, header: link === "" ? { type: header.type } : { ...header, link } })
            }
            error={faultAt(`${path}.header.link`)}
            disabled={disabled}
          />
        </SimpleGrid>
        <Textarea
          label={t("Text")}
          description={t("Use {{1}}, {{2}} for variables.")}
          autosize
          minRows={2}
          value={card.body ?? ""}
          onChange={({ currentTarget: { value: body } }) => change({ ...card, body: body === "" ? null : body })}
          error={faultAt(`${path}.body`)}
          disabled={disabled}
        />
        <ItemList<Tappable>
          label={t("Buttons")}
          fault={faultAt(`${path}.buttons`)}
          items={card.buttons}
          max={CARD_BUTTONS_MAX}
          add={t("Button")}
          empty={NEW_TAP}
          onChange={(buttons) => change({ ...card, buttons: buttons as ChatCard["buttons"] })}
          disabled={disabled}
          render={(item, changeItem, removeItem, at) => (
            <TapInput
              what={t("Button {number} of card {card}", { number: at + 1, card: index + 1 })}
              path={`${path}.buttons[${at}]`}
              types={CARD_BUTTON_TYPES}
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

/** Without the fields that only responses have. */
const writtenCard = ({ header, body, buttons }: ChatCard): ChatCard => ({ header, body: body ?? null, buttons });

const STATUSES = [
  { value: "approved", label: t("Approved") },
  { value: "draft", label: t("Draft") },
  { value: "paused", label: t("Paused") },
];

/** The same template in other languages. A new one begins with the parts of the template's own. */
export function LanguagesInput({ label, hint, value, values, onChange, disabled, faultAt }: OwnInputProps) {
  const own = values as unknown as ChatVersion;
  return (
    <ItemList
      label={label}
      hint={hint}
      fault={faultAt("languages")}
      items={(value ?? []) as ChatVersion[]}
      max={LANGUAGES_MAX}
      add={t("Language")}
      empty={writtenVersion({ ...own, language: "", status: "draft" })}
      onChange={(versions) => onChange(versions.map(writtenVersion))}
      disabled={disabled}
      render={(version, change, remove, index) => (
        <LanguageInput {...{ version, change, remove, index, faultAt, disabled }} />
      )}
    />
  );
}

interface LanguageProps extends Pick<OwnInputProps, "faultAt" | "disabled"> {
  version: ChatVersion;
  change: (version: ChatVersion) => void;
  remove: () => void;
  index: number;
}

function LanguageInput({ version, change, remove, index, faultAt, disabled }: LanguageProps) {
  const path = `languages[${index}]`;
  const input = (label: string, field: keyof ChatVersion): OwnInputProps => ({
    label,
    hint: undefined,
    value: version[field],
    onChange: (value) => change({ ...version, [field]: value }),
    disabled,
    faultAt: (at) => faultAt(`${path}.${at}`),
    values: { ...version, channel: "chatapp" },
  });
  return (
    <Paper p="sm" role="group" aria-label={t("Language {number}", { number: index + 1 })}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          <TextInput
            label={t("Language")}
            placeholder="pt_BR"
            value={version.language}
            onChange={({ currentTarget }) => change({ ...version, language: currentTarget.value })}
            error={faultAt(`${path}.language`)}
            disabled={disabled}
          />
          <Select
            label={t("Status")}
            data={STATUSES}
            value={version.status}
            onChange={(status) => change({ ...version, status: status ?? version.status })}
            allowDeselect={false}
            disabled={disabled}
          />
        </SimpleGrid>
        <HeaderInput {...input(t("Header"), "header")} />
        <BodyInput {...input(t("Body"), "body")} />
        <TextInput
          label={t("Footer")}
          placeholder={t("None")}
          value={version.footer ?? ""}
          onChange={({ currentTarget: { value: footer } }) =>
            change({ ...version, footer: footer === "" ? null : footer })
          }
          error={faultAt(`${path}.footer`)}
          disabled={disabled}
        />
        <ButtonsInput {...input(t("Buttons"), "buttons")} />
        {version.offer && <OfferInput {...input(t("Limited-time offer"), "offer")} />}
        {version.cards && version.cards.length > 0 && <ChatCardsInput {...input(t("Cards"), "cards")} />}
        <Group>
          <Button size="compact-sm" variant="subtle" color="red" onClick={remove} disabled={disabled}>
            {t("Remove language {number}", { number: index + 1 })}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}

/** Without the fields that only responses have. */
function writtenVersion(version: ChatVersion): ChatVersion {
  const { language, status, header, body, footer, buttons, offer, cards = [] } = version;
  return {
    ...({ language, status, header, body, footer, buttons } as ChatVersion),
    ...(offer && { offer }),
    ...(cards.length > 0 && { cards: cards.map(writtenCard) }),
  };
}
