import {
  Anchor,
  Autocomplete,
  Box,
  Checkbox,
  Group,
  Input,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { ApiError, get, type Page } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { ORIGINS } from "../../parts/origins.ts";
import { useNames } from "../../parts/record/use-names.ts";
import { TimeInput } from "../../parts/time-input.tsx";
import { ownZone } from "../../parts/time-text.tsx";
import { AUDIENCES, type Audience } from "../audiences/audience.ts";
import { AudienceState } from "../audiences/audiences.tsx";
import { DropFile } from "../audiences/drop-file.tsx";
import { ZONES } from "../settings/zones.ts";
import { RECIPIENT_ZONE } from "./audience-campaign.ts";
import { linksIn, type CampaignDraft } from "./campaign-draft.ts";
import { ColumnText } from "./column-text.tsx";
import { useTemplates } from "./use-templates.ts";
import { WaysFields } from "./ways-fields.tsx";
import { NumberInput } from "../../parts/number-input.tsx";

interface Props {
  draft: CampaignDraft;
  change: (changes: Partial<CampaignDraft>) => void;
  audience: Audience | undefined;
  /** True for a campaign of test keys, which takes their audiences. */
  test: boolean;
  error: Error | null;
}

type FieldProps = Props & {
  /** The message of a fault of this field. */
  faultAt: (parameter: string) => string | undefined;
};

const THROTTLE_MAX = 10_000_000;

/** The inputs of a campaign. */
export function CampaignFields(props: Props) {
  const { draft, change, error } = props;
  const details = error instanceof ApiError ? error.details : [];
  const faultAt = (parameter: string): string | undefined =>
    details.find(
      (fault) =>
        fault.parameter === parameter ||
        fault.parameter.startsWith(`${parameter}.`) ||
        fault.parameter.startsWith(`${parameter}[`),
    )?.message;
  const fields = { ...props, faultAt };
  return (
    <>
      <TextInput
        label={t("Name")}
        description={t("The campaignName of its messages.")}
        value={draft.name}
        onChange={({ currentTarget }) => change({ name: currentTarget.value })}
        error={faultAt("name")}
        maxLength={100}
      />
      <AudienceSelect {...fields} />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {draft.by !== "ways" && <Sender {...fields} />}
        <Select
          label={t("Route type")}
          data={[
            { value: "PROMO", label: t("PROMO: a promotion") },
            { value: "TRANS", label: t("TRANS: a notice") },
          ]}
          value={draft.type}
          onChange={(type) => change({ type: type === "TRANS" ? "TRANS" : "PROMO" })}
          allowDeselect={false}
          error={faultAt("type")}
        />
      </SimpleGrid>
      <Message {...fields} />
      <NumberInput
        label={t("Most messages per hour")}
        description={t("Spread evenly. Empty for no limit.")}
        value={draft.throttle}
        onChange={(throttle) => change({ throttle: typeof throttle === "number" ? throttle : "" })}
        min={1}
        max={THROTTLE_MAX}
        grouped
        error={faultAt("throttle")}
      />
      <Window {...fields} />
      <Start {...fields} />
    </>
  );
}

function AudienceSelect({ draft, change, audience, test, faultAt }: FieldProps) {
  const { data } = useQuery({
    queryKey: [AUDIENCES, "ready"],
    queryFn: ({ signal }) => get<Page<Audience>>(AUDIENCES, { state: "ready", limit: 200 }, signal),
  });
  const ready = (data?.data ?? []).filter((each) => each.test === test);
  const chosen = audience && !ready.some(({ id }) => id === audience.id) ? [audience] : [];
  const options = [...chosen, ...ready].map(({ id, name, recipients }) => ({
    value: id,
    label: t("{name} ({recipients} recipients)", { name, recipients }),
  }));
  return (
    <div>
      <Select
        label={t("Audience")}
        data={options}
        value={draft.audienceId || null}
        onChange={(audienceId) => change({ audienceId: audienceId ?? "" })}
        allowDeselect={false}
        searchable
        nothingFoundMessage={t("No results")}
        error={faultAt("audienceId")}
      />
      {audience && draft.audienceId !== "" && <CheckedFile audience={audience} />}
      {draft.audienceId === "" && !test && (
        <Box mt="sm">
          <DropFile onDone={({ id, name }) => change({ audienceId: id, ...(draft.name.trim() === "" && { name }) })} />
        </Box>
      )}
    </div>
  );
}

/** The result of the check so far. */
const CheckedFile = ({ audience }: { audience: Audience }) => (
  <Group gap="xs" mt={6} aria-live="polite">
    {audience.state !== "ready" && <AudienceState audience={audience} />}
    <Text size="sm" c={audience.failure ? "red" : "dimmed"}>
      {audience.failure?.message ??
        t("Recipients: {recipients}, rows with faults: {faults}, duplicates: {duplicates}", {
          recipients: formatNumber(audience.recipients),
          faults: formatNumber(audience.faults),
          duplicates: formatNumber(audience.duplicates),
        })}
    </Text>
    <Anchor component={Link} href={`/audiences/${audience.id}`} size="sm">
      {t("View columns and rows")}
    </Anchor>
  </Group>
);

function Sender({ draft, change, faultAt }: FieldProps) {
  const { label, path } = ORIGINS.sms;
  return (
    <Autocomplete
      label={label}
      data={useNames(path)}
      value={draft.sender}
      onChange={(sender) => change({ sender })}
      error={faultAt("sender")}
      maxLength={20}
    />
  );
}

function Message({ draft, change, audience, faultAt }: FieldProps) {
  const { by, text, targets, custom, templateId } = draft;
  const templates = useTemplates("sms");
  const template = templates.find(({ name }) => name === templateId);
  const columns = Object.keys(audience?.mapping?.variables ?? {});
  const valuesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => custom[index] ?? "");
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label={t("Message")}
        data={[
          { value: "text", label: t("Text") },
          { value: "template", label: t("Template") },
          { value: "ways", label: t("Several channels") },
        ]}
        value={by}
        onChange={(value) => change({ by: value === "template" || value === "ways" ? value : "text" })}
      />
      {by === "ways" && <WaysFields draft={draft} change={change} columns={columns} faultAt={faultAt} />}
      {by === "text" && (
        <ColumnText
          label={t("Text")}
          value={text}
          onChange={(written) => change({ text: written })}
          columns={columns}
          error={faultAt("text")}
          minRows={4}
        />
      )}
      {by === "text" &&
        Array.from({ length: linksIn(text) }, (_, index) => (
          <TextInput
            key={index}
            label={t("Target of link {number}", { number: index + 1 })}
            description={t("{SORT} in the text becomes a short link, one per recipient.", { SORT: "{SORT}" })}
            type="url"
            value={targets[index] ?? ""}
            onChange={({ currentTarget }) =>
              change({
                targets: Array.from({ length: linksIn(text) }, (__, at) =>
                  at === index ? currentTarget.value : (targets[at] ?? ""),
                ),
              })
            }
            error={faultAt(`shortenUrlData.targetUrl[${index}]`) ?? faultAt("shortenUrlData")}
          />
        ))}
      {by === "template" && (
        <>
          <Select
            label={t("Template")}
            data={templates.map(({ name }) => name)}
            value={templateId || null}
            onChange={(name) => {
              const count = templates.find((each) => each.name === name)?.variables ?? 0;
              change({ templateId: name ?? "", custom: valuesOf(count) });
            }}
            allowDeselect={false}
            searchable
            nothingFoundMessage={t("No results")}
            error={faultAt("templateId") ?? faultAt("custom")}
          />
          {valuesOf(template?.variables ?? custom.length).map((value, index, values) => (
            <ColumnText
              key={index}
              label={t("Value {number}", { number: index + 1 })}
              value={value}
              onChange={(written) => change({ custom: values.with(index, written) })}
              columns={columns}
              error={faultAt(`custom[${index}]`)}
              minRows={1}
            />
          ))}
        </>
      )}
    </Stack>
  );
}

