import { Alert, Anchor, Paper, Progress, Select, SimpleGrid, Stack, TagsInput, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "wouter";
import { get, post } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { AUDIENCES, isMoving, percentOf, type Audience } from "../audiences/audience.ts";
import { CONTACT_IMPORTS, CONTACTS, type ContactImport } from "./contact.ts";

const REFRESH_MS = 1000;

/** Reviews an uploaded file and makes contacts of its rows. */
export default function ImportPage() {
  const { id } = useParams<{ id: string }>();
  const { data, error, refetch } = useQuery({
    queryKey: [AUDIENCES, id],
    queryFn: ({ signal }) => get<Audience>(`${AUDIENCES}/${id}`, {}, signal),
    refetchInterval: ({ state }) => (state.data && isMoving(state.data) ? REFRESH_MS : false),
  });
  if (error) return <ErrorState error={error} retry={() => void refetch()} />;
  if (!data) return <PageLoading />;
  return (
    <>
      <PageHeader
        title={t("Import contacts")}
        lead={
          <Anchor component={Link} href="/contacts" size="sm">
            {t("All contacts")}
          </Anchor>
        }
      />
      <SimpleGrid cols={{ base: 2, md: 4 }} mb="lg">
        <FigureCard label={t("Rows")} value={formatNumber(data.rows)} />
        <FigureCard label={t("Contacts")} value={formatNumber(data.recipients)} />
        <FigureCard label={t("Rows with faults")} value={formatNumber(data.faults)} note={t("left out")} />
        <FigureCard label={t("Duplicates")} value={formatNumber(data.duplicates)} note={t("left out")} />
      </SimpleGrid>
      {data.failure && (
        <Alert color="red" title={t("The file cannot be used")} mb="lg">
          {data.failure.message}
        </Alert>
      )}
      {isMoving(data) && (
        <Progress value={percentOf(data.checked, data.size)} animated mb="lg" aria-label={t("Check")} />
      )}
      <Text size="sm" mb="lg">
        <Anchor component={Link} href={`/audiences/${id}`} size="sm">
          {t("Columns, rows with faults and recipients")}
        </Anchor>
      </Text>
      {data.state === "ready" && <Review audience={data} />}
    </>
  );
}

function Review({ audience: { id, mapping, recipients } }: { audience: Audience }) {
  const variables = Object.keys(mapping?.variables ?? {});
  const [name, setName] = useState(variables.find((each) => each.toLowerCase().includes("name")) ?? null);
  const [tags, setTags] = useState<string[]>([]);
  const attributes = variables.filter((each) => each !== name && each !== "name" && each !== "number");
  const start = useMutation({
    mutationFn: () =>
      post<ContactImport>(CONTACT_IMPORTS, {
        audienceId: id,
        ...(name !== null && { name }),
        attributes: Object.fromEntries(attributes.map((each) => [each, each])),
        tags,
      }),
  });
  if (start.data) return <ImportProgress id={start.data.id} />;
  return (
    <Paper p="md">
      <Stack gap="sm">
        <Select
          label={t("Column of the name")}
          data={variables}
          value={name}
          onChange={setName}
          clearable
          clearButtonProps={{ "aria-label": t("Clear {name}", { name: t("Column of the name") }) }}
          maw={300}
        />
        <Text size="sm">
          {attributes.length === 0
            ? t("No further columns.")
            : t("Attributes: {names}", { names: attributes.join(", ") })}
        </Text>
        <TagsInput
          label={t("Tags for all of them")}
          placeholder={t("Type a tag and press Enter")}
          value={tags}
          onChange={setTags}
          maw={400}
        />
        {start.error && <ErrorState error={start.error} />}
        <GuardedButton loading={start.isPending} onClick={() => start.mutate()} style={{ alignSelf: "flex-start" }}>
          {t("Import {count} contacts", { count: recipients })}
        </GuardedButton>
      </Stack>
    </Paper>
  );
}

function ImportProgress({ id }: { id: string }) {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: [CONTACT_IMPORTS, id],
    queryFn: async ({ signal }) => {
      const found = await get<ContactImport>(`${CONTACT_IMPORTS}/${id}`, {}, signal);
      if (found.state !== "running") void client.invalidateQueries({ queryKey: [CONTACTS] });
      return found;
    },
    refetchInterval: ({ state }) => (state.data && state.data.state !== "running" ? false : REFRESH_MS),
  });
  if (!data) return <PageLoading />;
  if (data.state === "failed")
    return (
      <Alert color="red" title={t("The import ended early")}>
        {data.failure?.message}
      </Alert>
    );
  return (
    <Paper p="md">
      <Progress value={percentOf(data.done, data.total)} animated={data.state === "running"} aria-label={t("Import")} />
      <Text size="sm" mt="sm" role="status">
        {data.state === "running"
          ? t("{done} of {total} imported", { done: data.done, total: data.total })
          : t("{count} contacts imported.", { count: data.done })}
      </Text>
      {data.state === "finished" && (
        <Anchor component={Link} href="/contacts" size="sm">
          {t("All contacts")}
        </Anchor>
      )}
    </Paper>
  );
}
