import { Alert, Autocomplete, SegmentedControl, Select, Stack } from "@mantine/core";
import type { Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { ORIGINS } from "../../parts/origins.ts";
import { useNames } from "../../parts/record/use-names.ts";
import { ColumnText } from "./column-text.tsx";
import { useTemplates } from "./use-templates.ts";
import { withTemplate, type WayDraft } from "./way-draft.ts";

interface Props {
  way: WayDraft;
  change: (changes: Partial<WayDraft>) => void;
  columns: readonly string[];
  faultAt: (parameter: string) => string | undefined;
}

/** The inputs of one channel of a campaign. */
export function WayFields(props: Props) {
  const { way, change, columns, faultAt } = props;
  const { label, path, field } = ORIGINS[way.channel];
  const names = useNames(path);
  if (way.stored)
    return (
      <Alert color="gray">
        {t("This channel has content that only the API can change. It stays as it is, or can be removed.")}
      </Alert>
    );
  return (
    <Stack gap="sm">
      <Autocomplete
        label={label}
        data={names}
        value={way.sender}
        onChange={(sender) => change({ sender })}
        error={faultAt(field)}
      />
      {way.channel === "sms" && (
        <SegmentedControl
          aria-label={t("SMS")}
          data={[
            { value: "text", label: t("Text") },
            { value: "template", label: t("Template") },
          ]}
          value={way.by}
          onChange={(value) => change({ by: value === "template" ? "template" : "text" })}
        />
      )}
      {way.by === "text" ? (
        <ColumnText
          label={t("SMS text")}
          value={way.text}
          onChange={(text) => change({ text })}
          columns={columns}
          error={faultAt("text")}
          minRows={3}
        />
      ) : (
        <TemplateFields {...props} />
      )}
    </Stack>
  );
}

function TemplateFields({ way, change, columns, faultAt }: Props) {
  const templates = useTemplates(way.channel);
  const template = templates.find(({ name }) => name === way.templateName);
  return (
    <>
      <Select
        label={t("Template")}
        data={templates.map(({ name }) => name)}
        value={way.templateName || null}
        onChange={(name) => {
          const chosen = templates.find((each) => each.name === name);
          if (chosen) change(withTemplate(way, chosen));
        }}
        allowDeselect={false}
        searchable
        nothingFoundMessage={t("No results")}
        error={faultAt("templateName") ?? faultAt("templateId") ?? faultAt("content") ?? faultAt("components")}
      />
      {textsOf(way, template, change).map(({ label, value, set, parameter }) => (
        <ColumnText
          key={label}
          label={label}
          value={value}
          onChange={set}
          columns={columns}
          error={faultAt(parameter)}
          minRows={1}
        />
      ))}
    </>
  );
}

interface TextInput {
  label: string;
  value: string;
  set: (value: string) => void;
  parameter: string;
}

const VALUES = { sms: "custom", rcs: "content[0].params", chatapp: "components.body.params" } as const;

/** The texts that the template of a way takes. */
function textsOf(way: WayDraft, template: Template | undefined, change: Props["change"]): TextInput[] {
  const { channel, header, params, buttons, fileUrls } = way;
  const labelOf = (index: number): string =>
    (template?.channel === "chatapp" && template.buttons[index]?.text) || String(index + 1);
  return [
    ...(header
      ? [
          {
            label: header.type === "text" ? t("Header") : t("File URL"),
            value: header.value,
            set: (value: string) => change({ header: { ...header, value } }),
            parameter: header.type === "text" ? "components.header.text" : `components.header.${header.type}.link`,
          },
        ]
      : []),
    ...params.map((value, index) => ({
      label: t("Value {number}", { number: index + 1 }),
      value,
      set: (next: string) => change({ params: params.with(index, next) }),
      parameter: `${VALUES[channel]}[${index}]`,
    })),
    ...buttons.map((button, place) => ({
      label: t("Value of the button {text}", { text: labelOf(button.index) }),
      value: button.value,
      set: (value: string) => change({ buttons: buttons.with(place, { ...button, value }) }),
      parameter: `components.buttons[${place}].${button.field}`,
    })),
    ...fileUrls.map((value, index) => ({
      label: t("Image of card {number}", { number: index + 1 }),
      value,
      set: (next: string) => change({ fileUrls: fileUrls.with(index, next) }),
      parameter: `content[${index}].fileUrl`,
    })),
  ];
}
