import { Badge, Text } from "@mantine/core";
import { useState } from "react";
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
  add: "Make a key",
  may: "own",
  fields: FIELDS,
  starts: STARTS,
  columns: [
    { title: "Ends in", wide: true, render: ({ hint }) => <Text size="sm" ff="monospace">{`…${hint}`}</Text> },
    { title: "State", render: (key) => <StatusBadge {...stateOf(key)} /> },
    {
      title: "Mode",
      wide: true,
      render: ({ mode }) => <Badge color={mode === "test" ? "blue" : "gray"}>{mode}</Badge>,
    },
    { title: "May", wide: true, render: ({ scopes }) => <Text size="sm">{scopes.join(", ")}</Text> },
    { title: "Last used", render: ({ lastUsedAt }) => <TimeText at={lastUsedAt} size="sm" /> },
    { title: "Made", wide: true, render: ({ createdAt }) => <TimeText at={createdAt} size="sm" /> },
  ],
  empty: {
    sentence: "There is no key, so no program can send.",
    example: { name: "shop", scopes: ["sms"] },
  },
  removal: null,
};

const actionsWith = (onSecret: (secret: string) => void) =>
  function actions(key: ApiKey, close: () => void) {
    return key.revokedAt === null && <KeyActions apiKey={key} onSecret={onSecret} close={close} />;
  };

/** The keys by which programs send. A key is shown once, when it is made. */
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
        title="API keys"
        lead="What programs send with, in the header apikey. Give each program its own, and no more than it needs."
      />
      <SecretDialog secret={secret} title="Your new key" onClose={() => setSecret(null)} />
    </>
  );
}
