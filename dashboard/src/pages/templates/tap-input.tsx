import { ActionIcon, Group, Paper, Select, SimpleGrid, TextInput } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { t } from "../../i18n/t.ts";
import type { Option, OwnInputProps } from "../../parts/record/field.ts";

/** A suggestion or button. Its type determines its other fields. */
export type Tappable = { type: string; text: string } & Partial<Record<PartName, string | number>>;

type PartName =
  | "data"
  | "url"
  | "webview"
  | "message"
  | "recording"
  | "number"
  | "latitude"
  | "longitude"
  | "label"
  | "query"
  | "title"
  | "startAt"
  | "endAt"
  | "description";

interface Part {
  name: PartName;
  label: string;
  number?: true;
  placeholder?: string;
  /** Left out for free words. */
  options?: readonly Option[];
}

const DATA: Part = { name: "data", label: t("Postback data"), placeholder: t("Same as the text") };

const WEBVIEW: Part = {
  name: "webview",
  label: t("Opens in"),
  placeholder: t("Browser"),
  options: [
    { value: "full", label: t("Webview, full height") },
    { value: "tall", label: t("Webview, tall") },
    { value: "half", label: t("Webview, half") },
  ],
};

/** The fields of each type besides its text. */
const PARTS: Readonly<Record<string, readonly Part[]>> = {
  reply: [DATA],
  url: [{ name: "url", label: t("URL"), placeholder: "https://shop.example" }, WEBVIEW],
  dial: [{ name: "number", label: t("Number"), placeholder: "+15550100100" }],
  call: [{ name: "number", label: t("Number"), placeholder: "+15550100100" }],
  viewLocation: [
    { name: "latitude", label: t("Latitude"), number: true },
    { name: "longitude", label: t("Longitude"), number: true },
    { name: "label", label: t("Location name") },
    { name: "query", label: t("Or a search on the map"), placeholder: t("Bakery") },
  ],
  shareLocation: [],
  compose: [
    { name: "number", label: t("Number"), placeholder: "+15550100100" },
    { name: "message", label: t("Text to send") },
    {
      name: "recording",
      label: t("Or a recording"),
      placeholder: t("None"),
      options: [
        { value: "audio", label: t("Audio") },
        { value: "video", label: t("Video") },
      ],
    },
  ],
  calendar: [
    { name: "title", label: t("Event") },
    { name: "startAt", label: t("Starts"), placeholder: "2026-10-01T10:00:00Z" },
    { name: "endAt", label: t("Ends"), placeholder: "2026-10-01T18:00:00Z" },
    { name: "description", label: t("Description") },
  ],
};

interface Props extends Pick<OwnInputProps, "faultAt" | "disabled"> {
  what: string;
  path: string;
  item: Tappable;
  types: readonly Option[];
  change: (item: Tappable) => void;
  remove: () => void;
}

/** The inputs of one suggestion or button. */
export function TapInput({ what, path, item, types, change, remove, faultAt, disabled }: Props) {
  const isButton = !types.some(({ value }) => value === "dial");
  const parts = (PARTS[item.type] ?? []).filter((part) => !(isButton && (part === DATA || part === WEBVIEW)));
  return (
    <Paper p="xs" role="group" aria-label={what}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" flex={1}>
          <Select
            label={t("Action")}
            size="xs"
            data={types}
            value={item.type}
            // Fields of the old type do not belong to the new one.
            onChange={(type) => change({ type: type ?? item.type, text: item.text })}
            allowDeselect={false}
            disabled={disabled}
          />
          <TextInput
            label={t("Text")}
            size="xs"
            maxLength={25}
            value={item.text}
            onChange={({ currentTarget }) => change({ ...item, text: currentTarget.value })}
            error={faultAt(`${path}.text`)}
            disabled={disabled}
          />
          {parts.map(({ name, label, number, placeholder, options }) =>
            options ? (
              <Select
                key={name}
                label={label}
                size="xs"
                data={options}
                placeholder={placeholder}
                value={shown(item[name]) === "" ? null : shown(item[name])}
                onChange={(choice) => change(withPart(item, name, choice ?? "", undefined))}
                clearable
                clearButtonProps={{ "aria-label": `${label}: ${placeholder}` }}
                error={faultAt(`${path}.${name}`)}
                disabled={disabled}
              />
            ) : (
              <TextInput
                key={name}
                label={label}
                size="xs"
                placeholder={placeholder}
                value={shown(item[name])}
                onChange={({ currentTarget }) => change(withPart(item, name, currentTarget.value, number))}
                error={faultAt(`${path}.${name}`)}
                disabled={disabled}
              />
            ),
          )}
        </SimpleGrid>
        <ActionIcon
          variant="subtle"
          color="gray"
          mt={22}
          onClick={remove}
          disabled={disabled}
          aria-label={t("Remove {name}", { name: what.toLowerCase() })}
        >
          <IconTrash size={16} aria-hidden />
        </ActionIcon>
      </Group>
    </Paper>
  );
}

const shown = (value: string | number | undefined): string => String(value ?? "");

/** Empty fields are removed. Invalid numbers are sent as typed, so that the server reports them. */
function withPart(item: Tappable, name: PartName, written: string, isNumber: true | undefined): Tappable {
  const { [name]: _old, ...rest } = item;
  if (written === "") return rest;
  const asNumber = Number(written);
  return { ...rest, [name]: isNumber && String(asNumber) === written ? asNumber : written };
}
