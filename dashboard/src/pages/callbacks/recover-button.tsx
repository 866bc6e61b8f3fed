import { Button, Group, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import { api } from "../../api.ts";
import { GuardedButton } from "../../parts/guarded.tsx";
import { fieldTime } from "../../parts/record/moment-input.tsx";
import { RunProgress } from "../../parts/run/run-progress.tsx";
import { useRun } from "../../parts/run/use-run.ts";
import type { KnownEndpoint } from "./use-endpoints.ts";

const DAY_MS = 86_400_000;

interface Props {
  endpoints: readonly KnownEndpoint[];
  /** The endpoint that the list is filtered by. */
  chosen: string;
}

/** After an outage of yours: everything again that failed for good since then. */
export function RecoverButton({ endpoints, chosen }: Props) {
  const client = useQueryClient();
  const [opened, { open, close }] = useDisclosure(false);
  const [endpointId, setEndpointId] = useState<string | null>(null);
  const [since, setSince] = useState("");
  const { run, start, stop, clear } = useRun();

  async function recover(): Promise<void> {
    // What is switched off is told nothing; who asks for it by name is told so by the server.
    const wanted = endpoints.filter(({ id, enabled }) => (endpointId === null ? enabled : id === endpointId));
    await start(async (tell, signal) => {
      let resent = 0;
      for (const [index, { id, name, path }] of wanted.entries()) {
        let more = true;
        while (more) {
          tell(`${resent.toLocaleString()} so far; looking at ${name}…`, (index / wanted.length) * 100);
          const options = { body: { since: new Date(since).toISOString() }, signal };
          const answer = await api<{ resent: number; more: boolean }>("POST", `${path}/${id}/recover`, options);
          resent += answer.resent;
          ({ more } = answer);
        }
      }
      return `${resent.toLocaleString()} ${resent === 1 ? "callback goes" : "callbacks go"} out again.`;
    });
    await client.invalidateQueries({ queryKey: ["/api/callbacks"] });
  }

  return (
    <>
      <GuardedButton
        variant="default"
        leftSection={<IconRefresh size={17} aria-hidden />}
        whyNot={endpoints.length === 0 ? "There is no address to send anything to." : null}
        onClick={() => {
          setEndpointId(chosen || null);
          setSince(fieldTime(Date.now() - DAY_MS));
          open();
        }}
      >
        Resend what failed
      </GuardedButton>
      <Modal
        opened={opened}
        onClose={() => {
          clear();
          close();
        }}
        title="Resend what failed since"
      >
        <Stack>
          <Text size="sm">
            Everything that was given up since then goes out again, under the same ids. What waits for its next try is
            not touched.
          </Text>
          <Select
            label="To"
            placeholder="All addresses that are on"
            data={endpoints.map(({ id, name }) => ({ value: id, label: name }))}
            value={endpointId}
            onChange={setEndpointId}
            clearable
            clearButtonProps={{ "aria-label": "All addresses" }}
          />
          <TextInput
            label="Since"
            type="datetime-local"
            value={since}
            onChange={({ currentTarget }) => setSince(currentTarget.value)}
          />
          {run && <RunProgress label="Resending" run={run} stop={stop} />}
          <Group justify="flex-end">
            <Button
              onClick={() => void recover()}
              disabled={since === "" || run?.state === "running"}
              variant={run?.state === "done" ? "default" : "filled"}
            >
              Resend
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
