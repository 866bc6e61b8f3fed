import { Autocomplete, Paper, Select, SimpleGrid, Stack, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get, type Page } from "../../api.ts";
import type { ChatButton, ChatCard, Template, Titled } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { ORIGINS } from "../../parts/origins.ts";
import { TimeInput } from "../../parts/time-input.tsx";
import { neededValue } from "./body.ts";
import { FileField } from "./file-field.tsx";
import type { CardDraft, Draft, Kind } from "./kinds.ts";

type TextField =
  | "to"
  | "headerText"
  | "targetUrl"
  | "campaignName"
  | "fallbackText"
  | "latitude"
  | "longitude"
  | "placeName"
  | "address";

interface Props {
  kind: Kind;
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  templates: readonly Template[];
  template: Template | undefined;
}

/** The input fields of a kind of message. */
export function Fields({ kind, draft, change, templates, template }: Props) {
  const chat = template?.channel === "chatapp" ? template : undefined;
  const headerType = kind.ownHeader ? chat?.header?.type : kind.headerType;
  const fileHeader = headerType !== undefined && headerType !== "text" && headerType !== "location";
  const text = (name: TextField, label: string) => ({
    label,
    value: draft[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => change({ [name]: currentTarget.value }),
  });
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Originator kind={kind} draft={draft} change={change} />
        {!kind.many && (
          // A one-line input would join pasted lines into one number.
          <Textarea {...text("to", t("To"))} placeholder={t("One or more numbers")} autosize minRows={1} maxRows={6} />
        )}
        {kind.channel !== "chatapp" && (
          <Select
            label={t("Route type")}
            data={
              kind.fixedType
                ? [kind.fixedType]
                : kind.channel === "rcs"
                  ? ["TRANS", "PROMO"]
                  : ["TRANS", "PROMO", "OTP"]
            }
            value={kind.fixedType ?? draft.type}
            onChange={(type) => change({ type: type ?? "TRANS" })}
            disabled={kind.fixedType !== undefined}
            allowDeselect={false}
          />
        )}
        {kind.takes && (
          <Autocomplete
            label={t("Template")}
            data={templates.filter(kind.takes).map(({ name }) => name)}
            value={draft.templateName}
            onChange={(templateName) => change({ templateName })}
          />
        )}
      </SimpleGrid>
      {kind.many && (
        <Textarea {...text("to", t("To"))} description={t("One number per line.")} autosize minRows={3} maxRows={8} />
      )}
      {kind.headerType === "text" && <TextInput {...text("headerText", t("Header"))} maxLength={60} />}
      {fileHeader && <FileField label={t("File URL")} value={draft.link} onChange={(link) => change({ link })} />}
      {kind.headerType === "location" && (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput {...text("latitude", t("Latitude"))} />
          <TextInput {...text("longitude", t("Longitude"))} />
          <TextInput {...text("placeName", t("Location name"))} />
          <TextInput {...text("address", t("Address"))} />
        </SimpleGrid>
      )}
      {kind.writesText && (
        <Textarea
          label={t("Text")}
          value={draft.text}
          onChange={({ currentTarget }) => change({ text: currentTarget.value })}
          autosize
          minRows={4}
          maxRows={12}
          maxLength={1600}
        />
      )}
      {!kind.writesText && <Values count={template?.variables ?? draft.params.length} draft={draft} change={change} />}
      {chat && <ButtonValues buttons={chat.buttons} values={draft.buttons} change={(buttons) => change({ buttons })} />}
      {chat?.offer && chat.offer.expires !== false && (
        <TimeInput
          label={t("Offer ends")}
          description={t("Empty: after a day")}
          value={draft.offerEnds}
          onChange={(offerEnds) => change({ offerEnds })}
        />
      )}
      {chat && kind.id === "chatapp-carousel" && <Cards cards={chat.cards ?? []} draft={draft} change={change} />}
      {kind.ownImages && (
        <Images
          count={template?.channel === "rcs" ? template.cards.length : draft.fileUrls.length}
          draft={draft}
          change={change}
        />
      )}
      {kind.shortLink && <TextInput {...text("targetUrl", t("Link target"))} type="url" />}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput {...text("campaignName", t("Campaign"))} placeholder={t("None")} />
        <TimeInput label={t("Send at")} value={draft.sendAt} onChange={(sendAt) => change({ sendAt })} />
        {chat?.languages && chat.languages.length > 0 && (
          <Select
            label={t("Language")}
            data={[chat, ...chat.languages].map(({ language }) => language)}
            placeholder={t("That of the recipient")}
            value={draft.language === "" ? null : draft.language}
            onChange={(language) => change({ language: language ?? "" })}
            clearable
            clearButtonProps={{ "aria-label": t("That of the recipient") }}
          />
        )}
        {kind.channel === "rcs" && <TextInput {...text("fallbackText", t("SMS fallback"))} placeholder={t("None")} />}
      </SimpleGrid>
    </Stack>
  );
}

