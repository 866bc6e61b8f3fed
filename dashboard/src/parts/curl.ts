import { wholeUrl } from "../base.ts";

/** What stands in a command where the reader's own key belongs: a variable, so that a pasted command never shows a key. */
const KEY_VARIABLE = "$HELIOGRAPH_KEY";

interface Request {
  method?: string;
  path: string;
  body?: unknown;
  /** The key itself, where it was just made and is there to be used. */
  apiKey?: string | null;
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The same request as a command for a terminal. */
export function curlOf({ method, path, body, apiKey }: Request): string {
  const verb = method ?? (body === undefined ? "GET" : "POST");
  const usual = verb === (body === undefined ? "GET" : "POST");
  const lines = [
    `curl -s${usual ? "" : ` -X ${verb}`} ${quoted(wholeUrl(path))}`,
    apiKey ? `  -H ${quoted(`apikey: ${apiKey}`)}` : `  -H "apikey: ${KEY_VARIABLE}"`,
  ];
  if (body !== undefined) {
    lines.push(
      "  -H 'Content-Type: application/json'",
      `  -d ${quoted(JSON.stringify(body, null, 2).replaceAll("\n", "\n  "))}`,
    );
  }
  return lines.join(" \\\n");
}
