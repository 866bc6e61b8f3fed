import { Alert, Button, FileButton, Group, Paper, Stack, Text, Textarea, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { IconCheck, IconUpload } from "@tabler/icons-react";
import { useState } from "react";
import { api } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton, GuardedConfirm } from "../../parts/guarded.tsx";
import { PlanView } from "./plan-view.tsx";
import { isNothing, readSetUp, SET_UP, type SetUpPlan } from "./set-up-plan.ts";

const put = async (text: string, dryRun: boolean): Promise<SetUpPlan> =>
  api("PUT", SET_UP, { body: readSetUp(text), query: { dryRun: String(dryRun) } });

const MONOSPACE = { input: { fontFamily: "var(--mantine-font-family-monospace)" } };

/** Applies a configuration file, after a dry run that shows its changes. */
export function ApplySetUp({ current }: { current: string | undefined }) {
  const client = useQueryClient();
  const [text, setText] = useState("");
  const [plan, setPlan] = useState<SetUpPlan | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);

  function change(next: string): void {
    setText(next);
    setPlan(null);
    setError(null);
  }

  async function look(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      setPlan(await put(text, true));
    } catch (problem) {
      setError(problem as Error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Paper component="section" aria-label={t("Apply")}>
      <Stack>
        <Title order={2} size="h4">
          {t("Apply")}
        </Title>
        <Text size="sm">
          {t(
            "Changes are applied all at once or not at all. Sections missing from the file are not changed; in the sections it has, records that are not in the file are removed.",
          )}
        </Text>
        <Textarea
          label={t("File")}
          placeholder='{ "senders": [{ "name": "HELIOG" }] }'
          value={text}
          onChange={({ currentTarget }) => change(currentTarget.value)}
          autosize
          minRows={8}
          maxRows={18}
          styles={MONOSPACE}
        />
        <Group justify="space-between">
          <Group gap="xs">
            <FileButton accept=".json,application/json" onChange={(file) => void file?.text().then(change)}>
              {(props) => (
                <Button {...props} variant="subtle" size="xs" leftSection={<IconUpload size={15} aria-hidden />}>
                  {t("Choose file")}
                </Button>
              )}
            </FileButton>
            {current !== undefined && (
              <Button variant="subtle" size="xs" onClick={() => change(current)}>
                {t("Load current set-up")}
              </Button>
            )}
          </Group>
          <GuardedButton
            may="own"
            loading={busy}
            onClick={() => void look()}
            whyNot={text.trim() === "" ? t("Add a file first.") : null}
          >
            {t("Preview changes")}
          </GuardedButton>
        </Group>
        {error && <ErrorState error={error} title={t("File not applied")} />}
        {plan?.applied && (
          <Alert color="green" icon={<IconCheck aria-hidden />} title={t("Applied")}>
            {t("The account now matches the file.")}
          </Alert>
        )}
        {plan && <PlanView plan={plan} />}
        {plan && !plan.applied && !isNothing(plan) && (
          <Group justify="flex-end">
            <GuardedConfirm
              may="own"
              variant="filled"
              question={t("Apply the file?")}
              consequence={
                plan.removed.length > 0
                  ? t("{count} records are removed. The other changes in the preview are applied.", {
                      count: plan.removed.length,
                    })
                  : t("Nothing is removed. The changes in the preview are applied.")
              }
              yes={t("Apply file")}
              run={async () => {
                setPlan(await put(text, false));
                // The configuration affects every page.
                await client.invalidateQueries();
              }}
            >
              {t("Apply")}
            </GuardedConfirm>
          </Group>
        )}
      </Stack>
    </Paper>
  );
}
