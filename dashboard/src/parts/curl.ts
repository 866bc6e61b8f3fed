import { wholeUrl } from "../base.ts";

/** Placeholder for the user's API key, so that a copied command reveals no key. */
const KEY_VARIABLE = "$HELIOGRAPH_KEY";

interface Request {
  method?: string;
  path: string;
  body?: unknown;
  /** The key itself, if it was just created and the command should use it. */
  apiKey?: string | null;
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A request as a curl command. */
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
