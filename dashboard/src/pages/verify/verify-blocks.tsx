import { IconShieldOff } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { get, removeListed } from "../../api.ts";
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

/** Blocks of numbers that get no codes for now, because too few of them were used: somebody earns with them. */
export function VerifyBlocks() {
  const client = useQueryClient();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => get<{ data: Block[] }>(PATH, {}, signal),
  });
  return (
    <DataTable
      label="Blocked numbers"
      columns={[
        { title: "Numbers", render: ({ prefix }) => `${prefix}····` },
        { title: "Until", render: ({ until }) => <TimeText at={until} size="sm" /> },
        { title: "Since", wide: true, render: ({ blockedAt }) => <TimeText at={blockedAt} size="sm" /> },
        { title: "Used", wide: true, align: "right", render: ({ sends, verified }) => `${verified} of ${sends}` },
        { title: "Times in a row", wide: true, align: "right", render: ({ strikes }) => strikes },
        {
          title: "Lift",
          render: ({ prefix }) => (
            <GuardedConfirm
              size="compact-sm"
              question={`Send codes to ${prefix}···· again?`}
              consequence="Codes go there at once, and what was sent there before no longer counts against it."
              yes="Lift the block"
              run={() => removeListed(`${PATH}/${prefix}`, () => client.invalidateQueries({ queryKey: [PATH] }))}
            >
              Lift
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
          sentence="No numbers are blocked. Where hardly any code is used, sending stops by itself and shows here."
          curl={curlOf({ path: PATH })}
        />
      }
    />
  );
}
