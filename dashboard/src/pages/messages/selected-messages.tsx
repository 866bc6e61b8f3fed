import { Button, Group, Modal, Paper, Text } from "@mantine/core";
import { IconDownload, IconX } from "@tabler/icons-react";
import { ApiError, post } from "../../api.ts";
import type { Message } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import { saveMessages } from "../../parts/message-export.tsx";
import { RunProgress } from "../../parts/run/run-progress.tsx";
import { useRun } from "../../parts/run/use-run.ts";

const waits = ({ state }: Message): boolean => state === "accepted" || state === "scheduled";

interface Props {
  messages: readonly Message[];
  /** Clears the selection. */
  clear: () => void;
  /** Reads the list again. */
  readAgain: () => void;
}

/** Actions on the selected messages: cancel those that wait, and save all of them. */
export function SelectedMessages({ messages, clear, readAgain }: Props) {
  const { run, start, stop, clear: close } = useRun();
  const isRunning = run?.state === "running";

  function finish(): void {
    // The result of a stopped run stays to be read.
    if (isRunning) return stop();
    close();
    clear();
    readAgain();
  }

  return (
    <>
      {messages.length > 0 && (
        <Paper p="xs" mb="sm" withBorder role="group" aria-label={t("Selected messages")}>
          <Group gap="sm">
            <Text size="sm" role="status">
              {t("{count} selected", { count: messages.length })}
            </Text>
            <CancelButton
              waiting={messages.filter(waits).length}
              cancel={() => void start((tell, signal) => cancelAll(messages.filter(waits), tell, signal))}
            />
            <Button
              size="xs"
              variant="default"
              leftSection={<IconDownload size={15} aria-hidden />}
              onClick={() => saveMessages(messages)}
            >
              {t("Save as CSV")}
            </Button>
            <Button size="xs" variant="subtle" leftSection={<IconX size={15} aria-hidden />} onClick={clear}>
              {t("Clear selection")}
            </Button>
          </Group>
        </Paper>
      )}
      <Modal opened={run !== null} onClose={finish} title={t("Cancel messages")}>
        {run && <RunProgress label={t("Cancel messages")} run={run} stop={stop} />}
        {run && !isRunning && (
          <Group justify="flex-end" mt="lg">
            <Button onClick={finish}>{t("Close")}</Button>
          </Group>
        )}
      </Modal>
    </>
  );
}

const CancelButton = ({ waiting, cancel }: { waiting: number; cancel: () => void }) => (
  <GuardedConfirm
    size="xs"
    whyNot={waiting === 0 ? t("None of them still waits to be sent.") : null}
    question={t("Cancel the selected messages?")}
    consequence={t("Still waiting: {count}. They will not be sent, and their credits are released.", {
      count: waiting,
    })}
    yes={t("Cancel messages")}
    no={t("Go back")}
    run={() => {
      cancel();
      return Promise.resolve();
    }}
  >
    {t("Cancel messages")}
  </GuardedConfirm>
);

async function cancelAll(
  messages: readonly Message[],
  tell: (sentence: string, percent: number) => void,
  signal: AbortSignal,
): Promise<string> {
  let cancelled = 0;
  for (const [done, { messageId }] of messages.entries()) {
    signal.throwIfAborted();
    if (await isCancelled(messageId)) cancelled += 1;
    tell(t("{cancelled} cancelled…", { cancelled }), (100 * (done + 1)) / messages.length);
  }
  const tooLate = messages.length - cancelled;
  return tooLate === 0
    ? t("{cancelled} cancelled. Their credits are released.", { cancelled })
    : t("{cancelled} cancelled, {tooLate} could no longer be cancelled.", { cancelled, tooLate });
}

const TOO_LATE: ReadonlySet<string> = new Set(["NOT_CANCELLABLE", "MESSAGE_NOT_FOUND"]);

/** False if a carrier has the message already, or it has ended. */
async function isCancelled(messageId: string): Promise<boolean> {
  try {
    await post(`/v1/messages/${messageId}/cancel`);
    return true;
  } catch (problem) {
    if (problem instanceof ApiError && TOO_LATE.has(problem.code)) return false;
    throw problem;
  }
}
