import { t } from "../../i18n/t.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { UrlTabs } from "../../parts/url-tabs.tsx";
import { Balance } from "./balance.tsx";
import { Prices } from "./prices.tsx";

/** Balance and prices of the account. */
export default function Credits() {
  return (
    <>
      <PageHeader title={t("Credits")} lead={t("Balance, ledger and prices per segment.")} />
      <UrlTabs
        label={t("Credits")}
        tabs={[
          { value: "balance", label: t("Balance and ledger"), panel: <Balance /> },
          { value: "prices", label: t("Prices"), panel: <Prices /> },
        ]}
      />
    </>
  );
}
