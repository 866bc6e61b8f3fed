import { Anchor, Button, Text, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { IconUsersGroup } from "@tabler/icons-react";
import { Link, useLocation } from "wouter";
import { post } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import type { OwnInputProps } from "../../parts/record/field.ts";
import type { RecordKind, RecordRow } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { AUDIENCES, type Audience } from "../audiences/audience.ts";
import { attributesAsText, attributesOfText, CONSENTS, consentLabel } from "./contact.ts";

interface Segment extends RecordRow {
  tags: readonly string[];
  attributes: Readonly<Record<string, string>>;
  consents: readonly string[];
}

const conditionsOf = ({ tags, attributes, consents }: Segment): string =>
  [
    ...tags,
    ...Object.entries(attributes).map(([name, value]) => `${name}: ${value}`),
    ...consents.map(consentLabel),
  ].join(", ");

const KIND: RecordKind<Segment> = {
  path: "/api/segments",
  one: "segment",
  add: t("Add segment"),
  fields: [
    { name: "name", label: t("Name"), input: { kind: "text", placeholder: "vip" }, required: true },
    {
      name: "tags",
      label: t("Tags"),
      hint: t("Contacts that have all of these tags."),
      input: { kind: "phrases", placeholder: "vip" },
    },
    {
      name: "attributes",
      label: t("Attributes"),
      hint: t("One per line, such as city: Pune."),
      input: { kind: "own", component: AttributesInput },
      secretFree: true,
    },
    {
      name: "consents",
      label: t("Consents"),
      hint: t("Contacts that have granted all of these consents."),
      input: { kind: "several", options: CONSENTS },
    },
  ],
  starts: { name: "", tags: [], attributes: {}, consents: [] },
  columns: [
    {
      title: t("Conditions"),
      render: (segment) => <Text size="sm">{conditionsOf(segment) || t("All contacts")}</Text>,
    },
    {
      title: t("Contacts"),
      wide: true,
      render: ({ name }) => (
        <Anchor
          component={Link}
          href={`/contacts?segment=${encodeURIComponent(name)}`}
          size="sm"
          onClick={(click: React.MouseEvent) => click.stopPropagation()}
        >
          {t("Show")}
        </Anchor>
      ),
    },
  ],
  empty: {
    sentence: t("No segments yet. A segment is a saved filter of contacts."),
    example: { name: "VIP", tags: ["vip"] },
  },
  removal: t("The segment is deleted. Audiences that were made of it stay."),
  actions: (segment) => <AudienceButton name={segment.name} />,
};

function AttributesInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  return (
    <Textarea
      label={label}
      description={hint}
      defaultValue={attributesAsText((value ?? {}) as Record<string, string>)}
      onChange={({ currentTarget }) => onChange(attributesOfText(currentTarget.value, {}))}
      disabled={disabled}
      error={faultAt("attributes.*")}
      autosize
      minRows={2}
    />
  );
}

/** Copies the contacts of a segment into an audience. */
function AudienceButton({ name }: { name: string }) {
  const [, navigate] = useLocation();
  const make = useMutation({
    mutationFn: () => post<Audience>(AUDIENCES, { name, segment: name }),
    onSuccess: ({ id }) => navigate(`/audiences/${id}`),
  });
  return (
    <>
      {make.error && <ErrorState error={make.error} />}
      <Button
        variant="light"
        leftSection={<IconUsersGroup size={16} aria-hidden />}
        loading={make.isPending}
        onClick={() => make.mutate()}
      >
        {t("Create audience")}
      </Button>
    </>
  );
}

/** Segments: saved filters of contacts, which audiences are made of. */
export default function Segments() {
  return (
    <>
      <PageHeader
        title={t("Segments")}
        lead={t("Saved filters of contacts. An audience of a segment has its contacts of that moment.")}
      />
      <RecordTable kind={KIND} />
    </>
  );
}
