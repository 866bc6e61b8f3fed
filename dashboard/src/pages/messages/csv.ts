import type { Message } from "../../api-types.ts";

const COLUMNS = [
  "messageId", "createdAt", "channel", "type", "sender", "recipient", "status", "state", "errCode", "statusDescription",
  "segments", "credits", "campaignName", "templateName", "carrier", "attempts", "submittedAt", "doneAt", "test", "text",
] as const satisfies readonly (keyof Message)[]; // prettier-ignore

const TIMES = new Set<string>(["createdAt", "submittedAt", "doneAt"]);

export const csvHead = (): string => `${COLUMNS.join(",")}\r\n`;

export const csvLine = (message: Message): string =>
  `${COLUMNS.map((name) => cell(TIMES.has(name) ? isoOf(message[name] as number | null) : message[name])).join(",")}\r\n`;

const isoOf = (at: number | null): string => (at === null ? "" : new Date(at).toISOString());

/** A sheet would take what begins with one of these as a formula, and a message can be anybody's words. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | number | boolean | null): string {
  const text = value === null ? "" : String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
