import { Button, Group, Modal, Progress, Text } from "@mantine/core";
import { IconDownload, IconPlayerStop } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { get, type Page } from "../../api.ts";
import type { Message } from "../../api-types.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { csvHead, csvLine } from "./csv.ts";
import type { Filters } from "./filters.tsx";
import { queryOf } from "./query.ts";

const PAGE_ROWS = 200;

interface Work {
  rows: number;
  /** The time of the oldest message so far: a list has no known end, but it has a direction. */
  reachedAt: number | null;
  state: "running" | "done" | "stopped";
}

/** Everything that the filters leave, as a file for a sheet; it can take a while, shows how far it is, and can be stopped. */
export function ExportButton({ filters }: { filters: Filters }) {
  const [work, setWork] = useState<Work | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const stop = useRef<AbortController | null>(null);

  async function run(): Promise<void> {
    const stopper = new AbortController();
    stop.current = stopper;
    setError(null);
    setWork({ rows: 0, reachedAt: null, state: "running" });
    const chunks = [csvHead()];
    let rows = 0;
    let cursor: string | null = null;
    try {
      do {
        const query = { ...queryOf(filters), limit: PAGE_ROWS, cursor };
        const page: Page<Message> = await get("/api/messages", query, stopper.signal);
        chunks.push(page.data.map(csvLine).join(""));
        rows += page.data.length;
        cursor = page.nextCursor;
        setWork({ rows, reachedAt: page.data.at(-1)?.createdAt ?? null, state: "running" });
      } while (cursor !== null);
      setWork({ rows, reachedAt: null, state: "done" });
    } catch (problem) {
      if (!stopper.signal.aborted) setError(problem as Error);
      setWork({ rows, reachedAt: null, state: "stopped" });
    }
    if (rows > 0) save(chunks);
  }

  return (
    <>
      <Button variant="default" leftSection={<IconDownload size={17} aria-hidden />} onClick={() => void run()}>
        Export CSV
      </Button>
      <Modal
        opened={work !== null}
        onClose={() => {
          stop.current?.abort();
          setWork(null);
        }}
        title="Export messages"
      >
        {work && (
          <>
            <Progress value={100} animated={work.state === "running"} aria-label="Export" mb="md" />
            <Text size="sm" aria-live="polite">
              {sentence(work)}
            </Text>
            {error && <ErrorState error={error} title="The export broke off" />}
            <Group justify="flex-end" mt="lg">
              {work.state === "running" ? (
                <Button
                  variant="default"
                  leftSection={<IconPlayerStop size={16} aria-hidden />}
                  onClick={() => stop.current?.abort()}
                >
                  Stop
                </Button>
              ) : (
                <Button onClick={() => setWork(null)}>Close</Button>
              )}
            </Group>
          </>
        )}
      </Modal>
    </>
  );
}

function sentence({ rows, reachedAt, state }: Work): string {
  const count = `${rows.toLocaleString()} ${rows === 1 ? "message" : "messages"}`;
  if (state === "done") return `Done: ${count} in the file.`;
  if (state === "stopped") return `Stopped: the file has the newest ${count}.`;
  return reachedAt === null ? "Reading…" : `${count}, back to ${new Date(reachedAt).toLocaleString()}…`;
}

function save(chunks: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...chunks], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `messages-${new Date().toISOString().slice(0, 10)}.csv`;
  link.click();
  URL.revokeObjectURL(url);
}
