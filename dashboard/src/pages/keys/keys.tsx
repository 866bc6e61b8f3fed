import { Badge, Text } from "@mantine/core";
import { useState } from "react";
import { t } from "../../i18n/t.ts";
import type { RecordKind } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { FIELDS, KEYS, STARTS, stateOf, type ApiKey } from "./api-key.ts";
import { KeyActions } from "./key-actions.tsx";

const KIND: Omit<RecordKind<ApiKey>, "actions" | "onMade"> = {
  path: KEYS,
  one: "key",
  add: t("Create key"),
  may: "own",
  fields: FIELDS,
  starts: STARTS,
  columns: [
    { title: t("Ends in"), wide: true, render: ({ hint }) => <Text size="sm" ff="monospace">{`…${hint}`}</Text> },
    { title: t("State"), render: (key) => <StatusBadge {...stateOf(key)} /> },
    {
      title: t("Mode"),
      wide: true,
      render: ({ mode }) => (
        <Badge color={mode === "test" ? "blue" : "gray"}>{mode === "test" ? t("Test") : t("Live")}</Badge>
      ),
    },
    { title: t("Permissions"), wide: true, render: ({ scopes }) => <Text size="sm">{scopes.join(", ")}</Text> },
    { title: t("Last used"), render: ({ lastUsedAt }) => <TimeText at={lastUsedAt} size="sm" /> },
    { title: t("Created"), wide: true, render: ({ createdAt }) => <TimeText at={createdAt} size="sm" /> },
  ],
  empty: {
    sentence: t("No API keys yet. Programs need a key to send."),
    example: { name: "shop", scopes: ["sms"] },
  },
  removal: null,
};

const actionsWith = (onSecret: (secret: string) => void) =>
  function actions(key: ApiKey, close: () => void) {
    return key.revokedAt === null && <KeyActions apiKey={key} onSecret={onSecret} close={close} />;
  };

/** API keys. A key is shown once, when it is created. */
export default function Keys() {
  const [secret, setSecret] = useState<string | null>(null);
  const kind: RecordKind<ApiKey> = {
    ...KIND,
    onMade: (made) => setSecret((made as ApiKey & { key: string }).key),
    actions: actionsWith(setSecret),
  };
  return (
    <>
      <RecordTable
        kind={kind}
        title={t("API keys")}
        lead={t(
          "Programs authenticate with the header apikey. Create one key per program, with only the permissions it needs.",
        )}
      />
      <SecretDialog secret={secret} title={t("Your new key")} onClose={() => setSecret(null)} />
    </>
  );
}
