import { PageHeader } from "../../parts/page-header.tsx";
import { UrlTabs } from "../../parts/url-tabs.tsx";
import { VerifyWebhooks } from "../endpoints/webhooks.tsx";
import { VerifyBlocks } from "./verify-blocks.tsx";
import { VerifyConfigs } from "./verify-configs.tsx";
import { VerifyLog } from "./verify-log.tsx";
import { TestNumbers } from "./test-numbers.tsx";

/** One-time passwords that are made, sent and checked for you. */
export default function Verify() {
  return (
    <>
      <PageHeader
        title="Verify"
        lead="One-time passwords that are made, sent and checked for you: how they go, and what they obey."
      />
      <UrlTabs
        label="Verify"
        tabs={[
          { value: "log", label: "Log", panel: <VerifyLog /> },
          { value: "configurations", label: "Configurations", panel: <VerifyConfigs /> },
          { value: "blocks", label: "Blocked", panel: <VerifyBlocks /> },
          { value: "webhook", label: "Webhook", panel: <VerifyWebhooks /> },
          { value: "test-numbers", label: "Test numbers", panel: <TestNumbers /> },
        ]}
      />
    </>
  );
}
