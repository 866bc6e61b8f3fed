import { Button, Group, Progress, Stack, Text } from "@mantine/core";
import { IconPlayerStop } from "@tabler/icons-react";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../error-state.tsx";
import type { RunState } from "./use-run.ts";

interface Props {
  /** Accessible name of the progress bar, such as "Import". */
  label: string;
  run: RunState;
  stop: () => void;
}

/** Progress of a long task, with a stop button. */
export function RunProgress({ label, run, stop }: Props) {
  const running = run.state === "running";
  const color = { running: "sun", done: "green", stopped: "yellow", failed: "red" }[run.state];
  return (
    <Stack gap="sm" data-run={run.state}>
      <Progress
        value={run.percent ?? 100}
        color={color}
        animated={running}
        striped={running && run.percent === null}
        aria-label={label}
      />
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" aria-live="polite">
          {run.state === "stopped" && t("Stopped. ")}
          {run.sentence}
        </Text>
        {running && (
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlayerStop size={15} aria-hidden />}
            onClick={stop}
            flex="none"
          >
            {t("Stop")}
          </Button>
        )}
      </Group>
      {run.error && <ErrorState error={run.error} title={t("{label} failed", { label })} />}
    </Stack>
  );
}
