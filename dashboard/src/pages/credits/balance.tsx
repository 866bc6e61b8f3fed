import { Anchor, Badge, Group, SimpleGrid, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconCoins } from "@tabler/icons-react";
import { Link } from "wouter";
import { get, usePages } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
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
  "top-up": t("Manual adjustment"),
  hold: t("Reserved for a request"),
  spend: t("Charged"),
  release: t("Released: not sent"),
  refund: t("Refunded: not delivered"),
};

const KIND_NAMES: Readonly<Record<Entry["kind"], string>> = {
  "top-up": t("Adjustment"),
  hold: t("Hold"),
  spend: t("Charge"),
  release: t("Release"),
  refund: t("Refund"),
};

const signed = (amount: number): string => (amount > 0 ? `+${formatNumber(amount)}` : formatNumber(amount));

const COLUMNS: readonly Column<Entry>[] = [
  { title: t("Time"), render: ({ at }) => <TimeText at={at} size="sm" /> },
  {
    title: t("What"),
    render: ({ kind, note, messageId }) =>
      messageId === null ? (
        <Text size="sm">{note ?? KINDS[kind]}</Text>
      ) : (
        <Anchor component={Link} href={`/messages/${messageId}`} size="sm">
          {KINDS[kind]}
        </Anchor>
      ),
  },
  { title: t("Kind"), wide: true, render: ({ kind }) => <Badge color="gray">{KIND_NAMES[kind]}</Badge> },
  { title: t("Balance"), align: "right", render: ({ amount }) => signed(amount) },
  { title: t("Held"), align: "right", wide: true, render: ({ held }) => signed(held) },
];

/** The balance and its history. */
export function Balance() {
  const { data, error } = useQuery({
    queryKey: [CREDITS],
    queryFn: ({ signal }) => get<Account>(CREDITS, {}, signal),
  });
  const { table } = usePages<Entry>(`${CREDITS}/ledger`);
  return (
    <>
      {error && <ErrorState error={error} title={t("Balance cannot be loaded")} />}
      {data && (
        <SimpleGrid cols={{ base: 2, md: 3 }} mb="lg">
          <FigureCard label={t("Balance")} value={formatNumber(data.balance)} note={t("credits to spend")} />
          <FigureCard
            label={t("Held")}
            value={formatNumber(data.held)}
            note={t("for messages that are not sent yet")}
          />
          <FigureCard
            label={t("Mode")}
            value={data.mode === "metered" ? t("Metered") : t("Unlimited")}
            note={
              data.mode === "metered" ? (
                t("messages are accepted while the balance covers them")
              ) : (
                <>
                  {t("credits are not deducted")} ·{" "}
                  <Anchor component={Link} href="/account/settings" size="xs">
                    {t("change in Settings")}
                  </Anchor>
                </>
              )
            }
          />
        </SimpleGrid>
      )}
      <Group justify="flex-end" mb="md">
        <TopUp />
      </Group>
      <DataTable
        label={t("Ledger")}
        columns={COLUMNS}
        rowKey={({ id, messageId, kind }) => `${id} ${messageId ?? ""} ${kind}`}
        {...table}
        empty={
          <EmptyState
            icon={IconCoins}
            sentence={t("No entries yet. Messages are charged once the account is metered.")}
            action={<TopUp />}
            curl={curlOf({ path: CREDITS, body: { amount: 1000, note: "initial credits" } })}
          />
        }
      />
    </>
  );
}
