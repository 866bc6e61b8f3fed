import { Anchor, Badge, Button, Group, Modal } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { IconAddressBook, IconFileImport, IconPlus } from "@tabler/icons-react";
import { Link, useLocation } from "wouter";
import { get, usePages } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { csvLine, isoOf } from "../../parts/csv.ts";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ChoiceFilter, FilterBar, TypedFilter } from "../../parts/filters.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { ExportButton } from "../../parts/run/export-button.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { DropFile } from "../audiences/drop-file.tsx";
import { ContactFormButton } from "./contact-form.tsx";
import { CONSENTS, consentKey, CONTACTS, type Contact } from "./contact.ts";

const COLUMNS: readonly Column<Contact>[] = [
  {
    title: t("Number"),
    render: ({ number }) => (
      <Anchor component={Link} href={`/contacts/${number}`} size="sm">
        {number}
      </Anchor>
    ),
  },
  { title: t("Name"), render: ({ name }) => name ?? "–" },
  { title: t("Tags"), render: ({ tags }) => <Tags tags={tags} /> },
  { title: t("Opted out"), wide: true, render: ({ optedOut }) => (optedOut ? t("Yes") : "–") },
  { title: t("Changed"), wide: true, render: ({ updatedAt }) => <TimeText at={updatedAt} size="sm" /> },
];

export const Tags = ({ tags }: { tags: readonly string[] }) => (
  <Group gap={4}>
    {tags.map((tag) => (
      <Badge key={tag} variant="light" tt="none">
        {tag}
      </Badge>
    ))}
  </Group>
);

/** Contacts: numbers with a name, attributes, tags and consents. */
export default function Contacts() {
  const [filters, change] = useUrlState(["q", "tag", "attribute", "consent", "segment"]);
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const { table } = usePages<Contact>(CONTACTS, filters);
  const segments = useQuery({
    queryKey: ["/api/segments", "names"],
    queryFn: ({ signal }) => get<{ data: { name: string }[] }>("/api/segments", { limit: 200 }, signal),
  });
  const readAgain = (): void => void client.invalidateQueries({ queryKey: [CONTACTS] });
  const add = (
    <ContactFormButton
      contact={null}
      label={t("Add contact")}
      icon={<IconPlus size={17} aria-hidden />}
      onSaved={readAgain}
    />
  );
  return (
    <>
      <PageHeader
        title={t("Contacts")}
        lead={t("Numbers with a name, attributes, tags and consents. Segments of them are audiences of campaigns.")}
      >
        <ContactExport filters={filters} />
        <ImportButton onUploaded={(id) => navigate(`/contacts/import/${id}`)} />
        {add}
      </PageHeader>
      <FilterBar values={filters} change={change}>
        <TypedFilter
          label={t("Name or number")}
          value={filters.q}
          onChange={(q) => change({ q })}
          placeholder={t("Ada")}
          leading
        />
        <TypedFilter label={t("Tag")} value={filters.tag} onChange={(tag) => change({ tag })} placeholder="vip" />
        <TypedFilter
          label={t("Attribute")}
          value={filters.attribute}
          onChange={(attribute) => change({ attribute })}
          placeholder={t("city:Pune")}
        />
        <ChoiceFilter
          label={t("Consent")}
          value={filters.consent}
          onChange={(consent) => change({ consent })}
          data={CONSENTS}
        />
        <ChoiceFilter
          label={t("Segment")}
          value={filters.segment}
          onChange={(segment) => change({ segment })}
          data={(segments.data?.data ?? []).map(({ name }) => name)}
        />
      </FilterBar>
      <DataTable
        label={t("Contacts")}
        columns={COLUMNS}
        rowKey={({ number }) => number}
        {...table}
        onRow={({ number }) => navigate(`/contacts/${number}`)}
        empty={
          <EmptyState
            icon={IconAddressBook}
            sentence={t("No contacts here. Add one, or import a CSV file.")}
            action={add}
            curl={curlOf({ path: CONTACTS, body: { number: "15550100100", name: "Ada", tags: ["vip"] } })}
          />
        }
      />
    </>
  );
}

/** Uploads a file as an audience, whose columns and faults are then reviewed. */
function ImportButton({ onUploaded }: { onUploaded: (audienceId: string) => void }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" leftSection={<IconFileImport size={17} aria-hidden />} onClick={open}>
        {t("Import CSV")}
      </Button>
      <Modal opened={opened} onClose={close} title={t("Import contacts")} size="lg">
        {opened && <DropFile onDone={({ id }) => onUploaded(id)} />}
      </Modal>
    </>
  );
}

const EXPORTED = ["number", "name", "tags", "consents", "optedOut", "createdAt", "updatedAt"];

/** All attributes have a column, so their names are read first. */
async function exportedColumns(): Promise<string[]> {
  return [...EXPORTED, ...(await get<{ data: string[] }>("/v1/contact-attributes")).data];
}

const ContactExport = ({ filters }: { filters: Record<string, string> }) => (
  <ExportButton<Contact>
    path={CONTACTS}
    query={filters}
    one={t("contact")}
    many={t("contacts")}
    columns={exportedColumns}
    line={(contact, columns) =>
      csvLine([
        contact.number,
        contact.name,
        contact.tags.join(" | "),
        contact.consents
          .filter(({ granted }) => granted)
          .map(consentKey)
          .join(" | "),
        contact.optedOut,
        isoOf(contact.createdAt),
        isoOf(contact.updatedAt),
        ...columns.slice(EXPORTED.length).map((name) => contact.attributes[name] ?? ""),
      ])
    }
    reached={({ number }) => t("as far as {number}", { number })}
    begins={t("the first")}
  />
);
