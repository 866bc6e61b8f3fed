import { Alert, Button, FileButton, Group, Paper, Stack, Text, Textarea, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { IconCheck, IconUpload } from "@tabler/icons-react";
import { useState } from "react";
import { api } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton, GuardedConfirm } from "../../parts/guarded.tsx";
import { PlanView } from "./plan-view.tsx";
import { isNothing, readSetUp, SET_UP, type SetUpPlan } from "./set-up-plan.ts";

const put = async (text: string, dryRun: boolean): Promise<SetUpPlan> =>
  api("PUT", SET_UP, { body: readSetUp(text), query: { dryRun: String(dryRun) } });

/** A file that is brought: what it would change is shown before anything does. */
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
    <Paper component="section" aria-label="Apply">
      <Stack>
        <Title order={2} size="h4">
          Apply
        </Title>
        <Text size="sm">
          All of it happens, or nothing. Parts that the file does not have are left alone; of those that it has, records
          that are not in it are removed.
        </Text>
        <Textarea
          label="File"
          placeholder='{ "senders": [{ "name": "HELIOG" }] }'
          value={text}
          onChange={({ currentTarget }) => change(currentTarget.value)}
          autosize
          minRows={8}
          maxRows={18}
          ff="monospace"
        />
        <Group justify="space-between">
          <Group gap="xs">
            <FileButton accept=".json,application/json" onChange={(file) => void file?.text().then(change)}>
              {(props) => (
                <Button {...props} variant="subtle" size="xs" leftSection={<IconUpload size={15} aria-hidden />}>
                  Choose a file
                </Button>
              )}
            </FileButton>
            {current !== undefined && (
              <Button variant="subtle" size="xs" onClick={() => change(current)}>
                Begin with what is
              </Button>
            )}
          </Group>
          <GuardedButton
            may="own"
            loading={busy}
            onClick={() => void look()}
            whyNot={text.trim() === "" ? "There is no file yet." : null}
          >
            Show the plan
          </GuardedButton>
        </Group>
        {error && <ErrorState error={error} title="The file cannot be applied" />}
        {plan?.applied && (
          <Alert color="green" icon={<IconCheck aria-hidden />} title="Applied">
            The account is now as the file says.
          </Alert>
        )}
        {plan && <PlanView plan={plan} />}
        {plan && !plan.applied && !isNothing(plan) && (
          <Group justify="flex-end">
            <GuardedConfirm
              may="own"
              variant="filled"
              question="Apply the file?"
              consequence={
                plan.removed.length > 0
                  ? `${plan.removed.length} records are removed, and the rest becomes as the file says.`
                  : "Nothing is removed; what the plan shows is made and changed."
              }
              yes="Apply it"
              run={async () => {
                setPlan(await put(text, false));
                // Anything that is on another page may be another now.
                await client.invalidateQueries();
              }}
            >
              Apply
            </GuardedConfirm>
          </Group>
        )}
      </Stack>
    </Paper>
  );
}
