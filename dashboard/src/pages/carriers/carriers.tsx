import { PageHeader } from "../../parts/page-header.tsx";
import { UrlTabs } from "../../parts/url-tabs.tsx";
import { CarrierTable } from "./carrier-table.tsx";
import { Receipts } from "./receipts.tsx";
import { RouteTable } from "./route-table.tsx";

/** The lines to networks, and which messages take which. */
export default function Carriers() {
  return (
    <>
      <PageHeader
        title="Carriers and routes"
        lead="The lines to networks, and which messages take which. Without a line of your own everything ends in the simulator."
      />
      <UrlTabs
        label="Carriers and routes"
        tabs={[
          { value: "carriers", label: "Carriers", panel: <CarrierTable /> },
          { value: "routes", label: "Routes", panel: <RouteTable /> },
          { value: "receipts", label: "Unmatched receipts", panel: <Receipts /> },
        ]}
      />
    </>
  );
}
