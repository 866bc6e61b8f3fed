import { Autocomplete, Select, SimpleGrid, Stack, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get, type Page } from "../../api.ts";
import type { ChatTemplate, Template, Titled } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { ORIGINS } from "../../parts/origins.ts";
import { TimeInput } from "../../parts/time-input.tsx";
import { neededValue } from "./body.ts";
import type { Draft, Kind } from "./kinds.ts";

interface Props {
  kind: Kind;
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  templates: readonly Template[];
  template: Template | undefined;
}

/** The input fields of a kind of message. */
export function Fields({ kind, draft, change, templates, template }: Props) {
  const text = (name: "to" | "headerText" | "link" | "targetUrl" | "campaignName" | "fallbackText", label: string) => ({
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
      {kind.headerType && kind.headerType !== "text" && <TextInput {...text("link", t("File URL"))} type="url" />}
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
      {template?.channel === "chatapp" && <ButtonValues template={template} draft={draft} change={change} />}
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

/** One input per button that needs a value. */
function ButtonValues({ template, draft, change }: Omit<ListProps, "count"> & { template: ChatTemplate }) {
  const values = placesOf(draft.buttons, template.buttons.length);
  return template.buttons.map(
    (button, index) =>
      neededValue(button) && (
        <TextInput
          key={index}
          label={t("Value of the button {text}", { text: button.text })}
          description={button.url}
          value={values[index] ?? ""}
          onChange={({ currentTarget }) => change({ buttons: replaced(values, index, currentTarget.value) })}
        />
      ),
  );
}

function Images({ count, draft, change }: ListProps) {
  const values = placesOf(draft.fileUrls, count);
  return (
    <Stack gap="sm">
      {values.map((value, index) => (
        <TextInput
          key={index}
          label={count > 1 ? t("Image of card {number}", { number: index + 1 }) : t("Image")}
          type="url"
          value={value}
          onChange={({ currentTarget }) => change({ fileUrls: replaced(values, index, currentTarget.value) })}
        />
      ))}
    </Stack>
  );
}
