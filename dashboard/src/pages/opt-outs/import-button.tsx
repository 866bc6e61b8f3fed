import { Button, FileButton, Group, List, Modal, Stack, Text, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFileImport, IconUpload } from "@tabler/icons-react";
import { useState } from "react";
import { GuardedButton } from "../../parts/guarded.tsx";
import { RunProgress } from "../../parts/run/run-progress.tsx";
import { useRun } from "../../parts/run/use-run.ts";
import { importNumbers, numbersOf } from "./import-numbers.ts";

const SHOWN = 10;

/** A list from elsewhere: pasted or in a file, in whatever form numbers have there. */
export function ImportButton({ onDone }: { onDone: () => void }) {
  const [opened, { open, close }] = useDisclosure(false);
  const [text, setText] = useState("");
  const [refused, setRefused] = useState<readonly string[]>([]);
  const { run, start, stop, clear } = useRun();
  const numbers = numbersOf(text);

  async function begin(): Promise<void> {
    setRefused([]);
    await start((tell, signal) => importNumbers({ tell, signal, refuse: setRefused }, numbers));
    onDone();
  }

  return (
    <>
      <GuardedButton variant="default" leftSection={<IconFileImport size={17} aria-hidden />} onClick={open}>
        Import
      </GuardedButton>
      <Modal
        opened={opened}
        onClose={() => {
          clear();
          close();
        }}
        title="Import opt-outs"
        size="lg"
      >
        <Stack>
          <Text size="sm">
            One number on a line, or a CSV with the number in its first column. Whoever is on the list already stays as
            they are.
          </Text>
          <Textarea
            label="Numbers"
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            autosize
            minRows={5}
            maxRows={10}
            placeholder={"15550100100\n15550100101"}
          />
          <Group justify="space-between">
            <FileButton accept=".csv,.txt,text/csv,text/plain" onChange={(file) => void file?.text().then(setText)}>
              {(props) => (
                <Button {...props} variant="subtle" size="xs" leftSection={<IconUpload size={15} aria-hidden />}>
                  Choose a file
                </Button>
              )}
            </FileButton>
            <Text size="sm" c="dimmed" aria-live="polite">
              {numbers.length.toLocaleString()} {numbers.length === 1 ? "number" : "numbers"}
            </Text>
          </Group>
          {run && <RunProgress label="Import" run={run} stop={stop} />}
          {refused.length > 0 && (
            <div>
              <Text size="sm" fw={600}>
                {refused.length.toLocaleString()} are no phone numbers and were left out:
              </Text>
              <List size="sm">
                {refused.slice(0, SHOWN).map((each) => (
                  <List.Item key={each}>{each}</List.Item>
                ))}
                {refused.length > SHOWN && <List.Item>…</List.Item>}
              </List>
            </div>
          )}
          <Group justify="flex-end">
            <Button onClick={() => void begin()} disabled={numbers.length === 0 || run?.state === "running"}>
              Import {numbers.length.toLocaleString()}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
