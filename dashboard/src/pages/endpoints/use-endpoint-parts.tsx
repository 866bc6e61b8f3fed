import { useState, type ReactNode } from "react";
import { t } from "../../i18n/t.ts";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { SignatureHelp } from "../../parts/signature-help.tsx";
import type { RecordKind } from "../../parts/record/record-kind.ts";
import type { Endpoint, EndpointPath } from "./endpoint.ts";
import { HealthPanel } from "./health-panel.tsx";
import { SecretPanel } from "./secret-panel.tsx";
import { TryPanel } from "./try-panel.tsx";

interface EndpointParts<T extends Endpoint> {
  parts: Pick<RecordKind<T>, "panels" | "onMade">;
  /** Dialogue that shows a new secret. Rendered once per page. */
  dialog: ReactNode;
}

/** Panels that webhooks and delivery reports share: test request, health, and secrets that are shown once. */
export function useEndpointParts<T extends Endpoint>(path: EndpointPath): EndpointParts<T> {
  const [secret, setSecret] = useState<string | null>(null);
  return {
    parts: {
      onMade: (made) => setSecret((made as T & { secret?: string }).secret ?? null),
      panels: (endpoint) => [
        { value: "try", label: t("Preview and test"), panel: <TryPanel path={path} endpoint={endpoint} /> },
        { value: "health", label: t("Health"), panel: <HealthPanel path={path} endpoint={endpoint} /> },
        {
          value: "secret",
          label: t("Secret"),
          panel: <SecretPanel path={path} endpoint={endpoint} onSecret={setSecret} />,
        },
      ],
    },
    dialog: (
      <SecretDialog secret={secret} title={t("Signing secret")} onClose={() => setSecret(null)}>
        <SignatureHelp />
      </SecretDialog>
    ),
  };
}
