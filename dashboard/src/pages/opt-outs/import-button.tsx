import { Button, FileButton, Group, List, Modal, Stack, Text, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFileImport, IconUpload } from "@tabler/icons-react";
import { useState } from "react";
import { t } from "../../i18n/t.ts";
import { GuardedButton } from "../../parts/guarded.tsx";
import { RunProgress } from "../../parts/run/run-progress.tsx";
import { useRun } from "../../parts/run/use-run.ts";
import { importNumbers, readLines } from "./import-numbers.ts";

const SHOWN = 10;

/** Imports opt-outs from pasted text or a file, with numbers in any format. */
export function ImportButton({ onDone }: { onDone: () => void }) {
  const [opened, { open, close }] = useDisclosure(false);
  const [text, setText] = useState("");
  const [refused, setRefused] = useState<readonly string[]>([]);
  const { run, start, stop, clear } = useRun();
  const { numbers, leftOut } = readLines(text);
  /** The same list is not imported twice. */
  const isOver = run?.state === "running" || run?.state === "done";
  const change = (next: string): void => {
    setText(next);
    setRefused([]);
    clear();
  };

  async function begin(): Promise<void> {
    setRefused([]);
    await start((tell, signal) => importNumbers({ tell, signal, refuse: setRefused }, numbers));
    onDone();
  }

  return (
    <>
      <GuardedButton variant="default" leftSection={<IconFileImport size={17} aria-hidden />} onClick={open}>
        {t("Import")}
      </GuardedButton>
      <Modal
        opened={opened}
        onClose={() => {
          change("");
          close();
        }}
        title={t("Import opt-outs")}
        size="lg"
      >
        <Stack>
          <Text size="sm">
            {t(
              "One number per line, or a CSV file with the number in the first column. Numbers already on the list are not changed.",
            )}
          </Text>
          <Textarea
            label={t("Numbers")}
            value={text}
            onChange={({ currentTarget }) => change(currentTarget.value)}
            autosize
            minRows={5}
            maxRows={10}
            placeholder={"15550100100\n15550100101"}
          />
          <Group justify="space-between">
            <FileButton accept=".csv,.txt,text/csv,text/plain" onChange={(file) => void file?.text().then(change)}>
              {(props) => (
                <Button {...props} variant="subtle" size="xs" leftSection={<IconUpload size={15} aria-hidden />}>
                  {t("Choose file")}
                </Button>
              )}
            </FileButton>
            <Text size="sm" c="dimmed" aria-live="polite">
              {t(numbers.length === 1 ? "{count} number" : "{count} numbers", { count: numbers.length })}
            </Text>
          </Group>
          {run && <RunProgress label={t("Import")} run={run} stop={stop} />}
          {leftOut.length > 0 && (
            <Skipped
              title={t("Lines without a number in the first column, left out: {count}", { count: leftOut.length })}
              lines={leftOut}
            />
          )}
          {refused.length > 0 && (
            <Skipped
              title={t("{refused} are not phone numbers and were skipped:", { refused: refused.length })}
              lines={refused}
            />
          )}
          <Group justify="flex-end">
            <Button onClick={() => void begin()} disabled={numbers.length === 0 || isOver}>
              {t("Import {numbers}", { numbers: numbers.length })}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

const Skipped = ({ title, lines }: { title: string; lines: readonly string[] }) => (
  <div>
    <Text size="sm" fw={600}>
      {title}
    </Text>
    <List size="sm">
      {lines.slice(0, SHOWN).map((line, index) => (
        <List.Item key={index}>{line}</List.Item>
      ))}
      {lines.length > SHOWN && <List.Item>…</List.Item>}
    </List>
  </div>
);
