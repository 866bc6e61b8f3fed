import { t } from "../../i18n/t.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { UrlTabs } from "../../parts/url-tabs.tsx";
import { VerifyWebhooks } from "../endpoints/webhooks.tsx";
import { VerifyBlocking } from "./verify-blocking.tsx";
import { VerifyConfigs } from "./verify-configs.tsx";
import { VerifyFunnel } from "./verify-funnel.tsx";
import { VerifyLog } from "./verify-log.tsx";
import { TestNumbers } from "./test-numbers.tsx";
import { VerifyTrial } from "./verify-trial.tsx";

/** Verification: one-time passwords that the server generates, sends and checks. */
export default function Verify() {
  return (
    <>
      <PageHeader
        title={t("Verify")}
        lead={t("One-time passwords generated, sent and checked for you: delivery and rules.")}
      />
      <UrlTabs
        label={t("Verify")}
        tabs={[
          { value: "log", label: t("Log"), panel: <VerifyLog /> },
          { value: "funnel", label: t("Funnel"), panel: <VerifyFunnel /> },
          { value: "try", label: t("Send and check"), panel: <VerifyTrial /> },
          { value: "configurations", label: t("Configurations"), panel: <VerifyConfigs /> },
          { value: "blocks", label: t("Blocked"), panel: <VerifyBlocking /> },
          { value: "webhook", label: t("Webhook"), panel: <VerifyWebhooks /> },
          { value: "test-numbers", label: t("Test numbers"), panel: <TestNumbers /> },
        ]}
      />
    </>
  );
}
