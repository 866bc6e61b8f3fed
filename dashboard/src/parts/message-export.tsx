import type { Query } from "../api.ts";
import type { Message } from "../api-types.ts";
import { t } from "../i18n/t.ts";
import { csvLine, isoOf } from "./csv.ts";
import { saveFile } from "./save-file.ts";
import { ExportButton } from "./run/export-button.tsx";
import { localTime } from "./time-text.tsx";

const COLUMNS = [
  "messageId", "createdAt", "channel", "type", "sender", "recipient", "status", "state", "errCode", "statusDescription",
  "segments", "credits", "campaignName", "templateName", "carrier", "attempts", "dueAt", "submittedAt", "doneAt", "test", "text",
] as const satisfies readonly (keyof Message)[]; // prettier-ignore

const TIMES = new Set<string>(["createdAt", "dueAt", "submittedAt", "doneAt"]);

/** One message as a CSV line. */
const messageLine = (message: Message): string =>
  csvLine(COLUMNS.map((name) => (TIMES.has(name) ? isoOf(message[name] as number | null) : message[name])));

/** Saves some messages as a CSV file. */
export const saveMessages = (messages: readonly Message[]): void =>
  saveFile(`messages-${new Date().toISOString().slice(0, 10)}.csv`, "text/csv;charset=utf-8", [
    csvLine(COLUMNS),
    ...messages.map(messageLine),
  ]);

/** Button that saves the messages of a query as a CSV file. */
export const MessageExport = ({ query }: { query: Query }) => (
  <ExportButton<Message>
    path="/api/messages"
    query={query}
    one={t("message")}
    many={t("messages")}
    columns={COLUMNS}
    line={messageLine}
    reached={({ createdAt }) => t("back to {time}", { time: localTime(createdAt) })}
    begins={t("the newest")}
  />
);
