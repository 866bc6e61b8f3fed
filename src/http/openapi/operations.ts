import type { Method, OpenApi, Operation, PathItem } from "./document.ts";

/** Operation with method and path. */
export interface Placed {
  method: Method;
  path: string;
  operation: Operation;
}

const METHODS: readonly Method[] = ["get", "post", "put", "patch", "delete"];

/** All operations of the document, or of its webhooks, as a list. */
export const listOperations = (paths: OpenApi["paths"]): Placed[] =>
  Object.entries(paths).flatMap(([path, item]) => listOf(path, item));

const listOf = (path: string, item: PathItem): Placed[] =>
  METHODS.flatMap((method) => {
    const operation = item[method];
    return operation ? [{ method, path, operation }] : [];
  });

/** Scope required by an operation; null if no key is needed. */
export const scopeOf = (operation: Operation): string | null => operation["x-scope"] ?? null;

/** True if the operation is public unless the operator has closed it. */
export const isOpen = ({ security }: Operation): boolean => security.every((one) => !one.apikey && !one.session);

/** True if the operation requires a session and accepts no key. */
export const isForPeople = ({ security }: Operation): boolean => security[0]?.session !== undefined;

/** Body schema of an operation with its named examples. */
export function bodyOf({ requestBody }: Operation): { schema: object; examples: [string, unknown][] } | null {
  const json = requestBody?.content["application/json"];
  if (!json) return null;
  const examples = Object.entries(json.examples ?? {}).flatMap(([name, example]): [string, unknown][] =>
    "value" in example ? [[name, example.value]] : [],
  );
  return { schema: json.schema, examples };
}

/** Success response of an operation: that of a creation, where there are several. */
export function successOf({ responses }: Operation): {
  status: string;
  type: string;
  schema: object;
  example: unknown;
} | null {
  const found = Object.entries(responses).findLast(([status]) => status.startsWith("2"));
  const content = Object.entries(found?.[1].content ?? {})[0];
  if (!found || !content) return null;
  const [type, { schema, example }] = content;
  return { status: found[0], type, schema, example };
}

/** Error codes of an operation, by status. */
export const failuresOf = ({ responses }: Operation): { status: string; code: string }[] =>
  Object.entries(responses)
    .filter(([status]) => /^[45]/.test(status))
    .flatMap(([status, { content = {} }]) =>
      Object.keys(content["application/json"]?.examples ?? {}).map((code) => ({ status, code })),
    );
