import { Button, Group, Modal, Paper, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
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
  clear: () => void;
}

/** What can be done with the selected messages: cancel those that wait, and save all of them. */
export function SelectedMessages({ messages, clear }: Props) {
  const client = useQueryClient();
  const { run, start, stop, clear: close } = useRun();
  const waiting = messages.filter(waits);

  async function cancel(tell: (sentence: string, percent: number) => void, signal: AbortSignal): Promise<string> {
    let cancelled = 0;
    for (const [done, { messageId }] of waiting.entries()) {
      signal.throwIfAborted();
      tell(t("{cancelled} cancelled…", { cancelled }), (100 * done) / waiting.length);
      if (await isCancelled(messageId)) cancelled += 1;
    }
    const tooLate = waiting.length - cancelled;
    return tooLate === 0
      ? t("{cancelled} cancelled. Their credits are released.", { cancelled })
      : t("{cancelled} cancelled, {tooLate} already with a carrier.", { cancelled, tooLate });
  }

  function finish(): void {
    close();
    clear();
    void client.invalidateQueries({ queryKey: ["/api/messages"] });
  }

  return (
    <Paper p="xs" mb="sm" withBorder role="group" aria-label={t("Selected messages")}>
      <Group gap="sm">
        <Text size="sm" role="status">
          {t("{count} selected", { count: messages.length })}
        </Text>
        <GuardedConfirm
          size="xs"
          whyNot={waiting.length === 0 ? t("None of them still waits to be sent.") : null}
          question={t("Cancel the selected messages?")}
          consequence={t("{count} of them still wait. They will not be sent, and their credits are released.", {
            count: waiting.length,
          })}
          yes={t("Cancel messages")}
          no={t("Go back")}
          run={() => {
            void start(cancel);
            return Promise.resolve();
          }}
        >
          {t("Cancel messages")}
        </GuardedConfirm>
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
      <Modal opened={run !== null} onClose={finish} title={t("Cancel messages")}>
        {run && <RunProgress label={t("Cancel messages")} run={run} stop={stop} />}
        {run && run.state !== "running" && (
          <Group justify="flex-end" mt="lg">
            <Button onClick={finish}>{t("Close")}</Button>
          </Group>
        )}
      </Modal>
    </Paper>
  );
}

/** False if a carrier has the message already. */
async function isCancelled(messageId: string): Promise<boolean> {
  try {
    await post(`/v1/messages/${messageId}/cancel`);
    return true;
  } catch (problem) {
    if (problem instanceof ApiError && problem.code === "NOT_CANCELLABLE") return false;
    throw problem;
  }
}
