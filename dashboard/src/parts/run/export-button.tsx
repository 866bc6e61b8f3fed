import { Button, Group, Modal } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { get, type Page, type Query } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { csvLine } from "../csv.ts";
import { saveFile } from "../save-file.ts";
import { RunProgress } from "./run-progress.tsx";
import { useRun } from "./use-run.ts";

const PAGE_ROWS = 200;

interface Props<T> {
  /** API path of the list. */
  path: string;
  query?: Query;
  one: string;
  many: string;
  columns: readonly string[] | (() => Promise<readonly string[]>);
  line: (row: T, columns: readonly string[]) => string;
  /** Progress after a row, such as its date. The length of the list is unknown. */
  reached: (row: T) => string;
  /** The rows that an incomplete file has, such as "the newest". */
  begins: string;
}

/** Exports a whole list as a CSV file, with progress and a stop button. */
export function ExportButton<T>({ path, query, one, many, columns, line, reached, begins }: Props<T>) {
  const { run, start, stop, clear } = useRun();
  const counted = (rows: number): string => `${formatNumber(rows)} ${rows === 1 ? one : many}`;

  async function work(tell: (sentence: string) => void, signal: AbortSignal): Promise<string> {
    tell(t("Reading…"));
    const names = typeof columns === "function" ? await columns() : columns;
    const chunks = [csvLine(names)];
    let rows = 0;
    let cursor: string | null = null;
    try {
      do {
        const page: Page<T> = await get(path, { ...query, limit: PAGE_ROWS, cursor }, signal);
        chunks.push(page.data.map((row) => line(row, names)).join(""));
        rows += page.data.length;
        cursor = page.nextCursor;
        const last = page.data.at(-1);
        if (last !== undefined) tell(`${counted(rows)}, ${reached(last)}…`);
      } while (cursor !== null);
      return t("Done: {counted} in the file.", { counted: counted(rows) });
    } finally {
      // An incomplete file is still useful after a stop or failure.
      if (signal.aborted) tell(t("The file has {begins} {counted}.", { begins, counted: counted(rows) }));
      if (rows > 0) saveFile(`${many}-${new Date().toISOString().slice(0, 10)}.csv`, "text/csv;charset=utf-8", chunks);
    }
  }

  return (
    <>
      <Button variant="default" leftSection={<IconDownload size={17} aria-hidden />} onClick={() => void start(work)}>
        {t("Export CSV")}
      </Button>
      <Modal opened={run !== null} onClose={clear} title={t("Export {many}", { many })}>
        {run && <RunProgress label={t("Export")} run={run} stop={stop} />}
        {run && run.state !== "running" && (
          <Group justify="flex-end" mt="lg">
            <Button onClick={clear}>{t("Close")}</Button>
          </Group>
        )}
      </Modal>
    </>
  );
}
