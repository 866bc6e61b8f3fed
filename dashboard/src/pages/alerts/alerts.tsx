import { PageHeader } from "../../parts/page-header.tsx";
import { t } from "../../i18n/t.ts";
import { UrlTabs } from "../../parts/url-tabs.tsx";
import { AlertHistory } from "./alert-history.tsx";
import { AlertRules } from "./alert-rules.tsx";

/** Open and resolved alerts, and their rules. */
export default function Alerts() {
  return (
    <>
      <PageHeader
        title={t("Alerts")}
        lead={t(
          "Faults of carriers, deliveries, codes, endpoints, credits and the service. A webhook for system events gets each alert; account settings send e-mails.",
        )}
      />
      <UrlTabs
        label={t("Alerts")}
        tabs={[
          { value: "history", label: t("History"), panel: <AlertHistory /> },
          { value: "rules", label: t("Rules"), panel: <AlertRules /> },
        ]}
      />
    </>
  );
}
