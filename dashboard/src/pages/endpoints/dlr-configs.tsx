import { t } from "../../i18n/t.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { useNames } from "../../parts/record/use-names.ts";
import { DLR_PATH, dlrKind } from "./dlr-kind.tsx";
import type { DlrConfig } from "./endpoint.ts";
import { useEndpointParts } from "./use-endpoint-parts.tsx";

/** The endpoints for delivery reports of text messages. */
export default function DlrConfigs() {
  const { parts, dialog } = useEndpointParts<DlrConfig>(DLR_PATH);
  const carriers = useNames("/api/carriers");
  return (
    <>
      <RecordTable
        kind={{ ...dlrKind(carriers), ...parts }}
        title={t("DLR Push Configuration")}
        lead={t("Your endpoints that receive delivery reports of SMS, with the fields you choose.")}
      />
      {dialog}
    </>
  );
}
