import { useQueryClient } from "@tanstack/react-query";
import { Badge, Code, Text } from "@mantine/core";
import { useState } from "react";
import { removeListed } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import type { RecordKind } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { stateOf } from "../keys/api-key.ts";
import { CREDENTIALS, FIELDS, PRODUCTS, STARTS, type Credential } from "./credential.ts";

const KIND: RecordKind<Credential> = {
  path: CREDENTIALS,
  one: "credential",
  add: t("Create credential"),
  may: "own",
  fields: FIELDS,
  starts: STARTS,
  columns: [
    { title: t("Product"), render: ({ kind }) => PRODUCTS[kind] ?? kind },
    {
      title: t("Username"),
      render: ({ username }) => (
        <Text size="sm" ff="monospace">
          {username}
        </Text>
      ),
    },
    { title: t("State"), render: (credential) => <StatusBadge {...stateOf(credential)} /> },
    {
      title: t("Mode"),
      wide: true,
      render: ({ mode }) => <Badge color={mode === "test" ? "blue" : "gray"}>{mode}</Badge>,
    },
    { title: t("Last used"), wide: true, render: ({ lastUsedAt }) => <TimeText at={lastUsedAt} size="sm" /> },
    { title: t("Created"), wide: true, render: ({ createdAt }) => <TimeText at={createdAt} size="sm" /> },
  ],
  empty: {
    sentence: t("No program uses the API of another product."),
    example: { kind: "kannel", name: "shop" },
  },
  removal: null,
  actions: (credential, close) => credential.revokedAt === null && <Revoke credential={credential} close={close} />,
};

function Revoke({ credential: { id, name }, close }: { credential: Credential; close: () => void }) {
  const client = useQueryClient();
  return (
    <GuardedConfirm
      may="own"
      size="xs"
      color="red"
      variant="subtle"
      question={t("Revoke {name}?", { name })}
      consequence={t("Programs that use it are refused at once. It cannot be restored.")}
      yes={t("Revoke credential")}
      run={() =>
        removeListed(`${CREDENTIALS}/${id}`, async () => {
          close();
          await client.invalidateQueries({ queryKey: [CREDENTIALS] });
        })
      }
    >
      {t("Revoke")}
    </GuardedConfirm>
  );
}

/** The product's own terms for username and password. */
function wordsFor({ kind, username }: Credential): { username: string; password: string } {
  if (kind === "smpp") return { username: t("System ID"), password: t("the password") };
  if (kind !== "twilio") return { username: t("Username"), password: t("the password") };
  return username.startsWith("SK")
    ? { username: t("API key SID"), password: t("its secret") }
    : { username: t("AccountSid"), password: t("the AuthToken") };
}

/** Credentials for the APIs of other products. A password is shown once. */
export default function Credentials() {
  const [created, setCreated] = useState<(Credential & { password: string }) | null>(null);
  return (
    <>
      <RecordTable
        kind={{ ...KIND, onMade: (made) => setCreated(made as Credential & { password: string }) }}
        title={t("Credentials")}
        lead={t(
          "Programs written for another product send through its own API: give them one of these and change their host.",
        )}
      />
      <SecretDialog secret={created?.password ?? null} title={t("New credential")} onClose={() => setCreated(null)}>
        {created && (
          <Text size="sm">
            {wordsFor(created).username}: <Code>{created.username}</Code>
            {t(". Above is")} {wordsFor(created).password}.
          </Text>
        )}
      </SecretDialog>
    </>
  );
}
