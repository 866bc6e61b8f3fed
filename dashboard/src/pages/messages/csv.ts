import type { Message } from "../../api-types.ts";
import { csvLine, isoOf } from "../../parts/csv.ts";

const COLUMNS = [
  "messageId", "createdAt", "channel", "type", "sender", "recipient", "status", "state", "errCode", "statusDescription",
  "segments", "credits", "campaignName", "templateName", "carrier", "attempts", "submittedAt", "doneAt", "test", "text",
] as const satisfies readonly (keyof Message)[]; // prettier-ignore

const TIMES = new Set<string>(["createdAt", "submittedAt", "doneAt"]);

/** The first line of a file with messages. */
export const MESSAGE_COLUMNS: readonly string[] = COLUMNS;

/** A message as a line of it. */
export const messageLine = (message: Message): string =>
  csvLine(COLUMNS.map((name) => (TIMES.has(name) ? isoOf(message[name] as number | null) : message[name])));
