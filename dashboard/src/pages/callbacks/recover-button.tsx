import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import { api } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { GuardedButton } from "../../parts/guarded.tsx";
import { fieldTime } from "../../parts/record/moment-input.tsx";
import { RunProgress } from "../../parts/run/run-progress.tsx";
import { useRun } from "../../parts/run/use-run.ts";
import { TimeInput } from "../../parts/time-input.tsx";
import type { KnownEndpoint } from "./use-endpoints.ts";

const DAY_MS = 86_400_000;

interface Props {
  endpoints: readonly KnownEndpoint[];
  /** The endpoint of the list's filter; empty for all. */
  chosen: string;
}

/** Queues every undelivered callback again, for the time after an outage of the receiver. */
export function RecoverButton({ endpoints, chosen }: Props) {
  const client = useQueryClient();
  const [opened, { open, close }] = useDisclosure(false);
  const [endpointId, setEndpointId] = useState<string | null>(null);
  const [since, setSince] = useState("");
  const { run, start, stop, clear } = useRun();

  async function recover(): Promise<void> {
    // "All endpoints" skips disabled ones. For a disabled endpoint chosen by name, the server explains the refusal.
    const wanted = endpoints.filter(({ id, enabled }) => (endpointId === null ? enabled : id === endpointId));
    await start(async (tell, signal) => {
      let resent = 0;
      for (const [index, { id, name, path }] of wanted.entries()) {
        let more = true;
        while (more) {
          tell(t("{resent} so far; checking {name}…", { resent, name }), (index / wanted.length) * 100);
          const options = { body: { since: new Date(since).toISOString() }, signal };
          const answer = await api<{ resent: number; more: boolean }>("POST", `${path}/${id}/recover`, options);
          resent += answer.resent;
          ({ more } = answer);
        }
      }
      return t(resent === 1 ? "{resent} delivery is queued again." : "{resent} deliveries are queued again.", {
        resent,
      });
    });
    await client.invalidateQueries({ queryKey: ["/api/callbacks"] });
  }

  return (
    <>
      <GuardedButton
        variant="default"
        leftSection={<IconRefresh size={17} aria-hidden />}
        whyNot={endpoints.length === 0 ? t("There are no endpoints to send to.") : null}
        onClick={() => {
          setEndpointId(chosen || null);
          setSince(fieldTime(Date.now() - DAY_MS));
          open();
        }}
      >
        {t("Recover since…")}
      </GuardedButton>
      <Modal
        opened={opened}
        onClose={() => {
          clear();
          close();
        }}
        title={t("Recover everything since")}
      >
        <Stack>
          <Text size="sm">
            {t(
              "Everything since then that has not been delivered is sent at once with the same ids: failed deliveries, and those that wait for their next attempt.",
            )}
          </Text>
          <Select
            label={t("To")}
            placeholder={t("All enabled endpoints")}
            data={endpoints.map(({ id, name }) => ({ value: id, label: name }))}
            value={endpointId}
            onChange={(id) => {
              setEndpointId(id);
              clear();
            }}
            clearable
            clearButtonProps={{ "aria-label": t("All endpoints") }}
          />
          <TimeInput
            label={t("Since")}
            value={since}
            onChange={(next) => {
              setSince(next);
              clear();
            }}
          />
          {run && <RunProgress label={t("Resending")} run={run} stop={stop} />}
          <Group justify="flex-end">
            <Button
              onClick={() => void recover()}
              disabled={since === "" || run?.state === "running" || run?.state === "done"}
              variant={run?.state === "done" ? "default" : "filled"}
            >
              {t("Resend")}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
