import { PageHeader } from "../../parts/page-header.tsx";
import { UrlTabs } from "../../parts/url-tabs.tsx";
import { Balance } from "./balance.tsx";
import { Prices } from "./prices.tsx";

/** What messages cost, and what there is to spend. */
export default function Credits() {
  return (
    <>
      <PageHeader title="Credits" lead="What there is to spend, where it went, and what a segment costs." />
      <UrlTabs
        label="Credits"
        tabs={[
          { value: "balance", label: "Balance and ledger", panel: <Balance /> },
          { value: "prices", label: "Prices", panel: <Prices /> },
        ]}
      />
    </>
  );
}
