import { useQueryClient } from "@tanstack/react-query";
import { Badge, Code, Table, Text } from "@mantine/core";
import { useState } from "react";
import { removeListed } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import type { RecordKind } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { stateOf } from "../keys/api-key.ts";
import {
  FIELDS,
  HOOKS,
  PRODUCTS,
  settingsOf,
  STARTS,
  type IdentityHook,
  type ProductSetting,
} from "./identity-hook.ts";

type NewHook = IdentityHook & { secret: string };

const KIND: RecordKind<IdentityHook> = {
  path: HOOKS,
  one: "hook",
  add: t("Create hook"),
  may: "own",
  fields: FIELDS,
  starts: STARTS,
  columns: [
    { title: t("Product"), render: ({ product }) => PRODUCTS[product] ?? product },
    { title: t("Configuration"), render: ({ configId }) => configId },
    { title: t("State"), render: (hook) => <StatusBadge {...stateOf(hook)} /> },
    {
      title: t("Mode"),
      wide: true,
      render: ({ mode }) => <Badge color={mode === "test" ? "blue" : "gray"}>{mode}</Badge>,
    },
    { title: t("Last used"), wide: true, render: ({ lastUsedAt }) => <TimeText at={lastUsedAt} size="sm" /> },
    { title: t("Created"), wide: true, render: ({ createdAt }) => <TimeText at={createdAt} size="sm" /> },
  ],
  empty: {
    sentence: t("No identity product delivers its codes here."),
    example: { product: "supabase", configId: "default" },
  },
  removal: null,
  actions: (hook, close) => hook.revokedAt === null && <Revoke hook={hook} close={close} />,
};

function Revoke({ hook: { id, name }, close }: { hook: IdentityHook; close: () => void }) {
  const client = useQueryClient();
  return (
    <GuardedConfirm
      may="own"
      size="xs"
      color="red"
      variant="subtle"
      question={t("Revoke {name}?", { name })}
      consequence={t("Its product can deliver no more codes, at once. It cannot be restored.")}
      yes={t("Revoke hook")}
      run={() =>
        removeListed(`${HOOKS}/${id}`, async () => {
          close();
          await client.invalidateQueries({ queryKey: [HOOKS] });
        })
      }
    >
      {t("Revoke")}
    </GuardedConfirm>
  );
}

/** Hooks through which identity products deliver their own codes. A secret is shown once. */
export default function IdentityHooks() {
  const [created, setCreated] = useState<NewHook | null>(null);
  return (
    <>
      <RecordTable
        kind={{ ...KIND, onMade: (made) => setCreated(made as NewHook) }}
        title={t("Identity products")}
        lead={t(
          "Products such as Supabase or Okta make and check codes themselves. A hook delivers them, with your channels and limits.",
        )}
      />
      <SecretDialog secret={created?.secret ?? null} title={t("New hook")} onClose={() => setCreated(null)}>
        {created && <Settings product={created.product} settings={settingsOf(created, created.secret)} />}
      </SecretDialog>
    </>
  );
}

/** The settings to copy into the product's configuration. */
function Settings({ product, settings }: { product: string; settings: readonly ProductSetting[] }) {
  return (
    <>
      <Text size="sm">{t("Enter these settings in {product}:", { product: PRODUCTS[product] ?? product })}</Text>
      <Table aria-label={t("Settings")}>
        <Table.Tbody>
          {settings.map(({ setting, value }) => (
            <Table.Tr key={setting}>
              <Table.Th scope="row">{setting}</Table.Th>
              <Table.Td>
                <Code style={{ wordBreak: "break-all" }}>{value}</Code>
              </Table.Td>
              <Table.Td>
                <CopyButton value={value} label={t("Copy {name}", { name: setting })} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {product === "zitadel" && (
        <Text size="sm">
          {t("Zitadel then shows a signing key of its own. Open this hook and enter that key as its secret.")}
        </Text>
      )}
    </>
  );
}
