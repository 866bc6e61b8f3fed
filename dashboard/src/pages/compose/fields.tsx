import { Autocomplete, Select, SimpleGrid, Stack, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get, type Page } from "../../api.ts";
import type { Template, Titled } from "../../api-types.ts";
import { ORIGINS } from "../../parts/origins.ts";
import type { Draft, Kind } from "./kinds.ts";

interface Props {
  kind: Kind;
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  templates: readonly Template[];
  template: Template | undefined;
}

/** What a kind of message asks for. */
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
        {!kind.many && <TextInput {...text("to", "To")} inputMode="tel" />}
        {kind.channel !== "chatapp" && (
          <Select
            label="Route type"
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
            label="Template"
            data={templates.filter(kind.takes).map(({ name }) => name)}
            value={draft.templateName}
            onChange={(templateName) => change({ templateName })}
          />
        )}
      </SimpleGrid>
      {kind.many && (
        <Textarea {...text("to", "To")} description="One number on a line." autosize minRows={3} maxRows={8} />
      )}
      {kind.headerType === "text" && <TextInput {...text("headerText", "Header")} maxLength={60} />}
      {kind.headerType && kind.headerType !== "text" && (
        <TextInput {...text("link", "Address of the file")} type="url" />
      )}
      {kind.writesText && (
        <Textarea
          label="Text"
          value={draft.text}
          onChange={({ currentTarget }) => change({ text: currentTarget.value })}
          autosize
          minRows={4}
          maxRows={12}
          maxLength={1600}
        />
      )}
      {!kind.writesText && <Values count={template?.variables ?? draft.params.length} draft={draft} change={change} />}
      {kind.ownImages && (
        <Images
          count={template?.channel === "rcs" ? template.cards.length : draft.fileUrls.length}
          draft={draft}
          change={change}
        />
      )}
      {kind.shortLink && <TextInput {...text("targetUrl", "Where the link leads")} type="url" />}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput {...text("campaignName", "Campaign")} placeholder="None" />
        {kind.channel === "sms" && (
          <TextInput
            label="Send at"
            type="datetime-local"
            value={draft.sendAt}
            onChange={({ currentTarget }) => change({ sendAt: currentTarget.value })}
          />
        )}
        {kind.channel === "rcs" && (
          <TextInput {...text("fallbackText", "Text message if it does not arrive")} placeholder="None" />
        )}
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
          label={`Value ${index + 1}`}
          value={value}
          onChange={({ currentTarget }) => change({ params: replaced(values, index, currentTarget.value) })}
        />
      ))}
    </SimpleGrid>
  );
}

function Images({ count, draft, change }: ListProps) {
  const values = placesOf(draft.fileUrls, count);
  return (
    <Stack gap="sm">
      {values.map((value, index) => (
        <TextInput
          key={index}
          label={count > 1 ? `Image of card ${index + 1}` : "Image"}
          type="url"
          value={value}
          onChange={({ currentTarget }) => change({ fileUrls: replaced(values, index, currentTarget.value) })}
        />
      ))}
    </Stack>
  );
}
