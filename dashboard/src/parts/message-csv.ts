import type { Message } from "../api-types.ts";
import { csvLine, isoOf } from "./csv.ts";

const COLUMNS = [
  "messageId", "createdAt", "channel", "type", "sender", "recipient", "status", "state", "errCode", "statusDescription",
  "segments", "credits", "campaignName", "templateName", "carrier", "attempts", "submittedAt", "doneAt", "test", "text",
] as const satisfies readonly (keyof Message)[]; // prettier-ignore

const TIMES = new Set<string>(["createdAt", "submittedAt", "doneAt"]);

/** Header line of the CSV file. */
export const MESSAGE_COLUMNS: readonly string[] = COLUMNS;

/** One message as a CSV line. */
export const messageLine = (message: Message): string =>
  csvLine(COLUMNS.map((name) => (TIMES.has(name) ? isoOf(message[name] as number | null) : message[name])));
