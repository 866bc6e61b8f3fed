import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

/** The page of a campaign that cannot be loaded. */
export const CampaignUnavailable = ({ error, retry }: { error: Error; retry: () => void }) => (
  <>
    <PageHeader title={t("Campaign")} />
    <ErrorState error={error} retry={retry} title={t("Campaign cannot be loaded")} />
  </>
);
