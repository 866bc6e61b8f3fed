import { Alert, Anchor, Group, Progress, SimpleGrid, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { IconAlertTriangle, IconCircleCheck, IconSpeakerphone } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link, useLocation, useParams } from "wouter";
import { get, remove, usePages } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { GuardedButton, GuardedConfirm } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { NEW_CAMPAIGN } from "../campaigns/audience-campaign.ts";
import { AUDIENCES, isMoving, percentOf, type Audience, type Recipient, type RowFault } from "./audience.ts";
import { AudienceState } from "./audiences.tsx";
import { SheetChoice } from "./sheet-choice.tsx";
import { MappingForm } from "./mapping-form.tsx";

const REFRESH_MS = 1000;

/** One audience: validation result, column mapping, invalid rows and recipients. */
export default function AudiencePage() {
  const { id } = useParams<{ id: string }>();
  const { data, error, refetch } = useQuery({
    queryKey: [AUDIENCES, id],
    queryFn: ({ signal }) => get<Audience>(`${AUDIENCES}/${id}`, {}, signal),
    refetchInterval: ({ state }) => (state.data && isMoving(state.data) ? REFRESH_MS : false),
  });
  if (error)
    return (
      <>
        <PageHeader title={t("Audience")} />
        <ErrorState error={error} retry={() => void refetch()} title={t("Audience cannot be loaded")} />
      </>
    );
  if (!data) return <PageLoading />;
  return <Loaded audience={data} />;
}

function Loaded({ audience }: { audience: Audience }) {
  const { id, name, createdAt, failure, state } = audience;
  const client = useQueryClient();
  const [, navigate] = useLocation();
  return (
    <>
      <PageHeader
        title={name}
        lead={
          <Anchor component={Link} href="/audiences" size="sm">
            {t("All audiences")}
          </Anchor>
        }
      >
        {state === "ready" && (
          <GuardedButton
            leftSection={<IconSpeakerphone size={16} aria-hidden />}
            onClick={() => navigate(`${NEW_CAMPAIGN}?audience=${id}`)}
            whyNot={audience.test ? t("Only test keys send to an audience of test keys.") : null}
          >
            {t("New campaign")}
          </GuardedButton>
        )}
        <GuardedConfirm
          color="red"
          variant="light"
          question={t("Delete {name}?", { name })}
          consequence={t("The file and its recipients are deleted. Messages that were sent stay.")}
          yes={t("Delete audience")}
          run={async () => {
            await remove(`${AUDIENCES}/${id}`);
            await client.invalidateQueries({ queryKey: [AUDIENCES], exact: false, refetchType: "none" });
            navigate("/audiences");
          }}
        >
          {t("Delete")}
        </GuardedConfirm>
      </PageHeader>
      <Group mb="lg" gap="md">
        <AudienceState audience={audience} />
        <Text size="sm" c="dimmed" component="div">
          {t("Uploaded")} <TimeText at={createdAt} size="sm" span />
        </Text>
      </Group>
      <Checking audience={audience} />
      {failure && (
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={t("The file cannot be used")} mb="lg">
          {failure.message}
        </Alert>
      )}
      <SimpleGrid cols={{ base: 2, md: 5 }} mb="lg">
        <Figure label={t("Rows")} value={audience.rows} />
        <Figure label={t("Recipients")} value={audience.recipients} />
        <Figure label={t("Rows with faults")} value={audience.faults} note={t("left out")} />
        <Figure label={t("Duplicates")} value={audience.duplicates} note={t("left out")} />
        <Figure label={t("Opted out")} value={audience.optedOut} note={t("get no promotions")} />
      </SimpleGrid>
      {(audience.sheets?.length ?? 0) > 1 && state !== "checking" && (
        <Section title={t("Sheet")}>
          <SheetChoice audience={audience} />
        </Section>
      )}
      {audience.columns && state !== "checking" && (
        <Section title={t("Columns")}>
          <MappingForm key={JSON.stringify(audience.mapping)} audience={audience} />
        </Section>
      )}
      {state !== "uploading" && (
        <Section title={t("Rows with faults")}>
          <Faults audience={audience} />
        </Section>
      )}
      {state === "ready" && (
        <Section title={t("Recipients")}>
          <Recipients audience={audience} />
        </Section>
      )}
    </>
  );
}

const Figure = ({ label, value, note }: { label: string; value: number; note?: string }) => (
  <FigureCard label={label} value={formatNumber(value)} note={note} />
);

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section aria-label={title}>
    <Title order={2} size="h4" mb="md" mt="xl">
      {title}
    </Title>
    {children}
  </section>
);

function Checking({ audience }: { audience: Audience }) {
  const { state, size, received, checked, rows } = audience;
  if (state === "uploading")
    return (
      <Alert color="yellow" mb="lg" title={t("The upload is not complete")}>
        {t("{percent} % were received. Drop the same file again under Audiences to continue.", {
          percent: Math.floor(percentOf(received, size)),
        })}
      </Alert>
    );
  if (state !== "checking") return null;
  return (
    <>
      <Progress value={percentOf(checked, size)} animated mb="xs" aria-label={t("Check")} />
      <Text size="sm" mb="lg" aria-live="polite">
        {t("{rows} rows checked", { rows })}
      </Text>
    </>
  );
}

const FAULT_COLUMNS: readonly Column<RowFault>[] = [
  { title: t("Row"), align: "right", render: ({ row }) => formatNumber(row) },
  { title: t("Column"), render: ({ column }) => column ?? "–" },
  { title: t("Fault"), render: ({ message }) => message },
];

function Faults({ audience }: { audience: Audience }) {
  const { id, faults } = audience;
  // The list is complete once the check has ended.
  const isOver = !isMoving(audience);
  const { table } = usePages<RowFault>(`${AUDIENCES}/${id}/faults`, { limit: 50 }, { enabled: isOver && faults > 0 });
  if (!isOver) return <Text size="sm">{t("The list follows at the end of the check.")}</Text>;
  if (faults === 0) return <EmptyState icon={IconCircleCheck} sentence={t("No faults.")} />;
  return (
    <DataTable
      label={t("Rows with faults")}
      columns={FAULT_COLUMNS}
      rowKey={({ row }) => String(row)}
      {...table}
      empty={null}
    />
  );
}

function Recipients({ audience: { id, mapping } }: { audience: Audience }) {
  const { table } = usePages<Recipient>(`${AUDIENCES}/${id}/recipients`, { limit: 10 });
  const columns: Column<Recipient>[] = [
    { title: t("Number"), render: ({ number }) => number },
    ...Object.keys(mapping?.variables ?? {}).map((name, index): Column<Recipient> => ({
      title: name,
      render: ({ variables }) => variables[name] ?? "",
      wide: index > 1,
    })),
    { title: t("Opted out"), render: ({ optedOut }) => (optedOut ? t("Yes") : "–") },
  ];
  return (
    <DataTable label={t("Recipients")} columns={columns} rowKey={({ row }) => String(row)} {...table} empty={null} />
  );
}