/** The recipients' own zones first. */
function zoneChoices(chosen: string): { value: string; label: string }[] {
  const zones = chosen === RECIPIENT_ZONE || ZONES.includes(chosen) ? ZONES : [chosen, ...ZONES];
  return [
    { value: RECIPIENT_ZONE, label: t("Recipient's own time") },
    ...zones.map((zone) => ({ value: zone, label: zone })),
  ];
}

function Window({ draft, change, faultAt }: FieldProps) {
  const fault = faultAt("window");
  return (
    <Stack gap="sm">
      <Checkbox
        label={t("Send only within these hours")}
        checked={draft.hasWindow}
        onChange={({ currentTarget }) => change({ hasWindow: currentTarget.checked })}
      />
      {draft.hasWindow && (
        <Group align="flex-start" gap="sm">
          <TextInput
            type="time"
            label={t("From")}
            value={draft.from}
            onChange={({ currentTarget }) => change({ from: currentTarget.value })}
          />
          <TextInput
            type="time"
            label={t("To")}
            value={draft.to}
            onChange={({ currentTarget }) => change({ to: currentTarget.value })}
          />
          <Select
            label={t("Time zone")}
            data={zoneChoices(draft.zone)}
            value={draft.zone}
            onChange={(zone) => change({ zone: zone ?? draft.zone })}
            allowDeselect={false}
            searchable
            nothingFoundMessage={t("No results")}
            flex={1}
            miw={180}
          />
        </Group>
      )}
      {fault && <Input.Error>{fault}</Input.Error>}
    </Stack>
  );
}

function Start({ draft, change, faultAt }: FieldProps) {
  const fault = faultAt("scheduledAt");
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label={t("Start")}
        data={[
          { value: "now", label: t("After the review") },
          { value: "later", label: t("At a time") },
        ]}
        value={draft.isLater ? "later" : "now"}
        onChange={(value) => change({ isLater: value === "later" })}
      />
      {draft.isLater && (
        <TimeInput
          label={t("Start at")}
          description={t("In your time zone: {zone}", { zone: ownZone() })}
          value={draft.scheduledAt}
          onChange={(scheduledAt) => change({ scheduledAt })}
        />
      )}
      {fault && <Input.Error>{fault}</Input.Error>}
    </Stack>
  );
}
