import type { Method, Operation, ParameterObject } from "./document.ts";
import { isForPeople, isOpen } from "./operations.ts";

export interface Asked {
  baseUrl: string;
  method: Method;
  path: string;
  operation: Operation;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** A header of a sample: a text, and after it the value of an environment variable. */
export interface SampleHeader {
  name: string;
  text: string;
  variable: string | null;
}

interface SampleRequest {
  method: string;
  url: string;
  headers: readonly SampleHeader[];
  body: unknown;
}

/** A request as samples in all languages send it. */
export const requestOf = ({ baseUrl, method, path, operation, body, headers = {} }: Asked): SampleRequest => ({
  method: method.toUpperCase(),
  url: baseUrl + filledPath(path, operation.parameters ?? []),
  headers: [
    ...credentialsOf(method, operation),
    ...Object.entries(headers).map(([name, text]) => ({ name, text, variable: null })),
    ...(body === undefined ? [] : [{ name: "Content-Type", text: "application/json", variable: null }]),
  ],
  body,
});

/** Formats a request as a curl command that runs once `HELIOGRAPH_KEY` is set. */
export function curlOf(asked: Asked): string {
  const { method, operation } = asked;
  const { url, headers, body } = requestOf(asked);
  const lines = [
    `curl ${flagsOf(method, operation, body)}${quoteUrl(url)}`,
    ...headers.map(({ name, text, variable }) =>
      variable === null ? `-H ${quote(`${name}: ${text}`)}` : `-H "${name}: ${text}$${variable}"`,
    ),
    ...(body === undefined ? [] : [`-d ${quote(JSON.stringify(body, null, 2)).replaceAll("\n", "\n  ")}`]),
  ];
  return lines.join(" \\\n  ");
}

/** API key if allowed, otherwise session cookie and CSRF token. */
function credentialsOf(method: Method, operation: Operation): SampleHeader[] {
  if (isOpen(operation)) return [];
  if (!isForPeople(operation)) return [{ name: "apikey", text: "", variable: "HELIOGRAPH_KEY" }];
  const cookie = { name: "cookie", text: "heliograph_session=", variable: "SESSION" };
  return method === "get" ? [cookie] : [cookie, { name: "x-csrf-token", text: "", variable: "CSRF_TOKEN" }];
}

/** True if the answer is a stream without an end. */
export const isStream = ({ responses }: Operation): boolean =>
  Object.values(responses).some(({ content = {} }) => "text/event-stream" in content);

function flagsOf(method: Method, operation: Operation, body: unknown): string {
  const usual = body === undefined ? "get" : "post";
  return (isStream(operation) ? "-N " : "") + (method === usual ? "" : `-X ${method.toUpperCase()} `);
}

/** Fills in the examples of path and query parameters. */
export function filledPath(path: string, parameters: readonly ParameterObject[]): string {
  const shown = parameters.filter(({ example }) => example !== undefined);
  const filled = path.replaceAll(/\{(\w+)\}/g, (hole, name: string) =>
    String(shown.find((p) => p.name === name)?.example ?? hole),
  );
  const query = new URLSearchParams();
  for (const { in: place, name, example = "" } of shown) if (place === "query") query.append(name, String(example));
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const quoteUrl = (url: string): string => (/^[\w:/.-]+$/.test(url) ? url : quote(url));
