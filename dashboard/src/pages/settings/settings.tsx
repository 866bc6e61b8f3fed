import { Paper } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { get, patch } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import type { Values } from "../../parts/record/field.ts";
import { RecordForm } from "../../parts/record/record-form.tsx";
import { useRecordForm } from "../../parts/record/use-record-form.ts";
import { SETTINGS } from "./setting-fields.ts";
import { showToast } from "../../parts/toasts.tsx";

const PATH = "/api/account";

/** Settings of the whole account. */
export default function Settings() {
  const { data, error, refetch } = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => get<Values>(PATH, {}, signal),
  });
  return (
    <>
      <PageHeader
        title={t("Settings")}
        lead={t(
          "Rules for all messages of this account. Changes apply immediately on this node and within five seconds on all others.",
        )}
      />
      {error && <ErrorState error={error} retry={() => void refetch()} />}
      {!data && !error && <PageLoading />}
      {data && <SettingsForm key={JSON.stringify(data)} before={data} />}
    </>
  );
}

function SettingsForm({ before }: { before: Values }) {
  const client = useQueryClient();
  const form = useRecordForm({ fields: SETTINGS, starts: {}, before });
  return (
    <Paper maw={720} component="section" aria-label={t("Settings")}>
      <RecordForm
        form={form}
        fields={SETTINGS}
        exists
        may="own"
        isLong
        save={async (body) => {
          await patch(PATH, body);
          await client.invalidateQueries({ queryKey: [PATH] });
          showToast({ color: "green", title: t("Saved"), message: t("Applies from the next message on.") });
        }}
      />
    </Paper>
  );
}
