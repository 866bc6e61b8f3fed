import { IconShieldOff } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { get, removeListed } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { curlOf } from "../../parts/curl.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import { TimeText } from "../../parts/time-text.tsx";

const PATH = "/api/verify-blocks";

interface Block {
  prefix: string;
  blockedAt: number;
  until: number;
  strikes: number;
  sends: number;
  verified: number;
}

/** Number ranges that get no codes for now: a low conversion rate points to SMS pumping. */
export function VerifyBlocks() {
  const client = useQueryClient();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => get<{ data: Block[] }>(PATH, {}, signal),
  });
  return (
    <DataTable
      label={t("Blocked numbers")}
      columns={[
        { title: t("Numbers"), render: ({ prefix }) => `${prefix}····` },
        { title: t("Until"), render: ({ until }) => <TimeText at={until} size="sm" /> },
        { title: t("Since"), wide: true, render: ({ blockedAt }) => <TimeText at={blockedAt} size="sm" /> },
        {
          title: t("Verified"),
          wide: true,
          align: "right",
          render: ({ sends, verified }) => t("{verified} of {sends}", { verified, sends }),
        },
        { title: t("Consecutive blocks"), wide: true, align: "right", render: ({ strikes }) => strikes },
        {
          title: t("Lift"),
          render: ({ prefix }) => (
            <GuardedConfirm
              size="compact-sm"
              question={t("Send codes to {prefix}···· again?", { prefix })}
              consequence={t("Codes are sent there at once, and earlier sends no longer count.")}
              yes={t("Lift the block")}
              run={() => removeListed(`${PATH}/${prefix}`, () => client.invalidateQueries({ queryKey: [PATH] }))}
            >
              {t("Lift")}
            </GuardedConfirm>
          ),
        },
      ]}
      rows={data?.data ?? []}
      rowKey={({ prefix }) => prefix}
      loading={isPending}
      error={error}
      retry={() => void refetch()}
      empty={
        <EmptyState
          icon={IconShieldOff}
          sentence={t(
            "No blocked numbers. Ranges with hardly any verified codes are blocked automatically and appear here.",
          )}
          curl={curlOf({ path: PATH })}
        />
      }
    />
  );
}
