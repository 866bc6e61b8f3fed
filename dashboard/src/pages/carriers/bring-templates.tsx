import { Alert, List, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { IconCheck, IconDownload } from "@tabler/icons-react";
import { post } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { CARRIERS, type Carrier } from "./carrier.ts";

interface Pulled {
  made: readonly string[];
  changed: readonly string[];
  unread: readonly { name: string; language: string; reason: string }[];
}

/** A button that syncs the platform's templates now and shows the result. */
export function BringTemplates({ carrier }: { carrier: Carrier }) {
  const client = useQueryClient();
  const pull = useMutation({
    mutationFn: () => post<Pulled>(`${CARRIERS}/${carrier.id ?? ""}/templates`),
    onSuccess: () => client.invalidateQueries({ queryKey: ["/api/templates"] }),
  });
  return (
    <Stack gap="sm">
      <div>
        <GuardedButton
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          loading={pull.isPending}
          onClick={() => pull.mutate()}
        >
          {t("Sync templates")}
        </GuardedButton>
        <Text size="sm" c="dimmed" mt={6}>
          {t("Copies the templates from the platform to this account. Runs automatically every 15 minutes.")}
        </Text>
      </div>
      {pull.error && <ErrorState error={pull.error} title={t("Template sync failed")} />}
      {pull.data && <Outcome pulled={pull.data} />}
    </Stack>
  );
}

function Outcome({ pulled: { made, changed, unread } }: { pulled: Pulled }) {
  const some = (names: readonly string[]): string => (names.length === 0 ? t("none") : names.join(", "));
  return (
    <Alert color="green" icon={<IconCheck aria-hidden />} title={t("Templates synced")} data-pulled>
      <List size="sm" listStyleType="none">
        <List.Item>
          {t("Created:")} {some(made)}
        </List.Item>
        <List.Item>
          {t("Changed:")} {some(changed)}
        </List.Item>
        <List.Item>
          {t("Unusable:")} {unread.length === 0 && t("none")}
          {unread.length > 0 && (
            <List size="sm">
              {unread.map(({ name, language, reason }) => (
                <List.Item key={`${name} ${language}`}>
                  {name} ({language}): {reason}
                </List.Item>
              ))}
            </List>
          )}
        </List.Item>
      </List>
    </Alert>
  );
}
