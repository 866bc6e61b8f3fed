import { t } from "../../i18n/t.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { UrlTabs } from "../../parts/url-tabs.tsx";
import { CarrierTable } from "./carrier-table.tsx";
import { Receipts } from "./receipts.tsx";
import { RouteTable } from "./route-table.tsx";

/** Carrier connections and the routes to them. */
export default function Carriers() {
  return (
    <>
      <PageHeader
        title={t("Carriers and routes")}
        lead={t(
          "Connections to mobile networks, and the routes that choose one for each message. Without a carrier of your own, all messages go to the simulator.",
        )}
      />
      <UrlTabs
        label={t("Carriers and routes")}
        tabs={[
          { value: "carriers", label: t("Carriers"), panel: <CarrierTable /> },
          { value: "routes", label: t("Routes"), panel: <RouteTable /> },
          {
            value: "receipts",
            label: t("Unmatched receipts"),
            panel: <Receipts />,
          },
        ]}
      />
    </>
  );
}
