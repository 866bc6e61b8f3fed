import type { Method, Operation, ParameterObject } from "./document.ts";
import { isForPeople } from "./operations.ts";

interface Asked {
  baseUrl: string;
  method: Method;
  path: string;
  operation: Operation;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** A request as a command to copy: it runs once `HELIOGRAPH_KEY` is set. */
export function curlOf({ baseUrl, method, path, operation, body, headers = {} }: Asked): string {
  const lines = [
    `curl ${flagsOf(method, operation, body)}${quoteUrl(baseUrl + filledPath(path, operation.parameters ?? []))}`,
    ...credentialsOf(method, operation),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(body, null, 2)).replaceAll("\n", "\n  ")}`]),
  ];
  return lines.join(" \\\n  ");
}

/** A key where one will do; else what a browser would have after logging in. */
function credentialsOf(method: Method, operation: Operation): string[] {
  if (operation.security.length === 0) return [];
  if (!isForPeople(operation)) return [`-H "apikey: $HELIOGRAPH_KEY"`];
  const cookie = `-H "cookie: heliograph_session=$SESSION"`;
  return method === "get" ? [cookie] : [cookie, `-H "x-csrf-token: $CSRF_TOKEN"`];
}

function flagsOf(method: Method, { responses }: Operation, body: unknown): string {
  const streams = Object.values(responses).some(({ content = {} }) => "text/event-stream" in content);
  const usual = body === undefined ? "get" : "post";
  return (streams ? "-N " : "") + (method === usual ? "" : `-X ${method.toUpperCase()} `);
}

/** The path with the examples of its parameters, and a query where one has examples. */
export function filledPath(path: string, parameters: readonly ParameterObject[]): string {
  const shown = parameters.filter(({ example }) => example !== undefined);
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (hole, name: string) => shown.find((p) => p.name === name)?.example ?? hole,
  );
  const query = new URLSearchParams();
  for (const { in: place, name, example = "" } of shown) if (place === "query") query.append(name, example);
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const quoteUrl = (url: string): string => (/^[\w:/.-]+$/.test(url) ? url : quote(url));
