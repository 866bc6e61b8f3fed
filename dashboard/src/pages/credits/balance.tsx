import { Anchor, Badge, Group, SimpleGrid, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconCoins } from "@tabler/icons-react";
import { Link } from "wouter";
import { get, usePages } from "../../api.ts";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { CREDITS, TopUp } from "./top-up.tsx";

interface Account {
  mode: "unlimited" | "metered";
  balance: number;
  held: number;
}

interface Entry {
  id: string;
  messageId: string | null;
  kind: "top-up" | "hold" | "spend" | "release" | "refund";
  amount: number;
  held: number;
  note: string | null;
  at: number;
}

const KINDS: Readonly<Record<Entry["kind"], string>> = {
  "top-up": "Given or taken by hand",
  hold: "Put aside for a request",
  spend: "A carrier took it",
  release: "Given back: it was not sent",
  refund: "Paid back: it did not arrive",
};

const signed = (amount: number): string => (amount > 0 ? `+${amount.toLocaleString()}` : amount.toLocaleString());

const COLUMNS: readonly Column<Entry>[] = [
  { title: "Time", render: ({ at }) => <TimeText at={at} size="sm" /> },
  {
    title: "What",
    render: ({ kind, note, messageId }) =>
      messageId === null ? (
        <Text size="sm">{note ?? KINDS[kind]}</Text>
      ) : (
        <Anchor component={Link} href={`/messages/${messageId}`} size="sm">
          {KINDS[kind]}
        </Anchor>
      ),
  },
  { title: "Kind", wide: true, render: ({ kind }) => <Badge color="gray">{kind}</Badge> },
  { title: "Balance", align: "right", render: ({ amount }) => signed(amount) },
  { title: "Held", align: "right", wide: true, render: ({ held }) => signed(held) },
];

/** The balance, and every change of it. */
export function Balance() {
  const { data, error } = useQuery({
    queryKey: [CREDITS],
    queryFn: ({ signal }) => get<Account>(CREDITS, {}, signal),
  });
  const { table } = usePages<Entry>(`${CREDITS}/ledger`);
  return (
    <>
      {error && <ErrorState error={error} title="The balance cannot be read" />}
      {data && (
        <SimpleGrid cols={{ base: 2, md: 3 }} mb="lg">
          <FigureCard label="Balance" value={data.balance.toLocaleString()} note="credits to spend" />
          <FigureCard label="Held" value={data.held.toLocaleString()} note="for messages that are not sent yet" />
          <FigureCard
            label="Mode"
            value={data.mode === "metered" ? "Metered" : "Unlimited"}
            note={
              data.mode === "metered"
                ? "messages are accepted as long as the balance covers them"
                : "nothing is taken; it is a setting of the account"
            }
          />
        </SimpleGrid>
      )}
      <Group justify="flex-end" mb="md">
        <TopUp />
      </Group>
      <DataTable
        label="Ledger"
        columns={COLUMNS}
        rowKey={({ id, messageId, kind }) => `${id} ${messageId ?? ""} ${kind}`}
        {...table}
        empty={
          <EmptyState
            icon={IconCoins}
            sentence="The balance has never changed. Messages take credits once the account is metered."
            action={<TopUp />}
            curl={curlOf({ path: CREDITS, body: { amount: 1000, note: "to begin with" } })}
          />
        }
      />
    </>
  );
}