function Originator({ kind, draft, change }: Pick<Props, "kind" | "draft" | "change">) {
  const { label, field, path } = ORIGINS[kind.channel];
  const { data } = useQuery({
    queryKey: [path, "names"],
    queryFn: ({ signal }) => get<Page<Titled>>(path, { limit: 200 }, signal),
  });
  return (
    <Autocomplete
      label={label}
      data={data?.data.map(({ name }) => name) ?? []}
      value={draft[field]}
      onChange={(value) => change({ [field]: value })}
    />
  );
}

interface ListProps {
  count: number;
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
}

const placesOf = (values: readonly string[], count: number): string[] =>
  Array.from({ length: count }, (_, index) => values[index] ?? "");

const replaced = (values: readonly string[], index: number, value: string): string[] =>
  values.map((each, at) => (at === index ? value : each));

function Values({ count, draft, change }: ListProps) {
  if (count === 0) return null;
  const values = placesOf(draft.params, count);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {values.map((value, index) => (
        <TextInput
          key={index}
          label={t("Value {number}", { number: index + 1 })}
          value={value}
          onChange={({ currentTarget }) => change({ params: replaced(values, index, currentTarget.value) })}
        />
      ))}
    </SimpleGrid>
  );
}

interface ButtonValuesProps {
  buttons: readonly ChatButton[];
  values: readonly string[];
  change: (values: readonly string[]) => void;
}

/** One input per button that needs a value. */
function ButtonValues({ buttons, values: given, change }: ButtonValuesProps) {
  const values = placesOf(given, buttons.length);
  return buttons.map(
    (button, index) =>
      neededValue(button) && (
        <TextInput
          key={index}
          label={t("Value of the button {text}", { text: button.text })}
          description={button.url}
          value={values[index] ?? ""}
          onChange={({ currentTarget }) => change(replaced(values, index, currentTarget.value))}
        />
      ),
  );
}

/** File and values of each card of a chat-app carousel. */
function Cards({ cards, draft, change }: Omit<ListProps, "count"> & { cards: readonly ChatCard[] }) {
  const drafts = cards.map((_, index) => draft.cards[index] ?? { link: "", params: [], buttons: [] });
  const set = (index: number, changes: Partial<CardDraft>): void =>
    change({ cards: drafts.map((each, at) => (at === index ? { ...each, ...changes } : each)) });
  return cards.map((card, index) => {
    const { link, params, buttons } = drafts[index] ?? { link: "", params: [], buttons: [] };
    return (
      <Paper key={index} p="sm" role="group" aria-label={t("Card {number}", { number: index + 1 })}>
        <Stack gap="xs">
          <TextInput
            label={t("File of card {number}", { number: index + 1 })}
            type="url"
            value={link}
            onChange={({ currentTarget }) => set(index, { link: currentTarget.value })}
          />
          {placesOf(params, card.variables ?? 0).map((value, place, all) => (
            <TextInput
              key={place}
              label={t("Value {number} of card {card}", { number: place + 1, card: index + 1 })}
              value={value}
              onChange={({ currentTarget }) => set(index, { params: replaced(all, place, currentTarget.value) })}
            />
          ))}
          <ButtonValues buttons={card.buttons} values={buttons} change={(values) => set(index, { buttons: values })} />
        </Stack>
      </Paper>
    );
  });
}

function Images({ count, draft, change }: ListProps) {
  const values = placesOf(draft.fileUrls, count);
  return (
    <Stack gap="sm">
      {values.map((value, index) => (
        <FileField
          key={index}
          label={count > 1 ? t("Image of card {number}", { number: index + 1 }) : t("Image")}
          value={value}
          onChange={(fileUrl) => change({ fileUrls: replaced(values, index, fileUrl) })}
        />
      ))}
    </Stack>
  );
}
