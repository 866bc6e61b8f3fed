import { Paper, Select, Stack } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { patch } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { useWhyNot } from "../../parts/guarded.tsx";
import { AUDIENCES, type Audience } from "./audience.ts";

/** Chooses the sheet of a workbook. The file is checked again. */
export function SheetChoice({ audience: { id, sheet, sheets, fileUntil } }: { audience: Audience }) {
  const client = useQueryClient();
  const refused = useWhyNot("write");
  const choose = useMutation({
    mutationFn: (chosen: string) => patch<Audience>(`${AUDIENCES}/${id}`, { sheet: chosen }),
    onSuccess: (changed) => {
      for (const list of ["faults", "recipients"]) client.removeQueries({ queryKey: [`${AUDIENCES}/${id}/${list}`] });
      client.setQueryData([AUDIENCES, id], changed);
    },
  });
  return (
    <Paper p="md">
      <Stack gap="sm">
        <Select
          aria-label={t("Sheet")}
          data={[...(sheets ?? [])]}
          value={sheet ?? sheets?.[0] ?? null}
          allowDeselect={false}
          disabled={refused !== null || fileUntil === null || choose.isPending}
          onChange={(chosen) => chosen !== null && choose.mutate(chosen)}
          maw={320}
        />
        {choose.error && <ErrorState error={choose.error} />}
      </Stack>
    </Paper>
  );
}
