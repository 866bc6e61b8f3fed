import { Button, FileButton, Paper, Stack, Text } from "@mantine/core";
import { IconFileUpload } from "@tabler/icons-react";
import { useState } from "react";
import { t } from "../../i18n/t.ts";
import { useWhyNot } from "../../parts/guarded.tsx";
import { RunProgress } from "../../parts/run/run-progress.tsx";
import { useRun } from "../../parts/run/use-run.ts";
import { useLeaveGuard } from "../../parts/use-draft.ts";
import type { Audience } from "./audience.ts";
import { uploadFile } from "./upload-file.ts";

/** A drop area for a file, which opens a file dialogue too, with the progress of the upload. */
export function DropFile({ onDone }: { onDone: (audience: Audience) => void }) {
  const { run, start, stop } = useRun();
  const [isOver, setOver] = useState(false);
  const refused = useWhyNot("write");
  const isRunning = run?.state === "running";
  useLeaveGuard(isRunning);

  async function begin(file: File | null | undefined): Promise<void> {
    if (!file || isRunning || refused !== null) return;
    await start(async (tell, signal) => {
      onDone(await uploadFile({ tell, signal }, file));
      return t("Uploaded: {name}", { name: file.name });
    });
  }

  return (
    <Paper
      p="lg"
      mb="lg"
      component="section"
      aria-label={t("Upload a file")}
      withBorder
      {...(isOver && { bg: "var(--mantine-primary-color-light)" })}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void begin(event.dataTransfer.files[0]);
      }}
    >
      <Stack align="center" gap="sm">
        <Text size="sm" ta="center">
          {refused ??
            t(
              "Drop a CSV file or an Excel workbook (XLSX) here: one row per recipient, with the number and any other columns.",
            )}
        </Text>
        {refused === null && (
          <FileButton accept=".csv,.txt,.tsv,.xlsx,text/csv,text/plain" onChange={(file) => void begin(file)}>
            {(props) => (
              <Button {...props} leftSection={<IconFileUpload size={17} aria-hidden />} loading={isRunning}>
                {t("Choose file")}
              </Button>
            )}
          </FileButton>
        )}
      </Stack>
      {run && <RunProgress label={t("Upload")} run={run} stop={stop} />}
    </Paper>
  );
}
