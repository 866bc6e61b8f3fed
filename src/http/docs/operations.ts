import type { Method, OpenApi, Operation, PathItem } from "./document.ts";

/** An operation with where it is found. */
export interface Placed {
  method: Method;
  path: string;
  operation: Operation;
}

const METHODS: readonly Method[] = ["get", "post", "put", "patch", "delete"];

/** All operations of a document, or of its webhooks, as one list. */
export const listOperations = (paths: OpenApi["paths"]): Placed[] =>
  Object.entries(paths).flatMap(([path, item]) => listOf(path, item));

const listOf = (path: string, item: PathItem): Placed[] =>
  METHODS.flatMap((method) => {
    const operation = item[method];
    return operation ? [{ method, path, operation }] : [];
  });

/** The scope that an operation asks for; null when it asks for no key. */
export const scopeOf = ({ security }: Operation): string | null => security[0]?.apikey?.[0] ?? null;

/** Whether an operation is for people alone, whom no key can stand for. */
export const isForPeople = ({ security }: Operation): boolean => security.length > 0 && !security[0]?.apikey;

/** The body of an operation with its examples by name. */
export function bodyOf({ requestBody }: Operation): { schema: object; examples: [string, unknown][] } | null {
  const json = requestBody?.content["application/json"];
  if (!json) return null;
  const examples = Object.entries(json.examples ?? {}).flatMap(([name, example]): [string, unknown][] =>
    "value" in example ? [[name, example.value]] : [],
  );
  return { schema: json.schema, examples };
}

/** The answer of an operation that went well. */
export function successOf({ responses }: Operation): {
  status: string;
  type: string;
  schema: object;
  example: unknown;
} | null {
  const found = Object.entries(responses).find(([status]) => status.startsWith("2"));
  const content = Object.entries(found?.[1].content ?? {})[0];
  if (!found || !content) return null;
  const [type, { schema, example }] = content;
  return { status: found[0], type, schema, example };
}

/** The codes with which an operation can fail, by status. */
export const failuresOf = ({ responses }: Operation): { status: string; code: string }[] =>
  Object.entries(responses)
    .filter(([status]) => /^[45]/.test(status))
    .flatMap(([status, { content = {} }]) =>
      Object.keys(content["application/json"]?.examples ?? {}).map((code) => ({ status, code })),
    );
