import { Grid, Paper } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { IconDeviceMobileOff, IconTrash } from "@tabler/icons-react";
import { Redirect, useParams } from "wouter";
import { get, post, type Page } from "../../api.ts";
import type { Phone } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { useMay } from "../../session.tsx";
import { OpenPhone } from "./open-phone.tsx";
import { PhoneList } from "./phone-list.tsx";

/** The simulated phones. One is open at a time. */
export default function Phones() {
  const mayWrite = useMay("write");
  const { number } = useParams<{ number?: string }>();
  const { data, error, refetch } = useQuery({
    queryKey: ["/api/simulator/phones"],
    queryFn: ({ signal }) => get<Page<Phone>>("/api/simulator/phones", { limit: 200 }, signal),
    refetchInterval: 5000,
    enabled: mayWrite,
  });
  if (!mayWrite)
    return (
      <>
        <PageHeader title={t("Virtual phones")} />
        <Paper>
          <EmptyState
            icon={IconDeviceMobileOff}
            sentence={t(
              "Phones show full numbers, which your role (viewer) cannot see. Ask an owner for the member role.",
            )}
          />
        </Paper>
      </>
    );
  if (error) return <ErrorState error={error} retry={() => void refetch()} title={t("Phones cannot be loaded")} />;
  if (!data) return <PageLoading />;
  const phones = data.data.toSorted((a, b) => (b.lastMessageAt ?? 0) - (a.lastMessageAt ?? 0));
  const [first] = phones;
  if (number === undefined) return <Redirect to={`/phones/${first?.number ?? "15550100100"}`} replace />;
  return (
    <>
      <PageHeader
        title={t("Virtual phones")}
        lead={t("Every number that got a message through the simulator. Read, tap and reply as a user would.")}
      >
        <ClearPhones phones={phones} />
      </PageHeader>
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, lg: 3 }}>
          <PhoneList phones={phones} current={number} />
        </Grid.Col>
        <OpenPhone key={number} number={number} />
      </Grid>
    </>
  );
}

function ClearPhones({ phones }: { phones: readonly Phone[] }) {
  const client = useQueryClient();

  async function clear(): Promise<void> {
    // The clock of this browser may be slow.
    const receivedBefore = Math.max(Date.now(), ...phones.map(({ lastMessageAt }) => (lastMessageAt ?? 0) + 1));
    // The server deletes for a few seconds per request.
    while ((await post<{ more: boolean }>("/api/simulator/phones/clear", { receivedBefore })).more);
    await Promise.all([
      client.invalidateQueries({ queryKey: ["/api/simulator/phones"] }),
      client.invalidateQueries({ queryKey: ["phone"] }),
    ]);
  }

  return (
    <GuardedConfirm
      leftSection={<IconTrash size={17} aria-hidden />}
      whyNot={phones.every(({ messageCount }) => messageCount === 0) ? t("The phones have no messages.") : null}
      question={t("Clear all phones?")}
      consequence={t(
        "Deletes all messages on the simulated phones. The list of messages stays. Messages that wait for their delivery report stay on their phones.",
      )}
      yes={t("Clear phones")}
      run={clear}
    >
      {t("Clear phones")}
    </GuardedConfirm>
  );
}
