import { Anchor, Badge, Progress } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { IconUsersGroup } from "@tabler/icons-react";
import { Link, useLocation } from "wouter";
import { usePages } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { AUDIENCES, isMoving, percentOf, STATE_COLORS, STATE_WORDS, type Audience } from "./audience.ts";
import { DropFile } from "./drop-file.tsx";

const REFRESH_MS = 3000;

const COLUMNS: readonly Column<Audience>[] = [
  {
    title: t("Name"),
    render: ({ id, name }) => (
      <Anchor component={Link} href={`/audiences/${id}`} size="sm">
        {name}
      </Anchor>
    ),
  },
  { title: t("State"), render: (audience) => <AudienceState audience={audience} /> },
  { title: t("Recipients"), align: "right", render: ({ recipients }) => formatNumber(recipients) },
  { title: t("Rows with faults"), align: "right", wide: true, render: ({ faults }) => formatNumber(faults) },
  { title: t("Uploaded"), wide: true, render: ({ createdAt }) => <TimeText at={createdAt} size="sm" /> },
];

/** The state of an audience, with the progress of its upload or check. */
export function AudienceState({ audience }: { audience: Audience }) {
  const { state, size, received, checked } = audience;
  const done = state === "uploading" ? received : checked;
  return (
    <>
      <Badge color={STATE_COLORS[state]}>{STATE_WORDS[state]}</Badge>
      {isMoving(audience) && <Progress value={percentOf(done, size)} mt={6} w={120} aria-label={STATE_WORDS[state]} />}
    </>
  );
}

/** Audiences: lists of recipients from uploaded files. */
export default function Audiences() {
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const { table } = usePages<Audience>(AUDIENCES, {}, { refreshMs: REFRESH_MS });
  return (
    <>
      <PageHeader
        title={t("Audiences")}
        lead={t("Lists of recipients from files, checked row by row, with values of their own for each.")}
      />
      <DropFile
        onDone={(audience) => {
          client.setQueryData([AUDIENCES, audience.id], audience);
          navigate(`/audiences/${audience.id}`);
        }}
      />
      <DataTable
        label={t("Audiences")}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        {...table}
        onRow={({ id }) => navigate(`/audiences/${id}`)}
        empty={
          <EmptyState icon={IconUsersGroup} sentence={t("No audiences yet. Upload a file with your recipients.")} />
        }
      />
    </>
  );
}
