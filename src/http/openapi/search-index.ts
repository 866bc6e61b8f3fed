import { FAILURES } from "../../model/message.ts";
import { PROBLEMS } from "../../model/problem.ts";
import { codes } from "./failures.ts";
import { fieldsOf } from "./fields.ts";
import { failureCodes } from "./message-failures.ts";
import { bodyOf, successOf, type Placed } from "./operations.ts";
import type { Site } from "./site.ts";

/** A place that the search finds: kind, title, address below `/docs/`, a line to show, and its words. */
export type SearchEntry = readonly [kind: string, title: string, address: string, line: string, words: string];

/** `GET /docs/search.json`: every section of the guides, every operation and every code. */
export const searchIndex = (site: Site): readonly SearchEntry[] => [
  ...site.groups.flatMap(({ id, operations }) => operations.map((placed) => operationEntry(site, id, placed))),
  ...site.guides.guides.flatMap(({ name, title, sections }) =>
    sections.map((section, index): SearchEntry => [
      "Guide",
      index === 0 ? title : `${title}: ${section.title}`,
      index === 0 ? `guides/${name}` : `guides/${name}#${section.id}`,
      section.text,
      section.words,
    ]),
  ),
  ...site.groups.map(({ id, name, description }): SearchEntry => [
    "Operations",
    name,
    `reference/${id}`,
    description,
    wordsOf([description]),
  ]),
  ...codes().map((code) => codeEntry(code, PROBLEMS[code].message, PROBLEMS[code].fix)),
  ...failureCodes()
    .filter((code) => !codes().some((other) => other === code))
    .map((code) => codeEntry(code, FAILURES[code])),
];

function operationEntry({ document }: Site, group: string, { method, path, operation }: Placed): SearchEntry {
  const { schemas } = document.components;
  const fields = [bodyOf(operation), successOf(operation)].flatMap((part) =>
    part ? fieldsOf(part.schema, schemas) : [],
  );
  const parameters = operation.parameters ?? [];
  return [
    "Operation",
    operation.summary,
    `reference/${group}#${operation.operationId}`,
    `${method.toUpperCase()} ${path}`,
    wordsOf([
      method,
      path,
      path.replaceAll(/\W+/g, " "),
      operation.operationId,
      operation.description,
      ...[...fields, ...parameters].map(({ name }) => name.replaceAll(/[[\].]+/g, " ")),
    ]),
  ];
}

const codeEntry = (code: string, message: string, fix = ""): SearchEntry => [
  "Error code",
  code,
  `errors/${code}`,
  message,
  wordsOf([message, fix, code.replaceAll("_", " ")]),
];

/** Each word once, in lower case. */
const wordsOf = (texts: readonly string[]): string =>
  [
    ...new Set(
      texts
        .join(" ")
        .toLowerCase()
        .match(/[\w/{][\w/.{}-]*[\w}]|\w/g),
    ),
  ].join(" ");
